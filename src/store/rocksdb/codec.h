/* codec.h -- how rows and cells become RocksDB's keys and values, and which of two cells stands.
 *
 * key   = table (2 bytes) | length of the row (2) | row | column
 * value = flags (1) | timestamp (8, plain tables) | time of death (8, if any) | data
 * Numbers are big-endian. The length before the row keeps all cells of a row together whatever bytes the row has. Table
 * number 0 is the engine's own. The time of death is when an expiring cell expires, or when a delete was made; it is kept
 * apart from the timestamp, which may be any number. All of this is pure; the fuzzer runs the decoders. */
#pragma once

#include "base/bytes.h"
#include "store/store.h"

enum { KEY_PREFIX = 4, KEY_MAX = KEY_PREFIX + STORE_ROW_MAX + STORE_COLUMN_MAX };
enum { STORED_HEADER_MAX = 17 };

typedef struct StoredCell {
    bool stamped; /* has a timestamp: belongs to a plain table */
    bool deleted;
    int64_t timestamp;
    int64_t death_us; /* 0: lives for ever */
    Slice data;
} StoredCell;

enum { STORED_STAMPED = 1, STORED_DEATH = 2, STORED_DELETED = 4 };

/* Writes the key to `to` (room for KEY_MAX) and returns its size. */
static inline size_t codec_key(char *to, const Table *table, Slice row, Slice column)
{
    bytes_put_u16(to, table->number);
    bytes_put_u16(to + 2, (uint16_t)row.size);
    memcpy(to + KEY_PREFIX, row.data, row.size);
    if (column.size > 0)
        memcpy(to + KEY_PREFIX + row.size, column.data, column.size);
    return KEY_PREFIX + row.size + column.size;
}

/* Table, length and row: what all keys of a row begin with; 0 when the key is no key of ours. */
static inline size_t codec_row_prefix(Slice key)
{
    if (key.size < KEY_PREFIX)
        return 0;
    size_t prefix = (size_t)KEY_PREFIX + bytes_get_u16(key.data + 2);
    return prefix <= key.size ? prefix : 0;
}

/* Whether a scan of this table may have given the position, which is the key of the last cell that came. */
static inline bool codec_is_position(const Table *table, Slice position)
{
    size_t prefix = codec_row_prefix(position);
    return prefix > KEY_PREFIX && prefix <= KEY_PREFIX + STORE_ROW_MAX &&
           position.size - prefix <= STORE_COLUMN_MAX &&
           bytes_get_u16(position.data) == table->number;
}

/* CORRUPT unless it is what codec_value wrote. `data` points into `value`. */
MUST_USE static inline Status codec_decode(Slice value, StoredCell *ret_cell)
{
    if (value.size < 1)
        return STATUS_CORRUPT;
    unsigned flags = (unsigned char)value.data[0];
    bool stamped = flags & STORED_STAMPED, dies = flags & STORED_DEATH;
    size_t header = 1 + (stamped ? 8u : 0) + (dies ? 8u : 0);
    if (flags > 7 || value.size < header)
        return STATUS_CORRUPT;
    ret_cell->stamped = stamped;
    ret_cell->deleted = flags & STORED_DELETED;
    ret_cell->timestamp = stamped ? (int64_t)bytes_get_u64(value.data + 1) : 0;
    ret_cell->death_us = dies ? (int64_t)bytes_get_u64(value.data + header - 8) : 0;
    ret_cell->data = slice_of(value.data + header, value.size - header);
    return STATUS_OK;
}

/* Writes flags and numbers to `to` (room for STORED_HEADER_MAX) and returns their size; the data follows. */
size_t codec_header(char *to, const StoredCell *cell);

static inline bool codec_alive(const StoredCell *cell, int64_t now_us)
{
    return !cell->deleted && (cell->death_us == 0 || now_us < cell->death_us);
}

/* Whether `incoming` replaces `stored` in a plain table (promise 1 of store.h). Equal cells: no. */
bool codec_wins(const StoredCell *incoming, const StoredCell *stored, int64_t now_us);

/* What compaction may do with a stored cell at `now`. A dead cell of a plain table stays as a tombstone until nothing
 * older than it can be accepted any more: grace after its death, or after its timestamp, whichever is later. */
typedef enum CodecFate { CODEC_KEEP, CODEC_BURY, CODEC_FORGET } CodecFate;
CodecFate codec_fate(const StoredCell *cell, int64_t now_us, int64_t grace_s);
