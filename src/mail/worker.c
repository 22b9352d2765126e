/* worker.c -- finding what is due, and carrying it out. See mail.h.
 *
 * What this instance queued waits in its journal, by when it is due. What others left, or an earlier process, it finds by the index and puts
 * there: all of it at the start, and what may be worth sending every few minutes. The journal is a hint; the row decides, and only who replaced the
 * row by one that is due later may send. A crash after that leaves a message that is due when the lease has passed. While the journal cannot
 * be used, what is due is sent as it is found by the index, which is then read every few seconds. */
#include "base/threads.h"
#include "mail/mail_private.h"
#include "mail/mail_rules.h"
#include "mail/suppress.h"

enum { SWEEP_S = 300, SWEEP_ALONE_S = 5 };

/* Never before it is due by the finer clock. */
static JournalNext look_again(const Mail *mail, const MailRow *row, int64_t due_us)
{
    int64_t now_us = clock_now_us(mail->options.world.clock);
    if (mail_is_due(due_us, now_us)) /* by a clock that was set back since, too */
        due_us = now_us;
    return (JournalNext){due_us / US_PER_MS + (due_us % US_PER_MS != 0),
                         mail_priority(row->head.kind)};
}

void mail_note_waiting(Mail *mail, const MailRow *row)
{
    journal_worker_put(mail->worker, id_slice(&row->id), look_again(mail, row, row->head.due_us));
}

/* ---- Carrying out ------------------------------------------------------------------------------------------ */

static void tell(const Mail *mail, const MailRow *row, const SmtpAnswer *answer)
{
    const MailListener *listener = &mail->listener;
    if (listener->attempted == NULL)
        return;
    listener->attempted(listener->self,
                        &(MailAttempt){.id = row->id,
                                       .kind = row->head.kind,
                                       .state = row->head.state,
                                       .number = row->head.attempts,
                                       .code = answer->code,
                                       .words = answer->words_are_ours ? answer->words : ""});
}

static void count(Mail *mail, MailState state)
{
    _Atomic uint64_t *counter = state == MAIL_SENT     ? &mail->counts.sent
                                : state == MAIL_FAILED ? &mail->counts.failed
                                                       : &mail->counts.delayed;
    atomic_fetch_add(counter, 1);
}

/* Writes down what became of it. When that fails the row is due again after its lease, and a message that was sent is sent again. */
static void settle(Mail *mail, MailRow *row, const SmtpAnswer *answer, MailNext next, Arena *arena)
{
    MailHead head = row->head;
    head.state = next.state;
    head.due_us = next.due_us;
    head.code = answer->code;
    head.error =
        answer->taken ? SLICE_EMPTY : mail_seal_error(mail, &row->id, answer->words, arena);
    if (mail_row_replace(mail, row, head, arena) != STATUS_OK)
        return;
    count(mail, next.state);
    tell(mail, row, answer);
}

/* Nothing can be sent: it has failed for good. */
static void settle_failed(Mail *mail, MailRow *row, const char *words, Arena *arena)
{
    SmtpAnswer answer = {.words_are_ours = true};
    size_t size = strlen(words);
    CHECK(size < SMTP_WORDS);
    memcpy(answer.words, words, size + 1);
    settle(mail, row, &answer, (MailNext){MAIL_FAILED, 0}, arena);
}

static void hand_to_server(Mail *mail, const MailRow *row, const MailMessage *message, Arena *arena,
                           SmtpAnswer *ret_answer)
{
    BUFFER_SCOPE Buffer content = {0};
    MessageHead head = {mail->from, id_text(row->id, arena), row->head.made_us};
    message_write(&content, message, &head);
    SmtpJob job = {.from = arena_text(arena, mail->from.address),
                   .to = arena_text(arena, message->to),
                   .content = buffer_slice(&content),
                   .ends = &mail->ends};
    mail->transport.send(mail->transport.self, &job, ret_answer);
}

/* What stands in the row was checked before it was sealed; it is checked again before it goes out. */
static Status open_message(Mail *mail, const MailRow *row, Arena *arena, MailMessage *ret_message)
{
    MailMessage message;
    TRY(mail_row_message(mail, row, arena, &message));
    message.once = id_slice(&row->id);
    if (message_check(&message, NULL) != STATUS_OK)
        return STATUS_CORRUPT;
    *ret_message = message;
    return STATUS_OK;
}

/* An attempt that was cut off because we stop is nobody's fault: it is made again at once by whoever comes next. */
static MailNext next_of(const Mail *mail, const MailRow *row, const SmtpAnswer *answer)
{
    MailTimes times = {.since_us = row->head.since_us,
                       .now_us = clock_now_us(mail->options.world.clock),
                       .first_s = mail->options.config->mail_retry_seconds,
                       .luck = random_u64(mail->options.world.random)};
    if (!answer->taken && answer->words_are_ours && atomic_load(&mail->ends))
        return (MailNext){MAIL_WAITING, times.now_us};
    return mail_next(answer, row->head.attempts, &times);
}

