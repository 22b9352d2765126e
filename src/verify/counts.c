/* counts.c -- a bucket of a policy: its sum against its cells, its cells against the logs, and the plain rows against it.
 *
 * The sum is read before everything else and after it. When its ver is the same, nothing was taken in between, and all that was
 * read belongs together. */
#include "verify/verify_private.h"

/* One picture of a bucket. */
typedef struct Picture {
    Audit *audit;
    uint64_t policy;
    uint8_t bucket;
    Arena *arena;
    Slice row;
    Sum sum;
    int64_t held, changed; /* over the voters' cells, over the hours' */
    int64_t days[COUNT_DAYS];
    uint32_t day; /* that was last seen to be in the history */
} Picture;

/* Keys of differences. */
enum { KEY_SUM = 1, KEY_DAYS, KEY_TOTAL, KEY_CELL, KEY_HOUR, KEY_NO_HISTORY };

static uint64_t key_of(uint64_t what, uint64_t about)
{
    return what << 56 ^ about;
}

static Status read_sum(Picture *picture, Sum *ret_sum)
{
    Cell cell;
    Read read = {&TABLE_POLICY_VOTERS, picture->row, SLICE("sum"), STORE_SERIAL};
    Status status = store_read(picture->audit->options->store, &read, picture->arena, &cell);
    *ret_sum = (Sum){0};
    if (status == STATUS_NOT_FOUND)
        return STATUS_OK;
    TRY(status);
    return ledger_get_sum(cell.value, ret_sum);
}

/* ---- Cells of voters ------------------------------------------------------------------------------------------------ */

static void check_taken(Picture *picture, const EntryRead *read, const Taken *taken)
{
    const EntryChange *change = read->found ? audit_change(&read->entry, picture->policy) : NULL;
    if (change == NULL || change->held != taken->held)
        audit_differs(picture->audit, WRONG(VERIFY_POLICY_VOTERS, key_of(KEY_CELL, read->voter)),
                      "policy %llu has voter %llu with %lld as of entry %llu, which says otherwise",
                      (unsigned long long)picture->policy, (unsigned long long)read->voter,
                      (long long)taken->held, (unsigned long long)taken->seq);
}

static Status number_of(Slice column, uint64_t *ret_number)
{
    Reader reader = reader_of(slice_after(column, 2));
    *ret_number = reader_u64(&reader);
    return reader_done(&reader) ? STATUS_OK : STATUS_CORRUPT;
}

static Status check_voters_page(Picture *picture, const Page *page, Arena *arena)
{
    EntryRead *reads = ARENA_ARRAY(arena, page->count, EntryRead);
    Taken *taken = ARENA_ARRAY(arena, page->count, Taken);
    for (size_t i = 0; i < page->count; i++) {
        TRY(number_of(page->cells[i].column, &reads[i].voter));
        TRY(ledger_get_taken(page->cells[i].value, &taken[i]));
        reads[i].seq = taken[i].seq;
        picture->held += taken[i].held;
    }
    TRY(audit_entries(picture->audit, reads, page->count, arena));
    for (size_t i = 0; i < page->count; i++)
        check_taken(picture, &reads[i], &taken[i]);
    return STATUS_OK;
}

/* ---- Cells of hours ------------------------------------------------------------------------------------------------- */

/* A day on which something changed has a history; the history's own check goes on from there. */
static Status check_day(Picture *picture, uint32_t day, Arena *arena)
{
    Page page;
    Query query = {.table = &TABLE_POLICY_HISTORY,
                   .row =
                       ledger_history_row(arena, picture->audit->generation, picture->policy, day),
                   .limit = 1};
    if (day == picture->day)
        return STATUS_OK;
    picture->day = day;
    TRY(store_slice(picture->audit->options->store, &query, arena, &page));
    if (page.count == 0)
        audit_differs(picture->audit, WRONG(VERIFY_POLICY_HISTORY, key_of(KEY_NO_HISTORY, day)),
                      "policy %llu changed on day %u, and there is no history of it",
                      (unsigned long long)picture->policy, day);
    return STATUS_OK;
}

static void add_hour(Picture *picture, uint32_t hour, int64_t change)
{
    uint32_t day = hour / 24;
    picture->changed += change;
    if (day <= picture->sum.count.day && picture->sum.count.day - day < COUNT_DAYS)
        picture->days[picture->sum.count.day - day] += change;
}

static void check_hour_cell(Picture *picture, uint64_t hour, int64_t change,
                            const ReadAnswer *answer)
{
    int64_t shown = 0;
    bool readable =
        answer->status != STATUS_OK || ledger_get_number(answer->cell.value, &shown) == STATUS_OK;
    if (readable && shown == change)
        return;
    uint64_t ver = answer->status == STATUS_OK ? (uint64_t)answer->cell.timestamp : 0;
    Difference difference = WRONG(VERIFY_HOUR_CHANGES, key_of(KEY_HOUR, hour));
    if (ver < picture->sum.ver) {
        difference.have = ver;
        difference.need = picture->sum.ver;
    }
    audit_differs(picture->audit, difference,
                  "hour %llu shows %lld for bucket %u of policy %llu instead of %lld",
                  (unsigned long long)hour, (long long)shown, picture->bucket,
                  (unsigned long long)picture->policy, (long long)change);
}

