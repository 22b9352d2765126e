/* mail_state.c -- what became of e-mails: the queue, trying again, a test, and addresses that get nothing but e-mails about their log-in.
 *
 * Each change is in the audit log before it is made, and without the address: what is kept of one is a hash. Every change can be repeated:
 * after a crash the same request again finishes what was begun. */
#include "operations/mail_state.h"

#include "mail/dsn.h"
#include "mail/letters.h"
#include "operations/schema_macros.h"

enum { ADDRESS_MAX = 1000, REPORT_MAX = 60000 };

/* clang-format off */
static const ApiMember MAIL_ENTRY[] = {
    FIELD("id", MailEntry, id, .help = "Names it."),
    WORD("state", MailEntry, state, MAIL_STATE_WORDS, .help = "Whether it waits or has failed."),
    FIELD("kind", MailEntry, kind, .help = "What it is about."),
    FIELD("to", MailEntry, to, .help = "Where it should go."),
    FIELD("subject", MailEntry, subject, .help = "Its subject."),
    TIME("made", MailEntry, made_us, OR_NULL, .help = "When it was written."),
    TIME("next", MailEntry, due_us, OR_NULL, .help = "When it is tried again; null: it is not."),
    FIELD("attempts", MailEntry, attempts, .help = "How often it was tried."),
    FIELD("code", MailEntry, code, .help = "What SMTP said last; 0: nothing."),
    FIELD("error", MailEntry, error, OR_NULL, .help = "Why it was not sent."),
};
SCHEMA(MAIL_ENTRY, "MailEntry", MailEntry, MAIL_ENTRY, .help = "An e-mail of this site.");

static const ApiMember SUPPRESSED[] = {
    FIELD("hash", Suppressed, tag, .help = "Of the address: tells two apart, and no more."),
    WORD("why", Suppressed, why, SUPPRESS_WORDS, .help = "Why it is here."),
    TIME("since", Suppressed, time_us, .help = "Since when."),
};
SCHEMA(SUPPRESSED, "Suppressed", Suppressed, SUPPRESSED, .help = "An address that gets only e-mails about its log-in.");

static const ApiMember SUPPRESSED_LIST[] = {
    LIST("suppressed", MailQueue, suppressed, suppressed_count, SUPPRESSED, .help = "The newest first."),
};
SCHEMA(SUPPRESSED_LIST, "SuppressedList", MailQueue, SUPPRESSED_LIST, .help = "Addresses that get only e-mails about their log-in.");

static const ApiMember ADMIN_MAIL[] = {
    FIELD("can_send", MailQueue, can_send, .help = "Whether this site sends e-mails."),
    FIELD("waiting", MailQueue, waiting_count, .help = "How many wait to be sent."),
    LIST("failed", MailQueue, failed, failed_count, MAIL_ENTRY, .help = "Those that have failed, the newest first."),
    LIST("messages", MailQueue, entries, count, MAIL_ENTRY, .help = "Those that wait, those that have failed, and those that a demo keeps."),
    LIST("suppressed", MailQueue, suppressed, suppressed_count, SUPPRESSED, .help = "The newest first."),
};
SCHEMA(ADMIN_MAIL, "AdminMail", MailQueue, ADMIN_MAIL, .help = "What became of e-mails.");
/* clang-format on */

#define FOR_ADMINS .access = WEB_ROLE, .roles = 1u << ROLE_ADMIN, .always = true

/* ---- Listing ------------------------------------------------------------------------------------------------------------------ */

static void add_entries(MailQueue *queue, MailEntry *entries, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        entries[i].due_us = entries[i].state == MAIL_WAITING ? entries[i].due_us : 0;
        queue->entries[queue->count++] = entries[i];
    }
}

Status mail_queue(Operations *ops, Arena *arena, MailQueue *ret_queue)
{
    Mail *mail = ops->app->mail;
    MailQueue queue = {.now_us = clock_now_us(ops->app->world.clock),
                       .can_send = mail_can_send(mail)};
    MailEntry *waiting, *outbox;
    size_t outbox_count;
    TRY(mail_list(mail, MAIL_WAITING, arena, &waiting, &queue.waiting_count));
    TRY(mail_list(mail, MAIL_FAILED, arena, &queue.failed, &queue.failed_count));
    TRY(mail_outbox(mail, arena, &outbox, &outbox_count));
    TRY(mail_list_suppressed(mail, arena, &queue.suppressed, &queue.suppressed_count));
    queue.entries =
        ARENA_ARRAY(arena, queue.waiting_count + queue.failed_count + outbox_count, MailEntry);
    add_entries(&queue, waiting, queue.waiting_count);
    add_entries(&queue, queue.failed, queue.failed_count);
    add_entries(&queue, outbox, outbox_count);
    *ret_queue = queue;
    return STATUS_OK;
}

