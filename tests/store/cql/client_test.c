/* client_test.c -- the client before nodes that misbehave: what is sent once, what is sent again, and what the caller is told. */
#include "client_fixture.h"

#include <pthread.h>
#include <unistd.h>

/* ---- Opening ----------------------------------------------------------------------------------------------- */

TEST(a_cluster_is_found_by_one_contact)
{
    ClientFixture *fixture = client_fixture_new(3);
    const CqlHost *hosts;
    size_t count = cql_hosts(fixture->client, fixture->arena, &hosts);
    EXPECT_I64(count, 3);
    for (size_t i = 0; i < count; i++) {
        EXPECT(hosts[i].up);
        EXPECT_SLICE(slice_from(hosts[i].version), SLICE("5.0.8"));
        EXPECT_SLICE(slice_from(hosts[i].data_center), SLICE("dc1"));
    }
    CqlAnswer answer = client_fixture_call(fixture->client, CQL_READ, fixture->arena);
    client_fixture_host(&answer);
    client_fixture_end(fixture);
}

TEST(an_old_server_is_named_by_its_version)
{
    static ScriptedCluster cluster = {.version = "3.11.17", .old_tables = true};
    scripted_cluster_start(&cluster, 2);
    CqlClient *client = client_fixture_open(&cluster);
    ARENA_SCOPE Arena *arena = arena_new();
    const CqlHost *hosts;
    EXPECT_I64(cql_hosts(client, arena, &hosts), 2);
    EXPECT_SLICE(slice_from(hosts[1].version), SLICE("3.11.17"));
    cql_close(client);
    scripted_cluster_stop(&cluster);
}

TEST(a_server_of_an_older_protocol_is_refused_by_name)
{
    static ScriptedCluster cluster = {.speaks_v3 = true};
    scripted_cluster_start(&cluster, 1);
    CqlOptions options = client_fixture_options(&cluster);
    client_fixture_expect_refused(&options, STATUS_INVALID, "speaks protocol v3");
    scripted_cluster_stop(&cluster);
}

TEST(a_password_is_asked_for_and_checked)
{
    static ScriptedCluster cluster = {.login = "/ann/secret"};
    scripted_cluster_start(&cluster, 2);
    CqlOptions options = client_fixture_options(&cluster);
    client_fixture_expect_refused(&options, STATUS_LOGIN, "asks for a user and a password");
    options.user = "ann";
    options.password = "wrong";
    client_fixture_expect_refused(&options, STATUS_LOGIN, "password are incorrect");
    options.password = "secret";
    CqlClient *client;
    Reason reason = {.rule = ""};
    EXPECT_STATUS(cql_open(&options, &client, &reason), STATUS_OK);
    CLIENT_FIXTURE_SOON(client_fixture_metric(client, "cassandra_hosts_up") == 2);
    cql_close(client);
    scripted_cluster_stop(&cluster);
}

TEST(a_host_that_cannot_be_reached_is_named)
{
    CqlContact contacts[] = {{"127.0.0.99", 1}, {"127.0.0.98", 1}};
    CqlOptions options = {.contacts = contacts, .contact_count = 2, .world = world_real()};
    client_fixture_expect_refused(&options, STATUS_UNAVAILABLE, "127.0.0.98:1: Connection refused");
    contacts[1].host = contacts[0].host = "no-such-host.invalid";
    client_fixture_expect_refused(&options, STATUS_UNAVAILABLE, "no-such-host.invalid");
}

TEST(a_contact_that_is_silent_is_given_up_in_time)
{
    static ScriptedCluster cluster;
    scripted_cluster_start(&cluster, 1);
    cluster.servers[0]->act = ACT_FREEZE;
    CqlOptions options = client_fixture_options(&cluster);
    int64_t start_ms = client_fixture_now_ms();
    client_fixture_expect_refused(&options, STATUS_UNAVAILABLE, "no answer within 2500 ms");
    EXPECT(client_fixture_now_ms() - start_ms < 3 * CLIENT_FIXTURE_CONNECT_MS);
    scripted_cluster_stop(&cluster);
}

/* ---- Bytes ------------------------------------------------------------------------------------------------- */