static Status check_hours_page(Picture *picture, const Page *page, Arena *arena)
{
    Read *reads = ARENA_ARRAY(arena, page->count, Read);
    ReadAnswer *answers = ARENA_ARRAY(arena, page->count, ReadAnswer);
    char *column = arena_bytes(arena, 9);
    bytes_put_u64(column, picture->policy);
    column[8] = (char)picture->bucket;
    for (size_t i = 0; i < page->count; i++) {
        uint64_t hour;
        TRY(number_of(page->cells[i].column, &hour));
        reads[i] = (Read){&TABLE_HOUR_CHANGES,
                          ledger_hour_row(arena, picture->audit->generation, (uint32_t)hour,
                                          ledger_shard(picture->policy)),
                          slice_of(column, 9), STORE_NORMAL};
    }
    TRY(store_read_many(picture->audit->options->store, reads, page->count, arena, answers));
    for (size_t i = 0; i < page->count; i++) {
        uint64_t hour;
        int64_t change;
        TRY(number_of(page->cells[i].column, &hour));
        TRY(ledger_get_number(page->cells[i].value, &change));
        if (answers[i].status != STATUS_NOT_FOUND)
            TRY(answers[i].status);
        add_hour(picture, (uint32_t)hour, change);
        check_hour_cell(picture, hour, change, &answers[i]);
        if (change != 0)
            TRY(check_day(picture, (uint32_t)hour / 24, arena));
    }
    return STATUS_OK;
}

/* ---- The picture ---------------------------------------------------------------------------------------------------- */

typedef Status PageCheck(Picture *picture, const Page *page, Arena *arena);

