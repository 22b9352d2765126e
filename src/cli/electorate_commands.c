/* electorate_commands.c -- who may join: the rule, invitations, the roll. */
#include "accounts/electorate.h"
#include "accounts/roll.h"
#include "app/invite.h"
#include "base/log.h"
#include "cli/arguments.h"
#include "cli/ledger_commands.h"

/* What is done stands in the log of acts before it is done. */
static Status begin_act(Context *context, ActKind kind, const char *details, Id *ret_act,
                        Reason *reason)
{
    Act act = {.kind = kind, .details = slice_from(details)};
    return command_act(context, &act, ret_act, reason);
}

/* ---- The rule -------------------------------------------------------------------------------------------------- */

static int tell_electorate(Context *context, const Electorate *electorate)
{
    BUFFER_SCOPE Buffer out = {0};
    JsonWriter json = json_writer(&out);
    if (!context->parsed.json) {
        command_print(context, "%s: %s\n", electorate_mode_text(electorate->mode),
                      electorate_mode_sentence(electorate->mode));
        for (size_t i = 0; i < electorate->domain_count; i++)
            command_print(context, "  %.*s\n", SLICE_ARG(electorate->domains[i]));
        return EXIT_DONE;
    }
    json_object_begin(&json);
    json_member_text(&json, "mode", electorate_mode_text(electorate->mode));
    json_member_i64(&json, "version", (int64_t)electorate->version);
    json_key(&json, "domains");
    json_array_begin(&json);
    for (size_t i = 0; i < electorate->domain_count; i++)
        json_put_string(&json, electorate->domains[i]);
    json_array_end(&json);
    json_object_end(&json);
    command_json(context, &out);
    return EXIT_DONE;
}

int run_electorate_show(Context *context)
{
    Electorate electorate;
    Status status = electorate_read(context->app->accounts, context->arena, &electorate);
    return status == STATUS_OK ? tell_electorate(context, &electorate)
                               : command_fail(context, status, NULL);
}

/* Domains that are not named stay as they are. */
static Status set_electorate(Context *context, Electorate *ret_electorate, Reason *reason)
{
    Accounts *accounts = context->app->accounts;
    Slice word = context->parsed.operands[0], domains = command_flag(context, "domains");
    Electorate before;
    ElectorateMode mode;
    if (electorate_mode_from(word, &mode) != STATUS_OK)
        return reason_set(reason, STATUS_INVALID, "mode",
                          "must be open, invitation, domain or roll");
    TRY(electorate_read(accounts, context->arena, &before));
    if (domains.data != NULL)
        TRY(electorate_domains(domains, context->arena, &before.domains, &before.domain_count,
                               reason));
    ElectorateChange change = {mode, before.domains, before.domain_count, before.version};
    Id act;
    TRY(begin_act(context, ACT_ELECTORATE_SET, electorate_mode_text(mode), &act, reason));
    TRY(command_act_end(context, act, electorate_set(accounts, &change, reason)));
    return electorate_read(accounts, context->arena, ret_electorate);
}

int run_electorate_set(Context *context)
{
    Electorate electorate;
    Reason reason = {0};
    Status status = set_electorate(context, &electorate, &reason);
    return status == STATUS_OK ? tell_electorate(context, &electorate)
                               : command_fail(context, status, &reason);
}

/* ---- Lists of people --------------------------------------------------------------------------------------------- */

/* How a list went: on stdout what was done, and each line that was left out with its number and why. */
static int tell_report(Context *context, const ListReport *report, const char *done)
{
    BUFFER_SCOPE Buffer out = {0};
    JsonWriter json = json_writer(&out);
    json_object_begin(&json);
    json_member_i64(&json, "lines", (int64_t)report->lines);
    json_member_i64(&json, "good", (int64_t)report->good);
    json_member_i64(&json, "again", (int64_t)report->again);
    json_member_i64(&json, "bad", (int64_t)report->faults);
    json_key(&json, "faults");
    json_array_begin(&json);
    for (size_t i = 0; i < report->told_count; i++) {
        const ListFault *fault = &report->told[i];
        json_object_begin(&json);
        json_member_i64(&json, "line", (int64_t)fault->line);
        json_member_string(&json, "rule", fault->rule);
        json_object_end(&json);
        if (!context->parsed.json)
            command_print(context, "line %llu: %.*s\n", (unsigned long long)fault->line,
                          SLICE_ARG(fault->rule));
    }
    json_array_end(&json);
    json_object_end(&json);
    if (context->parsed.json)
        command_json(context, &out);
    else
        command_print(context, "%llu %s, %llu lines left out\n", (unsigned long long)report->good,
                      done, (unsigned long long)report->faults);
    return EXIT_DONE;
}

