/* history.c -- a day of a policy's history: every cell against the log that it comes from, and their sums against the hours.
 *
 * This closes the circle: logs and history agree entry by entry, in both directions, so what the history adds up to by hour is what
 * the logs add up to, and no more than a day of one policy is in memory. */
#include "verify/verify_private.h"

enum { HOURS = 24 };

typedef struct Day {
    Audit *audit;
    uint64_t policy;
    uint32_t day;
    Arena *arena;
    int64_t changes[COUNT_BUCKETS][HOURS];
} Day;

/* What a bucket's numbers were before and after. */
typedef struct Vers {
    uint64_t sum[COUNT_BUCKETS], total[COUNT_BUCKETS];
} Vers;

static Status read_vers(const Day *day, Arena *arena, Vers *ret_vers)
{
    Read reads[2 * COUNT_BUCKETS];
    ReadAnswer answers[2 * COUNT_BUCKETS];
    for (uint8_t i = 0; i < COUNT_BUCKETS; i++) {
        char *bucket = arena_bytes(arena, 1);
        *bucket = (char)i;
        reads[2 * i] = (Read){&TABLE_POLICY_VOTERS,
                              ledger_count_row(arena, day->audit->generation, day->policy, i),
                              SLICE("sum"), STORE_SERIAL};
        reads[2 * i + 1] = (Read){&TABLE_POLICY_TOTALS,
                                  ledger_totals_row(arena, day->audit->generation, day->policy),
                                  slice_of(bucket, 1), STORE_NORMAL};
    }
    TRY(store_read_many(day->audit->options->store, reads, 2 * COUNT_BUCKETS, arena, answers));
    for (uint8_t i = 0; i < COUNT_BUCKETS; i++) {
        Sum sum = {0};
        for (int k = 0; k < 2; k++)
            if (answers[2 * i + k].status != STATUS_NOT_FOUND)
                TRY(answers[2 * i + k].status);
        if (answers[2 * i].status == STATUS_OK)
            TRY(ledger_get_sum(answers[2 * i].cell.value, &sum));
        ret_vers->sum[i] = sum.ver;
        ret_vers->total[i] = answers[2 * i + 1].status == STATUS_OK
                                 ? (uint64_t)answers[2 * i + 1].cell.timestamp
                                 : 0;
    }
    return STATUS_OK;
}

/* ---- Cells against logs ---------------------------------------------------------------------------------------------- */

typedef struct HistoryCell {
    uint64_t voter;
    int64_t change, held;
} HistoryCell;

static bool decode(Slice value, HistoryCell *ret_cell)
{
    Reader reader = reader_of(value);
    ret_cell->voter = reader_u64(&reader);
    ret_cell->change = reader_i64(&reader);
    ret_cell->held = reader_i64(&reader);
    return reader_done(&reader);
}

/* Adds the cell, or says what is wrong with it. */
static void check_cell(Day *day, const Cell *cell, const HistoryCell *said, const EntryRead *read)
{
    const EntryChange *change = read->found ? audit_change(&read->entry, day->policy) : NULL;
    if (change == NULL || !slice_equal(cell->column, id_slice(&read->entry.version)) ||
        change->held != said->held || change->held - change->before != said->change ||
        count_day(read->entry.time_us) != day->day) {
        audit_differs(day->audit, WRONG(VERIFY_POLICY_HISTORY, said->voter),
                      "the history of policy %llu on day %u has entry %llu of voter %llu, whose "
                      "log says otherwise",
                      (unsigned long long)day->policy, day->day, (unsigned long long)read->seq,
                      (unsigned long long)said->voter);
        return;
    }
    day->changes[ledger_shard(said->voter)][ledger_hour(read->entry.time_us) % HOURS] +=
        said->change;
}

