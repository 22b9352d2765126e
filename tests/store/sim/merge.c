/* merge.c -- what two machines say about a part of a row, as one (cluster.h). Pure.
 *
 * Each machine answers with all its versions in the range, the dead too, up to some living ones. Beyond the last version of an
 * answer that is not all, that machine has said nothing, so the merge ends where the shorter answer ends; if too few living cells
 * are found up to there, the caller asks both for more. */
#include "store/sim/cluster.h"

typedef struct Side {
    const Answer *answer;
    size_t at;
} Side;

static Version *head_of(const Side *side)
{
    const Cells *cells = &side->answer->cells;
    return side->at < cells->count ? cells->items[side->at] : NULL;
}

/* Below zero when `a` is read first. */
static int read_order(const Range *range, Slice a, Slice b)
{
    int order = slice_compare(a, b);
    return range->reverse ? -order : order;
}

/* Whether this machine's word reaches up to the column. */
static bool reaches(const Side *side, const Range *range, Slice column)
{
    const Cells *cells = &side->answer->cells;
    if (side->answer->all)
        return true;
    return read_order(range, column, cells->items[cells->count - 1]->column) <= 0;
}

static void note_missing(Cells *missing, Version *winner, const Version *has, int64_t now_us,
                         int64_t grace_us)
{
    if (winner == has || (has != NULL && !version_wins(winner, has, now_us)))
        return;
    if (!version_forgotten(winner, now_us, grace_us))
        cells_add(missing, winner);
}

/* The next column of both, NULL at the end; takes both sides past it. `has` is what each has there. */
static Version *next_winner(Side sides[2], const Range *range, int64_t now_us, Version *has[2])
{
    has[0] = head_of(&sides[0]);
    has[1] = head_of(&sides[1]);
    if (has[0] != NULL && has[1] != NULL && has[0] != has[1]) {
        int order = read_order(range, has[0]->column, has[1]->column);
        if (order != 0)
            has[order < 0] = NULL;
    }
    for (int i = 0; i < 2; i++)
        sides[i].at += has[i] != NULL;
    if (has[0] == NULL || has[1] == NULL)
        return has[0] != NULL ? has[0] : has[1];
    return has[0] != has[1] && version_wins(has[1], has[0], now_us) ? has[1] : has[0];
}

void merge_answers(const Answer answers[2], const Range *range, int64_t now_us, int64_t grace_us,
                   Merged *to)
{
    Side sides[2] = {{&answers[0], 0}, {&answers[1], 0}};
    Version *has[2], *winner;
    while (to->living.count <= range->want &&
           (winner = next_winner(sides, range, now_us, has)) != NULL) {
        if (!reaches(&sides[0], range, winner->column) ||
            !reaches(&sides[1], range, winner->column)) {
            to->cut = true;
            return;
        }
        if (version_alive(winner, now_us))
            cells_add(&to->living, winner);
        for (int i = 0; i < 2; i++)
            note_missing(&to->missing[i], winner, has[i], now_us, grace_us);
    }
    to->cut = to->living.count <= range->want && (!answers[0].all || !answers[1].all);
}

void merged_free(Merged *merged)
{
    cells_free(&merged->living);
    cells_free(&merged->missing[0]);
    cells_free(&merged->missing[1]);
}
