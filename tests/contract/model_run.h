/* model_run.h -- one run of random operations: its state, its luck, and its operations.
 *
 * Every operation asks the store, tells the model, and compares; mismatch() prints the seed, the number of the
 * operation, what was asked and both answers, and ends the test. One run at a time, in one thread. */
#pragma once

#include "model.h"
#include "world.h"

enum { RUN_GRACE_S = 600 };

/* A scan that goes on while other operations happen. */
typedef struct Scan {
    bool running;
    char position[STORE_POSITION_MAX];
    size_t position_size;
    bool must[MODEL_ROWS][MODEL_COLUMNS]; /* surely there since the beginning */
    bool seen[MODEL_ROWS][MODEL_COLUMNS];
    bool left[MODEL_ROWS]; /* the scan has gone on to another row */
    size_t row, column;    /* the last cell that came; row MODEL_ROWS: none yet */
} Scan;

typedef struct Run {
    Store *store;
    Arena *arena; /* emptied after each operation */
    TestWorld luck_state;
    Random luck;
    uint64_t seed;
    int operation, operations;
    Slice asked; /* what the operation is, in words */
    Model model;
    Scan scans[MODEL_TABLES];
} Run;

extern Run run;

typedef struct Place {
    size_t table, row, column;
} Place;

/* ---- For all operations (model_test.c) --------------------------------------------------------------------- */

/* A random number smaller than `bound`. */
uint64_t run_below(uint64_t bound);
bool run_one_in(uint64_t n);
_Noreturn void run_mismatch(const char *format, ...) PRINTF_LIKE(1, 2);
void run_expect_status(Status actual, Status expected);
/* A cell of the table `first_table` or the one after it: 0 for the plain tables, 2 for the conditional ones. */
Place run_random_place(size_t first_table);
const Table *run_table_at(size_t index);
ModelCell *run_cell_at(Place place);
/* The store says this about a cell; a mismatch when it cannot be. */
void run_observe(Place place, const Sight *sight);

/* ---- Operations -------------------------------------------------------------------------------------------- */

void run_write_one(void);
void run_write_several(void);
void run_write_invalid(void);
void run_update_if(void);
void run_update_with_marks(void);
void run_read_one(void);
void run_read_several(void);
void run_slice_row(void);
void run_scan_on(void);

/* Compares a page with the model's row; place.column does not matter. */
void run_judge_slice(const Query *query, Place place, const Page *page);
/* Called after every operation: what may have been absent for a moment need not come in a scan. */
void run_watch_scans(void);
