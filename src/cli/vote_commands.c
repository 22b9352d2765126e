/* vote_commands.c -- saves, their cost, what stands, the history; and the settings of the vote. */
#include <stdio.h>

#include "base/log.h"
#include "cli/arguments.h"
#include "cli/ledger_commands.h"
#include "cli/policy_commands.h"

static void put_id(JsonWriter *json, const char *key, Id id, Arena *arena)
{
    json_member_string(json, key, id_text(id, arena));
}

/* Lines as {"ID": HELD}, those that hold something. */
static void put_lines(JsonWriter *json, const VoterState *state)
{
    json_key(json, "lines");
    json_object_begin(json);
    for (size_t i = 0; i < state->line_count; i++) {
        char key[24];
        snprintf(key, sizeof key, "%llu", (unsigned long long)state->lines[i].policy);
        if (state->lines[i].held > 0)
            json_member_i64(json, key, state->lines[i].held);
    }
    json_object_end(json);
}

static void put_state(JsonWriter *json, const VoterState *state, Arena *arena)
{
    put_id(json, "version", state->version, arena);
    json_member_i64(json, "seq", (int64_t)state->seq);
    json_member_i64(json, "balance", state->balance);
    put_lines(json, state);
}

static void print_state(Context *context, const VoterState *state)
{
    command_print(context, "You have %lld unspent pollies.\n", (long long)state->balance);
    for (size_t i = 0; i < state->line_count; i++)
        if (state->lines[i].held > 0)
            command_print(context, "  policy %llu: %lld\n",
                          (unsigned long long)state->lines[i].policy,
                          (long long)state->lines[i].held);
    Slice version = id_text(state->version, context->arena);
    command_print(context, "version %.*s\n", SLICE_ARG(version));
}

/* ---- Save ------------------------------------------------------------------------------------------------------ */

static int print_saved(Context *context, const SaveResult *result)
{
    bool saved = result->outcome == SAVE_SAVED;
    if (context->parsed.json) {
        BUFFER_SCOPE Buffer out = {0};
        JsonWriter json = json_writer(&out);
        json_object_begin(&json);
        json_member_text(&json, "outcome", save_outcome_text(result->outcome));
        put_state(&json, &result->state, context->arena);
        if (saved && result->seq != result->state.seq) {
            json_member_i64(&json, "saved_seq", (int64_t)result->seq);
            put_id(&json, "saved_version", result->version, context->arena);
        }
        if (result->created != 0)
            json_member_i64(&json, "policy", (int64_t)result->created);
        if (result->outcome == SAVE_REFUSED) {
            json_member_text(&json, "rule", vote_rule_name(result->rule));
            json_member_text(&json, "reason", vote_rule_text(result->rule));
        }
        json_object_end(&json);
        command_json(context, &out);
        return saved ? EXIT_DONE : EXIT_FAILED;
    }
    if (saved) {
        command_print(context, "Saved as number %llu.\n", (unsigned long long)result->seq);
        if (result->created != 0)
            command_print(context, "The new policy is %llu.\n",
                          (unsigned long long)result->created);
        print_state(context, &result->state);
        return EXIT_DONE;
    }
    static const char *const WHY[] = {
        [SAVE_STALE] =
            "not saved: somebody, or you elsewhere, saved first; `vote show` says what stands now",
        [SAVE_UNKNOWN] = "not known whether it was saved; `vote show` says what stands"};
    Reason reason;
    Status status =
        result->outcome == SAVE_REFUSED
            ? reason_set(&reason, STATUS_REFUSED, "", "not saved: %s", vote_rule_text(result->rule))
            : reason_set(&reason, STATUS_CONFLICT, "", "%s", WHY[result->outcome]);
    return command_fail(context, status, &reason);
}

