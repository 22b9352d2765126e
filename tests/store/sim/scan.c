/* scan.c -- all rows of a table, a page at a time. A page is taken from two machines at one moment; what they lack of each
 * other is repaired in that moment. The position is the last cell: table | length of the row | row | column. */
#include <stdlib.h>

#include "base/bytes.h"
#include "store/sim/cluster.h"

enum { POSITION_PREFIX = 4 };

typedef struct Item {
    Row *row;
    Version *version;
} Item;

struct Scan {
    const Table *table;
    Slice row, column; /* where it goes on; the row empty: from the beginning */
    char *bytes;
    size_t limit;
    Item *items;
    size_t count, capacity, page_bytes;
    bool more;
};

void scan_free(Scan *scan)
{
    if (scan == NULL)
        return;
    for (size_t i = 0; i < scan->count; i++)
        version_release(scan->items[i].version);
    free(scan->items);
    free(scan->bytes);
    free(scan);
}

/* ---- Taking a page --------------------------------------------------------------------------------------- */

/* False when the page is full. */
static bool take(Scan *scan, Row *row, Version *version)
{
    scan->page_bytes +=
        POSITION_PREFIX + row->key.size + version->column.size + version->value.size;
    if (scan->count == scan->limit || (scan->count > 0 && scan->page_bytes > STORE_PAGE_BYTES)) {
        scan->more = true;
        return false;
    }
    if (scan->count == scan->capacity) {
        scan->capacity = scan->capacity == 0 ? 16 : 2 * scan->capacity;
        scan->items = realloc(scan->items, scan->capacity * sizeof(Item));
        CHECK(scan->items != NULL);
    }
    scan->items[scan->count++] = (Item){row, version_keep(version)};
    return true;
}

static void repair_now(const Sim *sim, Row *row, int node, const Cells *missing)
{
    for (size_t i = 0; i < missing->count; i++)
        cells_apply(&row->copies[node], missing->items[i], node_now_us(sim, node));
}

/* Asks both machines for more and more until what they say is enough. */
static void merge_row(const Call *call, Row *row, Range *range, const int nodes[2], Merged *to)
{
    const Sim *sim = call->sim;
    int64_t now_us = node_now_us(sim, call->coordinator);
    do {
        Answer answers[2] = {{.node = nodes[0]}, {.node = nodes[1]}};
        merged_free(to);
        to->cut = false;
        for (int i = 0; i < 2; i++)
            answers[i].all = cells_collect(&row->copies[nodes[i]], range,
                                           node_now_us(sim, nodes[i]), &answers[i].cells);
        merge_answers(answers, range, now_us, sim->options.grace_s * US_PER_S, to);
        cells_free(&answers[0].cells);
        cells_free(&answers[1].cells);
        range->want = 2 * range->want + 16;
    } while (to->cut);
}

static bool take_row(const Call *call, Row *row, const int nodes[2])
{
    Scan *scan = call->scan;
    Range range = {.from = SLICE_EMPTY,
                   .to = SLICE_EMPTY,
                   .after = scan->column,
                   .resume = slice_equal(row->key, scan->row),
                   .want = scan->limit - scan->count + 1};
    Merged merged = {0};
    bool room = true;
    merge_row(call, row, &range, nodes, &merged);
    for (int i = 0; i < 2; i++)
        repair_now(call->sim, row, nodes[i], &merged.missing[i]);
    for (size_t i = 0; i < merged.living.count && room; i++)
        room = take(scan, row, merged.living.items[i]);
    merged_free(&merged);
    return room;
}

static void take_page(const Call *call, const int nodes[2])
{
    Rows *rows = &call->sim->rows;
    const Table *table = call->scan->table;
    Row **all = rows_sorted(rows);
    for (size_t i = rows_place(rows, table, call->scan->row); i < rows->count; i++)
        if (all[i]->table != table || !take_row(call, all[i], nodes))
            return;
}

/* ---- The message ----------------------------------------------------------------------------------------- */

typedef struct ScanQuery {
    SimEvent event;
    Call *call;
} ScanQuery;

static void ask_drop(SimEvent *event)
{
    call_release(((ScanQuery *)event)->call);
    free(event);
}

static void ask_answered(SimEvent *event)
{
    call_ack(((ScanQuery *)event)->call, 0);
    ask_drop(event);
}

/* Two machines that are up, by luck which. */
static bool choose_pair(const Call *call, int nodes[2])
{
    int first = (int)(sim_draw(call->sim->world, DRAW_FATE, call->key) % SIM_NODES), count = 0;
    for (int i = 0; i < SIM_NODES && count < 2; i++)
        if (node_up(call->sim, (first + i) % SIM_NODES))
            nodes[count++] = (first + i) % SIM_NODES;
    return count == 2;
}

