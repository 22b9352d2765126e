/* client_test.c -- the client before nodes that misbehave: what is sent once, what is sent again, and what the caller is told. */
#include "stage.h"

#include <pthread.h>
#include <unistd.h>

/* A client and its town, and the end of both; a test that fails leaves them to the end of the program. */
typedef struct Stage {
    Town town;
    CqlClient *client;
    Arena *arena;
} Stage;

/* Towns outlive a test that failed in the middle, as their threads do. */
static Stage *stage_new(int servers)
{
    Stage *stage = calloc(1, sizeof *stage);
    CHECK(stage != NULL);
    stage->arena = arena_new();
    town_start(&stage->town, servers);
    stage->client = stage_open(&stage->town);
    STAGE_SOON(stage_metric(stage->client, "cassandra_hosts_up") == servers);
    return stage;
}

static void stage_end(Stage *stage)
{
    cql_close(stage->client);
    town_stop(&stage->town);
    arena_free(stage->arena);
    free(stage);
}

static int executed(const Stage *stage)
{
    int count = 0;
    for (int i = 0; i < TOWN_MOST && stage->town.servers[i] != NULL; i++)
        count += stage->town.servers[i]->executed;
    return count;
}

static void all_act(Stage *stage, Act act, int error)
{
    for (int i = 0; i < TOWN_MOST && stage->town.servers[i] != NULL; i++) {
        stage->town.servers[i]->error = error;
        stage->town.servers[i]->act = act;
    }
}

/* The server that conditional calls of the test's row go to. */
static Server *first_of_row(Stage *stage)
{
    CqlAnswer answer = stage_call(stage->client, CQL_CONDITIONAL, stage->arena);
    Slice host = stage_host(&answer);
    for (int i = 0; i < TOWN_MOST && stage->town.servers[i] != NULL; i++)
        if (slice_equal(host, slice_from(stage->town.servers[i]->address)))
            return stage->town.servers[i];
    test_fail(__FILE__, __LINE__, "no server is at %.*s", SLICE_ARG(host));
}

/* ---- Opening ----------------------------------------------------------------------------------------------- */

TEST(a_cluster_is_found_by_one_contact)
{
    Stage *stage = stage_new(3);
    const CqlHost *hosts;
    size_t count = cql_hosts(stage->client, stage->arena, &hosts);
    EXPECT_I64(count, 3);
    for (size_t i = 0; i < count; i++) {
        EXPECT(hosts[i].up);
        EXPECT_SLICE(slice_from(hosts[i].version), SLICE("5.0.8"));
        EXPECT_SLICE(slice_from(hosts[i].data_center), SLICE("dc1"));
    }
    CqlAnswer answer = stage_call(stage->client, CQL_READ, stage->arena);
    stage_host(&answer);
    stage_end(stage);
}

TEST(an_old_server_is_named_by_its_version)
{
    static Town town = {.version = "3.11.17", .old_tables = true};
    town_start(&town, 2);
    CqlClient *client = stage_open(&town);
    ARENA_SCOPE Arena *arena = arena_new();
    const CqlHost *hosts;
    EXPECT_I64(cql_hosts(client, arena, &hosts), 2);
    EXPECT_SLICE(slice_from(hosts[1].version), SLICE("3.11.17"));
    cql_close(client);
    town_stop(&town);
}

TEST(a_server_of_an_older_protocol_is_refused_by_name)
{
    static Town town = {.speaks_v3 = true};
    town_start(&town, 1);
    CqlOptions options = stage_options(&town);
    stage_expect_refused(&options, STATUS_INVALID, "speaks protocol v3");
    town_stop(&town);
}

TEST(a_password_is_asked_for_and_checked)
{
    static Town town = {.login = "/ann/secret"};
    town_start(&town, 2);
    CqlOptions options = stage_options(&town);
    stage_expect_refused(&options, STATUS_LOGIN, "asks for a user and a password");
    options.user = "ann";
    options.password = "wrong";
    stage_expect_refused(&options, STATUS_LOGIN, "password are incorrect");
    options.password = "secret";
    CqlClient *client;
    Reason reason = {.rule = ""};
    EXPECT_STATUS(cql_open(&options, &client, &reason), STATUS_OK);
    STAGE_SOON(stage_metric(client, "cassandra_hosts_up") == 2);
    cql_close(client);
    town_stop(&town);
}

