/* accounts_test.c -- one operation after the other, on a store that works. */
#include "access/closing.h"
#include "access/credentials.h"
#include "accounts_fixture.h"
#include "base/bytes.h"

/* ---- Registering ------------------------------------------------------------------------------------------- */

TEST(a_registration_is_pending_until_it_is_confirmed)
{
    fixture_begin();
    Registration person = fixture_person("Alice");
    Reason reason;
    uint64_t id = 0;
    person.email = SLICE("  Alice@Example.org ");
    EXPECT_STATUS(accounts_register(fixture.accounts, &person, &id, &reason), STATUS_OK);
    Account account = fixture_read(id);
    EXPECT_I64(account.state, ACCOUNT_PENDING);
    EXPECT_SLICE(account.name, SLICE("Alice"));
    EXPECT_SLICE(account.email, SLICE("Alice@Example.org"));
    EXPECT_I64(account.registered_us, contract_now_us());
    EXPECT_I64(fixture_holder("aLICE"), id);
    EXPECT_I64(fixture_holder("alice@EXAMPLE.org"), id);
    contract_pass_s(60);
    EXPECT_STATUS(accounts_confirm(fixture.accounts, id, &reason), STATUS_OK);
    EXPECT_STATUS(accounts_confirm(fixture.accounts, id, &reason), STATUS_OK);
    account = fixture_read(id);
    EXPECT_I64(account.state, ACCOUNT_CONFIRMED);
    EXPECT_I64(account.state_time_us, contract_now_us());
    EXPECT_I64(account.registered_us, contract_now_us() - 60 * US_PER_S);
    fixture_end();
}

static void expect_taken(Registration person, const char *field)
{
    uint64_t id = 77;
    Reason reason = {.rule = ""};
    EXPECT_STATUS(accounts_register(fixture.accounts, &person, &id, &reason), STATUS_REFUSED);
    EXPECT_SLICE(slice_from(reason.field), slice_from(field));
    EXPECT_I64(id, 77);
}

TEST(a_name_and_an_email_are_taken_by_pending_and_confirmed_accounts)
{
    fixture_begin();
    fixture_pending("alice");
    fixture_confirmed("bob");
    static const char *const NAMES[] = {"alice", "Alice", "ＡＬＩＣＥ", "bob", "BOB"};
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        Registration person = fixture_person("carol");
        person.name = slice_from(NAMES[i]);
        expect_taken(person, "name");
    }
    Registration person = fixture_person("carol");
    person.email = SLICE("BOB@example.org");
    expect_taken(person, "email");
    /* All that lost is void, and took nothing with it. */
    EXPECT_I64(fixture_holder("carol"), 0);
    EXPECT_I64(fixture_holder("carol@example.org"), 0);
    uint64_t carol = fixture_confirmed("carol");
    for (uint64_t id = 3; id < carol; id++)
        EXPECT_I64(fixture_state(id), ACCOUNT_VOID);
    fixture_check(1, carol);
    fixture_end();
}

TEST(bad_input_is_refused_before_anything_is_written)
{
    fixture_begin();
    Registration good = fixture_person("alice"), bad[7];
    for (int i = 0; i < 7; i++)
        bad[i] = good;
    bad[0].name = SLICE("a!");
    bad[1].email = SLICE("nowhere");
    bad[2].password = SLICE("short");
    bad[3].roles = 1U << ROLE_COUNT;
    bad[4].registered_us = contract_now_us() + 1;
    bad[5].registered_us = -1;
    bad[6].cookie = contract_filler(SIGNAL_BYTES + 1, 'c');
    static const char *const FIELDS[] = {"name",       "email",      "password", "roles",
                                         "registered", "registered", "cookie"};
    for (int i = 0; i < 7; i++) {
        Reason reason = {.rule = ""};
        uint64_t id = 77;
        faulty_plan(&fixture.faulty, 0, FAULT_REFUSED, FAULT_ONCE);
        EXPECT_STATUS(accounts_register(fixture.accounts, &bad[i], &id, &reason), STATUS_INVALID);
        EXPECT_SLICE(slice_from(reason.field), slice_from(FIELDS[i]));
        EXPECT_I64(fixture.faulty.calls, 0);
        EXPECT_I64(id, 77);
    }
    EXPECT_I64(fixture.hashes, 0);
    fixture_end();
}

