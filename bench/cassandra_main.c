/* cassandra_main.c -- our client for Cassandra, as a benchmark program: opens a client and obeys.
 *
 *     bench_cassandra HOST,HOST,HOST KEYSPACE CLIENTS
 * The peer (support/cassandra_peer.py) sends the same statements with as many in flight. Each client is a thread with rows of its own and one
 * request in flight; it knows what its rows hold, so that every answer is checked. The number of a command is milliseconds. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "bench.h"
#include "store/cql/client.h"

enum { ROWS = 100, CLIENTS_MOST = 1024, VALUE_SIZE = 100, HOSTS_MOST = 16 };

typedef struct CqlBench {
    CqlClient *client;
    const CqlStatement *write, *read, *update;
    int clients;
    uint64_t numbers[CLIENTS_MOST][ROWS]; /* of the conditional cells; 0: not written yet */
} CqlBench;

typedef struct BenchClient {
    CqlBench *bench;
    Arena *arena;
    int number;
    uint64_t at; /* the row whose turn it is */
} BenchClient;

/* ---- Requests ----------------------------------------------------------------------------------------------- */

static Slice value_of(uint64_t number, Arena *arena)
{
    char *bytes = arena_bytes(arena, VALUE_SIZE);
    memset(bytes, 'v', VALUE_SIZE);
    bytes_put_u64(bytes, number);
    return slice_of(bytes, VALUE_SIZE);
}

static Slice row_of(const BenchClient *client)
{
    return arena_print(client->arena, "ours/%d/%" PRIu64, client->number, client->at % ROWS);
}

static CqlAnswer ask(BenchClient *client, const CqlCall *form, const CqlPart *part, Slice row)
{
    CqlCall call = *form;
    CqlAnswer answer;
    call.parts = part;
    call.part_count = 1;
    call.routing_key = row;
    call.consistency = CQL_QUORUM;
    cql_run(client->bench->client, &call, 1, client->arena, &answer);
    if (answer.status != STATUS_OK)
        bench_fail("a request was answered %s: %s", status_name(answer.status), answer.words);
    return answer;
}

static uint64_t step_write(void *state)
{
    BenchClient *client = state;
    char timestamp[8];
    Slice row = row_of(client);
    client->at++;
    bytes_put_u64(timestamp, (uint64_t)bench_now_ns());
    CqlValue values[] = {cql_bytes(slice_of(timestamp, 8)),
                         cql_bytes(value_of(client->at, client->arena)), cql_bytes(row),
                         cql_bytes(SLICE("head"))};
    ask(client, &(CqlCall){.kind = CQL_WRITE}, &(CqlPart){client->bench->write, values, 4}, row);
    arena_reset(client->arena);
    return 1;
}

static uint64_t step_read(void *state)
{
    BenchClient *client = state;
    Slice row = row_of(client);
    CqlValue values[] = {cql_bytes(row), cql_bytes(SLICE("head"))};
    CqlAnswer answer =
        ask(client, &(CqlCall){.kind = CQL_READ}, &(CqlPart){client->bench->read, values, 2}, row);
    if (answer.rows.count != 1 || answer.rows.values[0].bytes.size != VALUE_SIZE)
        bench_fail("a cell that was written is not there");
    client->at++;
    arena_reset(client->arena);
    return 1;
}

static uint64_t step_update(void *state)
{
    BenchClient *client = state;
    uint64_t *number = &client->bench->numbers[client->number][client->at % ROWS];
    Slice row = row_of(client);
    CqlValue values[] = {
        cql_bytes(value_of(*number + 1, client->arena)), cql_bytes(row), cql_bytes(SLICE("head")),
        *number > 0 ? cql_bytes(value_of(*number, client->arena)) : (CqlValue){.kind = CQL_NULL}};
    CqlAnswer answer = ask(client, &(CqlCall){.kind = CQL_CONDITIONAL},
                           &(CqlPart){client->bench->update, values, 4}, row);
    if (answer.rows.count != 1 || answer.rows.values[0].bytes.data[0] != 1)
        bench_fail("an update whose condition was true was not applied");
    ++*number;
    client->at++;
    arena_reset(client->arena);
    return 1;
}

