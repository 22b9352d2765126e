/* rows.c -- a message's row, and the index of rows. See mail_private.h.
 *
 * mail_queue, a row a message:
 *   head: format | id of the write | state | attempts | made | since | due | code | kind | error (sealed)
 *   body: address, subject, text and HTML, sealed; gone when the message was sent, or with a policy that it names
 *   about: which policies it names, for kinds of letters that do; goes with the body
 * mail_index, rows w/hour, failed, outbox: the column is `since` and the row's key, the value empty.
 * A mark of the index is durable no later than the write that it announces, so a crash in between leaves a mark too many and never one too
 * few; the mark of the state before is taken away afterwards, and one that was left is taken away by whoever meets it.
 *
 * The first write of a message asks that there be no head. Heads expire, so a write that was lost for more than a month could find none and
 * bring back what was sent long ago; its `since` is as old as it is, and what is older than 2 days is not sent (mail_is_stale). */
#include "mail/mail_private.h"

#include "mail/letters.h"
#include "mail/mail_rules.h"

enum {
    S_PER_HOUR = 3600,
    /* What waits is found again by a site that was down for a month. */
    WAITING_TTL_S = 33 * 86400,
    OUTBOX_TTL_S = 7 * 86400,
    /* Hours in which something that waits may have been queued; some are ahead, for clocks that differ. */
    HOURS_BACK = WAITING_TTL_S / S_PER_HOUR,
    HOURS_RECENT = (MAIL_GIVE_UP_S + 86400) / S_PER_HOUR,
    HOURS_AHEAD = 2,
    MARK_BYTES = 8 + ID_BYTES,
    PAGE = 1000,
};

static const Slice HEAD = {"head", 4};
static const Slice BODY = {"body", 4};
static const Slice ABOUT = {"about", 5};
/* The cells that go with the text. */
static const Slice *const TEXT_CELLS[] = {&BODY, &ABOUT};
enum { TEXT_CELL_COUNT = 2 };
static const char PURPOSE[] = "mail";

/* ---- Bytes ------------------------------------------------------------------------------------------------- */

Id mail_row_id(const Mail *mail, Slice once)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Id id;
    Slice hash = vault_hash(mail->options.vault, PURPOSE, once, arena);
    memcpy(id.bytes, hash.data, ID_BYTES);
    return id;
}

static const RecordField HEAD_FIELDS[] = {
    RECORD_WRITE_ID(MailHead, write),
    RECORD_ENUM(MailHead, state, MAIL_STATES),
    RECORD_U32(MailHead, attempts),
    RECORD_I64(MailHead, made_us),
    RECORD_I64(MailHead, since_us),
    RECORD_I64(MailHead, due_us),
    RECORD_U16(MailHead, code),
    RECORD_TEXT32(MailHead, kind, STORE_VALUE_MAX),
    RECORD_TEXT32(MailHead, error, STORE_VALUE_MAX),
};
const Record MAIL_HEAD_RECORD = RECORD("mail head", MailHead, 1, HEAD_FIELDS);

static const RecordField LETTER_FIELDS[] = {
    RECORD_TEXT32(MailMessage, to, STORE_VALUE_MAX),
    RECORD_TEXT32(MailMessage, subject, STORE_VALUE_MAX),
    RECORD_TEXT32(MailMessage, text, STORE_VALUE_MAX),
    RECORD_TEXT32(MailMessage, html, STORE_VALUE_MAX),
    RECORD_OPTIONAL(MailMessage, unsubscribe, 4),
};
const Record MAIL_LETTER_RECORD = RECORD_PART("letter", MailMessage, 1, PURPOSE, LETTER_FIELDS);
static const RecordField BODY_FIELDS[] = {RECORD_SEALED(&MAIL_LETTER_RECORD)};
static const Record BODY_RECORD = RECORD("mail body", MailMessage, 0, BODY_FIELDS);

static Records records_of(const Mail *mail)
{
    return (Records){mail->options.store, mail->options.world, mail->options.vault};
}

static RecordPlace head_of(const Id *id)
{
    return (RecordPlace){&MAIL_HEAD_RECORD, &TABLE_MAIL_QUEUE, id_slice(id), HEAD};
}

static VaultCell error_cell(const Mail *mail, const Id *id)
{
    return record_cell(mail->options.vault, &TABLE_MAIL_QUEUE, id_slice(id), HEAD);
}

