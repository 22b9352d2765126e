/* store_saves.c -- preloading, saves and plain writes, through store.h only. */
#include <stdlib.h>

#include "store_bench.h"

enum { COLUMN_BYTES = 10, HEAD_BYTES = 40, LINE_BYTES = 24 };

void *store_client_begin(void *context, int client)
{
    StoreBench *bench = context;
    StoreClient *state = calloc(1, sizeof *state);
    CHECK(state != NULL);
    state->bench = bench;
    state->arena = arena_new();
    state->random = bench_random(bench->runs * 1000 + (uint64_t)client);
    return state;
}

void store_client_end(void *state)
{
    StoreClient *client = state;
    arena_free(client->arena);
    free(client);
}

static void expect(Status status, const char *what)
{
    if (status != STATUS_OK)
        bench_fail("%s: %s", what, status_name(status));
}

/* `s/` or `z/` and a number. */
static Slice column(StoreClient *client, char kind, uint64_t number)
{
    char *bytes = arena_bytes(client->arena, COLUMN_BYTES);
    bytes[0] = kind;
    bytes[1] = '/';
    bytes_put_u64(bytes + 2, number);
    return slice_of(bytes, COLUMN_BYTES);
}

static Slice numbers(StoreClient *client, const uint64_t *values, size_t count)
{
    char *bytes = arena_bytes(client->arena, 8 * count);
    for (size_t i = 0; i < count; i++)
        bytes_put_u64(bytes + 8 * i, values[i]);
    return slice_of(bytes, 8 * count);
}

static Slice head_value(StoreClient *client, const BallotSave *save, uint64_t seq, uint64_t held)
{
    uint64_t values[] = {seq, save->version[0], save->version[1], (uint64_t)save->time_us, held};
    return numbers(client, values, HEAD_BYTES / 8);
}

static Slice line_value(StoreClient *client, uint64_t held, uint64_t withdrawn, uint64_t seq)
{
    uint64_t values[] = {held, withdrawn, seq};
    return numbers(client, values, LINE_BYTES / 8);
}

uint64_t store_preload_voter(void *state)
{
    StoreClient *client = state;
    BallotSave save;
    BenchKey key;
    arena_reset(client->arena);
    ballot_first(atomic_fetch_add(&client->bench->next, 1), &save);
    Change changes[BALLOT_CELLS + 1] = {
        {.column = BENCH_HEAD, .value = head_value(client, &save, 1, BALLOT_LINES)},
        {.column = column(client, 'z', 1), .value = slice_of(save.entry, BALLOT_ENTRY_BYTES)},
    };
    for (int line = 0; line < BALLOT_LINES; line++)
        changes[2 + line] = (Change){.column = column(client, 's', ballot_policy(save.voter, line)),
                                     .value = line_value(client, 1, 0, 1)};
    Condition absent = {.column = BENCH_HEAD, .absent = true};
    Update update = {.table = &BENCH_VOTERS,
                     .row = bench_key(save.voter, &key),
                     .conditions = &absent,
                     .condition_count = 1,
                     .changes = changes,
                     .change_count = BALLOT_CELLS + 1,
                     .proof = changes[1].column};
    expect(store_update_if(client->bench->store, &update, client->arena, NULL), "preload");
    return 1;
}

/* One save of ballot.h: the voter's row is read, then written if its head still stands. */
uint64_t store_save(void *state)
{
    StoreClient *client = state;
    Store *store = client->bench->store;
    BallotSave save;
    BenchKey key;
    Page page;
    arena_reset(client->arena);
    ballot_choose(&client->random, client->bench->voters, &save);
    Query query = {.table = &BENCH_VOTERS,
                   .row = bench_key(save.voter, &key),
                   .to = BENCH_LOG,
                   .limit = 100,
                   .mode = STORE_SERIAL};
    expect(store_slice(store, &query, client->arena, &page), "reading a voter");
    if (page.count != BALLOT_CELLS || page.cells[0].value.size != HEAD_BYTES)
        bench_fail("voter %llu has %zu cells", (unsigned long long)save.voter, page.count);
    Slice head = page.cells[0].value;
    uint64_t seq = bytes_get_u64(head.data) + 1, held = 0;
    for (size_t i = 1; i < page.count; i++)
        held += bytes_get_u64(page.cells[i].value.data);
    Change changes[2 + BALLOT_CHANGED] = {
        {.column = BENCH_HEAD, .value = head_value(client, &save, seq, held)},
        {.column = column(client, 'z', seq), .value = slice_of(save.entry, BALLOT_ENTRY_BYTES)},
    };
    for (int i = 0; i < BALLOT_CHANGED; i++) {
        const Cell *line = &page.cells[1 + save.lines[i]];
        uint64_t withdrawn = bytes_get_u64(line->value.data + 8);
        changes[2 + i] = (Change){.column = line->column,
                                  .value = line_value(client, save.held[i], withdrawn, seq)};
    }
    Condition unchanged = {.column = BENCH_HEAD, .value = head};
    Update update = {.table = &BENCH_VOTERS,
                     .row = query.row,
                     .conditions = &unchanged,
                     .condition_count = 1,
                     .changes = changes,
                     .change_count = 2 + BALLOT_CHANGED,
                     .proof = changes[1].column};
    Status status = store_update_if(store, &update, client->arena, NULL);
    if (status == STATUS_CONFLICT)
        return 0;
    expect(status, "saving");
    return 1;
}

/* ---- Plain tables ------------------------------------------------------------------------------------------ */

enum { TALLY_BATCH = 1000, PLAIN_BATCH = 4 };

static int64_t stamp_us(StoreClient *client)
{
    BallotSave save;
    ballot_choose(&client->random, 1, &save);
    return save.time_us;
}

uint64_t store_preload_tally(void *state)
{
    StoreClient *client = state;
    arena_reset(client->arena);
    uint64_t first = atomic_fetch_add(&client->bench->next, TALLY_BATCH);
    RowChange *changes = ARENA_ARRAY(client->arena, TALLY_BATCH, RowChange);
    int64_t now_us = stamp_us(client);
    for (size_t i = 0; i < TALLY_BATCH; i++) {
        uint64_t voter = first + i;
        changes[i] = (RowChange){.table = &BENCH_TALLY,
                                 .row = BENCH_TALLY_ROW,
                                 .change = {.column = numbers(client, &voter, 1),
                                            .value = line_value(client, voter % 100, 0, voter),
                                            .timestamp = now_us}};
    }
    Batch batch = {.changes = changes, .count = TALLY_BATCH, .lazy = true};
    expect(store_write(client->bench->store, &batch), "preload of the long row");
    return TALLY_BATCH;
}

static uint64_t write_batch(StoreClient *client, bool lazy)
{
    RowChange changes[PLAIN_BATCH];
    BenchKey key;
    arena_reset(client->arena);
    Slice row = bench_key(bench_random_below(&client->random, client->bench->voters), &key);
    int64_t now_us = stamp_us(client);
    for (uint64_t i = 0; i < PLAIN_BATCH; i++)
        changes[i] = (RowChange){.table = &BENCH_MARKS,
                                 .row = row,
                                 .change = {.column = column(client, 'm', i),
                                            .value = line_value(client, i, i, i),
                                            .timestamp = now_us}};
    Batch batch = {.changes = changes, .count = PLAIN_BATCH, .lazy = lazy};
    expect(store_write(client->bench->store, &batch), "a plain write");
    return 1;
}

uint64_t store_write_plain(void *state)
{
    return write_batch(state, false);
}

uint64_t store_write_lazy(void *state)
{
    return write_batch(state, true);
}
