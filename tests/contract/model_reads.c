/* model_reads.c -- the random reads of model_run.h: cells, slices, and scans that go on while the rest happens. */
#include "model_run.h"

/* ---- Reads ------------------------------------------------------------------------------------------------- */

static ReadMode random_mode(size_t table)
{
    return table >= 2 && run_one_in(2) ? STORE_SERIAL : STORE_NORMAL;
}

static Read random_read(Place *ret_place)
{
    *ret_place = run_random_place(run_one_in(2) ? 0 : 2);
    return (Read){run_table_at(ret_place->table), model_row(ret_place->row),
                  model_column(ret_place->column), random_mode(ret_place->table)};
}

static void judge_read(Place place, Status status, const Cell *cell)
{
    if (status == STATUS_NOT_FOUND)
        run_observe(place, &(Sight){.value = SLICE_EMPTY});
    else if (status == STATUS_OK)
        run_observe(place, &(Sight){true, cell->value, cell->timestamp, false});
    else
        run_mismatch("the store says %s", status_name(status));
}

void run_read_one(void)
{
    Place place;
    Cell cell;
    Read read = random_read(&place);
    run.asked = SLICE("a read");
    Status status = store_read(run.store, &read, run.arena, &cell);
    judge_read(place, status, &cell);
}

void run_read_several(void)
{
    enum { MOST = 12 };
    Place places[MOST];
    Read reads[MOST];
    ReadAnswer answers[MOST];
    size_t count = run_below(MOST + 1);
    for (size_t i = 0; i < count; i++)
        reads[i] = random_read(&places[i]);
    run.asked = arena_print(run.arena, "%zu reads", count);
    run_expect_status(store_read_many(run.store, reads, count, run.arena, answers), STATUS_OK);
    for (size_t i = 0; i < count; i++)
        judge_read(places[i], answers[i].status, &answers[i].cell);
}

static Slice random_bound(void)
{
    static const Slice others[] = {{"A", 1}, {"b", 1}, {"\0\0", 2}, {"\xff\xfe", 2}};
    return run_one_in(4) ? others[run_below(4)] : model_column(run_below(MODEL_COLUMNS));
}

static Query random_query(Place *ret_place)
{
    *ret_place = run_random_place(run_one_in(2) ? 0 : 2);
    Query query = {.table = run_table_at(ret_place->table),
                   .row = model_row(ret_place->row),
                   .from = run_one_in(2) ? SLICE_EMPTY : random_bound(),
                   .to = run_one_in(2) ? SLICE_EMPTY : random_bound(),
                   .after = random_bound(),
                   .resume = run_one_in(3),
                   .reverse = run_one_in(2),
                   .limit =
                       (uint32_t)(run_one_in(3) ? STORE_PAGE_MAX : 1 + run_below(MODEL_COLUMNS))};
    query.mode = query.resume ? STORE_NORMAL : random_mode(ret_place->table);
    return query;
}

static bool in_query(const Query *query, Slice column)
{
    int beyond = query->resume ? slice_compare(column, query->after) : 0;
    return slice_compare(column, query->from) >= 0 &&
           (query->to.size == 0 || slice_compare(column, query->to) < 0) &&
           (!query->resume || (query->reverse ? beyond < 0 : beyond > 0));
}

/* Walks over the row as the store should have: each column of the range came, or is absent, or lies behind the page. */
void run_judge_slice(const Query *query, Place place, const Page *page)
{
    size_t next = 0;
    bool more_possible = false;
    for (size_t i = 0; i < MODEL_COLUMNS; i++) {
        place.column = query->reverse ? MODEL_COLUMNS - 1 - i : i;
        Slice column = model_column(place.column);
        if (!in_query(query, column))
            continue;
        if (next < page->count && slice_equal(page->cells[next].column, column)) {
            const Cell *cell = &page->cells[next++];
            run_observe(place, &(Sight){true, cell->value, cell->timestamp, false});
        } else if (next == page->count && page->more) {
            more_possible |= model_may_be_present(&run.model, run_cell_at(place));
        } else {
            run_observe(place, &(Sight){.value = SLICE_EMPTY});
        }
    }
    if (next != page->count)
        run_mismatch("cell %zu of %zu is out of order or of range", next, page->count);
    if (page->more && (!more_possible || page->count != query->limit))
        run_mismatch("the store says more after %zu cells, the model knows none", page->count);
    if (page->count > query->limit)
        run_mismatch("%zu cells, and the limit is %u", page->count, query->limit);
}

