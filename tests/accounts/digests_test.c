/* digests_test.c -- who wants letters, for which times, and the link that ends them. */
#include "accounts/digests.h"

#include "stage.h"

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

static size_t wishes_of(uint64_t account, DigestWish *ret_wish)
{
    size_t found = 0;
    Slice position = SLICE_EMPTY;
    for (bool more = true; more;) {
        DigestWish *wishes;
        size_t count;
        EXPECT_STATUS(digests_page(stage.honest, (uint32_t)(account % DIGEST_SHARES), position,
                                   contract_arena(), &wishes, &count, &position, &more),
                      STATUS_OK);
        for (size_t i = 0; i < count; i++)
            if (wishes[i].account == account) {
                found++;
                *ret_wish = wishes[i];
            }
    }
    return found;
}

TEST(the_last_wish_counts)
{
    stage_begin();
    uint64_t alice = stage_confirmed("alice");
    DigestWish wish;
    EXPECT_STATUS(digests_get(stage.accounts, alice, &wish), STATUS_OK);
    EXPECT_I64(wish.choice, DIGEST_NEVER);
    EXPECT_I64(wishes_of(alice, &wish), 0);
    EXPECT_STATUS(digests_set(stage.accounts, alice, DIGEST_DAILY), STATUS_OK);
    int64_t since_us = contract_now_us();
    EXPECT_I64(wishes_of(alice, &wish), 1);
    EXPECT(wish.choice == DIGEST_DAILY && wish.since_us == since_us && wish.seen_to == 0);
    contract_pass_s(5);
    EXPECT_STATUS(digests_mark(stage.accounts, &wish, 77), STATUS_OK);
    EXPECT_STATUS(digests_set(stage.accounts, alice, DIGEST_DAILY), STATUS_OK);
    EXPECT_STATUS(digests_get(stage.honest, alice, &wish), STATUS_OK);
    EXPECT(wish.since_us == since_us && wish.seen_to == 77);
    DigestWish old = wish;
    contract_pass_s(5);
    EXPECT_STATUS(digests_set(stage.accounts, alice, DIGEST_WEEKLY), STATUS_OK);
    EXPECT_STATUS(digests_mark(stage.accounts, &old, 78), STATUS_OK); /* of a wish that is over */
    EXPECT_STATUS(digests_get(stage.honest, alice, &wish), STATUS_OK);
    EXPECT(wish.choice == DIGEST_WEEKLY && wish.seen_to == 0);
    contract_pass_s(5);
    EXPECT_STATUS(digests_set(stage.accounts, alice, DIGEST_NEVER), STATUS_OK);
    EXPECT_I64(wishes_of(alice, &wish), 0);
    contract_pass_s(5);
    EXPECT_STATUS(accounts_close(stage.accounts, alice, NULL), STATUS_OK);
    EXPECT_STATUS(digests_set(stage.accounts, alice, DIGEST_DAILY), STATUS_REFUSED);
    stage_end();
}

TEST(a_token_is_of_one_account_and_of_nothing_else)
{
    stage_begin();
    uint64_t alice = stage_confirmed("alice"), found = 0;
    Slice token = digests_token(stage.accounts, alice, contract_arena());
    EXPECT_STATUS(digests_from_token(stage.honest, token, &found), STATUS_OK);
    EXPECT_I64(found, alice);
    char *other = arena_bytes(contract_arena(), token.size);
    memcpy(other, token.data, token.size);
    other[10] = other[10] == 'A' ? 'B' : 'A';
    Slice wrong[] = {SLICE_EMPTY, SLICE("x"), slice_of(other, token.size),
                     slice_of(token.data, token.size - 1), contract_filler(5000, 'A')};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        EXPECT_STATUS(digests_from_token(stage.honest, wrong[i], &found), STATUS_INVALID);
    stage_end();
}
