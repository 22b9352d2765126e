/* fuzz_store_codec.c -- what the embedded engine reads back from disk or from a caller: stored values, keys, scan
 * positions, and the marker file.
 *
 * The first byte says what the rest is. What is decoded can be encoded and decoded to the same again; no cell beats itself, and of
 * two cells at most one replaces the other; a living cell is kept. */
#include "store/rocksdb/rocks.h"

#include "fuzz.h"

static const Table TABLE = {.number = 60000, .name = "fuzz", .kind = TABLE_PLAIN};
enum { GRACE_S = 864000 };

static bool same_cell(const StoredCell *a, const StoredCell *b)
{
    return a->stamped == b->stamped && a->deleted == b->deleted && a->timestamp == b->timestamp &&
           a->death_us == b->death_us && slice_equal(a->data, b->data);
}

static void round_trip(const StoredCell *cell)
{
    BUFFER_SCOPE Buffer again = {0};
    StoredCell back;
    again.size = codec_header(buffer_reserve(&again, STORED_HEADER_MAX), cell);
    CHECK(again.size <= STORED_HEADER_MAX);
    buffer_bytes(&again, cell->data);
    CHECK(codec_decode(buffer_slice(&again), &back) == STATUS_OK);
    CHECK(same_cell(cell, &back));
}

/* Two values and a time, as the writer and compaction meet them. */
static void check_values(Slice input)
{
    Reader reader = reader_of(input);
    int64_t now_us = reader_i64(&reader);
    Slice first = reader_bytes(&reader, reader_u8(&reader)), second = reader_rest(&reader);
    StoredCell a, b;
    if (reader.failed || codec_decode(first, &a) != STATUS_OK ||
        codec_decode(second, &b) != STATUS_OK)
        return;
    round_trip(&a);
    round_trip(&b);
    CHECK(!codec_wins(&a, &a, now_us));
    CHECK(!codec_wins(&a, &b, now_us) || !codec_wins(&b, &a, now_us));
    if (codec_alive(&a, now_us))
        CHECK(codec_fate(&a, now_us, GRACE_S) == CODEC_KEEP);
    else
        CHECK(!a.stamped || a.deleted || codec_fate(&a, now_us, GRACE_S) != CODEC_KEEP);
}

/* A position taken apart and put together is the same. */
static void check_position(Slice position)
{
    size_t prefix = codec_row_prefix(position);
    CHECK(prefix <= position.size);
    if (!codec_is_position(&TABLE, position))
        return;
    char key[KEY_MAX];
    Slice row = slice_of(position.data + KEY_PREFIX, prefix - KEY_PREFIX);
    Slice column = slice_after(position, prefix);
    CHECK(row.size >= 1 && row.size <= STORE_ROW_MAX && column.size <= STORE_COLUMN_MAX);
    CHECK(slice_equal(slice_of(key, codec_key(key, &TABLE, row, column)), position));
}

/* Refused with words, or word for word what we write. */
static void check_marker(Slice text)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Reason reason = {.rule = ""};
    Status status = rocks_marker_check(text, "directory", &reason);
    if (status == STATUS_OK)
        CHECK(slice_equal(text, rocks_marker(arena)));
    else
        CHECK(reason.rule[0] != '\0');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    Slice input = slice_of(data + 1, size - 1);
    switch (data[0] % 3) {
    case 0:
        check_values(input);
        break;
    case 1:
        check_position(input);
        break;
    default:
        check_marker(input);
    }
    return 0;
}
