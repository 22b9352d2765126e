/* project.c -- from the entries in voters' rows to the counts of policies.
 *
 * Entries are taken in order, per voter; of each entry first the decreases, with all their cells acknowledged, then the
 * increases, so that no polly ever shows on two policies. Many voters go together: their changes to one bucket of one policy are
 * one conditional update. A change is taken only if the stored seq of that voter is lower, so projecting twice, in parallel, or
 * after a crash at any point adds nothing twice; the plain cells are written also for what was taken before, because whoever
 * took it may have died in between. `projected` comes last: what it skips is whole.
 *
 * The sum is read first and the other cells after it. What was read then belongs together exactly if the sum has not moved: the
 * update's condition checks that, and when there is nothing to update, a second read does. */
#include <stdlib.h>

#include "votes/inside.h"

enum { GROUP_TRIES = 8 };

/* A voter on the way: entries that were read, and the one that is next. */
typedef struct Walker {
    uint64_t voter;
    uint64_t projected; /* seq of the last entry that is whole */
    Entry *entries;
    size_t count, at;
    Status status;
} Walker;

/* One change of one entry, on its way to one bucket. */
typedef struct Item {
    uint64_t policy;
    Walker *walker;
    const EntryChange *change;
} Item;

typedef struct Projection {
    Votes *votes;
    uint32_t generation;
    Arena *arena;
    Walker *walkers;
    size_t count;
    Item *items; /* of the current phase */
    size_t item_count;
} Projection;

static const Entry *entry_of(const Item *item)
{
    return &item->walker->entries[item->walker->at];
}

static uint8_t bucket_of(const Item *item)
{
    return ledger_shard(item->walker->voter);
}

/* ---- One bucket of one policy -------------------------------------------------------------------------------- */

/* What is stored in the row, and what it becomes. */
typedef struct Bucket {
    Projection *projection;
    const Item *items;
    size_t count;
    Slice row;
    bool has_sum;
    Slice sum_value;
    Sum sum;
    Taken *taken;    /* by item */
    uint32_t *hours; /* distinct hours of the items */
    int64_t *changes;
    size_t hour_count;
    bool moved; /* some item is new */
} Bucket;

static Slice in_arena(Buffer *buffer, Arena *arena)
{
    Slice copy = arena_copy(arena, buffer_slice(buffer));
    buffer_clear(buffer);
    return copy;
}

static Status read_sum(Bucket *bucket)
{
    Cell cell;
    Read read = {&TABLE_POLICY_VOTERS, bucket->row, SLICE("sum"), STORE_SERIAL};
    Status status =
        store_read(bucket->projection->votes->store, &read, bucket->projection->arena, &cell);
    bucket->has_sum = status == STATUS_OK;
    bucket->sum = (Sum){0};
    if (status == STATUS_NOT_FOUND)
        return STATUS_OK;
    TRY(status);
    bucket->sum_value = cell.value;
    return ledger_get_sum(cell.value, &bucket->sum);
}

static size_t hour_index(Bucket *bucket, uint32_t hour)
{
    size_t at = 0;
    while (at < bucket->hour_count && bucket->hours[at] != hour)
        at++;
    if (at == bucket->hour_count)
        bucket->hours[bucket->hour_count++] = hour;
    return at;
}

/* The voters' cells and the hours' cells, in one round trip, after the sum. */
static Status read_cells(Bucket *bucket)
{
    Arena *arena = bucket->projection->arena;
    size_t total = bucket->count + bucket->hour_count;
    Read *reads = ARENA_ARRAY(arena, total, Read);
    ReadAnswer *answers = ARENA_ARRAY(arena, total, ReadAnswer);
    for (size_t i = 0; i < total; i++)
        reads[i] =
            (Read){&TABLE_POLICY_VOTERS, bucket->row,
                   i < bucket->count ? ledger_column(arena, 'v', bucket->items[i].walker->voter)
                                     : ledger_column(arena, 'h', bucket->hours[i - bucket->count]),
                   STORE_SERIAL};
    TRY(store_read_many(bucket->projection->votes->store, reads, total, arena, answers));
    for (size_t i = 0; i < total; i++) {
        bool present = answers[i].status == STATUS_OK;
        if (!present && answers[i].status != STATUS_NOT_FOUND)
            return answers[i].status;
        if (i < bucket->count) {
            bucket->taken[i] = (Taken){0};
            if (present)
                TRY(ledger_get_taken(answers[i].cell.value, &bucket->taken[i]));
        } else {
            bucket->changes[i - bucket->count] = 0;
            if (present)
                TRY(ledger_get_number(answers[i].cell.value, &bucket->changes[i - bucket->count]));
        }
    }
    return STATUS_OK;
}