TEST(a_host_that_cannot_be_reached_is_named)
{
    CqlContact contacts[] = {{"127.0.0.99", 1}, {"127.0.0.98", 1}};
    CqlOptions options = {.contacts = contacts, .contact_count = 2, .world = world_real()};
    stage_expect_refused(&options, STATUS_UNAVAILABLE, "127.0.0.98:1: Connection refused");
    contacts[1].host = contacts[0].host = "no-such-host.invalid";
    stage_expect_refused(&options, STATUS_UNAVAILABLE, "no-such-host.invalid");
}

TEST(a_contact_that_is_silent_is_given_up_in_time)
{
    static Town town;
    town_start(&town, 1);
    town.servers[0]->act = ACT_FREEZE;
    CqlOptions options = stage_options(&town);
    int64_t start_ms = stage_now_ms();
    stage_expect_refused(&options, STATUS_UNAVAILABLE, "no answer within 600 ms");
    EXPECT(stage_now_ms() - start_ms < 4 * STAGE_CONNECT_MS);
    town_stop(&town);
}

/* ---- Bytes ------------------------------------------------------------------------------------------------- */

TEST(answers_may_come_byte_by_byte)
{
    static Town town = {.piece = 1};
    town_start(&town, 2);
    CqlClient *client = stage_open(&town);
    ARENA_SCOPE Arena *arena = arena_new();
    for (int i = 0; i < 20; i++) {
        CqlAnswer answer = stage_call(client, CQL_READ, arena);
        EXPECT(stage_host(&answer).size > 0);
    }
    cql_close(client);
    town_stop(&town);
}

TEST(warnings_do_not_hide_the_answer)
{
    Stage *stage = stage_new(1);
    all_act(stage, ACT_WARN, 0);
    CqlAnswer answer = stage_call(stage->client, CQL_READ, stage->arena);
    EXPECT_SLICE(stage_host(&answer), SLICE("127.0.0.21"));
    stage_end(stage);
}

TEST(an_answer_that_is_too_long_is_passed_over)
{
    Stage *stage = stage_new(1);
    all_act(stage, ACT_LONG, 0);
    CqlAnswer answer = stage_call(stage->client, CQL_READ, stage->arena);
    EXPECT_STATUS(answer.status, STATUS_TOO_LARGE);
    all_act(stage, ACT_ANSWER, 0);
    answer = stage_call(stage->client, CQL_READ, stage->arena);
    stage_host(&answer);
    EXPECT_I64(stage->town.servers[0]->connections, 2); /* the same ones still */
    stage_end(stage);
}

TEST(a_request_that_is_too_long_is_not_sent)
{
    Stage *stage = stage_new(1);
    size_t size = 16 * 1024 * 1024;
    CqlValue value = cql_bytes(slice_of(ARENA_ARRAY(stage->arena, size, char), size));
    CqlPart part = {cql_statement(stage->client, "UPDATE"), &value, 1};
    CqlCall call = {.kind = CQL_WRITE, .parts = &part, .part_count = 1, .consistency = CQL_QUORUM};
    CqlAnswer answer;
    cql_run(stage->client, &call, 1, stage->arena, &answer);
    EXPECT_STATUS(answer.status, STATUS_TOO_LARGE);
    EXPECT_I64(executed(stage), 0);
    stage_end(stage);
}

TEST(nonsense_is_corrupt_for_a_read_and_unknown_for_a_write)
{
    static const Act ACTS[] = {ACT_NONSENSE, ACT_STRANGE_OPCODE};
    Stage *stage = stage_new(1);
    for (size_t i = 0; i < sizeof ACTS / sizeof ACTS[0]; i++) {
        all_act(stage, ACTS[i], 0);
        EXPECT_STATUS(stage_call(stage->client, CQL_READ, stage->arena).status, STATUS_CORRUPT);
        int before = executed(stage);
        EXPECT_STATUS(stage_call(stage->client, CQL_WRITE, stage->arena).status, STATUS_UNKNOWN);
        EXPECT_STATUS(stage_call(stage->client, CQL_CONDITIONAL, stage->arena).status,
                      STATUS_UNKNOWN);
        EXPECT_I64(executed(stage), before + 2);
    }
    stage_end(stage);
}

