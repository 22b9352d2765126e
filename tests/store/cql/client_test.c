/* client_test.c -- the client before nodes that misbehave: what is sent once, what is sent again, and what the caller is told. */
#include "stage.h"

#include <pthread.h>
#include <unistd.h>

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
    stage_expect_refused(&options, STATUS_UNAVAILABLE, "no answer within 2500 ms");
    EXPECT(stage_now_ms() - start_ms < 3 * STAGE_CONNECT_MS);
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
    stage_act(stage, ACT_WARN, 0);
    CqlAnswer answer = stage_call(stage->client, CQL_READ, stage->arena);
    EXPECT_SLICE(stage_host(&answer), SLICE("127.0.0.21"));
    stage_end(stage);
}

TEST(an_answer_that_is_too_long_is_passed_over)
{
    Stage *stage = stage_new(1);
    stage_act(stage, ACT_LONG, 0);
    CqlAnswer answer = stage_call(stage->client, CQL_READ, stage->arena);
    EXPECT_STATUS(answer.status, STATUS_TOO_LARGE);
    stage_act(stage, ACT_ANSWER, 0);
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
    EXPECT_I64(stage_executed(stage), 0);
    stage_end(stage);
}

TEST(nonsense_is_corrupt_for_a_read_and_unknown_for_a_write)
{
    static const Act ACTS[] = {ACT_NONSENSE, ACT_STRANGE_OPCODE};
    Stage *stage = stage_new(1);
    for (size_t i = 0; i < sizeof ACTS / sizeof ACTS[0]; i++) {
        stage_act(stage, ACTS[i], 0);
        EXPECT_STATUS(stage_call(stage->client, CQL_READ, stage->arena).status, STATUS_CORRUPT);
        int before = stage_executed(stage);
        EXPECT_STATUS(stage_call(stage->client, CQL_WRITE, stage->arena).status, STATUS_UNKNOWN);
        EXPECT_STATUS(stage_call(stage->client, CQL_CONDITIONAL, stage->arena).status,
                      STATUS_UNKNOWN);
        EXPECT_I64(stage_executed(stage), before + 2);
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
        stage_act(stage, ACTS[i], 0);
        EXPECT_STATUS(stage_call(stage->client, CQL_WRITE, stage->arena).status, STATUS_UNKNOWN);
        EXPECT_I64(stage_executed(stage), 1);
        stage_act(stage, ACT_ANSWER, 0);
        STAGE_SOON(stage_metric(stage->client, "cassandra_hosts_up") == 2);
        Server *first = stage_first_of_row(stage);
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
            int before = stage_executed(stage);
            stage_act(stage, ACT_ERROR, CODES[i]);
            CqlAnswer answer = stage_call(stage->client, kind, stage->arena);
            EXPECT_STATUS(answer.status, STATUS_UNKNOWN);
            EXPECT_I64(answer.error, CODES[i]);
            EXPECT(strstr(answer.words, "as told") != NULL);
            EXPECT_I64(stage_executed(stage), before + 1);
        }
    stage_end(stage);
}

TEST(a_write_for_which_replicas_are_missing_is_tried_until_they_are_there)
{
    Stage *stage = stage_new(2);
    Server *first = stage_first_of_row(stage);
    first->error = 0x1000;
    first->act = ACT_ERROR;
    for (int i = 0; i < 4; i++) {
        CqlAnswer answer = stage_call(stage->client, CQL_WRITE, stage->arena);
        EXPECT(!slice_equal(stage_host(&answer), slice_from(first->address)));
    }
    stage_act(stage, ACT_ERROR, 0x1000);
    int64_t start_ms = stage_now_ms();
    CqlAnswer answer = stage_call_within(stage->client, CQL_WRITE, 4000, stage->arena);
    EXPECT_STATUS(answer.status, STATUS_UNAVAILABLE);
    EXPECT_I64(answer.error, 0x1000);
    EXPECT(stage_now_ms() - start_ms < 4000);
    int before = stage_executed(stage);
    EXPECT_STATUS(stage_call(stage->client, CQL_CONDITIONAL, stage->arena).status, STATUS_UNKNOWN);
    EXPECT_I64(stage_executed(stage), before + 1);
    stage_end(stage);
}

TEST(reads_go_to_the_next_node)
{
    static const int CODES[] = {0x0000, 0x1000, 0x1001, 0x1002, 0x1200, 0x1300};
    Stage *stage = stage_new(2);
    Server *first = stage_first_of_row(stage);
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
        int before = stage_executed(stage);
        stage_act(stage, ACT_ERROR, 0x2200);
        EXPECT_STATUS(stage_call(stage->client, kind, stage->arena).status, STATUS_INVALID);
        stage_act(stage, ACT_ERROR, 0x2100);
        EXPECT_STATUS(stage_call(stage->client, kind, stage->arena).status, STATUS_DENIED);
        EXPECT_I64(stage_executed(stage), before + 2);
    }
    stage_end(stage);
}

TEST(a_node_that_does_not_know_a_table_yet_is_passed_over)
{
    Stage *stage = stage_new(2);
    stage->town.servers[0]->ignorant = true;
    for (CqlKind kind = CQL_READ; kind <= CQL_CONDITIONAL; kind++)
        for (int i = 0; i < 2; i++) {
            CqlAnswer answer = stage_call(stage->client, kind, stage->arena);
            EXPECT_SLICE(stage_host(&answer), SLICE("127.0.0.22"));
        }
    stage->town.servers[0]->ignorant = false;
    CqlAnswer first = stage_call(stage->client, CQL_READ, stage->arena);
    CqlAnswer second = stage_call(stage->client, CQL_READ, stage->arena);
    EXPECT(!slice_equal(stage_host(&first), stage_host(&second)));
    stage_end(stage);
}

TEST(a_table_that_no_node_knows_is_told_at_once)
{
    Stage *stage = stage_new(2);
    stage->town.servers[0]->ignorant = stage->town.servers[1]->ignorant = true;
    for (CqlKind kind = CQL_READ; kind <= CQL_CONDITIONAL; kind++) {
        CqlAnswer answer = stage_call(stage->client, kind, stage->arena);
        EXPECT_STATUS(answer.status, STATUS_INVALID);
        EXPECT_I64(answer.error, 0x2200);
        EXPECT(strstr(answer.words, "unconfigured table") != NULL);
    }
    EXPECT_I64(stage_executed(stage), 0);
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
    Server *first = stage_first_of_row(stage);
    int before = stage_executed(stage);
    first->act = ACT_FREEZE;
    LargeWrite large = {stage->client, stage->arena, .request_ms = 30000};
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, write_much, &large) == 0);
    usleep(300 * 1000);
    server_stop(first);
    CHECK(pthread_join(thread, NULL) == 0);
    EXPECT(!slice_equal(stage_host(&large.answer), slice_from(first->address)));
    EXPECT_I64(stage_executed(stage), before + 1);
    stage_end(stage);
}

TEST(at_its_deadline_a_write_that_did_not_leave_whole_is_unknown)
{
    Stage *stage = patient_stage();
    Server *first = stage_first_of_row(stage);
    int before = stage_executed(stage);
    first->act = ACT_FREEZE;
    LargeWrite large = {stage->client, stage->arena, .request_ms = 1000};
    write_much(&large);
    EXPECT_STATUS(large.answer.status, STATUS_UNKNOWN); /* it is on its way and may arrive yet */
    EXPECT_I64(stage_executed(stage), before);
    first->act = ACT_ANSWER;
    STAGE_SOON(stage_executed(stage) == before + 1);
    stage_end(stage);
}
