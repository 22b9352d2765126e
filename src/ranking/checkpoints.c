/* checkpoints.c -- see checkpoints.h. */
#include "ranking/checkpoints.h"

#include <stdlib.h>

#include "base/bytes.h"

enum { FORMAT = 1, PAGE_IDS = 1024, BATCH_PAGES = 64, HOURS_A_DAY = 24 };
/* Applying hours is cheaper than reading a checkpoint that is less than this ahead. */
enum { JUMP_HOURS = 2 * HOURS_A_DAY };

/* ---- Totals ------------------------------------------------------------------------------------------------------- */

void totals_free(Totals *totals)
{
    free(totals->list);
    map_free(&totals->places);
    *totals = (Totals){.changed = totals->changed, .context = totals->context};
}

int64_t totals_of(const Totals *totals, uint64_t policy)
{
    uint64_t place = map_get(&totals->places, policy);
    return place == 0 ? 0 : totals->list[place - 1].total;
}

static void add_total(Totals *totals, uint64_t policy, int64_t change)
{
    uint64_t place = map_get(&totals->places, policy);
    if (place == 0) {
        if (totals->count == totals->room) {
            totals->room = 2 * totals->room + 64;
            totals->list = realloc(totals->list, totals->room * sizeof *totals->list);
            CHECK(totals->list != NULL);
        }
        totals->list[totals->count++] = (PolicyTotal){.policy = policy};
        place = totals->count;
        map_put(&totals->places, policy, place);
    }
    totals->list[place - 1].total += change;
}

static void add_change(void *context, uint64_t policy, int64_t change)
{
    Totals *totals = context;
    add_total(totals, policy, change);
    if (totals->changed != NULL)
        totals->changed(totals->context, policy, change);
}

/* ---- Which there are ------------------------------------------------------------------------------------------------ */

static Slice row_key(const Checkpoints *checkpoints, const uint32_t *day, Arena *arena)
{
    BUFFER_SCOPE Buffer buffer = {0};
    buffer_u32(&buffer, checkpoints->generation);
    if (day != NULL)
        buffer_u32(&buffer, *day);
    return arena_copy(arena, buffer_slice(&buffer));
}

static uint64_t digest_of(const Checkpoints *checkpoints, uint32_t day)
{
    uint64_t digest = 0;
    for (size_t i = 0; i < checkpoints->late_count && checkpoints->late[i].day <= day; i++)
        digest = checkpoints->late[i].digest;
    return digest;
}

static Status decode_day(const Cell *cell, Checkpoint *ret_day)
{
    Reader column = reader_of(cell->column), value = reader_of(cell->value);
    Checkpoint day = {.day = reader_u32(&column)};
    uint8_t format = reader_u8(&value);
    day.digest = reader_u64(&value);
    if (!reader_done(&column) || !reader_done(&value) || format != FORMAT)
        return STATUS_CORRUPT;
    *ret_day = day;
    return STATUS_OK;
}

/* Late days first: a mark that is seen here has its hours written, and one that comes later changes the digest. Checkpoints of
 * the last 27 years fit on a page; what is older can do without. */
Status checkpoints_open(Ranking *ranking, Votes *votes, int64_t first_us, Arena *arena,
                        Checkpoints *ret_checkpoints)
{
    Checkpoints checkpoints = {
        .ranking = ranking, .votes = votes, .generation = votes_generation(votes)};
    Page page;
    checkpoints.first_hour =
        first_us == INT64_MAX ? UINT32_MAX : (uint32_t)(first_us / (3600 * US_PER_S));
    TRY(votes_late_days(votes, arena, &checkpoints.late, &checkpoints.late_count));
    Query query = {.table = &TABLE_RANK_CHECKPOINTS,
                   .row = row_key(&checkpoints, NULL, arena),
                   .limit = STORE_PAGE_MAX,
                   .reverse = true};
    TRY(store_slice(ranking->store, &query, arena, &page));
    checkpoints.days = ARENA_ARRAY(arena, page.count, Checkpoint);
    for (size_t i = page.count; i-- > 0;) {
        Checkpoint day;
        TRY(decode_day(&page.cells[i], &day));
        if (day.digest == digest_of(&checkpoints, day.day))
            checkpoints.days[checkpoints.count++] = day;
    }
    *ret_checkpoints = checkpoints;
    return STATUS_OK;
}

