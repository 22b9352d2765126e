/* writes.c -- plain batches: changes are sorted by table and row, and each row becomes one mutation.
 *
 * Changes of several batches to one row go together, up to a bound; those of one batch to one row always do, since a row must see all
 * of a batch or nothing. A crash in between leaves some rows written and others not, which is what UNKNOWN says. */
#include <stdlib.h>

#include "store/cassandra/cassandra_private.h"

enum { GROUP_CHANGES = 500, GROUP_BYTES = 256 * 1024 };

typedef struct Item {
    const RowChange *change;
    size_t batch;
} Item;

/* Items of one row that are one mutation. */
typedef struct RowGroup {
    const Item *items;
    size_t count;
} RowGroup;

typedef struct Sorted {
    Item *items;
    size_t count;
    RowGroup *groups;
    size_t group_count;
} Sorted;

/* ---- Sorting ------------------------------------------------------------------------------------------------ */

static bool same_row(const Item *a, const Item *b)
{
    return a->change->table->number == b->change->table->number &&
           slice_equal(a->change->row, b->change->row);
}

static int compare_items(const void *left, const void *right)
{
    const Item *a = left, *b = right;
    int order = a->change->table->number - b->change->table->number;
    if (order == 0)
        order = slice_compare(a->change->row, b->change->row);
    if (order == 0)
        order = a->batch < b->batch ? -1 : a->batch > b->batch;
    return order;
}

static bool ends_group(const RowGroup *group, size_t bytes, const Item *next)
{
    const Item *last = &group->items[group->count - 1];
    if (!same_row(last, next))
        return true;
    bool over = group->count >= GROUP_CHANGES || bytes >= GROUP_BYTES;
    return over && last->batch != next->batch;
}

static Sorted sort(const Batch *batches, size_t count, Arena *arena)
{
    Sorted sorted = {.count = 0};
    size_t most = 0, bytes = 0;
    for (size_t i = 0; i < count; i++)
        most += batches[i].count;
    sorted.items = ARENA_ARRAY(arena, most, Item);
    sorted.groups = ARENA_ARRAY(arena, most, RowGroup);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < batches[i].count; k++)
            sorted.items[sorted.count++] = (Item){&batches[i].changes[k], i};
    if (most > 1)
        qsort(sorted.items, most, sizeof sorted.items[0], compare_items);
    for (size_t i = 0; i < most; i++) {
        const Item *item = &sorted.items[i];
        RowGroup *group = i > 0 ? &sorted.groups[sorted.group_count - 1] : NULL;
        if (group == NULL || ends_group(group, bytes, item)) {
            group = &sorted.groups[sorted.group_count++];
            group->items = item;
            bytes = 0;
        }
        group->count++;
        bytes += item->change->change.column.size + item->change->change.value.size;
    }
    return sorted;
}

/* ---- Mutations ---------------------------------------------------------------------------------------------- */

static CqlPart part_of(const Cassandra *cassandra, const RowChange *row, Arena *arena)
{
    const Change *change = &row->change;
    CqlValue *values = ARENA_ARRAY(arena, 5, CqlValue);
    size_t count = 0;
    values[count++] = cassandra_bigint(change->timestamp, arena);
    if (!change->is_delete) {
        values[count++] = cassandra_int(change->ttl_s, arena);
        values[count++] = cql_bytes(change->value);
    }
    values[count++] = cql_bytes(row->row);
    values[count++] = cql_bytes(change->column);
    StatementKind kind = change->is_delete ? STATEMENT_DELETE : STATEMENT_PUT;
    return (CqlPart){cassandra_statement(cassandra, row->table, kind), values, count};
}

static CqlCall call_of(const Cassandra *cassandra, const RowGroup *group, Arena *arena)
{
    CqlPart *parts = ARENA_ARRAY(arena, group->count, CqlPart);
    for (size_t i = 0; i < group->count; i++)
        parts[i] = part_of(cassandra, group->items[i].change, arena);
    return (CqlCall){.kind = CQL_WRITE,
                     .parts = parts,
                     .part_count = group->count,
                     .routing_key = group->items[0].change->row,
                     .consistency = CQL_QUORUM};
}

/* ---- Answers ------------------------------------------------------------------------------------------------ */

/* What became of the rows of a batch so far. */
typedef struct Fate {
    bool done, perhaps, refused, invalid;
} Fate;

static void add_fate(Fate *fate, Status status)
{
    if (status == STATUS_OK)
        fate->done = true;
    else if (status == STATUS_UNKNOWN || status == STATUS_CORRUPT)
        fate->perhaps = true;
    else if (status == STATUS_INVALID || status == STATUS_TOO_LARGE)
        fate->invalid = true;
    else
        fate->refused = true;
}

static Status status_of(const Fate *fate)
{
    bool failed = fate->perhaps || fate->refused || fate->invalid;
    if (!failed)
        return STATUS_OK;
    if (fate->done || fate->perhaps)
        return STATUS_UNKNOWN;
    return fate->refused ? STATUS_UNAVAILABLE : STATUS_INVALID;
}

void cassandra_write_until(Cassandra *cassandra, const Batch *batches, size_t count,
                           int64_t until_us, Status *ret_statuses)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Sorted sorted = sort(batches, count, arena);
    CqlCall *calls = ARENA_ARRAY(arena, sorted.group_count, CqlCall);
    Status *statuses = ARENA_ARRAY(arena, sorted.group_count, Status);
    Fate *fates = ARENA_ARRAY(arena, count, Fate);
    for (size_t i = 0; i < sorted.group_count; i++)
        calls[i] = call_of(cassandra, &sorted.groups[i], arena);
    cassandra_run_writes(cassandra, calls, sorted.group_count, until_us, statuses);
    for (size_t i = 0; i < sorted.group_count; i++)
        for (size_t k = 0; k < sorted.groups[i].count; k++)
            add_fate(&fates[sorted.groups[i].items[k].batch], statuses[i]);
    for (size_t i = 0; i < count; i++)
        ret_statuses[i] = status_of(&fates[i]);
}

Status cassandra_write_many(Store *store, const Batch *batches, size_t count, Status *ret_statuses)
{
    Cassandra *cassandra = cassandra_of(store);
    cassandra_write_until(cassandra, batches, count, cassandra_until_us(cassandra), ret_statuses);
    return STATUS_OK;
}
