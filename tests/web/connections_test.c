/* connections_test.c -- deadlines and counts, on real sockets and a clock that the test moves. */
#include "web/connections.h"

#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <unistd.h>

#include "test.h"
#include "world.h"

enum { REQUEST_S = 10, IDLE_S = 30, BODY_S = 4, BODY_RATE = 1000 };

/* A connection from both ends. */
typedef struct Pair {
    int client, server;
    Connection *connection;
} Pair;

static TestWorld own;
static World world;
static NetLoop loop; /* the timer's thread's; its turns are this test's */

static Connections *begin_test(int64_t total, int64_t per_address)
{
    ConnectionLimits limits = {.request_us = REQUEST_S * US_PER_S,
                               .idle_us = IDLE_S * US_PER_S,
                               .body_us = BODY_S * US_PER_S,
                               .body_rate = BODY_RATE,
                               .total = total,
                               .per_address = per_address};
    world = test_world(&own, 1);
    EXPECT_STATUS(address_ranges_parse(SLICE("10.0.0.0/8"), &limits.exempt, NULL), STATUS_OK);
    net_loop_open(&loop, world.clock);
    return connections_new(&limits, &loop);
}

static void end_test(Connections *connections)
{
    connections_free(connections);
    net_loop_close(&loop);
}

static Pair open_pair(Connections *connections, const char *peer)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof address;
    Pair pair;
    Address from;
    int listening = socket(AF_INET, SOCK_STREAM, 0);
    CHECK(bind(listening, (struct sockaddr *)&address, size) == 0 && listen(listening, 1) == 0);
    CHECK(getsockname(listening, (struct sockaddr *)&address, &size) == 0);
    pair.client = socket(AF_INET, SOCK_STREAM, 0);
    CHECK(connect(pair.client, (struct sockaddr *)&address, size) == 0);
    pair.server = accept(listening, NULL, NULL);
    close(listening);
    CHECK(address_parse(slice_from(peer), &from) == STATUS_OK);
    pair.connection = connections_add(connections, pair.server, from);
    if (pair.connection == NULL)
        close(pair.server); /* refused */
    return pair;
}

static bool is_cut(const Pair *pair)
{
    struct pollfd set = {.fd = pair->client, .events = POLLRDHUP};
    return poll(&set, 1, 0) == 1;
}

static void close_pair(Connections *connections, Pair *pair)
{
    if (pair->connection != NULL) {
        connections_remove(connections, pair->connection);
        close(pair->server);
    }
    close(pair->client);
}

/* Time passes as the keeper sees it: in ticks. */
static void pass(Connections *connections, double seconds)
{
    for (int ticks = (int)(seconds * 1000 / CONNECTIONS_TICK_MS); ticks > 0; ticks--) {
        test_world_pass(&own, CONNECTIONS_TICK_MS * US_PER_MS);
        connections_tick(connections);
    }
}

static void receive_byte(const Pair *pair)
{
    char byte;
    CHECK(send(pair->client, "x", 1, 0) == 1);
    CHECK(recv(pair->server, &byte, 1, 0) == 1);
}

static void begin(const Pair *pair)
{
    EXPECT(connection_begin(pair->connection, clock_steady_us(world.clock)));
}

static void end(const Pair *pair)
{
    connection_end(pair->connection, clock_steady_us(world.clock));
}

TEST(a_silent_connection_is_cut_when_idle_for_too_long)
{
    Connections *connections = begin_test(100, 100);
    Pair pair = open_pair(connections, "192.0.2.1");
    pass(connections, IDLE_S - 0.25);
    EXPECT(!is_cut(&pair));
    pass(connections, 0.25);
    EXPECT(is_cut(&pair));
    EXPECT_I64(connections_cut_count(connections, CONNECTION_CUT_IDLE), 1);
    close_pair(connections, &pair);
    end_test(connections);
}

TEST(idle_time_counts_from_the_last_answer)
{
    Connections *connections = begin_test(100, 100);
    Pair pair = open_pair(connections, "192.0.2.1");
    pass(connections, IDLE_S - 1);
    begin(&pair);
    pass(connections, 5);
    end(&pair);
    pass(connections, IDLE_S - 0.25);
    EXPECT(!is_cut(&pair));
    pass(connections, 0.25);
    EXPECT(is_cut(&pair));
    close_pair(connections, &pair);
    end_test(connections);
}

