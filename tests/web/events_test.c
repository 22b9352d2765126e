/* events_test.c -- watchers on real sockets: what they get, when, and what slow, silent and vanished ones do to the others. The
 * intervals are short; nothing here depends on how fast the machine is but for an upper bound of some seconds. */
#include "web/events.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "test.h"

enum { CROWD = 2000, PATIENCE_MS = 20000 };

static Config config;
static Events *events;
static int listening;
static struct sockaddr_in where;

/* ---- What the application shows: a number, padded to some size ---- */

static _Atomic int64_t state;
static _Atomic int64_t builds;
static _Atomic size_t state_size;
static _Atomic int64_t build_ms;
static _Atomic bool fails;

static Status build(void *self, Slice topic, Buffer *out)
{
    (void)self;
    builds++;
    if (build_ms > 0)
        clock_sleep_us(world_real().clock, build_ms * US_PER_MS);
    if (fails)
        return STATUS_UNAVAILABLE;
    buffer_print(out, "%.*s %lld ", SLICE_ARG(topic), (long long)state);
    size_t size = state_size;
    memset(buffer_reserve(out, size), 'x', size);
    out->size += size;
    return STATUS_OK;
}

static void begin_test(EventsOptions options)
{
    Reason reason = {0};
    state = builds = build_ms = 0;
    state_size = 0;
    fails = false;
    config_defaults(&config);
    config.watchers = 5000;
    options.config = &config;
    options.world = world_real();
    options.build = build;
    EXPECT_STATUS(events_start(&options, &events, &reason), STATUS_OK);
    where = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof where;
    listening = socket(AF_INET, SOCK_STREAM, 0);
    CHECK(bind(listening, (struct sockaddr *)&where, size) == 0 && listen(listening, 4096) == 0);
    CHECK(getsockname(listening, (struct sockaddr *)&where, &size) == 0);
}

static void end_test(void)
{
    events_stop(events);
    close(listening);
}

static Address address_of(const char *text)
{
    Address address;
    CHECK(address_parse(slice_from(text), &address) == STATUS_OK);
    return address;
}

/* ---- A client ---- */

typedef struct Client {
    int fd;
    Buffer text; /* all that came */
} Client;

static Client watch_with(const char *topic, int receive_buffer)
{
    Client client = {.fd = socket(AF_INET, SOCK_STREAM, 0)};
    Address from = address_of("127.0.0.1");
    if (receive_buffer > 0)
        CHECK(setsockopt(client.fd, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof(int)) == 0);
    CHECK(connect(client.fd, (struct sockaddr *)&where, sizeof where) == 0);
    int fd = accept(listening, NULL, NULL);
    CHECK(fd >= 0);
    EXPECT_STATUS(events_reserve(events, from, NULL), STATUS_OK);
    events_adopt(
        events, &(EventsWatcher){
                    .fd = fd, .client = from, .topic = slice_from(topic), .head = SLICE("HEAD\n")});
    return client;
}

static Client watch(const char *topic)
{
    return watch_with(topic, 0);
}

/* False at the end of the connection, or when nothing comes within the time. */
static bool receive(Client *client, int timeout_ms)
{
    struct pollfd set = {.fd = client->fd, .events = POLLIN};
    if (poll(&set, 1, timeout_ms) != 1)
        return false;
    ssize_t got = recv(client->fd, buffer_reserve(&client->text, 65536), 65536, 0);
    if (got > 0)
        client->text.size += (size_t)got;
    return got > 0;
}

static int64_t count_of(const Client *client, const char *part)
{
    int64_t count = 0;
    Slice text = buffer_slice(&client->text);
    size_t size = strlen(part);
    for (size_t i = 0; i + size <= text.size; i++)
        count += memcmp(text.data + i, part, size) == 0;
    return count;
}

