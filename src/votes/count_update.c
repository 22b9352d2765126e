/* count_update.c -- see count_update.h.
 *
 * The sum of a bucket is read first and its other cells after it. What was read then belongs together exactly if the sum has not
 * moved: the update's condition checks that, and when there is nothing to update, a second read does. */
#include "votes/count_update.h"

#include <stdlib.h>

#include "base/mutant.h"

/* PART_ITEMS bounds the reads and bytes of one call to the store: each item has at most two cells. */
enum { COUNT_UPDATE_TRIES = 8, PART_ITEMS = SIMULATED(2000, 3) };
_Static_assert(2 * (PART_ITEMS + ROUND_VOTERS) <= STORE_MANY_MAX, "a part's cells are one read");

/* What is stored in the row, and what it becomes. */
typedef struct Bucket {
    const CountUpdateItem *items;
    size_t count;
    Slice row;
    bool known; /* the sum comes from memory, and with it the change of this hour */
    uint32_t known_hour;
    int64_t known_change;
    bool has_sum;
    Slice sum_value; /* as it was read, and then as it is written */
    Sum sum;
    Taken *taken;    /* by item */
    uint32_t *hours; /* distinct hours of the items */
    int64_t *changes;
    size_t hour_count;
    bool moved;    /* some item is new */
    Status status; /* CONFLICT and UNKNOWN: to be tried again */
} Bucket;

/* Buckets on their way together. */
typedef struct CountUpdatePart {
    const CountUpdate *count_update;
    Buffer buffer; /* for what is being encoded */
    Bucket **open; /* those that are not settled yet */
    size_t count;
    int64_t
        now_us; /* when the plain cells were made, in which minute, and for which time a note is enough */
    uint32_t minute;
    uint64_t moment;
} CountUpdatePart;

static uint8_t number_of(const Bucket *bucket)
{
    return ledger_shard(bucket->items[0].voter);
}

/* A copy of what was just encoded; the buffer is empty again. */
static Slice encoded(CountUpdatePart *part)
{
    Slice copy = arena_copy(part->count_update->arena, buffer_slice(&part->buffer));
    buffer_clear(&part->buffer);
    return copy;
}

/* ---- Reading ------------------------------------------------------------------------------------------------- */

static Status take_sum(Bucket *bucket, const ReadAnswer *answer)
{
    bucket->has_sum = answer->status == STATUS_OK;
    bucket->sum = (Sum){0};
    if (answer->status == STATUS_NOT_FOUND)
        return STATUS_OK;
    TRY(answer->status);
    bucket->sum_value = answer->cell.value;
    return ledger_get_sum(answer->cell.value, &bucket->sum);
}

static void read_sums(CountUpdatePart *part)
{
    Arena *arena = part->count_update->arena;
    Read *reads = ARENA_ARRAY(arena, part->count, Read);
    ReadAnswer *answers = ARENA_ARRAY(arena, part->count, ReadAnswer);
    for (size_t i = 0; i < part->count; i++)
        reads[i] = (Read){&TABLE_POLICY_VOTERS, part->open[i]->row, SLICE("sum"), STORE_SERIAL};
    Status status =
        store_read_many(part->count_update->votes->store, reads, part->count, arena, answers);
    for (size_t i = 0; i < part->count; i++) {
        part->open[i]->known = false;
        part->open[i]->status = status == STATUS_OK ? take_sum(part->open[i], &answers[i]) : status;
    }
}

static SumKey key_of(const CountUpdatePart *part, const Bucket *bucket)
{
    return (SumKey){bucket->items[0].policy, part->count_update->generation, number_of(bucket)};
}

/* Those that this handle wrote last are known; the others are read. */
static void recall_sums(CountUpdatePart *part)
{
    const CountUpdate *count_update = part->count_update;
    CountUpdatePart unknown = {.count_update = count_update,
                               .open = ARENA_ARRAY(count_update->arena, part->count, Bucket *)};
    for (size_t i = 0; i < part->count; i++) {
        Bucket *bucket = part->open[i];
        KnownSum known;
        bucket->known = sums_find(count_update->votes->sums, key_of(part, bucket),
                                  count_update->arena, &known) &&
                        ledger_get_sum(known.value, &bucket->sum) == STATUS_OK;
        if (!bucket->known) {
            unknown.open[unknown.count++] = bucket;
            continue;
        }
        bucket->has_sum = true;
        bucket->sum_value = known.value;
        bucket->known_hour = known.hour;
        bucket->known_change = known.change;
        bucket->status = STATUS_OK;
    }
    read_sums(&unknown);
}

