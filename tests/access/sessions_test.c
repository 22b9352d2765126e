/* sessions_test.c -- logging in and out, by a clock of the test's own; the last log-ins. */
#include "access/closing.h"
#include "access/sessions.h"

#include "access/credentials.h"
#include "access/request_keys.h"
#include "accounts_fixture.h"

#define MINUTE_US (INT64_C(60) * US_PER_S)

static const SessionOrigin HOME = {{"192.0.2.1", 9}, {"Browser/1.0", 11}, true, false};
static const SessionOrigin CAFE = {{"2001:db8::1", 11}, {"Phone\x01\xff", 7}, false, false};

static Session begin(uint64_t id, const SessionOrigin *origin)
{
    Session session = {.account = 0};
    Account account = fixture_read(id);
    EXPECT_STATUS(sessions_begin(fixture.accounts, &account, origin, contract_arena(), &session),
                  STATUS_OK);
    return session;
}

/* As the site's door does it. */
static Status find(const Session *session)
{
    Session found;
    Account account;
    TRY(sessions_find(fixture.accounts, session->secret, contract_arena(), &found, &account));
    sessions_note_seen(fixture.accounts, &found);
    return STATUS_OK;
}

static size_t listed(uint64_t id, Session **ret_sessions)
{
    Account account = fixture_read(id);
    size_t count = 0;
    EXPECT_STATUS(sessions_list(fixture.accounts, &account, contract_arena(), ret_sessions, &count),
                  STATUS_OK);
    return count;
}

TEST(a_session_is_found_by_its_secret_and_nothing_else)
{
    fixture_begin();
    uint64_t alice = fixture_confirmed("alice");
    Session home = begin(alice, &HOME), found;
    Account account;
    EXPECT_I64(home.secret.size, 43);
    EXPECT_STATUS(sessions_find(fixture.accounts, home.secret, contract_arena(), &found, &account),
                  STATUS_OK);
    EXPECT(id_equal(found.id, home.id));
    EXPECT_I64(found.account, alice);
    EXPECT_I64(found.begun_us, contract_now_us());
    EXPECT(found.origin.remember);
    EXPECT_I64(account.id, alice);
    EXPECT_SLICE(account.email, SLICE("alice@example.org"));
    char *other = arena_bytes(contract_arena(), 44);
    memcpy(other, home.secret.data, 43);
    other[43] = 'A';
    other[20] = other[20] == 'A' ? 'B' : 'A';
    Slice wrong[] = {SLICE_EMPTY,
                     SLICE("x"),
                     slice_of(other, 43),
                     slice_of(other, 44),
                     slice_of(home.secret.data, 42),
                     home.key,
                     contract_filler(43, '='),
                     contract_filler(5000, 'A')};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        EXPECT_STATUS(sessions_find(fixture.accounts, wrong[i], contract_arena(), &found, &account),
                      STATUS_LOGIN);
    fixture_restart();
    EXPECT_STATUS(find(&home), STATUS_OK);
    fixture_end();
}

TEST(a_page_costs_two_reads_and_rarely_a_lazy_write)
{
    fixture_begin();
    Session home = begin(fixture_confirmed("alice"), &HOME);
    for (int i = 0; i < 5; i++) {
        faulty_plan(&fixture.faulty, 0, FAULT_REFUSED, FAULT_ONCE);
        EXPECT_STATUS(find(&home), STATUS_OK);
        EXPECT_I64(fixture.faulty.calls, 2);
        contract_pass_s(59);
    }
    contract_pass_s(6);
    faulty_plan(&fixture.faulty, 0, FAULT_REFUSED, FAULT_ONCE);
    EXPECT_STATUS(find(&home), STATUS_OK);
    EXPECT_I64(fixture.faulty.calls, 3);
    faulty_plan(&fixture.faulty, 0, FAULT_REFUSED, FAULT_ONCE);
    EXPECT_STATUS(find(&home), STATUS_OK);
    EXPECT_I64(fixture.faulty.calls, 2);
    /* A note that cannot be written is no reason to be sent away. */
    contract_pass_s(600);
    faulty_plan(&fixture.faulty, 3, FAULT_REFUSED, FAULT_ONCE);
    EXPECT_STATUS(find(&home), STATUS_OK);
    fixture_end();
}