/* ---- Sent once, or again ----------------------------------------------------------------------------------- */

/* What ends a connection: the write is UNKNOWN and was sent once; the read is answered by another node. */
TEST(a_connection_that_breaks_leaves_writes_unknown_and_reads_answered)
{
    static const Act ACTS[] = {ACT_CLOSE, ACT_CLOSE_MIDWAY, ACT_STRANGE_STREAM, ACT_ENDLESS};
    for (size_t i = 0; i < sizeof ACTS / sizeof ACTS[0]; i++) {
        Stage *stage = stage_new(2);
        all_act(stage, ACTS[i], 0);
        EXPECT_STATUS(stage_call(stage->client, CQL_WRITE, stage->arena).status, STATUS_UNKNOWN);
        EXPECT_I64(executed(stage), 1);
        all_act(stage, ACT_ANSWER, 0);
        STAGE_SOON(stage_metric(stage->client, "cassandra_hosts_up") == 2);
        Server *first = first_of_row(stage);
        first->act = ACTS[i];
        for (int j = 0; j < 2; j++) { /* in turn, so one of them meets it */
            CqlAnswer answer = stage_call(stage->client, CQL_READ, stage->arena);
            EXPECT(!slice_equal(stage_host(&answer), slice_from(first->address)));
        }
        stage_end(stage);
    }
}

TEST(errors_that_may_come_after_the_deed_are_unknown_and_sent_once)
{
    static const int CODES[] = {0x0000, 0x1001, 0x1002, 0x1100, 0x1500, 0x1700};
    Stage *stage = stage_new(2);
    for (size_t i = 0; i < sizeof CODES / sizeof CODES[0]; i++)
        for (CqlKind kind = CQL_WRITE; kind <= CQL_CONDITIONAL; kind++) {
            int before = executed(stage);
            all_act(stage, ACT_ERROR, CODES[i]);
            CqlAnswer answer = stage_call(stage->client, kind, stage->arena);
            EXPECT_STATUS(answer.status, STATUS_UNKNOWN);
            EXPECT_I64(answer.error, CODES[i]);
            EXPECT(strstr(answer.words, "as told") != NULL);
            EXPECT_I64(executed(stage), before + 1);
        }
    stage_end(stage);
}

TEST(a_write_for_which_replicas_are_missing_is_tried_until_they_are_there)
{
    Stage *stage = stage_new(2);
    Server *first = first_of_row(stage);
    first->error = 0x1000;
    first->act = ACT_ERROR;
    for (int i = 0; i < 4; i++) {
        CqlAnswer answer = stage_call(stage->client, CQL_WRITE, stage->arena);
        EXPECT(!slice_equal(stage_host(&answer), slice_from(first->address)));
    }
    all_act(stage, ACT_ERROR, 0x1000);
    int64_t start_ms = stage_now_ms();
    CqlAnswer answer = stage_call(stage->client, CQL_WRITE, stage->arena);
    EXPECT_STATUS(answer.status, STATUS_UNAVAILABLE);
    EXPECT_I64(answer.error, 0x1000);
    EXPECT(stage_now_ms() - start_ms < STAGE_REQUEST_MS);
    int before = executed(stage);
    EXPECT_STATUS(stage_call(stage->client, CQL_CONDITIONAL, stage->arena).status, STATUS_UNKNOWN);
    EXPECT_I64(executed(stage), before + 1);
    stage_end(stage);
}

TEST(reads_go_to_the_next_node)
{
    static const int CODES[] = {0x0000, 0x1000, 0x1001, 0x1002, 0x1200, 0x1300};
    Stage *stage = stage_new(2);
    Server *first = first_of_row(stage);
    for (size_t i = 0; i < 2 * sizeof CODES / sizeof CODES[0]; i++) {
        first->error = CODES[i / 2];
        first->act = ACT_ERROR;
        CqlAnswer answer = stage_call(stage->client, CQL_READ, stage->arena);
        EXPECT(!slice_equal(stage_host(&answer), slice_from(first->address)));
    }
    stage_end(stage);
}

