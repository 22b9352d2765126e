/* throttle.c -- see throttle.h. A key's whole state is one time: when everything it did is forgotten. Each try moves it by the rule's period;
 * a try is allowed while that leaves it within `burst` periods from now. Slots stand in sets of eight, chosen by a keyed hash, so that
 * nobody can aim at somebody else's slot. */
#include "access/throttle.h"

#include <pthread.h>
#include <stdlib.h>

#include <sodium.h>

enum { WAYS = 8, SETS = THROTTLE_SLOTS / WAYS, LOCKS = 16 };

static const struct {
    int64_t burst, period_s;
    const char *of_what;
} RULES[] = {
#define X(name, burst, period_s, of_what) {burst, period_s, of_what},
    THROTTLE_LIST(X)
#undef X
};

typedef struct Slot {
    uint64_t tag; /* 0: empty */
    int64_t free_us;
} Slot;

struct Throttle {
    Clock clock;
    unsigned char key[crypto_shorthash_KEYBYTES];
    pthread_mutex_t locks[LOCKS];
    Slot sets[SETS][WAYS];
};

Throttle *throttle_new(World world)
{
    Throttle *throttle = calloc(1, sizeof *throttle);
    CHECK(throttle != NULL);
    throttle->clock = world.clock;
    random_fill(world.random, throttle->key, sizeof throttle->key);
    for (size_t i = 0; i < LOCKS; i++)
        CHECK(pthread_mutex_init(&throttle->locks[i], NULL) == 0);
    return throttle;
}

void throttle_free(Throttle *throttle)
{
    if (throttle == NULL)
        return;
    for (size_t i = 0; i < LOCKS; i++)
        pthread_mutex_destroy(&throttle->locks[i]);
    free(throttle);
}

static int64_t period_of(ThrottleRule rule, unsigned times)
{
    CHECK(times >= 1 && times <= THROTTLE_TIMES_MAX);
    return RULES[rule].period_s * US_PER_S / times;
}

int64_t throttle_judge(ThrottleRule rule, unsigned times, int64_t free_us, int64_t now_us,
                       int64_t *ret_free_us)
{
    int64_t period_us = period_of(rule, times);
    int64_t next_us = (free_us > now_us ? free_us : now_us) + period_us;
    int64_t most_us = now_us + RULES[rule].burst * times * period_us;
    if (next_us > most_us)
        return next_us - most_us;
    *ret_free_us = next_us;
    return 0;
}

static uint64_t tag_of(const Throttle *throttle, ThrottleRule rule, Slice key)
{
    unsigned char hash[crypto_shorthash_BYTES];
    uint64_t tag;
    crypto_shorthash(hash, (const unsigned char *)key.data, key.size, throttle->key);
    memcpy(&tag, hash, sizeof tag);
    tag = (tag + (uint64_t)rule + 1) * UINT64_C(0x9E3779B97F4A7C15);
    return tag != 0 ? tag : 1;
}

/* The key's slot, or the one in its set that is free first. */
static Slot *slot_of(Throttle *throttle, uint64_t tag)
{
    Slot *set = throttle->sets[tag % SETS], *oldest = set;
    for (size_t i = 0; i < WAYS; i++) {
        if (set[i].tag == tag)
            return &set[i];
        if (set[i].free_us < oldest->free_us)
            oldest = &set[i];
    }
    return oldest;
}

static Status tell_wait(ThrottleRule rule, int64_t wait_us, Reason *reason)
{
    int64_t minutes = (wait_us + 60 * US_PER_S - 1) / (60 * US_PER_S);
    return reason_set(reason, STATUS_THROTTLED, "", "Too many %s; try again in %lld minute%s",
                      RULES[rule].of_what, (long long)minutes, minutes == 1 ? "" : "s");
}

Status throttle_take(Throttle *throttle, ThrottleRule rule, Slice key, Reason *reason)
{
    return throttle_take_times(throttle, rule, 1, key, reason);
}

static Status judge(Throttle *throttle, ThrottleRule rule, unsigned times, Slice key, bool counts,
                    Reason *reason)
{
    uint64_t tag = tag_of(throttle, rule, key);
    pthread_mutex_t *lock = &throttle->locks[tag % SETS % LOCKS];
    int64_t now_us = clock_steady_us(throttle->clock), free_us = 0;
    pthread_mutex_lock(lock);
    Slot *slot = slot_of(throttle, tag);
    int64_t wait_us =
        throttle_judge(rule, times, slot->tag == tag ? slot->free_us : 0, now_us, &free_us);
    if (wait_us == 0 && counts)
        *slot = (Slot){tag, free_us};
    pthread_mutex_unlock(lock);
    return wait_us == 0 ? STATUS_OK : tell_wait(rule, wait_us, reason);
}

Status throttle_take_times(Throttle *throttle, ThrottleRule rule, unsigned times, Slice key,
                           Reason *reason)
{
    return judge(throttle, rule, times, key, true, reason);
}

Status throttle_look(Throttle *throttle, ThrottleRule rule, unsigned times, Slice key,
                     Reason *reason)
{
    return judge(throttle, rule, times, key, false, reason);
}

/* Moves the key's time back; a slot whose time is 0 is empty. */
static void give_back(Throttle *throttle, uint64_t tag, int64_t back_us)
{
    pthread_mutex_t *lock = &throttle->locks[tag % SETS % LOCKS];
    pthread_mutex_lock(lock);
    Slot *slot = slot_of(throttle, tag);
    if (slot->tag == tag)
        *slot = slot->free_us > back_us ? (Slot){tag, slot->free_us - back_us} : (Slot){0};
    pthread_mutex_unlock(lock);
}

void throttle_forget(Throttle *throttle, ThrottleRule rule, Slice key)
{
    give_back(throttle, tag_of(throttle, rule, key), INT64_MAX);
}

void throttle_return(Throttle *throttle, ThrottleRule rule, Slice key)
{
    throttle_return_times(throttle, rule, 1, key);
}

void throttle_return_times(Throttle *throttle, ThrottleRule rule, unsigned times, Slice key)
{
    give_back(throttle, tag_of(throttle, rule, key), period_of(rule, times));
}
