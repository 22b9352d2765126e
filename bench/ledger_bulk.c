/* ledger_bulk.c -- millions of voters, written as rows: what registration, the first save and its projection leave behind.
 *
 * For each voter: the account (without claims of its names), the row with head, three lines and one entry, the mark of
 * what is projected, and the voter's cell in the three policies' rows; at the end the sums and totals of all policies. Left out, because
 * no save reads them: hours and the history of policies. */
#include <stdlib.h>

#include "accounts/account_record.h"
#include "ledger_bench.h"
#include "votes/ledger.h"

enum { CHUNK = 50000, PART = 1000, CELLS_MAX = 256 };

static void expect(Status status, const char *what)
{
    if (status != STATUS_OK)
        bench_fail("%s: %s", what, status_name(status));
}

static Slice encoded(Buffer *buffer, Arena *arena)
{
    Slice copy = arena_copy(arena, buffer_slice(buffer));
    buffer_clear(buffer);
    return copy;
}

/* Bulk rows are new: nothing stands in this column. */
static const Condition NEW = {{"none", 4}, {"", 0}, true};

static Update update_of(const Table *table, Slice row, const Change *changes, size_t count)
{
    return (Update){.table = table,
                    .row = row,
                    .conditions = &NEW,
                    .condition_count = 1,
                    .changes = changes,
                    .change_count = count,
                    .lazy = true};
}

static void send(LedgerBench *bench, const Update *updates, size_t count, Arena *arena)
{
    Status *statuses = ARENA_ARRAY(arena, count, Status);
    expect(store_update_many(bench->store, updates, count, arena, statuses), "bulk");
    for (size_t i = 0; i < count; i++)
        expect(statuses[i], "bulk");
}

/* ---- Voters -------------------------------------------------------------------------------------------------- */

static Update account_of(const Vault *vault, uint64_t id, int64_t now_us, Arena *arena)
{
    World world = world_real();
    Slice name = arena_print(arena, "voter%llu", (unsigned long long)id);
    Slice email = arena_print(arena, "voter%llu@example.org", (unsigned long long)id);
    Change *change = ARENA_NEW(arena, Change);
    AccountRecord head = {.id = id_new(world.clock, world.random),
                          .version = 1,
                          .state = ACCOUNT_CONFIRMED,
                          .state_time_us = now_us,
                          .registered_us = now_us - LEDGER_REGISTERED_AGO_US,
                          .password_hash = SLICE_EMPTY,
                          .real_name = SLICE_EMPTY,
                          .labels = {{name, name}, {email, email}}};
    for (int kind = 0; kind < CLAIM_KINDS; kind++)
        head.claim_requests[kind].label = (Label){SLICE_EMPTY, SLICE_EMPTY};
    VaultCell cell = record_cell(vault, &TABLE_ACCOUNTS, ledger_u64(arena, id), SLICE("head"));
    *change = (Change){.column = SLICE("head"),
                       .value = record_encode(&ACCOUNT_RECORD, &head, &cell, arena)};
    return update_of(&TABLE_ACCOUNTS, ledger_u64(arena, id), change, 1);
}

static Update row_of(uint64_t id, const ElectorateSave *first, Id version, Buffer *buffer,
                     Arena *arena)
{
    int64_t now_us = clock_now_us(world_real().clock);
    Change *changes = ARENA_ARRAY(arena, 2 + ELECTORATE_LINES, Change);
    LedgerHead head = {
        .seq = 1, .version = version, .time_us = now_us, .day = count_day(now_us) - 1};
    Entry entry = {.seq = 1, .version = version, .time_us = now_us};
    entry.changes = ARENA_ARRAY(arena, ELECTORATE_LINES, EntryChange);
    entry.change_count = ELECTORATE_LINES;
    for (int i = 0; i < ELECTORATE_LINES; i++) {
        VoteLine line = {first->policies[i], first->held[i], 0};
        entry.changes[i] = (EntryChange){line.policy, 0, line.held, 0};
        head.held += line.held;
        ledger_put_line(buffer, &line, 1);
        changes[i] = (Change){.column = ledger_column(arena, 's', line.policy),
                              .value = encoded(buffer, arena)};
    }
    ledger_put_head(buffer, &head);
    changes[ELECTORATE_LINES] = (Change){.column = SLICE("head"), .value = encoded(buffer, arena)};
    ledger_put_entry(buffer, &entry);
    changes[ELECTORATE_LINES + 1] =
        (Change){.column = ledger_column(arena, 'z', 1), .value = encoded(buffer, arena)};
    return update_of(&TABLE_VOTERS, ledger_u64(arena, id), changes, 2 + ELECTORATE_LINES);
}

/* One voter's cell in one policy's row. */
typedef struct Item {
    uint64_t policy, voter;
    int64_t held;
} Item;