static Status add_history(Day *day)
{
    char last[STORE_COLUMN_MAX];
    Query query = {
        .table = &TABLE_POLICY_HISTORY,
        .row = ledger_history_row(day->arena, day->audit->generation, day->policy, day->day),
        .limit = PART_CELLS};
    for (bool more = true; more;) {
        ARENA_SCOPE Arena *arena = arena_new();
        Page page;
        TRY(store_slice(day->audit->options->store, &query, arena, &page));
        EntryRead *reads = ARENA_ARRAY(arena, page.count, EntryRead);
        HistoryCell *cells = ARENA_ARRAY(arena, page.count, HistoryCell);
        for (size_t i = 0; i < page.count; i++) {
            if (!decode(page.cells[i].value, &cells[i]))
                cells[i].voter = 0; /* nobody: its log is not found */
            reads[i].voter = cells[i].voter;
            reads[i].seq = (uint64_t)page.cells[i].timestamp;
        }
        TRY(audit_entries(day->audit, reads, page.count, arena));
        for (size_t i = 0; i < page.count; i++)
            check_cell(day, &page.cells[i], &cells[i], &reads[i]);
        day->audit->report.cells += page.count;
        more = page.more;
        if (more) {
            Slice column = page.cells[page.count - 1].column;
            memcpy(last, column.data, column.size);
            query.after = slice_of(last, column.size);
            query.resume = true;
        }
    }
    return STATUS_OK;
}

/* ---- Sums against hours ---------------------------------------------------------------------------------------------- */

/* Entries that the bucket has taken may not be in the history yet: then its total is behind, too. */
static Status check_bucket_hours(Day *day, uint8_t bucket, const Vers *vers, Arena *arena)
{
    int64_t hours[HOURS];
    Page page;
    uint64_t first = (uint64_t)day->day * HOURS;
    Query query = {.table = &TABLE_POLICY_VOTERS,
                   .row = ledger_count_row(arena, day->audit->generation, day->policy, bucket),
                   .from = ledger_column(arena, 'h', first),
                   .to = ledger_column(arena, 'h', first + HOURS),
                   .limit = HOURS,
                   .mode = STORE_SERIAL};
    memset(hours, 0, HOURS * sizeof *hours);
    TRY(store_slice(day->audit->options->store, &query, arena, &page));
    for (size_t i = 0; i < page.count; i++) {
        Reader column = reader_of(slice_after(page.cells[i].column, 2));
        uint64_t hour = reader_u64(&column);
        if (!reader_done(&column))
            return STATUS_CORRUPT;
        TRY(ledger_get_number(page.cells[i].value, &hours[hour - first]));
    }
    for (uint32_t i = 0; i < HOURS; i++) {
        if (hours[i] == day->changes[bucket][i])
            continue;
        Difference difference = WRONG(VERIFY_POLICY_VOTERS, (uint64_t)bucket * HOURS + i);
        if (vers->total[bucket] < vers->sum[bucket]) {
            difference.have = vers->total[bucket];
            difference.need = vers->sum[bucket];
        }
        audit_differs(day->audit, difference,
                      "policy %llu, bucket %u, hour %u: a change of %lld; the logs add up to %lld",
                      (unsigned long long)day->policy, bucket, day->day * HOURS + i,
                      (long long)hours[i], (long long)day->changes[bucket][i]);
    }
    return STATUS_OK;
}

static Status look_at_day(Day *day, bool *ret_stable)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Vers before, after;
    memset(day->changes, 0, sizeof day->changes);
    TRY(read_vers(day, arena, &before));
    TRY(add_history(day));
    for (uint8_t bucket = 0; bucket < COUNT_BUCKETS; bucket++)
        TRY(check_bucket_hours(day, bucket, &before, arena));
    TRY(read_vers(day, arena, &after));
    *ret_stable = memcmp(before.sum, after.sum, sizeof before.sum) == 0;
    return STATUS_OK;
}

Status check_history(Audit *audit, const Unit *unit, Arena *arena)
{
    Day day = {.audit = audit, .policy = unit->id, .day = unit->number, .arena = arena};
    for (int i = 0; i < STABLE_TRIES; i++) {
        bool stable = true;
        Status status = look_at_day(&day, &stable);
        if (status == STATUS_CORRUPT)
            audit_differs(audit, WRONG(VERIFY_POLICY_VOTERS, 0),
                          "policy %llu: a cell of its counts cannot be read",
                          (unsigned long long)unit->id);
        else
            TRY(status);
        if (stable || audit->found.count == 0)
            return STATUS_OK;
        audit_forget(audit);
    }
    audit->report.busy++;
    return STATUS_OK;
}
