/* nodes_test.c -- nodes that fall silent, go, come and join; and more calls than fit. */
#include "client_fixture.h"

#include <pthread.h>

/* ---- Silence and deadlines --------------------------------------------------------------------------------- */

TEST(a_node_that_falls_silent_is_left_alone_until_it_speaks)
{
    ClientFixture *fixture = client_fixture_new(2);
    Server *first = client_fixture_first_of_row(fixture);
    int before = client_fixture_executed(fixture);
    first->act = ACT_FREEZE;
    int64_t start_ms = client_fixture_now_ms();
    CqlAnswer answer = client_fixture_call(fixture->client, CQL_CONDITIONAL, fixture->arena);
    int64_t took_ms = client_fixture_now_ms() - start_ms;
    EXPECT_STATUS(answer.status, STATUS_UNKNOWN);
    EXPECT(took_ms >= CLIENT_FIXTURE_SILENCE_MS - 20 && took_ms < CLIENT_FIXTURE_REQUEST_MS);
    for (int i = 0; i < 10; i++) {
        answer = client_fixture_call(fixture->client, CQL_CONDITIONAL, fixture->arena);
        EXPECT(!slice_equal(client_fixture_host(&answer), slice_from(first->address)));
    }
    first->act = ACT_ANSWER;
    CLIENT_FIXTURE_SOON(client_fixture_metric(fixture->client, "cassandra_hosts_up") == 2);
    EXPECT(client_fixture_first_of_row(fixture) == first);
    EXPECT_I64(client_fixture_executed(fixture), before + 12);
    client_fixture_end(fixture);
}

TEST(reads_of_a_silent_node_are_answered_by_another)
{
    ClientFixture *fixture = client_fixture_new(2);
    Server *first = client_fixture_first_of_row(fixture);
    first->act = ACT_FREEZE;
    for (int i = 0; i < 4; i++) {
        CqlAnswer answer = client_fixture_call(fixture->client, CQL_READ, fixture->arena);
        EXPECT(!slice_equal(client_fixture_host(&answer), slice_from(first->address)));
    }
    first->act = ACT_ANSWER;
    client_fixture_end(fixture);
}

TEST(a_node_that_lives_and_does_not_answer_is_waited_for_to_the_deadline)
{
    enum { WAIT_MS = 2000 };
    ClientFixture *fixture = client_fixture_new(1);
    client_fixture_act(fixture, ACT_KEEP, 0);
    static const Status STATUSES[] = {STATUS_UNAVAILABLE, STATUS_UNKNOWN, STATUS_UNKNOWN};
    for (CqlKind kind = CQL_READ; kind <= CQL_CONDITIONAL; kind++) {
        int before = client_fixture_executed(fixture);
        int64_t start_ms = client_fixture_now_ms();
        CqlAnswer answer =
            client_fixture_call_within(fixture->client, kind, WAIT_MS, fixture->arena);
        int64_t took_ms = client_fixture_now_ms() - start_ms;
        EXPECT_STATUS(answer.status, STATUSES[kind]);
        EXPECT(took_ms >= WAIT_MS - 20 && took_ms < WAIT_MS + 1500);
        EXPECT_I64(client_fixture_executed(fixture), before + 1);
    }
    EXPECT(fixture->cluster.servers[0]->probed > 0);
    EXPECT_I64(client_fixture_metric(fixture->client, "cassandra_silences"), 0);
    client_fixture_end(fixture);
}

