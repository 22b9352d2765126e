/* second_factor_test.c -- the second factor: offered, on, used once, off; under races and with a store that fails. */
#include "access/closing.h"
#include "access/second_factor.h"

#include <pthread.h>

#include "access/credentials.h"
#include "access/linked_logins.h"
#include "access/tokens.h"
#include "accounts_fixture.h"

static const SessionOrigin HOME = {{"192.0.2.1", 9}, {"Browser/1.0", 11}, true, false};

static Slice code_at(Slice secret, int64_t steps)
{
    char *code = arena_bytes(contract_arena(), TOTP_DIGITS + 1);
    totp_code(secret, totp_step(contract_now_us()) + steps, code);
    return slice_from(code);
}

/* Turned on; its secret. */
static Slice turn_on(uint64_t id, RecoveryCodes *ret_codes)
{
    SecondFactor factor;
    EXPECT_STATUS(second_factor_offer(fixture.accounts, id, contract_arena(), &factor, NULL),
                  STATUS_OK);
    SecondFactorChange change = {.account = id, .code = code_at(factor.secret, 0)};
    EXPECT_STATUS(
        second_factor_confirm(fixture.accounts, &change, contract_arena(), ret_codes, NULL),
        STATUS_OK);
    return factor.secret;
}

static Status check(uint64_t id, Slice code)
{
    Reason reason = {0};
    Status status = second_factor_check(fixture.accounts, id, code, &reason);
    EXPECT((status == STATUS_REFUSED) == (strcmp(reason.field, "code") == 0));
    return status;
}

TEST(what_is_offered_counts_only_when_a_code_confirms_it)
{
    fixture_begin();
    uint64_t alice = fixture_confirmed("alice");
    SecondFactor factor, again;
    RecoveryCodes codes;
    EXPECT_STATUS(second_factor_read(fixture.accounts, alice, contract_arena(), &factor),
                  STATUS_OK);
    EXPECT(!factor.is_on && !factor.is_offered);
    EXPECT_STATUS(second_factor_offer(fixture.accounts, alice, contract_arena(), &factor, NULL),
                  STATUS_OK);
    EXPECT_STATUS(second_factor_offer(fixture.accounts, alice, contract_arena(), &again, NULL),
                  STATUS_OK);
    EXPECT(again.is_offered && !again.is_on);
    EXPECT_SLICE(again.secret, factor.secret);
    EXPECT(!fixture_read(alice).second);
    SecondFactorChange change = {.account = alice, .code = SLICE("000000")};
    if (slice_equal(change.code, code_at(factor.secret, 0)))
        change.code = SLICE("000001");
    EXPECT_STATUS(second_factor_confirm(fixture.accounts, &change, contract_arena(), &codes, NULL),
                  STATUS_REFUSED);
    EXPECT(!fixture_read(alice).second);
    change.code = code_at(factor.secret, 0);
    EXPECT_STATUS(second_factor_confirm(fixture.accounts, &change, contract_arena(), &codes, NULL),
                  STATUS_OK);
    EXPECT(fixture_read(alice).second);
    EXPECT_STATUS(second_factor_confirm(fixture.accounts, &change, contract_arena(), &codes, NULL),
                  STATUS_REFUSED);
    EXPECT_STATUS(second_factor_offer(fixture.accounts, alice, contract_arena(), &factor, NULL),
                  STATUS_REFUSED);
    EXPECT_STATUS(second_factor_read(fixture.honest, alice, contract_arena(), &factor), STATUS_OK);
    EXPECT(factor.is_on && factor.secret.size == 0);
    EXPECT_I64(factor.codes_left, SECOND_FACTOR_CODES);
    fixture_end();
}

