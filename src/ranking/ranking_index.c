/* ranking_index.c -- records and their counts: see ranking_index.h. */
#include <stdlib.h>

#include "ranking/ranking_index_private.h"

RankingIndex *ranking_index_new(uint32_t window_days, uint32_t today)
{
    RankingIndex *index = calloc(1, sizeof *index);
    CHECK(index != NULL && window_days >= 1 && window_days < RANKING_INDEX_WINDOWS);
    index->users = 1;
    index->window_days = window_days;
    index->today = today;
    index->first_us = INT64_MAX;
    ranking_groups_new(index);
    return index;
}

RankingIndex *ranking_index_share(RankingIndex *index)
{
    index->users++;
    return index;
}

static void record_free(Record *record)
{
    if (record->own != NULL)
        window_totals_clear(record->own);
    free(record->own);
    window_totals_clear(&record->sum);
    free(record->steps);
    free(record);
}

void ranking_index_free(RankingIndex *index)
{
    if (index == NULL || --index->users > 0)
        return;
    for (size_t i = 0; i < index->count; i++)
        record_free(index->records[i]);
    free(index->records);
    map_free(&index->numbers);
    ranking_groups_free(index);
    free(index);
}

/* ---- Records ------------------------------------------------------------------------------------------------------ */

Record *ranking_index_find(const RankingIndex *index, uint64_t policy)
{
    uint64_t number = map_get(&index->numbers, policy);
    return number == 0 ? NULL : index->records[number - 1];
}

Record *ranking_index_record(RankingIndex *index, uint64_t policy)
{
    Record *record = ranking_index_find(index, policy);
    if (record != NULL)
        return record;
    if (index->count == index->room) {
        index->room = 2 * index->room + 64;
        index->records = realloc(index->records, index->room * sizeof(Record *));
        CHECK(index->records != NULL);
    }
    record = calloc(1, sizeof *record);
    CHECK(record != NULL);
    record->id = policy;
    record->number = index->count;
    index->records[index->count++] = record;
    map_put(&index->numbers, policy, index->count);
    return record;
}

size_t ranking_index_count(const RankingIndex *index)
{
    return index->count;
}

Record *ranking_index_at(const RankingIndex *index, size_t number)
{
    CHECK(number < index->count);
    return index->records[number];
}

int64_t ranking_index_first_us(const RankingIndex *index)
{
    return index->first_us;
}

int64_t ranking_index_votes(const RankingIndex *index, const Record *record, uint32_t days)
{
    return window_totals_window(&record->sum, index->today, days);
}

uint32_t ranking_index_today(const RankingIndex *index)
{
    return index->today;
}

/* ---- Counts ------------------------------------------------------------------------------------------------------- */

static Record *root_of(Record *record)
{
    while (record->target != NULL)
        record = record->target;
    return record;
}

/* Adds to the sums of a record and of all that it leads to, and moves the root in its trees. */
static void add_upwards(RankingIndex *index, Record *record, const WindowTotals *change, int sign)
{
    Record *root = root_of(record);
    Standing before = ranking_groups_standing(index, root);
    for (Record *at = record; at != NULL; at = at->target)
        window_totals_add_totals(&at->sum, change, sign);
    Standing after = ranking_groups_standing(index, root);
    ranking_groups_move(index, root->id, &before, &after);
}

static void add_own(RankingIndex *index, Record *record, const WindowTotals *change)
{
    if (record->own != NULL)
        window_totals_add_totals(record->own, change, 1);
    add_upwards(index, record, change, 1);
}

void ranking_index_change(RankingIndex *index, uint64_t policy, int64_t time_us, int64_t change)
{
    WindowTotals totals = {0};
    window_totals_change(&totals, time_us, change);
    add_own(index, ranking_index_record(index, policy), &totals);
    window_totals_clear(&totals);
}

void ranking_index_add_count(RankingIndex *index, uint64_t policy, const Count *part)
{
    WindowTotals totals = {0};
    window_totals_add(&totals, part, 1);
    add_own(index, ranking_index_record(index, policy), &totals);
    window_totals_clear(&totals);
}

