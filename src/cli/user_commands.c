/* user_commands.c -- people: add, show, list, confirm, rights, log-out, delete. What is done stands in the log of acts before it is done. */
#include "accounts/second.h"
#include "accounts/sessions.h"
#include "base/log.h"
#include "cli/arguments.h"
#include "cli/ledger_commands.h"

/* ---- Rights as words --------------------------------------------------------------------------------------------- */

static void put_words(JsonWriter *json, const char *key, uint32_t bits,
                      const char *(*text)(unsigned))
{
    json_key(json, key);
    json_array_begin(json);
    for (unsigned i = 0; bits >> i != 0; i++)
        if (bits >> i & 1)
            json_put_string(json, slice_from(text(i)));
    json_array_end(json);
}

static const char *role_text(unsigned bit)
{
    return account_role_text((AccountRole)bit);
}

static const char *right_text(unsigned bit)
{
    return account_right_text((AccountRight)bit);
}

/* ---- Showing ------------------------------------------------------------------------------------------------------ */

static void put_account(JsonWriter *json, const Account *account)
{
    char time[LOG_TIME_TEXT];
    log_format_time(account->registered_us, time);
    json_member_i64(json, "id", (int64_t)account->id);
    json_member_string(json, "name", account->name);
    json_member_string(json, "email", account->email);
    json_member_text(json, "state", account_state_text(account->state));
    json_member_text(json, "registered", time);
    put_words(json, "roles", account->roles, role_text);
    put_words(json, "denied", account->denied, right_text);
    json_member_bool(json, "second_factor", account->second);
}

int run_user_show(Context *context)
{
    Account account;
    VoterState state;
    Reason reason = {0};
    Status status = argument_account_named(context, context->parsed.operands[0], &account, &reason);
    if (status == STATUS_OK)
        status = votes_show(context->app->votes, account.id, context->arena, &state);
    if (status != STATUS_OK)
        return command_fail(context, status, &reason);
    int64_t held_on = 0;
    for (size_t i = 0; i < state.line_count; i++)
        held_on += state.lines[i].held > 0;
    if (context->parsed.json) {
        BUFFER_SCOPE Buffer out = {0};
        JsonWriter json = json_writer(&out);
        json_object_begin(&json);
        put_account(&json, &account);
        json_member_i64(&json, "balance", state.balance);
        json_member_i64(&json, "voted_for", held_on);
        json_object_end(&json);
        command_json(context, &out);
        return EXIT_DONE;
    }
    command_print(context, "%.*s (%llu), %s\n", SLICE_ARG(account.name),
                  (unsigned long long)account.id, account_state_text(account.state));
    command_print(context, "You have %lld unspent pollies. You have voted for %lld policies.\n",
                  (long long)state.balance, (long long)held_on);
    return EXIT_DONE;
}

int run_user_list(Context *context)
{
    BUFFER_SCOPE Buffer out = {0};
    JsonWriter json = json_writer(&out);
    Slice position = SLICE_EMPTY;
    json_array_begin(&json);
    for (bool more = true; more;) {
        Account *accounts;
        size_t count;
        Status status = accounts_list(context->app->accounts, position, context->arena, &accounts,
                                      &count, &position, &more);
        if (status != STATUS_OK)
            return command_fail(context, status, NULL);
        for (size_t i = 0; i < count; i++) {
            if (context->parsed.json) {
                json_object_begin(&json);
                put_account(&json, &accounts[i]);
                json_object_end(&json);
            } else {
                command_print(context, "%6llu  %-10s %.*s\n", (unsigned long long)accounts[i].id,
                              account_state_text(accounts[i].state), SLICE_ARG(accounts[i].name));
            }
        }
    }
    json_array_end(&json);
    if (context->parsed.json)
        command_json(context, &out);
    return EXIT_DONE;
}

/* ---- Changing ------------------------------------------------------------------------------------------------------ */

/* Names of people are not in the log, which outlives accounts: what roles somebody came with is. */
static Status add(Context *context, const Registration *registration, uint64_t *ret_id,
                  Reason *reason)
{
    Slice roles = command_flag(context, "role");
    Id note;
    Act act = {.kind = ACT_PERSON_ADD,
               .details = arena_print(context->arena, "roles: %.*s",
                                      roles.data != NULL ? (int)roles.size : 4,
                                      roles.data != NULL ? roles.data : "none")};
    TRY(command_act(context, &act, &note, reason));
    return command_act_end(context, note,
                           accounts_register(context->app->accounts, registration, ret_id, reason));
}