TEST(an_import_may_lie_in_the_past_and_have_no_password)
{
    fixture_begin();
    Registration person = fixture_person("alice");
    uint64_t id;
    Account account;
    person.without_password = true;
    person.registered_us = contract_now_us() - 100 * DAY_US;
    person.confirmed = true;
    person.roles = 1U << ROLE_ADMIN;
    EXPECT_STATUS(accounts_register(fixture.accounts, &person, &id, NULL), STATUS_OK);
    account = fixture_read(id);
    EXPECT_I64(account.registered_us, person.registered_us);
    EXPECT_I64(account.state, ACCOUNT_CONFIRMED);
    EXPECT_I64(account.roles, 1U << ROLE_ADMIN);
    EXPECT_STATUS(credentials_check_password(fixture.accounts, SLICE("alice"),
                                             SLICE("correct horse"), contract_arena(), &account),
                  STATUS_LOGIN);
    fixture_end();
}

/* ---- Clean-up ---------------------------------------------------------------------------------------------- */

TEST(a_registration_expires_after_seven_days_and_frees_its_names)
{
    fixture_begin();
    uint64_t id = fixture_pending("alice"), confirmed = fixture_confirmed("bob");
    fixture_pass_days(7);
    EXPECT_STATUS(accounts_expire(fixture.accounts, id), STATUS_OK);
    EXPECT_I64(fixture_state(id), ACCOUNT_PENDING);
    contract_pass_s(1);
    EXPECT_STATUS(accounts_expire(fixture.accounts, id), STATUS_OK);
    EXPECT_STATUS(accounts_expire(fixture.accounts, id), STATUS_OK);
    EXPECT_STATUS(accounts_expire(fixture.accounts, confirmed), STATUS_OK);
    EXPECT_STATUS(accounts_expire(fixture.accounts, 999), STATUS_NOT_FOUND);
    Account gone = fixture_read(id);
    EXPECT_I64(gone.state, ACCOUNT_VOID);
    EXPECT_I64(gone.name.size + gone.email.size + gone.password_hash.size, 0);
    EXPECT_I64(fixture_state(confirmed), ACCOUNT_CONFIRMED);
    EXPECT_STATUS(accounts_confirm(fixture.accounts, id, NULL), STATUS_REFUSED);
    /* The claims still point to the void account, and are taken over. */
    uint64_t next = fixture_confirmed("ALICE");
    EXPECT(next != id);
    EXPECT_I64(fixture_holder("alice"), next);
    EXPECT_I64(fixture_holder("alice@example.org"), next);
    fixture_end();
}

/* ---- Another name ------------------------------------------------------------------------------------------ */

TEST(a_new_name_frees_the_old_one)
{
    fixture_begin();
    uint64_t alice = fixture_confirmed("alice"), bob = fixture_confirmed("bob");
    Reason reason;
    EXPECT_STATUS(accounts_rename(fixture.accounts, alice, SLICE("Alicia"), &reason), STATUS_OK);
    EXPECT_STATUS(accounts_rename(fixture.accounts, alice, SLICE("Alicia"), &reason), STATUS_OK);
    EXPECT_SLICE(fixture_read(alice).name, SLICE("Alicia"));
    EXPECT_I64(fixture_holder("alice"), 0);
    EXPECT_I64(fixture_holder("alicia"), alice);
    EXPECT_STATUS(accounts_rename(fixture.accounts, bob, SLICE("alice"), &reason), STATUS_OK);
    EXPECT_STATUS(accounts_rename(fixture.accounts, alice, SLICE("alice"), &reason),
                  STATUS_REFUSED);
    EXPECT_SLICE(slice_from(reason.field), SLICE("name"));
    EXPECT_STATUS(accounts_rename(fixture.accounts, alice, SLICE("a"), &reason), STATUS_INVALID);
    EXPECT_STATUS(accounts_change_email(fixture.accounts, alice, SLICE("bob@example.org"), &reason),
                  STATUS_REFUSED);
    EXPECT_SLICE(slice_from(reason.field), SLICE("email"));
    EXPECT_STATUS(
        accounts_change_email(fixture.accounts, alice, SLICE(" new@example.org"), &reason),
        STATUS_OK);
    EXPECT_SLICE(fixture_read(alice).email, SLICE("new@example.org"));
    EXPECT_I64(fixture_holder("alice@example.org"), 0);
    fixture_check(1, bob);
    fixture_end();
}

