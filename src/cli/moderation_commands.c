/* moderation_commands.c -- what moderators and offices do to policies: retire, delete, restore, merge, answer. */
#include "base/log.h"
#include "cli/arguments.h"
#include "cli/ledger_commands.h"
#include "cli/policy_commands.h"
#include "policies/answers.h"

static Slice reason_flag(Context *context)
{
    Slice text = command_flag(context, "reason");
    return text.data != NULL ? text : SLICE_EMPTY;
}

/* One move of a policy, noted before it is done. */
static Status move_noted(Context *context, ActKind kind, const Policy *policy, PolicyMove *move,
                         Reason *reason)
{
    Id note;
    Policies *policies = context->app->policies;
    Act act = {.kind = kind,
               .actor = move->actor,
               .object = policy->id,
               .other = move->other,
               .reason = move->reason};
    if (kind == ACT_PERSON_AS)
        act = policy_act_as(context, policy->owner);
    TRY(policy_check_move(&policy->facts, move->state, reason));
    TRY(command_act(context, &act, &note, reason));
    Status status =
        kind == ACT_POLICY_RESTORE
            ? policies_restore(policies, policy->id, move, reason)
            : policies_move(policies, policy->id, last_move(policy)->state, move, reason);
    return command_act_end(context, note, status);
}

static Status retire(Context *context, Policy *policy, Reason *reason)
{
    SettingsHistory settings;
    uint64_t actor;
    PolicyMove move = {.state = POLICY_RETIRED, .reason = reason_flag(context)};
    Slice other = command_flag(context, "for");
    TRY(argument_policy(context, context->parsed.operands[0], policy, reason));
    TRY(policy_actor(context, policy, ROLE_MODERATE_POLICIES, true, &actor, reason));
    if (other.data != NULL) {
        Policy alternative;
        TRY(argument_policy(context, other, &alternative, reason));
        move.other = alternative.id;
    }
    TRY(accounts_settings(context->app->accounts, context->arena, &settings));
    move.actor = actor;
    move.percent = settings_at(&settings, clock_now_us(context->world.clock))->withdrawal_percent;
    bool is_own = actor != 0 && actor == policy->owner;
    return move_noted(context, is_own ? ACT_PERSON_AS : ACT_POLICY_RETIRE, policy, &move, reason);
}

int run_policy_retire(Context *context)
{
    Policy policy = {0};
    Reason reason = {0};
    Status status = retire(context, &policy, &reason);
    return policy_done(context, policy.id, status, &reason, "is retired");
}

static Status hide(Context *context, Policy *policy, Reason *reason)
{
    uint64_t actor;
    PolicyMove move = {.state = POLICY_PENDING_DELETION, .reason = reason_flag(context)};
    TRY(argument_policy(context, context->parsed.operands[0], policy, reason));
    TRY(policy_actor(context, policy, ROLE_MODERATE_POLICIES, false, &actor, reason));
    if (move.reason.size == 0)
        return reason_set(reason, STATUS_INVALID, "reason", "say why: --reason TEXT");
    move.actor = actor;
    return move_noted(context, ACT_POLICY_DELETE, policy, &move, reason);
}

int run_policy_delete(Context *context)
{
    Policy policy = {0};
    Reason reason = {0};
    Status status = hide(context, &policy, &reason);
    return policy_done(context, policy.id, status, &reason, "is hidden and will be deleted");
}

static Status restore(Context *context, Policy *policy, Reason *reason)
{
    uint64_t actor;
    PolicyMove move = {.reason = reason_flag(context)};
    TRY(argument_policy(context, context->parsed.operands[0], policy, reason));
    TRY(policy_actor(context, policy, ROLE_MODERATE_POLICIES, false, &actor, reason));
    if (last_move(policy)->state != POLICY_PENDING_DELETION)
        return reason_set(reason, STATUS_REFUSED, "id",
                          "policy %llu does not wait for its deletion",
                          (unsigned long long)policy->id);
    move.actor = actor;
    move.state = policy->facts.moves[policy->facts.move_count - 2].state;
    return move_noted(context, ACT_POLICY_RESTORE, policy, &move, reason);
}