/* Waits until the text has this part. */
static void expect_text(Client *client, const char *part)
{
    for (int i = 0; count_of(client, part) == 0; i++)
        if (i > 1000 || !receive(client, PATIENCE_MS))
            test_fail(__FILE__, __LINE__, "\"%s\" did not come, but %.200s", part,
                      client->text.size > 0 ? client->text.data : "nothing");
}

static void leave(Client *client)
{
    close(client->fd);
    buffer_free(&client->text);
}

static void expect_watchers(uint64_t count)
{
    for (int i = 0; events_figures(events).watchers != count && i < PATIENCE_MS; i++)
        usleep(1000);
    EXPECT_I64(events_figures(events).watchers, count);
}

static void change(const char *topic)
{
    state++;
    events_changed(events, slice_from(topic));
}

/* ---- What a watcher gets ---- */

TEST(a_newcomer_gets_the_state_at_once)
{
    begin_test((EventsOptions){.interval_ms = 60000});
    state = 7;
    Client client = watch("policy/12");
    expect_text(&client, "data: policy/12 7 \n\n");
    EXPECT_I64(count_of(&client, "HEAD\nid: "), 1);
    Client second = watch("policy/12");
    expect_text(&second, "data: policy/12 7 \n\n");
    EXPECT_I64(builds, 1);
    leave(&client);
    leave(&second);
    end_test();
}

TEST(the_first_change_after_a_quiet_time_does_not_wait_for_an_interval)
{
    begin_test((EventsOptions){.interval_ms = 60000});
    Client client = watch("a");
    expect_text(&client, "data: a 0 ");
    change("a");
    change("b");
    expect_text(
        &client,
        "data: a 2 \n\n"); /* within the test's patience, which is a third of the interval */
    change("a");
    EXPECT(!receive(&client, 500));
    leave(&client);
    end_test();
}

TEST(a_mark_for_all_does_not_wait_for_an_interval_either)
{
    begin_test((EventsOptions){.interval_ms = 60000});
    events_all_changed(events); /* nobody watches */
    Client client = watch("a");
    expect_text(&client, "data: a 0 ");
    state = 5;
    events_all_changed(events);
    expect_text(&client, "data: a 5 \n\n");
    EXPECT_I64(builds, 2);
    leave(&client);
    end_test();
}

TEST(a_hundred_changes_in_a_moment_are_one_event)
{
    begin_test((EventsOptions){.interval_ms = 1000});
    Client client = watch("a");
    expect_text(&client, "data: a 0 ");
    change("a");
    expect_text(&client,
                "data: a 1 \n\n"); /* a round has just begun, the next is an interval away */
    for (int i = 0; i < 100; i++)
        change("a");
    expect_text(&client, "data: a 101 \n\n");
    EXPECT_I64(count_of(&client, "data: "), 3);
    EXPECT(!receive(&client, 1500));
    leave(&client);
    end_test();
}

TEST(only_watched_topics_are_built_and_only_their_watchers_told)
{
    begin_test((EventsOptions){.interval_ms = 50});
    Client a = watch("a"), b = watch("b");
    expect_text(&a, "data: a 0 ");
    expect_text(&b, "data: b 0 ");
    change("b");
    change("c");
    expect_text(&b, "data: b 2 ");
    EXPECT(!receive(&a, 200));
    EXPECT_I64(builds, 3);
    leave(&a);
    leave(&b);
    end_test();
}

TEST(one_mark_reaches_all_topics_once)
{
    begin_test((EventsOptions){.interval_ms = 50});
    Client a = watch("a"), b = watch("b");
    expect_text(&a, "data: a 0 ");
    expect_text(&b, "data: b 0 ");
    state = 7;
    events_all_changed(events);
    events_changed(events, SLICE("a"));
    expect_text(&a, "data: a 7 ");
    expect_text(&b, "data: b 7 ");
    EXPECT(!receive(&a, 200));
    EXPECT_I64(builds, 4);
    leave(&a);
    leave(&b);
    end_test();
}

