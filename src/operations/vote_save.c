/* vote_save.c -- saving votes, whichever door they came by. See votes.h.
 *
 * A save is one conditional update of the voter's row (votes.h of votes/), so there is no step at which a crash leaves half of it. Whoever
 * does not learn the outcome sends the same request with the same token again: it is one save. */
#include "operations/schema_macros.h"
#include "operations/votes.h"

enum { SAVE_BYTES = 128 * 1024 }; /* of the most lines, as a form names them */

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

void vote_saved_set(VoteSaved *saved, const SaveResult *result, Arena *arena, Reason *reason)
{
    bool is_refused = result->outcome == SAVE_REFUSED;
    saved->result = *result;
    saved->outcome = save_outcome_text(result->outcome);
    saved->is_saved = result->outcome == SAVE_SAVED;
    saved->has_price =
        is_refused && (result->rule == VOTE_RULE_PRICE || result->rule == VOTE_RULE_BALANCE);
    saved->rule = is_refused ? vote_rule_name(result->rule) : NULL;
    saved->reason = is_refused ? refusal_words(result, arena) : SLICE_EMPTY;
    if (!is_refused)
        saved->result.refused_policy = 0;
    if (!saved->is_saved)
        saved->result.created = 0;
    Status status = vote_save_status(saved);
    if (is_refused)
        (void)!reason_set(reason, status, "", "%.*s", SLICE_ARG(saved->reason));
    else if (result->outcome == SAVE_STALE)
        (void)!reason_set(reason, status, "",
                          "not saved: these votes were saved from elsewhere first");
    else if (result->outcome == SAVE_UNKNOWN)
        (void)!reason_set(reason, status, "", "it is not known whether the votes were saved");
}

void vote_saved_add_holdings(Operations *ops, Arena *arena, VoteSaved *saved)
{
    saved->has_holdings = votes_merged_lines(ops->app->votes, &saved->result.state, arena,
                                             &saved->holdings, &saved->holding_count) == STATUS_OK;
}

/* ---- The way of a save -------------------------------------------------------------------------------------------------- */

static Status begin(Operations *ops, const OperationCall *call, Save **ret_save)
{
    VoteSaved *saved = call->answer;
    VoteSave *asked = &saved->asked;
    VoterState state;
    *asked = *(const VoteSave *)call->request;
    if (!asked->has_seen) { /* only commands may leave it out */
        TRY(votes_show(ops->app->votes, actor_id(call->actor), call->arena, &state));
        asked->seen = state.version;
    }
    if (asked->is_one) {
        asked->one_was.id = asked->one.id;
        asked->lines = (InputNumbers){&asked->one, 1};
        asked->was = (InputNumbers){&asked->one_was, asked->has_one_was};
    }
    saved->changes =
        vote_requests_of(&asked->lines, &asked->was, call->arena, &saved->change_count);
    SaveRequest *save = ARENA_NEW(call->arena, SaveRequest);
    *save = (SaveRequest){.voter = actor_id(call->actor),
                          .seen = asked->seen,
                          .vote_requests = saved->changes,
                          .vote_request_count = saved->change_count,
                          .token = asked->token,
                          .has_price = asked->has_price,
                          .price = asked->price};
    return votes_save_begin(ops->app->votes, save, call->arena, ret_save, call->reason);
}

/* A refusal names the field that it is about. */
static Status refuse(const OperationCall *call, const VoteSaved *saved)
{
    Slice field = SLICE_EMPTY;
    if (saved->asked.is_one && saved->result.rule == VOTE_RULE_NO_POLICY)
        return reason_set(call->reason, STATUS_NOT_FOUND, "policy", "there is no such policy");
    if (saved->asked.is_one)
        field = SLICE("held");
    else if (saved->result.refused_policy != 0)
        field = arena_print(call->arena, "lines[%llu]",
                            (unsigned long long)saved->result.refused_policy);
    (void)!reason_set(call->reason, STATUS_REFUSED, arena_text(call->arena, field), "%.*s",
                      SLICE_ARG(saved->reason));
    return STATUS_OK;
}