static size_t cells_of(const Bucket *bucket)
{
    return bucket->count + bucket->hour_count;
}

static Slice column_of(const Bucket *bucket, size_t cell, Arena *arena)
{
    return cell < bucket->count ? ledger_column(arena, 'v', bucket->items[cell].voter)
                                : ledger_column(arena, 'h', bucket->hours[cell - bucket->count]);
}

static bool is_known_hour(const Bucket *bucket, size_t cell)
{
    return bucket->known && cell >= bucket->count &&
           bucket->hours[cell - bucket->count] == bucket->known_hour;
}

/* Returns how many answers belong to the bucket. */
static size_t take_cells(Bucket *bucket, const ReadAnswer *answers)
{
    const ReadAnswer *answer = answers;
    memset(bucket->taken, 0, bucket->count * sizeof *bucket->taken);
    memset(bucket->changes, 0, bucket->hour_count * sizeof *bucket->changes);
    for (size_t i = 0; i < cells_of(bucket); i++) {
        if (is_known_hour(bucket, i)) {
            bucket->changes[i - bucket->count] = bucket->known_change;
            continue;
        }
        Status status = answer->status;
        Slice value = answer++->cell.value;
        if (status == STATUS_OK && i < bucket->count)
            status = ledger_get_taken(value, &bucket->taken[i]);
        else if (status == STATUS_OK)
            status = ledger_get_number(value, &bucket->changes[i - bucket->count]);
        if (status != STATUS_OK && status != STATUS_NOT_FOUND && bucket->status == STATUS_OK)
            bucket->status = status;
    }
    return (size_t)(answer - answers);
}

/* The voters' cells and the hours' cells, after the sums. */
static void read_cells(CountUpdatePart *part)
{
    Arena *arena = part->count_update->arena;
    size_t total = 0, at = 0;
    for (size_t i = 0; i < part->count; i++)
        total += cells_of(part->open[i]);
    Read *reads = ARENA_ARRAY(arena, total, Read);
    ReadAnswer *answers = ARENA_ARRAY(arena, total, ReadAnswer);
    for (size_t i = 0; i < part->count; i++)
        for (size_t k = 0; k < cells_of(part->open[i]); k++)
            if (!is_known_hour(part->open[i], k))
                reads[at++] = (Read){&TABLE_POLICY_VOTERS, part->open[i]->row,
                                     column_of(part->open[i], k, arena), STORE_SERIAL};
    Status status = store_read_many(part->count_update->votes->store, reads, at, arena, answers);
    at = 0;
    for (size_t i = 0; i < part->count; i++) {
        at += take_cells(part->open[i], answers + at);
        if (status != STATUS_OK)
            part->open[i]->status = status;
    }
}

/* ---- Taking -------------------------------------------------------------------------------------------------- */

static size_t hour_index(Bucket *bucket, uint32_t hour)
{
    size_t at = 0;
    while (at < bucket->hour_count && bucket->hours[at] != hour)
        at++;
    if (at == bucket->hour_count)
        bucket->hours[bucket->hour_count++] = hour;
    return at;
}

/* Takes the items that are new into the sums, by the entries' own time. */
static void take_items(const CountUpdatePart *part, Bucket *bucket)
{
    bucket->moved = false;
    for (size_t i = 0; i < bucket->count; i++) {
        const CountUpdateItem *item = &bucket->items[i];
        if (bucket->taken[i].seq >= item->entry->seq)
            continue;
        int64_t difference = item->change->held - bucket->taken[i].held;
        count_change(&bucket->sum.count,
                     MUTANT(day_by_clock) ? clock_now_us(part->count_update->votes->world.clock)
                                          : item->entry->time_us,
                     difference);
        bucket->changes[hour_index(bucket, ledger_hour(item->entry->time_us))] += difference;
        bucket->taken[i] = (Taken){item->change->held, item->entry->seq};
        bucket->moved = true;
    }
    bucket->sum.ver += bucket->moved;
}

