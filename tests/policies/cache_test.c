/* cache_test.c -- promises of policy_cache.h. */
#include "policies/policy_cache.h"
#include "test.h"
#include "world.h"

enum { VALID_S = 30 };

static TestWorld own;
static Arena *arena;
static PolicyCache *cache;

static void begin(uint32_t capacity)
{
    arena = arena_new();
    cache = policy_cache_new(test_world(&own, 1).clock, capacity, VALID_S * US_PER_S);
}

static void end(void)
{
    policy_cache_free(cache);
    arena_free(arena);
}

static PolicyKnown known_of(uint64_t id, size_t move_count, size_t source_count)
{
    PolicyMove *moves = ARENA_ARRAY(arena, move_count, PolicyMove);
    PolicySource *sources = ARENA_ARRAY(arena, source_count, PolicySource);
    for (size_t i = 0; i < move_count; i++)
        moves[i] = (PolicyMove){.time_us = (int64_t)(100 * id + i), .reason = SLICE("why")};
    for (size_t i = 0; i < source_count; i++)
        sources[i].source = 1000 * id + i;
    return (PolicyKnown){
        .facts = {id, moves, move_count}, .sources = sources, .source_count = source_count};
}

static void put(uint64_t id, size_t move_count, size_t source_count)
{
    PolicyKnown known = known_of(id, move_count, source_count);
    policy_cache_put(cache, &known, policy_cache_ask(cache, 0));
}

static void expect_known(uint64_t id, size_t move_count, size_t source_count)
{
    PolicyKnown known;
    EXPECT(policy_cache_get(cache, 0, id, arena, &known));
    EXPECT_I64(known.facts.id, id);
    EXPECT_I64(known.facts.move_count, move_count);
    EXPECT_I64(known.source_count, source_count);
    for (size_t i = 0; i < move_count; i++) {
        EXPECT_I64(known.facts.moves[i].time_us, 100 * id + i);
        EXPECT_I64(known.facts.moves[i].reason.size, 0);
    }
    for (size_t i = 0; i < source_count; i++)
        EXPECT_I64(known.sources[i].source, 1000 * id + i);
}

static bool is_there(uint64_t id)
{
    PolicyKnown known;
    return policy_cache_get(cache, 0, id, arena, &known);
}

TEST(what_was_put_is_there_until_it_is_too_old)
{
    begin(10);
    EXPECT(!is_there(1));
    put(1, 3, 2);
    expect_known(1, 3, 2);
    test_world_pass(&own, VALID_S * US_PER_S - 1);
    expect_known(1, 3, 2);
    test_world_pass(&own, 1);
    EXPECT(!is_there(1));
    EXPECT_I64(policy_cache_weight(cache), 0);
    end();
}

TEST(a_slow_reader_does_not_bring_back_the_past)
{
    begin(10);
    put(1, 3, 1);
    put(1, 2, 1);
    expect_known(1, 3, 1);
    put(1, 2, 4);
    expect_known(1, 3, 4);
    put(1, 4, 0);
    expect_known(1, 4, 4);
    policy_cache_forget(cache, 1);
    EXPECT(!is_there(1));
    put(1, 2, 0);
    expect_known(1, 2, 0);
    end();
}

/* A mixed picture is as old as its older part; a whole new one is new. */
TEST(reading_again_makes_it_young_again)
{
    begin(10);
    put(1, 2, 0);
    put(2, 3, 0);
    test_world_pass(&own, VALID_S * US_PER_S / 2);
    put(1, 2, 0);
    put(2, 2, 1);
    test_world_pass(&own, VALID_S * US_PER_S / 2);
    expect_known(1, 2, 0);
    EXPECT(!is_there(2));
    end();
}

TEST(the_longest_unused_goes_first)
{
    begin(3);
    put(1, 1, 0);
    put(2, 1, 0);
    put(3, 1, 0);
    EXPECT(is_there(1));
    put(4, 1, 0);
    EXPECT(is_there(1) && !is_there(2) && is_there(3) && is_there(4));
    end();
}

TEST(what_is_in_use_stays_however_heavy_the_entries_are)
{
    begin(1000);
    for (uint64_t id = 1; id <= 500; id++) {
        put(id, 120, 0); /* 1 + 120 / 8: some sixty have room */
        EXPECT(is_there(1));
    }
    EXPECT(!is_there(2) && is_there(500));
    end();
}

TEST(heavy_ones_take_more_room)
{
    begin(100);
    for (uint64_t id = 1; id <= 100; id++)
        put(id, 1, 0);
    EXPECT_I64(policy_cache_weight(cache), 100);
    put(200, 200, 320); /* 1 + 520 / 8 */
    EXPECT_I64(policy_cache_weight(cache), 100);
    EXPECT(is_there(200) && is_there(100) && !is_there(66) && is_there(67));
    put(201, 200, 2000);
    EXPECT_I64(policy_cache_weight(cache), 0);
    end();
}

TEST(many_at_random_stay_within_the_bound)
{
    begin(1000);
    Random luck = test_world(&own, 7).random;
    for (int i = 0; i < 20000; i++) {
        uint64_t id = 1 + random_u64(luck) % 3000;
        if (random_u64(luck) % 4 == 0)
            (void)is_there(id);
        else if (random_u64(luck) % 20 == 0)
            policy_cache_forget(cache, id);
        else
            put(id, 1 + random_u64(luck) % 20, random_u64(luck) % 10);
        EXPECT(policy_cache_weight(cache) <= 1000);
        if (i % 1000 == 0)
            arena_reset(arena);
    }
    EXPECT(policy_cache_weight(cache) > 900);
    end();
}

TEST(a_slow_reader_does_not_bring_an_older_text_back)
{
    begin(10);
    PolicyKnown known = known_of(1, 2, 0);
    known.edit = (PolicyEdit){.revision = 5, .editor = 7, .time_us = 50};
    policy_cache_put(cache, &known, policy_cache_ask(cache, 0));
    known.edit = (PolicyEdit){.revision = 4, .editor = 8, .time_us = 40};
    policy_cache_put(cache, &known, policy_cache_ask(cache, 0));
    EXPECT(policy_cache_get(cache, 0, 1, arena, &known));
    EXPECT_I64(known.edit.revision, 5);
    EXPECT_I64(known.edit.editor, 7);
    EXPECT_I64(known.edit.time_us, 50);
    end();
}

TEST(an_entry_is_old_by_the_clock_that_says_more)
{
    begin(10);
    put(1, 2, 0);
    test_world_step(&own, VALID_S * US_PER_S); /* a suspend: the steady clock stood still */
    EXPECT(!is_there(1));
    put(1, 2, 0);
    test_world_step(&own, -VALID_S * US_PER_S);
    EXPECT(is_there(1));
    test_world_pass(&own, VALID_S * US_PER_S);
    EXPECT(!is_there(1));
    end();
}

TEST(nothing_is_known_of_before_a_reopen)
{
    begin(10);
    PolicyKnown known = known_of(1, 2, 0), later = known_of(1, 3, 0);
    PolicyAsked asked = policy_cache_ask(cache, 0);
    policy_cache_put(cache, &known, asked);
    EXPECT(!policy_cache_get(cache, 1, 1, arena, &later));
    policy_cache_put(cache, &known, asked); /* a slow reader */
    EXPECT(!policy_cache_get(cache, 1, 1, arena, &later));
    policy_cache_put(cache, &known, policy_cache_ask(cache, 1));
    EXPECT(policy_cache_get(cache, 1, 1, arena, &later));
    EXPECT_I64(policy_cache_weight(cache), 1);
    end();
}
