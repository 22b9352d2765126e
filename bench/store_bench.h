/* store_bench.h -- the loads of the store's benchmark; store_main.c has the commands.
 *
 * store_saves.c  preload, saves, plain writes: through store.h only
 * store_reads.c  cells, rows, pages of a long row and scans, each through store.h and as a bare loop over RocksDB's C API.
 * The bare loops use the database that the engine has open, with the engine's read options: same files, same cache, same
 * moment, so what differs is the engine alone. Ours gives copies of columns and values in the caller's arena and leaves
 * out what has expired; a bare loop looks at each key and value where RocksDB keeps it, and copies nothing. */
#pragma once

#include <stdatomic.h>

#include "ballot.h"
#include "base/bytes.h"
#include "store/store.h"

extern const Table BENCH_VOTERS; /* conditional: a row a voter (ballot.h) */
extern const Table BENCH_TALLY;  /* plain: one row with a million cells */
extern const Table BENCH_MARKS;  /* plain: for writes of its own */
extern const TableSet BENCH_TABLES;

#define BENCH_TALLY_ROW SLICE("policy")
#define BENCH_HEAD      SLICE("head")
#define BENCH_LOG       SLICE("z/") /* the first column behind the lines */

enum { BENCH_PAGE = 1000, BENCH_READERS = 2 };

typedef struct StoreBench {
    Store *store;
    uint64_t voters;
    uint64_t tally; /* cells of the long row */
    int clients;
    uint64_t runs; /* how many loads there were: seeds differ by it */
    atomic_uint_fast64_t next;
} StoreBench;

/* What a client of any load has. */
typedef struct StoreClient {
    StoreBench *bench;
    Arena *arena;
    BenchRandom random;
    char position[64]; /* of a walk, empty at its start */
    size_t position_size;
} StoreClient;

void *store_client_begin(void *context, int client);
void store_client_end(void *state);

/* The names of rows: numbers in 8 bytes. */
typedef struct BenchKey {
    char bytes[8];
} BenchKey;

static inline Slice bench_key(uint64_t number, BenchKey *key)
{
    bytes_put_u64(key->bytes, number);
    return slice_of(key->bytes, sizeof key->bytes);
}

uint64_t store_preload_voter(void *state);
uint64_t store_preload_tally(void *state);
uint64_t store_save(void *state);
uint64_t store_write_plain(void *state);
uint64_t store_write_lazy(void *state);

uint64_t store_read_cell(void *state);
uint64_t store_read_row(void *state);
uint64_t store_read_page(void *state);
uint64_t store_read_scan(void *state);
uint64_t bare_read_cell(void *state);
uint64_t bare_read_row(void *state);
uint64_t bare_read_page(void *state);
uint64_t bare_read_scan(void *state);

/* A directory's worth of RocksDB's own words about its levels, to stderr. */
void bare_describe(StoreBench *bench);