Slice mail_seal_error(const Mail *mail, const Id *id, const char *words, Arena *arena)
{
    VaultCell cell = error_cell(mail, id);
    return words[0] == '\0' ? SLICE_EMPTY : vault_seal_at(&cell, PURPOSE, slice_from(words), arena);
}

Slice mail_open_error(const Mail *mail, const Id *id, Slice sealed, Arena *arena)
{
    Slice words = SLICE_EMPTY;
    VaultCell cell = error_cell(mail, id);
    if (sealed.size == 0 || vault_unseal_at(&cell, PURPOSE, sealed, arena, &words) != STATUS_OK)
        return SLICE_EMPTY;
    return words;
}

/* ---- The index --------------------------------------------------------------------------------------------- */

static Slice waiting_row(int64_t hour, Arena *arena)
{
    char *row = arena_bytes(arena, 10);
    memcpy(row, "w/", 2);
    bytes_put_u64(row + 2, (uint64_t)hour);
    return slice_of(row, 10);
}

static int64_t hour_of(int64_t us)
{
    return us / US_PER_S / S_PER_HOUR;
}

static Slice index_row(MailState state, int64_t since_us, Arena *arena)
{
    if (state == MAIL_WAITING)
        return waiting_row(hour_of(since_us), arena);
    return state == MAIL_FAILED ? SLICE("failed") : SLICE("outbox");
}

static Slice index_column(MailMark mark, Arena *arena)
{
    char *column = arena_bytes(arena, MARK_BYTES);
    bytes_put_u64(column, (uint64_t)mark.since_us);
    memcpy(column + 8, mark.id.bytes, ID_BYTES);
    return slice_of(column, MARK_BYTES);
}

/* How long a row in a state stays, and its mark with it. */
static int64_t ttl_s(const Mail *mail, MailState state)
{
    static const int64_t TTLS[MAIL_STATES] = {[MAIL_WAITING] = WAITING_TTL_S,
                                              [MAIL_SENT] = MAIL_REMEMBERED_S,
                                              [MAIL_OUTBOX] = OUTBOX_TTL_S};
    return state == MAIL_FAILED ? atomic_load(&mail->failed_s) : TTLS[state];
}

static bool has_mark(MailState state)
{
    return state != MAIL_SENT;
}

static RowChange mark_change(const Mail *mail, MailState state, MailMark mark, Arena *arena)
{
    return (RowChange){.table = &TABLE_MAIL_INDEX,
                       .row = index_row(state, mark.since_us, arena),
                       .change = {.column = index_column(mark, arena),
                                  .value = SLICE_EMPTY,
                                  .timestamp = clock_now_us(mail->options.world.clock),
                                  .ttl_s = ttl_s(mail, state)}};
}

void mail_unmark(Mail *mail, MailState state, MailMark mark)
{
    ARENA_SCOPE Arena *arena = arena_new();
    if (!has_mark(state))
        return;
    RowChange change = mark_change(mail, state, mark, arena);
    change.change.is_delete = true;
    change.change.ttl_s = 0;
    (void)!store_write(mail->options.store, &(Batch){.changes = &change, .count = 1, .lazy = true});
}

static Status mark_from(Slice column, MailMark *ret_mark)
{
    MailMark mark;
    if (column.size != MARK_BYTES)
        return STATUS_CORRUPT;
    mark.since_us = (int64_t)bytes_get_u64(column.data);
    memcpy(mark.id.bytes, column.data + 8, ID_BYTES);
    *ret_mark = mark;
    return STATUS_OK;
}

/* The marks of one row of the index, newest first, behind those that are there. */
static Status add_marks(Mail *mail, Slice row, size_t most, Arena *arena, MailMarks *marks)
{
    Query query = {.table = &TABLE_MAIL_INDEX,
                   .row = row,
                   .from = SLICE_EMPTY,
                   .to = SLICE_EMPTY,
                   .after = SLICE_EMPTY,
                   .reverse = true,
                   .limit = PAGE};
    Page page = {.more = true};
    while (page.more && marks->count < most) {
        TRY(store_slice(mail->options.store, &query, arena, &page));
        for (size_t i = 0; i < page.count && marks->count < most; i++)
            TRY(mark_from(page.cells[i].column, &marks->marks[marks->count++]));
        if (page.count > 0)
            query.after = page.cells[page.count - 1].column;
        query.resume = page.count > 0;
    }
    marks->more = marks->count == most;
    return STATUS_OK;
}

