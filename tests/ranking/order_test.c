/* order_test.c -- the counting tree against a sorted array that is kept by hand. */
#include "ranking/order.h"

#include "test.h"
#include "world.h"

enum { MODEL_MAX = 20000 };

/* What the tree should hold, in order. */
typedef struct Model {
    OrderKey keys[MODEL_MAX];
    size_t count;
} Model;

static Model model;
static TestWorld own;
static World world;

static uint64_t below(uint64_t bound)
{
    return random_u64(world.random) % bound;
}

static bool is_before(OrderKey a, OrderKey b)
{
    return a.votes > b.votes || (a.votes == b.votes && a.id < b.id);
}

static bool is_same(OrderKey a, OrderKey b)
{
    return a.votes == b.votes && a.id == b.id;
}

static size_t model_place(OrderKey key)
{
    size_t place = 0;
    while (place < model.count && is_before(model.keys[place], key))
        place++;
    return place;
}

static bool model_has(OrderKey key)
{
    size_t place = model_place(key);
    return place < model.count && is_same(model.keys[place], key);
}

static void model_add(OrderKey key)
{
    size_t place = model_place(key);
    memmove(&model.keys[place + 1], &model.keys[place], (model.count - place) * sizeof key);
    model.keys[place] = key;
    model.count++;
}

static void model_remove(size_t place)
{
    model.count--;
    memmove(&model.keys[place], &model.keys[place + 1],
            (model.count - place) * sizeof model.keys[0]);
}

/* Few different votes: most keys tie. */
static OrderKey any_key(void)
{
    return (OrderKey){(int64_t)below(41) - 20, 1 + below(5000)};
}

static void expect_slice(const Order *order, uint64_t first, size_t count)
{
    static OrderKey got[MODEL_MAX + 8];
    size_t expected = first >= model.count ? 0 : model.count - (size_t)first;
    if (expected > count)
        expected = count;
    EXPECT_I64(order_slice(order, first, count, got), expected);
    for (size_t i = 0; i < expected; i++)
        EXPECT(is_same(got[i], model.keys[first + i]));
}

static void expect_equal(const Order *order)
{
    EXPECT_I64(order_count(order), model.count);
    expect_slice(order, 0, model.count + 3);
    expect_slice(order, below(model.count + 2), below(200));
    for (int i = 0; i < 20; i++) {
        OrderKey key = any_key();
        EXPECT_I64(order_place(order, key), model_place(key));
    }
    if (model.count > 0) {
        size_t place = below(model.count);
        EXPECT_I64(order_place(order, model.keys[place]), place);
    }
}

static void begin(uint64_t seed)
{
    world = test_world(&own, seed);
    model.count = 0;
}

/* Adds with a chance that makes the set grow, or shrink. */
static void run(Order *order, int steps, uint64_t adds_of_100)
{
    for (int i = 0; i < steps; i++) {
        if (model.count == 0 || below(100) < adds_of_100) {
            OrderKey key = any_key();
            if (model_has(key))
                continue;
            model_add(key);
            order_add(order, key);
        } else {
            size_t place = below(model.count);
            order_remove(order, model.keys[place]);
            model_remove(place);
        }
        if (i % 97 == 0)
            expect_equal(order);
    }
    expect_equal(order);
}

TEST(grows_and_shrinks_as_a_sorted_array_would)
{
    for (uint64_t seed = 1; seed <= 6; seed++) {
        begin(seed);
        Order *order = order_new();
        run(order, 300, 50);
        run(order, 6000, 90);
        run(order, 4000, 50);
        run(order, 9000, 10);
        run(order, 3000, 80);
        while (model.count > 0) {
            size_t place = below(model.count);
            order_remove(order, model.keys[place]);
            model_remove(place);
            if (model.count % 101 == 0)
                expect_equal(order);
        }
        expect_equal(order);
        run(order, 500, 70);
        order_free(order);
    }
}

TEST(built_at_once_is_the_same_as_one_by_one)
{
    static OrderKey keys[MODEL_MAX];
    const size_t sizes[] = {0, 1, 2, 47, 48, 49, 64, 95, 96, 97, 2303, 2304, 2305, 5000};
    begin(9);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        model.count = 0;
        while (model.count < sizes[i]) {
            OrderKey key = any_key();
            if (model_has(key))
                continue;
            keys[model.count] = key;
            model_add(key);
        }
        Order *order = order_build(keys, sizes[i]);
        expect_equal(order);
        run(order, 2000, 30);
        run(order, 2000, 70);
        order_free(order);
    }
}

TEST(ascending_and_descending_runs)
{
    for (int descending = 0; descending < 2; descending++) {
        begin(1);
        Order *order = order_new();
        for (int64_t i = 0; i < 3000; i++) {
            OrderKey key = {descending ? -i : i, 7};
            model_add(key);
            order_add(order, key);
        }
        expect_equal(order);
        while (model.count > 1500) {
            order_remove(order, model.keys[0]);
            model_remove(0);
        }
        expect_equal(order);
        while (model.count > 0) {
            order_remove(order, model.keys[model.count - 1]);
            model_remove(model.count - 1);
        }
        expect_equal(order);
        order_free(order);
    }
}

TEST(extremes_have_their_place)
{
    Order *order = order_new();
    const OrderKey keys[] = {{INT64_MAX, 1}, {INT64_MAX, UINT64_MAX}, {0, 0}, {0, 5},
                             {-1, 1},        {INT64_MIN, 0}};
    size_t count = sizeof keys / sizeof keys[0];
    for (size_t i = count; i-- > 0;)
        order_add(order, keys[i]);
    for (size_t i = 0; i < count; i++)
        EXPECT_I64(order_place(order, keys[i]), i);
    order_free(order);
}

static void add_twice(void)
{
    Order *order = order_new();
    order_add(order, (OrderKey){1, 1});
    order_add(order, (OrderKey){1, 1});
}

static void remove_absent(void)
{
    Order *order = order_new();
    order_add(order, (OrderKey){1, 1});
    order_remove(order, (OrderKey){1, 2});
}

static void build_twice(void)
{
    OrderKey keys[] = {{1, 1}, {2, 1}, {1, 1}};
    order_free(order_build(keys, 3));
}

TEST(misuse_is_a_bug)
{
    EXPECT(test_is_bug(add_twice));
    EXPECT(test_is_bug(remove_absent));
    EXPECT(test_is_bug(build_twice));
}