int run_policy_appeal(Context *context)
{
    Policy policy = {0};
    Reason reason = {0};
    Status status = restore(context, &policy, &reason);
    return policy_done(context, policy.id, status, &reason, "is back");
}

/* ---- Merging ------------------------------------------------------------------------------------------------------- */

enum { NEW_OF = 2 }; /* how many policies an act names */

/* "new" makes a target without owner, active at once, with the texts of the first source unless others are given. */
static Status merge_target(Context *context, PolicyMerge *merge, Reason *reason)
{
    Slice into = command_flag(context, "into"), name = command_flag(context, "name");
    Policy policy;
    if (into.data == NULL)
        return reason_set(reason, STATUS_INVALID, "into", "say where to: --into ID or --into new");
    if (!slice_equal(into, SLICE("new"))) {
        TRY(argument_policy(context, into, &policy, reason));
        merge->target = policy.id;
        return STATUS_OK;
    }
    TRY(argument_policy(context, context->parsed.operands[0], &policy, reason));
    if (name.data != NULL)
        policy.text.name = name;
    merge->source = policy.id;
    return policies_merge_target(context->app->policies, merge, &policy.text, &merge->target,
                                 reason);
}

static Status merge_noted(Context *context, const PolicyMerge *merge, Reason *reason)
{
    Id note;
    Act act = {.kind = ACT_POLICY_MERGE,
               .actor = merge->actor,
               .object = merge->source,
               .other = merge->target,
               .reason = merge->reason};
    TRY(command_act(context, &act, &note, reason));
    Status status = policies_merge_named(context->app->policies, merge, reason);
    return command_act_end(context, note, status);
}

/* Who may, and which the first of them are. */
static Status merge_sources(Context *context, PolicyMerge *merge, uint64_t ids[NEW_OF],
                            Reason *reason)
{
    Policy source;
    for (size_t i = 0; i < context->parsed.operand_count; i++) {
        TRY(argument_policy(context, context->parsed.operands[i], &source, reason));
        TRY(policy_actor(context, &source, ROLE_MODERATE_POLICIES, false, &merge->actor, reason));
        if (i < NEW_OF)
            ids[i] = source.id;
    }
    return STATUS_OK;
}

static Status merge_each(Context *context, PolicyMerge *merge, bool is_new, Reason *reason)
{
    Policy source;
    TRY(merge_target(context, merge, reason));
    for (size_t i = 0; i < context->parsed.operand_count; i++) {
        TRY(argument_policy(context, context->parsed.operands[i], &source, reason));
        merge->source = source.id;
        TRY(is_new && i < NEW_OF ? policies_merge_named(context->app->policies, merge, reason)
                                 : merge_noted(context, merge, reason));
        policy_tell_ranking(context, source.id);
    }
    return STATUS_OK;
}

/* A new policy and what becomes of the first two are one act; each further one, and each into another that is there, is an act of its own. */
static Status merge_all(Context *context, PolicyMerge *merge, Reason *reason)
{
    uint64_t ids[NEW_OF] = {0};
    Slice into = command_flag(context, "into");
    Id note;
    TRY(merge_sources(context, merge, ids, reason));
    if (into.data == NULL || !slice_equal(into, SLICE("new")))
        return merge_each(context, merge, false, reason);
    Act act = {.kind = ACT_POLICY_MERGE_NEW,
               .actor = merge->actor,
               .object = ids[0],
               .other = ids[1],
               .reason = merge->reason};
    TRY(command_act(context, &act, &note, reason));
    return command_act_end(context, note, merge_each(context, merge, true, reason));
}

int run_policy_merge(Context *context)
{
    Reason reason = {0};
    PolicyMerge merge = {.id = id_new(context->world.clock, context->world.random),
                         .reason = reason_flag(context)};
    Status status = merge_all(context, &merge, &reason);
    if (status == STATUS_OK && context->parsed.json) {
        policy_tell_ranking(context, merge.target);
        command_print(context, "{\"target\":%llu}\n", (unsigned long long)merge.target);
        return EXIT_DONE;
    }
    return policy_done(context, merge.target, status, &reason, "has them all now");
}

