/* merged_lines.c -- a voter's lines as the voter sees them: members of a merge are added to what they lead to. */
#include <stdlib.h>

#include "votes/votes_private.h"

static int by_policy(const void *a, const void *b)
{
    const MergedLine *x = a, *y = b;
    return x->policy < y->policy ? -1 : x->policy > y->policy;
}

/* Adds up neighbours with the same policy; returns how many are left. */
static size_t join(MergedLine *lines, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (kept > 0 && lines[kept - 1].policy == lines[i].policy) {
            lines[kept - 1].held += lines[i].held;
            lines[kept - 1].free += lines[i].free;
        } else {
            lines[kept++] = lines[i];
        }
    }
    return kept;
}

Status votes_merged_lines(Votes *votes, const VoterState *state, Arena *arena,
                          MergedLine **ret_lines, size_t *ret_count)
{
    PoliciesReader own = {.policies = votes->policies, .arena = arena};
    PoliciesReader *reader = state->reader != NULL ? state->reader : &own;
    PolicyLookup lookup = policies_lookup(reader);
    MergedLine *lines = ARENA_ARRAY(arena, state->line_count, MergedLine);
    size_t count = 0;
    for (size_t i = 0; i < state->line_count; i++) {
        const VoteLine *line = &state->lines[i];
        PolicyStanding standing;
        if (line->held == 0)
            continue;
        if (!policy_standing(&lookup, line->policy, INT64_MAX, &standing))
            return reader->failed != STATUS_OK ? reader->failed : STATUS_CORRUPT;
        lines[count++] = (MergedLine){.policy = standing.root,
                                      .state = standing.state,
                                      .held = line->held,
                                      .free = standing.root != line->policy ? line->held : 0};
    }
    qsort(lines, count, sizeof *lines, by_policy);
    *ret_count = join(lines, count);
    *ret_lines = lines;
    return STATUS_OK;
}
