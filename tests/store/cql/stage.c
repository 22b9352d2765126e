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
    CqlPart part = {.statement = cql_statement(client, "SELECT host FROM stage.table")};
    CqlCall call = {.kind = kind,
                    .parts = &part,
                    .part_count = 1,
                    .routing_key = SLICE("row"),
                    .consistency = CQL_QUORUM};
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
