/* audit_commands.c -- the log of acts: noting what a command does, and listing. */
#include "base/log.h"
#include "cli/arguments.h"
#include "cli/ledger_commands.h"

/* ---- Noting ------------------------------------------------------------------------------------------------- */

/* Its beginning, of whole characters. */
static Slice cut(Slice text, size_t most)
{
    size_t size = 0, next;
    while (size < text.size && (next = slice_utf8_length(slice_after(text, size))) > 0 &&
           size + next <= most)
        size += next;
    return slice_of(text.data, size);
}

Status command_act(Context *context, const Act *act, Id *ret_id, Reason *reason)
{
    Act full = *act;
    CHECK((context->parsed.command->note.acts >> act->kind & 1) != 0);
    if (context->audit == NULL)
        return reason_set(reason, STATUS_REFUSED, "",
                          "without the site's key it cannot be noted in the log of acts, so it was "
                          "not done");
    full.origin = SLICE("command line");
    full.details = cut(full.details, AUDIT_DETAILS_BYTES);
    Status status = audit_begin(context->audit, &full, ret_id);
    if (status == STATUS_INVALID)
        return reason_set(reason, status, "reason", "has at most %d bytes", AUDIT_REASON_BYTES);
    if (status == STATUS_UNAVAILABLE ||
        status == STATUS_UNKNOWN) /* of the note; nothing else was begun */
        return reason_set(reason, STATUS_UNAVAILABLE, "",
                          "it could not be noted in the log of acts, so it was not done");
    return status;
}

Status command_act_end(Context *context, Id id, Status outcome)
{
    audit_end(context->audit, id, outcome);
    return outcome;
}

/* ---- Listing ------------------------------------------------------------------------------------------------ */

static void put_number(JsonWriter *json, const char *key, uint64_t number)
{
    json_key(json, key);
    if (number == 0)
        json_put_null(json);
    else
        json_put_i64(json, (int64_t)number);
}

static const char *time_of(int64_t us, Arena *arena)
{
    char *text = arena_bytes(arena, LOG_TIME_TEXT);
    log_format_time(us, text);
    return text;
}

static void put_entry(JsonWriter *json, const AuditEntry *entry, Arena *arena)
{
    const Act *act = &entry->act;
    json_object_begin(json);
    json_member_string(json, "id", id_text(entry->id, arena));
    json_member_text(json, "time", time_of(entry->time_us, arena));
    json_member_string(json, "kind", entry->word);
    json_member_text(json, "of", act_kind_object(act->kind));
    put_number(json, "object", act->object);
    put_number(json, "other", act->other);
    put_number(json, "actor", act->actor);
    json_member_string(json, "origin", act->origin);
    json_member_string(json, "instance", entry->instance);
    json_member_string(json, "reason", act->reason);
    json_member_string(json, "details", act->details);
    json_member_text(json, "outcome", audit_outcome_word(entry->outcome));
    json_member_string(json, "status", entry->status);
    json_object_end(json);
}

/* One line an entry, whatever somebody typed as a reason. */
static void print_entry(Context *context, const AuditEntry *entry)
{
    const Act *act = &entry->act;
    char *reason = arena_bytes(context->arena, act->reason.size);
    for (size_t i = 0; i < act->reason.size; i++)
        reason[i] = (unsigned char)act->reason.data[i] < ' ' ? ' ' : act->reason.data[i];
    command_print(context, "%s  %-16.*s %-7s %6llu  by %-6llu %-17s %.*s\n",
                  time_of(entry->time_us, context->arena), SLICE_ARG(entry->word),
                  act_kind_object(act->kind), (unsigned long long)act->object,
                  (unsigned long long)act->actor, audit_outcome_text(entry->outcome),
                  (int)act->reason.size, reason);
}

static Status read_query(Context *context, AuditQuery *query, Reason *reason)
{
    Account account;
    int64_t limit;
    Slice who = command_flag(context, "who"), kind = command_flag(context, "kind"),
          policy = command_flag(context, "policy");
    query->public_only = command_flag(context, "public").data != NULL;
    TRY(argument_number(context, "limit", 1, AUDIT_LIST_MOST, 50, &limit, reason));
    query->limit = (uint32_t)limit;
    TRY(argument_version(context, "before", &query->before, reason));
    if (who.data != NULL) {
        TRY(argument_account_named(context, who, &account, reason));
        query->has_actor = true;
        query->actor = account.id;
    }
    query->has_kind = kind.data != NULL;
    if (query->has_kind && act_kind_from(kind, &query->kind) != STATUS_OK)
        return reason_set(reason, STATUS_INVALID, "kind", "there is no kind \"%.*s\"",
                          SLICE_ARG(kind));
    if (policy.data != NULL) {
        TRY(argument_id(policy, &query->object, reason));
        query->object_kind = "policy";
    }
    return STATUS_OK;
}

int run_audit_list(Context *context)
{
    AuditQuery query = {.instance = SLICE_EMPTY};
    AuditEntry *entries;
    size_t count;
    Reason reason = {0};
    Status status = read_query(context, &query, &reason);
    if (status == STATUS_OK)
        status = audit_list(context->app->audit, &query, context->arena, &entries, &count);
    if (status != STATUS_OK)
        return command_fail(context, status, &reason);
    BUFFER_SCOPE Buffer out = {0};
    JsonWriter json = json_writer(&out);
    json_array_begin(&json);
    for (size_t i = 0; i < count; i++) {
        put_entry(&json, &entries[i], context->arena);
        if (!context->parsed.json)
            print_entry(context, &entries[i]);
    }
    json_array_end(&json);
    if (context->parsed.json)
        command_json(context, &out);
    return EXIT_DONE;
}
