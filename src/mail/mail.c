/* mail.c -- opening, queueing, listing, trying again. See mail.h. */
#include <stdlib.h>

#include "mail/mail_private.h"
#include "mail/mail_rules.h"
#include "mail/suppress.h"

enum { PASSWORD_MAX = 4096 };

const char *const MAIL_STATE_WORDS[] = WORDS(MAIL_STATE_LIST, WORD_2);

const char *mail_state_text(MailState state)
{
    return word_of(MAIL_STATE_WORDS, state);
}

/* ---- Opening ----------------------------------------------------------------------------------------------- */

static Status read_password(const Mail *mail, Slice *ret_password, Reason *reason)
{
    const char *path = mail->options.config->smtp_password_file;
    Reason why = {0};
    if (path[0] == '\0') {
        *ret_password = SLICE_EMPTY;
        return STATUS_OK;
    }
    if (disk_read_line(mail->options.world.disk, path, PASSWORD_MAX, mail->arena, ret_password,
                       &why) != STATUS_OK)
        return reason_set(reason, STATUS_INVALID, "smtp_password_file", "%s", why.rule);
    return STATUS_OK;
}

static bool is_ascii(Slice text)
{
    for (size_t i = 0; i < text.size; i++)
        if ((unsigned char)text.data[i] >= 0x80)
            return false;
    return true;
}

static Status read_settings(Mail *mail, Reason *reason)
{
    const Config *config = mail->options.config;
    SmtpSettings settings = {.url = slice_from(config->smtp_url),
                             .user = slice_from(config->smtp_user),
                             .ca_file = slice_from(config->smtp_ca_file),
                             .tls = slice_from(config->smtp_tls),
                             .seconds = config->smtp_seconds};
    TRY(mailbox_parse(slice_from(config->mail_from), "mail_from", &mail->from, reason));
    TRY(read_password(mail, &settings.password, reason));
    Slice domain = message_domain(mail->from.address);
    settings.name = is_ascii(domain) ? domain : SLICE("localhost");
    return smtp_server_from(&settings, mail->arena, &mail->server, reason);
}

/* "127.0.0.1" of "127.0.0.1:8080", "[::1]" of "[::1]:8080". */
static Slice host_of(Slice authority)
{
    size_t end = authority.size;
    if (authority.size > 0 && authority.data[0] == '[')
        end = slice_find(authority, ']') + 1;
    else
        end = slice_find(authority, ':');
    return slice_of(authority.data, end < authority.size ? end : authority.size);
}

/* Nobody but this machine sees the site: not by its own address, and not through a proxy. */
static bool is_local(const Config *config)
{
    Slice url = slice_from(config->public_url);
    Slice rest = slice_after(url, slice_find(url, ':') + strlen("://"));
    Slice authority = slice_of(rest.data, slice_find(rest, '/'));
    return smtp_is_loopback(host_of(slice_from(config->listen))) &&
           config->trusted_proxies[0] == '\0' &&
           (url.size == 0 || smtp_is_loopback(host_of(authority)));
}

static Status set_up(Mail *mail, Reason *reason)
{
    const Config *config = mail->options.config;
    mail->has_server = config->smtp_url[0] != '\0';
    mail->has_outbox = !mail->has_server && config->mail_outbox;
    if (mail->has_outbox && !is_local(config))
        return reason_set(reason, STATUS_INVALID, "mail_outbox",
                          "the outbox shows everybody's mails; it is for a demo on loopback only");
    if (!mail->has_server)
        return STATUS_OK;
    TRY(read_settings(mail, reason));
    mail->transport = mail->options.transport.send != NULL ? mail->options.transport
                                                           : smtp_transport(&mail->server);
    return STATUS_OK;
}

Status mail_open(const MailOptions *options, Mail **ret_mail, Reason *reason)
{
    Mail *mail = calloc(1, sizeof *mail);
    CHECK(mail != NULL);
    mail->options = *options;
    mail->arena = arena_new();
    mail->worker = journal_worker_new(NULL, SLICE_EMPTY);
    mail->lease_us = mail_lease_us(options->config->smtp_seconds);
    mail_keep_failed(mail, MAIL_FAILED_DAYS);
    Status status = set_up(mail, reason);
    if (status == STATUS_OK)
        *ret_mail = mail;
    else
        mail_close(mail);
    return status;
}

