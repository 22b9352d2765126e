/* workload_check.c -- is everything there that was promised, and nothing that was refused? */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "workload.h"

/* One row as it stands, taken apart. */
typedef struct RowState {
    bool is_chain;
    uint32_t number;
    uint64_t *numbers; /* of the log entries, rising */
    uint64_t *versions;
    uint64_t *before; /* chains: the version that each follows */
    size_t logged, capacity;
    uint64_t body[WORKLOAD_BODY];
    size_t bodies;
    uint64_t head_seq, head_version; /* 0: no head */
} RowState;

static size_t findings;

static void found(const RowState *row, const char *format, ...) PRINTF_LIKE(2, 3);
static void found(const RowState *row, const char *format, ...)
{
    va_list arguments;
    if (++findings > 20)
        return;
    printf("%s %" PRIu32 ": ", row->is_chain ? "chain" : "row", row->number);
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    printf("\n");
}

static void grow(RowState *row)
{
    if (row->logged < row->capacity)
        return;
    row->capacity = row->capacity * 2 + 64;
    row->numbers = realloc(row->numbers, row->capacity * sizeof *row->numbers);
    row->versions = realloc(row->versions, row->capacity * sizeof *row->versions);
    row->before = realloc(row->before, row->capacity * sizeof *row->before);
    CHECK(row->numbers != NULL && row->versions != NULL && row->before != NULL);
}

static void take_log(RowState *row, const Cell *cell)
{
    grow(row);
    size_t i = row->logged;
    bool good = slice_to_u64(slice_after(cell->column, 4), &row->numbers[i]) == STATUS_OK;
    if (row->is_chain) {
        good &= workload_pair_parse(cell->value, &row->versions[i], &row->before[i]);
    } else {
        good &= workload_body_version(cell->value, &row->versions[i]);
        good &= row->versions[i] == row->numbers[i];
    }
    if (good)
        row->logged++;
    else
        found(row, "torn log entry %.*s", SLICE_ARG(cell->column));
}

static void take_cell(RowState *row, const Cell *cell)
{
    bool good = true;
    if (slice_starts_with(cell->column, SLICE("log/")))
        take_log(row, cell);
    else if (slice_equal(cell->column, SLICE("head")))
        good = workload_pair_parse(cell->value, &row->head_seq, &row->head_version);
    else if (cell->column.data[0] == 'b' && row->bodies < WORKLOAD_BODY)
        good = workload_body_version(cell->value, &row->body[row->bodies++]);
    else
        good = false;
    if (!good)
        found(row, "a cell that nobody wrote: %.*s", SLICE_ARG(cell->column));
}

/* An update that nobody knows the end of is settled by a serial read; the slices after it then see the same. */
static void settle_chain(Store *store, RowState *row, Arena *arena)
{
    Cell cell;
    Read read = {&WORKLOAD_CHAIN, workload_chain_row(row->number, arena), SLICE("head"),
                 STORE_SERIAL};
    Status status = store_read(store, &read, arena, &cell);
    if (status != STATUS_OK && status != STATUS_NOT_FOUND)
        found(row, "its head cannot be read: %s", status_name(status));
}

static void read_row(Store *store, RowState *row)
{
    ARENA_SCOPE Arena *arena = arena_new();
    if (row->is_chain)
        settle_chain(store, row, arena);
    Query query = {
        .table = row->is_chain ? &WORKLOAD_CHAIN : &WORKLOAD_PLAIN,
        .limit = STORE_PAGE_MAX,
    };
    Page page = {.more = true};
    while (page.more) {
        char last[64];
        query.row = row->is_chain ? workload_chain_row(row->number, arena)
                                  : workload_plain_row(row->number, arena);
        Status status = store_slice(store, &query, arena, &page);
        if (status != STATUS_OK) {
            found(row, "cannot be read: %s", status_name(status));
            return;
        }
        for (size_t i = 0; i < page.count; i++)
            take_cell(row, &page.cells[i]);
        if (page.count == 0)
            break;
        Slice column = page.cells[page.count - 1].column;
        CHECK(column.size <= sizeof last);
        memcpy(last, column.data, column.size);
        query.after = slice_of(last, column.size);
        query.resume = true;
        arena_reset(arena);
    }
}

