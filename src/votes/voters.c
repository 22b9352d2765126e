/* voters.c -- how many people hold something on a policy, and on two: from the cells that projection writes.
 *
 * Who they are is seen by nobody: only the numbers leave this file. */
#include <stdlib.h>

#include "votes/votes_private.h"

typedef struct VoterList {
    uint64_t *ids;
    size_t count, capacity;
    uint64_t left; /* cells that may yet be read */
} VoterList;

static Status take_voter(void *context, const Cell *cell)
{
    VoterList *list = context;
    Taken taken;
    Reader column = reader_of(slice_after(cell->column, 2));
    uint64_t voter = reader_u64(&column);
    TRY(ledger_get_taken(cell->value, &taken));
    if (!reader_done(&column))
        return STATUS_CORRUPT;
    if (list->left == 0)
        return STATUS_TOO_LARGE;
    list->left--;
    if (taken.held <= 0)
        return STATUS_OK;
    if (list->count == list->capacity) {
        list->capacity = list->capacity == 0 ? 256 : 2 * list->capacity;
        list->ids = realloc(list->ids, list->capacity * sizeof *list->ids);
        CHECK(list->ids != NULL);
    }
    list->ids[list->count++] = voter;
    return STATUS_OK;
}

static int by_id(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return left < right ? -1 : left > right;
}

/* Ascending, each once: whoever holds something on several members is one voter. */
static void sort_unique(VoterList *list)
{
    size_t kept = 0;
    if (list->count > 0)
        qsort(list->ids, list->count, sizeof *list->ids, by_id);
    for (size_t i = 0; i < list->count; i++)
        if (i == 0 || list->ids[i] != list->ids[i - 1])
            list->ids[kept++] = list->ids[i];
    list->count = kept;
}

static Status read_voters(Votes *votes, const VotersOf *of, VoterList *list)
{
    ARENA_SCOPE Arena *arena = arena_new();
    uint32_t generation;
    TRY(votes_current(votes, &generation));
    for (size_t i = 0; i < of->count; i++) {
        for (uint8_t bucket = 0; bucket < COUNT_BUCKETS; bucket++)
            TRY(votes_each_cell(
                votes,
                (Query){.table = &TABLE_POLICY_VOTERS,
                        .row = ledger_count_row(arena, generation, of->policies[i], bucket),
                        .from = SLICE("v/"),
                        .to = SLICE("v0")},
                take_voter, list));
        arena_reset(arena);
    }
    sort_unique(list);
    return STATUS_OK;
}

static uint64_t count_common(const VoterList *a, const VoterList *b)
{
    uint64_t common = 0;
    for (size_t i = 0, k = 0; i < a->count && k < b->count;) {
        common += a->ids[i] == b->ids[k];
        uint64_t left = a->ids[i], right = b->ids[k];
        i += left <= right;
        k += right <= left;
    }
    return common;
}

Status votes_voters(Votes *votes, const VotersOf *first, const VotersOf *second, uint64_t most,
                    VoterCounts *ret_counts)
{
    VoterList a = {.left = most}, b = {0};
    Status status = read_voters(votes, first, &a);
    b.left = a.left;
    if (status == STATUS_OK)
        status = read_voters(votes, second, &b);
    if (status == STATUS_OK)
        *ret_counts = (VoterCounts){a.count, b.count, count_common(&a, &b)};
    free(a.ids);
    free(b.ids);
    return status;
}
