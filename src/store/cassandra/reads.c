/* reads.c -- cells and slices. A page is one answer of the cluster, so it is of one moment of the row.
 *
 * Cells point into the answer, which lives in the caller's arena: nothing is copied. */
#include "base/bytes.h"
#include "store/cassandra/cassandra_private.h"

/* ---- Cells of an answer ----------------------------------------------------------------------------------- */

CellColumns cassandra_columns(const CqlRows *rows)
{
    return (CellColumns){.row = cql_column(rows, "row"),
                         .column = cql_column(rows, "col"),
                         .value = cql_column(rows, "val"),
                         .timestamp = cql_column(rows, "writetime(val)")};
}

static const CqlValue *at(const CqlRows *rows, size_t index, int column)
{
    return &rows->values[index * rows->columns + (size_t)column];
}

Status cassandra_cell(const CqlRows *rows, const CellColumns *columns, size_t index, Cell *ret_cell)
{
    Cell cell = {.timestamp = 0};
    if (columns->value < 0 || at(rows, index, columns->value)->kind != CQL_BYTES)
        return STATUS_CORRUPT;
    cell.value = at(rows, index, columns->value)->bytes;
    if (columns->column >= 0)
        cell.column = at(rows, index, columns->column)->bytes;
    if (columns->timestamp >= 0) {
        Slice bytes = at(rows, index, columns->timestamp)->bytes;
        if (at(rows, index, columns->timestamp)->kind != CQL_BYTES || bytes.size != 8)
            return STATUS_CORRUPT;
        cell.timestamp = (int64_t)bytes_get_u64(bytes.data);
    }
    *ret_cell = cell;
    return STATUS_OK;
}

/* ---- One cell, or many -------------------------------------------------------------------------------------- */

static CqlConsistency consistency_of(ReadMode mode)
{
    return mode == STORE_SERIAL ? CQL_SERIAL : CQL_QUORUM;
}

static CqlCall call_of(const Cassandra *cassandra, const Read *read, Arena *arena)
{
    CqlValue *values = ARENA_ARRAY(arena, 2, CqlValue);
    CqlPart *part = ARENA_NEW(arena, CqlPart);
    values[0] = cql_bytes(read->row);
    values[1] = cql_bytes(read->column);
    *part = (CqlPart){cassandra_statement(cassandra, read->table, STATEMENT_READ), values, 2};
    return (CqlCall){.kind = CQL_READ,
                     .parts = part,
                     .part_count = 1,
                     .routing_key = read->row,
                     .consistency = consistency_of(read->mode)};
}

static Status answer_of(const CqlAnswer *answer, const Read *read, Arena *arena, Cell *ret_cell)
{
    Cell cell;
    TRY(cassandra_read_status(answer->status));
    if (answer->rows.count == 0)
        return STATUS_NOT_FOUND;
    CellColumns columns = cassandra_columns(&answer->rows);
    TRY(cassandra_cell(&answer->rows, &columns, 0, &cell));
    cell.column = arena_copy(arena, read->column);
    *ret_cell = cell;
    return STATUS_OK;
}

Status cassandra_read_many(Store *store, const Read *reads, size_t count, Arena *arena,
                           ReadAnswer *ret_answers)
{
    Cassandra *cassandra = cassandra_of(store);
    ARENA_SCOPE Arena *own = arena_new();
    CqlCall *calls = ARENA_ARRAY(own, count, CqlCall);
    CqlAnswer *answers = ARENA_ARRAY(own, count, CqlAnswer);
    for (size_t i = 0; i < count; i++)
        calls[i] = call_of(cassandra, &reads[i], own);
    cassandra_run(cassandra, calls, count, arena, answers);
    for (size_t i = 0; i < count; i++)
        ret_answers[i].status = answer_of(&answers[i], &reads[i], arena, &ret_answers[i].cell);
    return STATUS_OK;
}

Status cassandra_read(Store *store, const Read *read, Arena *arena, Cell *ret_cell)
{
    ReadAnswer answer;
    TRY(cassandra_read_many(store, read, 1, arena, &answer));
    if (answer.status == STATUS_OK)
        *ret_cell = answer.cell;
    return answer.status;
}

/* ---- Rows, up to a limit ------------------------------------------------------------------------------------ */

Status cassandra_select(Cassandra *cassandra, CqlCall call, CqlPart part, uint32_t *limit,
                        Arena *arena, CqlRows *ret_rows)
{
    ARENA_SCOPE Arena *own = arena_new();
    CqlValue *values = ARENA_ARRAY(own, part.count, CqlValue);
    CqlAnswer answer;
    memcpy(values, part.values, part.count * sizeof values[0]);
    part.values = values;
    call.kind = CQL_READ;
    call.parts = &part;
    call.part_count = 1;
    for (;;) {
        values[part.count - 1] = cassandra_int((int64_t)*limit + 1, own);
        cassandra_run(cassandra, &call, 1, arena, &answer);
        if (answer.status != STATUS_TOO_LARGE || *limit <= 1)
            break;
        *limit = *limit > 4 ? *limit / 4 : 1;
    }
    TRY(cassandra_read_status(answer.status));
    *ret_rows = answer.rows;
    return STATUS_OK;
}