/* Without --seen the command saves on top of whatever stands. */
static Status seen_version(Context *context, uint64_t voter, Id *ret_seen, Reason *reason)
{
    VoterState state;
    TRY(argument_version(context, "seen", ret_seen, reason));
    if (command_flag(context, "seen").data != NULL)
        return STATUS_OK;
    TRY(votes_show(context->app->votes, voter, context->arena, &state));
    *ret_seen = state.version;
    return STATUS_OK;
}

/* What is noted of a save's outcome. */
static Status outcome_of(Status status, const SaveResult *result)
{
    static const Status OUTCOMES[] = {[SAVE_SAVED] = STATUS_OK,
                                      [SAVE_STALE] = STATUS_CONFLICT,
                                      [SAVE_REFUSED] = STATUS_REFUSED,
                                      [SAVE_UNKNOWN] = STATUS_UNKNOWN};
    return status == STATUS_OK ? OUTCOMES[result->outcome] : status;
}

/* A save by command is in somebody's name, by whoever has the machine: so it is an act. */
static Status save_noted(Context *context, const SaveRequest *request, SaveResult *ret_result,
                         Reason *reason)
{
    Id note;
    Act act = policy_act_as(context, request->voter);
    TRY(command_act(context, &act, &note, reason));
    Status status = votes_save(context->app->votes, request, context->arena, ret_result, reason);
    audit_end(context->audit, note, outcome_of(status, ret_result));
    return status;
}

int run_vote_save(Context *context)
{
    Account account;
    Reason reason = {0};
    SaveRequest request = {0};
    SaveResult result;
    VoteWish *wishes = NULL;
    Status status = argument_account(context, "as", &account, &reason);
    if (status == STATUS_OK)
        status = argument_wishes(context, &wishes, &request.wish_count, &reason);
    if (status == STATUS_OK)
        status = argument_version(context, "token", &request.token, &reason);
    if (status == STATUS_OK)
        status = seen_version(context, account.id, &request.seen, &reason);
    if (status == STATUS_OK) {
        request.voter = account.id;
        request.wishes = wishes;
        status = save_noted(context, &request, &result, &reason);
    }
    return status == STATUS_OK ? print_saved(context, &result)
                               : command_fail(context, status, &reason);
}

int run_policy_create(Context *context)
{
    Account account;
    Reason reason = {0};
    SaveResult result;
    SaveRequest request = {0};
    SettingsHistory settings;
    Slice description = command_flag(context, "description"),
          rationale = command_flag(context, "rationale");
    PolicyText text = {.name = command_flag(context, "name"),
                       .description = description.data != NULL ? description : SLICE_EMPTY,
                       .rationale = rationale.data != NULL ? rationale : SLICE_EMPTY};
    Status status = argument_account(context, "as", &account, &reason);
    if (status == STATUS_OK && text.name.data == NULL)
        status = reason_set(&reason, STATUS_INVALID, "name", "say its name: --name TEXT");
    if (status == STATUS_OK)
        status = argument_group(context, "category", GROUP_CATEGORY, &text.category, &reason);
    if (status == STATUS_OK && text.category == 0)
        status =
            reason_set(&reason, STATUS_INVALID, "category", "say its category: --category NAME");
    if (status == STATUS_OK)
        status = argument_group(context, "party", GROUP_PARTY, &text.party, &reason);
    if (status == STATUS_OK)
        status = accounts_settings(context->app->accounts, context->arena, &settings);
    if (status == STATUS_OK) {
        int64_t cost = settings_at(&settings, clock_now_us(context->world.clock))->create_cost;
        status = argument_number(context, "votes", 0, VOTE_HELD_MOST, cost, &request.create_held,
                                 &reason);
    }
    if (status == STATUS_OK)
        status = seen_version(context, account.id, &request.seen, &reason);
    if (status == STATUS_OK) {
        request.voter = account.id;
        request.create = &text;
        status = save_noted(context, &request, &result, &reason);
    }
    if (status == STATUS_OK && result.created != 0 && context->app->ranking_loaded)
        (void)!ranking_policy_changed(context->app->ranking, result.created);
    return status == STATUS_OK ? print_saved(context, &result)
                               : command_fail(context, status, &reason);
}