TEST(answers_may_come_byte_by_byte)
{
    static ScriptedCluster cluster = {.piece = 1};
    scripted_cluster_start(&cluster, 2);
    CqlClient *client = client_fixture_open(&cluster);
    ARENA_SCOPE Arena *arena = arena_new();
    for (int i = 0; i < 20; i++) {
        CqlAnswer answer = client_fixture_call(client, CQL_READ, arena);
        EXPECT(client_fixture_host(&answer).size > 0);
    }
    cql_close(client);
    scripted_cluster_stop(&cluster);
}

TEST(warnings_do_not_hide_the_answer)
{
    ClientFixture *fixture = client_fixture_new(1);
    client_fixture_act(fixture, ACT_WARN, 0);
    CqlAnswer answer = client_fixture_call(fixture->client, CQL_READ, fixture->arena);
    EXPECT_SLICE(client_fixture_host(&answer), SLICE("127.0.0.21"));
    client_fixture_end(fixture);
}

TEST(an_answer_that_is_too_long_is_passed_over)
{
    ClientFixture *fixture = client_fixture_new(1);
    client_fixture_act(fixture, ACT_LONG, 0);
    CqlAnswer answer = client_fixture_call(fixture->client, CQL_READ, fixture->arena);
    EXPECT_STATUS(answer.status, STATUS_TOO_LARGE);
    client_fixture_act(fixture, ACT_ANSWER, 0);
    answer = client_fixture_call(fixture->client, CQL_READ, fixture->arena);
    client_fixture_host(&answer);
    EXPECT_I64(fixture->cluster.servers[0]->connections, 2); /* the same ones still */
    client_fixture_end(fixture);
}

TEST(a_request_that_is_too_long_is_not_sent)
{
    ClientFixture *fixture = client_fixture_new(1);
    size_t size = 16 * 1024 * 1024;
    CqlValue value = cql_bytes(slice_of(ARENA_ARRAY(fixture->arena, size, char), size));
    CqlPart part = {cql_statement(fixture->client, "UPDATE"), &value, 1};
    CqlCall call = {.kind = CQL_WRITE, .parts = &part, .part_count = 1, .consistency = CQL_QUORUM};
    CqlAnswer answer;
    cql_run(fixture->client, &call, 1, fixture->arena, &answer);
    EXPECT_STATUS(answer.status, STATUS_TOO_LARGE);
    EXPECT_I64(client_fixture_executed(fixture), 0);
    client_fixture_end(fixture);
}

TEST(nonsense_is_corrupt_for_a_read_and_unknown_for_a_write)
{
    static const Act ACTS[] = {ACT_NONSENSE, ACT_STRANGE_OPCODE};
    ClientFixture *fixture = client_fixture_new(1);
    for (size_t i = 0; i < sizeof ACTS / sizeof ACTS[0]; i++) {
        client_fixture_act(fixture, ACTS[i], 0);
        EXPECT_STATUS(client_fixture_call(fixture->client, CQL_READ, fixture->arena).status,
                      STATUS_CORRUPT);
        int before = client_fixture_executed(fixture);
        EXPECT_STATUS(client_fixture_call(fixture->client, CQL_WRITE, fixture->arena).status,
                      STATUS_UNKNOWN);
        EXPECT_STATUS(client_fixture_call(fixture->client, CQL_CONDITIONAL, fixture->arena).status,
                      STATUS_UNKNOWN);
        EXPECT_I64(client_fixture_executed(fixture), before + 2);
    }
    client_fixture_end(fixture);
}

/* ---- Sent once, or again ----------------------------------------------------------------------------------- */

/* What ends a connection: the write is UNKNOWN and was sent once; the read is answered by another node. */
TEST(a_connection_that_breaks_leaves_writes_unknown_and_reads_answered)
{
    static const Act ACTS[] = {ACT_CLOSE, ACT_CLOSE_MIDWAY, ACT_STRANGE_STREAM, ACT_ENDLESS};
    for (size_t i = 0; i < sizeof ACTS / sizeof ACTS[0]; i++) {
        ClientFixture *fixture = client_fixture_new(2);
        client_fixture_act(fixture, ACTS[i], 0);
        EXPECT_STATUS(client_fixture_call(fixture->client, CQL_WRITE, fixture->arena).status,
                      STATUS_UNKNOWN);
        EXPECT_I64(client_fixture_executed(fixture), 1);
        client_fixture_act(fixture, ACT_ANSWER, 0);
        CLIENT_FIXTURE_SOON(client_fixture_metric(fixture->client, "cassandra_hosts_up") == 2);
        Server *first = client_fixture_first_of_row(fixture);
        first->act = ACTS[i];
        for (int j = 0; j < 2; j++) { /* in turn, so one of them meets it */
            CqlAnswer answer = client_fixture_call(fixture->client, CQL_READ, fixture->arena);
            EXPECT(!slice_equal(client_fixture_host(&answer), slice_from(first->address)));
        }
        client_fixture_end(fixture);
    }
}

