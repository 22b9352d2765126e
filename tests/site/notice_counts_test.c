/* notice_counts_test.c -- the number of notices is kept for a while, and no longer. */
#include "site/cached/notice_counts.h"
#include "test.h"
#include "world.h"

TEST(a_number_is_kept_until_it_is_old_or_forgotten)
{
    TestWorld own;
    size_t count = 7;
    NoticeCounts *counts = notice_counts_new(test_world(&own, 1).clock);
    EXPECT(!notice_counts_find(counts, 3, &count));
    EXPECT_I64(count, 7);
    notice_counts_put(counts, 3, 2);
    notice_counts_put(counts, 4, 0);
    EXPECT(notice_counts_find(counts, 3, &count));
    EXPECT_I64(count, 2);
    EXPECT(notice_counts_find(counts, 4, &count));
    EXPECT_I64(count, 0);
    notice_counts_forget(counts, 3);
    EXPECT(!notice_counts_find(counts, 3, &count));
    test_world_pass(&own, NOTICE_COUNT_S * US_PER_S - 1);
    EXPECT(notice_counts_find(counts, 4, &count));
    test_world_pass(&own, 1);
    EXPECT(!notice_counts_find(counts, 4, &count));
    notice_counts_free(counts);
}

TEST(nobody_is_told_the_number_of_somebody_else)
{
    TestWorld own;
    size_t count = 0;
    NoticeCounts *counts = notice_counts_new(test_world(&own, 1).clock);
    for (uint64_t account = 1; account <= 3 * NOTICE_COUNT_SLOTS; account++)
        notice_counts_put(counts, account, (size_t)account);
    size_t kept = 0;
    for (uint64_t account = 1; account <= 3 * NOTICE_COUNT_SLOTS; account++) {
        if (!notice_counts_find(counts, account, &count))
            continue;
        EXPECT_I64(count, account);
        kept++;
    }
    EXPECT(kept > NOTICE_COUNT_SLOTS / 2 && kept <= NOTICE_COUNT_SLOTS);
    notice_counts_forget(counts, 1); /* whoever has its place stays */
    notice_counts_free(counts);
}