TEST(a_code_counts_once)
{
    fixture_begin();
    uint64_t alice = fixture_confirmed("alice");
    RecoveryCodes codes;
    Slice secret = turn_on(alice, &codes);
    EXPECT_STATUS(check(alice, code_at(secret, 0)), STATUS_REFUSED); /* it confirmed */
    contract_pass_s(30);
    EXPECT_STATUS(check(alice, code_at(secret, 0)), STATUS_OK);
    EXPECT_STATUS(check(alice, code_at(secret, 0)), STATUS_REFUSED);
    EXPECT_STATUS(check(alice, code_at(secret, -1)), STATUS_REFUSED);
    EXPECT_STATUS(check(alice, code_at(secret, 1)), STATUS_OK);
    contract_pass_s(60);
    EXPECT_STATUS(check(alice, code_at(secret, -2)), STATUS_REFUSED);
    EXPECT_STATUS(check(alice, code_at(secret, 0)), STATUS_OK);
    EXPECT_STATUS(check(alice, SLICE("")), STATUS_REFUSED);
    EXPECT_STATUS(check(alice, contract_filler(5000, '1')), STATUS_REFUSED);
    fixture_end();
}

TEST(each_code_on_paper_counts_once_and_new_ones_end_the_old)
{
    fixture_begin();
    uint64_t alice = fixture_confirmed("alice"), bob = fixture_confirmed("bob");
    RecoveryCodes codes, others, fresh;
    SecondFactor factor;
    turn_on(alice, &codes);
    turn_on(bob, &others);
    EXPECT_I64(codes.codes[0].size, SECOND_FACTOR_CODE_TEXT);
    EXPECT_STATUS(check(alice, others.codes[0]), STATUS_REFUSED);
    EXPECT_STATUS(check(alice, codes.codes[3]), STATUS_OK);
    EXPECT_STATUS(check(alice, codes.codes[3]), STATUS_REFUSED);
    char *loud = arena_bytes(contract_arena(), SECOND_FACTOR_CODE_TEXT);
    for (size_t i = 0; i < SECOND_FACTOR_CODE_TEXT; i++) {
        char c = codes.codes[4].data[i];
        loud[i] = c == '-' ? ' ' : c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
    }
    EXPECT_STATUS(check(alice, slice_of(loud, SECOND_FACTOR_CODE_TEXT)), STATUS_OK);
    EXPECT_STATUS(second_factor_read(fixture.accounts, alice, contract_arena(), &factor),
                  STATUS_OK);
    EXPECT_I64(factor.codes_left, SECOND_FACTOR_CODES - 2);
    EXPECT_STATUS(second_factor_renew(fixture.accounts, alice, codes.codes[3], contract_arena(),
                                      &fresh, NULL),
                  STATUS_REFUSED);
    EXPECT_STATUS(second_factor_renew(fixture.accounts, alice, codes.codes[5], contract_arena(),
                                      &fresh, NULL),
                  STATUS_OK);
    EXPECT_STATUS(check(alice, codes.codes[6]), STATUS_REFUSED);
    for (size_t i = 0; i < SECOND_FACTOR_CODES; i++)
        EXPECT_STATUS(check(alice, fresh.codes[i]), STATUS_OK);
    EXPECT_STATUS(second_factor_read(fixture.accounts, alice, contract_arena(), &factor),
                  STATUS_OK);
    EXPECT_I64(factor.codes_left, 0);
    fixture_end();
}

static Status find(const Session *session, Session *ret_found)
{
    Account account;
    return sessions_find(fixture.accounts, session->secret, contract_arena(), ret_found, &account);
}