TEST(a_session_ends_when_it_is_idle_and_when_it_is_old)
{
    fixture_begin();
    uint64_t alice = fixture_confirmed("alice");
    Session home = begin(alice, &HOME), cafe = begin(alice, &CAFE), idle = begin(alice, &HOME);
    contract_pass_s(S_PER_DAY - 1);
    EXPECT_STATUS(find(&cafe), STATUS_OK);
    contract_pass_s(S_PER_DAY - 1);
    EXPECT_STATUS(find(&cafe), STATUS_OK);
    contract_pass_s(S_PER_DAY + 1);
    EXPECT_STATUS(find(&cafe), STATUS_LOGIN);
    EXPECT_STATUS(find(&home), STATUS_OK);
    fixture_pass_days(11);
    contract_pass_s(1);
    EXPECT_STATUS(find(&idle), STATUS_LOGIN);
    for (int day = 14; day < 60; day++) {
        EXPECT_STATUS(find(&home), STATUS_OK);
        fixture_pass_days(1);
    }
    EXPECT_STATUS(find(&home), STATUS_LOGIN);
    Session *sessions;
    EXPECT_I64(listed(alice, &sessions), 0);
    fixture_end();
}

TEST(mine_are_listed_and_ended_one_by_one)
{
    fixture_begin();
    uint64_t alice = fixture_confirmed("alice"), bob = fixture_confirmed("bob");
    Session home = begin(alice, &HOME);
    contract_pass_s(1);
    Session cafe = begin(alice, &CAFE), *sessions, other = begin(bob, &HOME);
    EXPECT_I64(listed(alice, &sessions), 2);
    EXPECT(id_equal(sessions[0].id, cafe.id) && id_equal(sessions[1].id, home.id));
    EXPECT_SLICE(sessions[0].origin.address, SLICE("2001:db8::1"));
    EXPECT_SLICE(sessions[0].origin.agent, SLICE("Phone??"));
    EXPECT(!sessions[0].origin.remember && sessions[1].origin.remember);
    EXPECT_STATUS(sessions_end_named(fixture.accounts, bob, cafe.id), STATUS_NOT_FOUND);
    EXPECT_STATUS(sessions_end_named(fixture.accounts, alice, cafe.id), STATUS_OK);
    EXPECT_STATUS(sessions_end_named(fixture.accounts, alice, cafe.id), STATUS_OK);
    EXPECT_STATUS(find(&cafe), STATUS_LOGIN);
    EXPECT_STATUS(find(&home), STATUS_OK);
    EXPECT_STATUS(find(&other), STATUS_OK);
    EXPECT_I64(listed(alice, &sessions), 1);
    EXPECT_STATUS(sessions_end(fixture.accounts, &home), STATUS_OK);
    EXPECT_STATUS(find(&home), STATUS_LOGIN);
    EXPECT_I64(listed(alice, &sessions), 0);
    fixture_end();
}

/* An instance whose clock is behind ends what one that is ahead began. */
TEST(an_end_counts_whatever_the_clocks_say)
{
    fixture_begin();
    Session home = begin(fixture_confirmed("alice"), &HOME);
    contract_pass_s(600);
    EXPECT_STATUS(find(&home), STATUS_OK); /* notes that it was seen */
    contract_set_now_us(contract_now_us() - 2 * 3600 * US_PER_S);
    EXPECT_STATUS(sessions_end(fixture.accounts, &home), STATUS_OK);
    EXPECT_STATUS(find(&home), STATUS_LOGIN);
    contract_pass_s(4 * 3600);
    EXPECT_STATUS(find(&home), STATUS_LOGIN);
    fixture_end();
}

