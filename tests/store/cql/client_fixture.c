/* client_fixture.c -- see client_fixture.h. */
#include "client_fixture.h"

static CqlContact contact; /* of the last options; one test runs at a time */

CqlOptions client_fixture_options(const ScriptedCluster *cluster)
{
    contact = (CqlContact){"127.0.0.21", cluster->port};
    return (CqlOptions){.contacts = &contact,
                        .contact_count = 1,
                        .keyspace = "stage",
                        .request_ms = CLIENT_FIXTURE_REQUEST_MS,
                        .connect_ms = CLIENT_FIXTURE_CONNECT_MS,
                        .silence_ms = CLIENT_FIXTURE_SILENCE_MS,
                        .in_flight = 64,
                        .connections = 1,
                        .world = world_real()};
}

CqlClient *client_fixture_open(const ScriptedCluster *cluster)
{
    CqlOptions options = client_fixture_options(cluster);
    CqlClient *client = NULL;
    Reason reason = {.rule = ""};
    Status status = cql_open(&options, &client, &reason);
    if (status != STATUS_OK)
        test_fail(__FILE__, __LINE__, "cql_open: %s, %s", status_name(status), reason.rule);
    return client;
}

void client_fixture_expect_refused(const CqlOptions *options, Status status, const char *word)
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

CqlAnswer client_fixture_call(CqlClient *client, CqlKind kind, Arena *arena)
{
    return client_fixture_call_within(client, kind, 0, arena);
}

CqlAnswer client_fixture_call_within(CqlClient *client, CqlKind kind, int64_t request_ms,
                                     Arena *arena)
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

Slice client_fixture_host(const CqlAnswer *answer)
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

double client_fixture_metric(CqlClient *client, const char *name)
{
    Wanted wanted = {name, -1};
    cql_metrics(client, keep, &wanted);
    return wanted.value;
}

int64_t client_fixture_now_ms(void)
{
    return clock_steady_us(world_real().clock) / US_PER_MS;
}

ClientFixture *client_fixture_new(int servers)
{
    ClientFixture *fixture = calloc(1, sizeof *fixture);
    CHECK(fixture != NULL);
    fixture->arena = arena_new();
    scripted_cluster_start(&fixture->cluster, servers);
    fixture->client = client_fixture_open(&fixture->cluster);
    CLIENT_FIXTURE_SOON(client_fixture_metric(fixture->client, "cassandra_hosts_up") == servers);
    return fixture;
}

void client_fixture_end(ClientFixture *fixture)
{
    cql_close(fixture->client);
    scripted_cluster_stop(&fixture->cluster);
    arena_free(fixture->arena);
    free(fixture);
}

int client_fixture_executed(const ClientFixture *fixture)
{
    int count = 0;
    for (int i = 0; i < SCRIPTED_CLUSTER_MAX && fixture->cluster.servers[i] != NULL; i++)
        count += fixture->cluster.servers[i]->executed;
    return count;
}

void client_fixture_act(ClientFixture *fixture, Act act, int error)
{
    for (int i = 0; i < SCRIPTED_CLUSTER_MAX && fixture->cluster.servers[i] != NULL; i++) {
        fixture->cluster.servers[i]->error = error;
        fixture->cluster.servers[i]->act = act;
    }
}

Server *client_fixture_first_of_row(ClientFixture *fixture)
{
    CqlAnswer answer = client_fixture_call(fixture->client, CQL_CONDITIONAL, fixture->arena);
    Slice host = client_fixture_host(&answer);
    for (int i = 0; i < SCRIPTED_CLUSTER_MAX && fixture->cluster.servers[i] != NULL; i++)
        if (slice_equal(host, slice_from(fixture->cluster.servers[i]->address)))
            return fixture->cluster.servers[i];
    test_fail(__FILE__, __LINE__, "no server is at %.*s", SLICE_ARG(host));
}