static Update update_of(CountUpdatePart *part, Bucket *bucket)
{
    Arena *arena = part->count_update->arena;
    Change *changes = ARENA_ARRAY(arena, 1 + cells_of(bucket), Change);
    Condition *condition = ARENA_NEW(arena, Condition);
    *condition = (Condition){SLICE("sum"), bucket->sum_value, !bucket->has_sum};
    ledger_put_sum(&part->buffer, &bucket->sum);
    bucket->sum_value = encoded(part);
    changes[0] = (Change){.column = SLICE("sum"), .value = bucket->sum_value};
    for (size_t i = 0; i < cells_of(bucket); i++) {
        if (i < bucket->count)
            ledger_put_taken(&part->buffer, &bucket->taken[i]);
        else
            ledger_put_number(&part->buffer, bucket->changes[i - bucket->count]);
        changes[1 + i] = (Change){.column = column_of(bucket, i, arena), .value = encoded(part)};
    }
    return (Update){.table = &TABLE_POLICY_VOTERS,
                    .row = bucket->row,
                    .conditions = condition,
                    .condition_count = 1,
                    .changes = changes,
                    .change_count = 1 + cells_of(bucket),
                    .lazy = true};
}

/* What was written is known, and what came of an update that failed is not. */
static void remember_sum(const CountUpdatePart *part, const Bucket *bucket)
{
    Sums *sums = part->count_update->votes->sums;
    size_t last = 0;
    for (size_t i = 1; i < bucket->hour_count; i++)
        if (bucket->hours[i] > bucket->hours[last])
            last = i;
    if (bucket->status == STATUS_OK)
        sums_keep(sums, key_of(part, bucket),
                  (KnownSum){bucket->sum_value, bucket->hours[last],
                             bucket->changes[MUTANT(another_hour_remembered) ? 0 : last]});
    else
        sums_forget(sums, key_of(part, bucket));
}

/* Those that moved are written. */
static void update_moved(CountUpdatePart *part)
{
    Arena *arena = part->count_update->arena;
    Update *updates = ARENA_ARRAY(arena, part->count, Update);
    Status *statuses = ARENA_ARRAY(arena, part->count, Status);
    Bucket **moved = ARENA_ARRAY(arena, part->count, Bucket *);
    size_t count = 0;
    for (size_t i = 0; i < part->count; i++) {
        if (part->open[i]->status != STATUS_OK || !part->open[i]->moved)
            continue;
        updates[count] = update_of(part, part->open[i]);
        moved[count++] = part->open[i];
    }
    Status status =
        store_update_many(part->count_update->votes->store, updates, count, arena, statuses);
    for (size_t i = 0; i < count; i++) {
        moved[i]->status = status == STATUS_OK ? statuses[i] : status;
        remember_sum(part, moved[i]);
    }
}

/* Those that did not move are whole when their sum still is what it was: CONFLICT otherwise. */
static void check_unmoved(CountUpdatePart *part)
{
    Arena *arena = part->count_update->arena;
    CountUpdatePart unmoved = {.count_update = part->count_update,
                               .open = ARENA_ARRAY(arena, part->count, Bucket *)};
    for (size_t i = 0; i < part->count; i++)
        if (part->open[i]->status == STATUS_OK && !part->open[i]->moved)
            unmoved.open[unmoved.count++] = part->open[i];
    uint64_t *vers = ARENA_ARRAY(arena, unmoved.count, uint64_t);
    for (size_t i = 0; i < unmoved.count; i++)
        vers[i] = unmoved.open[i]->sum.ver;
    if (unmoved.count > 0)
        read_sums(&unmoved);
    for (size_t i = 0; i < unmoved.count; i++)
        if (unmoved.open[i]->status == STATUS_OK && unmoved.open[i]->sum.ver != vers[i])
            unmoved.open[i]->status = STATUS_CONFLICT;
}

/* Until what was read and taken belongs together. CONFLICT and UNKNOWN are tried again: reading decides. */
static void settle(CountUpdatePart *part)
{
    for (int tries = 0; tries < COUNT_UPDATE_TRIES && part->count > 0; tries++) {
        size_t left = 0;
        if (tries == 0)
            recall_sums(part);
        else
            read_sums(part);
        read_cells(part);
        if (MUTANT(cells_before_sum))
            read_sums(part);
        for (size_t i = 0; i < part->count; i++)
            if (part->open[i]->status == STATUS_OK)
                take_items(part, part->open[i]);
        check_unmoved(part);
        update_moved(part);
        for (size_t i = 0; i < part->count; i++)
            if (part->open[i]->status == STATUS_CONFLICT || part->open[i]->status == STATUS_UNKNOWN)
                part->open[left++] = part->open[i];
        part->count = left;
    }
}

/* ---- The plain cells ----------------------------------------------------------------------------------------- */

