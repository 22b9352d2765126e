/* counts.c -- reading counts.
 *
 * A count that is read beside marks comes from the rows that the projection updates conditionally, bucket by bucket: the sum, the
 * voters' cells, the sum again. Both reads of the sum having the same ver, nothing was taken in between. */
#include "votes/votes_private.h"

Status votes_count(Votes *votes, uint64_t policy, Arena *arena, Count *ret_count)
{
    Count count = {0};
    Page page;
    uint32_t generation;
    TRY(votes_current(votes, &generation));
    Query query = {.table = &TABLE_POLICY_TOTALS,
                   .row = ledger_totals_row(arena, generation, policy),
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

/* ---- A count and who is in it --------------------------------------------------------------------------------- */

static Status read_sum(Votes *votes, Slice row, Arena *arena, Sum *ret_sum)
{
    Cell cell;
    Read read = {&TABLE_POLICY_VOTERS, row, SLICE("sum"), STORE_SERIAL};
    Status status = store_read(votes->store, &read, arena, &cell);
    if (status == STATUS_NOT_FOUND) {
        *ret_sum = (Sum){0};
        return STATUS_OK;
    }
    TRY(status);
    return ledger_get_sum(cell.value, ret_sum);
}

static Status read_marks(Votes *votes, Slice row, CountMark **marks, size_t count, Arena *arena)
{
    Read *reads = ARENA_ARRAY(arena, count, Read);
    ReadAnswer *answers = ARENA_ARRAY(arena, count, ReadAnswer);
    for (size_t i = 0; i < count; i++)
        reads[i] = (Read){&TABLE_POLICY_VOTERS, row, ledger_column(arena, 'v', marks[i]->voter),
                          STORE_SERIAL};
    TRY(store_read_many(votes->store, reads, count, arena, answers));
    for (size_t i = 0; i < count; i++) {
        Taken taken = {0};
        if (answers[i].status == STATUS_OK)
            TRY(ledger_get_taken(answers[i].cell.value, &taken));
        else if (answers[i].status != STATUS_NOT_FOUND)
            return answers[i].status;
        marks[i]->taken = taken.seq >= marks[i]->seq;
    }
    return STATUS_OK;
}

/* Adds one bucket to the count. */
static Status add_bucket(Votes *votes, Slice row, CountMark **marks, size_t count, Arena *arena,
                         Count *to)
{
    enum { TRIES = 32 };
    Sum sum, again;
    TRY(read_sum(votes, row, arena, &again));
    for (int i = 0; i < TRIES; i++) {
        sum = again;
        if (count > 0) {
            TRY(read_marks(votes, row, marks, count, arena));
            TRY(read_sum(votes, row, arena, &again));
        }
        if (sum.ver == again.ver) {
            count_add(to, &sum.count);
            return STATUS_OK;
        }
    }
    return STATUS_UNAVAILABLE;
}

Status votes_count_marked(Votes *votes, uint64_t policy, CountMark *marks, size_t mark_count,
                          Arena *arena, Count *ret_count)
{
    Count count = {0};
    if (mark_count == 0)
        return votes_count(votes, policy, arena, ret_count);
    if (mark_count > STORE_MANY_MAX)
        return STATUS_UNAVAILABLE; /* projection is far behind */
    CountMark **part = ARENA_ARRAY(arena, mark_count, CountMark *);
    uint32_t generation;
    TRY(votes_current(votes, &generation));
    for (uint8_t bucket = 0; bucket < COUNT_BUCKETS; bucket++) {
        size_t part_count = 0;
        for (size_t i = 0; i < mark_count; i++)
            if (ledger_shard(marks[i].voter) == bucket)
                part[part_count++] = &marks[i];
        Slice row = ledger_count_row(arena, generation, policy, bucket);
        TRY(add_bucket(votes, row, part, part_count, arena, &count));
    }
    *ret_count = count;
    return STATUS_OK;
}

/* ---- All counts ------------------------------------------------------------------------------------------------ */

Status votes_scan_counts(Votes *votes, Slice position, Arena *arena, PolicyCount **ret_counts,
                         size_t *ret_count, Slice *ret_position, bool *ret_more)
{
    ScanPage page;
    uint32_t current;
    TRY(votes_current(votes, &current));
    TRY(store_scan(votes->store, &TABLE_POLICY_TOTALS, position, STORE_PAGE_MAX, arena, &page));
    PolicyCount *counts = ARENA_ARRAY(arena, page.count, PolicyCount);
    size_t count = 0;
    for (size_t i = 0; i < page.count; i++) {
        Reader row = reader_of(page.cells[i].row);
        uint32_t generation = reader_u32(&row);
        uint64_t policy = reader_u64(&row);
        Sum sum;
        if (!reader_done(&row))
            return STATUS_CORRUPT;
        if (generation != current)
            continue;
        TRY(ledger_get_sum(page.cells[i].cell.value, &sum));
        if (count == 0 || counts[count - 1].policy != policy)
            counts[count++].policy = policy;
        count_add(&counts[count - 1].count, &sum.count);
    }
    *ret_counts = counts;
    *ret_count = count;
    *ret_position = page.position;
    *ret_more = page.more;
    return STATUS_OK;
}

/* ---- Rows, page by page ----------------------------------------------------------------------------------------- */

Status votes_each_cell(Votes *votes, Query query, VotesCellVisit *visit, void *context)
{
    ARENA_SCOPE Arena *arena = arena_new();
    BUFFER_SCOPE Buffer after = {0};
    query.limit = STORE_PAGE_MAX;
    for (bool more = true; more;) {
        Page page;
        TRY(store_slice(votes->store, &query, arena, &page));
        for (size_t i = 0; i < page.count; i++)
            TRY(visit(context, &page.cells[i]));
        more = page.more;
        if (more) {
            buffer_clear(&after);
            buffer_bytes(&after, page.cells[page.count - 1].column);
            query.after = buffer_slice(&after);
            query.resume = true;
            arena_reset(arena);
        }
    }
    return STATUS_OK;
}

static Status recount_cell(void *context, const Cell *cell)
{
    Recount *recount = context;
    if (slice_equal(cell->column, SLICE("sum"))) {
        Sum sum;
        TRY(ledger_get_sum(cell->value, &sum));
        recount->sums += sum.count.total;
    } else {
        Taken taken;
        TRY(ledger_get_taken(cell->value, &taken));
        recount->cells += taken.held;
        recount->voters += taken.held > 0;
    }
    return STATUS_OK;
}

Status votes_recount(Votes *votes, uint64_t policy, Recount *ret_recount)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Recount recount = {0};
    uint32_t generation;
    TRY(votes_current(votes, &generation));
    for (uint8_t bucket = 0; bucket < COUNT_BUCKETS; bucket++)
        TRY(votes_each_cell(votes,
                            (Query){.table = &TABLE_POLICY_VOTERS,
                                    .row = ledger_count_row(arena, generation, policy, bucket),
                                    .from = SLICE("sum")},
                            recount_cell, &recount));
    *ret_recount = recount;
    return STATUS_OK;
}

typedef struct MarkVisit {
    VotesMarkVisit *visit;
    void *context;
} MarkVisit;

/* A column is second | policy; an older version of this program wrote the policy alone. */
static Status visit_mark(void *context, const Cell *cell)
{
    const MarkVisit *to = context;
    Reader reader = reader_of(cell->column);
    VotesMark mark = {.second = cell->column.size > 8 ? reader_u8(&reader) : 59};
    mark.policy = reader_u64(&reader);
    if (!reader_done(&reader))
        return STATUS_CORRUPT;
    to->visit(to->context, mark);
    return STATUS_OK;
}

enum { MARKS_AT_ONCE = 1000 };

/* The shards of a minute are asked for together: whoever follows other instances does this several times a second. */
Status votes_changed(Votes *votes, uint32_t minute, uint8_t from, VotesMarkVisit *visit,
                     void *context)
{
    ARENA_SCOPE Arena *arena = arena_new();
    MarkVisit to = {visit, context};
    Query queries[COUNT_BUCKETS];
    PageAnswer answers[COUNT_BUCKETS];
    for (uint8_t shard = 0; shard < COUNT_BUCKETS; shard++)
        queries[shard] = (Query){.table = &TABLE_CHANGED,
                                 .row = ledger_mark_row(arena, minute, shard),
                                 .from = slice_of(&from, from > 0 ? 1 : 0),
                                 .limit = MARKS_AT_ONCE};
    TRY(store_slice_many(votes->store, queries, COUNT_BUCKETS, arena, answers));
    for (uint8_t shard = 0; shard < COUNT_BUCKETS; shard++) {
        const Page *page = &answers[shard].page;
        TRY(answers[shard].status);
        for (size_t i = 0; i < page->count; i++)
            TRY(visit_mark(&to, &page->cells[i]));
        if (!page->more)
            continue;
        queries[shard].after = page->cells[page->count - 1].column;
        queries[shard].resume = true;
        TRY(votes_each_cell(votes, queries[shard], visit_mark, &to));
    }
    return STATUS_OK;
}

typedef struct ChangeVisit {
    VotesChangeVisit *visit;
    void *context;
} ChangeVisit;

static Status visit_change(void *context, const Cell *cell)
{
    const ChangeVisit *to = context;
    Reader reader = reader_of(cell->column);
    uint64_t policy = reader_u64(&reader);
    int64_t change;
    (void)reader_u8(&reader); /* the bucket */
    if (!reader_done(&reader))
        return STATUS_CORRUPT;
    TRY(ledger_get_number(cell->value, &change));
    to->visit(to->context, policy, change);
    return STATUS_OK;
}

Status votes_hour_changes(Votes *votes, uint32_t hour, VotesChangeVisit *visit, void *context)
{
    ARENA_SCOPE Arena *arena = arena_new();
    ChangeVisit to = {visit, context};
    uint32_t generation;
    TRY(votes_current(votes, &generation));
    for (uint8_t shard = 0; shard < COUNT_BUCKETS; shard++)
        TRY(votes_each_cell(votes,
                            (Query){.table = &TABLE_HOUR_CHANGES,
                                    .row = ledger_hour_row(arena, generation, hour, shard)},
                            visit_change, &to));
    return STATUS_OK;
}
