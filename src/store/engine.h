/* engine.h -- what an engine implements, below the checks that store.c does for all of them.
 *
 * store.c refuses what breaks the limits and the rules of a table before an engine sees it, so an engine may rely on: sizes
 * within the limits; plain calls on plain tables and conditional ones on conditional tables; deletes and expiry only where
 * the table says so; wall-clock timestamps within the grace period where they must be; at least one condition and one
 * change; a proof, if any, that is among the changes. The promises are those of store.h.
 *
 * Every engine embeds `Store` as its first member, and its open function returns a pointer to it. */
#pragma once

#include "store/store.h"

typedef struct StoreEngine {
    const char *name;
    bool shared; /* several processes may have it open */
    /* NULL: nothing turns out to be there later. */
    uint64_t (*generation)(Store *store);
    Status (*read)(Store *store, const Read *read, Arena *arena, Cell *ret_cell);
    Status (*read_many)(Store *store, const Read *reads, size_t count, Arena *arena,
                        ReadAnswer *ret_answers);
    Status (*slice)(Store *store, const Query *query, Arena *arena, Page *ret_page);
    /* NULL: one after the other. */
    void (*slice_many)(Store *store, const Query *queries, size_t count, Arena *arena,
                       PageAnswer *ret_answers);
    Status (*scan)(Store *store, const Table *table, Slice position, uint32_t limit, Arena *arena,
                   ScanPage *ret_page);
    Status (*write_many)(Store *store, const Batch *batches, size_t count, Status *ret_statuses);
    Status (*update_if)(Store *store, const Update *update, Arena *arena, Found *ret_found);
    /* NULL: one after the other. */
    Status (*update_many)(Store *store, const Update *updates, size_t count, Arena *arena,
                          Status *ret_statuses);
    void (*health)(Store *store, StoreHealth *ret_health);
    void (*metrics)(Store *store, StoreMetricVisit *visit, void *context);
    Status (*backup)(Store *store, const char *directory, Reason *reason);
    Status (*reopen)(Store *store, Reason *reason);
    void (*close)(Store *store);
} StoreEngine;

struct Store {
    const StoreEngine *engine;
    TableSet tables;
    Clock clock;
    int64_t grace_s;
};