/* Takes the items that are new into the sums, by the entries' own time. */
static void take_items(Bucket *bucket)
{
    bucket->moved = false;
    for (size_t i = 0; i < bucket->count; i++) {
        const Item *item = &bucket->items[i];
        const Entry *entry = entry_of(item);
        if (bucket->taken[i].seq >= entry->seq)
            continue;
        int64_t difference = item->change->held - bucket->taken[i].held;
        count_change(&bucket->sum.count, entry->time_us, difference);
        bucket->changes[hour_index(bucket, ledger_hour(entry->time_us))] += difference;
        bucket->taken[i] = (Taken){item->change->held, entry->seq};
        bucket->moved = true;
    }
    bucket->sum.ver += bucket->moved;
}

static Status update_bucket(Bucket *bucket)
{
    Arena *arena = bucket->projection->arena;
    BUFFER_SCOPE Buffer buffer = {0};
    Change *changes = ARENA_ARRAY(arena, 1 + bucket->count + bucket->hour_count, Change);
    size_t count = 0;
    ledger_put_sum(&buffer, &bucket->sum);
    changes[count++] = (Change){.column = SLICE("sum"), .value = in_arena(&buffer, arena)};
    for (size_t i = 0; i < bucket->count; i++) {
        ledger_put_taken(&buffer, &bucket->taken[i]);
        changes[count++] =
            (Change){.column = ledger_column(arena, 'v', bucket->items[i].walker->voter),
                     .value = in_arena(&buffer, arena)};
    }
    for (size_t i = 0; i < bucket->hour_count; i++) {
        ledger_put_number(&buffer, bucket->changes[i]);
        changes[count++] = (Change){.column = ledger_column(arena, 'h', bucket->hours[i]),
                                    .value = in_arena(&buffer, arena)};
    }
    Condition condition = {SLICE("sum"), bucket->sum_value, !bucket->has_sum};
    Update update = {.table = &TABLE_POLICY_VOTERS,
                     .row = bucket->row,
                     .conditions = &condition,
                     .condition_count = 1,
                     .changes = changes,
                     .change_count = count,
                     .lazy = true};
    return store_update_if(bucket->projection->votes->store, &update, arena, NULL);
}

/* CONFLICT when the sum has moved since it was read. */
static Status check_unmoved(Bucket *bucket)
{
    uint64_t ver = bucket->sum.ver;
    TRY(read_sum(bucket));
    return bucket->sum.ver == ver ? STATUS_OK : STATUS_CONFLICT;
}

/* Until what was read and taken belongs together. CONFLICT and UNKNOWN are tried again: reading decides. */
static Status settle_bucket(Bucket *bucket)
{
    Status status = STATUS_UNKNOWN;
    for (int i = 0; i < GROUP_TRIES; i++) {
        TRY(read_sum(bucket));
        TRY(read_cells(bucket));
        take_items(bucket);
        status = bucket->moved ? update_bucket(bucket) : check_unmoved(bucket);
        if (status != STATUS_CONFLICT && status != STATUS_UNKNOWN)
            break;
    }
    return status;
}

/* ---- The plain cells ----------------------------------------------------------------------------------------- */

static RowChange *add(RowChange *to, const Table *table, Slice row, Change change)
{
    *to = (RowChange){table, row, change};
    return to + 1;
}

static RowChange *add_hours(const Bucket *bucket, RowChange *to, Buffer *buffer)
{
    Arena *arena = bucket->projection->arena;
    uint64_t policy = bucket->items[0].policy;
    char *column = arena_bytes(arena, 9);
    bytes_put_u64(column, policy);
    column[8] = (char)bucket_of(&bucket->items[0]);
    for (size_t i = 0; i < bucket->hour_count; i++) {
        ledger_put_number(buffer, bucket->changes[i]);
        to = add(to, &TABLE_HOUR_CHANGES,
                 ledger_hour_row(arena, bucket->projection->generation, bucket->hours[i],
                                 ledger_shard(policy)),
                 (Change){.column = slice_of(column, 9),
                          .value = in_arena(buffer, arena),
                          .timestamp = (int64_t)bucket->sum.ver});
    }
    return to;
}

