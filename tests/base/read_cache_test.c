/* read_cache_test.c -- copies are found while they are young, and never after a write of this process; with threads. */
#include "base/read_cache.h"

#include <pthread.h>
#include <stdatomic.h>

#include "test.h"
#include "world.h"

enum { VALID_US = 1000000, BITS = 4, ROUNDS = 20000, READERS = 3 };

static TestWorld own;

static ReadCache *begin_test(int64_t valid_us)
{
    return read_cache_new(test_world(&own, 1).clock, BITS, valid_us);
}

/* Asks, and keeps `text` when nothing is there; true when it was. */
static bool ask(ReadCache *copies, Slice key, Slice text)
{
    ARENA_SCOPE Arena *arena = arena_new();
    CachedBytes copy;
    if (read_cache_find(copies, key, arena, &copy)) {
        EXPECT_SLICE(copy.bytes, text);
        return true;
    }
    copy.bytes = text;
    read_cache_put(copies, key, &copy);
    return false;
}

TEST(a_copy_is_found_until_it_is_old_or_forgotten)
{
    ReadCache *copies = begin_test(VALID_US);
    Slice a = SLICE("a"), b = SLICE("another key, longer than eight bytes");
    EXPECT(!ask(copies, a, SLICE("1")));
    EXPECT(ask(copies, a, SLICE("1")));
    EXPECT(!ask(copies, b, SLICE_EMPTY));
    EXPECT(ask(copies, b, SLICE_EMPTY));
    read_cache_forget(copies, a);
    EXPECT(!ask(copies, a, SLICE("2")));
    test_world_pass(&own, VALID_US - 1);
    EXPECT(ask(copies, a, SLICE("2")));
    test_world_pass(&own, 1);
    EXPECT(!ask(copies, a, SLICE("3")));
    read_cache_free(copies);
}

TEST(a_copy_is_old_by_the_clock_that_says_more)
{
    ReadCache *copies = begin_test(VALID_US);
    EXPECT(!ask(copies, SLICE("a"), SLICE("1")));
    test_world_step(&own, VALID_US); /* a suspend: the steady clock stood still */
    EXPECT(!ask(copies, SLICE("a"), SLICE("2")));
    test_world_step(&own, -VALID_US); /* somebody sets the clock back */
    EXPECT(ask(copies, SLICE("a"), SLICE("2")));
    test_world_pass(&own, VALID_US);
    EXPECT(!ask(copies, SLICE("a"), SLICE("3")));
    read_cache_free(copies);
}

TEST(the_age_counts_from_before_the_read)
{
    ARENA_SCOPE Arena *arena = arena_new();
    ReadCache *copies = begin_test(VALID_US);
    CachedBytes copy;
    EXPECT(!read_cache_find(copies, SLICE("a"), arena, &copy));
    test_world_pass(&own, VALID_US - 1); /* a slow read */
    copy.bytes = SLICE("1");
    read_cache_put(copies, SLICE("a"), &copy);
    EXPECT(read_cache_find(copies, SLICE("a"), arena, &copy));
    test_world_pass(&own, 1);
    EXPECT(!read_cache_find(copies, SLICE("a"), arena, &copy));
    read_cache_free(copies);
}

TEST(what_was_read_before_a_write_is_not_kept_after_it)
{
    ARENA_SCOPE Arena *arena = arena_new();
    ReadCache *copies = begin_test(VALID_US);
    CachedBytes copy;
    EXPECT(!read_cache_find(copies, SLICE("a"), arena, &copy));
    copy.bytes = SLICE("old");
    read_cache_forget(copies, SLICE("a"));
    read_cache_put(copies, SLICE("a"), &copy);
    EXPECT(!read_cache_find(copies, SLICE("a"), arena, &copy));
    read_cache_free(copies);
}

TEST(where_nobody_else_writes_a_copy_lasts)
{
    ReadCache *copies = begin_test(READ_CACHE_EXACT);
    EXPECT(!ask(copies, SLICE("a"), SLICE("1")));
    test_world_pass(&own, INT64_C(1000) * 86400 * US_PER_S);
    EXPECT(ask(copies, SLICE("a"), SLICE("1")));
    read_cache_forget(copies, SLICE("a"));
    EXPECT(!ask(copies, SLICE("a"), SLICE("2")));
    read_cache_free(copies);
}

