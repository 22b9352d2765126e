/* world.c -- see world.h. Atomic, because the code under test has threads that ask for the time. */
#include "world.h"

#include <pthread.h>

static int64_t now_us(void *self)
{
    TestWorld *own = self;
    return atomic_load(&own->now_us);
}

static int64_t steady_us(void *self)
{
    TestWorld *own = self;
    return atomic_load(&own->steady_us);
}

static void sleep_us(void *self, int64_t us)
{
    if (us > 0)
        test_world_pass(self, us);
}

/* splitmix64: the state is a plain sum, so that one atomic addition draws a number. */
static uint64_t draw(TestWorld *own)
{
    const uint64_t step = UINT64_C(0x9E3779B97F4A7C15);
    uint64_t number = atomic_fetch_add(&own->luck, step) + step;
    number = (number ^ number >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    number = (number ^ number >> 27) * UINT64_C(0x94D049BB133111EB);
    return number ^ number >> 31;
}

static void fill(void *self, void *to, size_t size)
{
    char *at = to;
    while (size > 0) {
        uint64_t number = draw(self);
        size_t part = size < sizeof number ? size : sizeof number;
        memcpy(at, &number, part);
        at += part;
        size -= part;
    }
}

World test_world(TestWorld *own, uint64_t seed)
{
    World world = world_real();
    atomic_init(&own->now_us, TEST_WORLD_START_US);
    atomic_init(&own->steady_us, US_PER_S);
    atomic_init(&own->luck, seed);
    world.clock = (Clock){now_us, steady_us, sleep_us, own, NULL};
    world.random = (Random){fill, own};
    return world;
}

void test_world_pass(TestWorld *own, int64_t us)
{
    CHECK(us >= 0);
    atomic_fetch_add(&own->now_us, us);
    atomic_fetch_add(&own->steady_us, us);
}

void test_world_step(TestWorld *own, int64_t us)
{
    atomic_fetch_add(&own->now_us, us);
}

void test_world_set(TestWorld *own, int64_t us)
{
    atomic_store(&own->now_us, us);
}

static Vault *vault;

static void make_vault(void)
{
    vault = vault_for_tests(1);
}

const Vault *test_vault(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    CHECK(pthread_once(&once, make_vault) == 0);
    return vault;
}
