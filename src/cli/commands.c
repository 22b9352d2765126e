/* commands.c -- the table of commands, and the small ones. */
#include "base/json.h"
#include "cli/cluster.h"
#include "cli/command.h"
#include "cli/ledger_commands.h"
#include "cli/serve.h"
#include "site/site.h"

/* ---- Words about the program ----------------------------------------------------------------------------- */

static int run_help(Context *context)
{
    BUFFER_SCOPE Buffer out = {0};
    if (context->parsed.json)
        command_table(&out);
    else if (command_flag(context, "markdown").data != NULL)
        command_markdown(&out);
    else
        command_help(&out);
    command_write(context, buffer_slice(&out));
    return EXIT_DONE;
}

static int run_version(Context *context)
{
    command_print(context, "ostraka %s\n", OSTRAKA_VERSION);
    return EXIT_DONE;
}

static int run_config(Context *context)
{
    BUFFER_SCOPE Buffer out = {0};
    JsonWriter json = json_writer(&out);
    if (context->parsed.help) {
        config_help(&out);
    } else if (command_flag(context, "markdown").data != NULL) {
        config_markdown(&out);
    } else if (context->parsed.json) {
        json_object_begin(&json);
        for (size_t i = 0; i < CONFIG_SETTING_COUNT; i++)
            json_member_string(&json, CONFIG_SETTINGS[i].name,
                               config_value(context->config, i, context->arena));
        json_object_end(&json);
        buffer_text(&out, "\n");
    } else {
        for (size_t i = 0; i < CONFIG_SETTING_COUNT; i++) {
            Slice value = config_value(context->config, i, context->arena);
            buffer_print(&out, "%s = %.*s\n", CONFIG_SETTINGS[i].name, SLICE_ARG(value));
        }
        if (open_doubt(context->config) != NULL)
            buffer_print(&out, "# Warning: %s\n", open_doubt(context->config));
    }
    command_write(context, buffer_slice(&out));
    return EXIT_DONE;
}

static int run_api(Context *context)
{
    BUFFER_SCOPE Buffer out = {0};
    api_markdown(&out);
    command_write(context, buffer_slice(&out));
    return EXIT_DONE;
}

static int run_tables(Context *context)
{
    command_print(
        context,
        "# Tables\n\nPrinted by `ostraka tables`; do not edit. What plain, repeated and "
        "conditional mean is in `src/store/store.h`.\n\n"
        "| table | number | written | deletes | expires | row key | columns | who writes |\n"
        "|---|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < TABLES.count; i++) {
        const Table *table = TABLES.tables[i];
        command_print(context, "| `%s` | %u | %s | %s | %s | %s | %s | %s |\n", table->name,
                      table->number,
                      table->kind == TABLE_CONDITIONAL ? "conditional"
                      : table->repeats                 ? "plain, repeated"
                                                       : "plain",
                      table->deletes ? "yes" : "no", table->expires ? "yes" : "no", table->row,
                      table->columns, table->writer);
    }
    return EXIT_DONE;
}

static const char *const ACCESS_WORDS[] = {[WEB_PUBLIC] = "public",
                                           [WEB_GUEST] = "guest",
                                           [WEB_LOGIN] = "login",
                                           [WEB_VOTER] = "voter",
                                           [WEB_ROLE] = "role"};

static const char *const WHOSE_WORDS[] = {[WEB_UNSAID] = "none",
                                          [WEB_ANYBODYS] = "anybody",
                                          [WEB_OWN] = "own",
                                          [WEB_OWN_OR_ROLE] = "own or role"};

static const char *const FROM_WORDS[] = {
    [WEB_PATH] = "path", [WEB_QUERY] = "query", [WEB_FORM] = "form", [WEB_JSON] = "json"};

static const char *const KIND_WORDS[WEB_KINDS] = {
    [WEB_ID] = "id",         [WEB_NUMBER] = "number", [WEB_LINE] = "line",
    [WEB_TEXT] = "text",     [WEB_WORD] = "word",     [WEB_SWITCH] = "switch",
    [WEB_OPAQUE] = "opaque", [WEB_SLUG] = "slug",     [WEB_NUMBERS] = "numbers",
    [WEB_TEXTS] = "texts"};