TEST(all_others_end_at_once_and_this_one_stays)
{
    fixture_begin();
    uint64_t alice = fixture_confirmed("alice");
    Session home = begin(alice, &HOME), cafe = begin(alice, &CAFE), *sessions;
    EXPECT_STATUS(sessions_end_others(fixture.accounts, &home), STATUS_OK);
    EXPECT_STATUS(find(&home), STATUS_OK);
    EXPECT_STATUS(find(&cafe), STATUS_LOGIN);
    EXPECT_I64(listed(alice, &sessions), 1);
    cafe = begin(alice, &CAFE);
    EXPECT_STATUS(sessions_end_others(fixture.accounts, &cafe), STATUS_OK);
    EXPECT_STATUS(find(&home), STATUS_LOGIN);
    EXPECT_STATUS(find(&cafe), STATUS_OK);
    fixture_end();
}

TEST(a_new_password_ends_all_sessions_but_the_one_it_was_changed_in)
{
    fixture_begin();
    uint64_t alice = fixture_confirmed("alice");
    Session home = begin(alice, &HOME), cafe = begin(alice, &CAFE);
    Reason reason = {.rule = ""};
    PasswordChange change = {.account = alice,
                             .old = SLICE("wrong horse"),
                             .password = SLICE("battery staple"),
                             .keep = &home};
    EXPECT_STATUS(credentials_change_password(fixture.accounts, &change, &reason), STATUS_REFUSED);
    EXPECT_SLICE(slice_from(reason.field), SLICE("old"));
    EXPECT_STATUS(find(&cafe), STATUS_OK);
    change.old = SLICE("correct horse");
    change.password = SLICE("short");
    EXPECT_STATUS(credentials_change_password(fixture.accounts, &change, &reason), STATUS_INVALID);
    EXPECT_SLICE(slice_from(reason.field), SLICE("password"));
    change.password = SLICE("battery staple");
    EXPECT_STATUS(credentials_change_password(fixture.accounts, &change, &reason), STATUS_OK);
    EXPECT_STATUS(find(&home), STATUS_OK);
    EXPECT_STATUS(find(&cafe), STATUS_LOGIN);
    EXPECT_STATUS(credentials_set_password(fixture.accounts, alice, SLICE("by an operator"), NULL),
                  STATUS_OK);
    EXPECT_STATUS(find(&home), STATUS_LOGIN);
    fixture_end();
}

/* The password was right a moment ago, and is not any more. */
TEST(a_session_that_begins_by_an_old_password_is_over)
{
    fixture_begin();
    uint64_t alice = fixture_confirmed("alice");
    Account before = fixture_read(alice);
    Session session;
    EXPECT_STATUS(credentials_set_password(fixture.honest, alice, SLICE("battery staple"), NULL),
                  STATUS_OK);
    EXPECT_STATUS(sessions_begin(fixture.accounts, &before, &HOME, contract_arena(), &session),
                  STATUS_OK);
    EXPECT_STATUS(find(&session), STATUS_LOGIN);
    fixture_end();
}

TEST(who_may_not_log_in_has_no_session)
{
    fixture_begin();
    uint64_t alice = fixture_confirmed("alice"), bob = fixture_confirmed("bob");
    Session home = begin(alice, &HOME), other = begin(bob, &HOME), session;
    AccountRights rights = {.denied = 1U << RIGHT_LOG_IN};
    EXPECT_STATUS(accounts_set_rights(fixture.accounts, alice, &rights, NULL), STATUS_OK);
    EXPECT_STATUS(find(&home), STATUS_LOGIN);
    Account account = fixture_read(alice);
    EXPECT_STATUS(sessions_begin(fixture.accounts, &account, &HOME, contract_arena(), &session),
                  STATUS_DENIED);
    EXPECT_STATUS(access_close_account(fixture.accounts, bob, NULL), STATUS_OK);
    EXPECT_STATUS(find(&other), STATUS_LOGIN);
    EXPECT_STATUS(sessions_end_others(fixture.accounts, &other), STATUS_REFUSED);
    fixture_end();
}