static Status mail_show(Operations *ops, const Actor *actor, const Nothing *request, Arena *arena,
                        MailQueue *ret_queue, Reason *reason)
{
    (void)actor, (void)request, (void)reason;
    return mail_queue(ops, arena, ret_queue);
}

static Status suppressed_list(Operations *ops, const Actor *actor, const Nothing *request,
                              Arena *arena, MailQueue *ret_queue, Reason *reason)
{
    (void)actor, (void)request, (void)reason;
    return mail_list_suppressed(ops->app->mail, arena, &ret_queue->suppressed,
                                &ret_queue->suppressed_count);
}

static void print_queue(const void *answer, Arena *arena, Buffer *out)
{
    const MailQueue *queue = answer;
    for (size_t i = 0; i < queue->count; i++) {
        const MailEntry *entry = &queue->entries[i];
        Slice id = id_text(entry->id, arena), made = stamp_text(entry->made_us, arena);
        buffer_print(out, "%.*s  %-8s %-19.*s %.*s  %u  %.*s%s%.*s\n", SLICE_ARG(id),
                     mail_state_text(entry->state), SLICE_ARG(entry->kind), SLICE_ARG(made),
                     entry->attempts, SLICE_ARG(entry->to), entry->error.size > 0 ? ": " : "",
                     SLICE_ARG(entry->error));
    }
}

/* clang-format off */
OPERATION(mail_show, Nothing, MailQueue, .help = "List e-mails that wait or have failed, newest first.",
    FOR_ADMINS, .asks = true, .shows = SHOWS(EMAIL), .answers = &SCHEMA_ADMIN_MAIL,
    .api = {WEB_GET, "admin/mail", .tag = "admin"}, .no_page = "the page that suppresses an address shows them", .command = {"mail list", .print = print_queue});
OPERATION(suppressed_list, Nothing, MailQueue, .help = "List the addresses that get only e-mails about log-in, as hashes.",
    FOR_ADMINS, .asks = true, .answers = &SCHEMA_SUPPRESSED_LIST,
    .api = {WEB_GET, "admin/mail/suppressed", .tag = "admin"}, .no_page = "the page that suppresses an address shows them", .command = {.words = "mail suppressed"});
/* clang-format on */

/* ---- Trying again ------------------------------------------------------------------------------------------------------------- */

typedef struct MailRetry {
    Id letter;
    bool has_letter; /* else all that have failed */
} MailRetry;

typedef struct MailRetried {
    bool done;
    uint64_t queued;
} MailRetried;

/* clang-format off */
static const ApiMember MAIL_RETRIED[] = {
    FIELD("done", MailRetried, done, .help = "True."),
    FIELD("queued", MailRetried, queued, .help = "How many are tried again."),
};
SCHEMA(MAIL_RETRIED, "MailRetried", MailRetried, MAIL_RETRIED, .help = "E-mails that are tried again.");
/* clang-format on */

static Status retry_one(Operations *ops, Id letter, Reason *reason)
{
    Status status = mail_retry(ops->app->mail, letter);
    return status == STATUS_CONFLICT ? reason_set(reason, status, "", "that message has not failed")
                                     : status;
}

/* One whose text is gone, or that somebody else took, is passed over. */
static Status retry_all(Operations *ops, Arena *arena, uint64_t *ret_queued)
{
    MailEntry *entries;
    size_t count;
    TRY(mail_list(ops->app->mail, MAIL_FAILED, arena, &entries, &count));
    for (size_t i = 0; i < count; i++) {
        Status status = mail_retry(ops->app->mail, entries[i].id);
        *ret_queued += status == STATUS_OK;
        if (status != STATUS_NOT_FOUND && status != STATUS_CONFLICT)
            TRY(status);
    }
    return STATUS_OK;
}

static Status mail_try_again(Operations *ops, const Actor *actor, const MailRetry *request,
                             Arena *arena, MailRetried *ret_retried, Reason *reason)
{
    Id id;
    bool all = !request->has_letter;
    AuditAct act = {.kind = AUDIT_MAIL_RETRY,
                    .details = all ? SLICE("all") : id_text(request->letter, arena)};
    *ret_retried = (MailRetried){.done = true, .queued = !all};
    TRY(operation_audit(ops, actor, &act, &id, reason));
    return operation_audit_end(ops, id,
                               all ? retry_all(ops, arena, &ret_retried->queued)
                                   : retry_one(ops, request->letter, reason));
}

static void print_retried(const void *answer, Arena *arena, Buffer *out)
{
    (void)arena;
    buffer_print(out, "%llu queued again\n",
                 (unsigned long long)((const MailRetried *)answer)->queued);
}

