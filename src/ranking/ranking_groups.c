/* ranking_groups.c -- the trees of a index: which there are, and who stands where. */
#include <stdlib.h>

#include "ranking/ranking_index_private.h"

enum { ALL, CATEGORY, PARTY };

static const size_t GROUP_COUNTS[RANKING_INDEX_KINDS] = {1, GROUPS_MAX + 1, GROUPS_MAX + 1};

void ranking_groups_new(RankingIndex *index)
{
    for (int kind = 0; kind < RANKING_INDEX_KINDS; kind++) {
        index->ranking_groups[kind] = calloc(GROUP_COUNTS[kind], sizeof(RankingGroup));
        CHECK(index->ranking_groups[kind] != NULL);
    }
    index->windows = 1u | 1u << index->window_days;
}

void ranking_groups_free(RankingIndex *index)
{
    for (int kind = 0; kind < RANKING_INDEX_KINDS; kind++) {
        for (size_t i = 0; i < GROUP_COUNTS[kind]; i++)
            for (int days = 0; days < RANKING_INDEX_WINDOWS; days++)
                order_free(index->ranking_groups[kind][i].orders[days]);
        free(index->ranking_groups[kind]);
    }
}

static bool is_kept(const RankingIndex *index, uint32_t days)
{
    return days == 0 || days == index->window_days;
}

/* The number of the group of a kind to which a record belongs; false for none. */
static bool ranking_group_number(const Record *record, int kind, size_t *ret_number)
{
    uint64_t group = kind == CATEGORY ? record->category : record->party;
    if (kind != ALL && (group == 0 || group > GROUPS_MAX))
        return false;
    *ret_number = kind == ALL ? 0 : (size_t)group;
    return true;
}

Standing ranking_groups_standing(const RankingIndex *index, const Record *record)
{
    Standing standing = {0};
    if (!record->listed || record->target != NULL)
        return standing;
    for (int kind = 0; kind < RANKING_INDEX_KINDS; kind++) {
        size_t number = 0;
        if (ranking_group_number(record, kind, &number))
            standing.ranking_groups[kind] = &index->ranking_groups[kind][number];
    }
    for (uint32_t bits = index->windows; bits != 0; bits &= bits - 1) {
        uint32_t days = (uint32_t)__builtin_ctz(bits);
        standing.votes[days] = window_totals_window(&record->sum, index->today, days);
    }
    return standing;
}

static void move_in_window(RankingIndex *index, OrderKey before, OrderKey after, RankingGroup *from,
                           RankingGroup *to, uint32_t days)
{
    if (from != NULL && from->orders[days] != NULL)
        order_remove(from->orders[days], before);
    if (to == NULL)
        return;
    if (to->orders[days] == NULL && is_kept(index, days))
        to->orders[days] = order_new();
    if (to->orders[days] != NULL)
        order_add(to->orders[days], after);
}

void ranking_groups_move(RankingIndex *index, uint64_t policy, const Standing *before,
                         const Standing *after)
{
    for (int kind = 0; kind < RANKING_INDEX_KINDS; kind++) {
        RankingGroup *from = before->ranking_groups[kind], *to = after->ranking_groups[kind];
        if (from != NULL)
            from->count--;
        if (to != NULL)
            to->count++;
        for (uint32_t bits = index->built ? index->windows : 0; bits != 0; bits &= bits - 1) {
            uint32_t days = (uint32_t)__builtin_ctz(bits);
            if (from != to || before->votes[days] != after->votes[days])
                move_in_window(index, (OrderKey){before->votes[days], policy},
                               (OrderKey){after->votes[days], policy}, from, to, days);
        }
    }
}

/* ---- Building ----------------------------------------------------------------------------------------------------- */

/* The keys of groups that are about to become trees. */
typedef struct Fill {
    OrderKey *keys;
    size_t count;
} Fill;