/* ---- A slice ------------------------------------------------------------------------------------------------ */

/* Which statement, and its bounds in order; `after` only where it is narrower than the range itself. */
static StatementKind kind_of(const Query *query, Slice *bounds, size_t *ret_count)
{
    bool back = query->reverse, has_to = query->to.size > 0;
    Slice lower = query->from, upper = query->to;
    bool after = !back && query->resume && slice_compare(query->after, query->from) >= 0;
    if (after)
        lower = query->after;
    if (back && query->resume && (!has_to || slice_compare(query->after, query->to) < 0)) {
        upper = query->after;
        has_to = true;
    }
    bounds[0] = lower;
    bounds[1] = upper;
    *ret_count = has_to ? 2 : 1;
    if (back)
        return has_to ? STATEMENT_BACK_TO : STATEMENT_BACK;
    if (after)
        return has_to ? STATEMENT_AFTER_TO : STATEMENT_AFTER;
    return has_to ? STATEMENT_FROM_TO : STATEMENT_FROM;
}

static Status fill_page(const CqlRows *rows, uint32_t limit, Arena *arena, Page *ret_page)
{
    Page page = {.cells = ARENA_ARRAY(arena, rows->count, Cell)};
    CellColumns columns = cassandra_columns(rows);
    size_t bytes = 0;
    while (page.count < rows->count) {
        Cell *cell = &page.cells[page.count];
        TRY(cassandra_cell(rows, &columns, page.count, cell));
        bytes += cell->column.size + cell->value.size;
        page.more = page.count == limit || (page.count > 0 && bytes > STORE_PAGE_BYTES);
        if (page.more)
            break;
        page.count++;
    }
    *ret_page = page;
    return STATUS_OK;
}

/* A slice as a call; the limit is the last of its values. */
typedef struct Asked {
    CqlCall call;
    CqlPart part;
    CqlValue values[4];
    bool is_empty; /* nothing can be there */
} Asked;

static void ask_slice(const Cassandra *cassandra, const Query *query, Asked *asked)
{
    Slice bounds[2];
    size_t count;
    StatementKind kind = kind_of(query, bounds, &count);
    *asked = (Asked){
        .call = {.kind = CQL_READ,
                 .routing_key = query->row,
                 .consistency = consistency_of(query->mode)},
        .values = {cql_bytes(query->row), cql_bytes(bounds[0]), cql_bytes(bounds[1])},
        /* Nothing lies below the empty column; the server would take such a bound for none. */
        .is_empty =
            count == 2 && (bounds[1].size == 0 || slice_compare(bounds[0], bounds[1]) >= 0)};
    asked->part =
        (CqlPart){cassandra_statement(cassandra, query->table, kind), asked->values, count + 2};
}

Status cassandra_slice(Store *store, const Query *query, Arena *arena, Page *ret_page)
{
    Asked asked;
    uint32_t limit = query->limit;
    CqlRows rows;
    ask_slice(cassandra_of(store), query, &asked);
    if (asked.is_empty) {
        *ret_page = (Page){0};
        return STATUS_OK;
    }
    TRY(cassandra_select(cassandra_of(store), asked.call, asked.part, &limit, arena, &rows));
    return fill_page(&rows, limit, arena, ret_page);
}

/* One that is too large for an answer is asked for again, in smaller pieces. */
static Status page_of(Store *store, const Query *query, const CqlAnswer *answer, Arena *arena,
                      Page *ret_page)
{
    if (answer->status == STATUS_TOO_LARGE)
        return cassandra_slice(store, query, arena, ret_page);
    TRY(cassandra_read_status(answer->status));
    return fill_page(&answer->rows, query->limit, arena, ret_page);
}

void cassandra_slice_many(Store *store, const Query *queries, size_t count, Arena *arena,
                          PageAnswer *ret_answers)
{
    ARENA_SCOPE Arena *own = arena_new();
    Asked *asked = ARENA_ARRAY(own, count, Asked);
    CqlCall *calls = ARENA_ARRAY(own, count, CqlCall);
    CqlAnswer *answers = ARENA_ARRAY(own, count, CqlAnswer);
    size_t call_count = 0;
    for (size_t i = 0; i < count; i++) {
        ask_slice(cassandra_of(store), &queries[i], &asked[i]);
        asked[i].values[asked[i].part.count - 1] =
            cassandra_int((int64_t)queries[i].limit + 1, own);
        asked[i].call.parts = &asked[i].part;
        asked[i].call.part_count = 1;
        if (!asked[i].is_empty)
            calls[call_count++] = asked[i].call;
    }
    cassandra_run(cassandra_of(store), calls, call_count, arena, answers);
    call_count = 0;
    for (size_t i = 0; i < count; i++) {
        ret_answers[i] = (PageAnswer){.status = STATUS_OK};
        if (!asked[i].is_empty)
            ret_answers[i].status =
                page_of(store, &queries[i], &answers[call_count++], arena, &ret_answers[i].page);
    }
}
