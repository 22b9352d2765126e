/* command.c -- reading a command line by the table, printing help from it, and speaking to the caller. */
#include "cli/command.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- Parsing --------------------------------------------------------------------------------------------- */

/* The row whose words all stand at the beginning; the longest wins, so "maintenance on" before "maintenance". */
static const Command *find(const Slice *words, size_t count, size_t *ret_used)
{
    const Command *best = NULL;
    size_t best_size = 0;
    const Command *command;
    for (size_t i = 0; (command = command_at(i)) != NULL; i++) {
        Slice names[2];
        Slice rest = slice_from(command->name);
        size_t size = 0;
        while (size < 2 && slice_split(&rest, ' ', &names[size]))
            size++;
        if (size > count || size <= best_size || !slice_equal(names[0], words[0]) ||
            (size == 2 && !slice_equal(names[1], words[1])))
            continue;
        best = command;
        best_size = size;
    }
    *ret_used = best_size;
    return best;
}

/* A flag that is given again adds to what was given before. */
static void add_value(Parsed *parsed, size_t flag, Slice value, size_t most, Arena *arena)
{
    Slice *before = &parsed->flags[flag];
    if (parsed->values[flag] == NULL)
        parsed->values[flag] = ARENA_ARRAY(arena, most, Slice);
    parsed->values[flag][parsed->value_counts[flag]++] = value;
    *before = before->data == NULL
                  ? value
                  : arena_print(arena, "%.*s,%.*s", SLICE_ARG(*before), SLICE_ARG(value));
}

static Status parse_flag(Parsed *parsed, const Slice *words, size_t count, size_t *at, Arena *arena,
                         Reason *reason)
{
    Slice word = slice_after(words[*at], 2);
    size_t equals = slice_find(word, '=');
    Slice name = slice_of(word.data, equals);
    const CommandFlag *flags = parsed->command->flags;
    for (size_t i = 0; i < COMMAND_FLAGS_MAX && flags[i].name != NULL; i++) {
        if (!slice_equal(name, slice_from(flags[i].name)))
            continue;
        if (flags[i].value == NULL && equals < word.size)
            return reason_set(reason, STATUS_INVALID, "", "--%s takes no value", flags[i].name);
        if (flags[i].value == NULL)
            add_value(parsed, i, SLICE("on"), count, arena);
        else if (equals < word.size)
            add_value(parsed, i, slice_after(word, equals + 1), count, arena);
        else if (*at + 1 < count)
            add_value(parsed, i, words[++*at], count, arena);
        else
            return reason_set(reason, STATUS_INVALID, "", "--%s needs a value: %s", flags[i].name,
                              flags[i].value);
        return STATUS_OK;
    }
    return reason_set(reason, STATUS_INVALID, "",
                      "\"%s\" has no flag --%.*s; `ostraka %s --help` lists them",
                      parsed->command->name, SLICE_ARG(name), parsed->command->name);
}

static Status parse_rest(Parsed *parsed, const Slice *words, size_t count, Arena *arena,
                         Reason *reason)
{
    bool only_operands = false;
    parsed->operands = ARENA_ARRAY(arena, count, Slice);
    for (size_t at = 0; at < count; at++) {
        if (!only_operands && slice_equal(words[at], SLICE("--")))
            only_operands = true;
        else if (!only_operands && slice_equal(words[at], SLICE("--json")))
            parsed->json = true;
        else if (!only_operands && slice_equal(words[at], SLICE("--help")))
            parsed->help = true;
        else if (!only_operands && slice_starts_with(words[at], SLICE("--")))
            TRY(parse_flag(parsed, words, count, &at, arena, reason));
        else
            parsed->operands[parsed->operand_count++] = words[at];
    }
    return STATUS_OK;
}

