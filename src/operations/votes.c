/* votes.c -- what a voter holds, and what a change of it would cost. See votes.h. */
#include "operations/votes.h"

#include <stdlib.h>

#include "operations/policy_head.h"
#include "operations/schema_macros.h"

/* clang-format off */
static const ApiMember LINE[] = {
    FIELD("policy", MyLine, policy.id, .help = "The policy."),
    FIELD("name", MyLine, policy.name, .help = "What it is called."),
    FIELD("address", MyLine, policy.address, .help = "Its page."),
    MY_STATE(MyLine, state),
    FIELD("held", MyLine, held, .help = "Pollies on it."),
    FIELD("free", MyLine, free, .help = "The part that came by merges, and can be taken back for nothing."),
    FIELD("rank", MyLine, place.self.rank, WHEN(MyLine, has_place), .help = "In the window of the front page."),
    FIELD("votes", MyLine, place.self.votes, WHEN(MyLine, has_place), .help = "In the same window."),
    FIELD("to_beat", MyLine, place.to_beat, WHEN(MyLine, has_place), .help = "Votes that would put it before the one above."),
};
SCHEMA(LINE, "Line", MyLine, LINE, .help = "What a voter holds on a policy.");

static const ApiMember VOTES[] = {
    FIELD("version", MyVotes, version, .help = "What a save names as `seen`."),
    FIELD("seq", MyVotes, seq, .help = "The number of the last save; 0: none yet."),
    FIELD("balance", MyVotes, balance, .help = "Unspent pollies."),
    HOLDINGS(MyVotes),
    LIST("policies", MyVotes, lines, count, LINE, .help = "The same lines with what is known of the policies."),
};
SCHEMA(VOTES, "Votes", MyVotes, VOTES, .help = "All that a voter holds.");

static const ApiMember COST[] = {
    FIELD("possible", VoteCosts, is_possible, .help = "Whether such a save would be accepted."),
    FIELD("rule", VoteCosts, rule, OR_NULL, .help = "The rule that would refuse it, as a word."),
    FIELD("reason", VoteCosts, reason, OR_NULL, .help = "The same as a sentence."),
    FIELD("policy", VoteCosts, answer.refused_policy, OR_NULL, .help = "The policy that the rule is about."),
    FIELD("balance", VoteCosts, answer.balance, .help = "Unspent pollies afterwards; below 0: that many are missing."),
    FIELD("penalty", VoteCosts, answer.penalty, .help = "What taking back costs."),
    FIELD("given_back", VoteCosts, answer.given_back, .help = "What it gives back."),
};
SCHEMA(COST, "Cost", VoteCosts, COST, .help = "What a save would do.");
/* clang-format on */

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
static Status dress(Operations *ops, const MyVotesQuery *ask, uint32_t days, Arena *arena,
                    MyLine *line)
{
    MyPolicy above;
    TRY(my_policy(ops, line->policy.id, ask->voter, arena, &line->policy));
    line->withdrawn_centi = withdrawn_of(ask->state, line->policy.id);
    line->has_place = ranking_place(ops->app->ranking, &(RankQuery){.days = days}, line->policy.id,
                                    &line->place) == STATUS_OK;
    if (!line->has_place || !line->place.has_above)
        return STATUS_OK;
    TRY(my_policy(ops, line->place.above.policy, ask->voter, arena, &above));
    line->above_name = above.name;
    return STATUS_OK;
}