TEST(a_request_has_one_total_time_whatever_moves)
{
    Connections *connections = begin_test(100, 100);
    Pair pair = open_pair(connections, "192.0.2.1");
    begin(&pair);
    for (int i = 0; i < REQUEST_S * 2 - 1; i++) {
        pass(connections, 0.5);
        receive_byte(&pair);
    }
    EXPECT(!is_cut(&pair));
    pass(connections, 0.5);
    EXPECT(is_cut(&pair));
    EXPECT_I64(connections_cut_count(connections, CONNECTION_CUT_SLOW), 1);
    end(&pair);
    close_pair(connections, &pair);
    end_test(connections);
}

TEST(a_request_may_be_allowed_more_time_and_the_next_one_has_what_all_have)
{
    Connections *connections = begin_test(100, 100);
    Pair pair = open_pair(connections, "192.0.2.1");
    begin(&pair);
    connection_allow(pair.connection, 3 * REQUEST_S * US_PER_S);
    pass(connections, 3 * REQUEST_S - 0.25);
    EXPECT(!is_cut(&pair));
    end(&pair);
    begin(&pair);
    connection_allow(pair.connection, 1); /* less than all have is nothing */
    pass(connections, REQUEST_S - 0.25);
    EXPECT(!is_cut(&pair));
    pass(connections, 0.25);
    EXPECT(is_cut(&pair));
    EXPECT_I64(connections_cut_count(connections, CONNECTION_CUT_SLOW), 1);
    end(&pair);
    close_pair(connections, &pair);
    end_test(connections);
}

TEST(a_request_that_was_allowed_more_time_is_cut_when_that_is_over)
{
    Connections *connections = begin_test(100, 100);
    Pair pair = open_pair(connections, "192.0.2.1");
    begin(&pair);
    connection_allow(pair.connection, 2 * REQUEST_S * US_PER_S);
    pass(connections, 2 * REQUEST_S);
    EXPECT(is_cut(&pair));
    end(&pair);
    close_pair(connections, &pair);
    end_test(connections);
}

/* Of 600 seconds that a list may take, one that sends a byte now and then gets four. */
TEST(a_body_is_cut_when_it_does_not_keep_up_with_the_least_rate)
{
    Connections *connections = begin_test(100, 100);
    Pair slow = open_pair(connections, "192.0.2.1"), steady = open_pair(connections, "192.0.2.2");
    begin(&slow);
    begin(&steady);
    connection_allow(slow.connection, 60 * REQUEST_S * US_PER_S);
    connection_allow(steady.connection, 60 * REQUEST_S * US_PER_S);
    for (int i = 0; i <= 2 * REQUEST_S; i++) {
        EXPECT(i <= BODY_S || is_cut(&slow));
        connection_received(slow.connection, i);
        connection_received(steady.connection, (int64_t)i * BODY_RATE);
        EXPECT(i > BODY_S || !is_cut(&slow));
        pass(connections, 1);
    }
    EXPECT(!is_cut(&steady));
    EXPECT(connection_is_cut(slow.connection) && !connection_is_cut(steady.connection));
    EXPECT_I64(connections_cut_count(connections, CONNECTION_CUT_SLOW), 1);
    connection_received(steady.connection, CONNECTION_BODY_WHOLE);
    pass(connections, 60 * REQUEST_S - 2 * REQUEST_S - 2);
    EXPECT(!is_cut(&steady)); /* a handler has the whole of its time */
    end(&slow);
    end(&steady);
    close_pair(connections, &slow);
    close_pair(connections, &steady);
    end_test(connections);
}

TEST(a_body_has_never_more_time_than_its_request)
{
    Connections *connections = begin_test(100, 100);
    Pair pair = open_pair(connections, "192.0.2.1");
    begin(&pair);
    connection_received(pair.connection, INT64_C(1) << 20);
    pass(connections, REQUEST_S);
    EXPECT(is_cut(&pair));
    end(&pair);
    close_pair(connections, &pair);
    end_test(connections);
}

