/* plain.h -- the workload `plain`: cells that clients put and delete by timestamp, two at a time.
 *
 * Every write of a row changes its cells `x` and `y` in one batch, to the same value; every write has a timestamp of its
 * own. So what stands must be the newest acknowledged write or a newer one, and x and y always agree. */
#pragma once

#include "simulator.h"

extern const Table PLAIN_TABLE;

/* One write. */
typedef struct PlainWrite {
    int64_t timestamp;
    bool is_delete, acknowledged;
    struct PlainWrite *next;
} PlainWrite;

typedef struct PlainRow {
    Slice key;
    PlainWrite *writes;
    int64_t acknowledged; /* the newest timestamp that was, 0 for none */
} PlainRow;

typedef struct Plain {
    PlainRow *rows;
    size_t row_count;
} Plain;

/* Reads the row and compares it with what was acknowledged before the read began. */
void plain_look(Run *run, Store *store, PlainRow *row, Arena *arena);

extern const Checker CHECK_PLAIN_SEEN;
