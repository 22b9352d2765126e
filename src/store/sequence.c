/* sequence.c -- see sequence.h. The cell `next` of the counter's row holds: id of the write (16 bytes) | the first id that nobody
 * has taken.
 *
 * No lock is held while the store is asked: several callers may take a block at once, one of them wins, and the others find its ids
 * when they look again. */
#include "store/sequence.h"

#include <pthread.h>
#include <stdlib.h>

#include "store/record.h"

enum {
    BLOCK_MAX = 4096,
    PAUSE_US = 500,
    PATIENCE_S = 10, /* a lost race means that somebody else won one; so long no luck is a fault */
};

static const Slice NEXT = {"next", 4};

typedef struct Counter {
    Id write;
    uint64_t next;
} Counter;
static const Counter AT_FIRST = {.next = 1};
static const RecordField COUNTER_FIELDS[] = {
    RECORD_WRITE_ID(Counter, write),
    RECORD_RANGE(Counter, next, 8, 1, UINT64_MAX - BLOCK_MAX),
};
static const Record COUNTER_RECORD = {RECORD_("counter", Counter, 0, COUNTER_FIELDS),
                                      .defaults = &AT_FIRST};

struct Sequence {
    Store *store;
    World world;
    uint32_t block;
    pthread_mutex_t lock;
    uint64_t first, end; /* ours and not handed out: first … end - 1 */
    size_t name_size;
    char name[];
};

Sequence *sequence_new(Store *store, World world, const char *name, uint32_t block)
{
    size_t size = strlen(name);
    CHECK(block >= 1 && block <= BLOCK_MAX && size >= 1 && size <= STORE_ROW_MAX);
    Sequence *sequence = calloc(1, sizeof *sequence + size);
    CHECK(sequence != NULL);
    sequence->store = store;
    sequence->world = world;
    sequence->block = block;
    sequence->name_size = size;
    memcpy(sequence->name, name, size);
    CHECK(pthread_mutex_init(&sequence->lock, NULL) == 0);
    return sequence;
}

void sequence_free(Sequence *sequence)
{
    if (sequence == NULL)
        return;
    CHECK(pthread_mutex_destroy(&sequence->lock) == 0);
    free(sequence);
}

static bool hand_out(Sequence *sequence, uint64_t *ret_id)
{
    CHECK(pthread_mutex_lock(&sequence->lock) == 0);
    bool any = sequence->first < sequence->end;
    if (any)
        *ret_id = sequence->first++;
    CHECK(pthread_mutex_unlock(&sequence->lock) == 0);
    return any;
}

/* One attempt to move the counter on; CONFLICT when somebody else did. */
static Status take_block(Sequence *sequence, Arena *arena, uint64_t *ret_first)
{
    Records records = {sequence->store, sequence->world, NULL};
    Counter counter;
    RecordWrite write = {.place = {&COUNTER_RECORD, &TABLE_COUNTERS,
                                   slice_of(sequence->name, sequence->name_size), NEXT},
                         .record = &counter};
    TRY(record_find(&records, &write.place, STORE_SERIAL, arena, &counter, &write.before));
    uint64_t first = counter.next;
    counter.next += sequence->block;
    TRY(record_write(&records, &write, arena, NULL));
    *ret_first = first;
    return STATUS_OK;
}

/* A block of our own, or an id of the one that another caller took in the meantime. */
static Status next_of_new_block(Sequence *sequence, Arena *arena, uint64_t *ret_id)
{
    uint64_t first;
    Status status = take_block(sequence, arena, &first);
    if (status == STATUS_CONFLICT && hand_out(sequence, ret_id))
        return STATUS_OK;
    TRY(status);
    /* The first id of the block goes to the caller, the others to everybody; when somebody else's block is still there, ours dies. */
    CHECK(pthread_mutex_lock(&sequence->lock) == 0);
    if (sequence->first == sequence->end) {
        sequence->first = first + 1;
        sequence->end = first + sequence->block;
    }
    CHECK(pthread_mutex_unlock(&sequence->lock) == 0);
    *ret_id = first;
    return STATUS_OK;
}

Status sequence_next(Sequence *sequence, uint64_t *ret_id)
{
    if (hand_out(sequence, ret_id))
        return STATUS_OK;
    ARENA_SCOPE Arena *arena = arena_new();
    int64_t until_us = clock_steady_us(sequence->world.clock) + PATIENCE_S * US_PER_S;
    Status status = next_of_new_block(sequence, arena, ret_id);
    while (status == STATUS_CONFLICT && clock_steady_us(sequence->world.clock) < until_us) {
        /* After a lost race: those who lost wait a little, each for another time, so that they do not all meet again. */
        clock_sleep_us(sequence->world.clock,
                       (int64_t)(random_u64(sequence->world.random) % PAUSE_US));
        arena_reset(arena);
        status = next_of_new_block(sequence, arena, ret_id);
    }
    return status == STATUS_CONFLICT ? STATUS_UNAVAILABLE : status;
}
