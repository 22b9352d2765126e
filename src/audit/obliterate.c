/* obliterate.c -- reasons that go with what they are about. See audit.h.
 *
 * An entry is found by the rows of the index that name its object, and written anew without its reason. It then expires when it would have, had
 * it been written with what is set now. */
#include "audit/audit_private.h"

enum { ENTRIES_A_PAGE = 100 };

static Status remove_reason(Audit *audit, Slice id, Arena *arena)
{
    Cell cell;
    RowChange change = {.table = &TABLE_AUDIT, .row = id};
    Read read = {&TABLE_AUDIT, id, AUDIT_ACT_COLUMN, STORE_NORMAL};
    Id made;
    bool has_reason = false;
    Slice value = SLICE_EMPTY;
    TRY(id_from_bytes(id, &made) == STATUS_OK ? STATUS_OK : STATUS_CORRUPT);
    Status status = store_read(audit->options.store, &read, arena, &cell);
    if (status == STATUS_NOT_FOUND) /* it was never wholly written, or has expired */
        return STATUS_OK;
    TRY(status);
    TRY(entry_without_reason(cell.value, arena, &value, &has_reason));
    if (!has_reason)
        return STATUS_OK;
    change.change = audit_cell(audit, AUDIT_ACT_COLUMN, value);
    int64_t age_us = change.change.timestamp - index_time_us(made);
    int64_t left_s = change.change.ttl_s - (age_us > 0 ? age_us / US_PER_S : 0);
    change.change.ttl_s = left_s > 0 ? left_s : 1;
    if (change.change.timestamp <= cell.timestamp)
        change.change.timestamp = cell.timestamp + 1;
    return store_write(audit->options.store, &(Batch){.changes = &change, .count = 1});
}

static Status remove_reasons(Audit *audit, const IndexRow *row, int64_t piece)
{
    ARENA_SCOPE Arena *kept = arena_new();
    ARENA_SCOPE Arena *arena = arena_new();
    Query query = {.table = &TABLE_AUDIT_INDEX,
                   .row = index_row(row, piece, kept),
                   .from = SLICE_EMPTY,
                   .to = SLICE_EMPTY,
                   .after = SLICE_EMPTY,
                   .limit = ENTRIES_A_PAGE};
    for (Page page = {.more = true}; page.more;) {
        arena_reset(arena);
        TRY(store_slice(audit->options.store, &query, arena, &page));
        for (size_t i = 0; i < page.count; i++)
            TRY(remove_reason(audit, page.cells[i].column, arena));
        if (page.count == 0)
            break;
        query.after = arena_copy(kept, page.cells[page.count - 1].column);
        query.resume = true;
    }
    return STATUS_OK;
}

Status audit_obliterate(Audit *audit, const char *object_kind, uint64_t object, int64_t since_us)
{
    static const int64_t APART_US = S_PER_DAY * US_PER_S; /* clocks differ */
    const IndexRow rows[] = {{INDEX_OBJECT, slice_from(object_kind), object},
                             {INDEX_OBJECT, SLICE(AUDIT_ABOUT_POLICY), object}};
    size_t count = strcmp(object_kind, "policy") == 0 ? 2 : 1;
    int64_t now_us = clock_now_us(audit->options.world.clock);
    int64_t oldest_us = now_us - AUDIT_DAYS_MAX * S_PER_DAY * US_PER_S;
    int64_t first = index_piece((since_us > oldest_us ? since_us : oldest_us) - APART_US);
    for (size_t i = 0; i < count; i++)
        for (int64_t piece = first; piece <= index_piece(now_us + APART_US); piece++)
            TRY(remove_reasons(audit, &rows[i], piece));
    return STATUS_OK;
}
