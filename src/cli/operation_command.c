/* operation_command.c -- the command line as a door to the operations: words become the request struct, the answer becomes lines or JSON.
 *
 * Inputs that the row calls operands stand in the order of the row, the last of them may be a list; all others are flags of their name. A
 * secret is read from stdin (--NAME-stdin), a file by its path. Whoever may run commands is the operator, with every right; --as acts in
 * somebody's name and with that person's rights. */
#include <stdio.h>
#include <stdlib.h>

#include "cli/arguments.h"
#include "operations/in_name.h"
#include "operations/schema_list.h"

static bool is_list(const Input *input)
{
    return input->kind == INPUT_NUMBERS || input->kind == INPUT_TEXTS;
}

static bool is_ours(const Input *input)
{
    return !input->no_command;
}

static bool is_piped(const Input *input)
{
    return input->piped || input->kind == INPUT_SECRET;
}

/* A flag without a value: it is on where it stands. */
static bool is_bare(const Input *input)
{
    bool is_off = input->kind == INPUT_SWITCH && input->fallback != NULL &&
                  strcmp(input->fallback, "off") == 0;
    return is_off || is_piped(input);
}

static bool is_needed(const Input *input)
{
    return !input->optional && input->fallback == NULL && input->kind != INPUT_ONCE;
}

/* ---- The row of a command ----------------------------------------------------------------------------------------------------- */

/* What the usage calls a value. */
static const char *value_word(const Input *input)
{
    static const char *const WORDS[INPUT_KINDS] = {
        [INPUT_ID] = "ID",         [INPUT_POLICY] = "ID",       [INPUT_ACCOUNT] = "NAME",
        [INPUT_CATEGORY] = "NAME", [INPUT_PARTY] = "NAME",      [INPUT_NUMBER] = "N",
        [INPUT_SMALL] = "N",       [INPUT_LINE] = "TEXT",       [INPUT_TEXT] = "TEXT",
        [INPUT_OPAQUE] = "TEXT",   [INPUT_WORD] = "WORD",       [INPUT_SWITCH] = "on|off",
        [INPUT_TIME] = "TIME",     [INPUT_VERSION] = "VERSION", [INPUT_ONCE] = "TOKEN",
        [INPUT_NUMBERS] = "ID=N…", [INPUT_TEXTS] = "TEXT…",     [INPUT_FILE] = "FILE",
        [INPUT_STREAM] = "FILE",   [INPUT_BYTES] = "TEXT",
    };
    return input->value != NULL ? input->value : WORDS[input->kind];
}

/* "seen_version" is --seen-version, a secret --password-stdin. */
static char *flag_name(const Input *input)
{
    char *name = NULL;
    CHECK(asprintf(&name, "%s%s", input->flag != NULL ? input->flag : input->name,
                   is_piped(input) ? "-stdin" : "") > 0);
    for (char *at = name; *at != '\0'; at++)
        *at = *at == '_' ? '-' : *at;
    return name;
}

static void add_operand(Command *command, const Input *input, Buffer *operands)
{
    bool needed = is_needed(input);
    buffer_print(operands, "%s%s%s%s", operands->size > 0 ? " " : "", needed ? "" : "[",
                 value_word(input), needed ? "" : "]");
    command->least += needed;
    command->most += is_list(input) ? (size_t)input->most_count : 1;
}

/* Why something is done in somebody's name, or looked at; it stands in the audit log, and the person is told. */
static const CommandFlag WHY = {"reason", "TEXT",
                                "why; in the audit log and in the person's notices"};

static bool has_as(const Operation *operation)
{
    return operation->access != WEB_GUEST && (operation->access != WEB_PUBLIC || !operation->asks);
}

static bool has_why(const Operation *operation)
{
    return has_as(operation) && in_name_may(operation) &&
           operation_input(operation, WHY.name) == NULL;
}

Command command_of_operation(const Operation *operation)
{
    Command command = {.name = operation->command.words,
                       .operands = "",
                       .needs = COMMAND_SITE,
                       .note = {operation->audits, operation->audits != 0 ? NULL
                                                   : operation->asks      ? "changes nothing"
                                                                          : operation->no_audits},
                       .help = operation->help,
                       .run = command_run_operation,
                       .creates = operation->command.creates,
                       .operation = operation};
    BUFFER_SCOPE Buffer operands = {0};
    size_t count = 0;
    if (in_name_may(operation) && has_as(operation))
        command.note = (CommandNote){
            operation->asks ? 1ull << AUDIT_PERSON_READ : 1ull << AUDIT_PERSON_AS, NULL};
    if (has_as(operation))
        command.flags[count++] = (CommandFlag){
            "as", "NAME",
            operation->access == WEB_ROLE || operation->whose == WEB_OWN_OR_ROLE
                ? "who does it; without it, the operator"
            : operation->access == WEB_PUBLIC ? "who: user name or e-mail; without it, a visitor"
                                              : "who: user name or e-mail"};
    for (size_t i = 0; i < operation_input_count(operation); i++) {
        const Input *input = &operation->inputs[i];
        if (!is_ours(input))
            continue;
        if (input->operand)
            add_operand(&command, input, &operands);
        else
            command.flags[count++] = (CommandFlag){
                flag_name(input), is_bare(input) ? NULL : value_word(input), input->help};
    }
    if (has_why(operation))
        command.flags[count++] = WHY;
    CHECK(count < COMMAND_FLAGS_MAX);
    if (operands.size > 0)
        command.operands = strndup(operands.data, operands.size);
    return command;
}

/* ---- Reading -------------------------------------------------------------------------------------------------------------------- */

static Status read_file(Context *context, const Input *input, Slice path, Slice *ret_text,
                        Reason *reason)
{
    const char *full = command_path(context, path);
    return disk_read(context->world.disk, full, (size_t)input->most, context->arena, ret_text,
                     reason);
}

