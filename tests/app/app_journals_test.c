/* app_journals_test.c -- the site's own journals, and the operator's file beside them. */
#include "app/app.h"

#include <stdio.h>

#include "store/rocksdb/rocksdb.h"
#include "test.h"
#include "world.h"

static struct {
    World world;
    Config config;
    Store *store;
    App app;
    Arena *arena;
} site;

static const char *in_directory(const char *name)
{
    return arena_text(site.arena, arena_print(site.arena, "%s/%s", site.config.data, name));
}

static void declare(const char *text)
{
    FILE *file = fopen(site.config.journal_file, "w");
    EXPECT(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0);
}

static void open_app(void)
{
    RocksdbOptions options = {.directory = site.config.data,
                              .create = true,
                              .cache_bytes = 8 * 1024 * 1024,
                              .write_buffer_bytes = 4 * 1024 * 1024,
                              .grace_s = 10 * 86400,
                              .reopen_s = 1,
                              .world = site.world,
                              .tables = TABLES};
    EXPECT_STATUS(store_rocksdb_open(&options, &site.store, NULL), STATUS_OK);
    AppParts parts = {site.store, site.world, vault_for_tests(1), &site.config};
    EXPECT_STATUS(app_open(&parts, &site.app, NULL), STATUS_OK);
}

static void begin(const char *declaration)
{
    site.arena = arena_new();
    site.world = world_real();
    config_defaults(&site.config);
    site.config.data = test_directory();
    open_app();
    if (declaration != NULL) {
        site.config.journal_file = in_directory("journals.conf");
        declare(declaration);
    }
}

static void close_app(void)
{
    app_close(&site.app);
    store_close(site.store);
}

static void end(void)
{
    close_app();
    arena_free(site.arena);
}

static void expect_names(const char *expected)
{
    Journals *journals;
    Slice *names, list = SLICE_EMPTY;
    size_t count;
    EXPECT_STATUS(app_journals(&site.app, &journals, NULL), STATUS_OK);
    EXPECT_STATUS(journal_names(journals, site.arena, &names, &count, NULL), STATUS_OK);
    for (size_t i = 0; i < count; i++)
        list = arena_print(site.arena, "%.*s%s%.*s", SLICE_ARG(list), i > 0 ? " " : "",
                           SLICE_ARG(names[i]));
    EXPECT_SLICE(list, slice_from(expected));
}

TEST(the_sites_own_journals_need_no_file_and_keep_what_was_put)
{
    begin(NULL);
    expect_names("site.digests site.mail site.tasks");
    JournalPut put = {.journal = SLICE(APP_JOURNAL_TASKS), .key = SLICE("k"), .data = SLICE("d")};
    JournalAnswer answer;
    JournalView view;
    EXPECT_STATUS(journal_put(site.app.journals, &put, &answer, NULL), STATUS_OK);
    close_app();
    open_app();
    expect_names("site.digests site.mail site.tasks");
    EXPECT_STATUS(journal_get(site.app.journals, answer.id, site.arena, &view, NULL), STATUS_OK);
    EXPECT_SLICE(view.key, SLICE("k"));
    end();
}

TEST(the_file_adds_journals_and_a_reload_takes_what_it_says_now)
{
    begin("[journal recount]\nput = any");
    expect_names("recount site.digests site.mail site.tasks");
    declare("[journal recount]\n[journal thumbs]\n");
    EXPECT_STATUS(app_journals_reload(&site.app, NULL), STATUS_OK);
    expect_names("recount site.digests site.mail site.tasks thumbs");
    Reason reason = {0};
    declare("[journal other]\nlease_s = 0\n");
    EXPECT_STATUS(app_journals_reload(&site.app, &reason), STATUS_INVALID);
    EXPECT(strstr(reason.rule, "journals.conf, line 2: must be a whole number") != NULL);
    expect_names("recount site.digests site.mail site.tasks thumbs");
    end();
}

TEST(the_file_cannot_declare_the_sites_own)
{
    static const char *const TEXTS[] = {"# mine\n[journal site.tasks]\n",
                                        "[journal a]\n[journal site.other]\nlease_s = 5"};
    Journals *journals;
    for (size_t i = 0; i < 2; i++) {
        Reason reason = {0};
        begin(TEXTS[i]);
        EXPECT_STATUS(app_journals(&site.app, &journals, &reason), STATUS_INVALID);
        EXPECT_SLICE(slice_from(reason.field), SLICE("journal_file"));
        EXPECT(strstr(reason.rule, "line 2: names that begin with site. are") != NULL);
        declare("[journal a]\n");
        expect_names("a site.digests site.mail site.tasks");
        end();
    }
}

TEST(a_file_that_is_not_there_is_named)
{
    Journals *journals;
    Reason reason = {0};
    begin(NULL);
    site.config.journal_file = in_directory("none.conf");
    EXPECT_STATUS(app_journals(&site.app, &journals, &reason), STATUS_NOT_FOUND);
    EXPECT_SLICE(slice_from(reason.field), SLICE("journal_file"));
    EXPECT(strstr(reason.rule, "none.conf") != NULL);
    end();
}