Status mail_marks(Mail *mail, const MailSearch *search, Arena *arena, MailMarks *ret_marks)
{
    MailMarks marks = {.marks = ARENA_ARRAY(arena, search->most, MailMark)};
    int64_t now = hour_of(clock_now_us(mail->options.world.clock));
    int64_t first = search->recent ? HOURS_RECENT : HOURS_BACK;
    if (search->state != MAIL_WAITING)
        TRY(add_marks(mail, index_row(search->state, 0, arena), search->most, arena, &marks));
    for (int64_t back = -HOURS_AHEAD; search->state == MAIL_WAITING && back <= first; back++)
        TRY(add_marks(mail, waiting_row(now - back, arena), search->most, arena, &marks));
    *ret_marks = marks;
    return STATUS_OK;
}

/* ---- Rows -------------------------------------------------------------------------------------------------- */

static MailMark mark_of(const MailRow *row)
{
    return (MailMark){row->id, row->head.since_us};
}

/* What is put or deleted with a head. */
typedef struct TextChanges {
    Change changes[TEXT_CELL_COUNT];
    size_t count;
} TextChanges;

/* One write of the head and what goes with it; with a mark that announces the state. */
static Status write_row(Mail *mail, MailRow *row, Slice before, const TextChanges *text,
                        bool marked, Arena *arena)
{
    Records records = records_of(mail);
    RowChange mark = mark_change(mail, row->head.state, mark_of(row), arena);
    RecordWrite write = {.place = head_of(&row->id),
                         .record = &row->head,
                         .before = before,
                         .ttl_s = ttl_s(mail, row->head.state),
                         .also = text->changes,
                         .also_count = text->count,
                         .marks = {.changes = &mark, .count = marked}};
    return record_write(&records, &write, arena, &row->value);
}

Status mail_row_create(Mail *mail, MailRow *row, const MailMessage *message, Arena *arena)
{
    VaultCell cell = record_cell(mail->options.vault, &TABLE_MAIL_QUEUE, id_slice(&row->id), BODY);
    int64_t life_s = ttl_s(mail, row->head.state);
    TextChanges put = {.changes = {{.column = BODY,
                                    .value = record_encode(&BODY_RECORD, message, &cell, arena),
                                    .ttl_s = life_s},
                                   {.column = ABOUT, .value = message->about, .ttl_s = life_s}},
                       .count = message->about.size > 0 ? 2 : 1};
    return write_row(mail, row, SLICE_EMPTY, &put, true, arena);
}

Status mail_row_read(Mail *mail, Id id, Arena *arena, MailRow *ret_row)
{
    Records records = records_of(mail);
    RecordPlace place = head_of(&id);
    ret_row->id = id;
    return record_read(&records, &place, STORE_SERIAL, arena, &ret_row->head, &ret_row->value);
}

static TextChanges text_gone(const MailRow *row)
{
    bool has_about = letter_names_policies(row->head.kind);
    TextChanges gone = {.count = has_about ? 2 : 1};
    for (size_t i = 0; i < gone.count; i++)
        gone.changes[i] =
            (Change){.column = *TEXT_CELLS[i], .value = SLICE_EMPTY, .is_delete = true};
    return gone;
}

/* What becomes of the text when a row moves on: sent, it goes; failed, or tried again after that, it stays as long as the row, and is written again for
 * that. No changes: as it is, or gone already. */
static Status text_after(Mail *mail, const MailRow *row, MailState state, Arena *arena,
                         TextChanges *ret_text)
{
    TextChanges text = {.count = 0};
    bool rewrites =
        state != row->head.state && (state == MAIL_FAILED || row->head.state == MAIL_FAILED);
    if (state == MAIL_SENT)
        text = text_gone(row);
    for (size_t i = 0; rewrites && i < TEXT_CELL_COUNT; i++) {
        Cell cell;
        Read read = {&TABLE_MAIL_QUEUE, id_slice(&row->id), *TEXT_CELLS[i], STORE_SERIAL};
        Status status = store_read(mail->options.store, &read, arena, &cell);
        if (status == STATUS_NOT_FOUND)
            continue;
        TRY(status);
        text.changes[text.count++] =
            (Change){.column = *TEXT_CELLS[i], .value = cell.value, .ttl_s = ttl_s(mail, state)};
    }
    *ret_text = text;
    return STATUS_OK;
}

