/* map_test.c -- the map against a plain array, with keys that collide. */
#include "ranking/map.h"

#include "test.h"
#include "world.h"

enum { KEYS = 3000 };

TEST(puts_and_removes_as_an_array_would)
{
    static uint64_t values[KEYS];
    TestWorld own;
    World world = test_world(&own, 4);
    Map map = {0};
    size_t count = 0;
    EXPECT_I64(map_get(&map, 5), 0);
    for (int i = 0; i < 200000; i++) {
        uint64_t luck = random_u64(world.random), key = luck % KEYS;
        /* Fuller and emptier in turns. */
        if (luck >> 32 & (i / 20000 % 2 == 0 ? 3 : 1)) {
            count += values[key] == 0;
            values[key] = luck | 1;
            map_put(&map, key, luck | 1);
        } else if (values[key] != 0) {
            values[key] = 0;
            count--;
            map_remove(&map, key);
        }
        uint64_t other = (luck >> 40) % KEYS;
        EXPECT(map_get(&map, other) == values[other]);
        EXPECT_I64(map.count, count);
    }
    for (uint64_t key = 0; key < KEYS; key++)
        EXPECT(map_get(&map, key) == values[key]);
    map_free(&map);
    EXPECT_I64(map_get(&map, 5), 0);
}

static void remove_absent(void)
{
    Map map = {0};
    map_put(&map, 1, 1);
    map_remove(&map, 2);
}

static void put_nothing(void)
{
    Map map = {0};
    map_put(&map, 1, 0);
}

TEST(misuse_is_a_bug)
{
    EXPECT(test_is_bug(remove_absent));
    EXPECT(test_is_bug(put_nothing));
}
