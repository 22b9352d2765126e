/* texts.c -- see texts.h. The row is the word of the kind. Its cell `head` holds: format | id of the write (16 bytes) | number of the last revision; v/number (4
 * bytes) holds: format | when | who | the text, is written once, and proves its update. */
#include "texts/texts.h"

#include "base/bytes.h"

enum { FORMAT = 1, TRIES = 5 };

static const Slice HEAD = {"head", 4};

static const struct {
    const char *word, *title;
} KINDS[] = {
#define X(name, word, title) {word, title},
    TEXT_KIND_LIST(X)
#undef X
};

const char *text_kind_word(TextKind kind)
{
    CHECK(kind < TEXT_KINDS);
    return KINDS[kind].word;
}

const char *text_kind_title(TextKind kind)
{
    CHECK(kind < TEXT_KINDS);
    return KINDS[kind].title;
}

static Slice row_of(TextKind kind)
{
    return slice_from(text_kind_word(kind));
}

/* ---- Reading ------------------------------------------------------------------------------------------------- */

typedef struct TextHead {
    bool present;
    Slice value;
    uint32_t revision;
} TextHead;

static Status read_head(Store *store, TextKind kind, Arena *arena, TextHead *ret_head)
{
    Cell cell;
    Read read = {&TABLE_TEXTS, row_of(kind), HEAD, STORE_SERIAL};
    Status status = store_read(store, &read, arena, &cell);
    if (status == STATUS_NOT_FOUND) {
        *ret_head = (TextHead){.value = SLICE_EMPTY};
        return STATUS_OK;
    }
    TRY(status);
    Reader reader = reader_of(cell.value);
    bool known = reader_u8(&reader) == FORMAT;
    (void)reader_bytes(&reader, ID_BYTES);
    uint32_t revision = reader_u32(&reader);
    if (!known || !reader_done(&reader))
        return STATUS_CORRUPT;
    *ret_head = (TextHead){true, cell.value, revision};
    return STATUS_OK;
}

static Slice column_of(uint32_t revision, Arena *arena)
{
    BUFFER_SCOPE Buffer column = {0};
    buffer_text(&column, "v/");
    buffer_u32(&column, revision);
    return arena_copy(arena, buffer_slice(&column));
}

static Status decode(uint32_t revision, Slice value, SiteText *ret_text)
{
    Reader reader = reader_of(value);
    SiteText text = {.revision = revision};
    bool known = reader_u8(&reader) == FORMAT;
    text.time_us = reader_i64(&reader);
    text.editor = reader_u64(&reader);
    text.text = reader_rest(&reader);
    if (!known || reader.failed)
        return STATUS_CORRUPT;
    *ret_text = text;
    return STATUS_OK;
}

Status texts_read_revision(Store *store, TextKind kind, uint32_t revision, Arena *arena,
                           SiteText *ret_text)
{
    Cell cell;
    Read read = {&TABLE_TEXTS, row_of(kind), column_of(revision, arena), STORE_SERIAL};
    TRY(store_read(store, &read, arena, &cell));
    return decode(revision, cell.value, ret_text);
}

Status texts_read(Store *store, TextKind kind, Arena *arena, SiteText *ret_text)
{
    TextHead head;
    TRY(read_head(store, kind, arena, &head));
    if (!head.present) {
        *ret_text = (SiteText){.text = text_at_first(kind)};
        return STATUS_OK;
    }
    Status status = texts_read_revision(store, kind, head.revision, arena, ret_text);
    return status == STATUS_NOT_FOUND ? STATUS_CORRUPT : status; /* they are written together */
}

Status texts_revisions(Store *store, TextKind kind, Arena *arena, SiteText **ret_texts,
                       size_t *ret_count)
{
    Query query = {.table = &TABLE_TEXTS,
                   .row = row_of(kind),
                   .from = SLICE("v/"),
                   .to = SLICE("v0"),
                   .after = SLICE_EMPTY,
                   .reverse = true,
                   .limit = TEXT_REVISIONS_LISTED,
                   .mode = STORE_SERIAL};
    Page page;
    TRY(store_slice(store, &query, arena, &page));
    SiteText *texts = ARENA_ARRAY(arena, page.count, SiteText);
    for (size_t i = 0; i < page.count; i++) {
        Reader column = reader_of(slice_after(page.cells[i].column, 2));
        uint32_t revision = reader_u32(&column);
        if (!reader_done(&column))
            return STATUS_CORRUPT;
        TRY(decode(revision, page.cells[i].value, &texts[i]));
        texts[i].text = SLICE_EMPTY;
    }
    *ret_texts = texts;
    *ret_count = page.count;
    return STATUS_OK;
}

/* ---- Writing ------------------------------------------------------------------------------------------------- */

static Status check(const NewText *wish, Reason *reason)
{
    if (slice_trim(wish->text).size == 0)
        return reason_set(reason, STATUS_INVALID, "words", "must not be empty");
    if (wish->text.size > TEXT_BYTES)
        return reason_set(reason, STATUS_INVALID, "words", "at most %d bytes", TEXT_BYTES);
    if (!slice_is_utf8(wish->text))
        return reason_set(reason, STATUS_INVALID, "words", "must be UTF-8 text");
    return STATUS_OK;
}

static Status append(Store *store, World world, const NewText *wish, const TextHead *before,
                     Arena *arena)
{
    BUFFER_SCOPE Buffer head = {0}, value = {0};
    Id id = id_new(world.clock, world.random);
    buffer_u8(&head, FORMAT);
    buffer_bytes(&head, id_slice(&id));
    buffer_u32(&head, wish->seen + 1);
    buffer_u8(&value, FORMAT);
    buffer_i64(&value, clock_now_us(world.clock));
    buffer_u64(&value, wish->editor);
    buffer_bytes(&value, wish->text);
    Slice column = column_of(wish->seen + 1, arena);
    Condition condition = {HEAD, before->value, !before->present};
    Change changes[] = {{.column = HEAD, .value = buffer_slice(&head)},
                        {.column = column, .value = buffer_slice(&value)}};
    Update update = {.table = &TABLE_TEXTS,
                     .row = row_of(wish->kind),
                     .conditions = &condition,
                     .condition_count = 1,
                     .changes = changes,
                     .change_count = 2,
                     .proof = column};
    return store_update(store, &update, TRIES, arena, NULL);
}

Status texts_write(Store *store, World world, const NewText *wish, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    TextHead head;
    TRY(check(wish, reason));
    TRY(read_head(store, wish->kind, arena, &head));
    if (head.revision >= TEXT_REVISIONS_MOST)
        return reason_set(reason, STATUS_REFUSED, "", "this text can change %d times at most",
                          TEXT_REVISIONS_MOST);
    Status status =
        head.revision == wish->seen ? append(store, world, wish, &head, arena) : STATUS_CONFLICT;
    if (status == STATUS_CONFLICT)
        return reason_set(reason, status, "", "somebody else changed this text in between");
    return status;
}
