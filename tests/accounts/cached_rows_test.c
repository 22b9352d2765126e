/* cached_rows_test.c -- what is kept in memory of accounts and sessions: it spares reads, a change here counts at once, one elsewhere after a
 * while. */
#include "access/credentials.h"
#include "access/sessions.h"
#include "accounts_fixture.h"
#include "base/read_cache.h"

#define READ_CACHE_US US_PER_S

static const SessionOrigin HOME = {{"192.0.2.1", 9}, {"Browser/1.0", 11}, true, false};
static Accounts *keeper; /* on the faulty store, with copies */

static uint64_t begin_with(int64_t read_cache_us, Session *ret_session)
{
    fixture_begin();
    AccountsOptions options = fixture_options(&fixture.faulty.store);
    options.read_cache_us = read_cache_us;
    keeper = accounts_new(&options);
    uint64_t alice = fixture_confirmed("alice");
    Account account = fixture_read(alice);
    EXPECT_STATUS(sessions_begin(keeper, &account, &HOME, contract_arena(), ret_session),
                  STATUS_OK);
    return alice;
}

static uint64_t begin_test(Session *ret_session)
{
    return begin_with(READ_CACHE_US, ret_session);
}

static void end_test(void)
{
    accounts_free(keeper);
    fixture_end();
}

static Status find(const Session *session, Account *ret_account)
{
    Session found;
    TRY(sessions_find(keeper, session->secret, contract_arena(), &found, ret_account));
    sessions_note_seen(keeper, &found);
    return STATUS_OK;
}

static int calls_of_find(const Session *session)
{
    Account account;
    faulty_plan(&fixture.faulty, 0, FAULT_REFUSED, FAULT_ONCE);
    EXPECT_STATUS(find(session, &account), STATUS_OK);
    EXPECT_SLICE(account.name, SLICE("alice"));
    EXPECT_SLICE(account.email, SLICE("alice@example.org"));
    return (int)fixture.faulty.calls;
}

TEST(the_second_page_reads_nothing)
{
    Session session;
    begin_test(&session);
    EXPECT_I64(calls_of_find(&session), 2);
    EXPECT_I64(calls_of_find(&session), 0);
    contract_pass_s(1);
    EXPECT_I64(calls_of_find(&session), 2);
    end_test();
}

TEST(where_nobody_else_writes_copies_last)
{
    Session session;
    begin_with(READ_CACHE_EXACT, &session);
    EXPECT_I64(calls_of_find(&session), 2);
    contract_pass_s(SESSION_SEEN_S - 1);
    EXPECT_I64(calls_of_find(&session), 0);
    end_test();
}

/* Nobody knew that it was done, and copies that were made since say that it was not. */
TEST(what_turns_out_to_be_done_counts_at_once)
{
    Session session;
    Account account;
    Reason reason;
    uint64_t alice = begin_with(READ_CACHE_EXACT, &session);
    AccountRights rights = {.roles = 1u << ROLE_MODERATE_POLICIES};
    faulty_plan(&fixture.faulty, 2, FAULT_LATE, FAULT_OUTAGE);
    EXPECT_STATUS(accounts_set_rights(keeper, alice, &rights, &reason), STATUS_UNKNOWN);
    faulty_arrive(&fixture.faulty, 0);
    for (int i = 0; i < 2; i++) {
        EXPECT_STATUS(find(&session, &account), STATUS_OK);
        EXPECT(!account_has(&account, ROLE_MODERATE_POLICIES));
    }
    faulty_deliver(&fixture.faulty);
    EXPECT_STATUS(find(&session, &account), STATUS_OK);
    EXPECT(account_has(&account, ROLE_MODERATE_POLICIES));
    end_test();
}

TEST(a_session_that_is_ended_here_is_over_at_once)
{
    Session session;
    Account account;
    begin_test(&session);
    EXPECT_I64(calls_of_find(&session), 2);
    EXPECT_STATUS(sessions_end(keeper, &session), STATUS_OK);
    EXPECT_STATUS(find(&session, &account), STATUS_LOGIN);
    end_test();
}

TEST(a_new_password_and_rights_that_are_taken_count_at_once)
{
    Session session;
    Account account;
    Reason reason;
    uint64_t alice = begin_test(&session);
    EXPECT_I64(calls_of_find(&session), 2);
    AccountRights rights = {.roles = 1u << ROLE_MODERATE_POLICIES};
    EXPECT_STATUS(accounts_set_rights(keeper, alice, &rights, &reason), STATUS_OK);
    EXPECT_STATUS(find(&session, &account), STATUS_OK);
    EXPECT(account_has(&account, ROLE_MODERATE_POLICIES));
    rights.roles = 0;
    EXPECT_STATUS(accounts_set_rights(keeper, alice, &rights, &reason), STATUS_OK);
    EXPECT_STATUS(find(&session, &account), STATUS_OK);
    EXPECT(!account_has(&account, ROLE_MODERATE_POLICIES));
    EXPECT_STATUS(credentials_set_password(keeper, alice, SLICE("a better secret 7"), &reason),
                  STATUS_OK);
    EXPECT_STATUS(find(&session, &account), STATUS_LOGIN);
    end_test();
}

TEST(what_another_process_ends_is_over_after_a_second)
{
    Session session;
    Account account;
    begin_test(&session);
    EXPECT_I64(calls_of_find(&session), 2);
    EXPECT_STATUS(sessions_end(fixture.honest, &session), STATUS_OK);
    contract_pass_s(1);
    EXPECT_STATUS(find(&session, &account), STATUS_LOGIN);
    end_test();
}

TEST(strangers_leave_no_copies)
{
    Session session;
    Account account;
    begin_test(&session);
    Session wrong = session;
    char secret[43];
    memcpy(secret, session.secret.data, sizeof secret);
    secret[20] = secret[20] == 'A' ? 'B' : 'A';
    wrong.secret = slice_of(secret, sizeof secret);
    for (int i = 0; i < 2; i++) {
        faulty_plan(&fixture.faulty, 0, FAULT_REFUSED, FAULT_ONCE);
        EXPECT_STATUS(find(&wrong, &account), STATUS_LOGIN);
        EXPECT_I64(fixture.faulty.calls, 1);
    }
    end_test();
}

TEST(a_watch_list_is_kept_and_a_change_counts_at_once)
{
    Session session;
    uint64_t alice = begin_test(&session), *watched;
    size_t count;
    for (uint64_t policy = 7; policy < 10; policy++) {
        EXPECT_STATUS(accounts_watch(keeper, alice, policy, true), STATUS_OK);
        for (int i = 0; i < 2; i++) {
            faulty_plan(&fixture.faulty, 0, FAULT_REFUSED, FAULT_ONCE);
            EXPECT_STATUS(accounts_watched(keeper, alice, contract_arena(), &watched, &count),
                          STATUS_OK);
            EXPECT_I64(fixture.faulty.calls, 1 - i);
            EXPECT_I64(count, policy - 6);
            EXPECT_I64(watched[count - 1], policy);
        }
    }
    end_test();
}