static void put_param(JsonWriter *json, const WebParam *param)
{
    json_object_begin(json);
    json_member_text(json, "name", param->name);
    json_member_text(json, "from", FROM_WORDS[param->from]);
    json_member_text(json, "kind", KIND_WORDS[param->kind]);
    json_member_bool(json, "optional", param->optional || param->fallback != NULL);
    json_member_i64(json, "least", param->least);
    json_member_i64(json, "most", param->most);
    json_key(json, "words");
    json_array_begin(json);
    for (const char *const *word = param->words; word != NULL && *word != NULL; word++)
        json_put_string(json, slice_from(*word));
    json_array_end(json);
    json_object_end(json);
}

static void put_route(JsonWriter *json, const WebRoute *route)
{
    json_object_begin(json);
    json_member_string(json, "method", slice_from(route_method_name(route->method)));
    json_member_string(json, "path", slice_from(route->path));
    json_member_string(json, "access", slice_from(ACCESS_WORDS[route->access]));
    json_member_string(json, "whose", slice_from(WHOSE_WORDS[route->whose]));
    json_key(json, "roles");
    json_array_begin(json);
    for (int role = 0; role < ROLE_COUNT; role++)
        if ((route->roles & 1u << role) != 0)
            json_put_string(json, slice_from(account_role_text((AccountRole)role)));
    json_array_end(json);
    json_key(json, "params");
    json_array_begin(json);
    for (size_t i = 0; i < route_param_count(route); i++)
        put_param(json, &route->params[i]);
    json_array_end(json);
    json_member_string(json, "help", slice_from(route->help != NULL ? route->help : ""));
    json_object_end(json);
}

static int run_routes(Context *context)
{
    BUFFER_SCOPE Buffer out = {0};
    JsonWriter json = json_writer(&out);
    const WebRoute *route;
    if (context->parsed.json)
        json_array_begin(&json);
    for (size_t i = 0; (route = site_route(i)) != NULL; i++) {
        if (context->parsed.json)
            put_route(&json, route);
        else
            buffer_print(&out, "%-6s %-44s %-9s %s\n", route_method_name(route->method),
                         route->path, ACCESS_WORDS[route->access],
                         route->help != NULL ? route->help : "");
    }
    if (context->parsed.json) {
        json_array_end(&json);
        buffer_text(&out, "\n");
    }
    command_write(context, buffer_slice(&out));
    return EXIT_DONE;
}

/* ---- The table ------------------------------------------------------------------------------------------- */

#define MARKDOWN                                     \
    {                                                \
        "markdown", NULL, "print the page for docs/" \
    }
#define AS                                       \
    {                                            \
        "as", "NAME", "who: user name or e-mail" \
    }
#define ACTOR                                                 \
    {                                                         \
        "as", "NAME", "who does it; without it, the operator" \
    }
#define WHY                                              \
    {                                                    \
        "reason", "TEXT", "why; the public log shows it" \
    }
#define CATEGORY                                            \
    {                                                       \
        "category", "NAME", "a category, by name or number" \
    }
#define PARTY                                         \
    {                                                 \
        "party", "NAME", "a party, by name or number" \
    }
#define DAYS                                                     \
    {                                                            \
        "days", "N", "votes of the last N days, 1 to 31; 0: all" \
    }
#define TEXTS                                                           \
    {"name", "TEXT", "3 to 120 characters"},                            \
        {"description", "TEXT", "Markdown, at most 20,000 characters"}, \
    {                                                                   \
        "rationale", "TEXT", "why it is a good idea"                    \
    }
#define INVITE_DAYS                                                \
    {                                                              \
        "days", "N", "how long the invitation works, 1 to 365; 30" \
    }
#define NONE {{0}}, false

#define NOTES(kind) (1ull << ACT_##kind)
#define READS                \
    {                        \
        0, "changes nothing" \
    }
#define FIRST                                  \
    {                                          \
        0, "there is no log before it is done" \
    }
#define UNWRITABLE                                          \
    {                                                       \
        0, "until it is done the store takes no note of it" \
    }