TEST(what_a_node_refuses_is_told_at_once)
{
    Stage *stage = stage_new(2);
    for (CqlKind kind = CQL_READ; kind <= CQL_CONDITIONAL; kind++) {
        int before = executed(stage);
        all_act(stage, ACT_ERROR, 0x2200);
        EXPECT_STATUS(stage_call(stage->client, kind, stage->arena).status, STATUS_INVALID);
        all_act(stage, ACT_ERROR, 0x2100);
        EXPECT_STATUS(stage_call(stage->client, kind, stage->arena).status, STATUS_DENIED);
        EXPECT_I64(executed(stage), before + 2);
    }
    stage_end(stage);
}

TEST(a_statement_that_a_node_forgot_is_prepared_again)
{
    Stage *stage = stage_new(1);
    Server *server = stage->town.servers[0];
    for (CqlKind kind = CQL_READ; kind <= CQL_CONDITIONAL; kind++) {
        CqlAnswer answer = stage_call(stage->client, kind, stage->arena);
        stage_host(&answer);
        int prepared = server->prepared, before = server->executed;
        server->act = ACT_FORGET;
        answer = stage_call(stage->client, kind, stage->arena);
        EXPECT_SLICE(stage_host(&answer), SLICE("127.0.0.21"));
        EXPECT_I64(server->prepared, prepared + 1);
        EXPECT_I64(server->executed, before + 2); /* refused, then done */
    }
    stage_end(stage);
}

/* Twelve megabytes do not fit into the buffers between us and a node that does not read. */
typedef struct LargeWrite {
    CqlClient *client;
    Arena *arena;
    int64_t request_ms;
    CqlAnswer answer;
} LargeWrite;

static void *write_much(void *context)
{
    LargeWrite *large = context;
    size_t size = 12 * 1024 * 1024;
    CqlValue value = cql_bytes(slice_of(ARENA_ARRAY(large->arena, size, char), size));
    CqlPart part = {cql_statement(large->client, "SELECT host FROM stage.table"), &value, 1};
    CqlCall call = {.kind = CQL_CONDITIONAL,
                    .parts = &part,
                    .part_count = 1,
                    .routing_key = SLICE("row"),
                    .consistency = CQL_QUORUM,
                    .request_ms = large->request_ms};
    cql_run(large->client, &call, 1, large->arena, &large->answer);
    return NULL;
}

/* A town of two whose client does not mind silence. */
static Stage *patient_stage(void)
{
    Stage *stage = calloc(1, sizeof *stage);
    CHECK(stage != NULL);
    stage->arena = arena_new();
    town_start(&stage->town, 2);
    CqlOptions options = stage_options(&stage->town);
    options.silence_ms = 60000;
    Reason reason;
    EXPECT_STATUS(cql_open(&options, &stage->client, &reason), STATUS_OK);
    STAGE_SOON(stage_metric(stage->client, "cassandra_hosts_up") == 2);
    return stage;
}

TEST(a_write_that_did_not_leave_whole_is_sent_to_another_node)
{
    Stage *stage = patient_stage();
    Server *first = first_of_row(stage);
    int before = executed(stage);
    first->act = ACT_FREEZE;
    LargeWrite large = {stage->client, stage->arena, .request_ms = 30000};
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, write_much, &large) == 0);
    usleep(300 * 1000);
    server_stop(first);
    CHECK(pthread_join(thread, NULL) == 0);
    EXPECT(!slice_equal(stage_host(&large.answer), slice_from(first->address)));
    EXPECT_I64(executed(stage), before + 1);
    stage_end(stage);
}

TEST(at_its_deadline_a_write_that_did_not_leave_whole_is_unknown)
{
    Stage *stage = patient_stage();
    Server *first = first_of_row(stage);
    int before = executed(stage);
    first->act = ACT_FREEZE;
    LargeWrite large = {stage->client, stage->arena, .request_ms = 1000};
    write_much(&large);
    EXPECT_STATUS(large.answer.status, STATUS_UNKNOWN); /* it is on its way and may arrive yet */
    EXPECT_I64(executed(stage), before);
    first->act = ACT_ANSWER;
    STAGE_SOON(executed(stage) == before + 1);
    stage_end(stage);
}

