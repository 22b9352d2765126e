/* store_reads.c -- reads through store.h, and the same keys by a bare loop over RocksDB's C API. */
#include <stdio.h>
#include <unistd.h>

#include "store/rocksdb/rocks.h"
#include "store_bench.h"

static void expect(bool good, const char *what)
{
    if (!good)
        bench_fail("%s went wrong", what);
}

static Slice some_voter(StoreClient *client, BenchKey *key)
{
    return bench_key(bench_random_below(&client->random, client->bench->voters), key);
}

/* ---- One cell: the head of a random voter ------------------------------------------------------------------ */

uint64_t store_read_cell(void *state)
{
    StoreClient *client = state;
    BenchKey key;
    Cell cell;
    arena_reset(client->arena);
    Read read = {.table = &BENCH_VOTERS, .row = some_voter(client, &key), .column = BENCH_HEAD};
    expect(store_read(client->bench->store, &read, client->arena, &cell) == STATUS_OK, "a cell");
    return 1;
}

uint64_t bare_read_cell(void *state)
{
    StoreClient *client = state;
    Rocks *rocks = rocks_of(client->bench->store);
    BenchKey row;
    char key[KEY_MAX], *error = NULL;
    size_t size = codec_key(key, &BENCH_VOTERS, some_voter(client, &row), BENCH_HEAD);
    rocksdb_pinnableslice_t *pinned =
        rocksdb_get_pinned(rocks->db, rocks->read_row, key, size, &error);
    expect(error == NULL && pinned != NULL, "a bare cell");
    rocksdb_pinnableslice_value(pinned, &size);
    rocksdb_pinnableslice_destroy(pinned);
    return size > 0;
}

/* ---- A row: head and lines of a random voter, 12 cells ------------------------------------------------------- */

uint64_t store_read_row(void *state)
{
    StoreClient *client = state;
    BenchKey key;
    Page page;
    arena_reset(client->arena);
    Query query = {
        .table = &BENCH_VOTERS, .row = some_voter(client, &key), .to = BENCH_LOG, .limit = 100};
    expect(store_slice(client->bench->store, &query, client->arena, &page) == STATUS_OK &&
               page.count == BALLOT_CELLS,
           "a row");
    return 1;
}

/* Walks from the iterator's place while keys begin with `prefix` and their column is below `to` (when not empty), at
 * most `limit` cells; the last key is kept in the client's position. Returns the number of cells. */
static uint64_t bare_walk(StoreClient *client, rocksdb_iterator_t *iterator, Slice prefix, Slice to,
                          uint64_t limit)
{
    uint64_t cells = 0, bytes = 0;
    Slice key = SLICE_EMPTY;
    for (; cells < limit && rocksdb_iter_valid(iterator); rocksdb_iter_next(iterator)) {
        size_t value_size;
        Slice next;
        next.data = rocksdb_iter_key(iterator, &next.size);
        if (!slice_starts_with(next, prefix) ||
            (to.size > 0 && slice_compare(slice_after(next, prefix.size), to) >= 0))
            break;
        key = next;
        bytes += (unsigned char)rocksdb_iter_value(iterator, &value_size)[0];
        bytes += value_size;
        cells++;
        if (cells == limit) { /* the key is gone after the next step */
            client->position_size = key.size;
            memcpy(client->position, key.data, key.size);
        }
    }
    if (cells < limit)
        client->position_size = 0;
    expect(cells == 0 || bytes > 0, "a bare walk");
    return cells;
}

uint64_t bare_read_row(void *state)
{
    StoreClient *client = state;
    Rocks *rocks = rocks_of(client->bench->store);
    BenchKey row;
    char key[KEY_MAX];
    size_t size = codec_key(key, &BENCH_VOTERS, some_voter(client, &row), SLICE_EMPTY);
    rocksdb_iterator_t *iterator = rocksdb_create_iterator(rocks->db, rocks->read_row);
    rocksdb_iter_seek(iterator, key, size);
    uint64_t cells = bare_walk(client, iterator, slice_of(key, size), BENCH_LOG, 100);
    rocksdb_iter_destroy(iterator);
    expect(cells == BALLOT_CELLS, "a bare row");
    return 1;
}

/* ---- The long row, page by page ------------------------------------------------------------------------------ */

uint64_t store_read_page(void *state)
{
    StoreClient *client = state;
    Page page;
    arena_reset(client->arena);
    Query query = {.table = &BENCH_TALLY,
                   .row = BENCH_TALLY_ROW,
                   .after = slice_of(client->position, client->position_size),
                   .resume = client->position_size > 0,
                   .limit = BENCH_PAGE};
    expect(store_slice(client->bench->store, &query, client->arena, &page) == STATUS_OK &&
               page.count > 0,
           "a page");
    Slice last = page.cells[page.count - 1].column;
    client->position_size = page.more ? last.size : 0;
    memcpy(client->position, last.data, client->position_size);
    return page.count;
}

/* A page as the bare loop does it: seek to where the last one ended, step over that key, walk. */
static uint64_t bare_page(StoreClient *client, rocksdb_readoptions_t *options, Slice prefix)
{
    Rocks *rocks = rocks_of(client->bench->store);
    rocksdb_iterator_t *iterator = rocksdb_create_iterator(rocks->db, options);
    if (client->position_size == 0) {
        rocksdb_iter_seek(iterator, prefix.data, prefix.size);
    } else {
        rocksdb_iter_seek(iterator, client->position, client->position_size);
        rocksdb_iter_next(iterator);
    }
    uint64_t cells = bare_walk(client, iterator, prefix, SLICE_EMPTY, BENCH_PAGE);
    rocksdb_iter_destroy(iterator);
    return cells;
}

uint64_t bare_read_page(void *state)
{
    StoreClient *client = state;
    char prefix[KEY_MAX];
    size_t size = codec_key(prefix, &BENCH_TALLY, BENCH_TALLY_ROW, SLICE_EMPTY);
    return bare_page(client, rocks_of(client->bench->store)->read_row, slice_of(prefix, size));
}

/* ---- The whole table ----------------------------------------------------------------------------------------- */

/* Each client starts at a voter of its own, so that two do not walk side by side through the same blocks. */
static void start_anywhere(StoreClient *client)
{
    BenchKey key;
    if (client->position_size == 0)
        client->position_size =
            codec_key(client->position, &BENCH_VOTERS, some_voter(client, &key), BENCH_HEAD);
}

uint64_t store_read_scan(void *state)
{
    StoreClient *client = state;
    ScanPage page;
    arena_reset(client->arena);
    start_anywhere(client);
    Slice position = slice_of(client->position, client->position_size);
    expect(store_scan(client->bench->store, &BENCH_VOTERS, position, BENCH_PAGE, client->arena,
                      &page) == STATUS_OK,
           "a scan");
    expect(page.position.size <= sizeof client->position, "a position");
    client->position_size = page.more ? page.position.size : 0;
    memcpy(client->position, page.position.data, client->position_size);
    return page.count;
}

uint64_t bare_read_scan(void *state)
{
    StoreClient *client = state;
    char prefix[2];
    bytes_put_u16(prefix, BENCH_VOTERS.number);
    start_anywhere(client);
    return bare_page(client, rocks_of(client->bench->store)->read_table, slice_of(prefix, 2));
}

/* ---- The state of the tree ----------------------------------------------------------------------------------- */

void bare_describe(StoreBench *bench)
{
    char *text = rocksdb_property_value(rocks_of(bench->store)->db, "rocksdb.levelstats");
    if (text != NULL)
        fprintf(stderr, "%s", text);
    rocksdb_free(text);
}