Status command_parse(const Slice *words, size_t count, Arena *arena, Parsed *ret_parsed,
                     Reason *reason)
{
    Parsed parsed = {0};
    size_t used;
    if (count == 0)
        return reason_set(reason, STATUS_INVALID, "", "say what to do; `ostraka help` lists it");
    parsed.command = find(words, count, &used);
    if (parsed.command == NULL)
        return reason_set(reason, STATUS_INVALID, "",
                          "there is no command \"%.*s\"; `ostraka help` lists them",
                          SLICE_ARG(words[0]));
    TRY(parse_rest(&parsed, words + used, count - used, arena, reason));
    if (!parsed.help && (parsed.operand_count < parsed.command->least ||
                         parsed.operand_count > parsed.command->most))
        return reason_set(reason, STATUS_INVALID, "", "usage: ostraka %s%s%s; --help says more",
                          parsed.command->name, parsed.command->operands[0] != '\0' ? " " : "",
                          parsed.command->operands);
    *ret_parsed = parsed;
    return STATUS_OK;
}

/* ---- The table ------------------------------------------------------------------------------------------- */

static struct {
    Command *commands; /* of the operations */
    size_t count;
} made;

static void make_commands(void)
{
    size_t count = 0;
    while (OPERATIONS[count] != NULL)
        count++;
    made.commands = calloc(count, sizeof *made.commands);
    CHECK(count == 0 || made.commands != NULL);
    for (size_t i = 0; i < count; i++)
        if (OPERATIONS[i]->command.words != NULL)
            made.commands[made.count++] = command_of_operation(OPERATIONS[i]);
}

const Command *command_at(size_t index)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_commands);
    if (index < COMMAND_COUNT)
        return &COMMANDS[index];
    return index - COMMAND_COUNT < made.count ? &made.commands[index - COMMAND_COUNT] : NULL;
}

/* ---- Speaking -------------------------------------------------------------------------------------------- */

void command_write(Context *context, Slice bytes)
{
    context->output.write(context->output.self, 1, bytes);
}

void command_print(Context *context, const char *format, ...)
{
    va_list arguments;
    char *text;
    va_start(arguments, format);
    int size = vasprintf(&text, format, arguments);
    va_end(arguments);
    CHECK(size >= 0);
    command_write(context, slice_of(text, (size_t)size));
    free(text);
}

void command_json(Context *context, const Buffer *json)
{
    command_print(context, "%.*s\n", SLICE_ARG(buffer_slice(json)));
}

int command_fail(Context *context, Status status, const Reason *reason)
{
    bool has_reason = reason != NULL && reason->rule[0] != '\0';
    bool has_field = has_reason && reason->field[0] != '\0';
    Slice line =
        arena_print(context->arena, "ostraka: %s%s%s\n", has_field ? reason->field : "",
                    has_field ? ": " : "", has_reason ? reason->rule : status_text(status));
    context->output.write(context->output.self, 2, line);
    return EXIT_FAILED;
}

Slice command_flag(const Context *context, const char *name)
{
    const CommandFlag *flags = context->parsed.command->flags;
    for (size_t i = 0; i < COMMAND_FLAGS_MAX && flags[i].name != NULL; i++)
        if (strcmp(flags[i].name, name) == 0)
            return context->parsed.flags[i];
    CHECK(false && "a flag that the command's row declares");
    return SLICE_EMPTY;
}

const char *command_path(const Context *context, Slice path)
{
    if (path.size > 0 && path.data[0] == '/')
        return arena_text(context->arena, path);
    return arena_print(context->arena, "%s/%.*s%c", context->directory, SLICE_ARG(path), '\0').data;
}

/* ---- Help ------------------------------------------------------------------------------------------------ */

static Slice synopsis(const Command *command, Buffer *to)
{
    buffer_clear(to);
    buffer_print(to, "ostraka %s", command->name);
    if (command->operands[0] != '\0')
        buffer_print(to, " %s", command->operands);
    for (const CommandFlag *flag = command->flags; flag->name != NULL; flag++)
        buffer_print(to, " [--%s%s%s]", flag->name, flag->value != NULL ? " " : "",
                     flag->value != NULL ? flag->value : "");
    return buffer_slice(to);
}