static RowChange *add_history(const Bucket *bucket, RowChange *to, Buffer *buffer)
{
    Arena *arena = bucket->projection->arena;
    for (size_t i = 0; i < bucket->count; i++) {
        const Item *item = &bucket->items[i];
        const Entry *entry = entry_of(item);
        buffer_u64(buffer, item->walker->voter);
        buffer_i64(buffer, item->change->held - item->change->before);
        buffer_i64(buffer, item->change->held);
        to = add(to, &TABLE_POLICY_HISTORY,
                 ledger_history_row(arena, bucket->projection->generation, item->policy,
                                    count_day(entry->time_us)),
                 (Change){.column = id_slice(&entry->version),
                          .value = in_arena(buffer, arena),
                          .timestamp = (int64_t)entry->seq});
    }
    return to;
}

/* What others read: the total, the hours, the history, and the note that this policy changed. */
static Status write_plain(const Bucket *bucket)
{
    Votes *votes = bucket->projection->votes;
    Arena *arena = bucket->projection->arena;
    BUFFER_SCOPE Buffer buffer = {0};
    uint64_t policy = bucket->items[0].policy;
    char *number = arena_bytes(arena, 1);
    *number = (char)bucket_of(&bucket->items[0]);
    RowChange *changes = ARENA_ARRAY(arena, 2 + bucket->hour_count + bucket->count, RowChange);
    RowChange *end = changes;
    ledger_put_sum(&buffer, &bucket->sum);
    end = add(end, &TABLE_POLICY_TOTALS,
              ledger_totals_row(arena, bucket->projection->generation, policy),
              (Change){.column = slice_of(number, 1),
                       .value = in_arena(&buffer, arena),
                       .timestamp = (int64_t)bucket->sum.ver});
    end = add_hours(bucket, end, &buffer);
    end = add_history(bucket, end, &buffer);
    int64_t now_us = clock_now_us(votes->world.clock);
    end = add(
        end, &TABLE_CHANGED,
        ledger_mark_row(arena, (uint32_t)(now_us / (60 * US_PER_S)), ledger_shard(policy)),
        (Change){.column = ledger_u64(arena, policy), .timestamp = now_us, .ttl_s = CHANGED_TTL_S});
    return store_write(votes->store, &(Batch){changes, (size_t)(end - changes), true});
}

/* ---- A phase: all decreases, or all increases, of each voter's next entry -------------------------------------- */

static int by_bucket(const void *a, const void *b)
{
    const Item *left = a, *right = b;
    if (left->policy != right->policy)
        return left->policy < right->policy ? -1 : 1;
    return (int)bucket_of(left) - (int)bucket_of(right);
}

static void project_bucket(Projection *projection, const Item *items, size_t count)
{
    Arena *arena = projection->arena;
    Bucket bucket = {
        .projection = projection,
        .items = items,
        .count = count,
        .row = ledger_count_row(arena, projection->generation, items[0].policy, bucket_of(items)),
        .taken = ARENA_ARRAY(arena, count, Taken),
        .hours = ARENA_ARRAY(arena, count, uint32_t),
        .changes = ARENA_ARRAY(arena, count, int64_t)};
    for (size_t i = 0; i < count; i++)
        (void)hour_index(&bucket, ledger_hour(entry_of(&items[i])->time_us));
    Status status = settle_bucket(&bucket);
    if (status == STATUS_OK)
        status = write_plain(&bucket);
    for (size_t i = 0; i < count && status != STATUS_OK; i++)
        items[i].walker->status = status; /* it leaves the round; its mark brings it back */
}

static void run_phase(Projection *projection, bool decreases)
{
    projection->item_count = 0;
    for (size_t i = 0; i < projection->count; i++) {
        Walker *walker = &projection->walkers[i];
        if (walker->status != STATUS_OK || walker->at == walker->count)
            continue;
        const Entry *entry = &walker->entries[walker->at];
        for (size_t k = 0; k < entry->change_count; k++)
            if ((entry->changes[k].held < entry->changes[k].before) == decreases)
                projection->items[projection->item_count++] =
                    (Item){entry->changes[k].policy, walker, &entry->changes[k]};
    }
    qsort(projection->items, projection->item_count, sizeof(Item), by_bucket);
    for (size_t start = 0, end; start < projection->item_count; start = end) {
        const Item *first = &projection->items[start];
        for (end = start + 1; end < projection->item_count; end++)
            if (by_bucket(first, &projection->items[end]) != 0)
                break;
        project_bucket(projection, first, end - start);
    }
}

/* ---- Voters -------------------------------------------------------------------------------------------------- */

/* The hours of this entry's day are acknowledged by now. */
static Status mark_late(Projection *projection)
{
    uint32_t days[ROUND_VOTERS];
    size_t count = 0;
    for (size_t i = 0; i < projection->count; i++) {
        const Walker *walker = &projection->walkers[i];
        if (walker->at < walker->count && walker->entries[walker->at].change_count > 0)
            days[count++] = count_day(walker->entries[walker->at].time_us);
    }
    return votes_mark_late(projection->votes, &(LateMarks){projection->generation, days, count},
                           projection->arena);
}