void run_slice_row(void)
{
    Place place;
    Page page;
    Query query = random_query(&place);
    run.asked = arena_print(run.arena, "a slice of row %zu%s, limit %u", place.row,
                            query.reverse ? " in reverse" : "", query.limit);
    run_expect_status(store_slice(run.store, &query, run.arena, &page), STATUS_OK);
    run_judge_slice(&query, place, &page);
}

/* ---- Scans ------------------------------------------------------------------------------------------------- */

static void begin_scan(Scan *scan, size_t table)
{
    *scan = (Scan){.running = true, .row = MODEL_ROWS};
    for (size_t r = 0; r < MODEL_ROWS; r++)
        for (size_t c = 0; c < MODEL_COLUMNS; c++)
            scan->must[r][c] = !model_may_be_absent(&run.model, &run.model.cells[table][r][c]);
}

void run_watch_scans(void)
{
    for (size_t t = 0; t < MODEL_TABLES; t++)
        for (size_t r = 0; run.scans[t].running && r < MODEL_ROWS; r++)
            for (size_t c = 0; c < MODEL_COLUMNS; c++)
                run.scans[t].must[r][c] &=
                    !model_may_be_absent(&run.model, &run.model.cells[t][r][c]);
}

static void judge_scanned(Scan *scan, size_t table, const ScanCell *cell)
{
    Place place = {.table = table};
    if (!model_find(cell->row, cell->cell.column, &place.row, &place.column))
        run_mismatch("the scan brought a cell that nobody wrote");
    run_observe(place, &(Sight){true, cell->cell.value, cell->cell.timestamp, false});
    bool same_row = scan->row == place.row;
    if (scan->left[place.row] || (same_row && scan->column >= place.column))
        run_mismatch("row %zu, column %zu came again or out of order", place.row, place.column);
    if (!same_row && scan->row < MODEL_ROWS)
        scan->left[scan->row] = true;
    scan->row = place.row;
    scan->column = place.column;
    scan->seen[place.row][place.column] = true;
}

static void end_scan(Scan *scan)
{
    for (size_t r = 0; r < MODEL_ROWS; r++)
        for (size_t c = 0; c < MODEL_COLUMNS; c++)
            if (scan->must[r][c] && !scan->seen[r][c])
                run_mismatch("the scan missed row %zu, column %zu, which was there all the time", r,
                             c);
    scan->running = false;
}

void run_scan_on(void)
{
    size_t table = run_below(MODEL_TABLES);
    Scan *scan = &run.scans[table];
    ScanPage page;
    uint32_t limit = (uint32_t)(1 + run_below(12));
    if (!scan->running)
        begin_scan(scan, table);
    run.asked = arena_print(run.arena, "a scan of %s, limit %u", run_table_at(table)->name, limit);
    run_expect_status(store_scan(run.store, run_table_at(table),
                                 slice_of(scan->position, scan->position_size), limit, run.arena,
                                 &page),
                      STATUS_OK);
    if (page.count > limit || page.position.size > sizeof scan->position)
        run_mismatch("%zu cells, position of %zu bytes", page.count, page.position.size);
    for (size_t i = 0; i < page.count; i++)
        judge_scanned(scan, table, &page.cells[i]);
    scan->position_size = page.position.size;
    if (page.position.size > 0)
        memcpy(scan->position, page.position.data, page.position.size);
    if (!page.more)
        end_scan(scan);
}