/* clang-format off */
OPERATION(mail_try_again, MailRetry, MailRetried, .help = "Queue a failed e-mail again, or all of them.",
    FOR_ADMINS, .audits = AUDITS(MAIL_RETRY), .answers = &SCHEMA_MAIL_RETRIED,
    .api = {WEB_POST, "admin/mail/retry", .tag = "admin"}, .command = {"mail retry", .print = print_retried},
    .page = {"/admin/mail/retry", "mail-retried", "That e-mail is tried again."},
    .inputs = {INPUT("letter", MailRetry, letter, VERSION, GIVEN(MailRetry, has_letter), .optional = true, .operand = true, .value = "ID", .help = "Which one; left out: all that have failed.")});
/* clang-format on */

/* ---- A test ------------------------------------------------------------------------------------------------------------------- */

typedef struct MailTest {
    Slice address;
    bool queue;
} MailTest;

static Status test_message(Operations *ops, Slice address, Arena *arena, MailMessage *ret_message,
                           Reason *reason)
{
    Id id = id_new(ops->app->world.clock, ops->app->world.random);
    LetterFacts facts = {.site = slice_from(ops->config->site_name),
                         .home = slice_from(ops->app->home),
                         .name = SLICE_EMPTY,
                         .link = SLICE_EMPTY};
    TRY(letter_write(LETTER_TEST, &facts, arena, ret_message, reason));
    ret_message->to = address;
    ret_message->once = arena_copy(arena, id_slice(&id));
    return STATUS_OK;
}

static Status send_test(Operations *ops, const MailTest *request, const MailMessage *message,
                        Arena *arena, MailEntry *ret_entry, Reason *reason)
{
    *ret_entry = (MailEntry){.state = MAIL_WAITING,
                             .kind = message->kind,
                             .to = message->to,
                             .subject = message->subject,
                             .error = SLICE_EMPTY};
    return request->queue ? mail_send(ops->app->mail, message, reason)
                          : mail_try(ops->app->mail, message, arena, ret_entry, reason);
}

static Status mail_test(Operations *ops, const Actor *actor, const MailTest *request, Arena *arena,
                        MailEntry *ret_entry, Reason *reason)
{
    MailMessage message;
    Id id;
    TRY(test_message(ops, request->address, arena, &message, reason));
    TRY(operation_audit(ops, actor, &(AuditAct){.kind = AUDIT_MAIL_TEST}, &id, reason));
    TRY(operation_audit_end(ops, id, send_test(ops, request, &message, arena, ret_entry, reason)));
    bool is_sent = ret_entry->state == MAIL_SENT || ret_entry->state == MAIL_OUTBOX;
    if (is_sent || request->queue)
        return STATUS_OK;
    return reason_set(reason, STATUS_REFUSED, "", "not sent%s: %.*s",
                      ret_entry->state == MAIL_WAITING ? ", and tried again later" : "",
                      SLICE_ARG(ret_entry->error));
}

static void print_tested(const void *answer, Arena *arena, Buffer *out)
{
    MailState state = ((const MailEntry *)answer)->state;
    (void)arena;
    buffer_text(out, state == MAIL_SENT     ? "the mail server took it\n"
                     : state == MAIL_OUTBOX ? "kept in the outbox; this site has no mail server\n"
                                            : "queued\n");
}

/* clang-format off */
OPERATION(mail_test, MailTest, MailEntry, .help = "Send an e-mail at once and say what the server said.",
    FOR_ADMINS, .audits = AUDITS(MAIL_TEST), .answers = &SCHEMA_MAIL_ENTRY,
    .no_api = "it waits for the mail server, and no request may", .no_page = "it waits for the mail server, and no request may",
    .command = {"mail test", .print = print_tested},
    .inputs = {
        INPUT("address", MailTest, address, LINE, .operand = true, .least = 1, .most = ADDRESS_MAX, .value = "ADDRESS", .help = "Where it goes."),
        INPUT("queue", MailTest, queue, SWITCH, .fallback = "off", .help = "only queue it, as the site does"),
    });
/* clang-format on */

/* ---- Addresses that get only what they must ----------------------------------------------------------------------------------- */

typedef struct MailSuppress {
    Slice address, report;
    unsigned why;
    bool has_why;
} MailSuppress;

typedef struct MailSuppressed {
    bool done;
    uint64_t suppressed;
} MailSuppressed;

/* clang-format off */
static const ApiMember MAIL_SUPPRESSED[] = {
    FIELD("done", MailSuppressed, done, .help = "True."),
    FIELD("suppressed", MailSuppressed, suppressed, .help = "How many addresses."),
};
SCHEMA(MAIL_SUPPRESSED, "MailSuppressed", MailSuppressed, MAIL_SUPPRESSED, .help = "Addresses that get only e-mails about their log-in from now on.");
/* clang-format on */