static Status write_projected(Projection *projection)
{
    Votes *votes = projection->votes;
    Arena *arena = projection->arena;
    RowChange *changes = ARENA_ARRAY(arena, projection->count, RowChange);
    size_t count = 0;
    TRY(mark_late(projection));
    for (size_t i = 0; i < projection->count; i++) {
        Walker *walker = &projection->walkers[i];
        if (walker->status != STATUS_OK || walker->at == walker->count)
            continue;
        uint64_t seq = walker->entries[walker->at].seq;
        walker->projected = seq;
        changes[count++] = (RowChange){
            &TABLE_PROJECTED,
            ledger_projected_row(arena, projection->generation, walker->voter),
            {.column = SLICE("seq"), .value = ledger_u64(arena, seq), .timestamp = (int64_t)seq}};
        walker->at++;
    }
    return store_write(votes->store, &(Batch){changes, count, true});
}

/* The entries of one voter that are not projected yet, at most a page. */
static Status load_walker(Projection *projection, Walker *walker, uint64_t projected)
{
    Page page;
    Arena *arena = projection->arena;
    Query query = {.table = &TABLE_VOTERS,
                   .row = ledger_u64(arena, walker->voter),
                   .from = ledger_column(arena, 'z', projected + 1),
                   .to = SLICE("z0"),
                   .limit = ROUND_ENTRIES,
                   .mode = STORE_SERIAL};
    TRY(store_slice(projection->votes->store, &query, arena, &page));
    walker->entries = ARENA_ARRAY(arena, page.count, Entry);
    for (size_t i = 0; i < page.count; i++)
        TRY(ledger_get_entry(page.cells[i].column, page.cells[i].value, arena,
                             &walker->entries[i]));
    walker->count = page.count;
    return STATUS_OK;
}

static Status load_walkers(Projection *projection, const uint64_t *voters)
{
    Arena *arena = projection->arena;
    size_t count = projection->count;
    Read *reads = ARENA_ARRAY(arena, count, Read);
    ReadAnswer *answers = ARENA_ARRAY(arena, count, ReadAnswer);
    for (size_t i = 0; i < count; i++)
        reads[i] =
            (Read){&TABLE_PROJECTED, ledger_projected_row(arena, projection->generation, voters[i]),
                   SLICE("seq"), STORE_NORMAL};
    TRY(store_read_many(projection->votes->store, reads, count, arena, answers));
    for (size_t i = 0; i < count; i++) {
        Walker *walker = &projection->walkers[i];
        Reader reader = reader_of(answers[i].cell.value);
        uint64_t projected = answers[i].status == STATUS_OK ? reader_u64(&reader) : 0;
        *walker = (Walker){.voter = voters[i], .projected = projected, .status = answers[i].status};
        if (walker->status == STATUS_NOT_FOUND || walker->status == STATUS_OK)
            walker->status = load_walker(projection, walker, projected);
    }
    return STATUS_OK;
}

static bool work_left(const Projection *projection)
{
    for (size_t i = 0; i < projection->count; i++)
        if (projection->walkers[i].status == STATUS_OK &&
            projection->walkers[i].at < projection->walkers[i].count)
            return true;
    return false;
}

static size_t most_items(const Projection *projection)
{
    size_t most = 0;
    for (size_t i = 0; i < projection->count; i++) {
        size_t largest = 0;
        for (size_t k = 0; k < projection->walkers[i].count; k++)
            if (projection->walkers[i].entries[k].change_count > largest)
                largest = projection->walkers[i].entries[k].change_count;
        most += largest;
    }
    return most;
}

Status votes_project_round(Votes *votes, ProjectRound *round)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Projection projection = {.votes = votes,
                             .generation = round->generation,
                             .arena = arena,
                             .walkers = ARENA_ARRAY(arena, round->count, Walker),
                             .count = round->count};
    round->taken = 0;
    memset(round->projected, 0, sizeof round->projected);
    TRY(load_walkers(&projection, round->voters));
    projection.items = ARENA_ARRAY(arena, most_items(&projection), Item);
    while (work_left(&projection)) {
        run_phase(&projection, true);
        run_phase(&projection, false);
        TRY(write_projected(&projection));
    }
    Status worst = STATUS_OK;
    for (size_t i = 0; i < round->count; i++) {
        round->taken += projection.walkers[i].at;
        round->projected[i] = projection.walkers[i].projected;
        if (projection.walkers[i].status != STATUS_OK)
            worst = projection.walkers[i].status;
    }
    return worst;
}
