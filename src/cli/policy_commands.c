/* policy_commands.c -- policies and their texts; categories and parties. Moves are in moderation_commands.c. */
#include "cli/policy_commands.h"
#include "base/log.h"
#include "cli/arguments.h"
#include "cli/ledger_commands.h"

/* ---- Showing ------------------------------------------------------------------------------------------------------ */

static void put_time(JsonWriter *json, const char *key, int64_t us)
{
    char time[LOG_TIME_TEXT];
    log_format_time(us, time);
    json_member_text(json, key, time);
}

const PolicyMove *last_move(const Policy *policy)
{
    return &policy->facts.moves[policy->facts.move_count - 1];
}

static void put_policy(JsonWriter *json, const Policy *policy, Arena *arena)
{
    json_member_i64(json, "id", (int64_t)policy->id);
    json_member_string(json, "name", policy->text.name);
    json_member_text(json, "state", policy_state_text(last_move(policy)->state));
    json_member_i64(json, "owner", (int64_t)policy->owner);
    json_member_i64(json, "category", (int64_t)policy->text.category);
    json_member_i64(json, "party", (int64_t)policy->text.party);
    json_member_i64(json, "revision", policy->revision);
    json_member_string(json, "version", id_text(policy->version, arena));
    put_time(json, "created", policy->created_us);
    if (last_move(policy)->other != 0)
        json_member_i64(json, "leads_to", (int64_t)last_move(policy)->other);
}

/* The count of a root is its own and its members'. */
static Status count_of(Context *context, uint64_t policy, Count *ret_count)
{
    uint64_t *members;
    size_t count;
    Count sum = {0};
    TRY(policies_members(context->app->policies, policy, context->arena, &members, &count));
    for (size_t i = 0; i < count; i++) {
        Count own;
        TRY(votes_count(context->app->votes, members[i], context->arena, &own));
        count_add(&sum, &own);
    }
    *ret_count = sum;
    return STATUS_OK;
}

Status argument_policy(Context *context, Slice text, Policy *ret_policy, Reason *reason)
{
    uint64_t id;
    TRY(argument_id(text, &id, reason));
    Status status = policies_fresh(context->app->policies, id, context->arena, ret_policy);
    if (status == STATUS_NOT_FOUND)
        return reason_set(reason, status, "id", "there is no policy %llu", (unsigned long long)id);
    return status;
}

int run_policy_show(Context *context)
{
    Policy policy;
    Count count;
    Reason reason = {0};
    Status status = argument_policy(context, context->parsed.operands[0], &policy, &reason);
    if (status == STATUS_OK)
        status = count_of(context, policy.id, &count);
    if (status != STATUS_OK)
        return command_fail(context, status, &reason);
    if (context->parsed.json) {
        BUFFER_SCOPE Buffer out = {0};
        JsonWriter json = json_writer(&out);
        json_object_begin(&json);
        put_policy(&json, &policy, context->arena);
        json_member_string(&json, "description", policy.text.description);
        json_member_string(&json, "rationale", policy.text.rationale);
        json_member_i64(&json, "votes", count.total);
        json_object_end(&json);
        command_json(context, &out);
        return EXIT_DONE;
    }
    command_print(context, "%llu %.*s (%s), %lld votes\n%.*s\n", (unsigned long long)policy.id,
                  SLICE_ARG(policy.text.name), policy_state_text(last_move(&policy)->state),
                  (long long)count.total, SLICE_ARG(policy.text.description));
    return EXIT_DONE;
}

int run_policy_list(Context *context)
{
    BUFFER_SCOPE Buffer out = {0};
    JsonWriter json = json_writer(&out);
    Slice position = SLICE_EMPTY;
    json_array_begin(&json);
    for (bool more = true; more;) {
        Policy *policies;
        size_t count;
        Status status = policies_list(context->app->policies, position, context->arena, &policies,
                                      &count, &position, &more);
        if (status != STATUS_OK)
            return command_fail(context, status, NULL);
        for (size_t i = 0; i < count; i++) {
            if (context->parsed.json) {
                json_object_begin(&json);
                put_policy(&json, &policies[i], context->arena);
                json_object_end(&json);
            } else {
                command_print(context, "%6llu  %-16s %.*s\n", (unsigned long long)policies[i].id,
                              policy_state_text(last_move(&policies[i])->state),
                              SLICE_ARG(policies[i].text.name));
            }
        }
    }
    json_array_end(&json);
    if (context->parsed.json)
        command_json(context, &out);
    return EXIT_DONE;
}