void mail_close(Mail *mail)
{
    if (mail == NULL)
        return;
    CHECK(!mail->has_thread);
    journal_worker_free(mail->worker);
    arena_free(mail->arena);
    free(mail);
}

void mail_use_journal(Mail *mail, Journals *journals, const char *name)
{
    CHECK(!mail->has_thread);
    journal_worker_free(mail->worker);
    mail->worker = journal_worker_new(journals, slice_from(name));
}

void mail_keep_failed(Mail *mail, int64_t days)
{
    atomic_store(&mail->failed_s, days * S_PER_DAY);
}

bool mail_can_send(const Mail *mail)
{
    return mail->has_server || mail->has_outbox;
}

bool mail_has_outbox(const Mail *mail)
{
    return mail->has_outbox;
}

/* ---- Queueing ---------------------------------------------------------------------------------------------- */

/* REFUSED: the address gets no letters that it could unsubscribe from. */
static Status check_suppressed(Mail *mail, const MailMessage *message, Arena *arena, Reason *reason)
{
    Suppressed entry;
    if (message->unsubscribe.size == 0)
        return STATUS_OK;
    Status status = mail_suppressed(mail, message->to, arena, &entry);
    if (status == STATUS_NOT_FOUND)
        return STATUS_OK;
    TRY(status);
    return reason_set(reason, STATUS_REFUSED, "to", "this address gets no such letters: %s",
                      suppress_text(entry.why));
}

/* `taken`: by whoever queues it, for an attempt at once. */
static Status queue(Mail *mail, const MailMessage *message, bool taken, Arena *arena,
                    MailRow *ret_row, Reason *reason)
{
    TRY(message_check(message, reason));
    if (!mail_can_send(mail))
        return reason_set(reason, STATUS_REFUSED, "smtp_url",
                          "this site has no mail server, so it cannot send mail");
    TRY(check_suppressed(mail, message, arena, reason));
    int64_t now_us = clock_now_us(mail->options.world.clock);
    MailRow row = {.id = mail_row_id(mail, message->once),
                   .head = {.state = mail->has_server ? MAIL_WAITING : MAIL_OUTBOX,
                            .attempts = taken ? 1 : 0,
                            .made_us = now_us,
                            .since_us = now_us,
                            .due_us = taken ? now_us + mail->lease_us : now_us,
                            .kind = message->kind,
                            .error = SLICE_EMPTY}};
    TRY(mail_row_create(mail, &row, message, arena));
    atomic_fetch_add(&mail->counts.queued, 1);
    *ret_row = row;
    return STATUS_OK;
}

Status mail_send(Mail *mail, const MailMessage *message, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    MailRow row;
    Status status = queue(mail, message, false, arena, &row, reason);
    if (status == STATUS_CONFLICT) /* promise 2 */
        return STATUS_OK;
    TRY(status);
    if (row.head.state == MAIL_WAITING)
        mail_note_waiting(mail, &row);
    return STATUS_OK;
}

/* ---- Listing ----------------------------------------------------------------------------------------------- */

static MailEntry entry_of(const Mail *mail, const MailRow *row, const MailMessage *message,
                          Arena *arena)
{
    return (MailEntry){.id = row->id,
                       .state = row->head.state,
                       .kind = row->head.kind,
                       .to = message->to,
                       .subject = message->subject,
                       .text = message->text,
                       .html = message->html,
                       .made_us = row->head.made_us,
                       .due_us = row->head.due_us,
                       .attempts = row->head.attempts,
                       .code = (uint32_t)row->head.code,
                       .error = mail_open_error(mail, &row->id, row->head.error, arena)};
}

/* NOT_FOUND: it is no longer, or not yet, what the mark says; or the mark is of somebody who queued the same once more, in vain. A text that cannot be read is listed without it. */
static Status read_entry(Mail *mail, MailState state, MailMark mark, Arena *arena,
                         MailEntry *ret_entry)
{
    MailRow row;
    MailMessage message = {
        .to = SLICE_EMPTY, .subject = SLICE_EMPTY, .text = SLICE_EMPTY, .html = SLICE_EMPTY};
    TRY(mail_row_read(mail, mark.id, arena, &row));
    if (row.head.state != state || row.head.since_us != mark.since_us)
        return STATUS_NOT_FOUND;
    Status status = mail_row_message(mail, &row, arena, &message);
    if (status != STATUS_OK && status != STATUS_NOT_FOUND && status != STATUS_CORRUPT)
        return status;
    if (state != MAIL_OUTBOX)
        message.text = message.html = SLICE_EMPTY;
    *ret_entry = entry_of(mail, &row, &message, arena);
    return STATUS_OK;
}

