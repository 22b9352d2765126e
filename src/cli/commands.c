/* commands.c -- the table of commands, and the small ones. */
#include "base/json.h"
#include "base/threads.h"
#include "cli/cluster.h"
#include "cli/command.h"
#include "cli/journal_commands.h"
#include "cli/journal_listener.h"
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
        "conditional mean is in `src/store/store.h`. What a table keeps of a policy is removed by "
        "the function that is named when the policy is obliterated (`src/app/obliterate.h`).\n\n"
        "| table | number | written | deletes | expires | row key | columns | who writes | of a "
        "policy |\n"
        "|---|---|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < TABLES.count; i++) {
        const Table *table = TABLES.tables[i];
        const TablePolicyRow *of = &TABLE_POLICY_ROWS[table->policy];
        bool is_removed = strcmp(of->eraser, "NONE") != 0;
        command_print(context, "| `%s` | %u | %s | %s | %s | %s | %s | %s | %s%s%s%s |\n",
                      table->name, table->number,
                      table->kind == TABLE_CONDITIONAL ? "conditional"
                      : table->repeats                 ? "plain, repeated"
                                                       : "plain",
                      table->deletes ? "yes" : "no", table->expires ? "yes" : "no", table->row,
                      table->columns, table->writer, of->words, is_removed ? ": `" : "",
                      is_removed ? of->eraser : "", is_removed ? "`" : "");
    }
    return EXIT_DONE;
}

static int run_threads(Context *context)
{
    command_print(
        context,
        "# Threads\n\nPrinted by `ostraka threads`; do not edit. Names are those that "
        "`top -H` and gdb show. `serve` starts them from the store upwards and ends them in "
        "the reverse order, so that none is called by a part that is gone.\n\n"
        "| thread | where | waits for | ends by |\n|---|---|---|---|\n");
    for (ThreadKind kind = 0; kind < THREAD_KINDS; kind++) {
        const ThreadRow *row = &THREADS[kind];
        command_print(context, "| `%s` | `%s` | %s | %s |\n", row->name, row->where, row->waits_for,
                      row->ends_by);
    }
    return EXIT_DONE;
}

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
    json_member_string(json, "access", slice_from(route_access_name(route->access)));
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
                         route->path, route_access_name(route->access),
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
#define NONE .creates = false

#define NOTES(kind) (1ull << AUDIT_##kind)
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
    {"journal serve", "[-l ADDRESS] [-p PORT] [-b DIR] [-z BYTES] [-f MS] [-F] [-u USER] [-v] [-h]", 0, 64, COMMAND_ALONE, {0, "there is no site to note it in"},
     "Serve journals alone, to every client of beanstalkd, with its flags; -h lists them.", run_journal_serve, NONE},
    {"verify", "", 0, 0, COMMAND_SITE, {NOTES(REPAIR), NULL}, "Recompute everything from the logs and say what differs; exit 1 when something does.", run_verify,
     {{"repair", NULL, "build what is derived anew when it differs, and look again"}}, .creates = false},
    {"demo", "", 0, 0, COMMAND_ALONE, FIRST, "Fill an empty data directory with a made-up electorate and its history.", run_demo,
     {{"voters", "N", "how many people, 1,000"}, {"policies", "N", "how many policies, 100; at most one a voter"},
      {"days", "N", "how many days of history, 30"}, {"seed", "N", "the same seed gives the same ledger, 1"},
      {"until", "TIME", "the hour at which it ends; without it, now"}}, .creates = true},
    {"backup", "DIR", 1, 1, COMMAND_STORE, {NOTES(BACKUP), NULL}, "Copy everything into a new directory, also while serving.", run_backup, NONE},
    {"restore", "DIR", 1, 1, COMMAND_ALONE, FIRST, "Make the data directory from a backup; it must not hold data yet.", run_restore, NONE},
    {"health", "", 0, 0, COMMAND_STORE, READS, "Say whether the store takes writes; exit 1 when it does not.", run_health, NONE},
    {"reopen", "", 0, 0, COMMAND_STORE, UNWRITABLE, "After a disk error: try at once to take writes again.", run_reopen, NONE},
    {"maintenance", "", 0, 0, COMMAND_STORE, READS, "Say whether maintenance mode is on.", run_maintenance, NONE},
    {"cluster init", "", 0, 0, COMMAND_ALONE, FIRST, "Make the keyspace and tables that --store cassandra://… names, or finish making them.",
     run_cluster_init, {{"replication", "N", "copies of each row in each data centre, 3"}}, .creates = false},
    {"cluster check", "", 0, 0, COMMAND_ALONE, READS, "Look at the cluster as serve does, and say what it finds; exit 1 when it does not fit.",
     run_cluster_check, NONE},
    {"journal run", "NAME [-j N] -- COMMAND…", 2, COMMAND_OPERANDS_MAX, COMMAND_ALONE, {0, "what it does to entries the journal counts"},
     "Run a command for each entry of a journal, beside a running server: exit 0 is done, 75 try later, else failed.", run_journal_run,
     {{"backoff", "SECONDS", "after exit 75; doubled with each run; 10"}}, .creates = false},
    {"journal bench", "", 0, 0, COMMAND_ALONE, {0, "its entries are made and ended in a tube of their own"},
     "Put a bounded load on a journal's listener that runs: puts, claim + done, full cycles; rate, p50 and p99 of each.", run_journal_bench,
     {{"at", "ADDRESS", "HOST:PORT or unix:PATH; 127.0.0.1:11300"}, {"clients", "N", "connections, 1 to 64; 8"}, {"seconds", "N", "for each part, 1 to 60; 5"},
      {"bytes", "N", "of data in an entry, up to 65535; 100"}, {"open", NULL, "the address may be on another machine"}}, .creates = false},
    {"config", "", 0, 0, COMMAND_ALONE, READS, "Print the settings in force; --help explains each.", run_config, {MARKDOWN}, .creates = false},
    {"api", "", 0, 0, COMMAND_ALONE, READS, "Print the JSON interface as Markdown.", run_api, NONE},
    {"tables", "", 0, 0, COMMAND_ALONE, READS, "Print the store's tables as Markdown.", run_tables, NONE},
    {"threads", "", 0, 0, COMMAND_ALONE, READS, "Print the threads of the process as Markdown.", run_threads, NONE},
    {"routes", "", 0, 0, COMMAND_ALONE, READS, "Print the site's addresses: method, path, who may ask, what for.", run_routes, NONE},
    {"operations", "", 0, 0, COMMAND_ALONE, READS, "Print what can be done here: who may, by which command, page and address.", run_operations, NONE},
    {"help", "", 0, 0, COMMAND_ALONE, READS, "Print this list.", run_help, {MARKDOWN}, .creates = false},
    {"version", "", 0, 0, COMMAND_ALONE, READS, "Print the version.", run_version, NONE},
};
/* clang-format on */
const size_t COMMAND_COUNT = sizeof COMMANDS / sizeof COMMANDS[0];