static size_t cells_of(const Table *table)
{
    ScanPage page;
    EXPECT_STATUS(store_scan(fixture.store, table, SLICE_EMPTY, 4000, contract_arena(), &page),
                  STATUS_OK);
    return page.count;
}

TEST(closing_deletes_sessions_and_log_ins_at_once)
{
    enum { MANY = 230 };
    static const Table *const OF_ACCOUNTS[] = {&TABLE_SESSIONS, &TABLE_LOGINS, &TABLE_TOKEN_USES,
                                               &TABLE_REQUEST_KEYS};
    size_t before[4];
    fixture_begin();
    uint64_t alice = fixture_confirmed("alice"), bob = fixture_confirmed("bob");
    Session other = begin(bob, &CAFE);
    for (int i = 0; i < 4; i++)
        before[i] = cells_of(OF_ACCOUNTS[i]);
    for (int i = 0; i < MANY; i++) {
        Session home = begin(alice, &HOME);
        if (i % 7 == 0)
            EXPECT_STATUS(sessions_end(fixture.accounts, &home), STATUS_OK);
    }
    EXPECT_STATUS(logins_note_failure(fixture.accounts, alice, &CAFE), STATUS_OK);
    RequestKey key = {alice, SLICE("key"), SLICE("request")};
    EXPECT_STATUS(request_key_note(fixture.accounts, &key), STATUS_OK);
    EXPECT(cells_of(&TABLE_SESSIONS) > before[0] + 2 * MANY);
    contract_pass_s(-30); /* by a clock that is behind the one that wrote */
    EXPECT_STATUS(access_close_account(fixture.accounts, alice, NULL), STATUS_OK);
    for (int i = 0; i < 4; i++)
        EXPECT_I64(cells_of(OF_ACCOUNTS[i]), before[i]);
    EXPECT_STATUS(find(&other), STATUS_OK);
    fixture_end();
}

TEST(the_store_has_neither_secret_nor_address)
{
    fixture_begin();
    Session home = begin(fixture_confirmed("alice"), &HOME);
    static const Table *const OF_PEOPLE[] = {&TABLE_ACCOUNTS, &TABLE_NAMES, &TABLE_SIGNALS,
                                             &TABLE_SESSIONS, &TABLE_LOGINS};
    int cells = 0;
    for (size_t i = 0; i < sizeof OF_PEOPLE / sizeof OF_PEOPLE[0]; i++) {
        ScanPage page;
        EXPECT_STATUS(
            store_scan(fixture.store, OF_PEOPLE[i], SLICE_EMPTY, 1000, contract_arena(), &page),
            STATUS_OK);
        for (size_t k = 0; k < page.count; k++, cells++) {
            const ScanCell *cell = &page.cells[k];
            Slice parts[] = {cell->row, cell->cell.column, cell->cell.value};
            for (int part = 0; part < 3; part++) {
                Slice where = parts[part];
                EXPECT(memmem(where.data, where.size, "example.org", 11) == NULL);
                EXPECT(memmem(where.data, where.size, "192.0.2.1", 9) == NULL);
                EXPECT(memmem(where.data, where.size, "Browser", 7) == NULL);
                EXPECT(memmem(where.data, where.size, home.secret.data, 43) == NULL);
            }
        }
    }
    EXPECT(cells > 8);
    fixture_end();
}

/* ---- Faults -------------------------------------------------------------------------------------------------- */

