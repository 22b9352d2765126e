/* past.c -- the kept rankings of past days, against the hours that they are the sums of.
 *
 * The hours have been compared with the logs before. A kept day counts only while its digest of late marks is the one that the
 * ledger has (ranking/checkpoints.h); the others are rewritten by their task. Totals are added up once, hour by hour, through all days; they
 * take as much memory as the ranking itself. */
#include "ranking/checkpoints.h"
#include "verify/verify_private.h"

enum { FORMAT = 1, HOURS = 24 };

typedef struct Past {
    Audit *audit;
    Checkpoints bare; /* without any checkpoint: sums come from the hours alone */
    Totals totals;
    LateDay *late;
    size_t late_count;
} Past;

static uint64_t digest_of(const Past *past, uint32_t day)
{
    uint64_t digest = 0;
    for (size_t i = 0; i < past->late_count && past->late[i].day <= day; i++)
        digest = past->late[i].digest;
    return digest;
}

static Slice row_of(const Past *past, const uint32_t *day, Arena *arena)
{
    BUFFER_SCOPE Buffer row = {0};
    buffer_u32(&row, past->audit->generation);
    if (day != NULL)
        buffer_u32(&row, *day);
    return arena_copy(arena, buffer_slice(&row));
}

/* How many totals a page has; SIZE_MAX when one is not that of the hours. */
static size_t right_totals(const Past *past, Slice value, uint64_t digest)
{
    Reader reader = reader_of(value);
    size_t count = 0;
    if (reader_u8(&reader) != FORMAT || reader_u64(&reader) != digest)
        return SIZE_MAX;
    for (; !reader.failed && reader.rest.size > 0; count++) {
        uint64_t policy = reader_u64(&reader);
        if (reader_i64(&reader) != totals_of(&past->totals, policy))
            return SIZE_MAX;
    }
    return reader.failed ? SIZE_MAX : count;
}

static Status compare_day(Past *past, const Checkpoint *day, bool *ret_right)
{
    ARENA_SCOPE Arena *keys = arena_new();
    char last[8];
    size_t count = 0;
    Query query = {.table = &TABLE_RANK_CHECKPOINTS,
                   .row = row_of(past, &day->day, keys),
                   .limit = PART_CELLS};
    *ret_right = false;
    for (bool more = true; more;) {
        ARENA_SCOPE Arena *arena = arena_new();
        Page page;
        TRY(store_slice(past->audit->options->store, &query, arena, &page));
        for (size_t i = 0; i < page.count; i++) {
            size_t right = right_totals(past, page.cells[i].value, day->digest);
            if (right == SIZE_MAX || page.cells[i].column.size != sizeof last)
                return STATUS_OK;
            count += right;
            memcpy(last, page.cells[i].column.data, sizeof last);
        }
        more = page.more;
        query.after = slice_of(last, sizeof last);
        query.resume = true;
    }
    *ret_right = count == past->totals.count;
    return STATUS_OK;
}

/* Something late may have come in between: then this day and all after it do not count any more, and nothing follows. */
static Status tell_wrong(Past *past, const Checkpoint *day, Arena *arena, bool *ret_goes_on)
{
    Audit *audit = past->audit;
    TRY(votes_late_days(audit->options->votes, arena, &past->late, &past->late_count));
    *ret_goes_on = digest_of(past, day->day) == day->digest;
    if (*ret_goes_on)
        audit_fault(audit, VERIFY_RANK_CHECKPOINTS,
                    "the kept ranking of day %u is not what its hours add up to", day->day);
    return STATUS_OK;
}

static Status check_day(Past *past, const Checkpoint *day, Arena *arena, bool *ret_goes_on)
{
    bool right;
    uint32_t end = (day->day + 1) * HOURS;
    *ret_goes_on = true;
    if (day->digest != digest_of(past, day->day))
        return STATUS_OK;
    TRY(checkpoints_advance(&past->bare, &past->totals, end));
    TRY(compare_day(past, day, &right));
    return right ? STATUS_OK : tell_wrong(past, day, arena, ret_goes_on);
}

static Status check_days(Past *past, Arena *arena)
{
    Page page;
    Query query = {.table = &TABLE_RANK_CHECKPOINTS,
                   .row = row_of(past, NULL, arena),
                   .limit = STORE_PAGE_MAX};
    TRY(votes_late_days(past->audit->options->votes, arena, &past->late, &past->late_count));
    TRY(store_slice(past->audit->options->store, &query, arena, &page));
    bool goes_on = true;
    for (size_t i = 0; i < page.count && goes_on; i++) {
        Reader column = reader_of(page.cells[i].column), value = reader_of(page.cells[i].value);
        Checkpoint day = {.day = reader_u32(&column)};
        uint8_t format = reader_u8(&value);
        day.digest = reader_u64(&value);
        if (!reader_done(&column) || !reader_done(&value) || format != FORMAT)
            return STATUS_CORRUPT;
        TRY(check_day(past, &day, arena, &goes_on));
    }
    return STATUS_OK;
}

Status audit_past(Audit *audit)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Past past = {.audit = audit,
                 .bare = {.votes = audit->options->votes, .first_hour = audit->first_hour}};
    Status status = check_days(&past, arena);
    totals_free(&past.totals);
    if (status != STATUS_CORRUPT)
        return status;
    audit_fault(audit, VERIFY_RANK_CHECKPOINTS, "the list of kept rankings cannot be read");
    return STATUS_OK;
}