static RowChange *add(RowChange *to, const Table *table, Slice row, Change change)
{
    *to = (RowChange){table, row, change};
    return to + 1;
}

static RowChange *add_hours(CountUpdatePart *part, const Bucket *bucket, RowChange *to)
{
    Arena *arena = part->count_update->arena;
    uint64_t policy = bucket->items[0].policy;
    char *column = arena_bytes(arena, 9);
    bytes_put_u64(column, policy);
    column[8] = (char)number_of(bucket);
    for (size_t i = 0; i < bucket->hour_count; i++) {
        ledger_put_number(&part->buffer, bucket->changes[i]);
        to = add(to, &TABLE_HOUR_CHANGES,
                 ledger_hour_row(arena, part->count_update->generation, bucket->hours[i],
                                 ledger_shard(policy)),
                 (Change){.column = slice_of(column, 9),
                          .value = encoded(part),
                          .timestamp = (int64_t)bucket->sum.ver});
    }
    return to;
}

static RowChange *add_history(CountUpdatePart *part, const Bucket *bucket, RowChange *to)
{
    Arena *arena = part->count_update->arena;
    for (size_t i = 0; i < bucket->count; i++) {
        const CountUpdateItem *item = &bucket->items[i];
        buffer_u64(&part->buffer, item->voter);
        buffer_i64(&part->buffer, item->change->held - item->change->before);
        buffer_i64(&part->buffer, item->change->held);
        to = add(to, &TABLE_POLICY_HISTORY,
                 ledger_history_row(arena, part->count_update->generation, item->policy,
                                    count_day(item->entry->time_us)),
                 (Change){.column = id_slice(&item->entry->version),
                          .value = encoded(part),
                          .timestamp = (int64_t)item->entry->seq});
    }
    return to;
}

/* ---- The note that a policy changed: once a minute is enough, whoever follows the notes reads the whole minute again. Who follows
 * from another instance reads the last seconds again: then it is once a second. ---- */

static uint64_t *slot_of(Votes *votes, uint64_t policy)
{
    return &votes->noted[policy * UINT64_C(0x9E3779B97F4A7C15) >> (64 - NOTED_BITS)];
}

static bool is_noted(Votes *votes, uint64_t policy, uint64_t moment)
{
    pthread_mutex_lock(&votes->lock);
    bool noted = votes->noted_at == moment && *slot_of(votes, policy) == policy &&
                 votes->noted_in == store_generation(votes->store);
    pthread_mutex_unlock(&votes->lock);
    return noted;
}

/* The note is acknowledged, but not synced yet: `generation` is the store's from before it was written, so that a note that a failed sync took
 * away is not taken for one that is there. */
static void remember_noted(Votes *votes, uint64_t policy, uint64_t moment, uint64_t generation)
{
    pthread_mutex_lock(&votes->lock);
    if (votes->noted_at < moment || votes->noted_in < generation) {
        memset(votes->noted, 0, sizeof votes->noted);
        votes->noted_at = moment;
        votes->noted_in = generation;
    }
    if (votes->noted_at == moment && votes->noted_in == generation)
        *slot_of(votes, policy) = policy;
    pthread_mutex_unlock(&votes->lock);
}

static RowChange *add_note(CountUpdatePart *part, const Bucket *bucket, RowChange *to)
{
    Arena *arena = part->count_update->arena;
    uint64_t policy = bucket->items[0].policy;
    if (is_noted(part->count_update->votes, policy, part->moment))
        return to;
    char *column = arena_bytes(arena, 9);
    column[0] = (char)(part->now_us / US_PER_S % 60);
    bytes_put_u64(column + 1, policy);
    return add(
        to, &TABLE_CHANGED, ledger_mark_row(arena, part->minute, ledger_shard(policy)),
        (Change){.column = slice_of(column, 9), .timestamp = part->now_us, .ttl_s = CHANGED_TTL_S});
}

