/* answer_letters_test.c -- who is written to when an official answer is due, and how often. */
#include "app/answer_letters.h"

#include "store/rocksdb/rocksdb.h"
#include "test.h"
#include "world.h"

typedef struct Office {
    TestWorld own;
    Config config;
    Store *store;
    App app;
    Arena *arena;
    uint64_t policy;
} Office;

static Office office;

static void set(const char *name, const char *value)
{
    Reason reason = {.rule = ""};
    EXPECT_STATUS(
        config_set(&office.config, slice_from(name), slice_from(value), office.arena, &reason),
        STATUS_OK);
}

static void begin(bool has_mail)
{
    Reason reason = {.rule = ""};
    office = (Office){.arena = arena_new()};
    World world = test_world(&office.own, 1);
    config_defaults(&office.config);
    set("site_name", "Our town");
    set("mail_outbox", has_mail ? "on" : "off");
    RocksdbOptions options = {.directory = test_directory(),
                              .create = true,
                              .cache_bytes = 8 * 1024 * 1024,
                              .write_buffer_bytes = 4 * 1024 * 1024,
                              .grace_s = 10 * 86400,
                              .reopen_s = 1,
                              .world = world,
                              .tables = TABLES};
    EXPECT_STATUS(store_rocksdb_open(&options, &office.store, &reason), STATUS_OK);
    AppParts parts = {office.store, world, vault_for_tests(1), &office.config};
    EXPECT_STATUS(app_open(&parts, &office.app, &reason), STATUS_OK);
    NewPolicy made = {.text = {.name = SLICE("Clean <rivers>"),
                               .description = SLICE_EMPTY,
                               .rationale = SLICE_EMPTY,
                               .category = 1},
                      .version = id_new(world.clock, world.random),
                      .time_us = clock_now_us(world.clock)};
    EXPECT_STATUS(policies_next_id(office.app.policies, &made.id), STATUS_OK);
    EXPECT_STATUS(policies_create(office.app.policies, &made, &reason), STATUS_OK);
    office.policy = made.id;
}

static void end(void)
{
    app_close(&office.app);
    store_close(office.store);
    arena_free(office.arena);
}

static void add(const char *name, uint32_t roles, bool confirmed)
{
    Reason reason = {.rule = ""};
    uint64_t id;
    Registration person = {.name = slice_from(name),
                           .email = arena_print(office.arena, "%s@example.org", name),
                           .without_password = true,
                           .confirmed = confirmed,
                           .roles = roles};
    EXPECT_STATUS(accounts_register(office.app.accounts, &person, &id, &reason), STATUS_OK);
}

static size_t letters(MailEntry **ret_entries)
{
    size_t count = 0;
    EXPECT_STATUS(mail_outbox(office.app.mail, office.arena, ret_entries, &count), STATUS_OK);
    return count;
}

static bool is_in(Slice text, const char *words)
{
    size_t size = strlen(words);
    for (size_t at = 0; at + size <= text.size; at++)
        if (memcmp(text.data + at, words, size) == 0)
            return true;
    return false;
}

TEST(those_who_answer_get_one_letter_each)
{
    MailEntry *entries;
    begin(true);
    add("mayor", 1u << ROLE_RESPOND, true);
    add("clerk", 1u << ROLE_RESPOND | 1u << ROLE_FEATURE, true);
    add("guard", 1u << ROLE_MODERATE_POLICIES, true);
    add("boss", 1u << ROLE_ADMIN, true);
    add("voter", 0, true);
    add("later", 1u << ROLE_RESPOND, false); /* has not confirmed the address */
    for (int i = 0; i < 3; i++)              /* as after a crash, or by another instance */
        EXPECT_STATUS(app_tell_answer_due(&office.app, office.policy, &(Reason){0}), STATUS_OK);
    EXPECT_I64(letters(&entries), 2);
    for (size_t i = 0; i < 2; i++) {
        EXPECT(is_in(entries[i].to, "mayor@") || is_in(entries[i].to, "clerk@"));
        EXPECT_SLICE(entries[i].subject, SLICE("An answer is due at Our town"));
        EXPECT(is_in(entries[i].text, "Clean <rivers>"));
        EXPECT(is_in(entries[i].html, "Clean &lt;rivers&gt;"));
        EXPECT(is_in(entries[i].text, "http://127.0.0.1:8080/policies/1/answer"));
    }
    EXPECT(!slice_equal(entries[0].to, entries[1].to));
    end();
}

TEST(a_site_without_mail_writes_to_nobody_and_goes_on)
{
    begin(false);
    add("mayor", 1u << ROLE_RESPOND, true);
    EXPECT_STATUS(app_tell_answer_due(&office.app, office.policy, &(Reason){0}), STATUS_OK);
    end();
}