TEST(on_and_off_end_the_other_sessions_and_mark_this_one)
{
    fixture_begin();
    uint64_t alice = fixture_confirmed("alice");
    Account account = fixture_read(alice);
    Session mine, other, found;
    SecondFactor factor;
    RecoveryCodes codes;
    EXPECT_STATUS(sessions_begin(fixture.accounts, &account, &HOME, contract_arena(), &mine),
                  STATUS_OK);
    EXPECT_STATUS(sessions_begin(fixture.accounts, &account, &HOME, contract_arena(), &other),
                  STATUS_OK);
    EXPECT_STATUS(second_factor_offer(fixture.accounts, alice, contract_arena(), &factor, NULL),
                  STATUS_OK);
    SecondFactorChange change = {
        .account = alice, .code = code_at(factor.secret, 0), .keep = &mine};
    EXPECT_STATUS(find(&mine, &found), STATUS_OK);
    EXPECT(!found.origin.second);
    EXPECT_STATUS(second_factor_confirm(fixture.accounts, &change, contract_arena(), &codes, NULL),
                  STATUS_OK);
    EXPECT_STATUS(find(&other, &found), STATUS_LOGIN);
    EXPECT_STATUS(find(&mine, &found), STATUS_OK);
    EXPECT(found.origin.second && found.origin.remember);
    account = fixture_read(alice);
    SessionOrigin with = HOME;
    with.second = true;
    with.remember = false;
    EXPECT_STATUS(sessions_begin(fixture.accounts, &account, &with, contract_arena(), &other),
                  STATUS_OK);
    EXPECT_STATUS(find(&other, &found), STATUS_OK);
    EXPECT(found.origin.second && !found.origin.remember);
    change.code = codes.codes[0];
    EXPECT_STATUS(second_factor_drop(fixture.accounts, &change, NULL), STATUS_OK);
    EXPECT_STATUS(find(&other, &found), STATUS_LOGIN);
    EXPECT_STATUS(find(&mine, &found), STATUS_OK);
    EXPECT(!fixture_read(alice).second);
    EXPECT_STATUS(second_factor_check(fixture.accounts, alice, codes.codes[1], NULL),
                  STATUS_REFUSED);
    fixture_end();
}

TEST(off_needs_a_code_and_an_operator_needs_none)
{
    fixture_begin();
    uint64_t alice = fixture_confirmed("alice");
    RecoveryCodes codes;
    SecondFactor factor;
    turn_on(alice, &codes);
    SecondFactorChange change = {.account = alice, .code = SLICE("nothing")};
    EXPECT_STATUS(second_factor_drop(fixture.accounts, &change, NULL), STATUS_REFUSED);
    EXPECT(fixture_read(alice).second);
    EXPECT_STATUS(second_factor_remove(fixture.accounts, alice, NULL), STATUS_OK);
    EXPECT_STATUS(second_factor_remove(fixture.accounts, alice, NULL), STATUS_OK);
    EXPECT(!fixture_read(alice).second);
    EXPECT_STATUS(second_factor_read(fixture.accounts, alice, contract_arena(), &factor),
                  STATUS_OK);
    EXPECT(!factor.is_on && !factor.is_offered);
    turn_on(alice, &codes);
    EXPECT_STATUS(access_close_account(fixture.accounts, alice, NULL), STATUS_OK);
    EXPECT_STATUS(second_factor_read(fixture.accounts, alice, contract_arena(), &factor),
                  STATUS_OK);
    EXPECT(!factor.is_on);
    EXPECT_STATUS(second_factor_offer(fixture.accounts, alice, contract_arena(), &factor, NULL),
                  STATUS_REFUSED);
    fixture_end();
}

TEST(a_token_says_whether_it_was_made_with_it)
{
    fixture_begin();
    uint64_t alice = fixture_confirmed("alice");
    for (int second = 0; second < 2; second++) {
        NewToken want = {.name = SLICE("x"), .scope = TOKEN_WRITE, .second = second == 1};
        Token token, found;
        Account account;
        EXPECT_STATUS(tokens_make(fixture.accounts, alice, &want, contract_arena(), &token, NULL),
                      STATUS_OK);
        EXPECT_STATUS(
            tokens_find(fixture.accounts, token.secret, contract_arena(), &found, &account),
            STATUS_OK);
        EXPECT(found.second == (second == 1) && found.scope == TOKEN_WRITE);
    }
    fixture_end();
}

/* ---- Races and faults ---------------------------------------------------------------------------------------- */

enum { RACERS = 8 };

typedef struct Racer {
    pthread_t thread;
    uint64_t id;
    Slice code;
    Status status;
} Racer;

static void *race(void *argument)
{
    Racer *racer = argument;
    racer->status = second_factor_check(fixture.honest, racer->id, racer->code, NULL);
    return NULL;
}