/* The file that operand 0 names, as a list; `piece` is its memory. */
static PeopleFile file_of(Context *context, Arena *piece)
{
    return (PeopleFile){
        .disk = context->world.disk, .path = command_path(context, 0), .arena = piece};
}

static int change_roll(Context *context, RollAct act, const char *done)
{
    ARENA_SCOPE Arena *piece = arena_new();
    PeopleFile file = file_of(context, piece);
    PEOPLE_LIST_SCOPE PeopleList list = {.source = people_from_file(&file), .bytes = SLICE_EMPTY};
    ListReport *report = ARENA_NEW(context->arena, ListReport);
    Reason reason = {0};
    Id note;
    Status status =
        begin_act(context, ACT_ROLL_CHANGE,
                  act == ROLL_ADD ? "people were added" : "people were removed", &note, &reason);
    if (status == STATUS_OK)
        status = command_act_end(
            context, note,
            roll_change(context->app->accounts, act, &list, context->arena, report, &reason));
    return status == STATUS_OK ? tell_report(context, report, done)
                               : command_fail(context, status, &reason);
}

int run_roll_import(Context *context)
{
    return change_roll(context, ROLL_ADD, "people are on the roll");
}

int run_roll_remove(Context *context)
{
    return change_roll(context, ROLL_REMOVE, "people are off the roll");
}

int run_roll_clear(Context *context)
{
    uint64_t removed = 0;
    Id act;
    Reason reason = {0};
    Status status = begin_act(context, ACT_ROLL_CHANGE, "cleared", &act, &reason);
    if (status == STATUS_OK)
        status = command_act_end(context, act, roll_clear(context->app->accounts, &removed));
    if (status != STATUS_OK)
        return command_fail(context, status, &reason);
    command_print(context, "the roll is empty; %llu were on it\n", (unsigned long long)removed);
    return EXIT_DONE;
}

int run_roll_count(Context *context)
{
    uint64_t count;
    Status status = roll_count(context->app->accounts, UINT64_MAX, &count);
    if (status != STATUS_OK)
        return command_fail(context, status, NULL);
    command_print(context, context->parsed.json ? "{\"count\":%llu}\n" : "%llu on the roll\n",
                  (unsigned long long)count);
    return EXIT_DONE;
}

int run_roll_check(Context *context)
{
    RollEntry entry;
    Reason reason = {0};
    Slice name = command_flag(context, "name");
    Status status =
        roll_find(context->app->accounts, context->parsed.operands[0],
                  name.data != NULL ? name : SLICE_EMPTY, context->arena, &entry, &reason);
    if (status != STATUS_OK)
        return command_fail(context, status, &reason);
    if (context->parsed.json)
        command_print(context, "{\"listed\":%s,\"has_name\":%s,\"name_fits\":%s}\n",
                      entry.listed ? "true" : "false", entry.has_name ? "true" : "false",
                      entry.name_fits ? "true" : "false");
    else
        command_print(context, "%s%s\n", entry.listed ? "on the roll" : "not on the roll",
                      name.data == NULL || !entry.listed ? ""
                      : entry.name_fits                  ? ", with this name"
                                                         : ", not with this name");
    return EXIT_DONE;
}

/* ---- Invitations --------------------------------------------------------------------------------------------------- */

static Status how_to_invite(Context *context, InviteHow *ret_how, Reason *reason)
{
    const Config *config = context->config;
    InviteHow how = {.site = slice_from(config->site_name),
                     .home = config->public_url[0] != '\0'
                                 ? slice_from(config->public_url)
                                 : arena_print(context->arena, "http://%s", config->listen)};
    TRY(argument_number(context, "days", 1, INVITATION_DAYS_MOST, INVITATION_DAYS, &how.days,
                        reason));
    *ret_how = how;
    return STATUS_OK;
}

