/* listen_test.c -- what an address to listen on may look like, sockets of both families, and taking connections. */
#include "net/listen.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "test.h"
#include "world.h"

static bool listens(const char *text, const char *host, const char *port)
{
    NetPlace place;
    Reason reason = {0};
    return net_parse_place(slice_from(text), &place, &reason) == STATUS_OK &&
           strcmp(place.host, host) == 0 && strcmp(place.port, port) == 0;
}

TEST(a_listen_address_is_host_and_port)
{
    EXPECT(listens("127.0.0.1:8080", "127.0.0.1", "8080"));
    EXPECT(listens("[::1]:0", "::1", "0"));
    EXPECT(listens("localhost:65535", "localhost", "65535"));
    EXPECT(listens("h:00080", "h", "80"));
}

TEST(a_broken_listen_address_is_refused_with_the_field)
{
    static const char *const cases[] = {"",        "8080",   ":8080",   "h:",           "h:65536",
                                        "h:-1",    "h: 80",  "::1:80",  "[]:80",        "[::1]",
                                        "[::1:80", "a b:80", "h:80:90", "h:99999999999"};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        NetPlace place;
        Reason reason = {0};
        EXPECT_STATUS(net_parse_place(slice_from(cases[i]), &place, &reason), STATUS_INVALID);
        EXPECT_SLICE(slice_from(reason.field), SLICE("listen"));
        EXPECT(reason.rule[0] != '\0');
    }
}

TEST(a_host_that_is_too_long_is_refused)
{
    char text[300];
    NetPlace place;
    memset(text, 'h', sizeof text);
    memcpy(text + sizeof text - 3, ":80", 3);
    EXPECT_STATUS(net_parse_place(slice_of(text, sizeof text), &place, NULL), STATUS_INVALID);
}

/* ---- Listening and taking connections ---- */

static int taken[8];
static size_t taken_count;
static Address taken_peer;

static void take(NetListener *listener, int fd, Address peer)
{
    (void)listener;
    taken[taken_count++] = fd;
    taken_peer = peer;
}

static void close_taken(void)
{
    for (size_t i = 0; i < taken_count; i++)
        close(taken[i]);
    taken_count = 0;
}

static int connect_to(uint16_t port)
{
    struct sockaddr_in to = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT(fd >= 0 && connect(fd, (struct sockaddr *)&to, sizeof to) == 0);
    return fd;
}

static int connect_to_file(const char *path)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    snprintf(to.sun_path, sizeof to.sun_path, "%s", path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT(fd >= 0);
    if (connect(fd, (struct sockaddr *)&to, sizeof to) == 0)
        return fd;
    close(fd);
    return -1;
}

static int listen_at(const char *where, uint16_t *ret_port)
{
    int fd = -1;
    Reason reason = {0};
    EXPECT_STATUS(net_listen(slice_from(where), NET_BACKLOG, &fd, ret_port, &reason), STATUS_OK);
    return fd;
}

TEST(a_port_that_is_taken_is_refused_and_free_again_at_once)
{
    char where[32];
    uint16_t port, again;
    Reason reason = {0};
    int fd = listen_at("127.0.0.1:0", &port), second;
    snprintf(where, sizeof where, "127.0.0.1:%u", (unsigned)port);
    EXPECT(port != 0);
    EXPECT_STATUS(net_listen(slice_from(where), NET_BACKLOG, &second, &again, &reason),
                  STATUS_UNAVAILABLE);
    EXPECT_SLICE(slice_from(reason.field), SLICE("listen"));
    int client = connect_to(port);
    Address peer;
    int accepted = net_accept(fd, &peer);
    EXPECT(accepted >= 0);
    close(accepted); /* first, so that its port is left waiting */
    close(client);
    net_unlisten(fd);
    fd = listen_at(where, &again);
    EXPECT_I64(again, port);
    net_unlisten(fd);
}

TEST(an_ipv6_socket_tells_its_port)
{
    uint16_t port = 0;
    int fd = -1;
    Reason reason = {0};
    Status status = net_listen(SLICE("[::1]:0"), NET_BACKLOG, &fd, &port, &reason);
    if (status == STATUS_UNAVAILABLE) /* a machine without IPv6 says so */
        EXPECT(strstr(reason.rule, "::1") != NULL);
    else
        EXPECT(status == STATUS_OK && port != 0);
    if (fd >= 0)
        net_unlisten(fd);
}

TEST(what_is_accepted_does_not_block_and_sends_without_delay)
{
    uint16_t port;
    Address peer;
    int fd = listen_at("127.0.0.1:0", &port), client = connect_to(port);
    int accepted = net_accept(fd, &peer), delay_off = 0;
    socklen_t size = sizeof delay_off;
    EXPECT(accepted >= 0 && address_is_loopback(peer));
    EXPECT((fcntl(accepted, F_GETFL) & O_NONBLOCK) != 0);
    EXPECT((fcntl(accepted, F_GETFD) & FD_CLOEXEC) != 0);
    EXPECT(getsockopt(accepted, IPPROTO_TCP, TCP_NODELAY, &delay_off, &size) == 0 && delay_off);
    EXPECT(net_accept(fd, &peer) == -1 && errno == EAGAIN);
    close(accepted);
    close(client);
    net_unlisten(fd);
}

