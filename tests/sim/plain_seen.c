/* plain_seen.c -- in the end every acknowledged write is seen by slices, and scans see the same rows as slices. */
#include "plain.h"

static size_t count_by_scan(Run *run, Store *store, Arena *arena)
{
    ScanPage page = {.position = SLICE_EMPTY, .more = true};
    size_t count = 0;
    while (page.more) {
        Status status = store_scan(store, &PLAIN_TABLE, page.position, 3, arena, &page);
        if (status != STATUS_OK) {
            run_violated(run, "a healed cluster does not answer: %s", status_name(status));
            break;
        }
        count += page.count;
    }
    return count;
}

static void check(Run *run, Store *store, Arena *arena)
{
    Plain *plain = run_state(run);
    size_t scanned = count_by_scan(run, store, arena), sliced = 0;
    for (size_t i = 0; i < plain->row_count; i++) {
        Query query = {.table = &PLAIN_TABLE, .row = plain->rows[i].key, .limit = 10};
        query.from = query.to = query.after = SLICE_EMPTY;
        Page page = {0};
        Status status = store_slice(store, &query, arena, &page);
        if (status != STATUS_OK)
            run_violated(run, "a healed cluster does not answer: %s", status_name(status));
        sliced += page.count;
        plain_look(run, store, &plain->rows[i], arena);
    }
    if (scanned != sliced)
        run_violated(run, "a scan sees %zu cells, slices see %zu", scanned, sliced);
}

const Checker CHECK_PLAIN_SEEN = {"seen", check};