TEST(the_same_name_in_another_writing_needs_no_claim)
{
    fixture_begin();
    uint64_t alice = fixture_confirmed("alice");
    EXPECT_STATUS(accounts_rename(fixture.accounts, alice, SLICE("ALICE"), NULL), STATUS_OK);
    EXPECT_SLICE(fixture_read(alice).name, SLICE("ALICE"));
    EXPECT_I64(fixture_holder("alice"), alice);
    fixture_end();
}

TEST(only_confirmed_accounts_change_their_name)
{
    fixture_begin();
    uint64_t alice = fixture_pending("alice");
    EXPECT_STATUS(accounts_rename(fixture.accounts, alice, SLICE("bob"), NULL), STATUS_REFUSED);
    EXPECT_STATUS(accounts_rename(fixture.accounts, 999, SLICE("bob"), NULL), STATUS_NOT_FOUND);
    EXPECT_I64(fixture_holder("bob"), 0);
    fixture_end();
}

/* ---- Closing ----------------------------------------------------------------------------------------------- */

TEST(a_closed_account_keeps_nothing_and_frees_its_names)
{
    fixture_begin();
    uint64_t alice = fixture_confirmed("alice"), pending = fixture_pending("bob");
    uint64_t *policies;
    size_t count;
    EXPECT_STATUS(accounts_watch(fixture.accounts, alice, 5, true), STATUS_OK);
    EXPECT_STATUS(access_close_account(fixture.accounts, alice, NULL), STATUS_OK);
    EXPECT_STATUS(access_close_account(fixture.accounts, alice, NULL), STATUS_OK);
    Account account = fixture_read(alice);
    EXPECT_I64(account.state, ACCOUNT_CLOSED);
    EXPECT_I64(account.name.size + account.email.size + account.password_hash.size, 0);
    EXPECT_STATUS(accounts_watched(fixture.honest, alice, contract_arena(), &policies, &count),
                  STATUS_OK);
    EXPECT_I64(count, 0);
    EXPECT_STATUS(accounts_watch(fixture.accounts, alice, 5, true), STATUS_REFUSED);
    EXPECT_STATUS(credentials_set_password(fixture.accounts, alice, SLICE("another one"), NULL),
                  STATUS_REFUSED);
    EXPECT_STATUS(accounts_set_rights(fixture.accounts, alice, &(AccountRights){.roles = 1}, NULL),
                  STATUS_REFUSED);
    EXPECT_STATUS(accounts_rename(fixture.accounts, alice, SLICE("carol"), NULL), STATUS_REFUSED);
    EXPECT_STATUS(accounts_confirm(fixture.accounts, alice, NULL), STATUS_REFUSED);
    EXPECT_STATUS(access_close_account(fixture.accounts, pending, NULL), STATUS_REFUSED);
    EXPECT_STATUS(access_close_account(fixture.accounts, 999, NULL), STATUS_NOT_FOUND);
    EXPECT(fixture_confirmed("alice") != alice);
    fixture_end();
}

/* ---- Passwords --------------------------------------------------------------------------------------------- */

static Status log_in(const char *who, const char *password)
{
    Account account;
    return credentials_check_password(fixture.accounts, slice_from(who), slice_from(password),
                                      contract_arena(), &account);
}

