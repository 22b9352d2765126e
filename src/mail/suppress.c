/* suppress.c -- see suppress.h. Row = keyed hash of the address, cell `entry` = format | why | when. */
#include "mail/suppress.h"

#include <stdlib.h>

#include "mail/mail_private.h"

enum { PAGE = 500 };
static const Slice ENTRY = {"entry", 5};

const char *const SUPPRESS_WORDS[] = WORDS(SUPPRESS_LIST, WORD_2);
static const char *const TEXTS[] = WORDS(SUPPRESS_LIST, WORD_3);

const char *suppress_word(SuppressWhy why)
{
    return word_of(SUPPRESS_WORDS, why);
}

const char *suppress_text(SuppressWhy why)
{
    return word_of(TEXTS, why);
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

static const RecordField ENTRY_FIELDS[] = {
    RECORD_ENUM(Suppressed, why, SUPPRESS_REASONS),
    RECORD_I64(Suppressed, time_us),
};
const Record MAIL_SUPPRESSED_RECORD = RECORD("suppressed", Suppressed, 1, ENTRY_FIELDS);

Status mail_suppressed(Mail *mail, Slice address, Arena *arena, Suppressed *ret_entry)
{
    Slice row = row_of(mail, slice_trim(address), arena);
    RecordPlace place = {&MAIL_SUPPRESSED_RECORD, &TABLE_MAIL_SUPPRESSED, row, ENTRY};
    ret_entry->tag = tag_of(row, arena);
    return record_read(&(Records){.store = mail->options.store}, &place, STORE_NORMAL, arena,
                       ret_entry, NULL);
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
    Suppressed before, entry = {.why = why, .time_us = clock_now_us(mail->options.world.clock)};
    address = slice_trim(address);
    TRY(message_check_address(address, "address", reason));
    Status status = mail_suppressed(mail, address, arena, &before);
    if (status != STATUS_NOT_FOUND)
        return status;
    Slice value = record_encode(&MAIL_SUPPRESSED_RECORD, &entry, NULL, arena);
    return write_entry(mail, row_of(mail, address, arena), (Change){.value = value});
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
    Suppressed *entries = ARENA_ARRAY(arena, SUPPRESSED_MAX, Suppressed);
    Slice position = SLICE_EMPTY;
    size_t count = 0;
    for (bool more = true; more && count < SUPPRESSED_MAX;) {
        ScanPage page;
        TRY(store_scan(mail->options.store, &TABLE_MAIL_SUPPRESSED, position, PAGE, arena, &page));
        for (size_t i = 0; i < page.count && count < SUPPRESSED_MAX; i++) {
            const ScanCell *cell = &page.cells[i];
            entries[count].tag = tag_of(cell->row, arena);
            TRY(record_decode(&MAIL_SUPPRESSED_RECORD, cell->cell.value, NULL, NULL,
                              &entries[count++]));
        }
        position = page.position;
        more = page.more;
    }
    qsort(entries, count, sizeof *entries, newest_first);
    *ret_entries = entries;
    *ret_count = count;
    return STATUS_OK;
}