/* ---- Changing ------------------------------------------------------------------------------------------------------ */

/* What the change left, as `policy show --json` says it. */
static int answer_policy(Context *context, uint64_t id)
{
    BUFFER_SCOPE Buffer out = {0};
    JsonWriter json = json_writer(&out);
    Policy policy;
    Status status = policies_fresh(context->app->policies, id, context->arena, &policy);
    if (status != STATUS_OK)
        return command_fail(context, status, NULL);
    json_object_begin(&json);
    put_policy(&json, &policy, context->arena);
    json_object_end(&json);
    command_json(context, &out);
    return EXIT_DONE;
}

Status policy_actor(Context *context, const Policy *policy, AccountRole role, bool owner_may,
                    uint64_t *ret_actor, Reason *reason)
{
    Account account;
    *ret_actor = 0;
    if (command_flag(context, "as").data == NULL)
        return STATUS_OK;
    TRY(argument_account(context, "as", &account, reason));
    *ret_actor = account.id;
    if (account_has(&account, role) || (owner_may && policy->owner == account.id))
        return STATUS_OK;
    return reason_set(reason, STATUS_DENIED, "as", "%.*s may not do that", SLICE_ARG(account.name));
}

Act policy_act_as(Context *context, uint64_t account)
{
    return (Act){.kind = ACT_PERSON_AS,
                 .object = account,
                 .details = slice_from(context->parsed.command->name)};
}

void policy_tell_ranking(Context *context, uint64_t policy)
{
    if (context->app->ranking_loaded)
        (void)!ranking_policy_changed(context->app->ranking,
                                      policy); /* the next load corrects it */
}

int policy_done(Context *context, uint64_t policy, Status status, const Reason *reason,
                const char *done)
{
    if (status != STATUS_OK)
        return command_fail(context, status, reason);
    policy_tell_ranking(context, policy);
    if (context->parsed.json)
        return answer_policy(context, policy);
    command_print(context, "policy %llu %s\n", (unsigned long long)policy, done);
    return EXIT_DONE;
}

/* What the flags name replaces what stands. */
static Status read_texts(Context *context, PolicyText *text, Reason *reason)
{
    static const char *const NAMES[] = {"name", "description", "rationale"};
    Slice *fields[] = {&text->name, &text->description, &text->rationale};
    uint64_t group;
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        if (command_flag(context, NAMES[i]).data != NULL)
            *fields[i] = command_flag(context, NAMES[i]);
    TRY(argument_group(context, "category", GROUP_CATEGORY, &group, reason));
    if (group != 0)
        text->category = group;
    return STATUS_OK;
}

static Status edit(Context *context, Policy *policy, Reason *reason)
{
    uint64_t actor;
    Id note;
    TRY(argument_policy(context, context->parsed.operands[0], policy, reason));
    TRY(policy_actor(context, policy, ROLE_EDIT_POLICIES, true, &actor, reason));
    TRY(read_texts(context, &policy->text, reason));
    Act act = actor != 0 && actor == policy->owner
                  ? policy_act_as(context, actor)
                  : (Act){.kind = ACT_POLICY_EDIT, .actor = actor, .object = policy->id};
    TRY(command_act(context, &act, &note, reason));
    return command_act_end(context, note,
                           policies_edit(context->app->policies, policy->id, policy->version,
                                         &policy->text, actor, reason));
}

int run_policy_edit(Context *context)
{
    Policy policy = {0};
    Reason reason = {0};
    Status status = edit(context, &policy, &reason);
    return policy_done(context, policy.id, status, &reason, "is edited");
}