/* ---- Loads -------------------------------------------------------------------------------------------------- */

static void *client_begin(void *context, int number)
{
    BenchClient *client = calloc(1, sizeof *client);
    CHECK(client != NULL);
    *client = (BenchClient){.bench = context, .arena = arena_new(), .number = number};
    return client;
}

static void client_end(void *state)
{
    BenchClient *client = state;
    arena_free(client->arena);
    free(client);
}

static void run(CqlBench *bench, BenchLoad load, uint64_t (*step)(void *state))
{
    BenchResult result;
    load.clients = bench->clients;
    load.context = bench;
    load.begin = client_begin;
    load.step = step;
    load.end = client_end;
    bench_run(&load, &result);
    bench_print(&result);
}

/* Every row once, so that all can be read. */
static void fill(void *context, int64_t unused)
{
    (void)unused;
    CqlBench *bench = context;
    run(bench, (BenchLoad){.steps = (uint64_t)bench->clients * ROWS * 2}, step_write);
}

static void writes(void *context, int64_t ms)
{
    run(context, (BenchLoad){.duration_ms = ms}, step_write);
}

static void reads(void *context, int64_t ms)
{
    run(context, (BenchLoad){.duration_ms = ms}, step_read);
}

static void updates(void *context, int64_t ms)
{
    run(context, (BenchLoad){.duration_ms = ms}, step_update);
}

static const BenchCommand COMMANDS[] = {
    {"fill", fill}, {"writes", writes}, {"reads", reads}, {"updates", updates}, {NULL, NULL}};

/* ---- Opening ------------------------------------------------------------------------------------------------ */

static const CqlStatement *statement(CqlBench *bench, const char *before, const char *keyspace,
                                     const char *after)
{
    char text[256];
    snprintf(text, sizeof text, "%s %s%s", before, keyspace, after);
    return cql_statement(bench->client, text);
}

static void open_client(CqlBench *bench, char *hosts, const char *keyspace)
{
    CqlContact contacts[HOSTS_MOST];
    Reason reason = {0};
    CqlOptions options = {.contacts = contacts,
                          .keyspace = keyspace,
                          .request_ms = 10000,
                          .connect_ms = 5000,
                          .silence_ms = 5000,
                          .connections = 1,
                          .in_flight = 1000,
                          .world = world_real()};
    char *rest = NULL;
    for (char *host = strtok_r(hosts, ",", &rest);
         host != NULL && options.contact_count < HOSTS_MOST; host = strtok_r(NULL, ",", &rest))
        contacts[options.contact_count++] = (CqlContact){host, CQL_PORT};
    if (cql_open(&options, &bench->client, &reason) != STATUS_OK)
        bench_fail("the client does not open: %s", reason.rule);
    bench->write = statement(bench, "UPDATE", keyspace,
                             ".plain USING TIMESTAMP ? SET val = ? WHERE row = ? AND col = ?");
    bench->read = statement(bench, "SELECT val, writetime(val) FROM", keyspace,
                            ".plain WHERE row = ? AND col = ?");
    bench->update = statement(bench, "UPDATE", keyspace,
                              ".conditional SET val = ? WHERE row = ? AND col = ? IF val = ?");
}

int main(int count, char **words)
{
    static CqlBench bench;
    if (count != 4)
        bench_fail("usage: bench_cassandra HOST,HOST,HOST KEYSPACE CLIENTS");
    bench.clients = (int)strtol(words[3], NULL, 10);
    if (bench.clients < 1 || bench.clients > CLIENTS_MOST)
        bench_fail("1 to %d clients", CLIENTS_MOST);
    open_client(&bench, words[1], words[2]);
    bench_obey(COMMANDS, &bench);
    cql_close(bench.client);
    return 0;
}