TEST(a_password_opens_by_name_and_by_email)
{
    fixture_begin();
    uint64_t alice = fixture_confirmed("alice");
    fixture_pending("bob");
    EXPECT_STATUS(log_in("Alice", "correct horse"), STATUS_OK);
    EXPECT_STATUS(log_in("ALICE@example.org", "correct horse"), STATUS_OK);
    EXPECT_STATUS(log_in("bob", "correct horse"),
                  STATUS_LOGIN); /* not before the address is confirmed */
    EXPECT_STATUS(log_in("alice", "wrong horses"), STATUS_LOGIN);
    EXPECT_STATUS(credentials_set_password(fixture.accounts, alice, SLICE("battery staple"), NULL),
                  STATUS_OK);
    EXPECT_STATUS(log_in("alice", "correct horse"), STATUS_LOGIN);
    EXPECT_STATUS(log_in("alice", "battery staple"), STATUS_OK);
    EXPECT_STATUS(credentials_set_password(fixture.accounts, alice, SLICE("short"), NULL),
                  STATUS_INVALID);
    AccountRights rights = {.denied = 1U << RIGHT_LOG_IN};
    EXPECT_STATUS(accounts_set_rights(fixture.accounts, alice, &rights, NULL), STATUS_OK);
    EXPECT_STATUS(log_in("alice", "battery staple"), STATUS_DENIED);
    EXPECT_STATUS(log_in("alice", "wrong horses"), STATUS_LOGIN);
    fixture_end();
}

TEST(who_is_not_there_costs_as_much_as_a_wrong_password)
{
    fixture_begin();
    fixture_confirmed("alice");
    static const char *const WHO[] = {"alice", "nobody", "no!name", "nobody@example.org", ""};
    static const char *const PASSWORDS[] = {"wrong horses", "short", ""};
    for (size_t i = 0; i < sizeof WHO / sizeof WHO[0]; i++) {
        for (size_t k = 0; k < sizeof PASSWORDS / sizeof PASSWORDS[0]; k++) {
            int before = fixture.hashes + fixture.checks;
            EXPECT_STATUS(log_in(WHO[i], PASSWORDS[k]), STATUS_LOGIN);
            EXPECT_I64(fixture.hashes + fixture.checks, before + 1);
        }
    }
    fixture_end();
}

TEST(bcrypt_knows_its_own)
{
    Arena *arena = arena_new();
    PasswordHasher bcrypt = password_bcrypt(4);
    Slice one, two;
    EXPECT_STATUS(bcrypt.hash(bcrypt.self, SLICE("correct horse"), arena, &one), STATUS_OK);
    EXPECT_STATUS(bcrypt.hash(bcrypt.self, SLICE("correct horse"), arena, &two), STATUS_OK);
    EXPECT(slice_starts_with(one, SLICE("$2b$04$")));
    EXPECT_I64(one.size, 60);
    EXPECT(!slice_equal(one, two)); /* salted */
    EXPECT(bcrypt.check(bcrypt.self, SLICE("correct horse"), one));
    EXPECT(bcrypt.check(bcrypt.self, SLICE("correct horse"), two));
    EXPECT(!bcrypt.check(bcrypt.self, SLICE("correct hors"), one));
    EXPECT(!bcrypt.check(bcrypt.self, SLICE(""), one));
    EXPECT(!bcrypt.check(bcrypt.self, SLICE("correct horse"), SLICE_EMPTY));
    EXPECT(!bcrypt.check(bcrypt.self, SLICE("correct horse"), SLICE("*0")));
    EXPECT(!bcrypt.check(bcrypt.self, SLICE("correct horse"), slice_of(one.data, 59)));
    /* A hash of the wide world, made by another implementation. */
    EXPECT(bcrypt.check(bcrypt.self, SLICE("U*U"),
                        SLICE("$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW")));
    arena_free(arena);
}

/* ---- Profile ----------------------------------------------------------------------------------------------- */