static void ask_arrived(SimEvent *event)
{
    ScanQuery *ask = (ScanQuery *)event;
    Call *call = ask->call;
    int nodes[2];
    event->key.part |= 1;
    if (call->done || !choose_pair(call, nodes) ||
        sim_fires(call->sim->world, SIM_ANSWER, event->key, NULL)) {
        call_doom(call);
        ask_drop(event);
        return;
    }
    take_page(call, nodes);
    event->run = ask_answered;
    sim_schedule(call->sim->world, after_delay(call, event->key.part), event);
}

static void send_ask(Call *call)
{
    SimKey key = key_of(call, PART_SCAN);
    if (sim_fires(call->sim->world, SIM_DROP, key, NULL)) {
        call_doom(call);
        return;
    }
    ScanQuery *ask = malloc(sizeof *ask);
    CHECK(ask != NULL);
    *ask = (ScanQuery){{ask_arrived, ask_drop, key}, call_keep(call)};
    sim_schedule(call->sim->world, after_delay(call, key.part), &ask->event);
}

/* ---- The engine's call ----------------------------------------------------------------------------------- */

Slice scan_position(const Table *table, Slice row, Slice column, Arena *arena)
{
    char *bytes = arena_bytes(arena, POSITION_PREFIX + row.size + column.size);
    bytes_put_u16(bytes, table->number);
    bytes_put_u16(bytes + 2, (uint16_t)row.size);
    memcpy(bytes + POSITION_PREFIX, row.data, row.size);
    if (column.size > 0)
        memcpy(bytes + POSITION_PREFIX + row.size, column.data, column.size);
    return slice_of(bytes, POSITION_PREFIX + row.size + column.size);
}

Status scan_position_parse(const Table *table, Slice position, Slice *ret_row, Slice *ret_column)
{
    Reader reader = reader_of(position);
    uint16_t number = reader_u16(&reader);
    Slice row = reader_bytes(&reader, reader_u16(&reader)), column = reader_rest(&reader);
    if (reader.failed || number != table->number || row.size == 0 || row.size > STORE_ROW_MAX ||
        column.size > STORE_COLUMN_MAX)
        return STATUS_INVALID;
    *ret_row = row;
    *ret_column = column;
    return STATUS_OK;
}

static Scan *scan_new(const Table *table, Slice row, Slice column, uint32_t limit)
{
    Scan *scan = calloc(1, sizeof *scan);
    CHECK(scan != NULL);
    scan->table = table;
    scan->limit = limit;
    scan->bytes = malloc(row.size + column.size + 1);
    CHECK(scan->bytes != NULL);
    if (row.size > 0)
        memcpy(scan->bytes, row.data, row.size);
    if (column.size > 0)
        memcpy(scan->bytes + row.size, column.data, column.size);
    scan->row = slice_of(scan->bytes, row.size);
    scan->column = slice_of(scan->bytes + row.size, column.size);
    return scan;
}

static ScanPage page_of(const Scan *scan, Arena *arena)
{
    ScanPage page = {.cells = ARENA_ARRAY(arena, scan->count, ScanCell),
                     .count = scan->count,
                     .position = SLICE_EMPTY,
                     .more = scan->more};
    for (size_t i = 0; i < scan->count; i++) {
        const Item *item = &scan->items[i];
        bool same = i > 0 && scan->items[i - 1].row == item->row;
        page.cells[i] = (ScanCell){same ? page.cells[i - 1].row : arena_copy(arena, item->row->key),
                                   {arena_copy(arena, item->version->column),
                                    arena_copy(arena, item->version->value),
                                    item->version->stamped ? item->version->timestamp : 0}};
    }
    if (scan->count > 0) {
        const ScanCell *last = &page.cells[scan->count - 1];
        page.position = scan_position(scan->table, last->row, last->cell.column, arena);
    }
    return page;
}

Status sim_scan(Store *store, const Table *table, Slice position, uint32_t limit, Arena *arena,
                ScanPage *ret_page)
{
    Slice row = SLICE_EMPTY, column = SLICE_EMPTY;
    if (position.size > 0)
        TRY(scan_position_parse(table, position, &row, &column));
    Call *call = call_begin(store);
    if (call == NULL)
        return STATUS_UNAVAILABLE;
    Status status = STATUS_UNAVAILABLE;
    if (!call_refused(call)) {
        call->scan = scan_new(table, row, column, limit);
        call_expect(call, 1, 1, 1);
        send_ask(call);
        call_wait(call);
        if (call->parts[0].acks > 0) {
            *ret_page = page_of(call->scan, arena);
            status = STATUS_OK;
        }
    }
    call_end(call);
    return status;
}
