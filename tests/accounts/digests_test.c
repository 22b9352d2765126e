/* digests_test.c -- who wants letters, for which times, and the link that ends them. */
#include "access/closing.h"
#include "accounts/digests.h"

#include "accounts_fixture.h"

static int64_t at(int64_t day, int64_t hour)
{
    return (day * 24 + hour) * 3600 * US_PER_S;
}

TEST(a_period_is_the_last_day_or_week_that_is_over)
{
    /* 2026-11-16 is a Monday, and day 20773 since 1970. */
    DigestPeriod day = digest_period(DIGEST_DAILY, at(20773, 0)),
                 late = digest_period(DIGEST_DAILY, at(20773, 24) - 1);
    EXPECT_I64(day.from_us, at(20772, 0));
    EXPECT_I64(day.to_us, at(20773, 0));
    EXPECT_I64(late.number, day.number);
    EXPECT_I64(digest_period(DIGEST_DAILY, at(20774, 0)).number, day.number + 1);
    DigestPeriod week = digest_period(DIGEST_WEEKLY, at(20773, 0));
    EXPECT_I64(week.to_us, at(20773, 0));
    EXPECT_I64(week.from_us, at(20766, 0));
    EXPECT_I64(digest_period(DIGEST_WEEKLY, at(20779, 23)).number, week.number);
    EXPECT_I64(digest_period(DIGEST_WEEKLY, at(20780, 0)).number, week.number + 1);
    EXPECT_I64(digest_period(DIGEST_WEEKLY, at(20772, 23)).number, week.number - 1);
}

static size_t vote_requests_of(uint64_t account, DigestRequest *ret_wanted)
{
    size_t found = 0;
    Slice position = SLICE_EMPTY;
    for (bool more = true; more;) {
        DigestRequest *vote_requests;
        size_t count;
        EXPECT_STATUS(digests_page(fixture.honest, (uint32_t)(account % DIGEST_SHARES), position,
                                   contract_arena(), &vote_requests, &count, &position, &more),
                      STATUS_OK);
        for (size_t i = 0; i < count; i++)
            if (vote_requests[i].account == account) {
                found++;
                *ret_wanted = vote_requests[i];
            }
    }
    return found;
}

TEST(the_last_wish_counts)
{
    fixture_begin();
    uint64_t alice = fixture_confirmed("alice");
    DigestRequest want;
    EXPECT_STATUS(digests_get(fixture.accounts, alice, &want), STATUS_OK);
    EXPECT_I64(want.choice, DIGEST_NEVER);
    EXPECT_I64(vote_requests_of(alice, &want), 0);
    EXPECT_STATUS(digests_set(fixture.accounts, alice, DIGEST_DAILY), STATUS_OK);
    int64_t since_us = contract_now_us();
    EXPECT_I64(vote_requests_of(alice, &want), 1);
    EXPECT(want.choice == DIGEST_DAILY && want.since_us == since_us && want.seen_to == 0);
    contract_pass_s(5);
    EXPECT_STATUS(digests_mark(fixture.accounts, &want, 77), STATUS_OK);
    EXPECT_STATUS(digests_set(fixture.accounts, alice, DIGEST_DAILY), STATUS_OK);
    EXPECT_STATUS(digests_get(fixture.honest, alice, &want), STATUS_OK);
    EXPECT(want.since_us == since_us && want.seen_to == 77);
    DigestRequest old = want;
    contract_pass_s(5);
    EXPECT_STATUS(digests_set(fixture.accounts, alice, DIGEST_WEEKLY), STATUS_OK);
    EXPECT_STATUS(digests_mark(fixture.accounts, &old, 78), STATUS_OK); /* of a wish that is over */
    EXPECT_STATUS(digests_get(fixture.honest, alice, &want), STATUS_OK);
    EXPECT(want.choice == DIGEST_WEEKLY && want.seen_to == 0);
    contract_pass_s(5);
    EXPECT_STATUS(digests_set(fixture.accounts, alice, DIGEST_NEVER), STATUS_OK);
    EXPECT_I64(vote_requests_of(alice, &want), 0);
    contract_pass_s(5);
    EXPECT_STATUS(access_close_account(fixture.accounts, alice, NULL), STATUS_OK);
    EXPECT_STATUS(digests_set(fixture.accounts, alice, DIGEST_DAILY), STATUS_REFUSED);
    fixture_end();
}

TEST(a_token_is_of_one_account_and_of_nothing_else)
{
    fixture_begin();
    uint64_t alice = fixture_confirmed("alice"), found = 0;
    Slice token = digests_token(fixture.accounts, alice, contract_arena());
    EXPECT_STATUS(digests_from_token(fixture.honest, token, &found), STATUS_OK);
    EXPECT_I64(found, alice);
    char *other = arena_bytes(contract_arena(), token.size);
    memcpy(other, token.data, token.size);
    other[10] = other[10] == 'A' ? 'B' : 'A';
    Slice wrong[] = {SLICE_EMPTY, SLICE("x"), slice_of(other, token.size),
                     slice_of(token.data, token.size - 1), contract_filler(5000, 'A')};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        EXPECT_STATUS(digests_from_token(fixture.honest, wrong[i], &found), STATUS_INVALID);
    fixture_end();
}