TEST(a_real_name_is_the_persons_own_to_show)
{
    fixture_begin();
    uint64_t alice = fixture_confirmed("alice");
    Reason reason = {.rule = ""};
    EXPECT_I64(fixture_read(alice).real_name.size, 0);
    EXPECT_STATUS(
        accounts_set_profile(fixture.accounts, alice, SLICE("  Ａlice Élan "), true, &reason),
        STATUS_OK);
    EXPECT_SLICE(fixture_read(alice).real_name, SLICE("Ａlice Élan"));
    EXPECT(fixture_read(alice).real_name_shown);
    Slice bad[] = {SLICE("a\tb"), SLICE("a\xff"), SLICE("\xe2\x80\xae abc"),
                   contract_filler(81, 'n'), SLICE("a\nb")};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        EXPECT_STATUS(accounts_set_profile(fixture.accounts, alice, bad[i], true, &reason),
                      STATUS_INVALID);
        EXPECT_SLICE(slice_from(reason.field), SLICE("real_name"));
    }
    EXPECT_STATUS(
        accounts_set_profile(fixture.accounts, alice, contract_filler(80, 'n'), false, &reason),
        STATUS_OK);
    EXPECT(!fixture_read(alice).real_name_shown);
    EXPECT_STATUS(accounts_set_profile(fixture.accounts, alice, SLICE(""), true, &reason),
                  STATUS_OK);
    EXPECT_I64(fixture_read(alice).real_name.size, 0);
    EXPECT_STATUS(accounts_set_profile(fixture.accounts, alice, SLICE("Alice"), true, NULL),
                  STATUS_OK);
    EXPECT_STATUS(access_close_account(fixture.accounts, alice, NULL), STATUS_OK);
    EXPECT_I64(fixture_read(alice).real_name.size, 0);
    fixture_end();
}

/* ---- Rights ------------------------------------------------------------------------------------------------ */

TEST(an_admin_has_all_roles_and_rights_can_be_taken_one_by_one)
{
    Account account = {.state = ACCOUNT_CONFIRMED, .denied = 1U << RIGHT_VOTE};
    EXPECT(!account_may(&account, RIGHT_VOTE));
    EXPECT(account_may(&account, RIGHT_COMMENT));
    for (int role = 0; role < ROLE_COUNT; role++)
        EXPECT(!account_has(&account, (AccountRole)role));
    account.roles = 1U << ROLE_FEATURE;
    for (int role = 0; role < ROLE_COUNT; role++)
        EXPECT(account_has(&account, (AccountRole)role) == (role == ROLE_FEATURE));
    account.roles = 1U << ROLE_ADMIN;
    for (int role = 0; role < ROLE_COUNT; role++)
        EXPECT(account_has(&account, (AccountRole)role));
    static const AccountState OTHERS[] = {ACCOUNT_PENDING, ACCOUNT_VOID, ACCOUNT_CLOSED};
    for (int i = 0; i < 3; i++) {
        account.state = OTHERS[i];
        EXPECT(!account_has(&account, ROLE_ADMIN));
        for (int right = 0; right < RIGHT_COUNT; right++)
            EXPECT(!account_may(&account, (AccountRight)right));
    }
}

TEST(rights_that_are_a_change_of_something_older_are_a_conflict)
{
    fixture_begin();
    uint64_t alice = fixture_confirmed("alice");
    AccountRights rights = {.roles = 2, .seen_version = fixture_read(alice).version};
    EXPECT_STATUS(accounts_set_rights(fixture.accounts, alice, &rights, NULL), STATUS_OK);
    rights.roles = 4;
    EXPECT_STATUS(accounts_set_rights(fixture.accounts, alice, &rights, NULL), STATUS_CONFLICT);
    EXPECT_I64(fixture_read(alice).roles, 2);
    rights.seen_version = 0;
    EXPECT_STATUS(accounts_set_rights(fixture.accounts, alice, &rights, NULL), STATUS_OK);
    EXPECT_I64(fixture_read(alice).roles, 4);
    rights.roles = 1U << ROLE_COUNT;
    EXPECT_STATUS(accounts_set_rights(fixture.accounts, alice, &rights, NULL), STATUS_INVALID);
    rights = (AccountRights){.denied = 1U << RIGHT_COUNT};
    EXPECT_STATUS(accounts_set_rights(fixture.accounts, alice, &rights, NULL), STATUS_INVALID);
    fixture_end();
}

/* ---- Lists ------------------------------------------------------------------------------------------------- */

