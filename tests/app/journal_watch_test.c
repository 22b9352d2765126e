/* journal_watch_test.c -- what admins hear of the journals, and how often. */
#include "app/journal_watch.h"

#include "memory_log.h"
#include "store/rocksdb/rocksdb.h"
#include "test.h"
#include "world.h"

static struct {
    TestWorld own;
    World world;
    Config config;
    Store *store;
    App app;
    Arena *arena;
    MemoryLog *kept;
} site;

static void add_account(const char *name, uint32_t roles)
{
    uint64_t id;
    Registration person = {.name = slice_from(name),
                           .email = arena_print(site.arena, "%s@example.org", name),
                           .without_password = true,
                           .roles = roles,
                           .confirmed = true};
    EXPECT_STATUS(accounts_register(site.app.accounts, &person, &id, NULL), STATUS_OK);
}

static void open_journals(void)
{
    JournalsOptions options = {
        .declaration = SLICE("[journal work]\ntimeouts = 0\ndead_max = 3\n[journal rest]\n"),
        .world = site.world,
        .cache_bytes = 4096,
        .reopen_s = 5,
        .still = true,
        .alert = journal_watch_alert,
        .context = site.app.watch,
        .log = memory_log_open(site.kept)};
    EXPECT_STATUS(journals_open(&options, &site.app.journals, NULL), STATUS_OK);
}

static void begin(void)
{
    site.arena = arena_new();
    site.world = test_world(&site.own, 1);
    site.kept = memory_log_new();
    config_defaults(&site.config);
    site.config.mail_outbox = true;
    site.config.journal_alert_seconds = 7200;
    RocksdbOptions options = {.directory = test_directory(),
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
    site.app.watch = journal_watch_new(&site.app, "here");
    open_journals();
    add_account("ann", 1u << ROLE_ADMIN);
    add_account("bob", 1u << ROLE_MODERATE_POLICIES);
}

static void end(void)
{
    app_close(&site.app);
    store_close(site.store);
    memory_log_free(site.kept);
    arena_free(site.arena);
}

static void put(const char *journal)
{
    JournalPut put = {.journal = slice_from(journal), .data = SLICE("d")};
    (void)!journal_put(site.app.journals, &put, NULL, NULL);
}

static void fail_one(void)
{
    const Slice name = SLICE("work");
    JournalClaim claim = {.journals = &name, .journal_count = 1, .max_priority = UINT32_MAX};
    JournalClaims claims;
    put("work");
    EXPECT_STATUS(journal_claim(site.app.journals, &claim, site.arena, &claims, NULL), STATUS_OK);
    EXPECT_I64((int64_t)claims.count, 1);
    JournalStep step = {.token = claims.entries[0].token, .error = SLICE("no such <thing>")};
    EXPECT_STATUS(journal_fail(site.app.journals, &step, 1, NULL), STATUS_OK);
}

static void pass_minutes(int64_t minutes)
{
    test_world_pass(&site.own, minutes * 60 * US_PER_S);
    journals_tick(site.app.journals);
}

/* How many e-mails there are after a look. */
static size_t look(MailEntry **ret_entries)
{
    MailEntry *entries;
    size_t count = 0;
    EXPECT_STATUS(journal_watch_look(site.app.watch, NULL), STATUS_OK);
    EXPECT_STATUS(mail_outbox(site.app.mail, site.arena, &entries, &count), STATUS_OK);
    if (ret_entries != NULL)
        *ret_entries = entries;
    return count;
}

static bool has(Slice text, const char *part)
{
    return memmem(text.data, text.size, part, strlen(part)) != NULL;
}

static JournalAlarms alarms(void)
{
    JournalAlarms found;
    app_journal_alarms(&site.app, site.arena, &found);
    return found;
}

TEST(what_figures_ask_for)
{
    JournalStats stats = {.oldest_due_ms = JOURNAL_NEVER, .dead_max = 3};
    EXPECT_I64(journal_alarms_of(&stats, 10000, 5000), 0);
    stats.oldest_due_ms = 5000;
    EXPECT_I64(journal_alarms_of(&stats, 10000, 5000), 0);
    stats.oldest_due_ms = 4999;
    EXPECT_I64(journal_alarms_of(&stats, 10000, 5000), 1 << JOURNAL_ALARM_LATE);
    stats.pause_left_ms = 1;
    EXPECT_I64(journal_alarms_of(&stats, 10000, 5000), 0);
    stats.failed = 2;
    stats.counters[JOURNAL_COUNT_DEAD] = stats.counters[JOURNAL_COUNT_BURIED] = 2;
    EXPECT_I64(journal_alarms_of(&stats, 10000, 5000), 0); /* as its worker wished */
    stats.counters[JOURNAL_COUNT_DEAD] = 3;
    EXPECT_I64(journal_alarms_of(&stats, 10000, 5000), 1 << JOURNAL_ALARM_FAILED);
    stats.failed = 3;
    EXPECT_I64(journal_alarms_of(&stats, 10000, 5000),
               1 << JOURNAL_ALARM_FAILED | 1 << JOURNAL_ALARM_DEAD_FULL);
    stats.dead_max = 0; /* it keeps none */
    EXPECT_I64(journal_alarms_of(&stats, 10000, 5000), 1 << JOURNAL_ALARM_FAILED);
}

TEST(a_failed_entry_is_told_to_admins_once_and_the_next_an_hour_later)
{
    MailEntry *entries;
    begin();
    EXPECT_I64((int64_t)look(NULL), 0);
    fail_one();
    EXPECT_I64((int64_t)look(&entries), 1);
    EXPECT_SLICE(entries[0].to, SLICE("ann@example.org"));
    EXPECT(has(entries[0].text, "work: entry") && has(entries[0].text, "failed for good"));
    EXPECT(has(entries[0].text, "the instance here"));
    EXPECT(has(entries[0].html, "no such &lt;thing&gt;"));
    EXPECT_I64((int64_t)alarms().count, 1);
    EXPECT_I64((int64_t)look(NULL), 1);
    pass_minutes(10);
    fail_one();
    EXPECT_I64((int64_t)look(NULL), 1);
    pass_minutes(49);
    EXPECT_I64((int64_t)look(NULL), 1);
    pass_minutes(1);
    EXPECT_I64((int64_t)look(NULL), 2); /* what came in between */
    pass_minutes(600);
    EXPECT_I64((int64_t)look(NULL), 2); /* it is on the page still, and no news */
    EXPECT_I64((int64_t)alarms().count, 1);
    end();
}

TEST(late_work_and_a_full_dead_list_are_told)
{
    MailEntry *entries;
    begin();
    put("rest");
    pass_minutes(121);
    EXPECT_I64((int64_t)look(&entries), 1);
    EXPECT(has(entries[0].text, "rest: work has been due for 121 minutes."));
    for (int i = 0; i < 3; i++)
        fail_one();
    EXPECT_I64((int64_t)alarms().count, 3);
    pass_minutes(60);
    EXPECT_I64((int64_t)look(&entries), 2);
    EXPECT(has(entries[0].text, "work: the dead list is full") ||
           has(entries[1].text, "work: the dead list is full"));
    end();
}

TEST(journals_that_take_no_writes_are_told_and_said)
{
    MailEntry *entries;
    begin();
    memory_log_fail(site.kept, 1, MEMORY_FAILS);
    memory_log_break(site.kept, true);
    put("rest");
    EXPECT_I64((int64_t)look(&entries), 1);
    EXPECT(has(entries[0].text, "The journals take no writes"));
    EXPECT_I64((int64_t)app_journal_alarm_count(&site.app), 1);
    end();
}
