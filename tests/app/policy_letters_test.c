/* policy_letters_test.c -- who is written to about a policy, and how often: when an official answer is due, when it was hidden. */
#include "app/policy_letters.h"

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

static uint64_t add(const char *name, uint32_t roles, bool confirmed)
{
    Reason reason = {.rule = ""};
    uint64_t id;
    Registration person = {.name = slice_from(name),
                           .email = arena_print(office.arena, "%s@example.org", name),
                           .without_password = true,
                           .confirmed = confirmed,
                           .roles = roles};
    EXPECT_STATUS(accounts_register(office.app.accounts, &person, &id, &reason), STATUS_OK);
    return id;
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

TEST(the_admins_hear_of_it_where_nobody_answers)
{
    MailEntry *entries;
    begin(true);
    add("guard", 1u << ROLE_MODERATE_POLICIES, true);
    add("boss", 1u << ROLE_ADMIN, true);
    EXPECT_STATUS(app_tell_answer_due(&office.app, office.policy, &(Reason){0}), STATUS_OK);
    EXPECT_I64(letters(&entries), 1);
    EXPECT_SLICE(entries[0].to, SLICE("boss@example.org"));
    end();
}

/* A role that asks for a second factor does not count without one; an admin hears of it all the same, and sets one up. */
TEST(a_role_that_does_not_count_is_not_written_to)
{
    MailEntry *entries;
    begin(true);
    office.app.second_roles = 1u << ROLE_RESPOND | 1u << ROLE_ADMIN;
    add("mayor", 1u << ROLE_RESPOND, true);
    add("boss", 1u << ROLE_ADMIN, true);
    EXPECT_STATUS(app_tell_answer_due(&office.app, office.policy, &(Reason){0}), STATUS_OK);
    EXPECT_I64(letters(&entries), 1);
    EXPECT_SLICE(entries[0].to, SLICE("boss@example.org"));
    end();
}

TEST(a_site_without_mail_writes_to_nobody_and_goes_on)
{
    begin(false);
    add("mayor", 1u << ROLE_RESPOND, true);
    EXPECT_STATUS(app_tell_answer_due(&office.app, office.policy, &(Reason){0}), STATUS_OK);
    end();
}

static uint64_t policy_of(uint64_t owner)
{
    World world = test_world(&office.own, 1);
    Reason reason = {.rule = ""};
    NewPolicy made = {.text = {.name = SLICE("Free buses"),
                               .description = SLICE_EMPTY,
                               .rationale = SLICE_EMPTY,
                               .category = 1},
                      .creator = owner,
                      .seq = 1,
                      .version = id_new(world.clock, world.random),
                      .time_us = clock_now_us(world.clock)};
    PolicyMove move = {.state = POLICY_ACTIVE};
    EXPECT_STATUS(policies_next_id(office.app.policies, &made.id), STATUS_OK);
    EXPECT_STATUS(policies_create(office.app.policies, &made, &reason), STATUS_OK);
    EXPECT_STATUS(policies_move(office.app.policies, made.id, POLICY_PENDING, &move, &reason),
                  STATUS_OK);
    return made.id;
}

static void hide(uint64_t policy, uint64_t actor)
{
    PolicyMove move = {
        .state = POLICY_PENDING_DELETION, .actor = actor, .reason = SLICE("It is spam.")};
    EXPECT_STATUS(policies_move(office.app.policies, policy, POLICY_ACTIVE, &move, &(Reason){0}),
                  STATUS_OK);
}

TEST(the_owner_of_a_hidden_policy_gets_one_e_mail_for_each_time_it_is_hidden)
{
    MailEntry *entries;
    begin(true);
    uint64_t owner = add("owner", 0, true),
             guard = add("guard", 1u << ROLE_MODERATE_POLICIES, true);
    uint64_t policy = policy_of(owner);
    EXPECT_STATUS(app_tell_hidden(&office.app, policy, &(Reason){0}), STATUS_OK);
    EXPECT_I64(letters(&entries), 0); /* it is not hidden */
    hide(policy, guard);
    for (int i = 0; i < 3; i++)
        EXPECT_STATUS(app_tell_hidden(&office.app, policy, &(Reason){0}), STATUS_OK);
    EXPECT_I64(letters(&entries), 1);
    EXPECT_SLICE(entries[0].to, SLICE("owner@example.org"));
    EXPECT(is_in(entries[0].text, "Free buses") && is_in(entries[0].text, "14 days"));
    EXPECT_STATUS(
        policies_restore(office.app.policies, policy, &(PolicyMove){.actor = guard}, &(Reason){0}),
        STATUS_OK);
    EXPECT_STATUS(app_tell_hidden(&office.app, policy, &(Reason){0}), STATUS_OK);
    EXPECT_I64(letters(&entries), 1);
    hide(policy, guard);
    EXPECT_STATUS(app_tell_hidden(&office.app, policy, &(Reason){0}), STATUS_OK);
    EXPECT_I64(letters(&entries), 2);
    end();
}

TEST(nobody_is_written_to_about_what_they_hid_themselves_or_do_not_own)
{
    MailEntry *entries;
    begin(true);
    uint64_t guard = add("guard", 1u << ROLE_MODERATE_POLICIES, true);
    uint64_t own = policy_of(guard);
    hide(own, guard);
    hide(office.policy, guard); /* it has no owner */
    EXPECT_STATUS(app_tell_hidden(&office.app, own, &(Reason){0}), STATUS_OK);
    EXPECT_STATUS(app_tell_hidden(&office.app, office.policy, &(Reason){0}), STATUS_OK);
    EXPECT_STATUS(app_tell_hidden(&office.app, 999, &(Reason){0}), STATUS_NOT_FOUND);
    EXPECT_I64(letters(&entries), 0);
    end();
}