TEST(all_accounts_are_listed_page_by_page)
{
    enum { PEOPLE = 700 };
    fixture_begin();
    bool seen[PEOPLE + 1] = {false};
    for (int i = 0; i < PEOPLE; i++)
        fixture_pending(arena_text(contract_arena(), arena_print(contract_arena(), "user%d", i)));
    Slice position = SLICE_EMPTY;
    bool more = true;
    size_t total = 0;
    int pages = 0;
    for (; more; pages++) {
        Account *list;
        size_t count;
        EXPECT_STATUS(accounts_list(fixture.accounts, position, contract_arena(), &list, &count,
                                    &position, &more),
                      STATUS_OK);
        total += count;
        for (size_t i = 0; i < count; i++) {
            EXPECT(list[i].id >= 1 && list[i].id <= PEOPLE && !seen[list[i].id]);
            seen[list[i].id] = true;
            EXPECT(list[i].name.size > 0);
        }
    }
    EXPECT_I64(total, PEOPLE);
    EXPECT(pages > 1);
    fixture_end();
}

TEST(a_watch_list_keeps_its_order_and_its_bound)
{
    fixture_begin();
    uint64_t alice = fixture_confirmed("alice"), *policies;
    size_t count;
    for (uint64_t i = 1; i <= WATCH_MAX; i++)
        EXPECT_STATUS(accounts_watch(fixture.accounts, alice, i, true), STATUS_OK);
    EXPECT_STATUS(accounts_watch(fixture.accounts, alice, 7, true), STATUS_OK); /* already there */
    EXPECT_STATUS(accounts_watch(fixture.accounts, alice, WATCH_MAX + 1, true), STATUS_REFUSED);
    EXPECT_STATUS(accounts_watch(fixture.accounts, alice, 3, false), STATUS_OK);
    EXPECT_STATUS(accounts_watch(fixture.accounts, alice, 3, false), STATUS_OK);
    EXPECT_STATUS(accounts_watch(fixture.accounts, alice, WATCH_MAX + 1, true), STATUS_OK);
    EXPECT_STATUS(accounts_watched(fixture.honest, alice, contract_arena(), &policies, &count),
                  STATUS_OK);
    EXPECT_I64(count, WATCH_MAX);
    EXPECT_I64(policies[1], 2);
    EXPECT_I64(policies[2], 4);
    EXPECT_I64(policies[WATCH_MAX - 1], WATCH_MAX + 1);
    EXPECT_STATUS(accounts_watch(fixture.accounts, 999, 1, true), STATUS_NOT_FOUND);
    fixture_end();
}

/* ---- Signals ----------------------------------------------------------------------------------------------- */

static uint64_t register_from(const char *name, const char *email, const char *address,
                              const char *cookie)
{
    Registration person = {.name = slice_from(name),
                           .email = slice_from(email),
                           .without_password = true,
                           .address = slice_from(address),
                           .cookie = slice_from(cookie)};
    uint64_t id = 0;
    EXPECT_STATUS(accounts_register(fixture.accounts, &person, &id, NULL), STATUS_OK);
    return id;
}

TEST(accounts_that_share_a_signal_find_each_other)
{
    fixture_begin();
    uint64_t one = register_from("one", "some.one@example.org", "192.0.2.1", "c1");
    contract_pass_s(10);
    uint64_t two = register_from("two", "someone+2@example.org", "192.0.2.2", "c1");
    uint64_t three = register_from("three", "three@example.org", "192.0.2.1", "");
    uint64_t four = register_from("four", "four@example.org", "192.0.2.4", "c4");
    SharedSignal *shared;
    size_t count;
    EXPECT_STATUS(accounts_signals(fixture.honest, one, contract_arena(), &shared, &count),
                  STATUS_OK);
    EXPECT_I64(count, 3);
    EXPECT_I64(shared[0].account, two);
    EXPECT_I64(shared[0].signal, SIGNAL_EMAIL);
    EXPECT_I64(shared[0].tag.size, SIGNAL_TAG);
    EXPECT(!slice_equal(shared[0].tag, shared[1].tag));
    EXPECT_I64(shared[0].time_us, contract_now_us());
    EXPECT_I64(shared[1].account, three);
    EXPECT_I64(shared[1].signal, SIGNAL_ADDRESS);
    EXPECT_I64(shared[2].account, two);
    EXPECT_I64(shared[2].signal, SIGNAL_COOKIE);
    EXPECT(account_signal_reason(shared[2].signal)[0] != '\0');
    EXPECT_STATUS(accounts_signals(fixture.honest, four, contract_arena(), &shared, &count),
                  STATUS_OK);
    EXPECT_I64(count, 0);
    /* A void registration is no duplicate, and after a year nothing is left. */
    fixture_pass_days(8);
    EXPECT_STATUS(accounts_expire(fixture.accounts, two), STATUS_OK);
    EXPECT_STATUS(accounts_signals(fixture.honest, one, contract_arena(), &shared, &count),
                  STATUS_OK);
    EXPECT_I64(count, 1);
    fixture_pass_days(360);
    EXPECT_STATUS(accounts_signals(fixture.honest, one, contract_arena(), &shared, &count),
                  STATUS_OK);
    EXPECT_I64(count, 0);
    fixture_end();
}