/* ---- Silence and deadlines --------------------------------------------------------------------------------- */

TEST(a_node_that_falls_silent_is_left_alone_until_it_speaks)
{
    Stage *stage = stage_new(2);
    Server *first = first_of_row(stage);
    int before = executed(stage);
    first->act = ACT_FREEZE;
    int64_t start_ms = stage_now_ms();
    CqlAnswer answer = stage_call(stage->client, CQL_CONDITIONAL, stage->arena);
    int64_t took_ms = stage_now_ms() - start_ms;
    EXPECT_STATUS(answer.status, STATUS_UNKNOWN);
    EXPECT(took_ms >= STAGE_SILENCE_MS - 20 && took_ms < STAGE_REQUEST_MS);
    for (int i = 0; i < 10; i++) {
        answer = stage_call(stage->client, CQL_CONDITIONAL, stage->arena);
        EXPECT(!slice_equal(stage_host(&answer), slice_from(first->address)));
    }
    first->act = ACT_ANSWER;
    STAGE_SOON(stage_metric(stage->client, "cassandra_hosts_up") == 2);
    EXPECT(first_of_row(stage) == first);
    EXPECT_I64(executed(stage), before + 12);
    stage_end(stage);
}

TEST(reads_of_a_silent_node_are_answered_by_another)
{
    Stage *stage = stage_new(2);
    Server *first = first_of_row(stage);
    first->act = ACT_FREEZE;
    for (int i = 0; i < 4; i++) {
        CqlAnswer answer = stage_call(stage->client, CQL_READ, stage->arena);
        EXPECT(!slice_equal(stage_host(&answer), slice_from(first->address)));
    }
    first->act = ACT_ANSWER;
    stage_end(stage);
}

TEST(a_node_that_lives_and_does_not_answer_is_waited_for_to_the_deadline)
{
    Stage *stage = stage_new(1);
    all_act(stage, ACT_KEEP, 0);
    static const Status STATUSES[] = {STATUS_UNAVAILABLE, STATUS_UNKNOWN, STATUS_UNKNOWN};
    for (CqlKind kind = CQL_READ; kind <= CQL_CONDITIONAL; kind++) {
        int before = executed(stage);
        int64_t start_ms = stage_now_ms();
        CqlAnswer answer = stage_call(stage->client, kind, stage->arena);
        int64_t took_ms = stage_now_ms() - start_ms;
        EXPECT_STATUS(answer.status, STATUSES[kind]);
        EXPECT(took_ms >= STAGE_REQUEST_MS - 20 && took_ms < STAGE_REQUEST_MS + 1000);
        EXPECT_I64(executed(stage), before + 1);
    }
    EXPECT(stage->town.servers[0]->probed > 0);
    EXPECT_I64(stage_metric(stage->client, "cassandra_silences"), 0);
    stage_end(stage);
}

TEST(without_any_node_a_call_ends_before_its_deadline)
{
    Stage *stage = stage_new(2);
    server_stop(stage->town.servers[0]);
    server_stop(stage->town.servers[1]);
    STAGE_SOON(stage_metric(stage->client, "cassandra_hosts_up") == 0);
    for (CqlKind kind = CQL_READ; kind <= CQL_CONDITIONAL; kind++) {
        int64_t start_ms = stage_now_ms();
        CqlAnswer answer = stage_call(stage->client, kind, stage->arena);
        EXPECT_STATUS(answer.status, STATUS_UNAVAILABLE);
        EXPECT(stage_now_ms() - start_ms < STAGE_REQUEST_MS);
    }
    server_start(stage->town.servers[0]);
    server_start(stage->town.servers[1]);
    STAGE_SOON(stage_metric(stage->client, "cassandra_hosts_up") == 2);
    CqlAnswer answer = stage_call(stage->client, CQL_WRITE, stage->arena);
    stage_host(&answer);
    stage_end(stage);
}

/* ---- The cluster ------------------------------------------------------------------------------------------- */

