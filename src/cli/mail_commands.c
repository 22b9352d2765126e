/* mail_commands.c -- what waits to be sent, what could not be, and a test of the settings. */
#include "base/log.h"
#include "cli/ledger_commands.h"
#include "mail/dsn.h"
#include "mail/letters.h"
#include "mail/suppress.h"

static const char *time_of(int64_t us, Arena *arena)
{
    char *text = arena_bytes(arena, LOG_TIME_TEXT);
    log_format_time(us, text);
    return text;
}

/* ---- Listing ------------------------------------------------------------------------------------------------ */

static void put_entry(JsonWriter *json, const MailEntry *entry, Arena *arena)
{
    json_object_begin(json);
    json_member_string(json, "id", id_text(entry->id, arena));
    json_member_text(json, "state", mail_state_text(entry->state));
    json_member_string(json, "kind", entry->kind);
    json_member_string(json, "to", entry->to);
    json_member_string(json, "subject", entry->subject);
    json_member_text(json, "made", time_of(entry->made_us, arena));
    json_key(json, "next");
    if (entry->state == MAIL_WAITING)
        json_put_string(json, slice_from(time_of(entry->due_us, arena)));
    else
        json_put_null(json);
    json_member_i64(json, "attempts", entry->attempts);
    json_member_i64(json, "code", entry->code);
    json_member_string(json, "error", entry->error);
    json_object_end(json);
}

static void print_entry(Context *context, const MailEntry *entry)
{
    Slice id = id_text(entry->id, context->arena);
    command_print(context, "%.*s  %-8s %-19.*s %s  %u  %.*s%s%.*s\n", SLICE_ARG(id),
                  mail_state_text(entry->state), SLICE_ARG(entry->kind),
                  time_of(entry->made_us, context->arena), entry->attempts, SLICE_ARG(entry->to),
                  entry->error.size > 0 ? ": " : "", SLICE_ARG(entry->error));
}

static Status list_state(Context *context, MailState state, JsonWriter *json)
{
    MailEntry *entries;
    size_t count;
    Mail *mail = context->app->mail;
    if (state == MAIL_OUTBOX)
        TRY(mail_outbox(mail, context->arena, &entries, &count));
    else
        TRY(mail_list(mail, state, context->arena, &entries, &count));
    for (size_t i = 0; i < count; i++) {
        put_entry(json, &entries[i], context->arena);
        if (!context->parsed.json)
            print_entry(context, &entries[i]);
    }
    return STATUS_OK;
}

int run_mail_list(Context *context)
{
    static const MailState STATES[] = {MAIL_WAITING, MAIL_FAILED, MAIL_OUTBOX};
    BUFFER_SCOPE Buffer out = {0};
    JsonWriter json = json_writer(&out);
    json_array_begin(&json);
    for (size_t i = 0; i < sizeof STATES / sizeof STATES[0]; i++) {
        Status status = list_state(context, STATES[i], &json);
        if (status != STATUS_OK)
            return command_fail(context, status, NULL);
    }
    json_array_end(&json);
    if (context->parsed.json)
        command_json(context, &out);
    return EXIT_DONE;
}

/* ---- Trying again -------------------------------------------------------------------------------------------- */

/* The failed ones that are asked for: one by its id, or all. */
static Status find_failed(Context *context, MailEntry **ret_entries, size_t *ret_count,
                          Reason *reason)
{
    if (context->parsed.operand_count == 0)
        return mail_list(context->app->mail, MAIL_FAILED, context->arena, ret_entries, ret_count);
    MailEntry *entry = ARENA_NEW(context->arena, MailEntry);
    if (id_from_text(context->parsed.operands[0], &entry->id) != STATUS_OK)
        return reason_set(reason, STATUS_INVALID, "", "ID is what `ostraka mail list` shows");
    *ret_entries = entry;
    *ret_count = 1;
    return STATUS_OK;
}

static int tell_retried(Context *context, size_t count)
{
    if (context->parsed.json)
        command_print(context, "{\"queued\":%zu}\n", count);
    else
        command_print(context, "%zu queued again\n", count);
    return EXIT_DONE;
}

