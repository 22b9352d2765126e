/* ids_test.c -- ids that sort by time. */
#include "base/ids.h"

#include "test.h"
#include "world.h"

TEST(ids_sort_by_the_millisecond_they_were_made_in)
{
    TestWorld own;
    World world = test_world(&own, 1);
    Id older = id_new(world.clock, world.random);
    for (int i = 0; i < 1000; i++) {
        test_world_pass(&own, US_PER_MS);
        Id newer = id_new(world.clock, world.random);
        EXPECT(slice_compare(id_slice(&older), id_slice(&newer)) < 0);
        older = newer;
    }
}

TEST(ids_of_one_moment_differ)
{
    enum { COUNT = 500 };
    TestWorld own;
    World world = test_world(&own, 2);
    Id ids[COUNT];
    for (int i = 0; i < COUNT; i++) {
        ids[i] = id_new(world.clock, world.random);
        for (int j = 0; j < i; j++)
            EXPECT(!id_equal(ids[i], ids[j]));
    }
}

TEST(the_time_is_in_the_first_six_bytes)
{
    TestWorld own;
    World world = test_world(&own, 3);
    test_world_set(&own, INT64_C(0x010203040506) * US_PER_MS + 999);
    Id id = id_new(world.clock, world.random);
    EXPECT_SLICE(slice_of(id.bytes, 6), SLICE("\1\2\3\4\5\6"));
    EXPECT(!id_is_zero(id));
    EXPECT(id_is_zero((Id){{0}}));
}

TEST(text_is_read_back_as_the_same_id)
{
    ARENA_SCOPE Arena *arena = arena_new();
    TestWorld own;
    World world = test_world(&own, 4);
    for (int i = 0; i < 100; i++) {
        Id id = id_new(world.clock, world.random), back;
        Slice text = id_text(id, arena);
        EXPECT_I64(text.size, ID_TEXT);
        EXPECT_STATUS(id_from_text(text, &back), STATUS_OK);
        EXPECT(id_equal(id, back));
        EXPECT_STATUS(id_from_bytes(id_slice(&id), &back), STATUS_OK);
        EXPECT(id_equal(id, back));
    }
}

TEST(text_that_is_not_what_id_text_prints_is_refused)
{
    static const Slice bad[] = {
        {"", 0},
        {"0123456789abcdef0123456789abcde", 31},
        {"0123456789abcdef0123456789abcdef0", 33},
        {"0123456789ABCDEF0123456789abcdef", 32},
        {"0123456789abcdef0123456789abcdeg", 32},
        {" 123456789abcdef0123456789abcdef", 32},
        {"0123456789abcdef\0"
         "123456789abcdef",
         32},
    };
    Id id = {{7}}, before = id;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        EXPECT_STATUS(id_from_text(bad[i], &id), STATUS_INVALID);
    EXPECT_STATUS(id_from_bytes(SLICE("123456789012345"), &id), STATUS_INVALID);
    EXPECT_STATUS(id_from_bytes(SLICE("12345678901234567"), &id), STATUS_INVALID);
    EXPECT(id_equal(id, before));
}
