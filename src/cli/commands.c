/* commands.c -- the table of commands, and the small ones. */
#include "base/json.h"
#include "cli/command.h"
#include "cli/serve.h"
#include "cli/site.h"
#include "store/rocksdb/rocksdb.h"

/* ---- Words about the program ----------------------------------------------------------------------------- */

static int run_help(Context *context)
{
    BUFFER_SCOPE Buffer out = {0};
    if (command_flag(context, "markdown").data != NULL)
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
    }
    command_write(context, buffer_slice(&out));
    return EXIT_DONE;
}

static int run_tables(Context *context)
{
    command_print(
        context,
        "# Tables\n\nPrinted by `ostraka tables`; do not edit. What plain and conditional "
        "mean is in `src/store/store.h`.\n\n"
        "| table | number | written | deletes | expires | row key | columns | who writes |\n"
        "|---|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < TABLES.count; i++) {
        const Table *table = TABLES.tables[i];
        command_print(context, "| `%s` | %u | %s | %s | %s | %s | %s | %s |\n", table->name,
                      table->number, table->kind == TABLE_PLAIN ? "plain" : "conditional",
                      table->deletes ? "yes" : "no", table->expires ? "yes" : "no", table->row,
                      table->columns, table->writer);
    }
    return EXIT_DONE;
}

/* ---- The store ------------------------------------------------------------------------------------------- */

static int run_backup(Context *context)
{
    Reason reason = {0};
    const char *directory = command_path(context, 0);
    Status status = store_backup(context->store, directory, &reason);
    if (status != STATUS_OK)
        return command_fail(context, status, &reason);
    if (context->parsed.json) {
        BUFFER_SCOPE Buffer out = {0};
        JsonWriter json = json_writer(&out);
        json_object_begin(&json);
        json_member_text(&json, "backup", directory);
        json_object_end(&json);
        command_print(context, "%.*s\n", SLICE_ARG(buffer_slice(&out)));
    } else {
        command_print(context, "backed up to %s\n", directory);
    }
    return EXIT_DONE;
}

static int run_restore(Context *context)
{
    Reason reason = {0};
    const char *backup = command_path(context, 0), *directory = context->config->data;
    Status status = store_rocksdb_restore(backup, directory, context->world.disk, &reason);
    if (status != STATUS_OK)
        return command_fail(context, status, &reason);
    command_print(context, "restored %s into %s\n", backup, directory);
    return EXIT_DONE;
}

static int run_health(Context *context)
{
    StoreHealth health;
    store_health(context->store, &health);
    if (context->parsed.json) {
        BUFFER_SCOPE Buffer out = {0};
        JsonWriter json = json_writer(&out);
        json_object_begin(&json);
        json_member_text(&json, "engine", health.engine);
        json_member_bool(&json, "writable", health.writable);
        if (!health.writable)
            json_member_text(&json, "reason", health.reason);
        json_object_end(&json);
        command_print(context, "%.*s\n", SLICE_ARG(buffer_slice(&out)));
        return health.writable ? EXIT_DONE : EXIT_FAILED;
    }
    Reason reason;
    if (!health.writable)
        return command_fail(context,
                            reason_set(&reason, STATUS_UNAVAILABLE, "",
                                       "the store is read-only: %s", health.reason),
                            &reason);
    command_print(context, "ok: %s takes writes\n", health.engine);
    return EXIT_DONE;
}

static int run_reopen(Context *context)
{
    Reason reason = {0};
    Status status = store_reopen(context->store, &reason);
    if (status != STATUS_OK)
        return command_fail(context, status, &reason);
    command_print(context, "the store takes writes\n");
    return EXIT_DONE;
}

/* ---- Maintenance ----------------------------------------------------------------------------------------- */

static int set_maintenance(Context *context, Slice message)
{
    Reason reason = {0};
    Status status = site_set_maintenance(context->store, context->world, message, &reason);
    if (status != STATUS_OK)
        return command_fail(context, status, &reason);
    if (context->maintenance != NULL)
        context->maintenance(context->maintenance_self,
                             message.data != NULL ? arena_text(context->arena, message) : NULL);
    command_print(context, "maintenance is %s\n", message.data != NULL ? "on" : "off");
    return EXIT_DONE;
}

static int run_maintenance_on(Context *context)
{
    Slice message = command_flag(context, "message");
    return set_maintenance(context,
                           message.data != NULL ? message : SLICE("We will be back soon."));
}

static int run_maintenance_off(Context *context)
{
    return set_maintenance(context, (Slice){NULL, 0});
}

static int run_maintenance(Context *context)
{
    Slice message;
    Status status = site_maintenance(context->store, context->arena, &message);
    if (status != STATUS_OK)
        return command_fail(context, status, NULL);
    if (message.data == NULL)
        command_print(context, "maintenance is off\n");
    else
        command_print(context, "maintenance is on: %.*s\n", SLICE_ARG(message));
    return EXIT_DONE;
}

/* ---- The table ------------------------------------------------------------------------------------------- */

#define MARKDOWN                                     \
    {                                                \
        "markdown", NULL, "print the page for docs/" \
    }

const Command COMMANDS[] = {
    {"serve",
     "",
     0,
     0,
     COMMAND_ALONE,
     "Run the site until it is told to stop (SIGTERM, Ctrl-C).",
     serve_run,
     {{0}}},
    {"backup",
     "DIR",
     1,
     1,
     COMMAND_STORE,
     "Copy everything into a new directory, also while serving.",
     run_backup,
     {{0}}},
    {"restore",
     "DIR",
     1,
     1,
     COMMAND_ALONE,
     "Make the data directory from a backup; it must not hold data yet.",
     run_restore,
     {{0}}},
    {"health",
     "",
     0,
     0,
     COMMAND_STORE,
     "Say whether the store takes writes; exit 1 when it does not.",
     run_health,
     {{0}}},
    {"reopen",
     "",
     0,
     0,
     COMMAND_STORE,
     "After a disk error: try at once to take writes again.",
     run_reopen,
     {{0}}},
    {"maintenance",
     "",
     0,
     0,
     COMMAND_STORE,
     "Say whether maintenance mode is on.",
     run_maintenance,
     {{0}}},
    {"maintenance on",
     "",
     0,
     0,
     COMMAND_STORE,
     "Answer visitors with a message instead of pages.",
     run_maintenance_on,
     {{"message", "TEXT", "what visitors read, at most 300 bytes"}}},
    {"maintenance off", "", 0, 0, COMMAND_STORE, "Serve pages again.", run_maintenance_off, {{0}}},
    {"config",
     "",
     0,
     0,
     COMMAND_ALONE,
     "Print the settings in force; --help explains each.",
     run_config,
     {MARKDOWN}},
    {"tables", "", 0, 0, COMMAND_ALONE, "Print the store's tables as Markdown.", run_tables, {{0}}},
    {"help", "", 0, 0, COMMAND_ALONE, "Print this list.", run_help, {MARKDOWN}},
    {"version", "", 0, 0, COMMAND_ALONE, "Print the version.", run_version, {{0}}},
};
const size_t COMMAND_COUNT = sizeof COMMANDS / sizeof COMMANDS[0];