TEST(a_request_that_comes_in_after_its_connection_was_cut_does_not_begin)
{
    Connections *connections = begin_test(100, 100);
    Pair pair = open_pair(connections, "192.0.2.1");
    char byte;
    CHECK(send(pair.client, "x", 1, 0) == 1); /* on its way when the time is over */
    pass(connections, IDLE_S);
    EXPECT(is_cut(&pair));
    EXPECT_I64(recv(pair.server, &byte, 1, MSG_DONTWAIT), 1); /* the kernel still gives it out */
    EXPECT(!connection_begin(pair.connection, clock_steady_us(world.clock)));
    close_pair(connections, &pair);
    end_test(connections);
}

/* Requests that begin in the moment when the timer judges: each is either cut or run, none both. */
typedef struct Beginner {
    Connection *connection;
    int64_t now_us;
    bool has_begun;
} Beginner;

static void *begin_now(void *argument)
{
    Beginner *beginner = argument;
    beginner->has_begun = connection_begin(beginner->connection, beginner->now_us);
    return NULL;
}

TEST(a_request_is_cut_as_idle_or_begins_and_never_both)
{
    enum { ROUNDS = 300 };
    Connections *connections = begin_test(100, 100);
    int64_t begun = 0;
    for (int i = 0; i < ROUNDS; i++) {
        pthread_t thread;
        Pair pair = open_pair(connections, "192.0.2.1");
        test_world_pass(&own, IDLE_S * US_PER_S);
        Beginner beginner = {pair.connection, clock_steady_us(world.clock), false};
        CHECK(pthread_create(&thread, NULL, begin_now, &beginner) == 0);
        connections_tick(connections);
        pthread_join(thread, NULL);
        EXPECT(beginner.has_begun != is_cut(&pair));
        begun += beginner.has_begun;
        if (beginner.has_begun)
            end(&pair);
        close_pair(connections, &pair);
    }
    EXPECT_I64(connections_cut_count(connections, CONNECTION_CUT_IDLE), ROUNDS - begun);
    end_test(connections);
}

TEST(a_finished_request_leaves_nothing_to_the_next)
{
    Connections *connections = begin_test(100, 100);
    Pair pair = open_pair(connections, "192.0.2.1");
    begin(&pair);
    pass(connections, 5);
    end(&pair);
    pass(connections, IDLE_S - 1); /* far beyond the deadline of the first */
    EXPECT(!is_cut(&pair));
    begin(&pair);
    pass(connections, REQUEST_S - 1);
    EXPECT(!is_cut(&pair));
    end(&pair);
    close_pair(connections, &pair);
    end_test(connections);
}

TEST(one_address_holds_so_many_and_no_more)
{
    Connections *connections = begin_test(100, 2);
    Pair first = open_pair(connections, "192.0.2.1"), second = open_pair(connections, "192.0.2.1");
    Pair third = open_pair(connections, "192.0.2.1"), other = open_pair(connections, "192.0.2.2");
    EXPECT(!is_cut(&first) && !is_cut(&second) && !is_cut(&other));
    EXPECT(is_cut(&third));
    close_pair(connections, &third);
    close_pair(connections, &first);
    Pair again = open_pair(connections, "192.0.2.1");
    EXPECT(!is_cut(&again));
    EXPECT_I64(connections_cut_count(connections, CONNECTION_CUT_ADDRESS), 1);
    close_pair(connections, &again);
    close_pair(connections, &second);
    close_pair(connections, &other);
    end_test(connections);
}

TEST(a_network_of_ipv6_is_one_holder)
{
    Connections *connections = begin_test(100, 1);
    Pair first = open_pair(connections, "2001:db8::1"),
         neighbour = open_pair(connections, "2001:db8::2");
    EXPECT(!is_cut(&first) && is_cut(&neighbour));
    close_pair(connections, &first);
    close_pair(connections, &neighbour);
    end_test(connections);
}