TEST(errors_that_may_come_after_the_deed_are_unknown_and_sent_once)
{
    static const int CODES[] = {0x0000, 0x1001, 0x1002, 0x1100, 0x1500, 0x1700};
    ClientFixture *fixture = client_fixture_new(2);
    for (size_t i = 0; i < sizeof CODES / sizeof CODES[0]; i++)
        for (CqlKind kind = CQL_WRITE; kind <= CQL_CONDITIONAL; kind++) {
            int before = client_fixture_executed(fixture);
            client_fixture_act(fixture, ACT_ERROR, CODES[i]);
            CqlAnswer answer = client_fixture_call(fixture->client, kind, fixture->arena);
            EXPECT_STATUS(answer.status, STATUS_UNKNOWN);
            EXPECT_I64(answer.error, CODES[i]);
            EXPECT(strstr(answer.words, "as told") != NULL);
            EXPECT_I64(client_fixture_executed(fixture), before + 1);
        }
    client_fixture_end(fixture);
}

TEST(a_write_for_which_replicas_are_missing_is_tried_until_they_are_there)
{
    ClientFixture *fixture = client_fixture_new(2);
    Server *first = client_fixture_first_of_row(fixture);
    first->error = 0x1000;
    first->act = ACT_ERROR;
    for (int i = 0; i < 4; i++) {
        CqlAnswer answer = client_fixture_call(fixture->client, CQL_WRITE, fixture->arena);
        EXPECT(!slice_equal(client_fixture_host(&answer), slice_from(first->address)));
    }
    client_fixture_act(fixture, ACT_ERROR, 0x1000);
    int64_t start_ms = client_fixture_now_ms();
    CqlAnswer answer = client_fixture_call_within(fixture->client, CQL_WRITE, 4000, fixture->arena);
    EXPECT_STATUS(answer.status, STATUS_UNAVAILABLE);
    EXPECT_I64(answer.error, 0x1000);
    EXPECT(client_fixture_now_ms() - start_ms < 4000);
    int before = client_fixture_executed(fixture);
    EXPECT_STATUS(client_fixture_call(fixture->client, CQL_CONDITIONAL, fixture->arena).status,
                  STATUS_UNKNOWN);
    EXPECT_I64(client_fixture_executed(fixture), before + 1);
    client_fixture_end(fixture);
}

TEST(reads_go_to_the_next_node)
{
    static const int CODES[] = {0x0000, 0x1000, 0x1001, 0x1002, 0x1200, 0x1300};
    ClientFixture *fixture = client_fixture_new(2);
    Server *first = client_fixture_first_of_row(fixture);
    for (size_t i = 0; i < 2 * sizeof CODES / sizeof CODES[0]; i++) {
        first->error = CODES[i / 2];
        first->act = ACT_ERROR;
        CqlAnswer answer = client_fixture_call(fixture->client, CQL_READ, fixture->arena);
        EXPECT(!slice_equal(client_fixture_host(&answer), slice_from(first->address)));
    }
    client_fixture_end(fixture);
}

TEST(what_a_node_refuses_is_told_at_once)
{
    ClientFixture *fixture = client_fixture_new(2);
    for (CqlKind kind = CQL_READ; kind <= CQL_CONDITIONAL; kind++) {
        int before = client_fixture_executed(fixture);
        client_fixture_act(fixture, ACT_ERROR, 0x2200);
        EXPECT_STATUS(client_fixture_call(fixture->client, kind, fixture->arena).status,
                      STATUS_INVALID);
        client_fixture_act(fixture, ACT_ERROR, 0x2100);
        EXPECT_STATUS(client_fixture_call(fixture->client, kind, fixture->arena).status,
                      STATUS_DENIED);
        EXPECT_I64(client_fixture_executed(fixture), before + 2);
    }
    client_fixture_end(fixture);
}