bool checkpoints_has(const Checkpoints *checkpoints, uint32_t day)
{
    for (size_t i = 0; i < checkpoints->count; i++)
        if (checkpoints->days[i].day == day)
            return true;
    return false;
}

/* ---- Reading -------------------------------------------------------------------------------------------------------- */

/* CONFLICT when somebody is rewriting it. */
static Status read_page(Slice value, uint64_t digest, Totals *totals)
{
    Reader reader = reader_of(value);
    uint8_t format = reader_u8(&reader);
    if (reader_u64(&reader) != digest)
        return STATUS_CONFLICT;
    while (!reader.failed && reader.rest.size > 0) {
        uint64_t policy = reader_u64(&reader);
        add_total(totals, policy, reader_i64(&reader));
    }
    return reader_done(&reader) && format == FORMAT ? STATUS_OK : STATUS_CORRUPT;
}

static Status read_checkpoint(const Checkpoints *checkpoints, const Checkpoint *day, Totals *totals)
{
    ARENA_SCOPE Arena *keys = arena_new();
    char last[8];
    Query query = {.table = &TABLE_RANK_CHECKPOINTS,
                   .row = row_key(checkpoints, &day->day, keys),
                   .limit = STORE_PAGE_MAX};
    totals_free(totals);
    for (bool more = true; more;) {
        ARENA_SCOPE Arena *arena = arena_new();
        Page page;
        TRY(store_slice(checkpoints->ranking->store, &query, arena, &page));
        for (size_t i = 0; i < page.count; i++) {
            if (page.cells[i].column.size != sizeof last)
                return STATUS_CORRUPT;
            memcpy(last, page.cells[i].column.data, sizeof last);
            TRY(read_page(page.cells[i].value, day->digest, totals));
        }
        more = page.more;
        query.after = slice_of(last, sizeof last);
        query.resume = true;
    }
    totals->hours = (day->day + 1) * HOURS_A_DAY;
    totals->jumped = true;
    return STATUS_OK;
}

/* The place + 1 of the last checkpoint that is not after the moment and worth the jump; 0 without one. */
static size_t find_jump(const Checkpoints *checkpoints, uint32_t from, uint32_t hours)
{
    for (size_t i = checkpoints->count; i > 0; i--) {
        uint32_t end = (checkpoints->days[i - 1].day + 1) * HOURS_A_DAY;
        if (end <= hours)
            return end > from && (from == 0 || end - from > JUMP_HOURS) ? i : 0;
    }
    return 0;
}

/* An hour, or a whole day. Up to the last day that has a checkpoint all hours are over, and whatever comes into them later changes the digest:
 * they are remembered. */
static Status advance_some(const Checkpoints *checkpoints, Totals *totals, uint32_t hours)
{
    uint32_t day = totals->hours / HOURS_A_DAY;
    HourSpan span = {checkpoints->generation, totals->hours, 1, digest_of(checkpoints, day)};
    if (checkpoints->count == 0 || checkpoints->days[checkpoints->count - 1].day < day) {
        TRY(votes_hour_changes(checkpoints->votes, totals->hours, add_change, totals));
    } else {
        if (totals->hours % HOURS_A_DAY == 0 && hours - totals->hours >= HOURS_A_DAY)
            span.count = HOURS_A_DAY;
        TRY(hour_cache_changes(checkpoints->ranking->hour_cache, checkpoints->votes, &span,
                               add_change, totals));
    }
    totals->hours += span.count;
    return STATUS_OK;
}

