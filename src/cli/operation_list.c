/* operation_list.c -- `ostraka operations`: the table of operations with the doors of each row, for people and for the tests of the doors. */
#include "cli/command.h"
#include "cli/ledger_commands.h"

static const char *const KIND_WORDS[INPUT_KINDS] = {
    [INPUT_ID] = "id",           [INPUT_POLICY] = "policy",
    [INPUT_ACCOUNT] = "account", [INPUT_CATEGORY] = "category",
    [INPUT_PARTY] = "party",     [INPUT_NUMBER] = "number",
    [INPUT_SMALL] = "small",     [INPUT_LINE] = "line",
    [INPUT_TEXT] = "text",       [INPUT_SECRET] = "secret",
    [INPUT_OPAQUE] = "opaque",   [INPUT_WORD] = "word",
    [INPUT_SWITCH] = "switch",   [INPUT_TIME] = "time",
    [INPUT_VERSION] = "version", [INPUT_ONCE] = "once",
    [INPUT_NUMBERS] = "numbers", [INPUT_TEXTS] = "texts",
    [INPUT_FILE] = "file",       [INPUT_STREAM] = "stream",
    [INPUT_BYTES] = "bytes"};

/* Inputs that are flags stand in the command's row in the order of the inputs, after --as. */
static void put_inputs(JsonWriter *json, const Operation *operation, const Command *command)
{
    size_t flag = command != NULL && command->flags[0].name != NULL &&
                  strcmp(command->flags[0].name, "as") == 0;
    json_key(json, "inputs");
    json_array_begin(json);
    for (size_t i = 0; i < operation_input_count(operation); i++) {
        const Input *input = &operation->inputs[i];
        bool is_flag = command != NULL && !input->operand && !input->no_command;
        json_object_begin(json);
        json_member_text(json, "name", input->name);
        json_member_text(json, "kind", KIND_WORDS[input->kind]);
        json_member_bool(json, "optional", input->optional || input->fallback != NULL);
        json_member_bool(json, "operand", input->operand);
        if (is_flag) {
            json_member_text(json, "flag", command->flags[flag].name);
            json_member_bool(json, "switch", command->flags[flag++].value == NULL);
        }
        json_member_bool(json, "no_page", input->no_page);
        json_member_bool(json, "no_api", input->no_api);
        json_member_bool(json, "no_command", input->no_command);
        json_object_end(json);
    }
    json_array_end(json);
}

static void put_text(JsonWriter *json, const char *key, const char *text)
{
    json_key(json, key);
    if (text != NULL)
        json_put_string(json, slice_from(text));
    else
        json_put_null(json);
}

static void put_operation(JsonWriter *json, const Operation *operation)
{
    const Command *command;
    size_t i = 0;
    while ((command = command_at(i)) != NULL && command->operation != operation)
        i++;
    json_object_begin(json);
    json_member_text(json, "name", operation->name);
    json_member_text(json, "help", operation->help);
    json_member_text(json, "access", route_access_name(operation->access));
    json_key(json, "roles");
    json_array_begin(json);
    for (int role = 0; role < ROLE_COUNT; role++)
        if ((operation->roles & 1u << role) != 0)
            json_put_string(json, slice_from(account_role_text((AccountRole)role)));
    json_array_end(json);
    json_member_bool(json, "asks", operation->asks);
    json_key(json, "audits");
    json_array_begin(json);
    for (int kind = 0; kind < AUDIT_KIND_COUNT; kind++)
        if ((operation->audits >> kind & 1) != 0)
            json_put_string(json, slice_from(audit_kind_word((AuditKind)kind)));
    json_array_end(json);
    json_key(json, "shows");
    json_array_begin(json);
    for (int part = 0; part < PERSONAL_PARTS; part++)
        if ((operation->shows >> part & 1) != 0)
            json_put_string(json, slice_from(PERSONAL_ROWS[part].text));
    json_array_end(json);
    put_inputs(json, operation, command);
    put_text(json, "page", operation->page.path);
    put_text(json, "no_page", operation->no_page);
    put_text(json, "method",
             operation->api.path != NULL ? route_method_name(operation->api.method) : NULL);
    put_text(json, "api", operation->api.path);
    put_text(json, "no_api", operation->no_api);
    put_text(json, "command", operation->command.words);
    put_text(json, "no_command", operation->no_command);
    json_object_end(json);
}

int run_operations(Context *context)
{
    BUFFER_SCOPE Buffer out = {0};
    JsonWriter json = json_writer(&out);
    if (context->parsed.json)
        json_array_begin(&json);
    for (size_t i = 0; OPERATIONS[i] != NULL; i++) {
        const Operation *row = OPERATIONS[i];
        if (context->parsed.json)
            put_operation(&json, row);
        else
            buffer_print(&out, "%-20s %-7s %-20s %-36s %s\n", row->name,
                         route_access_name(row->access),
                         row->command.words != NULL ? row->command.words : "-",
                         row->page.path != NULL ? row->page.path : "-", row->help);
    }
    if (context->parsed.json) {
        json_array_end(&json);
        buffer_text(&out, "\n");
    }
    command_write(context, buffer_slice(&out));
    return EXIT_DONE;
}
