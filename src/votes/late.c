/* late.c -- marks of days that changed when they were over.
 *
 * What is computed from the hours of past days (checkpoints of rankings) must notice when an entry is found late. The projector
 * marks the entry's day after the hours' cells are acknowledged and before it says that the entry is projected; so an
 * entry whose mark is missing is projected again, and marked then.
 *
 * Each writer has its own cell for a day and numbers its marks, taking the number after its cells are acknowledged. So
 * whoever sees number n sees the cells of all marks of that writer up to n, though a later mark may overtake an earlier one,
 * and no clock decides which of two marks stays. What is not late by this instance's clock, by a margin of twice the skew that
 * the ledger tolerates, needs no mark: nobody takes that day for finished. */
#include "base/mutant.h"
#include "votes/votes_private.h"

enum { MARGIN_S = 2 * VOTE_AHEAD_MOST_S };

static Slice late_row(Arena *arena, uint32_t generation)
{
    return slice_of(ledger_mark_row(arena, generation, 0).data, 4);
}

static Slice late_column(Arena *arena, uint32_t day, const Id *writer)
{
    char *column = arena_bytes(arena, 4 + ID_BYTES);
    memcpy(column, ledger_mark_row(arena, day, 0).data, 4);
    memcpy(column + 4, writer->bytes, ID_BYTES);
    return slice_of(column, 4 + ID_BYTES);
}

Status votes_mark_late(Votes *votes, const LateMarks *late, Arena *arena)
{
    uint32_t open = count_day(clock_now_us(votes->world.clock) + MARGIN_S * US_PER_S);
    RowChange *changes = ARENA_ARRAY(arena, late->count, RowChange);
    const uint32_t *days = late->days;
    size_t marks = 0;
    uint64_t number = ++votes->late_marks;
    for (size_t i = 0; i < late->count; i++) {
        bool again = days[i] >= open;
        for (size_t k = 0; k < i && !again; k++)
            again = days[k] == days[i];
        if (again)
            continue;
        changes[marks++] = (RowChange){&TABLE_LATE_DAYS,
                                       late_row(arena, late->generation),
                                       {.column = late_column(arena, days[i], &votes->writer),
                                        .value = ledger_u64(arena, number),
                                        .timestamp = (int64_t)number}};
    }
    return marks == 0 || MUTANT(late_day_unmarked)
               ? STATUS_OK
               : store_write(votes->store, &(Batch){changes, marks, true});
}

/* ---- Reading them ---------------------------------------------------------------------------------------------- */

typedef struct LateList {
    Arena *arena;
    LateDay *days;
    size_t count, room;
    uint64_t digest;
} LateList;

/* The finisher of splitmix64: every bit of the input moves every bit of the result. */
static uint64_t mix(uint64_t number)
{
    number = (number ^ (number >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    number = (number ^ (number >> 27)) * UINT64_C(0x94D049BB133111EB);
    return number ^ (number >> 31);
}

static uint64_t mix_bytes(uint64_t digest, Slice bytes)
{
    for (size_t i = 0; i < bytes.size; i++)
        digest = mix(digest + 1 + (uint8_t)bytes.data[i]);
    return digest;
}

static Status add_late(void *context, const Cell *cell)
{
    LateList *list = context;
    Reader column = reader_of(cell->column);
    uint32_t day = reader_u32(&column);
    if (column.failed || column.rest.size != ID_BYTES)
        return STATUS_CORRUPT;
    if (list->count == 0 || list->days[list->count - 1].day != day) {
        if (list->count == list->room) {
            LateDay *larger = ARENA_ARRAY(list->arena, 2 * list->room + 64, LateDay);
            memcpy(larger, list->days, list->count * sizeof *larger);
            list->days = larger;
            list->room = 2 * list->room + 64;
        }
        list->days[list->count++].day = day;
    }
    list->digest = mix_bytes(mix_bytes(list->digest, cell->column), cell->value);
    list->days[list->count - 1].digest = list->digest;
    return STATUS_OK;
}

Status votes_late_days(Votes *votes, Arena *arena, LateDay **ret_days, size_t *ret_count)
{
    LateList list = {.arena = arena, .days = ARENA_ARRAY(arena, 0, LateDay)};
    uint32_t generation;
    TRY(votes_current(votes, &generation));
    Query query = {.table = &TABLE_LATE_DAYS, .row = late_row(arena, generation)};
    TRY(votes_each_cell(votes, query, add_late, &list));
    *ret_days = list.days;
    *ret_count = list.count;
    return STATUS_OK;
}
