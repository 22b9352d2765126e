/* vote_conflict.c -- a form that came too late: what it was based on, what stands now, what it wanted. See votes.h.
 *
 * What the voter saw is found in the voter's own log, by the version that the form carries; of the lines that it is about, the form also
 * says what they held, which a merge may have changed since without a save. */
#include "operations/policy_head.h"
#include "operations/votes.h"

/* Three lists, ascending by policy, walked side by side. */
typedef struct Walk {
    const MergedLine *saw, *now;
    size_t saw_count, now_count, saw_at, now_at, wish_at, was_at;
    const VoteSave *ask;
    uint64_t voter;
} Walk;

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* UINT64_MAX at the end. */
static uint64_t next_policy(const Walk *walk)
{
    uint64_t next = UINT64_MAX;
    if (walk->saw_at < walk->saw_count)
        next = smaller(next, walk->saw[walk->saw_at].policy);
    if (walk->now_at < walk->now_count)
        next = smaller(next, walk->now[walk->now_at].policy);
    if (walk->wish_at < walk->ask->lines.count)
        next = smaller(next, walk->ask->lines.numbers[walk->wish_at].id);
    return next;
}

static int64_t take_line(const MergedLine *lines, size_t count, size_t *at, uint64_t policy)
{
    bool is_here = *at < count && lines[*at].policy == policy;
    return is_here ? lines[(*at)++].held : 0;
}

/* A form names all lines, also those that its voter left alone: they are no wishes. When it is not known what was seen, what differs from
 * what stands is taken for one. */
static MyDifference next_difference(Walk *walk, bool has_saw)
{
    uint64_t policy = next_policy(walk);
    const InputNumbers *was = &walk->ask->was;
    MyDifference line = {.policy = {.id = policy}};
    line.saw = take_line(walk->saw, walk->saw_count, &walk->saw_at, policy);
    line.now = take_line(walk->now, walk->now_count, &walk->now_at, policy);
    while (walk->was_at < was->count && was->numbers[walk->was_at].id < policy)
        walk->was_at++;
    if (walk->was_at < was->count && was->numbers[walk->was_at].id == policy)
        line.saw = was->numbers[walk->was_at].number;
    line.wanted = line.now;
    const VoteSave *ask = walk->ask;
    if (walk->wish_at < ask->lines.count && ask->lines.numbers[walk->wish_at].id == policy) {
        int64_t want = ask->lines.numbers[walk->wish_at++].number;
        line.is_changed = want != (has_saw ? line.saw : line.now);
        if (line.is_changed)
            line.wanted = want;
    }
    return line;
}

static Status saw_lines(Operations *ops, const VoterState *state, Arena *arena, Walk *walk,
                        bool *has_saw)
{
    VoterState then;
    MergedLine *lines;
    Status status = votes_back(ops->app->votes, walk->voter, state, walk->ask->seen, arena, &then);
    *has_saw = status == STATUS_OK;
    if (status == STATUS_NOT_FOUND)
        return STATUS_OK;
    TRY(status);
    TRY(votes_merged_lines(ops->app->votes, &then, arena, &lines, &walk->saw_count));
    walk->saw = lines;
    return STATUS_OK;
}

static Status fill(Operations *ops, Walk *walk, Arena *arena, MyConflict *conflict)
{
    size_t most = walk->saw_count + walk->now_count + walk->ask->lines.count;
    conflict->lines = ARENA_ARRAY(arena, most, MyDifference);
    while (next_policy(walk) != UINT64_MAX) {
        MyDifference line = next_difference(walk, conflict->has_saw);
        bool differs = line.is_changed || (conflict->has_saw && line.saw != line.now);
        if (!differs)
            continue;
        TRY(my_policy(ops, line.policy.id, walk->voter, arena, &line.policy));
        line.is_open = line.policy.state == POLICY_ACTIVE;
        conflict->changed_count += line.is_changed && line.is_open;
        conflict->lines[conflict->count++] = line;
    }
    return STATUS_OK;
}

Status my_conflict(Operations *ops, uint64_t voter, const VoteSaved *saved, Arena *arena,
                   MyConflict *ret_conflict)
{
    MergedLine *now;
    const VoterState *state = &saved->result.state;
    Walk walk = {.ask = &saved->asked, .voter = voter};
    MyConflict conflict = {.version = state->version, .balance = state->balance};
    TRY(operations_settings(ops, arena, &conflict.settings));
    TRY(votes_merged_lines(ops->app->votes, state, arena, &now, &walk.now_count));
    walk.now = now;
    TRY(saw_lines(ops, state, arena, &walk, &conflict.has_saw));
    conflict.is_merged = id_equal(saved->asked.seen, state->version);
    TRY(fill(ops, &walk, arena, &conflict));
    *ret_conflict = conflict;
    return STATUS_OK;
}