TEST(a_node_that_does_not_know_a_table_yet_is_passed_over)
{
    ClientFixture *fixture = client_fixture_new(2);
    fixture->cluster.servers[0]->ignorant = true;
    for (CqlKind kind = CQL_READ; kind <= CQL_CONDITIONAL; kind++)
        for (int i = 0; i < 2; i++) {
            CqlAnswer answer = client_fixture_call(fixture->client, kind, fixture->arena);
            EXPECT_SLICE(client_fixture_host(&answer), SLICE("127.0.0.22"));
        }
    fixture->cluster.servers[0]->ignorant = false;
    CqlAnswer first = client_fixture_call(fixture->client, CQL_READ, fixture->arena);
    CqlAnswer second = client_fixture_call(fixture->client, CQL_READ, fixture->arena);
    EXPECT(!slice_equal(client_fixture_host(&first), client_fixture_host(&second)));
    client_fixture_end(fixture);
}

TEST(a_table_that_no_node_knows_is_told_at_once)
{
    ClientFixture *fixture = client_fixture_new(2);
    fixture->cluster.servers[0]->ignorant = fixture->cluster.servers[1]->ignorant = true;
    for (CqlKind kind = CQL_READ; kind <= CQL_CONDITIONAL; kind++) {
        CqlAnswer answer = client_fixture_call(fixture->client, kind, fixture->arena);
        EXPECT_STATUS(answer.status, STATUS_INVALID);
        EXPECT_I64(answer.error, 0x2200);
        EXPECT(strstr(answer.words, "unconfigured table") != NULL);
    }
    EXPECT_I64(client_fixture_executed(fixture), 0);
    client_fixture_end(fixture);
}

TEST(a_statement_that_a_node_forgot_is_prepared_again)
{
    ClientFixture *fixture = client_fixture_new(1);
    Server *server = fixture->cluster.servers[0];
    for (CqlKind kind = CQL_READ; kind <= CQL_CONDITIONAL; kind++) {
        CqlAnswer answer = client_fixture_call(fixture->client, kind, fixture->arena);
        client_fixture_host(&answer);
        int prepared = server->prepared, before = server->executed;
        server->act = ACT_FORGET;
        answer = client_fixture_call(fixture->client, kind, fixture->arena);
        EXPECT_SLICE(client_fixture_host(&answer), SLICE("127.0.0.21"));
        EXPECT_I64(server->prepared, prepared + 1);
        EXPECT_I64(server->executed, before + 2); /* refused, then done */
    }
    client_fixture_end(fixture);
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
static ClientFixture *patient_fixture(void)
{
    ClientFixture *fixture = calloc(1, sizeof *fixture);
    CHECK(fixture != NULL);
    fixture->arena = arena_new();
    scripted_cluster_start(&fixture->cluster, 2);
    CqlOptions options = client_fixture_options(&fixture->cluster);
    options.silence_ms = 60000;
    Reason reason;
    EXPECT_STATUS(cql_open(&options, &fixture->client, &reason), STATUS_OK);
    CLIENT_FIXTURE_SOON(client_fixture_metric(fixture->client, "cassandra_hosts_up") == 2);
    return fixture;
}

TEST(a_write_that_did_not_leave_whole_is_sent_to_another_node)
{
    ClientFixture *fixture = patient_fixture();
    Server *first = client_fixture_first_of_row(fixture);
    int before = client_fixture_executed(fixture);
    first->act = ACT_FREEZE;
    LargeWrite large = {fixture->client, fixture->arena, .request_ms = 30000};
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, write_much, &large) == 0);
    usleep(300 * 1000);
    server_stop(first);
    CHECK(pthread_join(thread, NULL) == 0);
    EXPECT(!slice_equal(client_fixture_host(&large.answer), slice_from(first->address)));
    EXPECT_I64(client_fixture_executed(fixture), before + 1);
    client_fixture_end(fixture);
}

TEST(at_its_deadline_a_write_that_did_not_leave_whole_is_unknown)
{
    ClientFixture *fixture = patient_fixture();
    Server *first = client_fixture_first_of_row(fixture);
    int before = client_fixture_executed(fixture);
    first->act = ACT_FREEZE;
    LargeWrite large = {fixture->client, fixture->arena, .request_ms = 1000};
    write_much(&large);
    EXPECT_STATUS(large.answer.status, STATUS_UNKNOWN); /* it is on its way and may arrive yet */
    EXPECT_I64(client_fixture_executed(fixture), before);
    first->act = ACT_ANSWER;
    CLIENT_FIXTURE_SOON(client_fixture_executed(fixture) == before + 1);
    client_fixture_end(fixture);
}
