/* vote_save.c -- saving votes, whichever door they came by. See votes.h.
 *
 * A save is one conditional update of the voter's row (votes.h of votes/), so there is no step at which a crash leaves half of it. Whoever
 * does not learn the outcome sends the same request with the same token again: it is one save. */
#include "operations/schema_macros.h"
#include "operations/votes.h"

/* clang-format off */
static const ApiMember SAVE[] = {
    FIELD("outcome", VoteSaved, outcome, .help = "saved; stale: somebody saved first, and this did not get in; refused: by `rule`; "
          "unknown: perhaps saved, the same request with the same Idempotency-Key finds out."),
    FIELD("version", VoteSaved, result.state.version, .help = "What is stored now, or was last seen when the outcome is unknown."),
    FIELD("seq", VoteSaved, result.state.seq, .help = "The number of the last save."),
    FIELD("balance", VoteSaved, result.state.balance, .help = "Unspent pollies."),
    MANY("lines", API_HOLDINGS, VoteSaved, holdings, holding_count, NULL, WHEN(VoteSaved, has_holdings),
         .help = "Pollies by policy: a policy together with all that were merged into it; null: they could not be read."),
    FIELD("saved_seq", VoteSaved, result.seq, WHEN(VoteSaved, is_saved), .help = "The number of this save."),
    FIELD("saved_version", VoteSaved, result.version, WHEN(VoteSaved, is_saved), .help = "Of this save."),
    FIELD("penalty", VoteSaved, result.price.penalty, WHEN(VoteSaved, has_price), .help = "What taking back costs."),
    FIELD("given_back", VoteSaved, result.price.given_back, WHEN(VoteSaved, has_price), .help = "What it gives back."),
    FIELD("rule", VoteSaved, rule, OR_NULL, .help = "The rule that refused it, as a word."),
    FIELD("reason", VoteSaved, reason, OR_NULL, .help = "The same as a sentence."),
    FIELD("policy", VoteSaved, result.refused_policy, OR_NULL, .help = "The policy that the rule is about."),
    FIELD("created", VoteSaved, result.created, OR_NULL, .help = "The policy that this save created."),
};
SCHEMA(SAVE, "Save", VoteSaved, SAVE, .help = "What became of a save.", .tells_failure = true);
/* clang-format on */

/* ---- The outcome ------------------------------------------------------------------------------------------------------- */

Status vote_save_status(const VoteSaved *saved)
{
    static const Status STATUSES[] = {[SAVE_SAVED] = STATUS_OK,
                                      [SAVE_STALE] = STATUS_CONFLICT,
                                      [SAVE_REFUSED] = STATUS_REFUSED,
                                      [SAVE_UNKNOWN] = STATUS_UNKNOWN};
    return STATUSES[saved->result.outcome];
}

static Slice refusal_words(const SaveResult *result, Arena *arena)
{
    int64_t balance = result->state.balance;
    if (result->rule != VOTE_RULE_BALANCE)
        return slice_from(vote_rule_text(result->rule));
    return arena_print(arena, "You have %lld unspent %s: %lld too few for this", (long long)balance,
                       balance == 1 ? "polly" : "pollies", (long long)-result->price.balance);
}

VoteSaved vote_saved_of(const SaveResult *result, Arena *arena, Reason *reason)
{
    bool is_refused = result->outcome == SAVE_REFUSED;
    VoteSaved saved = {.result = *result,
                       .outcome = save_outcome_text(result->outcome),
                       .is_saved = result->outcome == SAVE_SAVED,
                       .has_price = is_refused && (result->rule == VOTE_RULE_PRICE ||
                                                   result->rule == VOTE_RULE_BALANCE),
                       .rule = is_refused ? vote_rule_name(result->rule) : NULL,
                       .reason = is_refused ? refusal_words(result, arena) : SLICE_EMPTY};
    if (!is_refused)
        saved.result.refused_policy = 0;
    if (!saved.is_saved)
        saved.result.created = 0;
    Status status = vote_save_status(&saved);
    if (is_refused)
        (void)!reason_set(reason, status, "", "%.*s", SLICE_ARG(saved.reason));
    else if (result->outcome == SAVE_STALE)
        (void)!reason_set(reason, status, "",
                          "not saved: these votes were saved from elsewhere first");
    else if (result->outcome == SAVE_UNKNOWN)
        (void)!reason_set(reason, status, "", "it is not known whether the votes were saved");
    return saved;
}