/* All columns of a kind, page by page. */
static Status each_page(Picture *picture, char kind, PageCheck *check)
{
    char from[2] = {kind, '/'}, to[2] = {kind, '0'}, last[16];
    Query query = {.table = &TABLE_POLICY_VOTERS,
                   .row = picture->row,
                   .from = slice_of(from, 2),
                   .to = slice_of(to, 2),
                   .limit = PART_CELLS};
    for (bool more = true; more;) {
        ARENA_SCOPE Arena *arena = arena_new();
        Page page;
        TRY(store_slice(picture->audit->options->store, &query, arena, &page));
        TRY(check(picture, &page, arena));
        picture->audit->report.cells += page.count;
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

/* A total is the sum, as of its ver. */
static Status check_total(Picture *picture)
{
    Cell cell;
    Sum total = {0};
    Read read = {&TABLE_POLICY_TOTALS,
                 ledger_totals_row(picture->arena, picture->audit->generation, picture->policy),
                 slice_of(&picture->bucket, 1), STORE_NORMAL};
    Status status = store_read(picture->audit->options->store, &read, picture->arena, &cell);
    if (status == STATUS_OK && ledger_get_sum(cell.value, &total) != STATUS_OK)
        total.ver = 0;
    else if (status != STATUS_OK && status != STATUS_NOT_FOUND)
        return status;
    if (total.ver == picture->sum.ver &&
        memcmp(&total.count, &picture->sum.count, sizeof total.count) == 0)
        return STATUS_OK;
    Difference difference = WRONG(VERIFY_POLICY_TOTALS, KEY_TOTAL);
    if (total.ver < picture->sum.ver) {
        difference.have = total.ver;
        difference.need = picture->sum.ver;
    }
    audit_differs(
        picture->audit, difference,
        "policy %llu shows %lld in bucket %u as of change %llu instead of %lld as of %llu",
        (unsigned long long)picture->policy, (long long)total.count.total, picture->bucket,
        (unsigned long long)total.ver, (long long)picture->sum.count.total,
        (unsigned long long)picture->sum.ver);
    return STATUS_OK;
}

static Status take_picture(Picture *picture, bool *ret_stable)
{
    Sum again;
    picture->held = picture->changed = 0;
    picture->day = UINT32_MAX;
    memset(picture->days, 0, sizeof picture->days);
    TRY(read_sum(picture, &picture->sum));
    TRY(check_total(picture));
    TRY(each_page(picture, 'h', check_hours_page));
    TRY(each_page(picture, 'v', check_voters_page));
    const Count *count = &picture->sum.count;
    if (count->total != picture->held || count->total != picture->changed)
        audit_differs(picture->audit, WRONG(VERIFY_POLICY_VOTERS, KEY_SUM),
                      "policy %llu, bucket %u: the sum is %lld, voters hold %lld, hours add up to "
                      "%lld",
                      (unsigned long long)picture->policy, picture->bucket, (long long)count->total,
                      (long long)picture->held, (long long)picture->changed);
    if (memcmp(count->days, picture->days, sizeof count->days) != 0)
        audit_differs(picture->audit, WRONG(VERIFY_POLICY_VOTERS, KEY_DAYS),
                      "policy %llu, bucket %u: its changes by day are not those of its hours",
                      (unsigned long long)picture->policy, picture->bucket);
    TRY(read_sum(picture, &again));
    *ret_stable = again.ver == picture->sum.ver;
    return STATUS_OK;
}

Status check_bucket(Audit *audit, const Unit *unit, Arena *arena)
{
    Picture picture = {
        .audit = audit,
        .policy = unit->id,
        .bucket = (uint8_t)unit->number,
        .arena = arena,
        .row = ledger_count_row(arena, audit->generation, unit->id, (uint8_t)unit->number)};
    for (int i = 0; i < STABLE_TRIES; i++) {
        bool stable = true;
        Status status = take_picture(&picture, &stable);
        if (status == STATUS_CORRUPT)
            audit_differs(audit, WRONG(VERIFY_POLICY_VOTERS, 0),
                          "policy %llu, bucket %u: a cell cannot be read",
                          (unsigned long long)unit->id, unit->number);
        else
            TRY(status);
        if (stable)
            return STATUS_OK;
        audit_forget(audit);
    }
    audit->report.busy++;
    return STATUS_OK;
}

/* ---- The other direction: what is shown has a source ----------------------------------------------------------------- */

Status check_totals(Audit *audit, const Unit *unit, Arena *arena)
{
    Page page;
    Query query = {.table = &TABLE_POLICY_TOTALS,
                   .row = ledger_totals_row(arena, audit->generation, unit->id),
                   .limit = STORE_PAGE_MAX};
    TRY(store_slice(audit->options->store, &query, arena, &page));
    for (size_t i = 0; i < page.count; i++) {
        uint8_t bucket =
            page.cells[i].column.size == 1 ? (uint8_t)page.cells[i].column.data[0] : COUNT_BUCKETS;
        Cell cell;
        Read read = {&TABLE_POLICY_VOTERS,
                     ledger_count_row(arena, audit->generation, unit->id, bucket), SLICE("sum"),
                     STORE_SERIAL};
        Status status = store_read(audit->options->store, &read, arena, &cell);
        if (status == STATUS_NOT_FOUND)
            audit_differs(audit, WRONG(VERIFY_POLICY_TOTALS, bucket),
                          "policy %llu shows a total in bucket %u, which has no votes",
                          (unsigned long long)unit->id, bucket);
        else
            TRY(status);
    }
    return STATUS_OK;
}

/* A page of an hour's row: each cell is that of its bucket, unless the bucket has none. */
static Status check_hour_page(Audit *audit, const Unit *unit, const Page *page, Arena *arena)
{
    Read *reads = ARENA_ARRAY(arena, page->count, Read);
    ReadAnswer *answers = ARENA_ARRAY(arena, page->count, ReadAnswer);
    for (size_t i = 0; i < page->count; i++) {
        Reader column = reader_of(page->cells[i].column);
        uint64_t policy = reader_u64(&column);
        uint8_t bucket = reader_u8(&column);
        if (!reader_done(&column))
            return STATUS_CORRUPT;
        reads[i] =
            (Read){&TABLE_POLICY_VOTERS, ledger_count_row(arena, audit->generation, policy, bucket),
                   ledger_column(arena, 'h', unit->id), STORE_SERIAL};
    }
    TRY(store_read_many(audit->options->store, reads, page->count, arena, answers));
    for (size_t i = 0; i < page->count; i++) {
        Reader column = reader_of(page->cells[i].column);
        uint64_t policy = reader_u64(&column);
        if (answers[i].status == STATUS_NOT_FOUND || ledger_shard(policy) != unit->number)
            audit_differs(audit, WRONG(VERIFY_HOUR_CHANGES, policy),
                          "hour %llu shows a change of policy %llu, which had none",
                          (unsigned long long)unit->id, (unsigned long long)policy);
        else
            TRY(answers[i].status);
    }
    return STATUS_OK;
}

Status check_hour(Audit *audit, const Unit *unit, Arena *arena)
{
    char last[9];
    Query query = {
        .table = &TABLE_HOUR_CHANGES,
        .row = ledger_hour_row(arena, audit->generation, (uint32_t)unit->id, (uint8_t)unit->number),
        .limit = PART_CELLS};
    for (bool more = true; more;) {
        ARENA_SCOPE Arena *own = arena_new();
        Page page;
        TRY(store_slice(audit->options->store, &query, own, &page));
        Status status = check_hour_page(audit, unit, &page, own);
        if (status == STATUS_CORRUPT) {
            audit_differs(audit, WRONG(VERIFY_HOUR_CHANGES, 0), "hour %llu has a cell of nothing",
                          (unsigned long long)unit->id);
            return STATUS_OK;
        }
        TRY(status);
        audit->report.cells += page.count;
        more = page.more;
        if (more) {
            memcpy(last, page.cells[page.count - 1].column.data, sizeof last);
            query.after = slice_of(last, sizeof last);
            query.resume = true;
        }
    }
    return STATUS_OK;
}