TEST(loopback_and_proxies_count_for_the_total_only)
{
    static const char *const peers[] = {"127.0.0.1", "127.0.0.1", "10.1.2.3",
                                        "10.1.2.3",  "::1",       "::1"};
    Connections *connections = begin_test(6, 1);
    Pair pairs[6];
    for (int i = 0; i < 6; i++) {
        pairs[i] = open_pair(connections, peers[i]);
        EXPECT(!is_cut(&pairs[i]));
    }
    EXPECT_I64(connections_open(connections), 6);
    Pair one_more = open_pair(connections, "127.0.0.1");
    EXPECT(is_cut(&one_more));
    EXPECT_I64(connections_cut_count(connections, CONNECTION_CUT_TOTAL), 1);
    close_pair(connections, &one_more);
    for (int i = 0; i < 6; i++)
        close_pair(connections, &pairs[i]);
    end_test(connections);
}

TEST(a_stop_cuts_idle_ones_and_leaves_requests)
{
    Connections *connections = begin_test(100, 100);
    Pair idle = open_pair(connections, "192.0.2.1"), busy = open_pair(connections, "192.0.2.1");
    begin(&busy);
    EXPECT_I64(connections_busy(connections), 1);
    connections_cut_idle(connections);
    char byte;
    EXPECT_I64(recv(idle.server, &byte, 1, MSG_DONTWAIT), 0);
    EXPECT_I64(recv(busy.server, &byte, 1, MSG_DONTWAIT), -1);
    EXPECT(send(idle.server, "x", 1, MSG_NOSIGNAL) ==
           1); /* an answer that was just being written still arrives */
    end(&busy);
    EXPECT_I64(connections_busy(connections), 0);
    close_pair(connections, &idle);
    close_pair(connections, &busy);
    end_test(connections);
}

TEST(an_unread_body_is_drained_so_that_the_answer_arrives)
{
    Connections *connections = begin_test(100, 100);
    Pair pair = open_pair(connections, "192.0.2.1");
    char bytes[16];
    CHECK(send(pair.client, "body", 4, 0) == 4);
    connection_linger(pair.connection);
    CHECK(send(pair.server, "413", 3, 0) == 3);
    connections_remove(connections, pair.connection);
    close(pair.server);
    EXPECT_I64(connections_lingering(connections), 1);
    net_loop_turn(&loop, 0);
    EXPECT_I64(send(pair.client, "more", 4, MSG_NOSIGNAL), 4);
    EXPECT_I64(recv(pair.client, bytes, sizeof bytes, 0), 3);
    EXPECT_I64(recv(pair.client, bytes, sizeof bytes, 0), 0);
    close(pair.client);
    while (connections_lingering(connections) > 0)
        net_loop_turn(&loop, INT64_MAX);
    end_test(connections);
}

TEST(draining_has_an_end)
{
    Connections *connections = begin_test(100, 100);
    Pair pair = open_pair(connections, "192.0.2.1");
    connection_linger(pair.connection);
    connections_remove(connections, pair.connection);
    close(pair.server);
    net_loop_turn(&loop, 0);
    test_world_pass(&own, 4 * US_PER_S);
    net_loop_turn(&loop, 0);
    EXPECT_I64(connections_lingering(connections), 1);
    test_world_pass(&own, 2 * US_PER_S);
    net_loop_turn(&loop, 0);
    EXPECT_I64(connections_lingering(connections), 0);
    close(pair.client);
    end_test(connections);
}

TEST(only_so_many_are_drained_at_a_time)
{
    Connections *connections = begin_test(1000, 1000);
    Pair pairs[CONNECTIONS_LINGER_MAX + 1];
    for (size_t i = 0; i <= CONNECTIONS_LINGER_MAX; i++) {
        pairs[i] = open_pair(connections, "192.0.2.1");
        connection_linger(pairs[i].connection);
        connections_remove(connections, pairs[i].connection);
        close(pairs[i].server);
    }
    EXPECT_I64(connections_lingering(connections), CONNECTIONS_LINGER_MAX);
    net_loop_turn(&loop, 0);
    for (size_t i = 0; i <= CONNECTIONS_LINGER_MAX; i++)
        close(pairs[i].client);
    while (connections_lingering(connections) > 0)
        net_loop_turn(&loop, INT64_MAX);
    end_test(connections);
}
