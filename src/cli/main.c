/* main.c -- the entrance: settings from file, environment and flags; then the command, inside a running server when
 * one owns the data directory, or here. */

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/control.h"
#include "cli/open.h"
#include "cli/site_facts.h"

enum { CONFIG_FILE_MAX = 256 * 1024 };

extern char **environ;

/* ---- Settings -------------------------------------------------------------------------------------------- */

typedef struct Words {
    Slice *words; /* the command's own, settings taken out */
    size_t count;
    Slice *names, *values; /* settings given as flags, in order */
    size_t setting_count;
    const char *config_path;
} Words;

static bool setting_name(Slice flag, Arena *arena, Slice *ret_name, bool *ret_switch)
{
    char *name = arena_bytes(arena, flag.size);
    for (size_t i = 0; i < flag.size; i++)
        name[i] = flag.data[i] == '-' ? '_' : flag.data[i];
    for (size_t i = 0; i < CONFIG_SETTING_COUNT; i++)
        if (slice_equal(slice_of(name, flag.size), slice_from(CONFIG_SETTINGS[i].name))) {
            *ret_name = slice_of(name, flag.size);
            *ret_switch = CONFIG_SETTINGS[i].type == CONFIG_SWITCH;
            return true;
        }
    return false;
}

/* Takes --setting VALUE, --setting=VALUE, --switch and --config FILE out of the words; the rest is the command's. */
static Status sort_words(int argc, char **argv, Arena *arena, Words *words, Reason *reason)
{
    size_t most = (size_t)argc;
    *words = (Words){.words = ARENA_ARRAY(arena, most, Slice),
                     .names = ARENA_ARRAY(arena, most, Slice),
                     .values = ARENA_ARRAY(arena, most, Slice)};
    for (int i = 1; i < argc; i++) {
        Slice word = slice_from(argv[i]), name = SLICE_EMPTY, value;
        Slice flag = slice_starts_with(word, SLICE("--")) ? slice_after(word, 2) : SLICE_EMPTY;
        size_t equals = slice_find(flag, '=');
        if (slice_equal(word, SLICE("--"))) { /* the rest is of another program */
            for (; i < argc; i++)
                words->words[words->count++] = slice_from(argv[i]);
            break;
        }
        bool is_switch = false, is_file = slice_equal(slice_of(flag.data, equals), SLICE("config"));
        if (flag.size == 0 ||
            (!is_file && !setting_name(slice_of(flag.data, equals), arena, &name, &is_switch))) {
            words->words[words->count++] = word;
            continue;
        }
        if (equals < flag.size)
            value = slice_after(flag, equals + 1);
        else if (is_switch)
            value = SLICE("on");
        else if (i + 1 < argc)
            value = slice_from(argv[++i]);
        else
            return reason_set(reason, STATUS_INVALID, "", "%s needs a value", argv[i]);
        if (is_file) {
            words->config_path = arena_text(arena, value);
        } else {
            words->names[words->setting_count] = name;
            words->values[words->setting_count++] = value;
        }
    }
    return STATUS_OK;
}

static Status read_settings(const Words *words, World world, Arena *arena, Config *config,
                            Reason *reason)
{
    config_defaults(config);
    const char *path = words->config_path != NULL ? words->config_path : getenv("OSTRAKA_CONFIG");
    if (path != NULL) {
        Slice text;
        TRY(disk_read(world.disk, path, CONFIG_FILE_MAX, arena, &text, reason));
        TRY(config_read_file(config, path, text, arena, reason));
    }
    TRY(config_read_environment(config, environ, arena, reason));
    for (size_t i = 0; i < words->setting_count; i++)
        TRY(config_set(config, words->names[i], words->values[i], arena, reason));
    return STATUS_OK;
}

/* ---- Running --------------------------------------------------------------------------------------------- */

static void write_terminal(void *self, int stream, Slice bytes)
{
    (void)self;
    FILE *to = stream == 1 ? stdout : stderr;
    if (stream == OUTPUT_PROGRESS && !isatty(STDERR_FILENO))
        return;
    fwrite(bytes.data, 1, bytes.size, to);
    fflush(to);
}

static Status tell_maintenance(void *self, Arena *arena, Slice *ret_message)
{
    return site_maintenance(((const Context *)self)->store, arena, ret_message);
}

static Status change_maintenance(void *self, Slice message, Reason *reason)
{
    const Context *context = self;
    return site_set_maintenance(context->store, context->world, message, reason);
}