Status mail_row_replace(Mail *mail, MailRow *row, MailHead head, Arena *arena)
{
    MailMark before = mark_of(row);
    MailState state = row->head.state;
    bool moves = head.state != state || head.since_us != before.since_us;
    TextChanges text;
    TRY(text_after(mail, row, head.state, arena, &text));
    MailRow after = {.id = row->id, .head = head};
    TRY(write_row(mail, &after, row->value, &text, moves && has_mark(head.state), arena));
    if (moves)
        mail_unmark(mail, state, before);
    *row = after;
    return STATUS_OK;
}

/* ---- The end ----------------------------------------------------------------------------------------------- */

/* What was queued before letters said which policies they name may name any. */
static Status names_policy(Mail *mail, const MailRow *row, uint64_t policy, Arena *arena,
                           bool *ret_names)
{
    Cell cell;
    Read read = {&TABLE_MAIL_QUEUE, id_slice(&row->id), ABOUT, STORE_SERIAL};
    Status status = store_read(mail->options.store, &read, arena, &cell);
    *ret_names = status == STATUS_NOT_FOUND && letter_names_policies(row->head.kind);
    if (status == STATUS_NOT_FOUND)
        return STATUS_OK;
    TRY(status);
    Reader reader = reader_of(cell.value);
    if (reader_u8(&reader) != MESSAGE_ABOUT_FORMAT)
        return STATUS_CORRUPT;
    while (!*ret_names && reader.rest.size > 0)
        *ret_names = reader_u64(&reader) == policy;
    return reader.failed ? STATUS_CORRUPT : STATUS_OK;
}

/* What a server said may have the address in it. */
static Status forget(Mail *mail, Id id, uint64_t policy, Arena *arena)
{
    MailRow row;
    bool names = false;
    Status status = mail_row_read(mail, id, arena, &row);
    if (status == STATUS_NOT_FOUND)
        return STATUS_OK;
    TRY(status);
    TRY(names_policy(mail, &row, policy, arena, &names));
    if (!names)
        return STATUS_OK;
    MailRow after = {.id = id, .head = row.head};
    TextChanges gone = text_gone(&row);
    after.head.error = SLICE_EMPTY;
    TRY(write_row(mail, &after, row.value, &gone, false, arena));
    if (row.head.state == MAIL_OUTBOX)
        mail_unmark(mail, MAIL_OUTBOX, mark_of(&row));
    return STATUS_OK;
}

Status mail_obliterate(Mail *mail, uint64_t policy)
{
    ARENA_SCOPE Arena *arena = arena_new();
    ARENA_SCOPE Arena *scratch = arena_new();
    BUFFER_SCOPE Buffer position = {0};
    for (ScanPage page = {.more = true}; page.more;) {
        arena_reset(arena);
        TRY(store_scan(mail->options.store, &TABLE_MAIL_QUEUE, buffer_slice(&position), PAGE, arena,
                       &page));
        for (size_t i = 0; i < page.count; i++) {
            Id id;
            Status status = STATUS_CONFLICT;
            if (!slice_equal(page.cells[i].cell.column, BODY))
                continue;
            TRY(id_from_bytes(page.cells[i].row, &id) == STATUS_OK ? STATUS_OK : STATUS_CORRUPT);
            for (int k = 0; record_again(&status, k, scratch, NULL); k++)
                status = forget(mail, id, policy, scratch);
            TRY(status);
        }
        position.size = 0;
        buffer_bytes(&position, page.position);
    }
    return STATUS_OK;
}

/* ---- The text ---------------------------------------------------------------------------------------------- */

Status mail_row_message(Mail *mail, const MailRow *row, Arena *arena, MailMessage *ret_message)
{
    Records records = records_of(mail);
    RecordPlace place = {&BODY_RECORD, &TABLE_MAIL_QUEUE, id_slice(&row->id), BODY};
    MailMessage message = {.once = SLICE_EMPTY};
    TRY(record_read(&records, &place, STORE_SERIAL, arena, &message, NULL));
    message.kind = row->head.kind;
    *ret_message = message;
    return STATUS_OK;
}