Status checkpoints_advance(Checkpoints *checkpoints, Totals *totals, uint32_t hours)
{
    CHECK(totals->hours <= hours);
    for (size_t jump; (jump = find_jump(checkpoints, totals->hours, hours)) != 0;) {
        Checkpoint *day = &checkpoints->days[jump - 1];
        Status status = read_checkpoint(checkpoints, day, totals);
        if (status == STATUS_OK)
            break;
        if (status != STATUS_CONFLICT)
            return status;
        totals_free(totals);
        totals->jumped = true; /* what was heard before is not in it any more */
        memmove(day, day + 1, (checkpoints->count - jump) * sizeof *day);
        checkpoints->count--;
    }
    if (totals->hours < checkpoints->first_hour)
        totals->hours = checkpoints->first_hour < hours ? checkpoints->first_hour : hours;
    while (totals->hours < hours)
        TRY(advance_some(checkpoints, totals, hours));
    return STATUS_OK;
}

/* ---- Writing -------------------------------------------------------------------------------------------------------- */

static int by_policy(const void *a, const void *b)
{
    const PolicyTotal *left = a, *right = b;
    return (left->policy > right->policy) - (left->policy < right->policy);
}

/* The page that begins at `list`; returns how many totals are on it. */
static size_t put_page(Buffer *to, uint64_t digest, const PolicyTotal *list, size_t count)
{
    size_t on_page = 0;
    buffer_u8(to, FORMAT);
    buffer_u64(to, digest);
    for (; on_page < count && list[on_page].policy / PAGE_IDS == list[0].policy / PAGE_IDS;
         on_page++) {
        buffer_u64(to, list[on_page].policy);
        buffer_i64(to, list[on_page].total);
    }
    return on_page;
}

static Slice encoded(Buffer *buffer, Arena *arena)
{
    Slice copy = arena_copy(arena, buffer_slice(buffer));
    buffer_clear(buffer);
    return copy;
}

/* As many pages as a batch takes; `*at` moves on. */
static Status write_batch(const Checkpoints *checkpoints, uint32_t day, const PolicyTotal *list,
                          size_t count, size_t *at)
{
    ARENA_SCOPE Arena *arena = arena_new();
    BUFFER_SCOPE Buffer buffer = {0};
    RowChange changes[BATCH_PAGES];
    size_t pages = 0;
    Slice row = row_key(checkpoints, &day, arena);
    int64_t now_us = clock_now_us(checkpoints->ranking->world.clock);
    while (pages < BATCH_PAGES && *at < count) {
        buffer_u64(&buffer, list[*at].policy / PAGE_IDS);
        Slice column = encoded(&buffer, arena);
        *at += put_page(&buffer, digest_of(checkpoints, day), list + *at, count - *at);
        changes[pages++] =
            (RowChange){&TABLE_RANK_CHECKPOINTS,
                        row,
                        {.column = column, .value = encoded(&buffer, arena), .timestamp = now_us}};
    }
    return store_write(checkpoints->ranking->store, &(Batch){changes, pages, true});
}

static Status write_day(const Checkpoints *checkpoints, uint32_t day)
{
    ARENA_SCOPE Arena *arena = arena_new();
    BUFFER_SCOPE Buffer buffer = {0};
    buffer_u32(&buffer, day);
    Slice column = encoded(&buffer, arena);
    buffer_u8(&buffer, FORMAT);
    buffer_u64(&buffer, digest_of(checkpoints, day));
    RowChange change = {&TABLE_RANK_CHECKPOINTS,
                        row_key(checkpoints, NULL, arena),
                        {.column = column,
                         .value = buffer_slice(&buffer),
                         .timestamp = clock_now_us(checkpoints->ranking->world.clock)}};
    return store_write(checkpoints->ranking->store, &(Batch){&change, 1, true});
}

Status checkpoints_write(const Checkpoints *checkpoints, uint32_t day, const Totals *totals)
{
    Status status = STATUS_OK;
    CHECK(totals->hours == (day + 1) * HOURS_A_DAY);
    PolicyTotal *list = malloc((totals->count + 1) * sizeof *list);
    CHECK(list != NULL);
    if (totals->count > 0)
        memcpy(list, totals->list, totals->count * sizeof *list);
    qsort(list, totals->count, sizeof *list, by_policy);
    for (size_t at = 0; at < totals->count && status == STATUS_OK;)
        status = write_batch(checkpoints, day, list, totals->count, &at);
    free(list);
    TRY(status);
    return write_day(checkpoints, day);
}