TEST(without_any_node_a_call_ends_before_its_deadline)
{
    ClientFixture *fixture = client_fixture_new(2);
    server_stop(fixture->cluster.servers[0]);
    server_stop(fixture->cluster.servers[1]);
    CLIENT_FIXTURE_SOON(client_fixture_metric(fixture->client, "cassandra_hosts_up") == 0);
    for (CqlKind kind = CQL_READ; kind <= CQL_CONDITIONAL; kind++) {
        int64_t start_ms = client_fixture_now_ms();
        CqlAnswer answer = client_fixture_call_within(fixture->client, kind, 4000, fixture->arena);
        EXPECT_STATUS(answer.status, STATUS_UNAVAILABLE);
        EXPECT(client_fixture_now_ms() - start_ms < 4000);
    }
    server_start(fixture->cluster.servers[0]);
    server_start(fixture->cluster.servers[1]);
    CLIENT_FIXTURE_SOON(client_fixture_metric(fixture->client, "cassandra_hosts_up") == 2);
    CqlAnswer answer = client_fixture_call(fixture->client, CQL_WRITE, fixture->arena);
    client_fixture_host(&answer);
    client_fixture_end(fixture);
}

/* ---- The cluster ------------------------------------------------------------------------------------------- */

TEST(conditional_calls_of_a_row_meet_and_others_take_turns)
{
    ClientFixture *fixture = client_fixture_new(3);
    Server *first = client_fixture_first_of_row(fixture);
    int before = first->executed;
    for (int i = 0; i < 12; i++)
        EXPECT(client_fixture_first_of_row(fixture) == first);
    EXPECT_I64(first->executed, before + 12);
    for (int i = 0; i < 12; i++) {
        CqlAnswer answer = client_fixture_call(fixture->client, CQL_READ, fixture->arena);
        client_fixture_host(&answer);
    }
    /* Two of the three hold the row, and each gets half. */
    EXPECT_I64(first->executed, before + 18);
    client_fixture_end(fixture);
}

TEST(a_call_for_one_node_goes_there_or_nowhere)
{
    ClientFixture *fixture = client_fixture_new(2);
    CqlCall call = {.kind = CQL_READ,
                    .text = "SELECT host FROM stage.table",
                    .only = "127.0.0.22",
                    .consistency = CQL_ONE};
    CqlAnswer answer;
    for (int i = 0; i < 4; i++) {
        cql_run(fixture->client, &call, 1, fixture->arena, &answer);
        EXPECT_SLICE(client_fixture_host(&answer), SLICE("127.0.0.22"));
    }
    server_stop(fixture->cluster.servers[1]);
    cql_run(fixture->client, &call, 1, fixture->arena, &answer);
    EXPECT_STATUS(answer.status, STATUS_UNAVAILABLE);
    client_fixture_end(fixture);
}

TEST(a_node_that_joins_is_told_of_and_used)
{
    static ScriptedCluster cluster = {.listed = 2};
    scripted_cluster_start(&cluster, 3);
    CqlClient *client = client_fixture_open(&cluster);
    ARENA_SCOPE Arena *arena = arena_new();
    const CqlHost *hosts;
    EXPECT_I64(cql_hosts(client, arena, &hosts), 2);
    cluster.listed = 3;
    scripted_cluster_tell(&cluster);
    CLIENT_FIXTURE_SOON(cql_hosts(client, arena, &hosts) == 3);
    CLIENT_FIXTURE_SOON(client_fixture_metric(client, "cassandra_hosts_up") == 3);
    cql_close(client);
    scripted_cluster_stop(&cluster);
}

TEST(when_the_contact_is_gone_another_node_tells_of_the_cluster)
{
    static ScriptedCluster cluster = {.listed = 2};
    scripted_cluster_start(&cluster, 3);
    CqlClient *client = client_fixture_open(&cluster);
    ARENA_SCOPE Arena *arena = arena_new();
    const CqlHost *hosts;
    CLIENT_FIXTURE_SOON(client_fixture_metric(client, "cassandra_hosts_up") == 2);
    double refreshes = client_fixture_metric(client, "cassandra_refreshes");
    server_stop(cluster.servers[0]);
    CLIENT_FIXTURE_SOON(client_fixture_metric(client, "cassandra_refreshes") > refreshes);
    cluster.listed = 3;
    scripted_cluster_tell(&cluster);
    CLIENT_FIXTURE_SOON(cql_hosts(client, arena, &hosts) == 3);
    cql_close(client);
    scripted_cluster_stop(&cluster);
}

