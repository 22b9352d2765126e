/* suppress.c -- see suppress.h. Row = keyed hash of the address, cell `entry` = format | why | when. */
#include "mail/suppress.h"

#include <stdlib.h>

#include "mail/inside.h"

enum { FORMAT = 1, PAGE = 500 };
static const Slice ENTRY = {"entry", 5};

static const struct {
    const char *word, *text;
} REASONS[] = {
#define X(name, word, text) {word, text},
    SUPPRESS_LIST(X)
#undef X
};

const char *suppress_word(SuppressWhy why)
{
    CHECK(why < SUPPRESS_REASONS);
    return REASONS[why].word;
}

const char *suppress_text(SuppressWhy why)
{
    CHECK(why < SUPPRESS_REASONS);
    return REASONS[why].text;
}

Status suppress_from(Slice word, SuppressWhy *ret_why)
{
    for (int i = 0; i < SUPPRESS_REASONS; i++)
        if (slice_equal(word, slice_from(REASONS[i].word))) {
            *ret_why = (SuppressWhy)i;
            return STATUS_OK;
        }
    return STATUS_INVALID;
}

/* However it is written, it is one mailbox, as far as anybody but its server can know. */
static Slice row_of(const Mail *mail, Slice address, Arena *arena)
{
    char *folded = arena_bytes(arena, address.size);
    for (size_t i = 0; i < address.size; i++) {
        char c = address.data[i];
        folded[i] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
    }
    return vault_hash(mail->options.vault, "suppressed", slice_of(folded, address.size), arena);
}

static Slice tag_of(Slice row, Arena *arena)
{
    static const char DIGITS[] = "0123456789abcdef";
    char *tag = arena_bytes(arena, SUPPRESS_TAG);
    for (size_t i = 0; i < SUPPRESS_TAG; i++)
        tag[i] = DIGITS[(unsigned char)row.data[i / 2] >> (i % 2 == 0 ? 4 : 0) & 15];
    return slice_of(tag, SUPPRESS_TAG);
}

static Status decode(Slice row, Slice value, Arena *arena, Suppressed *ret_entry)
{
    Reader reader = reader_of(value);
    bool known = reader_u8(&reader) == FORMAT;
    uint8_t why = reader_u8(&reader);
    int64_t time_us = reader_i64(&reader);
    if (!known || !reader_done(&reader) || why >= SUPPRESS_REASONS)
        return STATUS_CORRUPT;
    *ret_entry = (Suppressed){tag_of(row, arena), (SuppressWhy)why, time_us};
    return STATUS_OK;
}

Status mail_suppressed(Mail *mail, Slice address, Arena *arena, Suppressed *ret_entry)
{
    Slice row = row_of(mail, slice_trim(address), arena);
    Read read = {&TABLE_MAIL_SUPPRESSED, row, ENTRY, STORE_NORMAL};
    Cell cell;
    TRY(store_read(mail->options.store, &read, arena, &cell));
    return decode(row, cell.value, arena, ret_entry);
}

static Status write_entry(Mail *mail, Slice row, Change change)
{
    change.column = ENTRY;
    change.timestamp = clock_now_us(mail->options.world.clock);
    RowChange one = {&TABLE_MAIL_SUPPRESSED, row, change};
    return store_write(mail->options.store, &(Batch){.changes = &one, .count = 1});
}

Status mail_suppress(Mail *mail, Slice address, SuppressWhy why, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    BUFFER_SCOPE Buffer value = {0};
    Suppressed before;
    address = slice_trim(address);
    TRY(message_check_address(address, "address", reason));
    Status status = mail_suppressed(mail, address, arena, &before);
    if (status != STATUS_NOT_FOUND)
        return status;
    buffer_u8(&value, FORMAT);
    buffer_u8(&value, (uint8_t)why);
    buffer_i64(&value, clock_now_us(mail->options.world.clock));
    return write_entry(mail, row_of(mail, address, arena), (Change){.value = buffer_slice(&value)});
}

Status mail_allow(Mail *mail, Slice address, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    address = slice_trim(address);
    TRY(message_check_address(address, "address", reason));
    return write_entry(mail, row_of(mail, address, arena),
                       (Change){.value = SLICE_EMPTY, .is_delete = true});
}

static int newest_first(const void *a, const void *b)
{
    const Suppressed *one = a, *other = b;
    return one->time_us < other->time_us ? 1 : one->time_us > other->time_us ? -1 : 0;
}

Status mail_list_suppressed(Mail *mail, Arena *arena, Suppressed **ret_entries, size_t *ret_count)
{
    Suppressed *entries = ARENA_ARRAY(arena, SUPPRESSED_MOST, Suppressed);
    Slice position = SLICE_EMPTY;
    size_t count = 0;
    for (bool more = true; more && count < SUPPRESSED_MOST;) {
        ScanPage page;
        TRY(store_scan(mail->options.store, &TABLE_MAIL_SUPPRESSED, position, PAGE, arena, &page));
        for (size_t i = 0; i < page.count && count < SUPPRESSED_MOST; i++)
            TRY(decode(page.cells[i].row, page.cells[i].cell.value, arena, &entries[count++]));
        position = page.position;
        more = page.more;
    }
    qsort(entries, count, sizeof *entries, newest_first);
    *ret_entries = entries;
    *ret_count = count;
    return STATUS_OK;
}