int run_invite(Context *context)
{
    InviteHow how;
    Invited invited;
    Id act;
    Reason reason = {0};
    Status status = how_to_invite(context, &how, &reason);
    if (status == STATUS_OK)
        status = begin_act(context, ACT_INVITE, "one person", &act, &reason);
    if (status == STATUS_OK)
        status = command_act_end(context, act,
                                 app_invite(context->app, &how, context->parsed.operands[0],
                                            context->arena, &invited, &reason));
    if (status != STATUS_OK)
        return command_fail(context, status, &reason);
    if (context->parsed.json)
        command_print(context, "{\"link\":\"%.*s\",\"new\":%s,\"sent\":%s}\n",
                      SLICE_ARG(invited.link), invited.is_new ? "true" : "false",
                      invited.is_sent ? "true" : "false");
    else
        command_print(context, "%s%s\n  %.*s\n", invited.is_new ? "invited" : "was invited before",
                      invited.is_sent ? "; the letter is queued"
                                      : "; this site sends no letters, so hand this link over",
                      SLICE_ARG(invited.link));
    return EXIT_DONE;
}

int run_invite_import(Context *context)
{
    ARENA_SCOPE Arena *piece = arena_new();
    PeopleFile file = file_of(context, piece);
    PEOPLE_LIST_SCOPE PeopleList list = {.source = people_from_file(&file), .bytes = SLICE_EMPTY};
    ListReport *report = ARENA_NEW(context->arena, ListReport);
    InviteHow how;
    Id act;
    Reason reason = {0};
    Status status = how_to_invite(context, &how, &reason);
    if (status == STATUS_OK)
        status = begin_act(context, ACT_INVITE, "a list", &act, &reason);
    if (status == STATUS_OK)
        status = command_act_end(
            context, act,
            app_invite_all(context->app, &how, &list, context->arena, report, &reason));
    return status == STATUS_OK ? tell_report(context, report, "people are invited")
                               : command_fail(context, status, &reason);
}

int run_invite_withdraw(Context *context)
{
    Reason reason = {0};
    Id act;
    Status status = begin_act(context, ACT_INVITE_WITHDRAW, "", &act, &reason);
    if (status == STATUS_OK)
        status = command_act_end(
            context, act,
            invitations_withdraw(context->app->accounts, context->parsed.operands[0], &reason));
    if (status != STATUS_OK)
        return command_fail(context, status, &reason);
    command_print(context, "%.*s: the invitation does not work any more\n",
                  SLICE_ARG(context->parsed.operands[0]));
    return EXIT_DONE;
}

static void tell_invitation(Context *context, const Invitation *invitation, JsonWriter *json)
{
    char made[LOG_TIME_TEXT], ends[LOG_TIME_TEXT];
    log_format_time(invitation->made_us, made);
    log_format_time(invitation->ends_us, ends);
    if (!context->parsed.json) {
        command_print(context, "%s  %-9s %.*s\n", made, invitation_state_text(invitation->state),
                      SLICE_ARG(invitation->email));
        return;
    }
    json_object_begin(json);
    json_member_string(json, "email", invitation->email);
    json_member_text(json, "state", invitation_state_text(invitation->state));
    json_member_text(json, "made", made);
    json_member_text(json, "ends", ends);
    json_member_i64(json, "account", (int64_t)invitation->account);
    json_object_end(json);
}

int run_invite_list(Context *context)
{
    BUFFER_SCOPE Buffer out = {0};
    JsonWriter json = json_writer(&out);
    InvitationPage page = {.position = SLICE_EMPTY};
    json_array_begin(&json);
    do {
        Status status =
            invitations_list(context->app->accounts, page.position, context->arena, &page);
        if (status != STATUS_OK)
            return command_fail(context, status, NULL);
        for (size_t i = 0; i < page.count; i++)
            tell_invitation(context, &page.invitations[i], &json);
    } while (page.more);
    json_array_end(&json);
    if (context->parsed.json)
        command_json(context, &out);
    return EXIT_DONE;
}