/* With all of them asked for, one whose text is gone, or that somebody else took, is passed over. */
static Status retry(Context *context, const MailEntry *entries, size_t count, size_t *ret_queued,
                    Reason *reason)
{
    size_t queued = 0;
    for (size_t i = 0; i < count; i++) {
        Status one = mail_retry(context->app->mail, entries[i].id);
        queued += one == STATUS_OK;
        if (one == STATUS_OK || (context->parsed.operand_count == 0 &&
                                 (one == STATUS_NOT_FOUND || one == STATUS_CONFLICT)))
            continue;
        return one == STATUS_CONFLICT ? reason_set(reason, one, "", "that message has not failed")
                                      : one;
    }
    *ret_queued = queued;
    return STATUS_OK;
}

static Status retry_noted(Context *context, size_t *ret_queued, Reason *reason)
{
    MailEntry *entries;
    size_t count;
    Id note;
    bool all = context->parsed.operand_count == 0;
    TRY(find_failed(context, &entries, &count, reason));
    Act act = {.kind = ACT_MAIL_RETRY, .details = all ? SLICE("all") : context->parsed.operands[0]};
    TRY(command_act(context, &act, &note, reason));
    return command_act_end(context, note, retry(context, entries, count, ret_queued, reason));
}

int run_mail_retry(Context *context)
{
    size_t queued;
    Reason reason = {0};
    Status status = retry_noted(context, &queued, &reason);
    return status == STATUS_OK ? tell_retried(context, queued)
                               : command_fail(context, status, &reason);
}

/* ---- A test ---------------------------------------------------------------------------------------------------- */

static Status test_letter(Context *context, MailMessage *ret_message, Reason *reason)
{
    const Config *config = context->config;
    Arena *arena = context->arena;
    LetterFacts facts = {.site = SLICE("Ostraka"),
                         .home = config->public_url[0] != '\0'
                                     ? slice_from(config->public_url)
                                     : arena_print(arena, "http://%s", config->listen),
                         .name = SLICE_EMPTY,
                         .link = SLICE_EMPTY};
    Id id = id_new(context->world.clock, context->world.random);
    MailMessage message;
    TRY(letter_write(LETTER_TEST, &facts, arena, &message, reason));
    message.to = context->parsed.operands[0];
    message.once = arena_copy(arena, id_slice(&id));
    *ret_message = message;
    return STATUS_OK;
}

static int tell_tested(Context *context, const MailEntry *entry)
{
    if (context->parsed.json) {
        BUFFER_SCOPE Buffer out = {0};
        JsonWriter json = json_writer(&out);
        put_entry(&json, entry, context->arena);
        command_json(context, &out);
        return entry->state == MAIL_SENT || entry->state == MAIL_OUTBOX ? EXIT_DONE : EXIT_FAILED;
    }
    if (entry->state == MAIL_SENT)
        command_print(context, "the mail server took it\n");
    else if (entry->state == MAIL_OUTBOX)
        command_print(context, "kept in the outbox; this site has no mail server\n");
    if (entry->state == MAIL_SENT || entry->state == MAIL_OUTBOX)
        return EXIT_DONE;
    Reason reason = {0};
    Status status = reason_set(&reason, STATUS_UNAVAILABLE, "", "not sent%s: %.*s",
                               entry->state == MAIL_WAITING ? ", and tried again later" : "",
                               SLICE_ARG(entry->error));
    return command_fail(context, status, &reason);
}

/* `ret_entry` when it is not only queued. */
static Status send_test(Context *context, bool queues, MailEntry *ret_entry, Reason *reason)
{
    MailMessage message;
    Id note;
    Mail *mail = context->app->mail;
    TRY(test_letter(context, &message, reason));
    TRY(command_act(context, &(Act){.kind = ACT_MAIL_TEST}, &note, reason));
    return command_act_end(context, note,
                           queues ? mail_send(mail, &message, reason)
                                  : mail_try(mail, &message, context->arena, ret_entry, reason));
}

int run_mail_test(Context *context)
{
    MailEntry entry;
    Reason reason = {0};
    bool queues = command_flag(context, "queue").data != NULL;
    Status status = send_test(context, queues, &entry, &reason);
    if (status != STATUS_OK)
        return command_fail(context, status, &reason);
    if (!queues)
        return tell_tested(context, &entry);
    command_print(context, context->parsed.json ? "{\"state\":\"waiting\"}\n" : "queued\n");
    return EXIT_DONE;
}

/* ---- Addresses that get only what they must ------------------------------------------------------------------- */

