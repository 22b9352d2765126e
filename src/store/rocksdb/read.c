/* read.c -- cells, slices and scans.
 *
 * Every call takes the gate shared, reads from one implicit snapshot (so a page is atomic), copies what lives into the
 * caller's arena and lets go. Whether a cell has expired is decided here, not by compaction. */
#include "store/rocksdb/rocks.h"

static rocksdb_t *enter(Rocks *rocks)
{
    pthread_rwlock_rdlock(&rocks->gate);
    return rocks->db;
}

/* Inside the gate. */
static bool can_read(const Rocks *rocks, ReadMode mode)
{
    return rocks->db != NULL && !(rocks->unsettled && mode == STORE_SERIAL);
}

static void leave(Rocks *rocks)
{
    pthread_rwlock_unlock(&rocks->gate);
}

/* ---- One cell -------------------------------------------------------------------------------------------- */

static Status copy_if_alive(const StoredCell *stored, int64_t now_us, const Read *read,
                            Arena *arena, Cell *ret_cell)
{
    if (!codec_alive(stored, now_us))
        return STATUS_NOT_FOUND;
    *ret_cell =
        (Cell){arena_copy(arena, read->column), arena_copy(arena, stored->data), stored->timestamp};
    return STATUS_OK;
}

/* Will the writer look at this cell if its reader changes it? A serial read is one to decide by; plain cells are compared. */
static bool is_looked_at(const Read *read)
{
    return read->mode == STORE_SERIAL ||
           (read->table->kind == TABLE_PLAIN && !read->table->repeats);
}

static Status read_cell(Rocks *rocks, rocksdb_t *db, const Read *read, Arena *arena, Cell *ret_cell)
{
    char key[KEY_MAX], *error = NULL;
    size_t key_size = codec_key(key, read->table, read->row, read->column);
    uint64_t stamp = read_hints_stamp(&rocks->read_hints);
    rocksdb_pinnableslice_t *pinned =
        rocksdb_get_pinned(db, rocks->read_row, key, key_size, &error);
    if (error != NULL)
        return rocks_error(error, rocks->db_path, NULL);
    int64_t now_us = clock_now_us(rocks->world.clock);
    StoredCell stored;
    Status status = STATUS_NOT_FOUND;
    if (pinned != NULL) {
        Slice value;
        value.data = rocksdb_pinnableslice_value(pinned, &value.size);
        status = codec_decode(value, &stored);
    }
    if (is_looked_at(read) && (status == STATUS_OK || pinned == NULL))
        read_hints_keep(&rocks->read_hints, stamp, slice_of(key, key_size),
                        pinned != NULL ? &stored : NULL);
    if (status == STATUS_OK)
        status = copy_if_alive(&stored, now_us, read, arena, ret_cell);
    if (pinned != NULL)
        rocksdb_pinnableslice_destroy(pinned);
    return status;
}

Status rocks_read(Store *store, const Read *read, Arena *arena, Cell *ret_cell)
{
    ReadAnswer answer;
    TRY(rocks_read_many(store, read, 1, arena, &answer));
    if (answer.status == STATUS_OK)
        *ret_cell = answer.cell;
    return answer.status;
}

Status rocks_read_many(Store *store, const Read *reads, size_t count, Arena *arena,
                       ReadAnswer *ret_answers)
{
    Rocks *rocks = rocks_of(store);
    rocksdb_t *db = enter(rocks);
    for (size_t i = 0; i < count; i++)
        ret_answers[i].status = can_read(rocks, reads[i].mode)
                                    ? read_cell(rocks, db, &reads[i], arena, &ret_answers[i].cell)
                                    : STATUS_UNAVAILABLE;
    leave(rocks);
    return STATUS_OK;
}

/* ---- Walking over keys ----------------------------------------------------------------------------------- */

typedef struct Walk {
    rocksdb_iterator_t *iterator;
    bool reverse;
    int64_t now_us;
    Slice key;
    StoredCell cell;
} Walk;

static void walk_on(Walk *walk)
{
    if (walk->reverse)
        rocksdb_iter_prev(walk->iterator);
    else
        rocksdb_iter_next(walk->iterator);
}

/* Stops at the next living cell at or after the iterator's place whose key begins with `prefix`. NOT_FOUND: none. */
static Status walk_to_living(Walk *walk, Slice prefix)
{
    while (rocksdb_iter_valid(walk->iterator)) {
        walk->key.data = rocksdb_iter_key(walk->iterator, &walk->key.size);
        if (!slice_starts_with(walk->key, prefix))
            return STATUS_NOT_FOUND;
        Slice value;
        value.data = rocksdb_iter_value(walk->iterator, &value.size);
        TRY(codec_decode(value, &walk->cell));
        if (codec_alive(&walk->cell, walk->now_us))
            return STATUS_OK;
        walk_on(walk);
    }
    return STATUS_NOT_FOUND;
}