/* The trees of one window for the groups from `first` to `last` of a kind, in one pass over all records. */
static void build_trees(RankingIndex *index, int kind, size_t first, size_t last, uint32_t days)
{
    Fill *fills = calloc(GROUP_COUNTS[kind], sizeof *fills);
    CHECK(fills != NULL);
    for (size_t i = first; i <= last; i++)
        if (index->ranking_groups[kind][i].count > 0) {
            fills[i].keys = malloc(index->ranking_groups[kind][i].count * sizeof(OrderKey));
            CHECK(fills[i].keys != NULL);
        }
    for (size_t i = 0; i < index->count; i++) {
        const Record *record = index->records[i];
        size_t number = 0;
        if (!record->listed || record->target != NULL ||
            !ranking_group_number(record, kind, &number))
            continue;
        Fill *fill = &fills[number];
        if (fill->keys != NULL)
            fill->keys[fill->count++] =
                (OrderKey){window_totals_window(&record->sum, index->today, days), record->id};
    }
    for (size_t i = first; i <= last; i++)
        if (fills[i].keys != NULL) {
            CHECK(fills[i].count == index->ranking_groups[kind][i].count);
            index->ranking_groups[kind][i].orders[days] =
                order_build(fills[i].keys, fills[i].count);
            free(fills[i].keys);
        }
    free(fills);
}

void ranking_index_build(RankingIndex *index)
{
    CHECK(!index->built);
    for (size_t i = 0; i < index->count; i++) {
        index->records[i]->counted = true;
        window_totals_trim(&index->records[i]->sum,
                           index->today); /* most policies have rested for long */
    }
    for (int kind = 0; kind < RANKING_INDEX_KINDS; kind++) {
        build_trees(index, kind, 0, GROUP_COUNTS[kind] - 1, 0);
        build_trees(index, kind, 0, GROUP_COUNTS[kind] - 1, index->window_days);
    }
    index->built = true;
}

/* ---- Windows that come and go --------------------------------------------------------------------------------------- */

static void drop_extra(RankingIndex *index, size_t at)
{
    Extra extra = index->extras[at];
    order_free(extra.ranking_group->orders[extra.days]);
    extra.ranking_group->orders[extra.days] = NULL;
    index->extras[at] = index->extras[--index->extra_count];
    index->windows = 1u | 1u << index->window_days;
    for (size_t i = 0; i < index->extra_count; i++)
        index->windows |= 1u << index->extras[i].days;
}

static int64_t used_us(const Extra *extra)
{
    return extra->ranking_group->used_us[extra->days];
}

void ranking_index_drop_idle(RankingIndex *index, int64_t steady_us)
{
    for (size_t i = index->extra_count; i-- > 0;)
        if (used_us(&index->extras[i]) <= steady_us - RANKING_INDEX_IDLE_S * US_PER_S)
            drop_extra(index, i);
}

static int kind_of(const RankQuery *query)
{
    return query->category != 0 ? CATEGORY : query->party != 0 ? PARTY : ALL;
}

static size_t number_of(const RankQuery *query)
{
    return (size_t)(query->category != 0 ? query->category : query->party);
}

RankingGroup *ranking_index_group(const RankingIndex *index, const RankQuery *query)
{
    CHECK(number_of(query) <= GROUPS_MAX);
    return &index->ranking_groups[kind_of(query)][number_of(query)];
}

bool ranking_index_in_group(const RankingIndex *index, const Record *record, const RankQuery *query)
{
    return ranking_groups_standing(index, record).ranking_groups[kind_of(query)] ==
           ranking_index_group(index, query);
}

void ranking_index_build_order(RankingIndex *index, const RankQuery *query, int64_t steady_us)
{
    RankingGroup *ranking_group = ranking_index_group(index, query);
    if (ranking_group->orders[query->days] != NULL || ranking_group->count == 0)
        return;
    CHECK(index->built && !is_kept(index, query->days));
    ranking_index_drop_idle(index, steady_us);
    if (index->extra_count == RANKING_INDEX_EXTRAS) {
        size_t oldest = 0;
        for (size_t i = 1; i < index->extra_count; i++)
            if (used_us(&index->extras[i]) < used_us(&index->extras[oldest]))
                oldest = i;
        drop_extra(index, oldest);
    }
    build_trees(index, kind_of(query), number_of(query), number_of(query), query->days);
    ranking_group->used_us[query->days] = steady_us;
    index->extras[index->extra_count++] = (Extra){ranking_group, query->days};
    index->windows |= 1u << query->days;
}