/* ---- Answering ------------------------------------------------------------------------------------------------------ */

static void put_time(JsonWriter *json, const char *key, int64_t us)
{
    char time[LOG_TIME_TEXT];
    log_format_time(us, time);
    json_member_text(json, key, time);
}

static void put_answer(JsonWriter *json, const AnswerState *state, Arena *arena)
{
    const Answer *answer = &state->answer;
    json_member_bool(json, "answered", state->is_answered);
    json_member_bool(json, "due", state->is_due && !state->is_answered);
    if (!state->is_answered)
        return;
    json_member_text(json, "outcome", OUTCOME_WORDS[answer->outcome]);
    json_member_string(json, "text", answer->text);
    json_member_i64(json, "revision", answer->revision);
    json_member_string(json, "version", id_text(answer->version, arena));
    json_member_i64(json, "author", (int64_t)answer->author);
    put_time(json, "time", answer->time_us);
}

static int show_answer(Context *context, uint64_t policy)
{
    AnswerState state;
    BUFFER_SCOPE Buffer out = {0};
    JsonWriter json = json_writer(&out);
    Status status = answers_read(context->app->policies, policy, context->arena, &state);
    if (status != STATUS_OK)
        return command_fail(context, status, NULL);
    if (context->parsed.json) {
        json_object_begin(&json);
        json_member_i64(&json, "policy", (int64_t)policy);
        put_answer(&json, &state, context->arena);
        json_object_end(&json);
        command_json(context, &out);
    } else if (state.is_answered) {
        command_print(context, "policy %llu: %s (answer %u)\n%.*s\n", (unsigned long long)policy,
                      outcome_text(state.answer.outcome), state.answer.revision,
                      SLICE_ARG(state.answer.text));
    } else {
        command_print(context, "policy %llu has no official answer%s\n", (unsigned long long)policy,
                      state.is_due ? ", and one is due" : "");
    }
    return EXIT_DONE;
}

static Status read_outcome(Context *context, AnswerOutcome *ret_outcome, Reason *reason)
{
    Slice word = command_flag(context, "outcome");
    if (word.data == NULL)
        return STATUS_OK; /* as it was */
    for (int i = 0; i < OUTCOME_COUNT; i++)
        if (slice_equal(word, slice_from(OUTCOME_WORDS[i]))) {
            *ret_outcome = (AnswerOutcome)i;
            return STATUS_OK;
        }
    return reason_set(reason, STATUS_INVALID, "outcome",
                      "is one of none, considering, accepted, rejected, done");
}

/* On top of what stands; what no flag names stays. */
static Status give_answer(Context *context, const Policy *policy, Reason *reason)
{
    AnswerState state;
    Slice text = command_flag(context, "text");
    TRY(answers_read(context->app->policies, policy->id, context->arena, &state));
    AnswerWish wish = {.seen = state.answer.version,
                       .outcome = state.answer.outcome,
                       .text = text.data != NULL ? text : state.answer.text};
    TRY(policy_actor(context, policy, ROLE_RESPOND, false, &wish.author, reason));
    TRY(read_outcome(context, &wish.outcome, reason));
    Id note;
    Act act = {.kind = ACT_POLICY_ANSWER,
               .actor = wish.author,
               .object = policy->id,
               .reason = slice_from(outcome_text(wish.outcome))};
    TRY(command_act(context, &act, &note, reason));
    Status status = answers_give(context->app->policies, policy->id, &wish, reason);
    return command_act_end(context, note, status);
}

int run_policy_answer(Context *context)
{
    Policy policy;
    Reason reason = {0};
    bool asks =
        command_flag(context, "text").data == NULL && command_flag(context, "outcome").data == NULL;
    Status status = argument_policy(context, context->parsed.operands[0], &policy, &reason);
    if (status == STATUS_OK && !asks)
        status = give_answer(context, &policy, &reason);
    if (status != STATUS_OK)
        return command_fail(context, status, &reason);
    return show_answer(context, policy.id);
}