TEST(the_same_state_gives_no_event)
{
    begin_test((EventsOptions){.interval_ms = 50});
    Client client = watch("a");
    expect_text(&client, "data: a 0 ");
    events_changed(events, SLICE("a"));
    EXPECT(!receive(&client, 300));
    EXPECT_I64(builds, 2);
    leave(&client);
    end_test();
}

TEST(a_state_of_several_lines_is_one_event)
{
    begin_test((EventsOptions){.interval_ms = 50});
    Client client = watch("a\n\nb");
    expect_text(&client, "data: a\ndata: \ndata: b 0 \n\n");
    leave(&client);
    end_test();
}

TEST(a_state_that_cannot_be_built_is_tried_again)
{
    begin_test((EventsOptions){.interval_ms = 50});
    fails = true;
    Client client = watch("a");
    expect_text(&client, "HEAD\n");
    EXPECT(!receive(&client, 200));
    EXPECT(events_figures(events).failures >= 2);
    fails = false;
    expect_text(&client, "data: a 0 ");
    state_size = EVENTS_DATA_MAX;
    change("a"); /* too large */
    EXPECT(!receive(&client, 200));
    state_size = 5;
    expect_text(&client, "data: a 1 xxxxx\n\n");
    leave(&client);
    end_test();
}

TEST(a_silent_connection_gets_heartbeats)
{
    begin_test((EventsOptions){.interval_ms = 20, .heartbeat_ms = 100});
    Client client = watch("a");
    expect_text(&client, ":\n\n:\n\n:\n\n");
    EXPECT_I64(count_of(&client, "data: "), 1);
    leave(&client);
    end_test();
}

/* ---- Who is watched ---- */

static _Atomic int firsts, lasts, firsts_of_b;

static void first_came(void *self, Slice topic)
{
    (void)self;
    firsts_of_b += slice_equal(topic, SLICE("b"));
    firsts++;
}

static void last_went(void *self, Slice topic)
{
    (void)self, (void)topic;
    lasts++;
}

static void wait_for(const _Atomic int *count, int wanted)
{
    for (int ms = 0; ms < PATIENCE_MS && *count != wanted; ms++)
        clock_sleep_us(world_real().clock, US_PER_MS);
    EXPECT_I64(*count, wanted);
}

TEST(the_application_hears_of_the_first_watcher_and_of_the_last_one_going)
{
    firsts = lasts = firsts_of_b = 0;
    begin_test((EventsOptions){.interval_ms = 20, .watched = first_came, .unwatched = last_went});
    Client one = watch("a"), two = watch("a"), other = watch("b");
    expect_text(&one, "data: a 0 ");
    expect_text(&two, "data: a 0 ");
    expect_text(&other, "data: b 0 ");
    EXPECT(firsts == 2 && firsts_of_b == 1 && lasts == 0);
    leave(&one);
    change("a");
    expect_text(&two, "data: a 1 ");
    EXPECT_I64(lasts, 0);
    leave(&two);
    wait_for(&lasts, 1);
    Client again = watch("a");
    expect_text(&again, "data: a 1 ");
    EXPECT_I64(firsts, 3);
    end_test(); /* closes what is left */
    EXPECT_I64(lasts, 3);
    leave(&again);
    leave(&other);
}

/* ---- Many, slow, gone ---- */

static void allow_files(rlim_t count)
{
    struct rlimit limit;
    CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    if (limit.rlim_cur >= count)
        return;
    limit.rlim_cur = count;
    CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
}

