/* counts.c -- reading counts. */
#include "votes/inside.h"

Status votes_count(Votes *votes, uint64_t policy, Arena *arena, Count *ret_count)
{
    Count count = {0};
    Page page;
    Query query = {.table = &TABLE_POLICY_TOTALS,
                   .row = ledger_totals_row(arena, votes->generation, policy),
                   .limit = COUNT_BUCKETS};
    TRY(store_slice(votes->store, &query, arena, &page));
    for (size_t i = 0; i < page.count; i++) {
        Sum sum;
        TRY(ledger_get_sum(page.cells[i].value, &sum));
        count_add(&count, &sum.count);
    }
    *ret_count = count;
    return STATUS_OK;
}

/* One bucket's cells, page by page. */
static Status recount_bucket(Votes *votes, Slice row, Recount *recount)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Query query = {
        .table = &TABLE_POLICY_VOTERS, .row = row, .from = SLICE("sum"), .limit = STORE_PAGE_MOST};
    for (bool more = true; more;) {
        Page page;
        TRY(store_slice(votes->store, &query, arena, &page));
        for (size_t i = 0; i < page.count; i++) {
            Sum sum;
            Taken taken;
            if (slice_equal(page.cells[i].column, SLICE("sum"))) {
                TRY(ledger_get_sum(page.cells[i].value, &sum));
                recount->sums += sum.count.total;
            } else {
                TRY(ledger_get_taken(page.cells[i].value, &taken));
                recount->cells += taken.held;
                recount->voters += taken.held > 0;
            }
        }
        more = page.more;
        if (more) {
            static _Thread_local char last[STORE_COLUMN_MOST];
            Slice column = page.cells[page.count - 1].column;
            memcpy(last, column.data, column.size);
            query.after = slice_of(last, column.size);
            query.resume = true;
            arena_reset(arena);
        }
    }
    return STATUS_OK;
}

Status votes_recount(Votes *votes, uint64_t policy, Recount *ret_recount)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Recount recount = {0};
    for (uint8_t bucket = 0; bucket < COUNT_BUCKETS; bucket++)
        TRY(recount_bucket(votes, ledger_count_row(arena, votes->generation, policy, bucket),
                           &recount));
    *ret_recount = recount;
    return STATUS_OK;
}
