/* rows.c -- a message's row, and the index of rows. See inside.h.
 *
 * mail_queue, a row a message:
 *   head: format | id of the write | state | attempts | made | since | due | code | kind | error (sealed)
 *   body: address, subject, text and HTML, sealed; gone when the message was sent
 * mail_index, rows w/hour, failed, outbox: the column is `since` and the row's key, the value empty.
 * A mark of the index is durable no later than the write that it announces, so a crash in between leaves a mark too many and never one too
 * few; the mark of the state before is taken away afterwards, and one that was left is taken away by whoever meets it.
 *
 * The first write of a message asks that there be no head. Heads expire, so a write that was lost for more than a month could find none and
 * bring back what was sent long ago; its `since` is as old as it is, and what is older than 2 days is not sent (mail_is_stale). */
#include "mail/inside.h"

#include "mail/mail_rules.h"

enum {
    FORMAT = 1,
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

static void put_long(Buffer *out, Slice bytes)
{
    buffer_u32(out, (uint32_t)bytes.size);
    buffer_bytes(out, bytes);
}

static Slice get_long(Reader *reader)
{
    return reader_bytes(reader, reader_u32(reader));
}

void mail_head_encode(const MailHead *head, Buffer *out)
{
    buffer_u8(out, FORMAT);
    buffer_bytes(out, id_slice(&head->write));
    buffer_u8(out, (uint8_t)head->state);
    buffer_u32(out, head->attempts);
    buffer_i64(out, head->made_us);
    buffer_i64(out, head->since_us);
    buffer_i64(out, head->due_us);
    buffer_u16(out, (uint16_t)head->code);
    put_long(out, head->kind);
    put_long(out, head->error);
}

Status mail_head_decode(Slice value, MailHead *ret_head)
{
    Reader reader = reader_of(value);
    MailHead head = {.state = MAIL_WAITING};
    bool known = reader_u8(&reader) == FORMAT;
    Slice write = reader_bytes(&reader, ID_BYTES);
    head.state = (MailState)reader_u8(&reader);
    head.attempts = reader_u32(&reader);
    head.made_us = reader_i64(&reader);
    head.since_us = reader_i64(&reader);
    head.due_us = reader_i64(&reader);
    head.code = reader_u16(&reader);
    head.kind = get_long(&reader);
    head.error = get_long(&reader);
    if (!known || !reader_done(&reader) || head.state >= MAIL_STATES ||
        id_from_bytes(write, &head.write) != STATUS_OK)
        return STATUS_CORRUPT;
    *ret_head = head;
    return STATUS_OK;
}

void mail_body_encode(const MailMessage *message, Buffer *out)
{
    buffer_u8(out, FORMAT);
    put_long(out, message->to);
    put_long(out, message->subject);
    put_long(out, message->text);
    put_long(out, message->html);
    if (message->unsubscribe.size > 0)
        put_long(out, message->unsubscribe);
}

Status mail_body_decode(Slice body, MailMessage *ret_message)
{
    Reader reader = reader_of(body);
    bool known = reader_u8(&reader) == FORMAT;
    MailMessage message = {.kind = SLICE_EMPTY, .once = SLICE_EMPTY};
    message.to = get_long(&reader);
    message.subject = get_long(&reader);
    message.text = get_long(&reader);
    message.html = get_long(&reader);
    bool has_end = reader.rest.size > 0; /* written only where there is one */
    message.unsubscribe = has_end ? get_long(&reader) : SLICE_EMPTY;
    if (!known || !reader_done(&reader) || has_end != (message.unsubscribe.size > 0))
        return STATUS_CORRUPT;
    *ret_message = message;
    return STATUS_OK;
}

Slice mail_seal_error(const Mail *mail, const char *words, Arena *arena)
{
    return words[0] == '\0' ? SLICE_EMPTY
                            : vault_seal(mail->options.vault, PURPOSE, slice_from(words), arena);
}

Slice mail_open_error(const Mail *mail, Slice sealed, Arena *arena)
{
    Slice words = SLICE_EMPTY;
    if (sealed.size == 0 ||
        vault_unseal(mail->options.vault, PURPOSE, sealed, arena, &words) != STATUS_OK)
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

/* One write of the head, and of the body when there is one: the value with a fresh id, and the receipt that proves it. */
typedef struct RowWrite {
    Condition condition;
    const Change *body; /* put or deleted, or NULL */
    bool has_mark;      /* announces the state */
} RowWrite;

static Status write_row(Mail *mail, MailRow *row, const RowWrite *how, Arena *arena)
{
    BUFFER_SCOPE Buffer value = {0};
    World world = mail->options.world;
    row->head.write = id_new(world.clock, world.random);
    mail_head_encode(&row->head, &value);
    Slice receipt = store_receipt(id_slice(&row->head.write), arena);
    Change changes[3] = {
        {.column = HEAD, .value = buffer_slice(&value), .ttl_s = ttl_s(mail, row->head.state)},
        {.column = receipt, .value = id_slice(&row->head.write), .ttl_s = STORE_RECEIPT_TTL_S},
    };
    if (how->body != NULL)
        changes[2] = *how->body;
    RowChange mark = mark_change(mail, row->head.state, mark_of(row), arena);
    Update update = {.table = &TABLE_MAIL_QUEUE,
                     .row = id_slice(&row->id),
                     .conditions = &how->condition,
                     .condition_count = 1,
                     .changes = changes,
                     .change_count = how->body != NULL ? 3 : 2,
                     .proof = receipt,
                     .marks = {.changes = &mark, .count = how->has_mark ? 1 : 0}};
    TRY(store_update(mail->options.store, &update, UPDATE_TRIES, arena, NULL));
    row->value = arena_copy(arena, buffer_slice(&value));
    return STATUS_OK;
}

Status mail_row_create(Mail *mail, MailRow *row, const MailMessage *message, Arena *arena)
{
    BUFFER_SCOPE Buffer body = {0};
    mail_body_encode(message, &body);
    Slice sealed = vault_seal(mail->options.vault, PURPOSE, buffer_slice(&body), arena);
    Change put = {.column = BODY, .value = sealed, .ttl_s = ttl_s(mail, MAIL_WAITING)};
    RowWrite how = {{HEAD, SLICE_EMPTY, true}, &put, true};
    return write_row(mail, row, &how, arena);
}

Status mail_row_read(Mail *mail, Id id, Arena *arena, MailRow *ret_row)
{
    MailRow row = {.id = id};
    Cell cell;
    Read read = {&TABLE_MAIL_QUEUE, id_slice(&id), HEAD, STORE_SERIAL};
    TRY(store_read(mail->options.store, &read, arena, &cell));
    TRY(mail_head_decode(cell.value, &row.head));
    row.value = cell.value;
    *ret_row = row;
    return STATUS_OK;
}

/* What becomes of the text when a row moves on: sent, it goes; failed, or tried again after that, it stays as long as the row, and is written again for
 * that. NULL: as it is, or gone already. */
static Status text_after(Mail *mail, const MailRow *row, MailState state, Arena *arena,
                         Change **ret_change)
{
    Cell cell;
    Read read = {&TABLE_MAIL_QUEUE, id_slice(&row->id), BODY, STORE_SERIAL};
    Change *change = ARENA_NEW(arena, Change);
    *change = (Change){.column = BODY, .value = SLICE_EMPTY, .is_delete = state == MAIL_SENT};
    bool rewrites =
        state != row->head.state && (state == MAIL_FAILED || row->head.state == MAIL_FAILED);
    *ret_change = change->is_delete ? change : NULL;
    if (change->is_delete || !rewrites)
        return STATUS_OK;
    Status status = store_read(mail->options.store, &read, arena, &cell);
    if (status == STATUS_NOT_FOUND)
        return STATUS_OK;
    TRY(status);
    change->value = cell.value;
    change->ttl_s = ttl_s(mail, state);
    *ret_change = change;
    return STATUS_OK;
}

Status mail_row_replace(Mail *mail, MailRow *row, MailHead head, Arena *arena)
{
    MailMark before = mark_of(row);
    MailState state = row->head.state;
    bool moves = head.state != state || head.since_us != before.since_us;
    Change *text;
    TRY(text_after(mail, row, head.state, arena, &text));
    RowWrite how = {{HEAD, row->value, false}, text, moves && has_mark(head.state)};
    MailRow after = {.id = row->id, .head = head};
    TRY(write_row(mail, &after, &how, arena));
    if (moves)
        mail_unmark(mail, state, before);
    *row = after;
    return STATUS_OK;
}

Status mail_row_message(Mail *mail, const MailRow *row, Arena *arena, MailMessage *ret_message)
{
    Cell cell;
    Slice body;
    Read read = {&TABLE_MAIL_QUEUE, id_slice(&row->id), BODY, STORE_SERIAL};
    TRY(store_read(mail->options.store, &read, arena, &cell));
    TRY(vault_unseal(mail->options.vault, PURPOSE, cell.value, arena, &body));
    MailMessage message;
    TRY(mail_body_decode(body, &message));
    message.kind = row->head.kind;
    *ret_message = message;
    return STATUS_OK;
}