TEST(two_thousand_watchers_all_see_the_last_change)
{
    static Client crowd[CROWD];
    allow_files(2 * CROWD + 100);
    begin_test((EventsOptions){.interval_ms = 100});
    for (int i = 0; i < CROWD; i++)
        crowd[i] = watch(i % 2 == 0 ? "even" : "odd");
    expect_watchers(CROWD);
    EXPECT_I64(events_figures(events).topics, 2);
    int64_t builds_before = builds;
    for (int i = 0; i < 50; i++) {
        change(i % 2 == 0 ? "even" : "odd");
        usleep(2000);
    }
    change("even");
    events_changed(events, SLICE("odd"));
    for (int i = 0; i < CROWD; i++)
        expect_text(&crowd[i], i % 2 == 0 ? "data: even 51 \n\n" : "data: odd 51 \n\n");
    EXPECT(builds - builds_before <= 50);
    for (int i = 0; i < CROWD; i += 2)
        leave(&crowd[i]);
    expect_watchers(CROWD / 2);
    change("odd");
    for (int i = 1; i < CROWD; i += 2) {
        expect_text(&crowd[i], "data: odd 52 \n\n");
        leave(&crowd[i]);
    }
    expect_watchers(0);
    EXPECT_I64(events_figures(events).topics, 0);
    end_test();
}

TEST(a_slow_reader_delays_nobody_and_gets_the_newest)
{
    enum { CHANGES = 30 };
    char wanted[32];
    begin_test((EventsOptions){.interval_ms = 20});
    state_size = 60000;
    Client slow = watch_with("a", 4096), fast = watch("a");
    for (int i = 1; i <= CHANGES; i++) {
        change("a");
        snprintf(wanted, sizeof wanted, "data: a %d x", i);
        expect_text(&fast, wanted);
    }
    state_size = 3;
    change("a");
    expect_text(&slow, "data: a 31 xxx\n\n");
    int64_t events_seen = count_of(&slow, "data: a ");
    EXPECT(events_seen >= 2 && events_seen <= CHANGES / 2);
    EXPECT_I64(count_of(&slow, "x\n\nid: "), events_seen - 1); /* none was cut */
    leave(&slow);
    leave(&fast);
    end_test();
}

TEST(who_takes_nothing_is_closed)
{
    begin_test((EventsOptions){.interval_ms = 20, .heartbeat_ms = 50, .stuck_ms = 500});
    state_size = 60000;
    Client stuck = watch_with("a", 4096), well = watch("a");
    for (int i = 0; i < 10; i++) {
        change("a");
        usleep(30000);
    }
    expect_watchers(1);
    state_size = 0;
    change("a");
    expect_text(&well, "data: a 11 \n\n");
    leave(&stuck);
    leave(&well);
    end_test();
}

TEST(who_talks_too_much_is_closed)
{
    begin_test((EventsOptions){.interval_ms = 60000});
    Client client = watch("a");
    static char noise[1 << 20];
    expect_text(&client, "data: a 0 ");
    CHECK(send(client.fd, "hello", 5, MSG_NOSIGNAL) == 5);
    usleep(50000);
    EXPECT_I64(events_figures(events).watchers, 1);
    (void)!send(client.fd, noise, sizeof noise, MSG_NOSIGNAL);
    expect_watchers(0);
    leave(&client);
    end_test();
}

TEST(a_watcher_that_leaves_before_it_was_taken_is_forgotten)
{
    begin_test((EventsOptions){.interval_ms = 20});
    build_ms = 20;
    for (int i = 0; i < 20; i++) {
        char topic[8];
        snprintf(topic, sizeof topic, "t%d", i);
        Client client = watch(topic);
        leave(&client);
    }
    for (int i = 0; events_figures(events).builds < 20 && i < PATIENCE_MS; i++)
        usleep(1000);
    expect_watchers(0);
    end_test();
}

TEST(a_stop_closes_all)
{
    begin_test((EventsOptions){.interval_ms = 20});
    Client first = watch("a"), second = watch("b");
    expect_text(&first, "data: a 0 ");
    Client late = watch("c"); /* perhaps not taken yet */
    change("a");
    end_test();
    while (receive(&first, PATIENCE_MS))
        continue;
    while (receive(&second, PATIENCE_MS))
        continue;
    while (receive(&late, PATIENCE_MS))
        continue;
    leave(&first);
    leave(&second);
    leave(&late);
}