static Status begin(Operations *ops, const MyVotesQuery *ask, Arena *arena, MyVotes *votes)
{
    *votes = (MyVotes){
        .version = ask->state->version, .seq = ask->state->seq, .balance = ask->state->balance};
    TRY(votes_merged_lines(ops->app->votes, ask->state, arena, &votes->holdings,
                           &votes->holding_count));
    return operations_settings(ops, arena, &votes->settings);
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

Status my_votes(Operations *ops, const MyVotesQuery *ask, Arena *arena, MyVotes *ret_votes)
{
    static int (*const ORDERS[MY_ORDERS])(const void *, const void *) = {by_held, by_rank};
    MyVotes votes;
    TRY(begin(ops, ask, arena, &votes));
    const MergedLine *seen = votes.holdings;
    votes.count = votes.holding_count;
    votes.lines = ARENA_ARRAY(arena, votes.count, MyLine);
    size_t first_closed = votes.count;
    for (size_t i = 0; i < votes.count; i++) {
        bool is_open = seen[i].state == POLICY_ACTIVE;
        MyLine *line = &votes.lines[is_open ? votes.open_count++ : --first_closed];
        *line = (MyLine){.policy = {.id = seen[i].policy},
                         .state = seen[i].state,
                         .held = seen[i].held,
                         .free = seen[i].free};
        TRY(dress(ops, ask, (uint32_t)votes.settings.window_days, arena, line));
        votes.held += is_open ? line->held : 0;
    }
    qsort(votes.lines, votes.open_count, sizeof *votes.lines, ORDERS[ask->order]);
    qsort(votes.lines + votes.open_count, votes.count - votes.open_count, sizeof *votes.lines,
          by_held);
    *ret_votes = votes;
    return STATUS_OK;
}

Status my_line(Operations *ops, const MyVotesQuery *ask, uint64_t policy, Arena *arena,
               MyVotes *ret_votes)
{
    MyVotes votes;
    PolicySummary summary;
    TRY(begin(ops, ask, arena, &votes));
    TRY(policy_summary_name(ops->summaries, policy, arena, &summary));
    MyLine *line = ARENA_NEW(arena, MyLine);
    line->policy.id = policy;
    line->state = summary.state;
    for (size_t i = 0; i < votes.holding_count; i++) {
        const MergedLine *seen = &votes.holdings[i];
        if (seen->policy != policy)
            continue;
        line->held = seen->held;
        line->free = seen->free;
        line->state = seen->state;
    }
    TRY(dress(ops, ask, (uint32_t)votes.settings.window_days, arena, line));
    votes.lines = line;
    votes.count = 1;
    votes.open_count = line->state == POLICY_ACTIVE;
    votes.held = line->held;
    *ret_votes = votes;
    return STATUS_OK;
}

/* ---- The operations -------------------------------------------------------------------------------------------------- */

static Status vote_show(Operations *ops, const Actor *actor, const Nothing *request, Arena *arena,
                        MyVotes *ret_votes, Reason *reason)
{
    Ranking *ranking;
    VoterState state;
    MyVotesQuery query = {.voter = actor_id(actor), .state = &state};
    (void)request, (void)reason;
    TRY(app_ranking(ops->app, &ranking)); /* a command alone has none yet */
    TRY(votes_cached(ops->app->votes, actor->account, arena, &state));
    return my_votes(ops, &query, arena, ret_votes);
}

OPERATION(vote_show, Nothing, MyVotes, .help = "Show what somebody holds, and their balance.",
          .access = WEB_LOGIN, .asks = true, .shows = SHOWS(VOTES), .answers = &SCHEMA_VOTES,
          .api = {WEB_GET, "me/votes", .tag = "me"}, .no_page = "/my/votes shows it",
          .command = {.words = "vote show"});

VoteRequest *vote_requests_of(const InputNumbers *lines, const InputNumbers *was, Arena *arena,
                              size_t *ret_count)
{
    VoteRequest *requests = ARENA_ARRAY(arena, lines->count, VoteRequest);
    size_t count = 0;
    for (size_t i = 0, at = 0; i < lines->count; i++) {
        const WebNumber *line = &lines->numbers[i];
        while (at < was->count && was->numbers[at].id < line->id)
            at++;
        bool has_seen = at < was->count && was->numbers[at].id == line->id;
        int64_t seen = has_seen ? was->numbers[at].number : 0;
        if (!has_seen || seen != line->number)
            requests[count++] = (VoteRequest){line->id, line->number, has_seen, seen};
    }
    *ret_count = count;
    return requests;
}

typedef struct VoteCost {
    InputNumbers lines;
} VoteCost;

static Status vote_cost(Operations *ops, const Actor *actor, const VoteCost *request, Arena *arena,
                        VoteCosts *ret_costs, Reason *reason)
{
    CostAnswer answer;
    InputNumbers whatever = {NULL, 0};
    size_t count;
    VoteRequest *asked = vote_requests_of(&request->lines, &whatever, arena, &count);
    (void)reason;
    TRY(votes_cost(ops->app->votes, actor_id(actor), asked, count, arena, &answer));
    bool is_possible = answer.rule == VOTE_RULE_NONE;
    *ret_costs = (VoteCosts){.answer = answer,
                             .is_possible = is_possible,
                             .rule = is_possible ? NULL : vote_rule_name(answer.rule),
                             .reason = is_possible ? NULL : vote_rule_text(answer.rule)};
    return STATUS_OK;
}

/* clang-format off */
OPERATION(vote_cost, VoteCost, VoteCosts, .help = "Say what a save would cost, without saving.",
    .access = WEB_LOGIN, .asks = true, .shows = SHOWS(VOTES), .threads = WEB_ANSWER, .answers = &SCHEMA_COST,
    .api = {WEB_POST, "me/votes/cost", .tag = "me"}, .no_page = "the form of the votes says it", .command = {.words = "vote cost"},
    .inputs = {VOTE_LINES(VoteCost)});
/* clang-format on */
