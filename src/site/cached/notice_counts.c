/* notice_counts.c -- see notice_counts.h. */
#include "site/cached/notice_counts.h"

#include <pthread.h>
#include <stdlib.h>

typedef struct Slot {
    uint64_t account; /* 0: nobody */
    ClockReading counted_at;
    size_t count;
} Slot;

struct NoticeCounts {
    Clock clock;
    pthread_mutex_t lock;
    Slot slots[NOTICE_COUNT_SLOTS];
};

NoticeCounts *notice_counts_new(Clock clock)
{
    NoticeCounts *counts = calloc(1, sizeof *counts);
    CHECK(counts != NULL);
    counts->clock = clock;
    CHECK(pthread_mutex_init(&counts->lock, NULL) == 0);
    return counts;
}

void notice_counts_free(NoticeCounts *counts)
{
    if (counts == NULL)
        return;
    pthread_mutex_destroy(&counts->lock);
    free(counts);
}

static Slot *slot_of(NoticeCounts *counts, uint64_t account)
{
    return &counts->slots[account * UINT64_C(0x9E3779B97F4A7C15) >> (64 - NOTICE_COUNT_BITS)];
}

bool notice_counts_find(NoticeCounts *counts, uint64_t account, size_t *ret_count)
{
    pthread_mutex_lock(&counts->lock);
    const Slot *slot = slot_of(counts, account);
    bool found = account != 0 && slot->account == account &&
                 clock_age_us(counts->clock, slot->counted_at) < NOTICE_COUNT_S * US_PER_S;
    if (found)
        *ret_count = slot->count;
    pthread_mutex_unlock(&counts->lock);
    return found;
}

void notice_counts_put(NoticeCounts *counts, uint64_t account, size_t count)
{
    ClockReading counted_at = clock_reading(counts->clock);
    pthread_mutex_lock(&counts->lock);
    *slot_of(counts, account) = (Slot){account, counted_at, count};
    pthread_mutex_unlock(&counts->lock);
}

void notice_counts_forget(NoticeCounts *counts, uint64_t account)
{
    pthread_mutex_lock(&counts->lock);
    Slot *slot = slot_of(counts, account);
    if (slot->account == account)
        slot->account = 0;
    pthread_mutex_unlock(&counts->lock);
}