/* ---- Many -------------------------------------------------------------------------------------------------- */

TEST(more_calls_than_may_be_in_flight_wait_their_turn)
{
    enum { CALLS = 500 };
    static ScriptedCluster cluster;
    scripted_cluster_start(&cluster, 2);
    CqlOptions options = client_fixture_options(&cluster);
    options.in_flight = 3;
    CqlClient *client;
    Reason reason;
    EXPECT_STATUS(cql_open(&options, &client, &reason), STATUS_OK);
    CLIENT_FIXTURE_SOON(client_fixture_metric(client, "cassandra_hosts_up") == 2);
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
    EXPECT_I64(cluster.servers[0]->executed + cluster.servers[1]->executed, CALLS);
    cql_close(client);
    scripted_cluster_stop(&cluster);
}

enum { CROWD = 16, CALLS_EACH = 120 };

typedef struct Person {
    CqlClient *client;
    int counts[STATUS_COUNT];
} Person;

static void *write_often(void *context)
{
    Person *person = context;
    Arena *arena = arena_new();
    for (int i = 0; i < CALLS_EACH; i++) {
        CqlAnswer answer =
            client_fixture_call(person->client, i % 2 ? CQL_WRITE : CQL_CONDITIONAL, arena);
        person->counts[answer.status]++;
        arena_reset(arena);
    }
    arena_free(arena);
    return NULL;
}

/* Whatever the nodes do meanwhile: each call is told something, and no write is given to nodes more often than it was asked for,
 * but for the times that a node said it did not know the statement. */
TEST(in_a_storm_no_write_is_sent_twice)
{
    static const Act WEATHER[] = {ACT_ANSWER, ACT_CLOSE,  ACT_FORGET, ACT_ANSWER,       ACT_FREEZE,
                                  ACT_ANSWER, ACT_FORGET, ACT_CLOSE,  ACT_CLOSE_MIDWAY, ACT_ANSWER};
    ClientFixture *fixture = client_fixture_new(3);
    Person people[CROWD] = {0};
    pthread_t threads[CROWD];
    int total[STATUS_COUNT] = {0};
    for (int i = 0; i < CROWD; i++) {
        people[i].client = fixture->client;
        CHECK(pthread_create(&threads[i], NULL, write_often, &people[i]) == 0);
    }
    for (size_t i = 0; i < 5 * sizeof WEATHER / sizeof WEATHER[0]; i++) {
        fixture->cluster.servers[i % 3]->act = WEATHER[i % (sizeof WEATHER / sizeof WEATHER[0])];
        clock_sleep_us(world_real().clock, 20 * 1000);
    }
    client_fixture_act(fixture, ACT_ANSWER, 0);
    for (int i = 0; i < CROWD; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
        for (int j = 0; j < STATUS_COUNT; j++)
            total[j] += people[i].counts[j];
    }
    printf("# %d done, %d unknown, %d not done\n", total[STATUS_OK], total[STATUS_UNKNOWN],
           total[STATUS_UNAVAILABLE]);
    EXPECT_I64(total[STATUS_OK] + total[STATUS_UNKNOWN] + total[STATUS_UNAVAILABLE],
               CROWD * CALLS_EACH);
    EXPECT(total[STATUS_OK] > 0);
    int given = client_fixture_executed(fixture) -
                (int)client_fixture_metric(fixture->client, "cassandra_unprepared");
    EXPECT(given >= total[STATUS_OK] && given <= total[STATUS_OK] + total[STATUS_UNKNOWN]);
    CLIENT_FIXTURE_SOON(client_fixture_metric(fixture->client, "cassandra_hosts_up") == 3);
    client_fixture_end(fixture);
}