int run_user_add(Context *context)
{
    Reason reason = {0};
    Slice email = command_flag(context, "email"), roles = command_flag(context, "role");
    bool with_password = command_flag(context, "password-stdin").data != NULL;
    Registration registration = {.name = context->parsed.operands[0],
                                 .email = email.data != NULL ? email : SLICE_EMPTY,
                                 .password = slice_trim(context->input),
                                 .without_password = !with_password,
                                 .confirmed = command_flag(context, "confirmed").data != NULL};
    uint64_t id;
    Status status = account_roles_from(roles, "role", &registration.roles, &reason);
    if (status == STATUS_OK)
        status = argument_time(context, "registered", 0, &registration.registered_us, &reason);
    if (status == STATUS_OK)
        status = add(context, &registration, &id, &reason);
    if (status != STATUS_OK)
        return command_fail(context, status, &reason);
    if (context->parsed.json)
        command_print(context, "{\"id\":%llu}\n", (unsigned long long)id);
    else
        command_print(context, "added %.*s as %llu%s\n", SLICE_ARG(registration.name),
                      (unsigned long long)id,
                      registration.confirmed ? "" : "; `user confirm` lets them vote");
    return EXIT_DONE;
}

/* What changes, as it was asked for: "--role admin". */
static Slice flags_given(const Context *context)
{
    BUFFER_SCOPE Buffer out = {0};
    const CommandFlag *flags = context->parsed.command->flags;
    for (size_t i = 0; i < COMMAND_FLAGS_MOST && flags[i].name != NULL; i++)
        if (context->parsed.flags[i].data != NULL)
            buffer_print(&out, "%s--%s %.*s", out.size > 0 ? " " : "", flags[i].name,
                         SLICE_ARG(context->parsed.flags[i]));
    return arena_copy(context->arena, buffer_slice(&out));
}

typedef Status AccountChange(Context *context, const Account *account, Reason *reason);

static Status change_noted(Context *context, ActKind kind, AccountChange *change,
                           Account *ret_account, Reason *reason)
{
    Id note;
    TRY(argument_account_named(context, context->parsed.operands[0], ret_account, reason));
    Act act = {.kind = kind, .object = ret_account->id, .details = flags_given(context)};
    TRY(command_act(context, &act, &note, reason));
    return command_act_end(context, note, change(context, ret_account, reason));
}

/* A change of one account that answers with one sentence. */
static int change_account(Context *context, ActKind kind, AccountChange *change, const char *done)
{
    Account account;
    Reason reason = {0};
    Status status = change_noted(context, kind, change, &account, &reason);
    if (status != STATUS_OK)
        return command_fail(context, status, &reason);
    command_print(context, "%.*s: %s\n", SLICE_ARG(account.name), done);
    return EXIT_DONE;
}

static Status confirm(Context *context, const Account *account, Reason *reason)
{
    return accounts_confirm(context->app->accounts, account->id, reason);
}

int run_user_confirm(Context *context)
{
    return change_account(context, ACT_PERSON_CONFIRM, confirm, "confirmed");
}

static Status set_rights(Context *context, const Account *account, Reason *reason)
{
    AccountRights rights = {account->roles, account->denied, account->version};
    Slice roles = command_flag(context, "role"), denied = command_flag(context, "deny");
    if (roles.data != NULL)
        TRY(account_roles_from(roles, "role", &rights.roles, reason));
    if (denied.data != NULL)
        TRY(account_rights_from(denied, "deny", &rights.denied, reason));
    return accounts_set_rights(context->app->accounts, account->id, &rights, reason);
}

int run_user_rights(Context *context)
{
    return change_account(context, ACT_PERSON_RIGHTS, set_rights, "rights are set");
}

static Status end_second(Context *context, const Account *account, Reason *reason)
{
    return second_remove(context->app->accounts, account->id, reason);
}

int run_user_second_off(Context *context)
{
    return change_account(context, ACT_PERSON_SECOND, end_second,
                          "there is no second factor any more, and all sessions are ended");
}

static Status log_out(Context *context, const Account *account, Reason *reason)
{
    return sessions_end_all(context->app->accounts, account->id, reason);
}

int run_user_logout(Context *context)
{
    return change_account(context, ACT_PERSON_SESSIONS, log_out, "logged out everywhere");
}

/* The last entry of the ledger first, then the names are released. */
static Status leave(Context *context, const Account *account, Reason *reason)
{
    TRY(votes_leave(context->app->votes, account->id, reason));
    return accounts_close(context->app->accounts, account->id, reason);
}

int run_user_delete(Context *context)
{
    return change_account(context, ACT_PERSON_DELETE, leave,
                          "the votes are withdrawn and the account is closed");
}