TEST(conditional_calls_of_a_row_meet_and_others_take_turns)
{
    Stage *stage = stage_new(3);
    Server *first = first_of_row(stage);
    int before = first->executed;
    for (int i = 0; i < 12; i++)
        EXPECT(first_of_row(stage) == first);
    EXPECT_I64(first->executed, before + 12);
    for (int i = 0; i < 12; i++) {
        CqlAnswer answer = stage_call(stage->client, CQL_READ, stage->arena);
        stage_host(&answer);
    }
    /* Two of the three hold the row, and each gets half. */
    EXPECT_I64(first->executed, before + 18);
    stage_end(stage);
}

TEST(a_call_for_one_node_goes_there_or_nowhere)
{
    Stage *stage = stage_new(2);
    CqlCall call = {.kind = CQL_READ,
                    .text = "SELECT host FROM stage.table",
                    .only = "127.0.0.22",
                    .consistency = CQL_ONE};
    CqlAnswer answer;
    for (int i = 0; i < 4; i++) {
        cql_run(stage->client, &call, 1, stage->arena, &answer);
        EXPECT_SLICE(stage_host(&answer), SLICE("127.0.0.22"));
    }
    server_stop(stage->town.servers[1]);
    cql_run(stage->client, &call, 1, stage->arena, &answer);
    EXPECT_STATUS(answer.status, STATUS_UNAVAILABLE);
    stage_end(stage);
}

TEST(a_node_that_joins_is_told_of_and_used)
{
    static Town town = {.listed = 2};
    town_start(&town, 3);
    CqlClient *client = stage_open(&town);
    ARENA_SCOPE Arena *arena = arena_new();
    const CqlHost *hosts;
    EXPECT_I64(cql_hosts(client, arena, &hosts), 2);
    town.listed = 3;
    town_tell(&town);
    STAGE_SOON(cql_hosts(client, arena, &hosts) == 3);
    STAGE_SOON(stage_metric(client, "cassandra_hosts_up") == 3);
    cql_close(client);
    town_stop(&town);
}

TEST(when_the_contact_is_gone_another_node_tells_of_the_cluster)
{
    static Town town = {.listed = 2};
    town_start(&town, 3);
    CqlClient *client = stage_open(&town);
    ARENA_SCOPE Arena *arena = arena_new();
    const CqlHost *hosts;
    STAGE_SOON(stage_metric(client, "cassandra_hosts_up") == 2);
    double refreshes = stage_metric(client, "cassandra_refreshes");
    server_stop(town.servers[0]);
    STAGE_SOON(stage_metric(client, "cassandra_refreshes") > refreshes);
    town.listed = 3;
    town_tell(&town);
    STAGE_SOON(cql_hosts(client, arena, &hosts) == 3);
    cql_close(client);
    town_stop(&town);
}

/* ---- Many -------------------------------------------------------------------------------------------------- */

TEST(more_calls_than_may_be_in_flight_wait_their_turn)
{
    enum { CALLS = 500 };
    static Town town;
    town_start(&town, 2);
    CqlOptions options = stage_options(&town);
    options.in_flight = 3;
    CqlClient *client;
    Reason reason;
    EXPECT_STATUS(cql_open(&options, &client, &reason), STATUS_OK);
    STAGE_SOON(stage_metric(client, "cassandra_hosts_up") == 2);
    ARENA_SCOPE Arena *arena = arena_new();
    static CqlCall calls[CALLS];
    static size_t keys[CALLS];
    static CqlAnswer answers[CALLS];
    CqlPart parts[2] = {{.statement = cql_statement(client, "UPDATE one")},
                        {.statement = cql_statement(client, "UPDATE two")}};
    for (size_t i = 0; i < CALLS; i++) {
        keys[i] = i;
        calls[i] = (CqlCall){.kind = CQL_WRITE,
                             .parts = parts,
                             .part_count = 2,
                             .routing_key = slice_of(&keys[i], sizeof keys[i]),
                             .consistency = CQL_QUORUM};
    }
    cql_run(client, calls, CALLS, arena, answers);
    for (size_t i = 0; i < CALLS; i++)
        EXPECT_STATUS(answers[i].status, STATUS_OK);
    EXPECT_I64(town.servers[0]->executed + town.servers[1]->executed, CALLS);
    cql_close(client);
    town_stop(&town);
}