/* Who can write to the store, and has no key, gives somebody else's address to an account. */
TEST(a_sealed_cell_in_another_row_is_corrupt)
{
    fixture_begin();
    uint64_t alice = fixture_confirmed("alice"), bob = fixture_confirmed("bob");
    Account account;
    char rows[2][8];
    Cell cells[2];
    bytes_put_u64(rows[0], alice);
    bytes_put_u64(rows[1], bob);
    for (int i = 0; i < 2; i++) {
        Read read = {&TABLE_ACCOUNTS, slice_of(rows[i], 8), SLICE("head"), STORE_SERIAL};
        EXPECT_STATUS(store_read(fixture.store, &read, contract_arena(), &cells[i]), STATUS_OK);
    }
    Change change = {.column = SLICE("head"), .value = cells[0].value};
    Condition same = {SLICE("head"), cells[1].value, false};
    Update update = {.table = &TABLE_ACCOUNTS,
                     .row = slice_of(rows[1], 8),
                     .conditions = &same,
                     .condition_count = 1,
                     .changes = &change,
                     .change_count = 1};
    EXPECT_STATUS(store_update_if(fixture.store, &update, contract_arena(), NULL), STATUS_OK);
    fixture_restart();
    EXPECT_STATUS(accounts_read(fixture.accounts, alice, contract_arena(), &account), STATUS_OK);
    EXPECT_STATUS(accounts_read(fixture.accounts, bob, contract_arena(), &account), STATUS_CORRUPT);
    fixture_end();
}

/* Where the answer must not tell that an address may not join. */
TEST(a_name_that_is_only_held_is_taken_and_nobodys)
{
    fixture_begin();
    Registration person = fixture_person("olaf");
    uint64_t id, other;
    Reason reason = {.rule = ""};
    person.only_name = true;
    EXPECT_STATUS(accounts_register(fixture.accounts, &person, &id, &reason), STATUS_OK);
    EXPECT_STATUS(accounts_check_name(fixture.accounts, SLICE("OLAF"), &reason), STATUS_REFUSED);
    EXPECT_SLICE(slice_from(reason.field), SLICE("name"));
    EXPECT_I64(fixture_holder("olaf"), 0);
    EXPECT_I64(fixture_holder("olaf@example.org"), 0);
    EXPECT_I64(fixture_read(id).email.size + fixture_read(id).password_hash.size, 0);
    EXPECT_STATUS(accounts_confirm(fixture.accounts, id, &reason), STATUS_REFUSED);
    Registration second = fixture_person("olaf");
    EXPECT_STATUS(accounts_register(fixture.accounts, &second, &other, &reason), STATUS_REFUSED);
    EXPECT_SLICE(slice_from(reason.field), SLICE("name"));
    second.name = SLICE("another"); /* the address is free */
    EXPECT_STATUS(accounts_register(fixture.accounts, &second, &other, &reason), STATUS_OK);
    fixture_pass_days(ACCOUNT_PENDING_DAYS + 1);
    EXPECT_STATUS(accounts_expire(fixture.accounts, id), STATUS_OK);
    EXPECT_STATUS(accounts_check_name(fixture.accounts, SLICE("olaf"), &reason), STATUS_OK);
    fixture_end();
}
