/* admin_commands.c -- how long things are kept, and the texts of the site. What is done stands in the log of acts before it is done. */
#include "accounts/retention.h"
#include "cli/ledger_commands.h"
#include "texts/texts.h"

/* ---- How long things are kept -------------------------------------------------------------------------------------- */

int run_retention_list(Context *context)
{
    BUFFER_SCOPE Buffer out = {0};
    JsonWriter json = json_writer(&out);
    Retention retention;
    Status status = retention_read(context->app->accounts, context->arena, &retention);
    if (status != STATUS_OK)
        return command_fail(context, status, NULL);
    json_object_begin(&json);
    for (size_t i = 0; i < RETENTION_ROW_COUNT; i++) {
        const RetentionRow *row = &RETENTION_ROWS[i];
        int64_t days;
        memcpy(&days, (const char *)&retention + row->offset, sizeof days);
        json_member_i64(&json, row->name, days);
        if (!context->parsed.json)
            command_print(context, "%-10s %5lld days  %s%s\n", row->name, (long long)days,
                          row->about, row->deletes ? "; older ones are deleted by a task" : "");
    }
    json_object_end(&json);
    if (context->parsed.json)
        command_json(context, &out);
    return EXIT_DONE;
}

static Status set_retention(Context *context, Reason *reason)
{
    Accounts *accounts = context->app->accounts;
    Slice name = context->parsed.operands[0], text = context->parsed.operands[1];
    Retention before, after;
    int64_t days;
    Id act;
    if (slice_to_i64(text, &days) != STATUS_OK)
        return reason_set(reason, STATUS_INVALID, "days", "must be a whole number");
    TRY(retention_read(accounts, context->arena, &before));
    TRY(retention_change(&before, name, days, &after, reason));
    Slice details =
        arena_print(context->arena, "%.*s: %lld days", SLICE_ARG(name), (long long)days);
    TRY(command_act(context, &(Act){.kind = ACT_RETENTION_SET, .details = details}, &act, reason));
    return command_act_end(context, act, retention_set(accounts, &after, reason));
}

int run_retention_set(Context *context)
{
    Reason reason = {0};
    Status status = set_retention(context, &reason);
    if (status != STATUS_OK)
        return command_fail(context, status, &reason);
    command_print(context, "new ones are kept so long; instances learn of it within a minute\n");
    return EXIT_DONE;
}

/* ---- Texts ------------------------------------------------------------------------------------------------------------ */

static Status kind_of(Slice word, TextKind *ret_kind, Reason *reason)
{
    for (int i = 0; i < TEXT_KINDS; i++)
        if (slice_equal(word, slice_from(text_kind_word((TextKind)i)))) {
            *ret_kind = (TextKind)i;
            return STATUS_OK;
        }
    return reason_set(reason, STATUS_INVALID, "text", "must be privacy or terms");
}

int run_text_show(Context *context)
{
    BUFFER_SCOPE Buffer out = {0};
    JsonWriter json = json_writer(&out);
    Reason reason = {0};
    TextKind kind;
    SiteText text;
    Status status = kind_of(context->parsed.operands[0], &kind, &reason);
    if (status == STATUS_OK)
        status = texts_read(context->store, kind, context->arena, &text);
    if (status != STATUS_OK)
        return command_fail(context, status, &reason);
    if (!context->parsed.json) {
        command_write(context, text.text);
        return EXIT_DONE;
    }
    json_object_begin(&json);
    json_member_i64(&json, "revision", text.revision);
    json_member_string(&json, "words", text.text);
    json_object_end(&json);
    command_json(context, &out);
    return EXIT_DONE;
}

static Status write_text(Context *context, Reason *reason)
{
    SiteText stands;
    NewText wish = {.editor = 0};
    Id act;
    TRY(kind_of(context->parsed.operands[0], &wish.kind, reason));
    TRY(disk_read(context->world.disk, command_path(context, 1), TEXT_BYTES, context->arena,
                  &wish.text, reason));
    TRY(texts_read(context->store, wish.kind, context->arena, &stands));
    wish.seen = stands.revision;
    TRY(command_act(
        context, &(Act){.kind = ACT_TEXT_WRITE, .details = slice_from(text_kind_word(wish.kind))},
        &act, reason));
    return command_act_end(context, act,
                           texts_write(context->store, context->world, &wish, reason));
}

int run_text_write(Context *context)
{
    Reason reason = {0};
    Status status = write_text(context, &reason);
    if (status != STATUS_OK)
        return command_fail(context, status, &reason);
    command_print(context, "the text stands; the older ones are kept\n");
    return EXIT_DONE;
}