TEST(of_many_with_one_code_one_gets_in)
{
    fixture_begin();
    uint64_t alice = fixture_confirmed("alice");
    RecoveryCodes codes;
    Slice secret = turn_on(alice, &codes);
    for (int round = 0; round < 4; round++) {
        Racer racers[RACERS];
        int in = 0;
        contract_pass_s(30);
        Slice code = round % 2 == 0 ? code_at(secret, 0) : codes.codes[round];
        for (int i = 0; i < RACERS; i++) {
            racers[i] = (Racer){.id = alice, .code = code};
            EXPECT(pthread_create(&racers[i].thread, NULL, race, &racers[i]) == 0);
        }
        for (int i = 0; i < RACERS; i++) {
            pthread_join(racers[i].thread, NULL);
            in += racers[i].status == STATUS_OK;
            EXPECT(racers[i].status == STATUS_OK || racers[i].status == STATUS_REFUSED);
        }
        EXPECT_I64(in, 1);
    }
    fixture_end();
}

/* Whatever call of the store fails, and how: never let in without the code being used up. */
TEST(no_fault_lets_a_code_count_twice)
{
    static const int LASTS[] = {FAULT_ONCE, FAULT_OUTAGE};
    for (int fault = 0; fault < 2 * (FAULT_DONE + 1); fault++)
        for (int at = 1; at <= 6; at++) {
            fixture_begin();
            uint64_t alice = fixture_confirmed("alice");
            RecoveryCodes codes;
            Slice secret = turn_on(alice, &codes);
            contract_pass_s(30);
            faulty_plan(&fixture.faulty, at, (FaultFate)(fault / 2), LASTS[fault % 2]);
            Status first = second_factor_check(fixture.accounts, alice, code_at(secret, 0), NULL);
            faulty_plan(&fixture.faulty, 0, FAULT_REFUSED, FAULT_ONCE);
            Status then = second_factor_check(fixture.accounts, alice, code_at(secret, 0), NULL);
            EXPECT(first == STATUS_OK || first == STATUS_UNKNOWN || first == STATUS_UNAVAILABLE);
            EXPECT(first == STATUS_OK        ? then == STATUS_REFUSED
                   : first == STATUS_UNKNOWN ? then == STATUS_OK || then == STATUS_REFUSED
                                             : then == STATUS_OK);
            fixture_end();
        }
}

TEST(who_has_not_confirmed_turns_nothing_on)
{
    fixture_begin();
    uint64_t pat = fixture_pending("pat");
    SecondFactor second;
    Reason reason = {.rule = ""};
    NewLinkedLogin linked = {SLICE("github"), SLICE("1234"), SLICE("pat@github")};
    NewToken wanted = {.name = SLICE("token"), .scope = TOKEN_READ};
    Token token;
    Account account;
    EXPECT_STATUS(second_factor_offer(fixture.accounts, pat, contract_arena(), &second, &reason),
                  STATUS_REFUSED);
    EXPECT_STATUS(linked_login_add(fixture.accounts, pat, &linked, &reason), STATUS_REFUSED);
    EXPECT_STATUS(tokens_make(fixture.accounts, pat, &wanted, contract_arena(), &token, &reason),
                  STATUS_REFUSED);
    account = fixture_read(pat);
    SessionOrigin home = {.address = SLICE("192.0.2.1"), .agent = SLICE("Browser")};
    Session session;
    EXPECT_STATUS(sessions_begin(fixture.accounts, &account, &home, contract_arena(), &session),
                  STATUS_DENIED);
    EXPECT_STATUS(credentials_check_password(fixture.accounts, SLICE("pat"), SLICE("correct horse"),
                                             contract_arena(), &account),
                  STATUS_LOGIN);
    EXPECT_STATUS(accounts_confirm(fixture.accounts, pat, NULL), STATUS_OK);
    EXPECT_STATUS(second_factor_offer(fixture.accounts, pat, contract_arena(), &second, &reason),
                  STATUS_OK);
    EXPECT_STATUS(linked_login_add(fixture.accounts, pat, &linked, &reason), STATUS_OK);
    fixture_end();
}