/* By the difference to what is there, so that sums above get the same. */
void ranking_index_set_count(RankingIndex *index, uint64_t policy, const Count *count)
{
    Record *record = ranking_index_record(index, policy);
    WindowTotals difference = {0};
    window_totals_add(&difference, count, 1);
    window_totals_add_totals(&difference, record->own != NULL ? record->own : &record->sum, -1);
    add_own(index, record, &difference);
    window_totals_clear(&difference);
    record->counted = true;
}

/* ---- Merges ------------------------------------------------------------------------------------------------------- */

static void unlink_record(RankingIndex *index, Record *record)
{
    Record *target = record->target;
    if (target == NULL)
        return;
    record->target = NULL;
    add_upwards(index, target, &record->sum, -1);
}

/* Whether following `from` leads to `record`: the moves allow no cycle, but what is stored may be damaged. */
static bool leads_to(const Record *from, const Record *record)
{
    for (int i = 0; from != NULL && i < POLICY_MERGE_DEPTH; i++, from = from->target)
        if (from == record)
            return true;
    return from != NULL;
}

static void link_record(RankingIndex *index, Record *record, uint64_t target_id)
{
    Record *target = ranking_index_record(index, target_id);
    if (leads_to(target, record))
        return;
    if (target->own == NULL) {
        target->own = calloc(1, sizeof *target->own);
        CHECK(target->own != NULL);
        window_totals_add_totals(target->own, &target->sum, 1);
    }
    add_upwards(index, target, &record->sum, 1);
    record->target = target;
}

/* ---- Facts -------------------------------------------------------------------------------------------------------- */

/* Moves that change nothing that rankings see (pending, merging) are left out. */
static void set_steps(Record *record, const PolicyFacts *facts)
{
    Step last = {0};
    free(record->steps);
    record->steps = calloc(facts->move_count, sizeof *record->steps);
    CHECK(record->steps != NULL);
    record->step_count = 0;
    for (size_t i = 0; i < facts->move_count; i++) {
        const PolicyMove *move = &facts->moves[i];
        Step step = {move->time_us, move->state == POLICY_MERGED ? move->other : 0,
                     policy_state_listed(move->state)};
        if (step.target == last.target && step.listed == last.listed)
            continue;
        record->steps[record->step_count++] = step;
        last = step;
    }
}

static void set_moves(RankingIndex *index, Record *record, const PolicyFacts *facts)
{
    const PolicyMove *last = &facts->moves[facts->move_count - 1];
    unlink_record(index, record);
    Standing before = ranking_groups_standing(index, record);
    record->listed = policy_state_listed(last->state);
    Standing after = ranking_groups_standing(index, record);
    ranking_groups_move(index, record->id, &before, &after);
    if (last->state == POLICY_MERGED)
        link_record(index, record, last->other);
    set_steps(record, facts);
    record->move_count = facts->move_count;
    record->moved_us = last->time_us;
    if (facts->moves[0].time_us < index->first_us)
        index->first_us = facts->moves[0].time_us;
}

static void set_groups(RankingIndex *index, Record *record, const Policy *policy)
{
    Standing before = ranking_groups_standing(index, record);
    record->category = policy->text.category;
    record->party = policy->text.party;
    record->revision = policy->revision;
    Standing after = ranking_groups_standing(index, record);
    ranking_groups_move(index, record->id, &before, &after);
}

void ranking_index_set_policy(RankingIndex *index, const Policy *policy)
{
    Record *record = ranking_index_record(index, policy->id);
    const PolicyFacts *facts = &policy->facts;
    bool is_retimed = facts->move_count == record->move_count &&
                      facts->moves[facts->move_count - 1].time_us < record->moved_us;
    if (facts->move_count > record->move_count || is_retimed)
        set_moves(index, record, &policy->facts);
    if (policy->revision > record->revision)
        set_groups(index, record, policy);
}

void ranking_index_turn(RankingIndex *index, uint32_t today)
{
    uint32_t yesterday = index->today;
    for (size_t i = 0; i < index->count && today != yesterday; i++) {
        Record *record = index->records[i];
        if (record->sum.recent == NULL)
            continue;
        index->today = yesterday;
        Standing before = ranking_groups_standing(index, record);
        index->today = today;
        Standing after = ranking_groups_standing(index, record);
        ranking_groups_move(index, record->id, &before, &after);
    }
    index->today = today;
}
