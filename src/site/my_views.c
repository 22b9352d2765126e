/* my_views.c -- a voter's lines, filled for pages and programs. See my_views.h. */
#include "site/my_views.h"

#include <stdlib.h>

/* ---- Names ---------------------------------------------------------------------------------------------------------- */

static bool is_hidden(const PolicyCard *card, uint64_t voter)
{
    return card->state == POLICY_PENDING_DELETION && card->owner != voter;
}

Status my_policy(Site *site, uint64_t policy, uint64_t voter, Arena *arena, MyPolicy *ret_policy)
{
    PolicyCard card = {.state = POLICY_DELETED}; /* when there is no text any more */
    Status status = cards_name(site->cards, policy, arena, &card);
    if (status != STATUS_OK && status != STATUS_NOT_FOUND)
        return status;
    MyPolicy named = {policy, card.name, card.address, card.state};
    if (status == STATUS_NOT_FOUND || is_hidden(&card, voter)) {
        named.name = arena_print(arena, "Policy %llu", (unsigned long long)policy);
        named.address = arena_print(arena, "/policies/%llu", (unsigned long long)policy);
    }
    *ret_policy = named;
    return STATUS_OK;
}

const char *my_state_reason(PolicyState state)
{
    static const char *const REASONS[POLICY_STATE_COUNT] = {
        [POLICY_PENDING] = "It is being created. In a moment it can be voted on.",
        [POLICY_MERGING] = "It is being merged into another policy. In a moment you can go on.",
        [POLICY_MERGED] = "It was merged. Your votes on it stand on the policy that it leads to.",
        [POLICY_RETIRED] =
            "It was retired. Voters have their pollies back; its owner paid the usual price.",
        [POLICY_PENDING_DELETION] = "It is hidden, and its deletion can be appealed. Your pollies "
                                    "stay on it until that is decided.",
        [POLICY_DELETED] = "It was deleted. Voters have their pollies back.",
        [POLICY_VOID] = "It never came to be. Voters have their pollies back.",
    };
    return REASONS[state];
}

/* ---- Lines ---------------------------------------------------------------------------------------------------------- */

static int64_t withdrawn_of(const VoterState *state, uint64_t policy)
{
    for (size_t low = 0, high = state->line_count; low < high;) {
        size_t middle = low + (high - low) / 2;
        if (state->lines[middle].policy == policy)
            return state->lines[middle].withdrawn_centi;
        if (state->lines[middle].policy < policy)
            low = middle + 1;
        else
            high = middle;
    }
    return 0;
}

/* What a line is beside its number: names, rank, whom to beat. */
static Status dress(Site *site, const MyVotesAsk *ask, uint32_t days, Arena *arena, MyLine *line)
{
    MyPolicy above;
    TRY(my_policy(site, line->policy.id, ask->voter, arena, &line->policy));
    line->withdrawn_centi = withdrawn_of(ask->state, line->policy.id);
    line->wanted = line->held;
    line->has_place = ranking_place(site->app->ranking, &(RankQuery){.days = days}, line->policy.id,
                                    &line->place) == STATUS_OK;
    if (!line->has_place || !line->place.has_above)
        return STATUS_OK;
    TRY(my_policy(site, line->place.above.policy, ask->voter, arena, &above));
    line->above_name = above.name;
    return STATUS_OK;
}

static Status begin(Site *site, const MyVotesAsk *ask, Arena *arena, MyVotes *votes)
{
    SettingsHistory settings;
    *votes = (MyVotes){.now_us = clock_now_us(site->app->world.clock),
                       .seen = id_text(ask->state->version, arena),
                       .balance = ask->state->balance};
    TRY(accounts_settings(site->app->accounts, arena, &settings));
    votes->settings = *settings_at(&settings, votes->now_us);
    return STATUS_OK;
}

static int by_held(const void *a, const void *b)
{
    const MyLine *x = a, *y = b;
    if (x->held != y->held)
        return x->held > y->held ? -1 : 1;
    return x->policy.id < y->policy.id ? -1 : x->policy.id > y->policy.id;
}

static int by_rank(const void *a, const void *b)
{
    const MyLine *x = a, *y = b;
    if (x->has_place != y->has_place)
        return x->has_place ? -1 : 1;
    if (x->has_place && x->place.self.rank != y->place.self.rank)
        return x->place.self.rank < y->place.self.rank ? -1 : 1;
    return by_held(a, b);
}

Status my_votes(Site *site, const MyVotesAsk *ask, Arena *arena, MyVotes *ret_votes)
{
    static int (*const ORDERS[MY_ORDERS])(const void *, const void *) = {by_held, by_rank};
    MyVotes votes;
    SeenLine *seen;
    TRY(begin(site, ask, arena, &votes));
    TRY(votes_seen(site->app->votes, ask->state, arena, &seen, &votes.count));
    votes.lines = ARENA_ARRAY(arena, votes.count, MyLine);
    size_t first_closed = votes.count;
    for (size_t i = 0; i < votes.count; i++) {
        bool is_open = seen[i].state == POLICY_ACTIVE;
        MyLine *line = &votes.lines[is_open ? votes.open_count++ : --first_closed];
        *line = (MyLine){.policy = {.id = seen[i].policy},
                         .state = seen[i].state,
                         .held = seen[i].held,
                         .free = seen[i].free};
        TRY(dress(site, ask, (uint32_t)votes.settings.window_days, arena, line));
        votes.held += is_open ? line->held : 0;
    }
    qsort(votes.lines, votes.open_count, sizeof *votes.lines, ORDERS[ask->order]);
    qsort(votes.lines + votes.open_count, votes.count - votes.open_count, sizeof *votes.lines,
          by_held);
    *ret_votes = votes;
    return STATUS_OK;
}

Status my_line(Site *site, const MyVotesAsk *ask, uint64_t policy, Arena *arena, MyVotes *ret_votes)
{
    MyVotes votes;
    SeenLine *seen;
    size_t count;
    PolicyCard card;
    TRY(begin(site, ask, arena, &votes));
    TRY(votes_seen(site->app->votes, ask->state, arena, &seen, &count));
    TRY(cards_name(site->cards, policy, arena, &card));
    MyLine *line = ARENA_NEW(arena, MyLine);
    line->policy.id = policy;
    line->state = card.state;
    for (size_t i = 0; i < count; i++) {
        if (seen[i].policy != policy)
            continue;
        line->held = seen[i].held;
        line->free = seen[i].free;
        line->state = seen[i].state;
    }
    TRY(dress(site, ask, (uint32_t)votes.settings.window_days, arena, line));
    votes.lines = line;
    votes.count = 1;
    votes.open_count = line->state == POLICY_ACTIVE;
    votes.held = line->held;
    *ret_votes = votes;
    return STATUS_OK;
}
