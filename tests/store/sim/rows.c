/* rows.c -- see rows.h. */
#include "store/sim/rows.h"

#include <stdlib.h>

/* ---- Versions -------------------------------------------------------------------------------------------- */

static Slice put_bytes(char *to, Slice bytes)
{
    if (bytes.size > 0)
        memcpy(to, bytes.data, bytes.size);
    return slice_of(to, bytes.size);
}

Version *version_new(const Change *change, bool stamped, int64_t now_us)
{
    Slice value = change->is_delete ? SLICE_EMPTY : change->value;
    Version *version = malloc(sizeof *version + change->column.size + value.size);
    CHECK(version != NULL);
    version->refs = 1;
    version->deleted = change->is_delete;
    version->stamped = stamped;
    version->timestamp = change->timestamp;
    version->death_us = change->is_delete    ? now_us
                        : change->ttl_s == 0 ? 0
                                             : now_us + change->ttl_s * US_PER_S;
    version->column = put_bytes(version->bytes, change->column);
    version->value = put_bytes(version->bytes + change->column.size, value);
    return version;
}

Version *version_keep(Version *version)
{
    version->refs++;
    return version;
}

void version_release(Version *version)
{
    if (--version->refs == 0)
        free(version);
}

/* On equal timestamps the higher kind wins: dead, then expiring, then living for ever. */
static int tie_kind(const Version *version, int64_t now_us)
{
    if (!version_alive(version, now_us))
        return 2;
    return version->death_us != 0;
}

bool version_wins(const Version *incoming, const Version *stored, int64_t now_us)
{
    if (incoming->timestamp != stored->timestamp)
        return incoming->timestamp > stored->timestamp;
    int incoming_kind = tie_kind(incoming, now_us), stored_kind = tie_kind(stored, now_us);
    if (incoming_kind != stored_kind)
        return incoming_kind > stored_kind;
    if (incoming_kind == 2) /* a delete outlasts a clock that steps back, an expiry does not */
        return incoming->deleted && !stored->deleted;
    if (incoming->death_us != stored->death_us)
        return incoming->death_us > stored->death_us;
    return slice_compare(incoming->value, stored->value) > 0;
}

bool version_forgotten(const Version *version, int64_t now_us, int64_t grace_us)
{
    if (version_alive(version, now_us))
        return false;
    int64_t later = version->death_us, end;
    if (version->stamped && version->timestamp > later)
        later = version->timestamp;
    return !__builtin_add_overflow(later, grace_us, &end) && now_us > end;
}

/* ---- Lists and sorted arrays ----------------------------------------------------------------------------- */

static void make_room(Cells *cells)
{
    if (cells->count < cells->capacity)
        return;
    cells->capacity = cells->capacity == 0 ? 4 : 2 * cells->capacity;
    cells->items = realloc(cells->items, cells->capacity * sizeof *cells->items);
    CHECK(cells->items != NULL);
}

void cells_add(Cells *cells, Version *version)
{
    make_room(cells);
    cells->items[cells->count++] = version_keep(version);
}

void cells_free(Cells *cells)
{
    for (size_t i = 0; i < cells->count; i++)
        version_release(cells->items[i]);
    free(cells->items);
    *cells = (Cells){0};
}