/* With the modules on the store. */
static int run_on_site(Context *context)
{
    App app = {0};
    Reason reason = {0};
    AppParts parts = {context->store, context->world, NULL, context->config};
    Status status = open_vault(parts.config, parts.world, parts.store, &parts.vault, &reason);
    if (status == STATUS_OK)
        status = app_open(&parts, &app, &reason);
    context->app = &app;
    context->audit = app.audit;
    OperationsOptions options = {.app = &app,
                                 .config = context->config,
                                 .control = {tell_maintenance, change_maintenance, context}};
    if (status == STATUS_OK)
        context->ops = operations_new(&options);
    int code = status == STATUS_OK ? context->parsed.command->run(context)
                                   : command_fail(context, status, &reason);
    app_close(&app);
    operations_free(context->ops);
    return code;
}

/* With the audit log alone, where the command has something for it. */
static int run_with_log(Context *context)
{
    Vault *vault = NULL;
    Reason reason = {0};
    if (context->parsed.command->note.acts != 0 &&
        open_vault(context->config, context->world, context->store, &vault, &reason) == STATUS_OK)
        context->audit = audit_new(&(AuditOptions){context->store, context->world, vault});
    int code = context->parsed.command->run(context);
    audit_free(context->audit);
    vault_free(vault);
    return code;
}

/* Runs the command on the store that was just opened. */
static int run_here(Context *context)
{
    int code = context->parsed.command->needs == COMMAND_SITE ? run_on_site(context)
                                                              : run_with_log(context);
    store_close(context->store);
    return code;
}

/* A server that owns the directory carries the command out; else the store is opened here. Between the two looks a
 * server may start or end: then the lock says so, and one more look decides. */
static int run_on_store(Context *context, const Words *words)
{
    Reason reason = {0};
    ControlRequest request = {words->words, words->count, context->directory, context->input};
    OpenHow how = {.create = context->parsed.command->creates};
    for (int tries = 0;; tries++) {
        int code;
        Status status =
            control_call(context->config->data, &request, context->output, &code, &reason);
        if (status == STATUS_OK)
            return code;
        if (status == STATUS_NOT_FOUND)
            status = open_store(context->config, context->world, &how, &context->store, &reason);
        if (status == STATUS_CONFLICT && tries < 20) {
            clock_sleep_us(context->world.clock, 100 * US_PER_MS);
            continue;
        }
        return status == STATUS_OK ? run_here(context) : command_fail(context, status, &reason);
    }
}

/* What a password or a report is read from: bounded, and only for commands that ask for it. */
static Slice read_input(const Words *words, const Command *command, Arena *arena)
{
    bool wanted = false;
    size_t most = COMMAND_INPUT_MAX;
    for (size_t i = 0; command->operation != NULL && i < operation_input_count(command->operation);
         i++)
        if (command->operation->inputs[i].kind == INPUT_BYTES) {
            most = (size_t)command->operation->inputs[i].most +
                   1; /* one more shows that it is too long */
            for (size_t j = 0; j < words->count; j++)
                wanted |= slice_equal(words->words[j], SLICE("-"));
        }
    for (size_t i = 0; i < words->count; i++)
        wanted |= slice_equal(words->words[i], SLICE("--password-stdin")) ||
                  slice_equal(words->words[i], SLICE("--report-stdin"));
    if (!wanted)
        return SLICE_EMPTY;
    char *input = arena_bytes(arena, most);
    return slice_of(input, fread(input, 1, most, stdin));
}

static int run_command(Context *context, const Words *words)
{
    const Command *command = context->parsed.command;
    if (context->parsed.help && strcmp(command->name, "config") != 0) {
        BUFFER_SCOPE Buffer out = {0};
        command_usage(command, &out);
        command_write(context, buffer_slice(&out));
        return EXIT_DONE;
    }
    return command->needs == COMMAND_ALONE ? command->run(context) : run_on_store(context, words);
}

int main(int argc, char **argv)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Config config;
    Words words;
    Reason reason = {0};
    char directory[4096];
    Context context = {.world = world_real(),
                       .config = &config,
                       .directory = getcwd(directory, sizeof directory),
                       .output = {write_terminal, NULL},
                       .arena = arena};
    signal(SIGPIPE, SIG_IGN);
    umask(077); /* what the site keeps is nobody else's, whichever library makes the file */
    if (context.directory == NULL)
        context.directory = "/";
    Status status = sort_words(argc, argv, arena, &words, &reason);
    for (size_t i = 0; status == STATUS_OK && words.count == 1 && i < 2; i++)
        if (slice_equal(words.words[0], slice_from(i == 0 ? "--help" : "--version")))
            words.words[0] = slice_after(words.words[0], 2);
    if (status == STATUS_OK)
        status = command_parse(words.words, words.count, arena, &context.parsed, &reason);
    if (status == STATUS_OK)
        status = read_settings(&words, context.world, arena, &config, &reason);
    if (status != STATUS_OK) {
        (void)command_fail(&context, status, &reason);
        return EXIT_USAGE;
    }
    context.input = read_input(&words, context.parsed.command, arena);
    return run_command(&context, &words);
}
