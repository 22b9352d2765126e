/* nodes_test.c -- nodes that fall silent, go, come and join; and more calls than fit. */
#include "stage.h"

#include <pthread.h>

/* ---- Silence and deadlines --------------------------------------------------------------------------------- */

TEST(a_node_that_falls_silent_is_left_alone_until_it_speaks)
{
    Stage *stage = stage_new(2);
    Server *first = stage_first_of_row(stage);
    int before = stage_executed(stage);
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
    EXPECT(stage_first_of_row(stage) == first);
    EXPECT_I64(stage_executed(stage), before + 12);
    stage_end(stage);
}

TEST(reads_of_a_silent_node_are_answered_by_another)
{
    Stage *stage = stage_new(2);
    Server *first = stage_first_of_row(stage);
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
    enum { WAIT_MS = 2000 };
    Stage *stage = stage_new(1);
    stage_act(stage, ACT_KEEP, 0);
    static const Status STATUSES[] = {STATUS_UNAVAILABLE, STATUS_UNKNOWN, STATUS_UNKNOWN};
    for (CqlKind kind = CQL_READ; kind <= CQL_CONDITIONAL; kind++) {
        int before = stage_executed(stage);
        int64_t start_ms = stage_now_ms();
        CqlAnswer answer = stage_call_within(stage->client, kind, WAIT_MS, stage->arena);
        int64_t took_ms = stage_now_ms() - start_ms;
        EXPECT_STATUS(answer.status, STATUSES[kind]);
        EXPECT(took_ms >= WAIT_MS - 20 && took_ms < WAIT_MS + 1500);
        EXPECT_I64(stage_executed(stage), before + 1);
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
        CqlAnswer answer = stage_call_within(stage->client, kind, 4000, stage->arena);
        EXPECT_STATUS(answer.status, STATUS_UNAVAILABLE);
        EXPECT(stage_now_ms() - start_ms < 4000);
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
    Server *first = stage_first_of_row(stage);
    int before = first->executed;
    for (int i = 0; i < 12; i++)
        EXPECT(stage_first_of_row(stage) == first);
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
        CqlAnswer answer = stage_call(person->client, i % 2 ? CQL_WRITE : CQL_CONDITIONAL, arena);
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
    Stage *stage = stage_new(3);
    Person people[CROWD] = {0};
    pthread_t threads[CROWD];
    int total[STATUS_COUNT] = {0};
    for (int i = 0; i < CROWD; i++) {
        people[i].client = stage->client;
        CHECK(pthread_create(&threads[i], NULL, write_often, &people[i]) == 0);
    }
    for (size_t i = 0; i < 5 * sizeof WEATHER / sizeof WEATHER[0]; i++) {
        stage->town.servers[i % 3]->act = WEATHER[i % (sizeof WEATHER / sizeof WEATHER[0])];
        clock_sleep_us(world_real().clock, 20 * 1000);
    }
    stage_act(stage, ACT_ANSWER, 0);
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
    int given = stage_executed(stage) - (int)stage_metric(stage->client, "cassandra_unprepared");
    EXPECT(given >= total[STATUS_OK] && given <= total[STATUS_OK] + total[STATUS_UNKNOWN]);
    STAGE_SOON(stage_metric(stage->client, "cassandra_hosts_up") == 3);
    stage_end(stage);
}