/* ---- Categories and parties ------------------------------------------------------------------------------------------ */

static int list_groups(Context *context, GroupKind kind)
{
    Group *groups;
    size_t count;
    BUFFER_SCOPE Buffer out = {0};
    JsonWriter json = json_writer(&out);
    Status status = policies_groups(context->app->policies, kind, context->arena, &groups, &count);
    if (status != STATUS_OK)
        return command_fail(context, status, NULL);
    json_array_begin(&json);
    for (size_t i = 0; i < count; i++) {
        if (!context->parsed.json) {
            command_print(context, "%4llu  %.*s%s\n", (unsigned long long)groups[i].id,
                          SLICE_ARG(groups[i].name), groups[i].active ? "" : " (disabled)");
            continue;
        }
        json_object_begin(&json);
        json_member_i64(&json, "id", (int64_t)groups[i].id);
        json_member_string(&json, "name", groups[i].name);
        json_member_string(&json, "description", groups[i].description);
        json_member_bool(&json, "active", groups[i].active);
        json_object_end(&json);
    }
    json_array_end(&json);
    if (context->parsed.json)
        command_json(context, &out);
    return EXIT_DONE;
}

static Status set_noted(Context *context, GroupKind kind, const Group *group, uint64_t *ret_id,
                        Reason *reason)
{
    Id note;
    Act act = {.kind = kind == GROUP_PARTY ? ACT_PARTY_SET : ACT_CATEGORY_ADD,
               .object = group->id,
               .details = arena_print(context->arena, "%.*s; %s", SLICE_ARG(group->name),
                                      group->active ? "active" : "disabled")};
    TRY(command_act(context, &act, &note, reason));
    return command_act_end(context, note,
                           policies_set_group(context->app->policies, kind, group, ret_id, reason));
}

static int set_group(Context *context, GroupKind kind, Group group)
{
    Reason reason = {0};
    Slice description = command_flag(context, "description");
    uint64_t id;
    if (description.data != NULL)
        group.description = description;
    Status status = set_noted(context, kind, &group, &id, &reason);
    if (status != STATUS_OK)
        return command_fail(context, status, &reason);
    if (context->parsed.json)
        command_print(context, "{\"id\":%llu}\n", (unsigned long long)id);
    else
        command_print(context, "%.*s is %llu\n", SLICE_ARG(group.name), (unsigned long long)id);
    return EXIT_DONE;
}

int run_category_list(Context *context)
{
    return list_groups(context, GROUP_CATEGORY);
}

int run_party_list(Context *context)
{
    return list_groups(context, GROUP_PARTY);
}

static Group new_group(Context *context)
{
    return (Group){.name = context->parsed.operands[0], .description = SLICE_EMPTY, .active = true};
}

int run_category_add(Context *context)
{
    return set_group(context, GROUP_CATEGORY, new_group(context));
}

int run_party_add(Context *context)
{
    return set_group(context, GROUP_PARTY, new_group(context));
}

int run_party_set(Context *context)
{
    Group *groups;
    size_t count;
    Slice wanted = context->parsed.operands[0], active = command_flag(context, "active"),
          name = command_flag(context, "name");
    Reason reason;
    Status status =
        policies_groups(context->app->policies, GROUP_PARTY, context->arena, &groups, &count);
    if (status != STATUS_OK)
        return command_fail(context, status, NULL);
    for (size_t i = 0; i < count; i++) {
        uint64_t id = 0;
        (void)!slice_to_u64(wanted, &id);
        if (groups[i].id != id && !slice_equal_ignoring_case(groups[i].name, wanted))
            continue;
        if (active.data != NULL)
            groups[i].active = slice_equal(active, SLICE("on"));
        if (name.data != NULL)
            groups[i].name = name;
        return set_group(context, GROUP_PARTY, groups[i]);
    }
    return command_fail(context,
                        reason_set(&reason, STATUS_NOT_FOUND, "party", "there is no party \"%.*s\"",
                                   SLICE_ARG(wanted)),
                        &reason);
}