TEST(the_file_of_a_dead_listener_is_replaced_and_that_of_a_live_one_is_not)
{
    char path[100], where[110];
    uint16_t port = 1;
    Reason reason = {0};
    snprintf(path, sizeof path, "%s/s", test_directory());
    snprintf(where, sizeof where, "unix:%s", path);
    int dead = listen_at(where, &port), second;
    EXPECT_I64(port, 0);
    EXPECT_STATUS(net_listen(slice_from(where), NET_BACKLOG, &second, &port, &reason),
                  STATUS_UNAVAILABLE);
    int client = connect_to_file(path);
    EXPECT(client >= 0);
    close(client);
    close(dead); /* without net_unlisten, as a process that is killed */
    EXPECT(access(path, F_OK) == 0 && connect_to_file(path) == -1);
    int fd = listen_at(where, &port);
    client = connect_to_file(path);
    EXPECT(client >= 0);
    close(client);
    net_unlisten(fd);
    EXPECT(access(path, F_OK) != 0);
}

TEST(a_file_that_is_no_socket_is_left_alone)
{
    char path[100], where[110];
    uint16_t port;
    int listening;
    Reason reason = {0};
    snprintf(path, sizeof path, "%s/file", test_directory());
    snprintf(where, sizeof where, "unix:%s", path);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    EXPECT(fd >= 0);
    close(fd);
    EXPECT_STATUS(net_listen(slice_from(where), NET_BACKLOG, &listening, &port, &reason),
                  STATUS_UNAVAILABLE);
    struct stat is;
    EXPECT(stat(path, &is) == 0 && S_ISREG(is.st_mode));
}

TEST(a_path_that_does_not_fit_is_refused)
{
    char where[5 + 108] = "unix:";
    uint16_t port;
    int fd;
    memset(where + 5, 'p', sizeof where - 5);
    EXPECT_STATUS(net_listen(slice_of(where, sizeof where), NET_BACKLOG, &fd, &port, NULL),
                  STATUS_INVALID);
    EXPECT_STATUS(net_listen(SLICE("unix:"), NET_BACKLOG, &fd, &port, NULL), STATUS_INVALID);
    EXPECT_STATUS(net_listen(SLICE("unix:a\0b"), NET_BACKLOG, &fd, &port, NULL), STATUS_INVALID);
}

TEST(a_listener_gives_what_connects_to_its_owner)
{
    uint16_t port;
    NetLoop loop;
    NetListener listener;
    int clients[3];
    net_loop_open(&loop, world_real().clock);
    int fd = listen_at("127.0.0.1:0", &port);
    net_listener_start(&listener, &loop, fd, take);
    for (size_t i = 0; i < 3; i++)
        clients[i] = connect_to(port);
    while (taken_count < 3)
        net_loop_turn(&loop, INT64_MAX);
    EXPECT(address_is_loopback(taken_peer));
    net_listener_stop(&listener);
    net_listener_stop(&listener);
    int late = connect_to(port);
    net_loop_turn(&loop, 0);
    EXPECT_I64(taken_count, 3);
    close(late);
    for (size_t i = 0; i < 3; i++)
        close(clients[i]);
    close_taken();
    net_unlisten(fd);
    net_loop_close(&loop);
}

static void allow_files(rlim_t count, struct rlimit *ret_before)
{
    struct rlimit limit;
    EXPECT(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    if (ret_before != NULL)
        *ret_before = limit;
    limit.rlim_cur = count;
    EXPECT(setrlimit(RLIMIT_NOFILE, &limit) == 0);
}

TEST(without_open_files_a_listener_waits_a_moment_and_then_goes_on)
{
    uint16_t port;
    TestWorld own;
    NetLoop loop;
    NetListener listener;
    struct rlimit before;
    net_loop_open(&loop, test_world(&own, 1).clock);
    int fd = listen_at("127.0.0.1:0", &port), client = connect_to(port);
    net_listener_start(&listener, &loop, fd, take);
    allow_files((rlim_t)client + 1, &before);
    net_loop_turn(&loop, 0);
    EXPECT_I64(taken_count, 0);
    EXPECT(timer_is_set(&listener.pause));
    allow_files(before.rlim_cur, NULL);
    net_loop_turn(&loop, 0); /* it does not ask again before the moment is over */
    EXPECT_I64(taken_count, 0);
    test_world_pass(&own, US_PER_S);
    net_loop_turn(&loop, 0);
    while (taken_count < 1)
        net_loop_turn(&loop, INT64_MAX);
    net_listener_stop(&listener);
    close(client);
    close_taken();
    net_unlisten(fd);
    net_loop_close(&loop);
}