/* A table of two places with room for four each. */
TEST(the_youngest_stay_where_keys_meet)
{
    enum { SMALLEST = 3, KEYS = 200, YOUNGEST = 4 };
    ReadCache *copies = read_cache_new(test_world(&own, 1).clock, SMALLEST, VALID_US);
    for (uint64_t last = 1; last <= KEYS; last++) {
        Slice bytes = slice_of(&last, sizeof last);
        EXPECT(!ask(copies, bytes, bytes));
        for (uint64_t key = last < YOUNGEST ? 1 : last - YOUNGEST + 1; key <= last; key++)
            EXPECT(ask(copies, slice_of(&key, sizeof key), slice_of(&key, sizeof key)));
        test_world_pass(&own, 1);
    }
    read_cache_free(copies);
}

TEST(keys_that_meet_take_turns_and_are_never_mistaken)
{
    ARENA_SCOPE Arena *arena = arena_new();
    ReadCache *copies = begin_test(VALID_US);
    int found = 0;
    for (int round = 0; round < 2; round++) {
        for (uint64_t key = 1; key <= 100; key++) {
            Slice bytes = slice_of(&key, sizeof key);
            CachedBytes copy;
            if (read_cache_find(copies, bytes, arena, &copy)) {
                EXPECT_SLICE(copy.bytes, bytes);
                found++;
                continue;
            }
            copy.bytes = bytes;
            read_cache_put(copies, bytes, &copy);
        }
    }
    EXPECT(found <= 1 << BITS);
    read_cache_free(copies);
}

TEST(what_is_too_large_is_not_kept_and_nothing_is_when_it_is_off)
{
    static char large[CACHED_BYTES_MAX];
    ReadCache *copies = begin_test(VALID_US);
    EXPECT(!ask(copies, SLICE("a"), slice_of(large, CACHED_BYTES_MAX)));
    EXPECT(!ask(copies, SLICE("a"), slice_of(large, CACHED_BYTES_MAX - 1)));
    EXPECT(ask(copies, SLICE("a"), slice_of(large, CACHED_BYTES_MAX - 1)));
    read_cache_free(copies);
    copies = begin_test(0);
    EXPECT(!ask(copies, SLICE("a"), SLICE("1")));
    EXPECT(!ask(copies, SLICE("a"), SLICE("1")));
    read_cache_free(copies);
}

/* One writes numbers that grow and forgets; who reads must never see less than what was finished when it asked. */
static struct {
    ReadCache *copies;
    _Atomic uint64_t stored, finished;
    _Atomic bool ends, failed;
} race;

static void *read_on(void *unused)
{
    ARENA_SCOPE Arena *arena = arena_new();
    (void)unused;
    while (!atomic_load(&race.ends)) {
        CachedBytes copy;
        uint64_t least = atomic_load(&race.finished), seen;
        arena_reset(arena);
        if (read_cache_find(race.copies, SLICE("k"), arena, &copy)) {
            memcpy(&seen, copy.bytes.data, sizeof seen);
        } else {
            seen = atomic_load(&race.stored);
            copy.bytes = slice_of(&seen, sizeof seen);
            read_cache_put(race.copies, SLICE("k"), &copy);
        }
        if (seen < least)
            atomic_store(&race.failed, true);
    }
    return NULL;
}

TEST(a_write_counts_at_once_for_all_threads)
{
    pthread_t readers[READERS];
    race.copies = begin_test(VALID_US);
    for (int i = 0; i < READERS; i++)
        EXPECT(pthread_create(&readers[i], NULL, read_on, NULL) == 0);
    for (uint64_t i = 1; i <= ROUNDS; i++) {
        atomic_store(&race.stored, i);
        read_cache_forget(race.copies, SLICE("k"));
        atomic_store(&race.finished, i);
    }
    atomic_store(&race.ends, true);
    for (int i = 0; i < READERS; i++)
        pthread_join(readers[i], NULL);
    EXPECT(!race.failed);
    read_cache_free(race.copies);
}