/* clang-format off */
const Command COMMANDS[] = {
    {"serve", "", 0, 0, COMMAND_ALONE, {NOTES(SITE_START) | NOTES(SITE_STOP), NULL}, "Run the site until it is told to stop (SIGTERM, Ctrl-C).", serve_run, NONE},

    {"user add", "NAME", 1, 1, COMMAND_SITE, {NOTES(PERSON_ADD), NULL}, "Add an account.", run_user_add,
     {{"email", "ADDRESS", "its e-mail"}, {"role", "ROLE", "a role; may be given several times"},
      {"password-stdin", NULL, "read the password from stdin"}, {"confirmed", NULL, "may vote at once"},
      {"registered", "TIME", "salary counts from here; for imports"}}, true},
    {"user show", "NAME", 1, 1, COMMAND_SITE, READS, "Show an account and its figures.", run_user_show, NONE},
    {"user list", "", 0, 0, COMMAND_SITE, READS, "List all accounts.", run_user_list, NONE},
    {"user confirm", "NAME", 1, 1, COMMAND_SITE, {NOTES(PERSON_CONFIRM), NULL}, "Confirm a registration.", run_user_confirm, NONE},
    {"user rights", "NAME", 1, 1, COMMAND_SITE, {NOTES(PERSON_RIGHTS), NULL}, "Set roles, and rights that are taken away.", run_user_rights,
     {{"role", "ROLES", "all roles, with commas; empty: none"}, {"deny", "RIGHTS", "rights taken away, with commas; empty: none"}}, false},
    {"user second-off", "NAME", 1, 1, COMMAND_SITE, {NOTES(PERSON_SECOND), NULL}, "Turn the second factor off of who has lost it; ends all sessions.",
     run_user_second_off, NONE},
    {"user logout", "NAME", 1, 1, COMMAND_SITE, {NOTES(PERSON_SESSIONS), NULL}, "Log somebody out everywhere.", run_user_logout, NONE},
    {"user delete", "NAME", 1, 1, COMMAND_SITE, {NOTES(PERSON_DELETE), NULL}, "Withdraw all votes and close the account.", run_user_delete, NONE},

    {"policy create", "", 0, 0, COMMAND_SITE, {NOTES(PERSON_AS), NULL}, "Create a policy; it costs its first votes.", run_policy_create,
     {AS, TEXTS, CATEGORY, PARTY, {"votes", "N", "first votes; at least what creating costs"}, {"seen", "VERSION", "refuse unless this is the last save"}}, false},
    {"policy show", "ID", 1, 1, COMMAND_SITE, READS, "Show a policy.", run_policy_show, NONE},
    {"policy list", "", 0, 0, COMMAND_SITE, READS, "List all policies.", run_policy_list, NONE},
    {"policy edit", "ID", 1, 1, COMMAND_SITE, {NOTES(POLICY_EDIT) | NOTES(PERSON_AS), NULL}, "Change a policy's texts or category.", run_policy_edit, {ACTOR, TEXTS, CATEGORY}, false},
    {"policy retire", "ID", 1, 1, COMMAND_SITE, {NOTES(POLICY_RETIRE) | NOTES(PERSON_AS), NULL}, "Retire a policy; voters get everything back.", run_policy_retire,
     {ACTOR, {"for", "ID", "in favour of another one"}, WHY}, false},
    {"policy merge", "ID…", 1, 100, COMMAND_SITE, {NOTES(POLICY_MERGE) | NOTES(POLICY_MERGE_NEW), NULL}, "Merge policies into another one, or a new one.", run_policy_merge,
     {ACTOR, {"into", "ID|new", "where to"}, {"name", "TEXT", "the name of the new one"}, WHY}, false},
    {"policy delete", "ID", 1, 1, COMMAND_SITE, {NOTES(POLICY_DELETE), NULL}, "Hide a policy at once and delete it after the time for appeals.", run_policy_delete, {ACTOR, WHY}, false},
    {"policy appeal", "ID", 1, 1, COMMAND_SITE, {NOTES(POLICY_RESTORE), NULL}, "Bring a policy back that waits for its deletion.", run_policy_appeal, {ACTOR, WHY}, false},
    {"policy answer", "ID", 1, 1, COMMAND_SITE, {NOTES(POLICY_ANSWER), NULL}, "Give a policy its official answer, or show it.", run_policy_answer,
     {ACTOR, {"text", "TEXT", "the answer, in Markdown"}, {"outcome", "WORD", "none, considering, accepted, rejected or done"}}, false},
    {"category list", "", 0, 0, COMMAND_SITE, READS, "List the categories.", run_category_list, NONE},
    {"category add", "NAME", 1, 1, COMMAND_SITE, {NOTES(CATEGORY_ADD), NULL}, "Add a category.", run_category_add, {{"description", "TEXT", "what belongs there"}}, false},
    {"party list", "", 0, 0, COMMAND_SITE, READS, "List the parties.", run_party_list, NONE},
    {"party add", "NAME", 1, 1, COMMAND_SITE, {NOTES(PARTY_SET), NULL}, "Add a party.", run_party_add, {{"description", "TEXT", "who they are"}}, false},
    {"party set", "NAME", 1, 1, COMMAND_SITE, {NOTES(PARTY_SET), NULL}, "Change, disable or enable a party.", run_party_set,
     {{"name", "TEXT", "a new name"}, {"description", "TEXT", "who they are"}, {"active", "on|off", "off: takes no new policies"}}, false},

    {"vote save", "ID=HELD…", 1, VOTE_CHANGES_MOST, COMMAND_SITE, {NOTES(PERSON_AS), NULL}, "Save what somebody holds on policies.", run_vote_save,
     {AS, {"seen", "VERSION", "refuse unless this is the last save"}, {"token", "ID", "the same token again is the same save"}}, false},
    {"vote cost", "ID=HELD…", 1, VOTE_CHANGES_MOST, COMMAND_SITE, READS, "Say what a save would cost, without saving.", run_vote_cost, {AS}, false},
    {"vote show", "", 0, 0, COMMAND_SITE, READS, "Show what somebody holds, and their balance.", run_vote_show, {AS}, false},
    {"vote history", "", 0, 0, COMMAND_SITE, READS, "List somebody's saves, newest first.", run_vote_history,
     {AS, {"limit", "N", "at most so many, 50"}, {"before", "SEQ", "only older ones"}}, false},
    {"setting list", "", 0, 0, COMMAND_SITE, READS, "List the live settings of the vote.", run_setting_list, NONE},
    {"setting set", "NAME VALUE", 2, 2, COMMAND_SITE, {NOTES(SETTING_SET), NULL}, "Change a live setting, from 15 minutes on at the earliest.", run_setting_set,
     {{"from", "TIME", "from when it counts"}}, false},

    {"rank top", "", 0, 0, COMMAND_SITE, READS, "Show a ranking.", run_rank_top,
     {DAYS, CATEGORY, PARTY, {"limit", "N", "rows, 20"}, {"offset", "N", "skip so many"}, {"at", "TIME", "as it was at the end of that hour"}}, false},
    {"rank show", "ID", 1, 1, COMMAND_SITE, READS, "Show a policy's rank and neighbours.", run_rank_show, {DAYS, CATEGORY, PARTY}, false},
    {"rank history", "ID", 1, 1, COMMAND_SITE, READS, "Show a policy's rank hour by hour.", run_rank_history,
     {DAYS, CATEGORY, PARTY, {"hours", "N", "so many hours back, 24"}}, false},

    {"task list", "", 0, 0, COMMAND_SITE, READS, "Show the work behind the site: last run, progress, errors.", run_task_list, NONE},
    {"task run", "NAME", 1, 1, COMMAND_SITE, {NOTES(TASK_RUN), NULL}, "Do all of a task now.", run_task_run, NONE},
    {"verify", "", 0, 0, COMMAND_SITE, {NOTES(REPAIR), NULL}, "Recompute everything from the logs and say what differs; exit 1 when something does.", run_verify,
     {{"repair", NULL, "build what is derived anew when it differs, and look again"}}, false},

    {"audit list", "", 0, 0, COMMAND_SITE, READS, "List what was done by those with a role, newest first.", run_audit_list,
     {{"public", NULL, "only what everybody may see"}, {"who", "NAME", "what this person did"}, {"kind", "WORD", "acts of one kind"},
      {"policy", "ID", "what was done to this policy"}, {"limit", "N", "at most so many, 50; up to 100"}, {"before", "ID", "only older ones"}}, false},

    {"report list", "", 0, 0, COMMAND_SITE, READS, "List what people told the moderators.", run_report_list,
     {{"state", "STATE", "open, taken, acted or dismissed; without it, open"}}, false},
    {"report show", "ID", 1, 1, COMMAND_SITE, READS, "Show a report.", run_report_show, NONE},
    {"report take", "ID", 1, 1, COMMAND_SITE, {NOTES(REPORT_TAKE), NULL}, "Take a report on.", run_report_take, {ACTOR}, false},
    {"report return", "ID", 1, 1, COMMAND_SITE, {NOTES(REPORT_RETURN), NULL}, "Give a report back to the queue.", run_report_return, {ACTOR}, false},
    {"report dismiss", "ID", 1, 1, COMMAND_SITE, {NOTES(REPORT_DISMISS) | NOTES(TROUBLE_DISMISS), NULL}, "Dismiss a report; who reported is told why.", run_report_dismiss, {ACTOR, WHY}, false},
    {"report act", "ID", 1, 1, COMMAND_SITE, {NOTES(REPORT_ACT), NULL}, "Close a report upon which something was done.", run_report_act, {ACTOR, WHY}, false},
    {"feature list", "", 0, 0, COMMAND_SITE, READS, "List the featured policies in their order.", run_feature_list, NONE},
    {"feature set", "ID", 1, 1, COMMAND_SITE, {NOTES(FEATURE_SET), NULL}, "Feature a policy on the front page, or change its place or times.", run_feature_set,
     {ACTOR, {"place", "N", "1 for the first; without it, where it is, or last"}, {"from", "TIME", "from when; without it, at once"},
      {"until", "TIME", "until when; without it, no end"}, WHY}, false},
    {"feature remove", "ID", 1, 1, COMMAND_SITE, {NOTES(FEATURE_REMOVE), NULL}, "Take a policy off the front page.", run_feature_remove, {ACTOR, WHY}, false},

    {"mail list", "", 0, 0, COMMAND_SITE, READS, "List mails that wait or have failed, newest first.", run_mail_list, NONE},
    {"mail retry", "[ID]", 0, 1, COMMAND_SITE, {NOTES(MAIL_RETRY), NULL}, "Queue a failed mail again, or all of them.", run_mail_retry, NONE},
    {"mail bounce", "[ADDRESS]", 0, 1, COMMAND_SITE, {NOTES(MAIL_SUPPRESS), NULL}, "An address gets only letters about its log-in from now on.", run_mail_bounce,
     {{"reason", "WORD", "bounced (also without it), complaint or operator"},
      {"report-stdin", NULL, "read a mail server's report (RFC 3464) from stdin instead, for a mailbox that takes them"}}, false},
    {"mail allow", "ADDRESS", 1, 1, COMMAND_SITE, {NOTES(MAIL_ALLOW), NULL}, "An address gets all letters again.", run_mail_allow, NONE},
    {"mail suppressed", "", 0, 0, COMMAND_SITE, READS, "List the addresses that get only letters about log-in, as hashes.", run_mail_suppressed, NONE},
    {"mail test", "ADDRESS", 1, 1, COMMAND_SITE, {NOTES(MAIL_TEST), NULL}, "Send a mail at once and say what the server said.", run_mail_test,
     {{"queue", NULL, "leave it to the worker of `serve`"}}, false},

    {"retention list", "", 0, 0, COMMAND_SITE, READS, "Say how long things are kept.", run_retention_list, NONE},
    {"retention set", "NAME DAYS", 2, 2, COMMAND_SITE, {NOTES(RETENTION_SET), NULL}, "Change how long something is kept.", run_retention_set, NONE},
    {"text show", "KIND", 1, 1, COMMAND_SITE, READS, "Print the page on privacy or terms, as Markdown.", run_text_show, NONE},
    {"text write", "KIND FILE", 2, 2, COMMAND_SITE, {NOTES(TEXT_WRITE), NULL}, "Replace the page on privacy or terms by a file; the older one is kept.", run_text_write, NONE},
    {"electorate show", "", 0, 0, COMMAND_SITE, READS, "Say who may join.", run_electorate_show, NONE},
    {"electorate set", "MODE", 1, 1, COMMAND_SITE, {NOTES(ELECTORATE_SET), NULL}, "Say who may join from now on: open, invitation, domain or roll. Touches nobody who is here.",
     run_electorate_set, {{"domains", "LIST", "domains of e-mail addresses, with commas; *.example.org: all below it"}}, false},
    {"invite", "ADDRESS", 1, 1, COMMAND_SITE, {NOTES(INVITE), NULL}, "Invite somebody, and print the link that the letter has.", run_invite, {INVITE_DAYS}, false},
    {"invite import", "FILE", 1, 1, COMMAND_SITE, {NOTES(INVITE), NULL}, "Invite everybody in a CSV file; lines that are broken are named and left out.", run_invite_import, {INVITE_DAYS}, false},
    {"invite list", "", 0, 0, COMMAND_SITE, READS, "List invitations, newest first.", run_invite_list, NONE},
    {"invite withdraw", "ADDRESS", 1, 1, COMMAND_SITE, {NOTES(INVITE_WITHDRAW), NULL}, "End somebody's invitation.", run_invite_withdraw, NONE},
    {"roll import", "FILE", 1, 1, COMMAND_SITE, {NOTES(ROLL_CHANGE), NULL}, "Put everybody in a CSV file on the roll, as keyed hashes; again is fine.", run_roll_import, NONE},
    {"roll remove", "FILE", 1, 1, COMMAND_SITE, {NOTES(ROLL_CHANGE), NULL}, "Take everybody in a CSV file off the roll.", run_roll_remove, NONE},
    {"roll clear", "", 0, 0, COMMAND_SITE, {NOTES(ROLL_CHANGE), NULL}, "Take everybody off the roll.", run_roll_clear, NONE},
    {"roll count", "", 0, 0, COMMAND_SITE, READS, "Count those on the roll.", run_roll_count, NONE},
    {"roll check", "ADDRESS", 1, 1, COMMAND_SITE, READS, "Say whether an address is on the roll.", run_roll_check,
     {{"name", "TEXT", "and whether its line has this name"}}, false},

    {"demo", "", 0, 0, COMMAND_ALONE, FIRST, "Fill an empty data directory with a made-up electorate and its history.", run_demo,
     {{"voters", "N", "how many people, 1,000"}, {"policies", "N", "how many policies, 100; at most one a voter"},
      {"days", "N", "how many days of history, 30"}, {"seed", "N", "the same seed gives the same ledger, 1"},
      {"until", "TIME", "the hour at which it ends; without it, now"}}, true},
    {"backup", "DIR", 1, 1, COMMAND_STORE, {NOTES(BACKUP), NULL}, "Copy everything into a new directory, also while serving.", run_backup, NONE},
    {"restore", "DIR", 1, 1, COMMAND_ALONE, FIRST, "Make the data directory from a backup; it must not hold data yet.", run_restore, NONE},
    {"health", "", 0, 0, COMMAND_STORE, READS, "Say whether the store takes writes; exit 1 when it does not.", run_health, NONE},
    {"reopen", "", 0, 0, COMMAND_STORE, UNWRITABLE, "After a disk error: try at once to take writes again.", run_reopen, NONE},
    {"maintenance", "", 0, 0, COMMAND_STORE, READS, "Say whether maintenance mode is on.", run_maintenance, NONE},
    {"maintenance on", "", 0, 0, COMMAND_STORE, {NOTES(MAINTENANCE), NULL}, "Answer visitors with a message instead of pages.", run_maintenance_on,
     {{"message", "TEXT", "what visitors read, at most 300 bytes"}}, false},
    {"maintenance off", "", 0, 0, COMMAND_STORE, {NOTES(MAINTENANCE), NULL}, "Serve pages again.", run_maintenance_off, NONE},
    {"cluster init", "", 0, 0, COMMAND_ALONE, FIRST, "Make the keyspace and tables that --store cassandra://… names, or finish making them.",
     run_cluster_init, {{"replication", "N", "copies of each row in each data centre, 3"}}, false},
    {"cluster check", "", 0, 0, COMMAND_ALONE, READS, "Look at the cluster as serve does, and say what it finds; exit 1 when it does not fit.",
     run_cluster_check, NONE},
    {"config", "", 0, 0, COMMAND_ALONE, READS, "Print the settings in force; --help explains each.", run_config, {MARKDOWN}, false},
    {"api", "", 0, 0, COMMAND_ALONE, READS, "Print the JSON interface as Markdown.", run_api, NONE},
    {"tables", "", 0, 0, COMMAND_ALONE, READS, "Print the store's tables as Markdown.", run_tables, NONE},
    {"routes", "", 0, 0, COMMAND_ALONE, READS, "Print the site's addresses: method, path, who may ask, what for.", run_routes, NONE},
    {"help", "", 0, 0, COMMAND_ALONE, READS, "Print this list.", run_help, {MARKDOWN}, false},
    {"version", "", 0, 0, COMMAND_ALONE, READS, "Print the version.", run_version, NONE},
};
/* clang-format on */
const size_t COMMAND_COUNT = sizeof COMMANDS / sizeof COMMANDS[0];