/* The address that was named, or those that the report names as failed for good. */
static Status addresses_of(const MailSuppress *request, Arena *arena, Slice **ret_addresses,
                           size_t *ret_count, Reason *reason)
{
    bool has_report = request->report.size > 0;
    Slice *addresses = ARENA_ARRAY(arena, DSN_RECIPIENTS_MAX, Slice);
    if (has_report == (request->address.size > 0))
        return reason_set(reason, STATUS_INVALID, "address", "name an address, or give a report");
    addresses[0] = request->address;
    *ret_addresses = addresses;
    *ret_count = 1;
    if (!has_report)
        return message_check_address(request->address, "address", reason);
    DsnReport *report = ARENA_NEW(arena, DsnReport);
    TRY(dsn_read(request->report, arena, report, reason));
    for (size_t i = 0; i < report->count; i++)
        addresses[i] = report->failed[i].address;
    *ret_count = report->count;
    return STATUS_OK;
}

static Status suppress_all(Operations *ops, SuppressWhy why, const Slice *addresses, size_t count,
                           Reason *reason)
{
    for (size_t i = 0; i < count; i++)
        TRY(mail_suppress(ops->app->mail, addresses[i], why, reason));
    return STATUS_OK;
}

static Status address_suppress(Operations *ops, const Actor *actor, const MailSuppress *request,
                               Arena *arena, MailSuppressed *ret_suppressed, Reason *reason)
{
    SuppressWhy unsaid = request->report.size > 0 ? SUPPRESS_BOUNCED : SUPPRESS_OPERATOR,
                why = request->has_why ? (SuppressWhy)request->why : unsaid;
    Slice *addresses;
    size_t count;
    Id id;
    TRY(addresses_of(request, arena, &addresses, &count, reason));
    *ret_suppressed = (MailSuppressed){.done = true, .suppressed = count};
    if (count == 0)
        return STATUS_OK; /* of a report that names none nothing follows */
    AuditAct act = {.kind = AUDIT_MAIL_SUPPRESS,
                    .details = arena_print(arena, "%s: %zu", suppress_word(why), count)};
    TRY(operation_audit(ops, actor, &act, &id, reason));
    return operation_audit_end(ops, id, suppress_all(ops, why, addresses, count, reason));
}

static void print_suppressed(const void *answer, Arena *arena, Buffer *out)
{
    uint64_t count = ((const MailSuppressed *)answer)->suppressed;
    (void)arena;
    buffer_print(out, "%llu %s only e-mails about log-in from now on\n", (unsigned long long)count,
                 count == 1 ? "address gets" : "addresses get");
}

static Status address_allow(Operations *ops, const Actor *actor, const MailSuppress *request,
                            Arena *arena, Done *ret_done, Reason *reason)
{
    Id id;
    (void)arena;
    ret_done->done = true;
    TRY(message_check_address(request->address, "address", reason));
    TRY(operation_audit(ops, actor, &(AuditAct){.kind = AUDIT_MAIL_ALLOW}, &id, reason));
    return operation_audit_end(ops, id, mail_allow(ops->app->mail, request->address, reason));
}

/* clang-format off */
OPERATION(address_suppress, MailSuppress, MailSuppressed, .help = "Send an address only e-mails about its log-in from now on.",
    FOR_ADMINS, .audits = AUDITS(MAIL_SUPPRESS), .answers = &SCHEMA_MAIL_SUPPRESSED,
    .api = {WEB_POST, "admin/mail/suppress", .tag = "admin"}, .command = {"mail bounce", .print = print_suppressed},
    .page = {"/admin/mail/suppress", "mail-suppressed", "That address gets only e-mails about its log-in."},
    .inputs = {
        INPUT("address", MailSuppress, address, LINE, .fallback = "", .operand = true, .most = ADDRESS_MAX, .value = "ADDRESS", .help = "An e-mail address."),
        INPUT("reason", MailSuppress, why, WORD, .optional = true, .no_page = true, .words = SUPPRESS_WORDS, GIVEN(MailSuppress, has_why), .help = "Why; left out: operator, or of a report bounced."),
        INPUT("report", MailSuppress, report, TEXT, .fallback = "", .piped = true, .no_page = true, .most = REPORT_MAX, .help = "A mail server's report (RFC 3464) in place of an address."),
    });
OPERATION(address_allow, MailSuppress, Done, .help = "Send an address all e-mails again.",
    FOR_ADMINS, .audits = AUDITS(MAIL_ALLOW),
    .api = {WEB_POST, "admin/mail/allow", .tag = "admin"}, .command = {.words = "mail allow", .done = "the address gets all e-mails again"},
    .page = {"/admin/mail/allow", "mail-allowed", "That address gets all e-mails again."},
    .inputs = {INPUT("address", MailSuppress, address, LINE, .operand = true, .least = 1, .most = ADDRESS_MAX, .value = "ADDRESS", .help = "An e-mail address.")});
/* clang-format on */
