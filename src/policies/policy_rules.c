/* policy_rules.c -- see policy_rules.h. */
#include "policies/policy_rules.h"

const char *const POLICY_STATE_WORDS[] = WORDS(POLICY_STATE_LIST, WORD_3);
static const bool LISTED[] = {
#define X(name, listed, text) listed,
    POLICY_STATE_LIST(X)
#undef X
};

/* The only moves there are; retired, merged, void and deleted never become active again, because a voter may have
 * spent the votes elsewhere. */
static const struct {
    PolicyState from, to;
} MOVES[] = {
    {POLICY_PENDING, POLICY_ACTIVE},           {POLICY_PENDING, POLICY_VOID},
    {POLICY_ACTIVE, POLICY_RETIRED},           {POLICY_ACTIVE, POLICY_MERGING},
    {POLICY_MERGING, POLICY_MERGED},           {POLICY_MERGING, POLICY_ACTIVE},
    {POLICY_ACTIVE, POLICY_PENDING_DELETION},  {POLICY_RETIRED, POLICY_PENDING_DELETION},
    {POLICY_PENDING_DELETION, POLICY_DELETED},
};

const char *policy_state_text(PolicyState state)
{
    return word_of(POLICY_STATE_WORDS, state);
}

bool policy_state_listed(PolicyState state)
{
    CHECK(state < POLICY_STATE_COUNT);
    return LISTED[state];
}

static size_t index_at(const PolicyFacts *facts, int64_t time_us)
{
    size_t count = facts->move_count;
    while (count > 0 && facts->moves[count - 1].time_us > time_us)
        count--;
    return count; /* one past the move; 0: none */
}

const PolicyMove *policy_move_at(const PolicyFacts *facts, int64_t time_us)
{
    size_t end = index_at(facts, time_us);
    return end == 0 ? NULL : &facts->moves[end - 1];
}

/* Walks from a policy towards its root at a time; NULL when the way is broken. */
static const PolicyFacts *root_of(const PolicyLookup *lookup, uint64_t id, int64_t time_us)
{
    for (int depth = 0; depth < POLICY_MERGE_DEPTH; depth++) {
        const PolicyFacts *facts = lookup->find(lookup->self, id);
        const PolicyMove *move = facts != NULL ? policy_move_at(facts, time_us) : NULL;
        if (move == NULL)
            return NULL;
        if (move->state != POLICY_MERGED)
            return facts;
        id = move->other;
    }
    return NULL;
}

bool policy_standing(const PolicyLookup *lookup, uint64_t id, int64_t time_us,
                     PolicyStanding *ret_standing)
{
    const PolicyFacts *root = root_of(lookup, id, time_us);
    if (root == NULL)
        return false;
    size_t end = index_at(root, time_us);
    const PolicyMove *move = &root->moves[end - 1];
    PolicyState state = move->state;
    if (state == POLICY_PENDING_DELETION && end >= 2)
        move = &root->moves[end - 2];
    *ret_standing = (PolicyStanding){root->id, state, move->state, move};
    return true;
}

int64_t policy_standing_time(const PolicyLookup *lookup, uint64_t id)
{
    int64_t latest_us = 0;
    for (int depth = 0; depth < POLICY_MERGE_DEPTH; depth++) {
        const PolicyFacts *facts = lookup->find(lookup->self, id);
        if (facts == NULL || facts->move_count == 0)
            return latest_us;
        const PolicyMove *last = &facts->moves[facts->move_count - 1];
        if (last->time_us > latest_us)
            latest_us = last->time_us;
        if (last->state != POLICY_MERGED)
            return latest_us;
        id = last->other;
    }
    return latest_us;
}

static bool is_appeal(const PolicyFacts *facts, PolicyState to)
{
    size_t count = facts->move_count;
    return count >= 2 && facts->moves[count - 1].state == POLICY_PENDING_DELETION &&
           facts->moves[count - 2].state == to;
}

static bool is_move(PolicyState from, PolicyState to)
{
    for (size_t i = 0; i < sizeof MOVES / sizeof MOVES[0]; i++)
        if (MOVES[i].from == from && MOVES[i].to == to)
            return true;
    return false;
}

Status policy_check_move(const PolicyFacts *facts, PolicyState to, Reason *reason)
{
    PolicyState from = facts->moves[facts->move_count - 1].state;
    bool appeal = is_appeal(facts, to);
    if (!appeal && !is_move(from, to))
        return reason_set(reason, STATUS_REFUSED, "state", "a policy that is %s cannot become %s",
                          POLICY_STATE_WORDS[from], POLICY_STATE_WORDS[to]);
    if ((appeal || to == POLICY_MERGING) && facts->move_count >= POLICY_MOVES_DETOUR)
        return reason_set(reason, STATUS_REFUSED, "state",
                          "after %d moves a policy is not merged and a deletion not appealed",
                          POLICY_MOVES_DETOUR);
    return STATUS_OK;
}

int64_t policy_move_time(const PolicyFacts *facts, int64_t clock_us)
{
    int64_t after_us = facts->move_count == 0 ? 0 : facts->moves[facts->move_count - 1].time_us + 1;
    return clock_us > after_us ? clock_us : after_us;
}
