/* stage.c -- see stage.h. */
#include "stage.h"

static CqlContact contact; /* of the last options; one test runs at a time */

CqlOptions stage_options(const Town *town)
{
    contact = (CqlContact){"127.0.0.21", town->port};
    return (CqlOptions){.contacts = &contact,
                        .contact_count = 1,
                        .keyspace = "stage",
                        .request_ms = STAGE_REQUEST_MS,
                        .connect_ms = STAGE_CONNECT_MS,
                        .silence_ms = STAGE_SILENCE_MS,
                        .in_flight = 64,
                        .connections = 1,
                        .world = world_real()};
}

CqlClient *stage_open(const Town *town)
{
    CqlOptions options = stage_options(town);
    CqlClient *client = NULL;
    Reason reason = {.rule = ""};
    Status status = cql_open(&options, &client, &reason);
    if (status != STATUS_OK)
        test_fail(__FILE__, __LINE__, "cql_open: %s, %s", status_name(status), reason.rule);
    return client;
}

void stage_expect_refused(const CqlOptions *options, Status status, const char *word)
{
    CqlClient *client = NULL;
    Reason reason = {.rule = ""};
    Status found = cql_open(options, &client, &reason);
    printf("# %s: %s\n", status_name(found), reason.rule);
    if (found == STATUS_OK)
        cql_close(client);
    EXPECT_STATUS(found, status);
    EXPECT(strstr(reason.rule, word) != NULL);
}

CqlAnswer stage_call(CqlClient *client, CqlKind kind, Arena *arena)
{
    return stage_call_within(client, kind, 0, arena);
}

CqlAnswer stage_call_within(CqlClient *client, CqlKind kind, int64_t request_ms, Arena *arena)
{
    CqlPart part = {.statement = cql_statement(client, "SELECT host FROM stage.table")};
    CqlCall call = {.kind = kind,
                    .parts = &part,
                    .part_count = 1,
                    .routing_key = SLICE("row"),
                    .consistency = CQL_QUORUM,
                    .request_ms = request_ms};
    CqlAnswer answer;
    cql_run(client, &call, 1, arena, &answer);
    return answer;
}

Slice stage_host(const CqlAnswer *answer)
{
    EXPECT_STATUS(answer->status, STATUS_OK);
    EXPECT(answer->rows.count == 1 && cql_column(&answer->rows, "host") == 0);
    return answer->rows.values[0].bytes;
}

typedef struct Wanted {
    const char *name;
    double value;
} Wanted;

static void keep(void *context, const char *name, const char *help, bool counter, double value)
{
    Wanted *wanted = context;
    (void)help, (void)counter;
    if (strcmp(name, wanted->name) == 0)
        wanted->value = value;
}

double stage_metric(CqlClient *client, const char *name)
{
    Wanted wanted = {name, -1};
    cql_metrics(client, keep, &wanted);
    return wanted.value;
}

int64_t stage_now_ms(void)
{
    return clock_steady_us(world_real().clock) / US_PER_MS;
}

Stage *stage_new(int servers)
{
    Stage *stage = calloc(1, sizeof *stage);
    CHECK(stage != NULL);
    stage->arena = arena_new();
    town_start(&stage->town, servers);
    stage->client = stage_open(&stage->town);
    STAGE_SOON(stage_metric(stage->client, "cassandra_hosts_up") == servers);
    return stage;
}

void stage_end(Stage *stage)
{
    cql_close(stage->client);
    town_stop(&stage->town);
    arena_free(stage->arena);
    free(stage);
}

int stage_executed(const Stage *stage)
{
    int count = 0;
    for (int i = 0; i < TOWN_MOST && stage->town.servers[i] != NULL; i++)
        count += stage->town.servers[i]->executed;
    return count;
}

void stage_act(Stage *stage, Act act, int error)
{
    for (int i = 0; i < TOWN_MOST && stage->town.servers[i] != NULL; i++) {
        stage->town.servers[i]->error = error;
        stage->town.servers[i]->act = act;
    }
}

Server *stage_first_of_row(Stage *stage)
{
    CqlAnswer answer = stage_call(stage->client, CQL_CONDITIONAL, stage->arena);
    Slice host = stage_host(&answer);
    for (int i = 0; i < TOWN_MOST && stage->town.servers[i] != NULL; i++)
        if (slice_equal(host, slice_from(stage->town.servers[i]->address)))
            return stage->town.servers[i];
    test_fail(__FILE__, __LINE__, "no server is at %.*s", SLICE_ARG(host));
}