static Status end(Operations *ops, const OperationCall *call, Save *save)
{
    VoteSaved *saved = call->answer;
    SaveResult result;
    TRY(votes_save_end(save, &result));
    vote_saved_set(saved, &result, call->arena, call->reason);
    if (saved->rule != NULL)
        TRY(refuse(call, saved));
    saved->is_unchanged = saved->is_saved && id_equal(result.version, saved->asked.seen);
    if (call->actor->door != DOOR_PAGE ||
        !saved->is_saved) /* which leads to a page that reads it */
        vote_saved_add_holdings(ops, call->arena, saved);
    return STATUS_OK;
}

/* OperationRunMany: all are sent to the store by one call. */
static void vote_save_many(Operations *ops, OperationCall *const *calls, size_t count)
{
    Save *saves[WEB_BATCH_MAX], *sent[WEB_BATCH_MAX];
    size_t sent_count = 0;
    for (size_t i = 0; i < count; i++) {
        calls[i]->status = begin(ops, calls[i], &saves[i]);
        if (calls[i]->status == STATUS_OK)
            sent[sent_count++] = saves[i];
    }
    votes_save_send(sent, sent_count);
    for (size_t i = 0; i < count; i++)
        if (calls[i]->status == STATUS_OK) {
            calls[i]->has_effects = votes_save_is_sent(saves[i]);
            calls[i]->status = end(ops, calls[i], saves[i]);
        }
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
#define MARKS                                                                                                                              \
    INPUT("seen", VoteSave, seen, VERSION, GIVEN(VoteSave, has_seen), .command_optional = true,                                            \
          .help = "The version of the votes that this is a change of; 32 zeros before the first save."),                                   \
    INPUT("token", VoteSave, token, ONCE, .in_body = true,                                                                                 \
          .help = "32 hexadecimal digits, new for each save: the same token again is the same save."),                                     \
    INPUT("price", VoteSave, price, NUMBER, GIVEN(VoteSave, has_price), .optional = true, .form_fallback = "0", .least = 0, .most = INT64_MAX, \
          .help = "What taking back may cost; when it costs more, the save is refused. Left out: whatever it costs.")

OPERATION_MANY(vote_save, vote_save_many, VoteSave, VoteSaved, .help = "Save any number of lines at once, all or none.",
    .access = WEB_VOTER, .shows = SHOWS(VOTES), .no_audits = "it is one's own", .answers = &SCHEMA_SAVE, .outcome = outcome_of, .body_bytes = SAVE_BYTES,
    .api = {WEB_PUT, "me/votes", .tag = "me"}, .command = {"vote save", .print = print_saved},
    .page = {.path = "/my/votes", .told = "Your votes are saved."},
    .inputs = {
        VOTE_LINES(VoteSave),
        INPUT("was", VoteSave, was, NUMBERS, .optional = true, .least = 0, .most = INT64_MAX, .most_count = VOTE_LINES_MAX,
              .help = "What these lines held as they were seen. A line that shall hold the same stays as it is; where a merge has made another differ, the save is stale. A line that is not named is changed whatever it holds."),
        MARKS,
    });

OPERATION_MANY(vote_save_line, vote_save_many, VoteSave, VoteSaved, .help = "Save the line on one policy.",
    .access = WEB_VOTER, .whose = WEB_ANYBODYS, .no_audits = "it is one's own", .answers = &SCHEMA_SAVE, .outcome = outcome_of,
    .no_api = "vote_save does it", .no_command = "vote save does it", .page = {.path = "/my/votes/{policy}", .told = "Your votes are saved."},
    .inputs = {
        INPUT("policy", VoteSave, one.id, POLICY, GIVEN(VoteSave, is_one), .help = "The policy."),
        INPUT("held", VoteSave, one.number, NUMBER, .least = 0, .most = VOTE_HELD_MAX, .missing = "must be a whole number", .help = "What the line shall hold."),
        INPUT("was", VoteSave, one_was.number, NUMBER, GIVEN(VoteSave, has_one_was), .optional = true, .least = 0, .most = INT64_MAX,
              .help = "What it held as it was seen."),
        MARKS,
    });
/* clang-format on */