static int tell_suppressed(Context *context, size_t count)
{
    if (context->parsed.json)
        command_print(context, "{\"suppressed\":%zu}\n", count);
    else
        command_print(context, "%zu %s only letters about log-in from now on\n", count,
                      count == 1 ? "address gets" : "addresses get");
    return EXIT_DONE;
}

/* The addresses that the command names, or the report on stdin as failed for good. */
static Status addresses_of(Context *context, Slice **ret_addresses, size_t *ret_count,
                           Reason *reason)
{
    bool has_report = command_flag(context, "report-stdin").data != NULL;
    if (has_report == (context->parsed.operand_count == 1))
        return reason_set(reason, STATUS_INVALID, "", "an ADDRESS, or --report-stdin");
    *ret_addresses = context->parsed.operands;
    *ret_count = 1;
    if (!has_report)
        return message_check_address(slice_trim(**ret_addresses), "address", reason);
    DsnReport *report = ARENA_NEW(context->arena, DsnReport);
    TRY(dsn_read(context->input, context->arena, report, reason));
    *ret_addresses = ARENA_ARRAY(context->arena, report->count, Slice);
    *ret_count = report->count;
    for (size_t i = 0; i < report->count; i++)
        (*ret_addresses)[i] = report->failed[i].address;
    return STATUS_OK;
}

static Status suppress_all(Context *context, SuppressWhy why, const Slice *addresses, size_t count,
                           Reason *reason)
{
    for (size_t i = 0; i < count; i++)
        TRY(mail_suppress(context->app->mail, addresses[i], why, reason));
    return STATUS_OK;
}

/* The log has no address either: what is kept of it is a hash. */
static Status bounce(Context *context, size_t *ret_count, Reason *reason)
{
    SuppressWhy why = SUPPRESS_BOUNCED;
    Slice word = command_flag(context, "reason");
    Slice *addresses;
    Id note;
    if (word.data != NULL && suppress_from(word, &why) != STATUS_OK)
        return reason_set(reason, STATUS_INVALID, "reason", "bounced, complaint or operator");
    TRY(addresses_of(context, &addresses, ret_count, reason));
    if (*ret_count == 0)
        return STATUS_OK; /* of a report that names none nothing follows */
    Act act = {.kind = ACT_MAIL_SUPPRESS,
               .details = arena_print(context->arena, "%s: %zu", suppress_word(why), *ret_count)};
    TRY(command_act(context, &act, &note, reason));
    return command_act_end(context, note,
                           suppress_all(context, why, addresses, *ret_count, reason));
}

int run_mail_bounce(Context *context)
{
    Reason reason = {0};
    size_t count;
    Status status = bounce(context, &count, &reason);
    return status == STATUS_OK ? tell_suppressed(context, count)
                               : command_fail(context, status, &reason);
}

static Status allow(Context *context, Reason *reason)
{
    Slice address = context->parsed.operands[0];
    Id note;
    TRY(message_check_address(slice_trim(address), "address", reason));
    TRY(command_act(context, &(Act){.kind = ACT_MAIL_ALLOW}, &note, reason));
    return command_act_end(context, note, mail_allow(context->app->mail, address, reason));
}

int run_mail_allow(Context *context)
{
    Reason reason = {0};
    Status status = allow(context, &reason);
    if (status != STATUS_OK)
        return command_fail(context, status, &reason);
    command_print(context, "the address gets all letters again\n");
    return EXIT_DONE;
}

int run_mail_suppressed(Context *context)
{
    BUFFER_SCOPE Buffer out = {0};
    JsonWriter json = json_writer(&out);
    Suppressed *entries;
    size_t count;
    Status status = mail_list_suppressed(context->app->mail, context->arena, &entries, &count);
    if (status != STATUS_OK)
        return command_fail(context, status, NULL);
    json_array_begin(&json);
    for (size_t i = 0; i < count; i++) {
        const char *since = time_of(entries[i].time_us, context->arena);
        json_object_begin(&json);
        json_member_string(&json, "hash", entries[i].tag);
        json_member_text(&json, "why", suppress_word(entries[i].why));
        json_member_text(&json, "since", since);
        json_object_end(&json);
        if (!context->parsed.json)
            command_print(context, "%.*s  %-9s  %s\n", SLICE_ARG(entries[i].tag),
                          suppress_word(entries[i].why), since);
    }
    json_array_end(&json);
    if (context->parsed.json)
        command_json(context, &out);
    return EXIT_DONE;
}
