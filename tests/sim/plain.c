/* plain.c -- see plain.h: what the clients do. */
#include "plain.h"

#include "workloads.h"

enum { ROWS_MAX = 4, STAMPS = 1024 };

const Table PLAIN_TABLE = {
    .number = TABLE_FIRST_FOR_TESTS + 101,
    .name = "sim_plain",
    .kind = TABLE_PLAIN,
    .deletes = true,
    .expires = true,
    .row = "any",
    .columns = "x, y",
    .writer = "the simulator",
};
static const Table *const TABLE_POINTERS[] = {&PLAIN_TABLE};

static const Mutant MUTANTS[] = {
    {"unknown_is_yes", "a write that is not surely done is taken for done", 10, 3},
    {"half_a_batch", "the two cells of a row are written one after the other", 10, 1},
    {"delete_in_the_past", "a delete has a timestamp older than what it deletes", 10, 1},
};

static void *setup(Run *run, Store *store)
{
    (void)store;
    Arena *arena = run_arena(run);
    Plain *plain = ARENA_NEW(arena, Plain);
    plain->row_count = 1 + run_draw(run, ROWS_MAX);
    plain->rows = ARENA_ARRAY(arena, plain->row_count, PlainRow);
    for (size_t i = 0; i < plain->row_count; i++)
        plain->rows[i].key = arena_print(arena, "row %zu", i);
    return plain;
}

/* ---- Looking --------------------------------------------------------------------------------------------- */

static const PlainWrite *write_at(const PlainRow *row, int64_t timestamp)
{
    for (const PlainWrite *write = row->writes; write != NULL; write = write->next)
        if (write->timestamp == timestamp)
            return write;
    return NULL;
}

/* Nothing may be there if the newest acknowledged write is a delete, or some delete newer than it was at least sent. */
static bool may_be_absent(const PlainRow *row, int64_t acknowledged)
{
    if (acknowledged == 0)
        return true;
    for (const PlainWrite *write = row->writes; write != NULL; write = write->next)
        if (write->is_delete && write->timestamp >= acknowledged)
            return true;
    return false;
}

static void judge(Run *run, const PlainRow *row, const Page *page, int64_t acknowledged)
{
    if (page->count == 0) {
        if (!may_be_absent(row, acknowledged))
            run_violated(run, "%.*s: an acknowledged write is gone", SLICE_ARG(row->key));
        return;
    }
    int64_t timestamp = page->cells[0].timestamp;
    const PlainWrite *write = write_at(row, timestamp);
    if (page->count != 2 || page->cells[1].timestamp != timestamp ||
        !slice_equal(page->cells[0].value, page->cells[1].value))
        run_violated(run, "%.*s: half a batch", SLICE_ARG(row->key));
    else if (write == NULL || write->is_delete)
        run_violated(run, "%.*s: a value that nobody wrote", SLICE_ARG(row->key));
    else if (timestamp < acknowledged)
        run_violated(run, "%.*s: an older value than was acknowledged", SLICE_ARG(row->key));
}

void plain_look(Run *run, Store *store, PlainRow *row, Arena *arena)
{
    int64_t acknowledged = row->acknowledged;
    Query query = {.table = &PLAIN_TABLE, .row = row->key, .limit = 10};
    query.from = query.to = query.after = SLICE_EMPTY;
    Page page;
    if (store_slice(store, &query, arena, &page) == STATUS_OK)
        judge(run, row, &page, acknowledged);
}

/* ---- Writing --------------------------------------------------------------------------------------------- */

/* Clocks are wrong and two may say the same, so the last digits are the client's own. */
static int64_t stamp(SimClient *client)
{
    int64_t now_us = clock_now_us(sim_client_clock(client));
    return now_us - now_us % STAMPS + sim_client_number(client);
}

static Status send(Run *run, Store *store, const PlainRow *row, Change change)
{
    RowChange changes[] = {{&PLAIN_TABLE, row->key, change}, {&PLAIN_TABLE, row->key, change}};
    changes[0].change.column = SLICE("x");
    changes[1].change.column = SLICE("y");
    if (!run_makes_mistake(run, "half_a_batch"))
        return store_write(store, &(Batch){changes, 2, false});
    TRY(store_write(store, &(Batch){changes, 1, false}));
    return store_write(store, &(Batch){changes + 1, 1, false});
}

static void write_row(Run *run, SimClient *client, Store *store, PlainRow *row, Arena *arena)
{
    PlainWrite *write = ARENA_NEW(run_arena(run), PlainWrite);
    *write = (PlainWrite){.timestamp = stamp(client),
                          .is_delete = random_u64(sim_client_random(client)) % 4 == 0,
                          .next = row->writes};
    if (write_at(row, write->timestamp) != NULL)
        return;
    row->writes = write;
    Change change = {.value = arena_print(arena, "%lld", (long long)write->timestamp),
                     .timestamp = write->timestamp,
                     .is_delete = write->is_delete};
    if (write->is_delete && run_makes_mistake(run, "delete_in_the_past"))
        change.timestamp -= 3600 * US_PER_S;
    Status status = send(run, store, row, change);
    if (!sim_client_alive(client))
        return;
    write->acknowledged = status == STATUS_OK || run_makes_mistake(run, "unknown_is_yes");
    if (write->acknowledged && write->timestamp > row->acknowledged)
        row->acknowledged = write->timestamp;
}

static void client_work(Run *run, SimClient *client, Store *store, Arena *arena)
{
    Plain *plain = run_state(run);
    while (run_working(run, client)) {
        uint64_t luck = random_u64(sim_client_random(client));
        PlainRow *row = &plain->rows[(luck >> 8) % plain->row_count];
        if (luck % 2 == 0)
            write_row(run, client, store, row, arena);
        else
            plain_look(run, store, row, arena);
        arena_reset(arena);
        run_pause(run, client);
    }
}

static const Checker *const CHECKERS[] = {&CHECK_PLAIN_SEEN, NULL};

const Workload WORKLOAD_PLAIN = {
    .name = "plain",
    .tables = {TABLE_POINTERS, 1},
    .mutants = MUTANTS,
    .mutant_count = sizeof MUTANTS / sizeof MUTANTS[0],
    .checkers = CHECKERS,
    .setup = setup,
    .client = client_work,
};
