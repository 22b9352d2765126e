/* cassandra_main.c -- our client for Cassandra, as a benchmark program: opens a client and obeys.
 *
 *     bench_cassandra HOST,HOST,HOST KEYSPACE IN_FLIGHT AT_ONCE
 * The peer (support/cassandra_peer.py) sends the same statements with as many in flight. IN_FLIGHT / AT_ONCE threads ask AT_ONCE requests by
 * each call of the client; each of these places has rows of its own and knows what they hold, so that every answer is checked. The number of a
 * command is milliseconds. Times are those of a call, until its last answer. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "bench.h"
#include "store/cql/client.h"

enum { ROWS = 100, IN_FLIGHT_MAX = 1024, VALUE_SIZE = 100, HOSTS_MAX = 16, VALUES_MAX = 4 };

typedef struct CqlBench {
    CqlClient *client;
    const CqlStatement *write, *read, *update;
    int in_flight, at_once;
    uint64_t numbers[IN_FLIGHT_MAX][ROWS]; /* of the conditional cells; 0: not written yet */
} CqlBench;

typedef struct BenchClient {
    CqlBench *bench;
    Arena *arena;
    int first;   /* of its places */
    uint64_t at; /* the row whose turn it is */
} BenchClient;

/* ---- Requests ----------------------------------------------------------------------------------------------- */

/* What is asked, and what the answer must be. */
typedef struct Question {
    CqlKind kind;
    const CqlStatement *(*statement)(const CqlBench *bench);
    size_t (*bind)(BenchClient *client, int place, Slice row, CqlValue *values);
    void (*look)(BenchClient *client, int place, const CqlRows *rows);
} Question;

static Slice value_of(uint64_t number, Arena *arena)
{
    char *bytes = arena_bytes(arena, VALUE_SIZE);
    memset(bytes, 'v', VALUE_SIZE);
    bytes_put_u64(bytes, number);
    return slice_of(bytes, VALUE_SIZE);
}

static CqlCall call_of(BenchClient *client, const Question *question, int place)
{
    Arena *arena = client->arena;
    Slice row =
        arena_print(arena, "ours-%d/%d/%" PRIu64, client->bench->at_once, place, client->at % ROWS);
    CqlValue *values = ARENA_ARRAY(arena, VALUES_MAX, CqlValue);
    CqlPart *part = ARENA_ARRAY(arena, 1, CqlPart);
    *part = (CqlPart){question->statement(client->bench), values,
                      question->bind(client, place, row, values)};
    return (CqlCall){.kind = question->kind,
                     .parts = part,
                     .part_count = 1,
                     .routing_key = row,
                     .consistency = CQL_QUORUM};
}

static uint64_t ask(BenchClient *client, const Question *question)
{
    int count = client->bench->at_once;
    CqlCall *calls = ARENA_ARRAY(client->arena, (size_t)count, CqlCall);
    CqlAnswer *answers = ARENA_ARRAY(client->arena, (size_t)count, CqlAnswer);
    for (int i = 0; i < count; i++)
        calls[i] = call_of(client, question, client->first + i);
    cql_run(client->bench->client, calls, (size_t)count, client->arena, answers);
    for (int i = 0; i < count; i++) {
        if (answers[i].status != STATUS_OK)
            bench_fail("a request was answered %s: %s", status_name(answers[i].status),
                       answers[i].words);
        question->look(client, client->first + i, &answers[i].rows);
    }
    client->at++;
    arena_reset(client->arena);
    return (uint64_t)count;
}

static const CqlStatement *write_statement(const CqlBench *bench)
{
    return bench->write;
}

static size_t bind_write(BenchClient *client, int place, Slice row, CqlValue *values)
{
    char *timestamp = arena_bytes(client->arena, 8);
    (void)place;
    bytes_put_u64(timestamp, (uint64_t)bench_now_ns());
    values[0] = cql_bytes(slice_of(timestamp, 8));
    values[1] = cql_bytes(value_of(client->at, client->arena));
    values[2] = cql_bytes(row);
    values[3] = cql_bytes(SLICE("head"));
    return 4;
}

static void look_at_write(BenchClient *client, int place, const CqlRows *rows)
{
    (void)client, (void)place, (void)rows;
}

static const CqlStatement *read_statement(const CqlBench *bench)
{
    return bench->read;
}

static size_t bind_read(BenchClient *client, int place, Slice row, CqlValue *values)
{
    (void)client, (void)place;
    values[0] = cql_bytes(row);
    values[1] = cql_bytes(SLICE("head"));
    return 2;
}

static void look_at_read(BenchClient *client, int place, const CqlRows *rows)
{
    (void)client, (void)place;
    if (rows->count != 1 || rows->values[0].bytes.size != VALUE_SIZE)
        bench_fail("a cell that was written is not there");
}

static const CqlStatement *update_statement(const CqlBench *bench)
{
    return bench->update;
}

static uint64_t *number_of(BenchClient *client, int place)
{
    return &client->bench->numbers[place][client->at % ROWS];
}

static size_t bind_update(BenchClient *client, int place, Slice row, CqlValue *values)
{
    uint64_t number = *number_of(client, place);
    values[0] = cql_bytes(value_of(number + 1, client->arena));
    values[1] = cql_bytes(row);
    values[2] = cql_bytes(SLICE("head"));
    values[3] =
        number > 0 ? cql_bytes(value_of(number, client->arena)) : (CqlValue){.kind = CQL_NULL};
    return 4;
}

static void look_at_update(BenchClient *client, int place, const CqlRows *rows)
{
    if (rows->count != 1 || rows->values[0].bytes.data[0] != 1)
        bench_fail("an update whose condition was true was not applied");
    ++*number_of(client, place);
}

static uint64_t step_write(void *state)
{
    return ask(state, &(Question){CQL_WRITE, write_statement, bind_write, look_at_write});
}

static uint64_t step_read(void *state)
{
    return ask(state, &(Question){CQL_READ, read_statement, bind_read, look_at_read});
}

static uint64_t step_update(void *state)
{
    return ask(state, &(Question){CQL_CONDITIONAL, update_statement, bind_update, look_at_update});
}

/* ---- Loads -------------------------------------------------------------------------------------------------- */

static void *client_begin(void *context, int number)
{
    CqlBench *bench = context;
    BenchClient *client = calloc(1, sizeof *client);
    CHECK(client != NULL);
    *client = (BenchClient){.bench = bench, .arena = arena_new(), .first = number * bench->at_once};
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
    load.clients = bench->in_flight / bench->at_once;
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
    run(bench, (BenchLoad){.steps = (uint64_t)(bench->in_flight / bench->at_once) * ROWS * 2},
        step_write);
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
    CqlContact contacts[HOSTS_MAX];
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
         host != NULL && options.contact_count < HOSTS_MAX; host = strtok_r(NULL, ",", &rest))
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
    if (count != 5)
        bench_fail("usage: bench_cassandra HOST,HOST,HOST KEYSPACE IN_FLIGHT AT_ONCE");
    bench.in_flight = (int)strtol(words[3], NULL, 10);
    bench.at_once = (int)strtol(words[4], NULL, 10);
    if (bench.at_once < 1 || bench.in_flight < bench.at_once || bench.in_flight > IN_FLIGHT_MAX)
        bench_fail("1 to %d in flight, and no more at once", IN_FLIGHT_MAX);
    open_client(&bench, words[1], words[2]);
    bench_obey(COMMANDS, &bench);
    cql_close(bench.client);
    return 0;
}