/* What others read: the total, the hours, the history, and the note that this policy changed. */
static Batch plain_of(CountUpdatePart *part, const Bucket *bucket)
{
    Arena *arena = part->count_update->arena;
    uint64_t policy = bucket->items[0].policy;
    char *number = arena_bytes(arena, 1);
    *number = (char)number_of(bucket);
    RowChange *changes = ARENA_ARRAY(arena, 2 + cells_of(bucket), RowChange);
    RowChange *end = changes;
    end = add(end, &TABLE_POLICY_TOTALS,
              ledger_totals_row(arena, part->count_update->generation, policy),
              (Change){.column = slice_of(number, 1),
                       .value = bucket->sum_value, /* the same bytes */
                       .timestamp = MUTANT(sum_by_clock)
                                        ? clock_now_us(part->count_update->votes->world.clock)
                                        : (int64_t)bucket->sum.ver});
    end = add_hours(part, bucket, end);
    end = add_history(part, bucket, end);
    end = add_note(part, bucket, end);
    return (Batch){changes, (size_t)(end - changes), true};
}

static void write_plain(CountUpdatePart *part, Bucket *buckets, size_t count)
{
    Arena *arena = part->count_update->arena;
    Batch *batches = ARENA_ARRAY(arena, count, Batch);
    Status *statuses = ARENA_ARRAY(arena, count, Status);
    size_t whole = 0;
    uint64_t generation = store_generation(part->count_update->votes->store);
    part->now_us = clock_now_us(part->count_update->votes->world.clock);
    part->minute = (uint32_t)(part->now_us / (60 * US_PER_S));
    part->moment =
        part->count_update->votes->shared ? (uint64_t)(part->now_us / US_PER_S) : part->minute;
    for (size_t i = 0; i < count; i++)
        if (buckets[i].status == STATUS_OK)
            batches[whole++] = plain_of(part, &buckets[i]);
    Status status = store_write_many(part->count_update->votes->store, batches, whole, statuses);
    whole = 0;
    for (size_t i = 0; i < count; i++) {
        if (buckets[i].status != STATUS_OK)
            continue;
        buckets[i].status = status == STATUS_OK ? statuses[whole++] : status;
        if (buckets[i].status == STATUS_OK)
            remember_noted(part->count_update->votes, buckets[i].items[0].policy, part->moment,
                           generation);
    }
    for (size_t i = 0; i < count && MUTANT(plain_not_acknowledged); i++)
        buckets[i].status = STATUS_OK;
}

/* ---- Parts --------------------------------------------------------------------------------------------------- */

static int by_bucket(const void *a, const void *b)
{
    const CountUpdateItem *left = a, *right = b;
    if (left->policy != right->policy)
        return left->policy < right->policy ? -1 : 1;
    return (int)ledger_shard(left->voter) - (int)ledger_shard(right->voter);
}

/* The bucket of the items from `start` on; returns how many they are. */
static size_t next_bucket(const CountUpdate *count_update, size_t start, Bucket *ret_bucket)
{
    Arena *arena = count_update->arena;
    const CountUpdateItem *items = &count_update->items[start];
    size_t count = 1;
    while (start + count < count_update->count && by_bucket(items, &items[count]) == 0)
        count++;
    *ret_bucket = (Bucket){.items = items,
                           .count = count,
                           .row = ledger_count_row(arena, count_update->generation, items->policy,
                                                   ledger_shard(items->voter)),
                           .taken = ARENA_ARRAY(arena, count, Taken),
                           .hours = ARENA_ARRAY(arena, count, uint32_t),
                           .changes = ARENA_ARRAY(arena, count, int64_t)};
    for (size_t i = 0; i < count; i++)
        (void)hour_index(ret_bucket, ledger_hour(items[i].entry->time_us));
    return count;
}

static void update_part(const CountUpdate *count_update, Bucket *buckets, size_t count)
{
    CountUpdatePart part = {.count_update = count_update,
                            .open = ARENA_ARRAY(count_update->arena, count, Bucket *),
                            .count = count};
    for (size_t i = 0; i < count; i++)
        part.open[i] = &buckets[i];
    settle(&part);
    write_plain(&part, buckets, count);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < buckets[i].count && buckets[i].status != STATUS_OK; k++)
            *buckets[i].items[k].status = buckets[i].status;
    buffer_free(&part.buffer);
}

void votes_update_counts(const CountUpdate *count_update)
{
    qsort(count_update->items, count_update->count, sizeof *count_update->items, by_bucket);
    for (size_t start = 0; start < count_update->count;) {
        size_t first = start, count = 0, left = count_update->count - start;
        Bucket *buckets = arena_alloc(count_update->arena,
                                      (left < PART_ITEMS ? left : PART_ITEMS) * sizeof *buckets);
        while (start < count_update->count && start - first < PART_ITEMS)
            start += next_bucket(count_update, start, &buckets[count++]);
        update_part(count_update, buckets, count);
    }
}