/* ---- Cost, what stands, history ---------------------------------------------------------------------------------- */

int run_vote_cost(Context *context)
{
    Account account;
    Reason reason = {0};
    VoteWish *wishes = NULL;
    size_t count = 0;
    CostAnswer cost;
    Status status = argument_account(context, "as", &account, &reason);
    if (status == STATUS_OK)
        status = argument_wishes(context, &wishes, &count, &reason);
    if (status == STATUS_OK)
        status = votes_cost(context->app->votes, account.id, wishes, count, context->arena, &cost);
    if (status != STATUS_OK)
        return command_fail(context, status, &reason);
    if (context->parsed.json) {
        BUFFER_SCOPE Buffer out = {0};
        JsonWriter json = json_writer(&out);
        json_object_begin(&json);
        json_member_bool(&json, "possible", cost.rule == VOTE_RULE_NONE);
        json_member_i64(&json, "balance", cost.balance);
        json_member_i64(&json, "penalty", cost.penalty);
        json_member_i64(&json, "given_back", cost.given_back);
        if (cost.rule != VOTE_RULE_NONE) {
            json_member_text(&json, "rule", vote_rule_name(cost.rule));
            json_member_text(&json, "reason", vote_rule_text(cost.rule));
        }
        json_object_end(&json);
        command_json(context, &out);
        return EXIT_DONE;
    }
    if (cost.rule != VOTE_RULE_NONE)
        command_print(context, "This could not be saved: %s.\n", vote_rule_text(cost.rule));
    else if (cost.penalty > 0)
        command_print(context, "Taking back costs %lld. You get %lld back.\n",
                      (long long)cost.penalty, (long long)cost.given_back);
    command_print(context, "You would have %lld unspent pollies.\n", (long long)cost.balance);
    return EXIT_DONE;
}

int run_vote_show(Context *context)
{
    Account account;
    Reason reason = {0};
    VoterState state;
    Status status = argument_account(context, "as", &account, &reason);
    if (status == STATUS_OK)
        status = votes_show(context->app->votes, account.id, context->arena, &state);
    if (status != STATUS_OK)
        return command_fail(context, status, &reason);
    if (!context->parsed.json) {
        print_state(context, &state);
        return EXIT_DONE;
    }
    BUFFER_SCOPE Buffer out = {0};
    JsonWriter json = json_writer(&out);
    json_object_begin(&json);
    put_state(&json, &state, context->arena);
    json_member_bool(&json, "closed", state.closed);
    json_object_end(&json);
    command_json(context, &out);
    return EXIT_DONE;
}

static void put_entry(JsonWriter *json, const Entry *entry, Arena *arena)
{
    char time[LOG_TIME_TEXT];
    log_format_time(entry->time_us, time);
    json_object_begin(json);
    json_member_i64(json, "seq", (int64_t)entry->seq);
    put_id(json, "version", entry->version, arena);
    json_member_text(json, "time", time);
    json_member_i64(json, "setting_version", entry->setting_version);
    if (entry->created != 0)
        json_member_i64(json, "created", (int64_t)entry->created);
    if (entry->closing)
        json_member_bool(json, "closing", true);
    json_key(json, "changes");
    json_array_begin(json);
    for (size_t i = 0; i < entry->change_count; i++) {
        json_object_begin(json);
        json_member_i64(json, "policy", (int64_t)entry->changes[i].policy);
        json_member_i64(json, "before", entry->changes[i].before);
        json_member_i64(json, "held", entry->changes[i].held);
        json_object_end(json);
    }
    json_array_end(json);
    json_object_end(json);
}