static Status list(Mail *mail, const MailSearch *search, Arena *arena, MailEntry **ret_entries,
                   size_t *ret_count)
{
    MailMarks marks;
    TRY(mail_marks(mail, search, arena, &marks));
    MailEntry *entries = ARENA_ARRAY(arena, marks.count, MailEntry);
    size_t count = 0;
    for (size_t i = 0; i < marks.count; i++) {
        Status status = read_entry(mail, search->state, marks.marks[i], arena, &entries[count]);
        if (status == STATUS_OK)
            count++;
        else if (status != STATUS_NOT_FOUND)
            return status;
    }
    *ret_entries = entries;
    *ret_count = count;
    return STATUS_OK;
}

Status mail_list(Mail *mail, MailState state, Arena *arena, MailEntry **ret_entries,
                 size_t *ret_count)
{
    CHECK(state == MAIL_WAITING || state == MAIL_FAILED);
    MailSearch search = {state, MAIL_LIST_MAX, false};
    return list(mail, &search, arena, ret_entries, ret_count);
}

Status mail_outbox(Mail *mail, Arena *arena, MailEntry **ret_entries, size_t *ret_count)
{
    MailSearch search = {MAIL_OUTBOX, MAIL_OUTBOX_MAX, false};
    if (mail->has_outbox)
        return list(mail, &search, arena, ret_entries, ret_count);
    *ret_entries = NULL;
    *ret_count = 0;
    return STATUS_OK;
}

/* ---- By hand ----------------------------------------------------------------------------------------------- */

Status mail_try(Mail *mail, const MailMessage *message, Arena *arena, MailEntry *ret_entry,
                Reason *reason)
{
    MailRow row;
    TRY(queue(mail, message, true, arena, &row, reason));
    if (row.head.state == MAIL_WAITING) {
        mail_attempt(mail, &row, arena);
        if (row.head.state == MAIL_WAITING)
            mail_note_waiting(mail, &row);
    }
    *ret_entry = entry_of(mail, &row, message, arena);
    return STATUS_OK;
}

Status mail_retry(Mail *mail, Id id)
{
    ARENA_SCOPE Arena *arena = arena_new();
    MailRow row;
    MailMessage message;
    TRY(mail_row_read(mail, id, arena, &row));
    if (row.head.state != MAIL_FAILED)
        return STATUS_CONFLICT;
    TRY(mail_row_message(mail, &row, arena, &message));
    MailHead head = row.head;
    head.state = MAIL_WAITING;
    head.attempts = 0;
    head.since_us = head.due_us = clock_now_us(mail->options.world.clock);
    TRY(mail_row_replace(mail, &row, head, arena));
    mail_note_waiting(mail, &row);
    return STATUS_OK;
}

/* ---- Counts ------------------------------------------------------------------------------------------------ */

void mail_metrics(Mail *mail, StoreMetricVisit *visit, void *context)
{
    const struct {
        const char *name, *help;
        const _Atomic uint64_t *count;
    } COUNTERS[] = {
        {"ostraka_mail_queued_total", "Messages put into the queue.", &mail->counts.queued},
        {"ostraka_mail_sent_total", "Messages that the mail server took.", &mail->counts.sent},
        {"ostraka_mail_failed_total", "Messages given up; `ostraka mail list` shows them.",
         &mail->counts.failed},
        {"ostraka_mail_delayed_total", "Attempts after which a message is tried again.",
         &mail->counts.delayed},
    };
    for (size_t i = 0; i < sizeof COUNTERS / sizeof COUNTERS[0]; i++)
        visit(context, COUNTERS[i].name, COUNTERS[i].help, true,
              (double)atomic_load(COUNTERS[i].count));
    visit(context, "ostraka_mail_waiting", "Messages that wait, as far as this instance knows.",
          false, (double)journal_worker_waiting(mail->worker));
}
