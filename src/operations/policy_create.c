/* policy_create.c -- creating a policy, which is a save of votes: the policy and its first votes are one entry of the voter's.
 *
 * The token makes a request that is sent twice one policy. A crash between two steps is settled by votes: a policy whose entry was not
 * saved never comes to be. */
#include "operations/policy_create.h"
#include "operations/schema_list.h"

#include "operations/policy_head.h"
#include "operations/schema_macros.h"

static Status policy_create(Operations *ops, const Actor *actor, const PolicyCreate *request,
                            Arena *arena, VoteSaved *ret_saved, Reason *reason)
{
    PolicyText text = {.name = SLICE_EMPTY, .description = SLICE_EMPTY, .rationale = SLICE_EMPTY};
    SaveRequest save = {.create = &text};
    SaveResult result;
    policy_words_apply(&request->words, &text);
    TRY(policy_check_text(&text, reason));
    VotingSettings settings;
    VoterState state;
    save.voter = actor_id(actor);
    save.token = request->token;
    save.seen = request->seen;
    save.create_held = request->held;
    if (!request->has_seen) {
        TRY(votes_show(ops->app->votes, save.voter, arena, &state));
        save.seen = state.version;
    }
    if (!request->has_held) {
        TRY(operations_settings(ops, arena, &settings));
        save.create_held = settings.create_cost;
    }
    TRY(votes_save(ops->app->votes, &save, arena, &result, reason));
    vote_saved_set(ret_saved, &result, arena, reason);
    if (result.outcome == SAVE_REFUSED &&
        (result.rule == VOTE_RULE_BALANCE || result.rule == VOTE_RULE_CREATE_COST ||
         result.rule == VOTE_RULE_HELD))
        (void)!reason_set(reason, STATUS_REFUSED, "held", "%s", vote_rule_text(result.rule));
    if (ret_saved->is_saved) {
        operations_notify(ops, CHANGE_POLICY, result.created);
        ret_saved->result.refused_policy = result.created; /* scripts read it as `policy` */
    }
    vote_saved_add_holdings(ops, arena, ret_saved);
    return STATUS_OK;
}

static size_t create_faults(Operations *ops, const Actor *actor, const void *request, Arena *arena,
                            Reason *ret_reasons)
{
    PolicyText text = {.name = SLICE_EMPTY, .description = SLICE_EMPTY, .rationale = SLICE_EMPTY};
    (void)ops, (void)actor, (void)arena;
    policy_words_apply(&((const PolicyCreate *)request)->words, &text);
    return policy_text_faults(text, ret_reasons);
}

static Status outcome_of(const void *answer)
{
    return vote_save_status(answer);
}

static void print_created(const void *answer, Arena *arena, Buffer *out)
{
    const VoteSaved *saved = answer;
    (void)arena;
    buffer_print(out, "Saved as number %llu.\nThe new policy is %llu.\n",
                 (unsigned long long)saved->result.seq, (unsigned long long)saved->result.created);
}

/* clang-format off */
OPERATION(policy_create, PolicyCreate, VoteSaved, .help = "Create a policy; what that costs are its first votes.",
    .access = WEB_VOTER, .needs = 1u << RIGHT_CREATE, .shows = SHOWS(VOTES), .no_audits = "it is one's own", .answers = &SCHEMA_SAVE, .outcome = outcome_of, .faults = create_faults, .body_bytes = POLICY_WORDS_BYTES,
    .api = {WEB_POST, "policies", .tag = "policies", .code = 201}, .command = {"policy create", .print = print_created},
    .page = {"/policies/new", "created", "Your policy is published."},
    .inputs = {
        POLICY_WORD_INPUTS(PolicyCreate, words, .optional = false),
        INPUT("held", PolicyCreate, held, NUMBER, .optional = true, .least = 0, .most = VOTE_HELD_MAX, GIVEN(PolicyCreate, has_held), .flag = "votes", .help = "Its first votes; left out: what creating costs."),
        INPUT("seen", PolicyCreate, seen, VERSION, .command_optional = true, GIVEN(PolicyCreate, has_seen), .help = "The version of your votes that this is based on; 32 zeros before the first save."),
        INPUT("token", PolicyCreate, token, ONCE, .help = "The same one again makes no second policy."),
    });
/* clang-format on */