size_t cells_place(const Cells *cells, Slice column)
{
    size_t low = 0, high = cells->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (slice_compare(cells->items[middle]->column, column) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_at(const Cells *cells, size_t place, Slice column)
{
    return place < cells->count && slice_equal(cells->items[place]->column, column);
}

Version *cells_find(const Cells *cells, Slice column)
{
    size_t place = cells_place(cells, column);
    return is_at(cells, place, column) ? cells->items[place] : NULL;
}

void cells_apply(Cells *cells, Version *version, int64_t now_us)
{
    size_t place = cells_place(cells, version->column);
    if (is_at(cells, place, version->column)) {
        Version *stored = cells->items[place];
        if (stored == version || !version_wins(version, stored, now_us))
            return;
        cells->items[place] = version_keep(version);
        version_release(stored);
        return;
    }
    make_room(cells);
    memmove(&cells->items[place + 1], &cells->items[place],
            (cells->count - place) * sizeof *cells->items);
    cells->items[place] = version_keep(version);
    cells->count++;
}

void cells_compact(Cells *cells, int64_t now_us, int64_t grace_us)
{
    size_t kept = 0;
    for (size_t i = 0; i < cells->count; i++) {
        if (version_forgotten(cells->items[i], now_us, grace_us))
            version_release(cells->items[i]);
        else
            cells->items[kept++] = cells->items[i];
    }
    cells->count = kept;
}

/* The places [low, high) of what is in the range. */
static void find_bounds(const Cells *cells, const Range *range, size_t *ret_low, size_t *ret_high)
{
    size_t low = cells_place(cells, range->from), high = cells->count;
    if (range->exact)
        high = low + is_at(cells, low, range->from);
    else if (range->to.size > 0)
        high = cells_place(cells, range->to);
    if (range->resume) {
        size_t after = cells_place(cells, range->after);
        if (range->reverse && after < high)
            high = after;
        after += is_at(cells, after, range->after);
        if (!range->reverse && after > low)
            low = after;
    }
    *ret_low = low;
    *ret_high = high;
}

bool cells_collect(const Cells *cells, const Range *range, int64_t now_us, Cells *to)
{
    size_t low, high, living = 0;
    find_bounds(cells, range, &low, &high);
    while (low < high && living <= range->want) {
        Version *version = cells->items[range->reverse ? --high : low++];
        living += version_alive(version, now_us);
        cells_add(to, version);
    }
    return low >= high;
}

/* ---- Rows ------------------------------------------------------------------------------------------------ */

static uint64_t hash_of(const Table *table, Slice key)
{
    uint64_t hash = UINT64_C(0xCBF29CE484222325) ^ table->number;
    for (size_t i = 0; i < key.size; i++)
        hash = (hash ^ (unsigned char)key.data[i]) * UINT64_C(0x100000001B3);
    return hash ^ hash >> 29;
}

static Row **slot_of(Row **slots, size_t slot_count, const Table *table, Slice key, uint64_t hash)
{
    size_t at = hash & (slot_count - 1);
    while (slots[at] != NULL && (slots[at]->hash != hash || slots[at]->table != table ||
                                 !slice_equal(slots[at]->key, key)))
        at = (at + 1) & (slot_count - 1);
    return &slots[at];
}

static void grow(Rows *rows)
{
    size_t slot_count = rows->slot_count == 0 ? 256 : 2 * rows->slot_count;
    Row **slots = calloc(slot_count, sizeof *slots);
    CHECK(slots != NULL);
    for (size_t i = 0; i < rows->count; i++) {
        Row *row = rows->all[i];
        *slot_of(slots, slot_count, row->table, row->key, row->hash) = row;
    }
    free(rows->slots);
    rows->slots = slots;
    rows->slot_count = slot_count;
}

static Row *row_new(const Table *table, Slice key, uint64_t hash)
{
    Row *row = calloc(1, sizeof *row + key.size);
    CHECK(row != NULL);
    row->table = table;
    row->key = put_bytes((char *)(row + 1), key);
    row->hash = hash;
    row->contended_us = INT64_MIN / 2;
    return row;
}

Row *rows_get(Rows *rows, const Table *table, Slice key)
{
    uint64_t hash = hash_of(table, key);
    if (2 * rows->count >= rows->slot_count)
        grow(rows);
    Row **slot = slot_of(rows->slots, rows->slot_count, table, key, hash);
    if (*slot == NULL) {
        if (rows->count == rows->all_capacity) {
            rows->all_capacity = rows->all_capacity == 0 ? 64 : 2 * rows->all_capacity;
            rows->all = realloc(rows->all, rows->all_capacity * sizeof(Row *));
            CHECK(rows->all != NULL);
        }
        *slot = rows->all[rows->count++] = row_new(table, key, hash);
    }
    return *slot;
}

/* Scans go by the hash, as the tokens of a cluster do: the order says nothing about the keys. */
static int order(const Table *table, uint64_t hash, Slice key, const Row *row)
{
    if (table->number != row->table->number)
        return table->number < row->table->number ? -1 : 1;
    if (hash != row->hash)
        return hash < row->hash ? -1 : 1;
    return slice_compare(key, row->key);
}

static int compare_rows(const void *a, const void *b)
{
    const Row *left = *(Row *const *)a;
    return order(left->table, left->hash, left->key, *(Row *const *)b);
}

Row **rows_sorted(Rows *rows)
{
    if (rows->sorted < rows->count)
        qsort(rows->all, rows->count, sizeof(Row *), compare_rows);
    rows->sorted = rows->count;
    return rows->all;
}

size_t rows_place(Rows *rows, const Table *table, Slice key)
{
    uint64_t hash = key.size > 0 ? hash_of(table, key) : 0;
    Row **all = rows_sorted(rows);
    size_t low = 0, high = rows->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (order(table, hash, key, all[middle]) > 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void rows_free(Rows *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        for (int copy = 0; copy < SIM_COPIES; copy++)
            cells_free(&rows->all[i]->copies[copy]);
        free(rows->all[i]);
    }
    free(rows->all);
    free(rows->slots);
    *rows = (Rows){0};
}
