/* texts.c -- see texts.h. The row is the word of the kind. Its cell `head` holds: format | id of the write (16 bytes) | number of the last revision; v/number (4
 * bytes) holds: format | when | who | the text, is written once, and proves its update. */
#include "texts/texts.h"

#include "news/news.h"
#include "store/record.h"

const char *const TEXT_KIND_WORDS[] = WORDS(TEXT_KIND_LIST, WORD_2);
static const char *const TITLES[] = WORDS(TEXT_KIND_LIST, WORD_3);

const char *text_kind_word(TextKind kind)
{
    return word_of(TEXT_KIND_WORDS, kind);
}

const char *text_kind_title(TextKind kind)
{
    return word_of(TITLES, kind);
}

static Slice row_of(TextKind kind)
{
    return slice_from(text_kind_word(kind));
}

/* ---- Reading ------------------------------------------------------------------------------------------------- */

typedef struct TextHead {
    Id write;
    uint32_t revision; /* 0: there is none */
} TextHead;

static const RecordField HEAD_FIELDS[] = {RECORD_WRITE_ID(TextHead, write),
                                          RECORD_U32(TextHead, revision)};
const Record TEXT_HEAD_RECORD = RECORD("text head", TextHead, 1, HEAD_FIELDS);
static const RecordField TEXT_FIELDS[] = {RECORD_I64(SiteText, time_us),
                                          RECORD_U64(SiteText, editor),
                                          RECORD_REST(SiteText, text, STORE_VALUE_MAX)};
const Record TEXT_RECORD = RECORD("text", SiteText, 1, TEXT_FIELDS);

static RecordPlace head_of(TextKind kind)
{
    return (RecordPlace){&TEXT_HEAD_RECORD, &TABLE_TEXTS, row_of(kind), SLICE("head")};
}

static Slice column_of(uint32_t revision, Arena *arena)
{
    BUFFER_SCOPE Buffer column = {0};
    buffer_text(&column, "v/");
    buffer_u32(&column, revision);
    return arena_copy(arena, buffer_slice(&column));
}

Status texts_read_revision(Store *store, TextKind kind, uint32_t revision, Arena *arena,
                           SiteText *ret_text)
{
    RecordPlace place = {&TEXT_RECORD, &TABLE_TEXTS, row_of(kind), column_of(revision, arena)};
    ret_text->revision = revision;
    return record_read(&(Records){.store = store}, &place, STORE_SERIAL, arena, ret_text, NULL);
}

Status texts_read(Store *store, TextKind kind, Arena *arena, SiteText *ret_text)
{
    TextHead head;
    RecordPlace place = head_of(kind);
    TRY(record_find(&(Records){.store = store}, &place, STORE_SERIAL, arena, &head, NULL));
    if (head.revision == 0) {
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
        texts[i].revision = reader_u32(&column);
        if (!reader_done(&column))
            return STATUS_CORRUPT;
        TRY(record_decode(&TEXT_RECORD, page.cells[i].value, NULL, arena, &texts[i]));
        texts[i].text = SLICE_EMPTY;
    }
    *ret_texts = texts;
    *ret_count = page.count;
    return STATUS_OK;
}

/* ---- Writing ------------------------------------------------------------------------------------------------- */

Status texts_write(Store *store, World world, const NewText *want, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Records records = {store, world, NULL};
    TextHead head;
    RecordWrite write = {.place = head_of(want->kind), .record = &head};
    if (slice_trim(want->text).size == 0)
        return reason_set(reason, STATUS_INVALID, "words", "must not be empty");
    if (want->text.size > TEXT_BYTES)
        return reason_set(reason, STATUS_INVALID, "words", "at most %d bytes", TEXT_BYTES);
    if (!slice_is_utf8(want->text))
        return reason_set(reason, STATUS_INVALID, "words", "must be UTF-8 text");
    TRY(record_find(&records, &write.place, STORE_SERIAL, arena, &head, &write.before));
    if (head.revision >= TEXT_REVISIONS_MAX)
        return reason_set(reason, STATUS_REFUSED, "", "this text can change %d times at most",
                          TEXT_REVISIONS_MAX);
    Status status = STATUS_CONFLICT;
    if (head.revision == want->seen) {
        SiteText text = {
            .time_us = clock_now_us(world.clock), .editor = want->editor, .text = want->text};
        head.revision++;
        write.proof = column_of(head.revision, arena);
        write.also = &(Change){.column = write.proof,
                               .value = record_encode(&TEXT_RECORD, &text, NULL, arena)};
        write.also_count = 1;
        write.marks = news_mark(world.clock, NEWS_TEXT, want->kind, arena);
        status = record_write(&records, &write, arena, NULL);
    }
    if (status == STATUS_CONFLICT)
        return reason_set(reason, status, "", "somebody else changed this text in between");
    return status;
}