/* What every row must satisfy, whatever was answered. */
static void check_whole(const RowState *row)
{
    if (row->logged == 0) {
        if (row->bodies != 0 || row->head_seq != 0)
            found(row, "half a batch: no log entry");
        return;
    }
    uint64_t newest = row->versions[row->logged - 1];
    if (row->bodies != WORKLOAD_BODY)
        found(row, "half a batch: %zu of %d cells", row->bodies, WORKLOAD_BODY);
    for (size_t i = 0; i < row->bodies; i++)
        if (row->body[i] != newest)
            found(row, "half a batch: cell %zu has version %" PRIu64 ", the log ends with %" PRIu64,
                  i, row->body[i], newest);
    if (!row->is_chain)
        return;
    if (row->head_seq != row->numbers[row->logged - 1] || row->head_version != newest)
        found(row, "the head says %" PRIu64 " %" PRIu64 ", the log ends with %" PRIu64 " %" PRIu64,
              row->head_seq, row->head_version, row->numbers[row->logged - 1], newest);
    for (size_t i = 0; i < row->logged; i++)
        if (row->numbers[i] != i + 1 || row->before[i] != (i == 0 ? 0 : row->versions[i - 1]))
            found(row, "a gap at sequence number %" PRIu64, row->numbers[i]);
}

/* Is the version there, under its own number (plain) or as link `seq` (chain)? */
static bool is_there(const RowState *row, uint64_t seq, uint64_t version)
{
    uint64_t number = row->is_chain ? seq : version;
    size_t low = 0, high = row->logged;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (row->numbers[middle] < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low < row->logged && row->numbers[low] == number && row->versions[low] == version;
}

static void check_mark(Store *store, const RowState *row, const Record *record)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Cell cell;
    Read read = {&WORKLOAD_PLAIN, workload_mark_row(row->number, arena),
                 workload_mark_column(record->version, arena), STORE_NORMAL};
    Status status = store_read(store, &read, arena, &cell);
    if (status != STATUS_OK)
        found(row, "version %" PRIu64 " is without its mark: %s", record->version,
              status_name(status));
}

static void check_record(Store *store, const RowState *row, const Record *record)
{
    bool there = is_there(row, record->seq, record->version);
    bool refused = record->status == STATUS_CONFLICT || record->status == STATUS_UNAVAILABLE;
    if (record->status == STATUS_OK && !there)
        found(row, "lost: %s sequence %" PRIu64 " version %" PRIu64,
              record->kind == RECORD_SEEN ? "seen" : "acknowledged", record->seq, record->version);
    if (refused && there)
        found(row, "refused (%s) and there: sequence %" PRIu64 " version %" PRIu64,
              status_name(record->status), record->seq, record->version);
    if (record->kind == RECORD_MARKED && record->status == STATUS_OK)
        check_mark(store, row, record);
}

static int by_row(const void *a, const void *b)
{
    const Record *left = a, *right = b;
    bool plain_left = left->kind == RECORD_PLAIN, plain_right = right->kind == RECORD_PLAIN;
    if (plain_left != plain_right)
        return plain_left ? -1 : 1;
    return left->row < right->row ? -1 : left->row > right->row;
}

/* Checks one row and its records, which stand at the beginning; returns how many those are. */
static size_t check_row(Store *store, const Record *key, const Record *records, size_t count)
{
    RowState row = {.is_chain = key->kind != RECORD_PLAIN, .number = key->row};
    size_t used = 0;
    read_row(store, &row);
    check_whole(&row);
    for (; used < count && by_row(key, &records[used]) == 0; used++)
        check_record(store, &row, &records[used]);
    free(row.numbers);
    free(row.versions);
    free(row.before);
    return used;
}

/* Every row that a workload may have, also those of which no answer was recorded. */
size_t workload_check(Store *store, const Record *records, size_t count)
{
    Record *sorted = malloc((count + 1) * sizeof *sorted);
    size_t done = 0;
    CHECK(sorted != NULL);
    memcpy(sorted, records, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, by_row);
    findings = 0;
    for (uint32_t i = 0; i < WORKLOAD_THREADS_MAX * WORKLOAD_ROWS; i++)
        done += check_row(store, &(Record){.kind = RECORD_PLAIN, .row = i}, sorted + done,
                          count - done);
    for (uint32_t i = 0; i < WORKLOAD_CHAINS; i++)
        done += check_row(store, &(Record){.kind = RECORD_CHAIN, .row = i}, sorted + done,
                          count - done);
    CHECK(done == count);
    free(sorted);
    return findings;
}
