/* contract.h -- the fixture for the tests of store.h: an engine, four tables and a clock of our own.
 *
 * The tests know only store.h and this header. An engine takes part by one line in the table of contract.c; which one is
 * used is said by OSTRAKA_TEST_STORE (rocksdb when it is not set). A test begins with contract_fresh():
 *   1. The store it returns is empty, and is the only one open; what a failed test left open is closed first.
 *   2. The clock stands still at CONTRACT_START_US until the test moves it, for engines that take a clock
 *      (contract_has_clock); the others live in the machine's time.
 *   3. Everything the reads return lives in contract_arena(), which the next contract_fresh() empties. */
#pragma once

#include "store/store.h"
#include "test.h"

#define CONTRACT_START_US (INT64_C(1900000000) * US_PER_S)
enum { CONTRACT_GRACE_S = 10 * 86400 };

typedef struct ContractOptions {
    World world;
    TableSet tables;
    int64_t grace_s;
    bool fresh; /* with nothing in it; otherwise what the last open left behind */
} ContractOptions;

typedef struct ContractEngine {
    const char *name;
    bool takes_clock;
    Status (*open)(const ContractOptions *options, Store **ret_store, Reason *reason);
} ContractEngine;

extern const ContractEngine CONTRACT_CASSANDRA;
extern const ContractEngine CONTRACT_ROCKSDB;
extern const ContractEngine CONTRACT_SIM;

/* One table of each kind; the comments say what they take. */
extern const Table CONTRACT_KEEP;   /* plain, any timestamp, never deletes nor expires */
extern const Table CONTRACT_PLAIN;  /* plain, wall-clock timestamps, deletes and expires */
extern const Table CONTRACT_COND;   /* conditional, expires */
extern const Table CONTRACT_COND_D; /* conditional, deletes and expires */
extern const Table CONTRACT_REPEAT; /* plain, and only ever repeated */
extern const TableSet CONTRACT_TABLES;

Store *contract_fresh(void);
/* The same with another grace period. */
Store *contract_fresh_with_grace(int64_t grace_s);
/* The same with the product's own tables (store/tables.h), for tests of what stands above the store. */
Store *contract_fresh_site(void);
/* Closes the store and opens the same data again: a restart of the process. */
Store *contract_restart(void);
/* At the end of a test; closing is part of what is tested. */
void contract_end(void);
Store *contract_store(void);
Arena *contract_arena(void);

/* What the store was given: the machine's world, with our time of day where the engine takes a clock. */
World contract_world(void);
bool contract_has_clock(void);
int64_t contract_now_us(void);
/* Only where contract_has_clock. */
void contract_set_now_us(int64_t now_us);
/* Lets `seconds` pass: steps our clock, or sleeps when the engine has its own. Time only goes forward here. */
void contract_pass_s(int64_t seconds);

/* Runs `run` in `count` threads that start together, and waits for all of them. EXPECT must not be used inside. */
void contract_threads(int count, void (*run)(int index, void *context), void *context);

/* ---- Short forms: most tests write and read one cell ------------------------------------------------------- */

static inline Change put(Slice column, Slice value, int64_t timestamp)
{
    return (Change){.column = column, .value = value, .timestamp = timestamp};
}

static inline Change put_for(Slice column, Slice value, int64_t timestamp, int64_t ttl_s)
{
    return (Change){.column = column, .value = value, .timestamp = timestamp, .ttl_s = ttl_s};
}

static inline Change erase(Slice column, int64_t timestamp)
{
    return (Change){
        .column = column, .value = SLICE_EMPTY, .timestamp = timestamp, .is_delete = true};
}

MUST_USE Status contract_write(const Table *table, Slice row, Change change);
MUST_USE Status contract_write_lazy(const Table *table, Slice row, Change change);
/* Several cells of one row, as one batch. */
MUST_USE Status contract_write_row(const Table *table, Slice row, const Change *changes,
                                   size_t count);
MUST_USE Status contract_read(const Table *table, Slice row, Slice column, Cell *ret_cell);
/* Up to `limit` cells from the beginning of the row. */
MUST_USE Status contract_slice(const Table *table, Slice row, uint32_t limit, Page *ret_page);
/* The first of `changes` is the proof. */
MUST_USE Status contract_update(const Table *table, Slice row, Condition condition,
                                const Change *changes, size_t count);
/* The same with one change, and what was found. */
MUST_USE Status contract_update_one(const Table *table, Slice row, Condition condition,
                                    Change change, Found *ret_found);

static inline Condition when_absent(Slice column)
{
    return (Condition){.column = column, .value = SLICE_EMPTY, .absent = true};
}

static inline Condition when_equal(Slice column, Slice value)
{
    return (Condition){.column = column, .value = value};
}

/* `size` bytes, the same each time, in the arena. */
Slice contract_filler(size_t size, char byte);

#define EXPECT_CELL(in_table, in_row, name, expected_value)                           \
    do {                                                                              \
        Cell cell_;                                                                   \
        Slice name_ = (name);                                                         \
        EXPECT_STATUS(contract_read((in_table), (in_row), name_, &cell_), STATUS_OK); \
        EXPECT_SLICE(cell_.value, (expected_value));                                  \
        EXPECT_SLICE(cell_.column, name_);                                            \
    } while (0)

#define EXPECT_NO_CELL(in_table, in_row, name)                                                \
    do {                                                                                      \
        Cell cell_;                                                                           \
        EXPECT_STATUS(contract_read((in_table), (in_row), (name), &cell_), STATUS_NOT_FOUND); \
    } while (0)