static void print_entry(Context *context, const Entry *entry)
{
    char time[LOG_TIME_TEXT];
    log_format_time(entry->time_us, time);
    command_print(context, "%llu  %s%s\n", (unsigned long long)entry->seq, time,
                  entry->closing ? "  account closed"
                  : entry->fence ? "  (nothing)"
                                 : "");
    for (size_t i = 0; i < entry->change_count; i++)
        command_print(context, "    policy %llu: %lld -> %lld\n",
                      (unsigned long long)entry->changes[i].policy,
                      (long long)entry->changes[i].before, (long long)entry->changes[i].held);
}

int run_vote_history(Context *context)
{
    Account account;
    Reason reason = {0};
    Entry *entries = NULL;
    size_t count = 0;
    int64_t limit, before;
    Status status = argument_account(context, "as", &account, &reason);
    if (status == STATUS_OK)
        status = argument_number(context, "limit", 1, 1000, 50, &limit, &reason);
    if (status == STATUS_OK)
        status = argument_number(context, "before", 1, INT64_MAX, 0, &before, &reason);
    if (status == STATUS_OK)
        status = votes_history(context->app->votes, account.id, (uint64_t)before, (uint32_t)limit,
                               context->arena, &entries, &count);
    if (status != STATUS_OK)
        return command_fail(context, status, &reason);
    BUFFER_SCOPE Buffer out = {0};
    JsonWriter json = json_writer(&out);
    json_array_begin(&json);
    for (size_t i = 0; i < count; i++) {
        if (context->parsed.json)
            put_entry(&json, &entries[i], context->arena);
        else
            print_entry(context, &entries[i]);
    }
    json_array_end(&json);
    if (context->parsed.json)
        command_json(context, &out);
    return EXIT_DONE;
}

/* ---- Settings ------------------------------------------------------------------------------------------------------ */

static void put_settings(JsonWriter *json, const VotingSettings *settings)
{
    char time[LOG_TIME_TEXT];
    json_object_begin(json);
    json_member_i64(json, "version", settings->version);
    if (settings->from_us > 0) {
        log_format_time(settings->from_us, time);
        json_member_text(json, "from", time);
    }
#define X(name, fallback, least, most, help) json_member_i64(json, #name, settings->name);
    SETTING_LIST(X)
#undef X
    json_object_end(json);
}

int run_setting_list(Context *context)
{
    SettingsHistory history;
    Status status = accounts_settings(context->app->accounts, context->arena, &history);
    if (status != STATUS_OK)
        return command_fail(context, status, NULL);
    BUFFER_SCOPE Buffer out = {0};
    if (context->parsed.json) {
        JsonWriter json = json_writer(&out);
        json_array_begin(&json);
        for (size_t i = 0; i < history.count; i++)
            put_settings(&json, &history.versions[i]);
        json_array_end(&json);
        command_json(context, &out);
        return EXIT_DONE;
    }
    const VotingSettings *now = settings_at(&history, clock_now_us(context->world.clock));
#define X(name, fallback, least, most, help) \
    command_print(context, "%-20s %8lld  %s\n", #name, (long long)now->name, help);
    SETTING_LIST(X)
#undef X
    return EXIT_DONE;
}

static Status set_setting(Context *context, Reason *reason)
{
    Slice name = context->parsed.operands[0], value = context->parsed.operands[1];
    Act act = {.kind = ACT_SETTING_SET,
               .details =
                   arena_print(context->arena, "%.*s: %.*s", SLICE_ARG(name), SLICE_ARG(value))};
    int64_t from_us;
    Id note;
    TRY(argument_time(context, "from", 0, &from_us, reason));
    TRY(command_act(context, &act, &note, reason));
    return command_act_end(
        context, note, accounts_set_setting(context->app->accounts, name, value, from_us, reason));
}

int run_setting_set(Context *context)
{
    Reason reason = {0};
    Status status = set_setting(context, &reason);
    if (status != STATUS_OK)
        return command_fail(context, status, &reason);
    command_print(context, "%.*s will be %.*s; `setting list --json` says from when\n",
                  SLICE_ARG(context->parsed.operands[0]), SLICE_ARG(context->parsed.operands[1]));
    return EXIT_DONE;
}
