/* scan.c -- whole tables, in the cluster's order: by the token of the row, then by the row.
 *
 * A position is ours and not the server's paging state, so that it outlives restarts on both sides: table | size of the row | row |
 * column, of the last cell that came. To go on: first what is left of that row, then rows of the same token (a stranger can choose
 * names so that two have one), then all rows with a later token. Each row's part of a page comes from one answer. */
#include "base/bytes.h"
#include "store/cassandra/cassandra_private.h"

enum { POSITION_HEAD = 4 };

typedef struct Scan {
    Cassandra *cassandra;
    const Table *table;
    Arena *arena;
    uint32_t limit;
    size_t bytes;
    bool full; /* what fits is in; there is more */
    ScanPage page;
} Scan;

/* ---- Positions ---------------------------------------------------------------------------------------------- */

static Slice position_of(const Table *table, const ScanCell *last, Arena *arena)
{
    Slice row = last->row, column = last->cell.column;
    char *bytes = arena_bytes(arena, POSITION_HEAD + row.size + column.size);
    bytes_put_u16(bytes, table->number);
    bytes_put_u16(bytes + 2, (uint16_t)row.size);
    memcpy(bytes + POSITION_HEAD, row.data, row.size);
    if (column.size > 0)
        memcpy(bytes + POSITION_HEAD + row.size, column.data, column.size);
    return slice_of(bytes, POSITION_HEAD + row.size + column.size);
}

static Status parse_position(const Table *table, Slice position, Slice *ret_row, Slice *ret_column)
{
    Reader reader = reader_of(position);
    bool ours = reader_u16(&reader) == table->number;
    Slice row = reader_bytes(&reader, reader_u16(&reader));
    Slice column = reader_rest(&reader);
    if (!ours || reader.failed || row.size == 0 || row.size > STORE_ROW_MAX ||
        column.size > STORE_COLUMN_MAX)
        return STATUS_INVALID;
    *ret_row = row;
    *ret_column = column;
    return STATUS_OK;
}

/* ---- Filling ------------------------------------------------------------------------------------------------ */

static Status select_rows(Scan *scan, StatementKind kind, const CqlValue *values, size_t count,
                          Slice row)
{
    uint32_t limit = scan->limit - (uint32_t)scan->page.count;
    CqlPart part = {cassandra_statement(scan->cassandra, scan->table, kind), values, count};
    CqlCall call = {.routing_key = row, .consistency = CQL_QUORUM};
    CqlRows rows;
    TRY(cassandra_select(scan->cassandra, call, part, &limit, scan->arena, &rows));
    /* Adds the rows of an answer that was asked for `limit` + 1; `row` is theirs where they do not say. */
    CellColumns columns = cassandra_columns(&rows);
    for (size_t i = 0; i < rows.count; i++) {
        ScanCell cell = {.row = row};
        TRY(cassandra_cell(&rows, &columns, i, &cell.cell));
        if (columns.row >= 0)
            cell.row = rows.values[i * rows.columns + (size_t)columns.row].bytes;
        scan->bytes += cell.row.size + cell.cell.column.size + cell.cell.value.size;
        scan->full = i == limit || (scan->page.count > 0 && scan->bytes > STORE_PAGE_BYTES);
        if (scan->full)
            break;
        scan->page.cells[scan->page.count++] = cell;
    }
    return STATUS_OK;
}

/* The cells of one row: behind `column`, or all of them. */
static Status add_row(Scan *scan, Slice row, const Slice *after)
{
    CqlValue values[3] = {cql_bytes(row), cql_bytes(after != NULL ? *after : SLICE_EMPTY)};
    return select_rows(scan, after != NULL ? STATEMENT_AFTER : STATEMENT_FROM, values, 3, row);
}

/* The first row behind `row` that has the same token; NOT_FOUND: none. */
static Status next_of_token(Scan *scan, Slice row, Slice *ret_row)
{
    CqlValue value = cql_bytes(row);
    CqlPart part = {cassandra_statement(scan->cassandra, scan->table, STATEMENT_SAME_TOKEN), &value,
                    1};
    CqlCall call = {.kind = CQL_READ,
                    .parts = &part,
                    .part_count = 1,
                    .routing_key = row,
                    .consistency = CQL_QUORUM};
    CqlAnswer answer;
    Slice found = {NULL, 0};
    cassandra_run(scan->cassandra, &call, 1, scan->arena, &answer);
    TRY(cassandra_read_status(answer.status));
    for (size_t i = 0; i < answer.rows.count; i++) {
        Slice other = answer.rows.values[i * answer.rows.columns].bytes;
        bool is_next = found.data == NULL || slice_compare(other, found) < 0;
        if (slice_compare(other, row) > 0 && is_next)
            found = other;
    }
    if (found.data == NULL)
        return STATUS_NOT_FOUND;
    *ret_row = found;
    return STATUS_OK;
}

static Status go_on(Scan *scan, Slice row, Slice column)
{
    Status status;
    TRY(add_row(scan, row, &column));
    while (!scan->full && (status = next_of_token(scan, row, &row)) != STATUS_NOT_FOUND) {
        TRY(status);
        TRY(add_row(scan, row, NULL));
    }
    if (scan->full)
        return STATUS_OK;
    CqlValue values[2] = {cql_bytes(row)};
    return select_rows(scan, STATEMENT_SCAN_AFTER, values, 2, SLICE_EMPTY);
}

Status cassandra_scan(Store *store, const Table *table, Slice position, uint32_t limit,
                      Arena *arena, ScanPage *ret_page)
{
    Slice row, column;
    Scan scan = {.cassandra = cassandra_of(store), .table = table, .arena = arena, .limit = limit};
    if (position.size > 0)
        TRY(parse_position(table, position, &row, &column));
    scan.page.cells = ARENA_ARRAY(arena, limit, ScanCell);
    CqlValue none = {0};
    TRY(position.size > 0 ? go_on(&scan, row, column)
                          : select_rows(&scan, STATEMENT_SCAN, &none, 1, SLICE_EMPTY));
    scan.page.more = scan.full;
    scan.page.position = scan.page.count > 0
                             ? position_of(table, &scan.page.cells[scan.page.count - 1], arena)
                             : SLICE_EMPTY;
    *ret_page = scan.page;
    return STATUS_OK;
}