void vote_saved_add_holdings(Operations *ops, Arena *arena, VoteSaved *saved)
{
    saved->has_holdings = votes_merged_lines(ops->app->votes, &saved->result.state, arena,
                                             &saved->holdings, &saved->holding_count) == STATUS_OK;
}

/* ---- The way of a save -------------------------------------------------------------------------------------------------- */

Status vote_save_begin(Operations *ops, const Actor *actor, const VoteSave *request, Arena *arena,
                       Save **ret_save, Reason *reason)
{
    SaveRequest *save = ARENA_NEW(arena, SaveRequest);
    *save = (SaveRequest){.voter = actor_id(actor),
                          .seen = request->seen,
                          .vote_requests = vote_requests_of(&request->lines, &request->was, arena),
                          .vote_request_count = request->lines.count,
                          .token = request->token,
                          .has_price = request->has_price,
                          .price = request->price};
    return votes_save_begin(ops->app->votes, save, arena, ret_save, reason);
}

Status vote_save_end(Save *save, Arena *arena, VoteSaved *ret_saved, Reason *reason)
{
    SaveResult result;
    TRY(votes_save_end(save, &result));
    *ret_saved = vote_saved_of(&result, arena, reason);
    return STATUS_OK;
}

static Status vote_save(Operations *ops, const Actor *actor, const VoteSave *request, Arena *arena,
                        VoteSaved *ret_saved, Reason *reason)
{
    VoteSave full = *request;
    VoterState state;
    Save *save;
    if (!request->has_seen) { /* only commands may leave it out */
        TRY(votes_show(ops->app->votes, actor_id(actor), arena, &state));
        full.seen = state.version;
    }
    TRY(vote_save_begin(ops, actor, &full, arena, &save, reason));
    votes_save_send(&save, 1);
    TRY(vote_save_end(save, arena, ret_saved, reason));
    vote_saved_add_holdings(ops, arena, ret_saved);
    return STATUS_OK;
}

static Status outcome_of(const void *answer)
{
    return vote_save_status(answer);
}

static void print_saved(const void *answer, Arena *arena, Buffer *out)
{
    const VoteSaved *saved = answer;
    const VoterState *state = &saved->result.state;
    Slice version = id_text(state->version, arena);
    buffer_print(out, "Saved as number %llu. %lld unspent pollies.\n",
                 (unsigned long long)saved->result.seq, (long long)state->balance);
    for (size_t i = 0; i < saved->holding_count; i++)
        buffer_print(out, "  policy %llu: %lld\n", (unsigned long long)saved->holdings[i].policy,
                     (long long)saved->holdings[i].held);
    buffer_print(out, "version %.*s\n", SLICE_ARG(version));
}

/* clang-format off */
OPERATION(vote_save, VoteSave, VoteSaved, .help = "Save any number of lines at once, all or none.",
    .access = WEB_VOTER, .shows = SHOWS(VOTES), .no_audits = "it is one's own", .answers = &SCHEMA_SAVE, .outcome = outcome_of,
    .api = {WEB_PUT, "me/votes", .tag = "me"}, .command = {"vote save", .print = print_saved},
    .no_page = "the forms of several people are saved by one call (site/my/my_votes.c)",
    .inputs = {
        VOTE_LINES(VoteSave),
        INPUT("seen", VoteSave, seen, VERSION, GIVEN(VoteSave, has_seen), .command_optional = true,
              .help = "The version of the votes that this is a change of; 32 zeros before the first save."),
        INPUT("was", VoteSave, was, NUMBERS, .optional = true, .least = 0, .most = INT64_MAX, .most_count = VOTE_CHANGES_MAX,
              .help = "What these lines held as they were seen: where a merge has made that differ, the save is stale. A line that is not named is changed whatever it holds."),
        INPUT("token", VoteSave, token, ONCE, .in_body = true,
              .help = "32 hexadecimal digits, new for each save: the same token again is the same save."),
        INPUT("price", VoteSave, price, NUMBER, GIVEN(VoteSave, has_price), .optional = true, .least = 0, .most = INT64_MAX,
              .help = "What taking back may cost; when it costs more, the save is refused. Left out: whatever it costs."),
    });
/* clang-format on */
