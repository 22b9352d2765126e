/* chain_gaps.c -- the log of each register is one chain from 1 to its head: no gap, no branch, nothing behind the head. */
#include "chain.h"

enum { PAGE = 500 };

typedef struct Walk {
    uint64_t seq;
    Id last;
} Walk;

static void check_entry(Run *run, Slice row, const Cell *cell, Walk *walk, Arena *arena)
{
    Slice expected = chain_entry_column(walk->seq + 1, arena), value = cell->value;
    Slice before = slice_of(walk->last.bytes, walk->seq > 0 ? ID_BYTES : 0);
    if (!slice_equal(cell->column, expected))
        run_violated(run, "%.*s: %.*s stands where %.*s should", SLICE_ARG(row),
                     SLICE_ARG(cell->column), SLICE_ARG(expected));
    if (value.size < ID_BYTES || !slice_equal(slice_after(value, ID_BYTES), before))
        run_violated(run, "%.*s: %.*s does not follow the entry before it", SLICE_ARG(row),
                     SLICE_ARG(cell->column));
    if (value.size >= ID_BYTES)
        memcpy(walk->last.bytes, value.data, ID_BYTES);
    walk->seq++;
}

static void check_head(Run *run, Store *store, Slice row, const Walk *walk, Arena *arena)
{
    Read read = {&CHAIN_TABLE, row, SLICE("head"), STORE_SERIAL};
    Cell cell = {.value = SLICE_EMPTY};
    Status status = store_read(store, &read, arena, &cell);
    if (status == STATUS_NOT_FOUND && walk->seq == 0)
        return;
    Reader reader = reader_of(cell.value);
    uint64_t seq = reader_u64(&reader);
    Slice id = reader_rest(&reader);
    if (status != STATUS_OK || seq != walk->seq || !slice_equal(id, id_slice(&walk->last)))
        run_violated(run, "%.*s: the head says seq %llu, the log ends at %llu", SLICE_ARG(row),
                     (unsigned long long)seq, (unsigned long long)walk->seq);
}

/* After a repair normal reads see all, so the log can be read in pages. */
static void check_row(Run *run, Store *store, Slice row, Arena *arena)
{
    Query query = {.table = &CHAIN_TABLE, .row = row, .limit = PAGE};
    query.from = SLICE("z/"), query.to = SLICE("z0"), query.after = SLICE_EMPTY;
    Page page = {.more = true};
    Walk walk = {0};
    while (page.more) {
        Status status = store_slice(store, &query, arena, &page);
        if (status != STATUS_OK) {
            run_violated(run, "a healed cluster does not answer: %s", status_name(status));
            return;
        }
        for (size_t i = 0; i < page.count; i++)
            check_entry(run, row, &page.cells[i], &walk, arena);
        query.resume = true;
        query.after = page.count > 0 ? page.cells[page.count - 1].column : query.after;
    }
    check_head(run, store, row, &walk, arena);
}

static void check(Run *run, Store *store, Arena *arena)
{
    const Chain *chain = run_state(run);
    for (size_t i = 0; i < chain->row_count; i++) {
        check_row(run, store, chain->rows[i], arena);
        arena_reset(arena);
    }
}

const Checker CHECK_CHAIN_GAPS = {"no gaps", check};