/* How the server did, for what the worker does next. */
static void note_server(Mail *mail, const SmtpAnswer *answer)
{
    bool works = answer->taken || answer->about_message;
    mail->failures = works ? 0 : mail->failures + 1;
    if (!works)
        mail->rests_until_steady_us =
            clock_steady_us(mail->options.world.clock) +
            mail_rest_us(mail->failures, mail->options.config->mail_retry_seconds);
}

/* A message that can be unsubscribed from, to an address that is suppressed by now. Otherwise it is REFUSED or what the store says. */
static Status check_wanted(Mail *mail, const MailMessage *message, Arena *arena)
{
    Suppressed entry;
    if (message->unsubscribe.size == 0)
        return STATUS_OK;
    Status status = mail_suppressed(mail, message->to, arena, &entry);
    return status == STATUS_OK ? STATUS_REFUSED : status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

/* False when no server was asked. */
static bool attempt(Mail *mail, MailRow *row, Arena *arena, SmtpAnswer *ret_answer)
{
    MailMessage message;
    Status status = open_message(mail, row, arena, &message);
    if (status == STATUS_NOT_FOUND || status == STATUS_CORRUPT) {
        settle_failed(mail, row,
                      status == STATUS_NOT_FOUND ? "its text is gone" : "its text cannot be opened",
                      arena);
        return false;
    }
    if (status == STATUS_OK)
        status = check_wanted(mail, &message, arena);
    if (status == STATUS_REFUSED)
        settle_failed(mail, row, "the address gets no such letters any more", arena);
    if (status != STATUS_OK) /* the store; it is due again after the lease */
        return false;
    hand_to_server(mail, row, &message, arena, ret_answer);
    settle(mail, row, ret_answer, next_of(mail, row, ret_answer), arena);
    if (mail_is_bounce(ret_answer)) /* a failure costs one more refusal */
        (void)!mail_suppress(mail, message.to, SUPPRESS_BOUNCED, NULL);
    return true;
}

void mail_attempt(Mail *mail, MailRow *row, Arena *arena)
{
    SmtpAnswer answer;
    (void)attempt(mail, row, arena, &answer);
}

/* Makes it due later, for all others; only then it is ours to send. After UNKNOWN it may be ours, so nobody sends it until that time. */
static Status take(Mail *mail, MailRow *row, int64_t now_us, Arena *arena)
{
    MailHead head = row->head;
    head.attempts++;
    head.due_us = now_us + mail->lease_us;
    return mail_row_replace(mail, row, head, arena);
}

/* When a message that was met is to be looked at again. One that is still due could not be written down: not at once again. */
static JournalNext next_look(const Mail *mail, const MailRow *row, int64_t now_us)
{
    int64_t due_us =
        mail_is_due(row->head.due_us, now_us) ? now_us + mail->lease_us : row->head.due_us;
    return row->head.state == MAIL_WAITING ? look_again(mail, row, due_us)
                                           : (JournalNext){.at_ms = JOURNAL_NEVER};
}

static JournalNext deliver(Mail *mail, Id id, int64_t now_us)
{
    ARENA_SCOPE Arena *arena = arena_new();
    MailRow row = {.head.kind = SLICE_EMPTY};
    SmtpAnswer answer;
    Status status = mail_row_read(mail, id, arena, &row);
    if (status == STATUS_OK && row.head.state == MAIL_WAITING &&
        mail_is_due(row.head.due_us, now_us)) {
        if (mail_is_stale(row.head.since_us, now_us))
            settle_failed(mail, &row, "it waited for more than 2 days", arena);
        else if ((status = take(mail, &row, now_us, arena)) == STATUS_OK &&
                 attempt(mail, &row, arena, &answer))
            note_server(mail, &answer);
    }
    if (status == STATUS_OK)
        return next_look(mail, &row, now_us);
    if (status == STATUS_NOT_FOUND || status == STATUS_CORRUPT)
        return (JournalNext){.at_ms = JOURNAL_NEVER};
    return look_again(
        mail, &row,
        now_us + mail->lease_us); /* somebody else was first, or the store does not answer */
}

/* ---- Finding ----------------------------------------------------------------------------------------------- */

static int64_t rest_us(const Mail *mail)
{
    int64_t left_us = mail->rests_until_steady_us - clock_steady_us(mail->options.world.clock);
    return mail->failures > 0 && left_us > 0 ? left_us : 0;
}

/* A mark without a row stays: its row may still come. */
static Status meet(Mail *mail, MailMark mark, bool *ret_sent)
{
    ARENA_SCOPE Arena *arena = arena_new();
    int64_t now_us = clock_now_us(mail->options.world.clock);
    MailRow row;
    Status status = mail_row_read(mail, mark.id, arena, &row);
    if (status == STATUS_NOT_FOUND || status == STATUS_CORRUPT)
        return STATUS_OK;
    TRY(status);
    if (row.head.state != MAIL_WAITING || row.head.since_us != mark.since_us) {
        mail_unmark(mail, MAIL_WAITING, mark);
        return STATUS_OK;
    }
    if (!mail->is_alone) {
        mail_note_waiting(mail, &row);
    } else if (mail_is_due(row.head.due_us, now_us) && rest_us(mail) == 0) {
        (void)deliver(mail, row.id, now_us);
        *ret_sent = mail->has_worked = true;
    }
    return STATUS_OK;
}

static Status sweep(Mail *mail, bool *ret_sent)
{
    ARENA_SCOPE Arena *arena = arena_new();
    MailSearch search = {MAIL_WAITING, MAIL_SWEEP_MAX, mail->has_swept && !mail->left_some};
    MailMarks marks;
    TRY(mail_marks(mail, &search, arena, &marks));
    mail->left_some = marks.more;
    for (size_t i = 0; i < marks.count && !atomic_load(&mail->ends); i++)
        TRY(meet(mail, marks.marks[i], ret_sent));
    mail->has_swept = true;
    return STATUS_OK;
}

static int64_t until_sweep_us(const Mail *mail)
{
    int64_t passed_us = clock_steady_us(mail->options.world.clock) - mail->swept_steady_us;
    int64_t every_us = (mail->is_alone ? SWEEP_ALONE_S : SWEEP_S) * US_PER_S;
    return mail->swept_steady_us == 0 || passed_us >= every_us ? 0 : every_us - passed_us;
}

/* At the start, every few minutes, when the journal may have lost something, and when there was more than was looked at and all of that is
 * through. True: something was sent, or more may be found. */
static bool sweep_when_due(Mail *mail, bool is_idle)
{
    bool sent = false, goes_on = is_idle && mail->left_some && mail->has_worked;
    if (until_sweep_us(mail) > 0 && !goes_on)
        return false;
    int64_t steady_us = clock_steady_us(mail->options.world.clock);
    mail->swept_steady_us = steady_us > 0 ? steady_us : 1;
    mail->has_worked = false;
    (void)!sweep(mail, &sent); /* what could not be read is found the next time */
    return sent || goes_on;
}

/* ---- Turns ------------------------------------------------------------------------------------------------- */

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* The next message that the journal knows to be due; waits for one as long as the worker has nothing else to do. */
static bool take_next(Mail *mail, bool waits)
{
    JournalWork work;
    Id id;
    int64_t wait_us = waits ? until_sweep_us(mail) : 0;
    if (rest_us(mail) > 0) {
        journal_worker_sleep(mail->worker, least(wait_us, rest_us(mail)));
        return false;
    }
    Status status = journal_worker_claim(mail->worker, wait_us, &work);
    bool was_alone = mail->is_alone;
    bool is_usable = status == STATUS_OK || status == STATUS_NOT_FOUND;
    bool has_lost = journal_worker_lost(mail->worker);
    mail->is_alone = has_lost || !is_usable;
    if (has_lost || mail->is_alone != was_alone)
        mail->swept_steady_us = 0; /* look at once */
    else if (mail->is_alone)
        journal_worker_sleep(mail->worker, wait_us);
    if (status != STATUS_OK)
        return false;
    JournalNext next = {.at_ms = JOURNAL_NEVER};
    mail->has_worked = true;
    if (id_from_bytes(journal_work_key(&work), &id) == STATUS_OK)
        next = deliver(mail, id, clock_now_us(mail->options.world.clock));
    journal_worker_end(mail->worker, &work, next);
    return true;
}

static bool turn(Mail *mail, bool waits)
{
    bool found = sweep_when_due(mail, false);
    found |= take_next(mail, waits && !(mail->left_some && mail->has_worked));
    return found || sweep_when_due(mail, true);
}

bool mail_turn(Mail *mail)
{
    return mail->has_server && turn(mail, false);
}

static void *work(void *argument)
{
    Mail *mail = argument;
    while (!atomic_load(&mail->ends))
        (void)turn(mail, true);
    return NULL;
}

void mail_listen(Mail *mail, MailListener listener)
{
    CHECK(!mail->has_thread);
    mail->listener = listener;
}

void mail_start(Mail *mail)
{
    CHECK(!mail->has_thread);
    if (!mail->has_server)
        return;
    atomic_store(&mail->ends, false);
    mail->thread = thread_start(THREAD_MAIL, work, mail);
    mail->has_thread = true;
}

void mail_stop(Mail *mail)
{
    atomic_store(&mail->ends, true);
    if (!mail->has_thread)
        return;
    journal_worker_call(mail->worker);
    pthread_join(mail->thread, NULL);
    mail->has_thread = false;
}
