/* sequence.c -- see sequence.h. The cell `next` of the counter's row holds: id of the write (16 bytes) | the first id that nobody
 * has taken.
 *
 * No lock is held while the store is asked: several callers may take a block at once, one of them wins, and the others find its ids
 * when they look again. */
#include "store/sequence.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/ids.h"

enum {
    BLOCK_MOST = 4096,
    UPDATE_TRIES = 5, /* of one update whose answer is lost */
    PAUSE_US = 500,
    PATIENCE_S = 10, /* a lost race means that somebody else won one; so long no luck is a fault */
};

static const Slice NEXT = {"next", 4};

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
    CHECK(block >= 1 && block <= BLOCK_MOST && size >= 1 && size <= STORE_ROW_MOST);
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

/* The first id of the block goes to the caller, the others to everybody; when somebody else's block is still there, ours dies. */
static void keep(Sequence *sequence, uint64_t first)
{
    CHECK(pthread_mutex_lock(&sequence->lock) == 0);
    if (sequence->first == sequence->end) {
        sequence->first = first + 1;
        sequence->end = first + sequence->block;
    }
    CHECK(pthread_mutex_unlock(&sequence->lock) == 0);
}

/* What the counter says; 1 when it has not begun. */
static Status decode(Status read, Slice value, uint64_t *ret_first)
{
    if (read == STATUS_NOT_FOUND) {
        *ret_first = 1;
        return STATUS_OK;
    }
    TRY(read);
    Reader reader = reader_of(value);
    (void)reader_bytes(&reader, ID_BYTES);
    uint64_t first = reader_u64(&reader);
    if (!reader_done(&reader) || first == 0 || first > UINT64_MAX - BLOCK_MOST)
        return STATUS_CORRUPT;
    *ret_first = first;
    return STATUS_OK;
}

/* One attempt to move the counter on; CONFLICT when somebody else did. */
static Status take_block(Sequence *sequence, Arena *arena, uint64_t *ret_first)
{
    BUFFER_SCOPE Buffer value = {0};
    Slice row = slice_of(sequence->name, sequence->name_size);
    Cell cell = {.value = SLICE_EMPTY};
    uint64_t first;
    Status status = store_read(sequence->store, &(Read){&TABLE_COUNTERS, row, NEXT, STORE_SERIAL},
                               arena, &cell);
    TRY(decode(status, cell.value, &first));

    Id id = id_new(sequence->world.clock, sequence->world.random);
    buffer_bytes(&value, id_slice(&id));
    buffer_u64(&value, first + sequence->block);
    Replacement next = {.table = &TABLE_COUNTERS,
                        .row = row,
                        .column = NEXT,
                        .before = cell.value,
                        .value = buffer_slice(&value),
                        .id = id};
    TRY(store_replace(sequence->store, &next, UPDATE_TRIES, arena));
    *ret_first = first;
    return STATUS_OK;
}

/* After a lost race: those who lost wait a little, each for another time, so that they do not all meet again. */
static void step_back(const Sequence *sequence)
{
    clock_sleep_us(sequence->world.clock, (int64_t)(random_u64(sequence->world.random) % PAUSE_US));
}

/* A block of our own, or an id of the one that another caller took in the meantime. */
static Status next_of_new_block(Sequence *sequence, Arena *arena, uint64_t *ret_id)
{
    uint64_t first;
    Status status = take_block(sequence, arena, &first);
    if (status == STATUS_CONFLICT && hand_out(sequence, ret_id))
        return STATUS_OK;
    TRY(status);
    keep(sequence, first);
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
        step_back(sequence);
        arena_reset(arena);
        status = next_of_new_block(sequence, arena, ret_id);
    }
    return status == STATUS_CONFLICT ? STATUS_UNAVAILABLE : status;
}