static Status bind(Context *context, const Input *input, const Slice *texts, size_t count,
                   void *request, Reason *reason)
{
    Slice text;
    if (input->command_optional && count == 0)
        return input_bind_left_out(context->ops, input, context->arena, request, reason);
    if (is_piped(input) && count > 0) {
        text = slice_trim(context->input);
        if (text.size == 0)
            return reason_set(reason, STATUS_INVALID, input->name, "nothing came on stdin");
        return input_bind_texts(context->ops, input, &text, 1, context->arena, request, reason);
    }
    if (input->kind == INPUT_FILE && count > 0) {
        TRY(read_file(context, input, texts[0], (Slice *)(void *)((char *)request + input->offset),
                      reason));
        return STATUS_OK;
    }
    if (input->kind == INPUT_BYTES && count > 0) {
        text = slice_equal(texts[0], SLICE("-")) ? context->input : texts[0];
        *(Slice *)(void *)((char *)request + input->offset) = text;
        return text.size <= (size_t)input->most
                   ? STATUS_OK
                   : reason_set(reason, STATUS_TOO_LARGE, input->name, "at most %lld bytes",
                                (long long)input->most);
    }
    if (input->kind == INPUT_STREAM && count > 0) {
        *(InputStream *)(void *)((char *)request + input->offset) =
            (InputStream){.text = SLICE_EMPTY, .path = command_path(context, texts[0])};
        return STATUS_OK;
    }
    return input_bind_texts(context->ops, input, texts, count, context->arena, request, reason);
}

static size_t flag_index(const Command *command, const Input *input)
{
    char *name = flag_name(input);
    size_t index = 0;
    while (strcmp(command->flags[index].name, name) != 0)
        index++;
    free(name);
    return index;
}

static Status read_request(Context *context, const Operation *operation, void *request,
                           Reason *reason)
{
    const Parsed *parsed = &context->parsed;
    size_t operand = 0;
    for (size_t i = 0; i < operation_input_count(operation); i++) {
        const Input *input = &operation->inputs[i];
        if (!is_ours(input)) {
            TRY(input_bind_left_out(context->ops, input, context->arena, request, reason));
        } else if (input->operand) {
            size_t left = parsed->operand_count - operand, take = is_list(input) ? left : left > 0;
            TRY(bind(context, input, parsed->operands + operand, take, request, reason));
            operand += take;
        } else {
            size_t flag = flag_index(parsed->command, input);
            TRY(bind(context, input, parsed->values[flag], parsed->value_counts[flag], request,
                     reason));
        }
    }
    return STATUS_OK;
}

const Actor COMMAND_OPERATOR = {.door = DOOR_COMMAND,
                                .is_operator = true,
                                .is_local = true,
                                .origin = {"command line", 12},
                                .agent = {"", 0}};

/* With --as the person's own rights count, all of them: whoever may run commands needs no second factor. */
static Status read_actor(Context *context, Account *account, Actor *actor, Reason *reason)
{
    bool missing;
    *actor = COMMAND_OPERATOR;
    const CommandFlag *first = &context->parsed.command->flags[0];
    if (first->name == NULL || strcmp(first->name, "as") != 0 ||
        context->parsed.flags[0].data == NULL)
        return STATUS_OK;
    TRY(argument_account(context, "as", account, reason));
    actor->account = account;
    actor->roles = actor_roles(context->app, account, true, &missing);
    if (has_why(context->parsed.command->operation))
        actor->why = slice_trim(command_flag(context, WHY.name));
    return STATUS_OK;
}

/* ---- Answering ------------------------------------------------------------------------------------------------------------------ */

static void print_answer(Context *context, const Operation *operation, const void *answer)
{
    BUFFER_SCOPE Buffer out = {0};
    JsonWriter json = json_writer(&out);
    const ApiSchema *schema = operation->answers != NULL ? operation->answers : &SCHEMA_DONE;
    if (context->parsed.json) {
        schema_write(&json, schema, answer, context->arena);
        buffer_text(&out, "\n");
    } else if (operation->command.done != NULL) {
        buffer_print(&out, "%s\n", operation->command.done);
    } else if (operation->command.print != NULL) {
        operation->command.print(answer, context->arena, &out);
    } else {
        schema_print(schema, answer, context->arena, &out);
    }
    command_write(context, buffer_slice(&out));
}

int command_run_operation(Context *context)
{
    const Operation *operation = context->parsed.command->operation;
    void *request = arena_alloc(context->arena, operation->request_size),
         *answer = arena_alloc(context->arena, operation->answer_size);
    Reason reason = {0};
    Account account;
    Actor actor;
    memset(request, 0, operation->request_size);
    memset(answer, 0, operation->answer_size);
    Status status = read_request(context, operation, request, &reason);
    if (status == STATUS_OK)
        status = read_actor(context, &account, &actor, &reason);
    OperationCall call = {.operation = operation,
                          .actor = &actor,
                          .request = request,
                          .answer = answer,
                          .arena = context->arena,
                          .reason = &reason};
    if (status == STATUS_OK)
        status = operation_run(context->ops, &call);
    if (status != STATUS_OK)
        return command_fail(context, status, &reason);
    if (call.is_unread) {
        command_write(context, context->parsed.json
                                   ? SLICE("{\"done\":true,\"read\":false}\n")
                                   : SLICE("done; what is there now could not be read\n"));
        return EXIT_DONE;
    }
    if (call.outcome != STATUS_OK && !context->parsed.json)
        return command_fail(context, call.outcome, &reason);
    print_answer(context, operation, answer);
    return call.outcome == STATUS_OK ? EXIT_DONE : EXIT_FAILED;
}