static void write_voters(LedgerClient *client, uint64_t first, size_t count, Item *items)
{
    LedgerBench *bench = client->bench;
    Arena *arena = client->arena;
    BUFFER_SCOPE Buffer buffer = {0};
    World world = world_real();
    int64_t now_us = clock_now_us(world.clock);
    Update *updates = ARENA_ARRAY(arena, 2 * count, Update);
    RowChange *projected = ARENA_ARRAY(arena, count, RowChange);
    for (size_t i = 0; i < count; i++) {
        uint64_t voter = first + i, id = bench->ids[voter] = voter + 1;
        Id version = id_new(world.clock, world.random);
        ElectorateSave save;
        electorate_first(bench->electorate, voter, &save);
        electorate_saved(bench->electorate, &save, version.bytes);
        updates[2 * i] = account_of(bench->vault, id, now_us, arena);
        updates[2 * i + 1] = row_of(id, &save, version, &buffer, arena);
        projected[i] =
            (RowChange){&TABLE_PROJECTED,
                        ledger_projected_row(arena, 0, id),
                        {.column = SLICE("seq"), .value = ledger_u64(arena, 1), .timestamp = 1}};
        for (int line = 0; line < ELECTORATE_LINES; line++)
            items[i * ELECTORATE_LINES + (size_t)line] =
                (Item){save.policies[line], id, save.held[line]};
    }
    send(bench, updates, 2 * count, arena);
    expect(store_write(bench->store, &(Batch){projected, count, true}), "bulk");
}

/* ---- Policies ------------------------------------------------------------------------------------------------ */

static int by_bucket(const void *a, const void *b)
{
    const Item *left = a, *right = b;
    if (left->policy != right->policy)
        return left->policy < right->policy ? -1 : 1;
    return (int)ledger_shard(left->voter) - (int)ledger_shard(right->voter);
}

/* The cells of the items from `start` on that belong to one bucket; returns where the next begins. */
static size_t add_bucket(LedgerClient *client, const Item *items, size_t start, size_t count,
                         Update *ret_update)
{
    Arena *arena = client->arena;
    size_t end = start;
    while (end < count && end - start < CELLS_MAX && by_bucket(&items[start], &items[end]) == 0)
        end++;
    BUFFER_SCOPE Buffer buffer = {0};
    uint8_t bucket = ledger_shard(items[start].voter);
    Change *changes = ARENA_ARRAY(arena, end - start, Change);
    int64_t held = 0;
    for (size_t i = start; i < end; i++) {
        held += items[i].held;
        ledger_put_taken(&buffer, &(Taken){items[i].held, 1});
        changes[i - start] = (Change){.column = ledger_column(arena, 'v', items[i].voter),
                                      .value = encoded(&buffer, arena)};
    }
    atomic_fetch_add(&client->bench->sums[items[start].policy * COUNT_BUCKETS + bucket], held);
    *ret_update =
        update_of(&TABLE_POLICY_VOTERS, ledger_count_row(arena, 0, items[start].policy, bucket),
                  changes, end - start);
    return end;
}

static void write_items(LedgerClient *client, Item *items, size_t count)
{
    Update updates[PART];
    size_t filled = 0;
    qsort(items, count, sizeof *items, by_bucket);
    for (size_t at = 0; at < count;) {
        at = add_bucket(client, items, at, count, &updates[filled++]);
        if (filled == PART || at == count) {
            send(client->bench, updates, filled, client->arena);
            filled = 0;
            arena_reset(client->arena);
        }
    }
}

/* A chunk of voters. */
uint64_t ledger_bulk_step(void *state)
{
    LedgerClient *client = state;
    uint64_t first = atomic_fetch_add(&client->bench->next, CHUNK);
    uint64_t end =
        first + CHUNK < client->bench->voter_count ? first + CHUNK : client->bench->voter_count;
    if (first >= end)
        return 0;
    Item *items = malloc((end - first) * ELECTORATE_LINES * sizeof *items);
    CHECK(items != NULL);
    for (uint64_t at = first; at < end; at += PART) {
        arena_reset(client->arena);
        write_voters(client, at, (size_t)(end - at < PART ? end - at : PART),
                     items + (at - first) * ELECTORATE_LINES);
    }
    write_items(client, items, (size_t)(end - first) * ELECTORATE_LINES);
    free(items);
    return end - first;
}

uint64_t ledger_bulk_steps(const LedgerBench *bench)
{
    return (bench->voter_count + CHUNK - 1) / CHUNK;
}

/* The buckets of one policy. */
static void write_sums(LedgerBench *bench, uint64_t policy, Arena *arena)
{
    BUFFER_SCOPE Buffer buffer = {0};
    Update updates[COUNT_BUCKETS];
    RowChange totals[COUNT_BUCKETS];
    Change changes[COUNT_BUCKETS];
    size_t count = 0;
    for (uint8_t bucket = 0; bucket < COUNT_BUCKETS; bucket++) {
        Sum sum = {.ver = 1, .count = {.day = count_day(clock_now_us(world_real().clock))}};
        sum.count.total = atomic_load(&bench->sums[policy * COUNT_BUCKETS + bucket]);
        if (sum.count.total == 0)
            continue;
        Slice row = ledger_count_row(arena, 0, policy, bucket);
        ledger_put_sum(&buffer, &sum);
        changes[count] = (Change){.column = SLICE("sum"), .value = encoded(&buffer, arena)};
        updates[count] = update_of(&TABLE_POLICY_VOTERS, row, &changes[count], 1);
        totals[count] = (RowChange){&TABLE_POLICY_TOTALS,
                                    ledger_totals_row(arena, 0, policy),
                                    {.column = slice_after(row, row.size - 1), /* the bucket */
                                     .value = changes[count].value,
                                     .timestamp = 1}};
        count++;
    }
    send(bench, updates, count, arena);
    expect(store_write(bench->store, &(Batch){totals, count, true}), "bulk");
}

void ledger_bulk_sums(LedgerBench *bench)
{
    ARENA_SCOPE Arena *arena = arena_new();
    for (uint64_t policy = 1; policy <= bench->policy_count; policy++) {
        write_sums(bench, policy, arena);
        arena_reset(arena);
    }
}