/* ---- Limits and time ---- */

TEST(places_are_bounded_in_all_and_for_each_address)
{
    Reason reason = {0};
    Address one = address_of("192.0.2.1"), other = address_of("192.0.2.2"),
            proxy = address_of("10.0.0.1"), here = address_of("127.0.0.1");
    begin_test((EventsOptions){.interval_ms = 60000});
    config.watchers = 6;
    config.watchers_per_address = 2;
    EXPECT_STATUS(events_reserve(events, one, &reason), STATUS_OK);
    EXPECT_STATUS(events_reserve(events, one, &reason), STATUS_OK);
    EXPECT_STATUS(events_reserve(events, one, &reason), STATUS_THROTTLED);
    EXPECT(reason.rule[0] != '\0');
    events_unreserve(events, one);
    EXPECT_STATUS(events_reserve(events, one, &reason), STATUS_OK);
    EXPECT_STATUS(events_reserve(events, other, &reason), STATUS_OK);
    for (int i = 0; i < 3; i++)
        EXPECT_STATUS(events_reserve(events, here, &reason), STATUS_OK);
    EXPECT_STATUS(events_reserve(events, proxy, &reason), STATUS_UNAVAILABLE);
    EXPECT_I64(events_figures(events).refused, 2);
    events_unreserve(events, one);
    events_unreserve(events, one);
    events_unreserve(events, other);
    for (int i = 0; i < 3; i++)
        events_unreserve(events, here);
    end_test();
}

TEST(the_interval_is_four_rounds_when_those_are_long)
{
    EXPECT_I64(events_interval_us(2000000, 0), 2000000);
    EXPECT_I64(events_interval_us(2000000, 500000), 2000000);
    EXPECT_I64(events_interval_us(2000000, 500001), 2000004);
    EXPECT_I64(events_interval_us(2000000, 3000000), 12000000);
    EXPECT_I64(events_interval_us(2000000, 900000000), 60000000);
}

TEST(slow_rounds_stretch_the_interval_and_quick_ones_end_that)
{
    begin_test((EventsOptions){.interval_ms = 20});
    Client client = watch("a");
    expect_text(&client, "data: a 0 ");
    build_ms = 100;
    change("a");
    expect_text(&client, "data: a 1 ");
    for (int i = 0; events_figures(events).interval_us < 400000 && i < 100; i++)
        usleep(1000);
    EXPECT(events_figures(events).interval_us >= 400000);
    build_ms = 0;
    change("a");
    expect_text(&client, "data: a 2 ");
    for (int i = 0; events_figures(events).interval_us > 200000 && i < PATIENCE_MS; i++)
        usleep(1000);
    EXPECT(events_figures(events).interval_us <= 200000);
    leave(&client);
    end_test();
}

/* ---- Threads ---- */

static _Atomic bool is_over;

static void *change_many(void *unused)
{
    static const char *const topics[] = {"a", "b", "c"};
    (void)unused;
    for (int i = 0; !is_over; i++)
        change(topics[i % 3]);
    return NULL;
}

TEST(changes_from_many_threads_while_watchers_come_and_go)
{
    pthread_t threads[3];
    is_over = false;
    begin_test((EventsOptions){.interval_ms = 5, .heartbeat_ms = 10});
    for (int i = 0; i < 3; i++)
        CHECK(pthread_create(&threads[i], NULL, change_many, NULL) == 0);
    for (int i = 0; i < 100; i++) {
        Client first = watch(i % 2 == 0 ? "a" : "b"), second = watch("c");
        expect_text(&first, "data: ");
        leave(&first);
        if (i % 3 == 0)
            expect_text(&second, "data: ");
        leave(&second);
    }
    is_over = true;
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    expect_watchers(0);
    end_test();
}