void command_usage(const Command *command, Buffer *out)
{
    BUFFER_SCOPE Buffer line = {0};
    Slice text = synopsis(command, &line);
    buffer_print(out, "%.*s\n  %s\n", SLICE_ARG(text), command->help);
    for (const CommandFlag *flag = command->flags; flag->name != NULL; flag++)
        buffer_print(out, "  --%s%s%s: %s\n", flag->name, flag->value != NULL ? " " : "",
                     flag->value != NULL ? flag->value : "", flag->help);
}

void command_help(Buffer *out)
{
    buffer_text(out,
                "ostraka: people earn votes over time, spend them on policies, and every total "
                "can be recomputed.\n\n");
    for (size_t i = 0; command_at(i) != NULL; i++)
        buffer_print(out, "  %-16s %-14s %s\n", command_at(i)->name, command_at(i)->operands,
                     command_at(i)->help);
    buffer_text(out, "\n`ostraka NAME --help` says more. --json prints data for scripts. Every "
                     "setting is also a "
                     "flag (`ostraka config --help`).\n");
}

static void put_kinds(const CommandNote *note, JsonWriter *json)
{
    json_key(json, "acts");
    json_array_begin(json);
    for (int kind = 0; kind < AUDIT_KIND_COUNT; kind++)
        if ((note->acts >> kind & 1) != 0)
            json_put_string(json, slice_from(audit_kind_word((AuditKind)kind)));
    json_array_end(json);
    json_member_text(json, "none", note->none != NULL ? note->none : "");
}

void command_table(Buffer *out)
{
    JsonWriter json = json_writer(out);
    json_array_begin(&json);
    for (size_t i = 0; command_at(i) != NULL; i++) {
        json_object_begin(&json);
        json_member_text(&json, "name", command_at(i)->name);
        json_member_text(&json, "operands", command_at(i)->operands);
        json_member_text(&json, "help", command_at(i)->help);
        put_kinds(&command_at(i)->note, &json);
        json_object_end(&json);
    }
    json_array_end(&json);
    buffer_text(out, "\n");
}

static void put_note(const CommandNote *note, Buffer *out)
{
    const char *between = "In the log of acts: ";
    for (int kind = 0; kind < AUDIT_KIND_COUNT; kind++)
        if ((note->acts >> kind & 1) != 0) {
            buffer_print(out, "%s`%s`", between, audit_kind_word((AuditKind)kind));
            between = ", ";
        }
    buffer_text(out, note->acts != 0 ? ".\n" : "");
}

void command_markdown(Buffer *out)
{
    buffer_text(
        out,
        "# Commands\n\nPrinted by `ostraka help --markdown`; do not edit.\n\n"
        "Every command also takes the [settings](settings.md) as flags, `--json` where it prints "
        "data, and "
        "`--help`. While `ostraka serve` runs on a data directory, commands that need the store "
        "are carried out inside it, through `control.sock` in that directory. Exit codes: 0 done; "
        "1 refused or "
        "failed, with one sentence on stderr; 2 usage.\n");
    BUFFER_SCOPE Buffer line = {0};
    for (size_t i = 0; command_at(i) != NULL; i++) {
        Slice text = synopsis(command_at(i), &line);
        buffer_print(out, "\n## %s\n\n`%.*s`\n\n%s\n", command_at(i)->name, SLICE_ARG(text),
                     command_at(i)->help);
        for (const CommandFlag *flag = command_at(i)->flags; flag->name != NULL; flag++)
            buffer_print(out, "%s- `--%s%s%s`: %s\n", flag == command_at(i)->flags ? "\n" : "",
                         flag->name, flag->value != NULL ? " " : "",
                         flag->value != NULL ? flag->value : "", flag->help);
        buffer_text(out, command_at(i)->note.acts != 0 ? "\n" : "");
        put_note(&command_at(i)->note, out);
    }
}