/* The end of a walk: RocksDB keeps a failed read to itself until it is asked. */
static Status walk_end(Rocks *rocks, Walk *walk, Status status)
{
    char *error = NULL;
    rocksdb_iter_get_error(walk->iterator, &error);
    rocksdb_iter_destroy(walk->iterator);
    if (error != NULL)
        return rocks_error(error, rocks->db_path, NULL);
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

/* ---- A slice --------------------------------------------------------------------------------------------- */

static void add_cell(Page *page, size_t *capacity, Arena *arena, Slice column, const Walk *walk)
{
    if (page->count == *capacity) {
        size_t larger = *capacity == 0 ? 16 : 2 * *capacity;
        Cell *cells = arena_alloc(arena, larger * sizeof *cells);
        if (page->count > 0)
            memcpy(cells, page->cells, page->count * sizeof *cells);
        page->cells = cells;
        *capacity = larger;
    }
    Slice data = walk->cell.data;
    char *bytes = arena_bytes(arena, column.size + data.size);
    memcpy(bytes, column.data, column.size);
    memcpy(bytes + column.size, data.data, data.size);
    page->cells[page->count++] =
        (Cell){slice_of(bytes, column.size), slice_of(bytes + column.size, data.size),
               walk->cell.timestamp};
}

/* Goes to where reading begins. `key` holds the row's prefix and has room for KEY_MAX + 1. */
static void seek_slice(Walk *walk, const Query *query, char *key, size_t prefix_size)
{
    char *column = key + prefix_size;
    Slice bound = query->from;
    bool beyond = false;
    if (query->reverse) {
        /* No column is larger than 4097 bytes of 0xFF, so that is the end of a row. */
        bound = query->to.size > 0
                    ? query->to
                    : slice_of(memset(column, 0xFF, STORE_COLUMN_MAX + 1), STORE_COLUMN_MAX + 1);
        beyond = true;
    }
    if (query->resume && (slice_compare(query->after, bound) < 0) == query->reverse) {
        bound = query->after;
        beyond = true;
    }
    if (bound.size > 0 && bound.data != column)
        memcpy(column, bound.data, bound.size);
    size_t size = prefix_size + bound.size;
    if (query->reverse)
        rocksdb_iter_seek_for_prev(walk->iterator, key, size);
    else
        rocksdb_iter_seek(walk->iterator, key, size);
    if (beyond && rocksdb_iter_valid(walk->iterator)) {
        Slice found;
        found.data = rocksdb_iter_key(walk->iterator, &found.size);
        if (slice_equal(found, slice_of(key, size)))
            walk_on(walk);
    }
}

static bool in_range(const Query *query, Slice column)
{
    if (query->reverse)
        return slice_compare(column, query->from) >= 0;
    return query->to.size == 0 || slice_compare(column, query->to) < 0;
}

static Status fill_page(Walk *walk, const Query *query, Slice prefix, Arena *arena, Page *page)
{
    size_t capacity = 0, bytes = 0;
    for (;; walk_on(walk)) {
        TRY(walk_to_living(walk, prefix));
        Slice column = slice_after(walk->key, prefix.size);
        if (!in_range(query, column))
            return STATUS_OK;
        bytes += column.size + walk->cell.data.size;
        if (page->count == query->limit || (page->count > 0 && bytes > STORE_PAGE_BYTES)) {
            page->more = true;
            return STATUS_OK;
        }
        add_cell(page, &capacity, arena, column, walk);
    }
}

/* Rows that are changed under a condition begin with the cell that it is about. */
static void keep_first(Rocks *rocks, const Walk *walk, uint64_t stamp)
{
    Slice key, value;
    StoredCell cell;
    if (!rocksdb_iter_valid(walk->iterator))
        return;
    key.data = rocksdb_iter_key(walk->iterator, &key.size);
    value.data = rocksdb_iter_value(walk->iterator, &value.size);
    if (codec_decode(value, &cell) == STATUS_OK)
        read_hints_keep(&rocks->read_hints, stamp, key, &cell);
}

Status rocks_slice(Store *store, const Query *query, Arena *arena, Page *ret_page)
{
    Rocks *rocks = rocks_of(store);
    rocksdb_t *db = enter(rocks);
    Status status = STATUS_UNAVAILABLE;
    if (can_read(rocks, query->mode)) {
        char key[KEY_MAX + 1], prefix[KEY_PREFIX + STORE_ROW_MAX];
        Page page = {0};
        uint64_t stamp = read_hints_stamp(&rocks->read_hints);
        Walk walk = {rocksdb_create_iterator(db, rocks->read_row),
                     query->reverse,
                     clock_now_us(rocks->world.clock),
                     SLICE_EMPTY,
                     {0}};
        size_t prefix_size = codec_key(prefix, query->table, query->row, SLICE_EMPTY);
        memcpy(key, prefix, prefix_size);
        seek_slice(&walk, query, key, prefix_size);
        if (query->mode == STORE_SERIAL)
            keep_first(rocks, &walk, stamp);
        status = fill_page(&walk, query, slice_of(prefix, prefix_size), arena, &page);
        status = walk_end(rocks, &walk, status);
        if (status == STATUS_OK)
            *ret_page = page;
    }
    leave(rocks);
    return status;
}

/* ---- A scan ---------------------------------------------------------------------------------------------- */

static void add_scanned(ScanPage *page, size_t *capacity, Arena *arena, const Walk *walk)
{
    if (page->count == *capacity) {
        size_t larger = *capacity == 0 ? 64 : 2 * *capacity;
        ScanCell *cells = arena_alloc(arena, larger * sizeof *cells);
        if (page->count > 0)
            memcpy(cells, page->cells, page->count * sizeof *cells);
        page->cells = cells;
        *capacity = larger;
    }
    Slice row = slice_of(walk->key.data + KEY_PREFIX, codec_row_prefix(walk->key) - KEY_PREFIX);
    Slice column = slice_after(walk->key, KEY_PREFIX + row.size), data = walk->cell.data;
    const ScanCell *before = page->count > 0 ? &page->cells[page->count - 1] : NULL;
    bool same_row = before != NULL && slice_equal(before->row, row);
    char *bytes = arena_bytes(arena, (same_row ? 0 : row.size) + column.size + data.size);
    memcpy(bytes, column.data, column.size);
    memcpy(bytes + column.size, data.data, data.size);
    char *row_bytes = bytes + column.size + data.size;
    if (!same_row)
        memcpy(row_bytes, row.data, row.size);
    page->cells[page->count++] =
        (ScanCell){same_row ? before->row : slice_of(row_bytes, row.size),
                   {slice_of(bytes, column.size), slice_of(bytes + column.size, data.size),
                    walk->cell.timestamp}};
}

/* The place behind the last cell of a page is that cell's key. */
static Slice position_of(const Table *table, const ScanPage *page, Arena *arena)
{
    if (page->count == 0)
        return SLICE_EMPTY;
    const ScanCell *last = &page->cells[page->count - 1];
    char *key = arena_bytes(arena, KEY_PREFIX + last->row.size + last->cell.column.size);
    return slice_of(key, codec_key(key, table, last->row, last->cell.column));
}

static Status fill_scan(Walk *walk, Slice table_prefix, uint32_t limit, Arena *arena,
                        ScanPage *page)
{
    size_t capacity = 0, bytes = 0;
    for (;; walk_on(walk)) {
        TRY(walk_to_living(walk, table_prefix));
        if (codec_row_prefix(walk->key) == 0)
            return STATUS_CORRUPT;
        bytes += walk->key.size + walk->cell.data.size;
        if (page->count == limit || (page->count > 0 && bytes > STORE_PAGE_BYTES)) {
            page->more = true;
            return STATUS_OK;
        }
        add_scanned(page, &capacity, arena, walk);
    }
}

Status rocks_scan(Store *store, const Table *table, Slice position, uint32_t limit, Arena *arena,
                  ScanPage *ret_page)
{
    Rocks *rocks = rocks_of(store);
    if (position.size > 0 && !codec_is_position(table, position))
        return STATUS_INVALID;
    rocksdb_t *db = enter(rocks);
    Status status = STATUS_UNAVAILABLE;
    if (db != NULL) {
        char table_prefix[2];
        ScanPage page = {0};
        Walk walk = {rocksdb_create_iterator(db, rocks->read_table),
                     false,
                     clock_now_us(rocks->world.clock),
                     SLICE_EMPTY,
                     {0}};
        bytes_put_u16(table_prefix, table->number);
        Slice start = position.size > 0 ? position : slice_of(table_prefix, sizeof table_prefix);
        rocksdb_iter_seek(walk.iterator, start.data, start.size);
        if (position.size > 0 && rocksdb_iter_valid(walk.iterator)) {
            Slice found;
            found.data = rocksdb_iter_key(walk.iterator, &found.size);
            if (slice_equal(found, position))
                rocksdb_iter_next(walk.iterator);
        }
        status = fill_scan(&walk, slice_of(table_prefix, sizeof table_prefix), limit, arena, &page);
        status = walk_end(rocks, &walk, status);
        page.position = position_of(table, &page, arena);
        if (status == STATUS_OK)
            *ret_page = page;
    }
    leave(rocks);
    return status;
}