/* Told that it began: it is there. Told anything else: nobody has the secret. Told that it ended: it is over. */
TEST(a_fault_at_any_call_tells_nothing_wrong)
{
    fixture_begin();
    int runs = 0;
    uint64_t alice = fixture_confirmed("alice");
    for (int fate = 0; fate < FAULT_FATES; fate++)
        for (int n = 1, more = 1; more; n++, runs++) {
            Account account = fixture_read(alice);
            Session kept = begin(alice, &HOME), session;
            faulty_plan(&fixture.faulty, n, (FaultFate)fate, FAULT_OUTAGE);
            Status begun =
                sessions_begin(fixture.accounts, &account, &HOME, contract_arena(), &session);
            Status found = find(&kept);
            Status ended = sessions_end_others(fixture.accounts, &kept);
            more = faulty_struck(&fixture.faulty);
            faulty_plan(&fixture.faulty, 0, FAULT_REFUSED, FAULT_ONCE);
            EXPECT(found == STATUS_OK || found == STATUS_UNAVAILABLE);
            if (ended == STATUS_OK && begun == STATUS_OK)
                EXPECT_STATUS(find(&session), STATUS_LOGIN);
            faulty_deliver(&fixture.faulty);
            if (ended == STATUS_OK && begun == STATUS_OK)
                EXPECT_STATUS(find(&session), STATUS_LOGIN);
            EXPECT_STATUS(sessions_end(fixture.accounts, &kept), STATUS_OK);
            EXPECT_STATUS(find(&kept), STATUS_LOGIN);
        }
    EXPECT(runs > 15);
    fixture_end();
}

/* ---- The last log-ins ---------------------------------------------------------------------------------------- */

TEST(the_last_logins_are_listed_and_failures_push_nothing_out)
{
    fixture_begin();
    uint64_t alice = fixture_confirmed("alice"), bob = fixture_confirmed("bob");
    Login *logins;
    size_t count;
    begin(alice, &HOME);
    for (int i = 0; i < 30; i++) {
        contract_pass_s(1);
        EXPECT_STATUS(logins_note_failure(fixture.accounts, alice, &CAFE), STATUS_OK);
    }
    contract_pass_s(1);
    begin(alice, &CAFE);
    EXPECT_STATUS(logins_list(fixture.accounts, alice, contract_arena(), &logins, &count),
                  STATUS_OK);
    EXPECT_I64(count, LOGINS_LISTED + 2);
    EXPECT(logins[0].success && logins[count - 1].success && !logins[1].success);
    EXPECT_SLICE(logins[count - 1].origin.address, HOME.address);
    EXPECT_SLICE(logins[1].origin.agent, SLICE("Phone??"));
    for (size_t i = 1; i < count; i++)
        EXPECT(logins[i].time_us < logins[i - 1].time_us);
    EXPECT_STATUS(logins_list(fixture.accounts, bob, contract_arena(), &logins, &count), STATUS_OK);
    EXPECT_I64(count, 0);
    fixture_pass_days(LOGINS_DAYS + 1);
    EXPECT_STATUS(logins_list(fixture.accounts, alice, contract_arena(), &logins, &count),
                  STATUS_OK);
    EXPECT_I64(count, 0);
    fixture_end();
}

/* ---- Keys of requests ------------------------------------------------------------------------------------------ */

TEST(a_key_is_for_one_request_of_one_account)
{
    fixture_begin();
    uint64_t alice = fixture_confirmed("alice"), bob = fixture_confirmed("bob");
    RequestKey key = {alice, SLICE("key"), SLICE("PUT /votes {}")}, other = key, foreign = key;
    Reason reason = {0};
    other.request = SLICE("PUT /votes {1}");
    foreign.account = bob;
    foreign.request = other.request;
    EXPECT_STATUS(request_key_check(fixture.accounts, &other, &reason), STATUS_OK);
    EXPECT_STATUS(request_key_note(fixture.accounts, &key), STATUS_OK);
    EXPECT_STATUS(request_key_check(fixture.accounts, &key, &reason), STATUS_OK);
    EXPECT_STATUS(request_key_check(fixture.accounts, &other, &reason), STATUS_REFUSED);
    EXPECT_SLICE(slice_from(reason.field), SLICE("Idempotency-Key"));
    EXPECT_STATUS(request_key_check(fixture.accounts, &foreign, &reason), STATUS_OK);
    fixture_pass_days(REQUEST_KEY_DAYS + 1);
    EXPECT_STATUS(request_key_check(fixture.accounts, &other, &reason), STATUS_OK);
    fixture_end();
}
