/* server_test.c -- the listener over real sockets, on journals in memory: order, bounds, what a connection leaves behind, our own words. */
#include <errno.h>
#include <netinet/in.h>
#include <semaphore.h>
#include <stdarg.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "beanstalk/beanstalk.h"
#include "memory_log.h"
#include "test.h"
#include "world.h"

#define TUBES "[tubes]\nmax_data = 64K\n"

typedef struct Site {
    MemoryLog *kept;
    Journals *journals;
    BeanstalkServer *server;
    BeanstalkOptions options;
    Reason reason;
    char path[108];
} Site;

static void begin(Site *site, const char *declaration)
{
    *site = (Site){.kept = memory_log_new()};
    JournalsOptions options = {.declaration = slice_from(declaration),
                               .world = world_real(),
                               .cache_bytes = 1 << 20,
                               .reopen_s = 1,
                               .log = memory_log_open(site->kept)};
    EXPECT_STATUS(journals_open(&options, &site->journals, &site->reason), STATUS_OK);
    site->options = (BeanstalkOptions){.journals = site->journals,
                                       .world = world_real(),
                                       .connections = 100,
                                       .connections_per_address = 10,
                                       .memory = 64 << 20};
}

static void start(Site *site)
{
    char where[128];
    snprintf(site->path, sizeof site->path, "%s/socket", test_directory());
    snprintf(where, sizeof where, "unix:%s", site->path);
    const Slice listen[] = {SLICE("127.0.0.1:0"), slice_from(where)};
    site->options.listen = listen;
    site->options.listen_count = 2;
    EXPECT_STATUS(beanstalk_start(&site->options, &site->server, &site->reason), STATUS_OK);
}

static void open_site(Site *site, const char *declaration)
{
    begin(site, declaration);
    start(site);
}

static void close_site(Site *site)
{
    beanstalk_stop(site->server);
    journals_close(site->journals);
    memory_log_free(site->kept);
}

/* ---- A client ---------------------------------------------------------------------------------------------- */

static int ready(int fd)
{
    struct timeval patience = {.tv_sec = 20};
    EXPECT(fd >= 0);
    EXPECT(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) == 0);
    return fd;
}

static int dial(const Site *site)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons(beanstalk_port(site->server)),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = ready(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT(connect(fd, (struct sockaddr *)&address, sizeof address) == 0);
    return fd;
}

static int dial_unix(const Site *site)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    memcpy(address.sun_path, site->path, strlen(site->path));
    int fd = ready(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT(connect(fd, (struct sockaddr *)&address, sizeof address) == 0);
    return fd;
}

static void say_bytes(int fd, Slice bytes)
{
    while (bytes.size > 0) {
        ssize_t sent = send(fd, bytes.data, bytes.size, MSG_NOSIGNAL);
        EXPECT(sent > 0);
        bytes = slice_after(bytes, (size_t)sent);
    }
}

static void say(int fd, const char *text)
{
    say_bytes(fd, slice_from(text));
}

/* Exactly these bytes come next. */
static void hear(int fd, const char *expected)
{
    static char got[1 << 20];
    size_t size = strlen(expected), at = 0;
    EXPECT(size < sizeof got);
    while (at < size) {
        ssize_t more = recv(fd, got + at, size - at, 0);
        if (more <= 0)
            test_fail(__FILE__, __LINE__, "\"%.*s\" and then nothing, expected \"%s\"", (int)at,
                      got, expected);
        at += (size_t)more;
        if (memcmp(got, expected, at) != 0)
            test_fail(__FILE__, __LINE__, "\"%.*s\", expected \"%s\"", (int)at, got, expected);
    }
}

static void talk(int fd, const char *said, const char *heard)
{
    say(fd, said);
    hear(fd, heard);
}

static void hear_end(int fd)
{
    char byte;
    EXPECT_I64(recv(fd, &byte, 1, 0), 0);
    close(fd);
}

/* A line without its end. */
static const char *hear_line(int fd)
{
    static char line[512];
    size_t size = 0;
    while (size < 2 || line[size - 1] != '\n') {
        EXPECT(size < sizeof line - 1);
        EXPECT_I64(recv(fd, line + size, 1, 0), 1);
        size++;
    }
    line[size - 2] = '\0';
    return line;
}

/* The number after `key: ` in the YAML that the command gives. */
static long long stat_of(int fd, const char *command, const char *key)
{
    char text[8192], wanted[64];
    size_t size, at = 0;
    say(fd, command);
    EXPECT(sscanf(hear_line(fd), "OK %zu", &size) == 1 && size + 2 < sizeof text);
    while (at < size + 2) {
        ssize_t more = recv(fd, text + at, size + 2 - at, 0);
        EXPECT(more > 0);
        at += (size_t)more;
    }
    text[at] = '\0';
    snprintf(wanted, sizeof wanted, "\n%s: ", key);
    const char *found = strstr(text, wanted);
    EXPECT(found != NULL);
    return atoll(found + strlen(wanted));
}

static void await_stat(int fd, const char *command, const char *key, long long value)
{
    while (stat_of(fd, command, key) != value)
        usleep(1000);
}

/* ---- Order and framing ------------------------------------------------------------------------------------- */

TEST(a_job_goes_its_way_on_tcp_and_on_a_unix_socket)
{
    Site site;
    open_site(&site, TUBES);
    for (int i = 0; i < 2; i++) {
        int fd = i == 0 ? dial(&site) : dial_unix(&site);
        char line[64];
        talk(fd, "put 5 0 60 5\r\nhello\r\n", i == 0 ? "INSERTED 1\r\n" : "INSERTED 2\r\n");
        talk(fd, "reserve\r\n", i == 0 ? "RESERVED 1 5\r\nhello\r\n" : "RESERVED 2 5\r\nhello\r\n");
        snprintf(line, sizeof line, "delete %d\r\n", i + 1);
        talk(fd, line, "DELETED\r\n");
        talk(fd, line, "NOT_FOUND\r\n");
        say(fd, "quit\r\n");
        hear_end(fd);
    }
    close_site(&site);
}

TEST(answers_come_in_the_order_of_the_commands)
{
    Site site;
    open_site(&site, TUBES);
    int fd = dial(&site);
    talk(fd,
         "use a\r\nput 0 0 1 1\r\nx\r\nwatch a\r\nignore default\r\nlist-tube-used\r\nreserve\r\n"
         "nonsense\r\nrelease 1 7 0\r\nreserve-with-timeout 0\r\nbury 1 3\r\npeek-buried\r\n"
         "kick 10\r\npeek-ready\r\ndelete 1\r\nlist-tubes-watched\r\n",
         "USING a\r\nINSERTED 1\r\nWATCHING 2\r\nWATCHING 1\r\nUSING a\r\nRESERVED 1 1\r\nx\r\n"
         "UNKNOWN_COMMAND\r\nRELEASED\r\nRESERVED 1 1\r\nx\r\nBURIED\r\nFOUND 1 1\r\nx\r\n"
         "KICKED 1\r\nFOUND 1 1\r\nx\r\nDELETED\r\nOK 8\r\n---\n- a\n\r\n");
    close(fd);
    close_site(&site);
}

TEST(bytes_may_come_one_by_one)
{
    Site site;
    open_site(&site, TUBES);
    int fd = dial(&site);
    for (const char *c = "put 0 0 1 3\r\na\r\n\r\nreserve\r\n"; *c != '\0'; c++)
        say_bytes(fd, slice_of(c, 1));
    hear(fd, "INSERTED 1\r\nRESERVED 1 3\r\na\r\n\r\n");
    close(fd);
    close_site(&site);
}

TEST(what_is_wrong_is_answered_and_the_next_command_is_read)
{
    static char over[70000], own[8000];
    Site site;
    open_site(&site, TUBES);
    int fd = dial(&site);
    talk(fd, "put 0 0 1 3\r\nabcde\r\n", "EXPECTED_CRLF\r\nUNKNOWN_COMMAND\r\n");
    memset(over, 'a', sizeof over - 1);
    say(fd, over);
    talk(fd, "\r\nlist-tube-used\r\n", "BAD_FORMAT\r\nUSING default\r\n");
    say(fd, "put 0 0 1 65537\r\n");
    say_bytes(fd, slice_of(over, 65537));
    talk(fd, "\r\nlist-tube-used\r\n", "JOB_TOO_BIG\r\nUSING default\r\n");
    memset(own, 'a', sizeof own - 1);
    memcpy(own, "x-listen ", 9);
    say(fd, own);
    talk(fd, "\r\nlist-tube-used\r\n", "BAD_FORMAT\r\nUSING default\r\n");
    say_bytes(fd, SLICE("list-tube\0-used\r\n"));
    hear(fd, "BAD_FORMAT\r\n");
    talk(fd, "put 0 0 1 x\r\nlist-tube-used\r\n", "BAD_FORMAT\r\nUSING default\r\n");
    close(fd);
    close_site(&site);
}

/* ---- What a connection leaves behind ------------------------------------------------------------------------ */

TEST(what_was_reserved_goes_back_when_the_connection_ends)
{
    Site site;
    open_site(&site, TUBES);
    int worker = dial(&site), other = dial_unix(&site);
    talk(worker, "put 0 0 600 1\r\nx\r\nreserve\r\n", "INSERTED 1\r\nRESERVED 1 1\r\nx\r\n");
    talk(other, "delete 1\r\ntouch 1\r\nrelease 1 0 0\r\nbury 1 0\r\n",
         "NOT_FOUND\r\nNOT_FOUND\r\nNOT_FOUND\r\nNOT_FOUND\r\n");
    say(other, "reserve\r\n");
    close(worker);
    hear(other, "RESERVED 1 1\r\nx\r\n");
    EXPECT_I64(stat_of(other, "stats-job 1\r\n", "timeouts"), 0);
    EXPECT_I64(stat_of(other, "stats-job 1\r\n", "releases"), 0);
    EXPECT_I64(stat_of(other, "stats\r\n", "current-connections"), 1);
    close(other);
    close_site(&site);
}

TEST(a_half_closed_client_does_not_wait)
{
    Site site;
    open_site(&site, TUBES);
    for (int i = 0; i < 2; i++) {
        int fd = i == 0 ? dial(&site) : dial_unix(&site);
        say(fd, i == 0 ? "reserve\r\nlist-tube-used\r\nreserve-with-timeout 100\r\nuse"
                       : "reserve\r\n");
        EXPECT(shutdown(fd, SHUT_WR) == 0);
        hear(fd, i == 0 ? "TIMED_OUT\r\nUSING default\r\nTIMED_OUT\r\n" : "TIMED_OUT\r\n");
        hear_end(fd);
    }
    close_site(&site);
}

TEST(a_lease_that_is_about_to_end_is_said)
{
    Site site;
    open_site(&site, TUBES);
    int fd = dial(&site);
    talk(fd, "put 0 0 1 1\r\nx\r\nreserve\r\n", "INSERTED 1\r\nRESERVED 1 1\r\nx\r\n");
    talk(fd, "reserve-with-timeout 0\r\nreserve\r\n", "DEADLINE_SOON\r\nDEADLINE_SOON\r\n");
    talk(fd, "touch 1\r\nput 0 0 1 1\r\ny\r\nreserve\r\n",
         "TOUCHED\r\nINSERTED 2\r\nRESERVED 2 1\r\ny\r\n");
    await_stat(fd, "stats\r\n", "job-timeouts", 2);
    talk(fd, "delete 1\r\n", "DELETED\r\n");
    close(fd);
    close_site(&site);
}

TEST(waiting_connections_are_counted_and_served_in_their_order)
{
    Site site;
    open_site(&site, TUBES);
    int first = dial(&site), second = dial(&site), other = dial(&site);
    talk(first, "watch a\r\n", "WATCHING 2\r\n");
    say(first, "reserve\r\n");
    await_stat(other, "stats-tube default\r\n", "current-waiting", 1);
    say(second, "reserve-with-timeout 100\r\n");
    await_stat(other, "stats-tube default\r\n", "current-waiting", 2);
    EXPECT_I64(stat_of(other, "stats-tube a\r\n", "current-waiting"), 1);
    EXPECT_I64(stat_of(other, "stats\r\n", "current-waiting"), 2);
    EXPECT_I64(stat_of(other, "stats\r\n", "current-workers"), 2);
    talk(other, "put 0 0 1 1\r\nx\r\nput 0 0 1 1\r\ny\r\n", "INSERTED 1\r\nINSERTED 2\r\n");
    hear(first, "RESERVED 1 1\r\nx\r\n");
    hear(second, "RESERVED 2 1\r\ny\r\n");
    EXPECT_I64(stat_of(other, "stats\r\n", "current-waiting"), 0);
    EXPECT_I64(stat_of(other, "stats\r\n", "current-producers"), 1);
    close(first);
    close(second);
    close(other);
    close_site(&site);
}

/* ---- Bounds ------------------------------------------------------------------------------------------------ */

/* Asks for much and reads nothing, until the server does not take more; then reads it all. */
TEST(a_client_that_does_not_read_is_not_read_from)
{
    enum { JOBS = 64 };
    static char body[60000];
    Site site;
    open_site(&site, TUBES);
    int fd = dial(&site), other = dial(&site);
    memset(body, 'x', sizeof body);
    say(fd, "put 0 0 1 60000\r\n");
    say_bytes(fd, slice_of(body, sizeof body));
    talk(fd, "\r\n", "INSERTED 1\r\n");
    size_t asked = 0;
    const Slice ask = SLICE("peek 1\r\n");
    struct timeval patience = {.tv_usec = 500000};
    EXPECT(setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience) == 0);
    for (ssize_t sent = 1; sent > 0;) {
        sent = send(fd, ask.data + asked % ask.size, ask.size - asked % ask.size, MSG_NOSIGNAL);
        asked += sent > 0 ? (size_t)sent : 0;
    }
    EXPECT(asked / ask.size > JOBS);
    EXPECT(stat_of(other, "stats\r\n", "cmd-peek") < (long long)(asked / ask.size));
    EXPECT(shutdown(fd, SHUT_WR) == 0);
    size_t heard = 0;
    char got[65536];
    for (ssize_t more; (more = recv(fd, got, sizeof got, 0)) != 0; heard += (size_t)more)
        EXPECT(more > 0);
    EXPECT_I64(heard, asked / ask.size * (strlen("FOUND 1 60000\r\n") + sizeof body + 2));
    close(fd);
    close(other);
    close_site(&site);
}

TEST(all_bodies_together_have_a_bound)
{
    static char body[1 << 20];
    Site site;
    begin(&site, "[tubes]\nmax_data = 1M\n");
    site.options.memory = 3500000; /* one buffer of 2 MiB, and not two */
    start(&site);
    int one = dial(&site), two = dial(&site), three = dial(&site);
    say(one, "put 0 0 1 1048576\r\n");
    say_bytes(one, slice_of(body, sizeof body));
    await_stat(three, "stats\r\n", "current-producers", 1);
    say(two, "x-put 1048576\r\n");
    say_bytes(two, slice_of(body, sizeof body));
    talk(two, "\r\n", "X-ERROR THROTTLED body no memory for it now\r\n");
    say(two, "put 0 0 1 1048576\r\n");
    say_bytes(two, slice_of(body, sizeof body));
    talk(two, "\r\n", "OUT_OF_MEMORY\r\n");
    talk(one, "\r\n", "INSERTED 1\r\n");
    say(two, "put 0 0 1 1048576\r\n");
    say_bytes(two, slice_of(body, sizeof body));
    talk(two, "\r\n", "INSERTED 2\r\n");
    close(one);
    close(two);
    close(three);
    close_site(&site);
}

TEST(connections_have_a_bound)
{
    Site site;
    begin(&site, TUBES);
    site.options.connections = 2;
    start(&site);
    int one = dial(&site), two = dial(&site);
    talk(one, "list-tube-used\r\n", "USING default\r\n");
    talk(two, "list-tube-used\r\n", "USING default\r\n");
    hear_end(dial(&site));
    close(one);
    await_stat(two, "stats\r\n", "current-connections", 1);
    one = dial(&site);
    talk(one, "list-tube-used\r\n", "USING default\r\n");
    close(one);
    close(two);
    close_site(&site);
}

TEST(a_command_that_was_begun_must_come_to_its_end)
{
    Site site;
    TestWorld own;
    begin(&site, TUBES);
    site.options.world = test_world(&own, 1);
    start(&site);
    int body = dial(&site), line = dial(&site), waits = dial(&site), other = dial(&site);
    talk(body, "use a\r\nput 0 0 1 3\r\na", "USING a\r\n");
    talk(line, "use b\r\nu", "USING b\r\n");
    talk(waits, "use c\r\n", "USING c\r\n");
    say(waits, "reserve\r\n");
    await_stat(other, "stats\r\n", "current-waiting", 1);
    test_world_pass(&own, 59 * US_PER_S);
    EXPECT_I64(stat_of(other, "stats\r\n", "current-connections"), 4);
    test_world_pass(&own, 2 * US_PER_S);
    await_stat(other, "stats\r\n", "current-connections", 2);
    hear_end(body);
    hear_end(line);
    talk(other, "put 0 0 1 1\r\nx\r\n", "INSERTED 1\r\n");
    hear(waits, "RESERVED 1 1\r\nx\r\n");
    close(waits);
    close(other);
    close_site(&site);
}

TEST(what_is_full_says_so_and_work_can_end)
{
    Site site;
    open_site(&site, "[tubes]\nmax_entries = 1\n");
    int fd = dial(&site);
    talk(fd, "put 0 0 1 1\r\nx\r\nput 0 0 1 1\r\ny\r\n", "INSERTED 1\r\nOUT_OF_MEMORY\r\n");
    memory_log_fill(site.kept, true);
    talk(fd, "use b\r\nput 0 0 1 1\r\ny\r\nreserve\r\ndelete 1\r\n",
         "USING b\r\nOUT_OF_MEMORY\r\nRESERVED 1 1\r\nx\r\nDELETED\r\n");
    close(fd);
    close_site(&site);
}

TEST(after_a_failed_write_the_connection_ends)
{
    Site site;
    open_site(&site, TUBES);
    int fd = dial(&site), other = dial(&site);
    talk(fd, "put 0 0 1 1\r\nx\r\n", "INSERTED 1\r\n");
    memory_log_break(site.kept, true);
    memory_log_fail(site.kept, 1, MEMORY_FAILS);
    talk(fd, "put 0 0 1 1\r\ny\r\n", "INTERNAL_ERROR\r\n");
    hear_end(fd);
    talk(other, "put 0 0 1 1\r\ny\r\n", "INTERNAL_ERROR\r\n"); /* read-only: surely not done */
    talk(other, "x-put 1\r\nz\r\n",
         "X-ERROR UNAVAILABLE - the journal is read-only after a disk error\r\n");
    memory_log_break(site.kept, false);
    EXPECT_STATUS(journals_reopen(site.journals, &site.reason), STATUS_OK);
    talk(other, "reserve\r\n", "RESERVED 1 1\r\nx\r\n");
    close(other);
    close_site(&site);
}

/* ---- Ending ------------------------------------------------------------------------------------------------ */

TEST(draining_refuses_puts_and_nothing_else)
{
    Site site;
    open_site(&site, TUBES);
    int fd = dial(&site);
    talk(fd, "put 0 0 1 1\r\nx\r\n", "INSERTED 1\r\n");
    beanstalk_drain(site.server);
    talk(fd, "put 0 0 1 1\r\nxyz\r\nput 0 0 1 1\r\nx\r\n",
         "EXPECTED_CRLF\r\nUNKNOWN_COMMAND\r\nDRAINING\r\n");
    talk(fd, "x-put 1\r\nx\r\nreserve\r\n",
         "X-ERROR UNAVAILABLE draining this server takes no puts\r\nRESERVED 1 1\r\nx\r\n");
    close(fd);
    close_site(&site);
}

TEST(a_stop_answers_what_is_under_way)
{
    Site site;
    open_site(&site, TUBES);
    int waits = dial(&site), puts = dial(&site), idle = dial(&site), half = dial(&site);
    say(waits, "reserve\r\nlist-tube-used\r\n");
    await_stat(idle, "stats\r\n", "current-waiting", 1);
    talk(half, "use a\r\nput 0 0 1 5\r\nab", "USING a\r\n");
    talk(puts, "use a\r\nput 0 0 1 1\r\nx\r\n", "USING a\r\nINSERTED 1\r\n");
    beanstalk_stop(site.server);
    hear(waits, "TIMED_OUT\r\n");
    hear_end(waits);
    hear_end(puts);
    hear_end(idle);
    hear_end(half);
    journals_close(site.journals);
    memory_log_free(site.kept);
}

/* ---- Keys and our own words --------------------------------------------------------------------------------- */

TEST(a_key_merges_what_waits)
{
    Site site;
    open_site(&site, "[tubes]\n[journal line]\nkey_from = line1\nput = local\nclaim = local\n"
                     "[journal member]\nkey_from = json:/a~1b/1\nput = any\nclaim = any\n");
    int fd = dial(&site);
    talk(fd, "put 5 0 1 1 key:a%20b\r\nx\r\nput 3 0 1 1 key:a%20b\r\ny\r\nreserve\r\n",
         "INSERTED 1\r\nINSERTED 1\r\nRESERVED 1 1\r\ny\r\n");
    talk(fd,
         "use line\r\nput 0 0 1 4\r\nk\r\n1\r\nput 0 0 1 3\r\nk\n2\r\nput 0 0 1 3 key:\r\nk\n3\r\n",
         "USING line\r\nINSERTED 2\r\nINSERTED 2\r\nINSERTED 3\r\n");
    talk(fd,
         "use member\r\nput 0 0 1 15\r\n{\"a/b\":[0,\"k\"]}\r\nput 0 0 1 "
         "15\r\n{\"a/b\":[1,\"k\"]}\r\n",
         "USING member\r\nINSERTED 4\r\nINSERTED 4\r\n");
    talk(fd,
         "put 0 0 1 13\r\n{\"a/b\":[1,7]}\r\nput 0 0 1 2\r\n{}\r\nput 0 0 1 2\r\n[]\r\nput 0 0 1 "
         "1\r\nx\r\n",
         "INSERTED 5\r\nINSERTED 6\r\nINSERTED 7\r\nINSERTED 8\r\n");
    close(fd);
    close_site(&site);
}

TEST(our_own_words_put_claim_and_end)
{
    char token[40], command[300];
    long long id, inserted, due;
    Site site;
    open_site(&site, "[tubes]\nlease_s = 60\n");
    int fd = dial(&site), other = dial(&site);
    say(fd, "x-put 7 to=a keylen=3 pri=NEW\r\na\nbdata\r\n");
    EXPECT(sscanf(hear_line(fd), "X-PUT created %lld %lld", &id, &due) == 2);
    say(fd, "x-put 4 to=a key=a%0Ab pri=10 delay=0\r\nmore\r\n");
    EXPECT(strncmp(hear_line(fd), "X-PUT merged 1 ", 15) == 0);
    say(fd, "x-claim n=5 from=a,b lease=5000\r\n");
    hear(fd, "X-CLAIMED 1 -\r\n");
    unsigned priority, timeouts;
    long long lease;
    size_t key, data;
    EXPECT_I64(sscanf(hear_line(fd), "X-ENTRY %lld %32s a %u %u %lld %lld %lld %zu %zu", &id, token,
                      &priority, &timeouts, &inserted, &due, &lease, &key, &data),
               9);
    hear(fd, "a\nbmore\r\n");
    EXPECT_I64(priority, 10);
    EXPECT_I64(lease, 5000);
    EXPECT_I64(key, 3);
    EXPECT_I64(data, 4);
    say(fd, "x-put 1 to=a key=a%0Ab\r\nx\r\n");
    EXPECT(strncmp(hear_line(fd), "X-PUT held 2 ", 13) == 0);
    close(fd); /* the token is not bound to it */
    snprintf(command, sizeof command, "x-extend %s lease=60000\r\nx-done %s,%s\r\nx-done %s\r\n",
             token, token, token, token);
    talk(other, command, "X-DID OK\r\nX-DID OK LOST\r\nX-DID LOST\r\n");
    say(other, "x-claim from=a\r\n");
    hear(other, "X-CLAIMED 1 -\r\n");
    EXPECT(sscanf(hear_line(other), "X-ENTRY 2 %32s a", token) == 1);
    hear(other, "a\nbx\r\n");
    snprintf(command, sizeof command, "x-fail %s error=it%%20broke\r\ndelete 2\r\n", token);
    talk(other, command, "X-DID OK\r\nDELETED\r\n");
    talk(other, "x-claim from=a\r\nx-claim n=0\r\nx-put 3 keylen=4\r\nabc\r\nx-auth t\r\n",
         "X-CLAIMED 0 -\r\nX-ERROR INVALID n a number from 1 to 1000\r\n"
         "X-ERROR INVALID keylen at most BYTES\r\n"
         "X-ERROR UNAVAILABLE token this server has no accounts\r\n");
    talk(other, "x-put x\r\n", "X-ERROR INVALID bytes a number from 0 to 67174400\r\n");
    hear_end(other);
    close_site(&site);
}

TEST(what_nobody_took_goes_back_at_once)
{
    Site site;
    open_site(&site, "[tubes]\nlease_s = 3600\n");
    int gone = dial(&site), other = dial(&site);
    say(gone, "x-claim from=a wait=100000\r\n");
    talk(other, "use a\r\nwatch a\r\n", "USING a\r\nWATCHING 2\r\n");
    close(gone);
    talk(other, "put 0 0 1 1\r\nx\r\nreserve\r\n", "INSERTED 1\r\nRESERVED 1 1\r\nx\r\n");
    close(other);
    close_site(&site);
}

TEST(a_listener_hears_of_what_becomes_due_once)
{
    Site site;
    open_site(&site, "[tubes]\n");
    int fd = dial(&site), other = dial(&site);
    talk(fd, "x-listen a,b\r\n", "X-LISTENING 2\r\n");
    talk(other, "use b\r\nput 7 0 1 1\r\nx\r\n", "USING b\r\nINSERTED 1\r\n");
    EXPECT(strncmp(hear_line(fd), "X-READY b 1 7 ", 14) == 0);
    talk(other, "put 7 0 1 1\r\nx\r\n", "INSERTED 2\r\n");
    talk(fd, "list-tube-used\r\n", "USING default\r\n"); /* nothing in between */
    say(fd, "x-claim n=2 from=b\r\n");
    hear(fd, "X-CLAIMED 2 -\r\n");
    for (int i = 0; i < 2; i++) {
        (void)hear_line(fd);
        hear(fd, "x\r\n");
    }
    talk(fd, "x-claim from=a,b\r\n", "X-CLAIMED 0 -\r\n"); /* armed again */
    talk(other, "put 3 0 1 1\r\nx\r\n", "INSERTED 3\r\n");
    EXPECT(strncmp(hear_line(fd), "X-READY b 1 3 ", 14) == 0);
    talk(fd, "x-listen\r\nx-listen a,a\r\n",
         "X-LISTENING 0\r\nX-ERROR INVALID names a is named twice\r\n");
    close(fd);
    close(other);
    close_site(&site);
}

/* ---- Who may ----------------------------------------------------------------------------------------------- */

#define GUARDED                                                                                    \
    "[journal secret]\nput = token:robot\nclaim = admin\n[journal open]\nput = any\nclaim = any\n" \
    "[journal inside]\nput = task\nclaim = task\n"

/* "robot" and "chief" are tokens; "maybe" cannot be looked up. */
static Status find_token(void *self, Slice token, void **ret_grants)
{
    static const char *const KNOWN[] = {"robot", "chief"};
    _Atomic int *asked = self;
    (*asked)++;
    for (size_t i = 0; i < 2; i++)
        if (slice_equal(token, slice_from(KNOWN[i]))) {
            *ret_grants = strdup(KNOWN[i]);
            return STATUS_OK;
        }
    return slice_equal(token, SLICE("maybe")) ? STATUS_UNAVAILABLE : STATUS_LOGIN;
}

static bool token_may(void *self, const void *grants, const JournalAccessList *list, Slice journal,
                      bool put)
{
    (void)self;
    (void)journal;
    (void)put;
    for (size_t i = 0; i < list->count; i++)
        if ((list->items[i].kind == JOURNAL_ACCESS_ADMIN && strcmp(grants, "chief") == 0) ||
            (list->items[i].kind == JOURNAL_ACCESS_TOKEN &&
             slice_equal(list->items[i].name, slice_from(grants))))
            return true;
    return false;
}

static void forget_token(void *self, void *grants)
{
    (void)self;
    free(grants);
}

TEST(the_declaration_says_who_may)
{
    _Atomic int asked = 0;
    Site site;
    begin(&site, GUARDED);
    site.options.auth = find_token;
    site.options.may = token_may;
    site.options.forget = forget_token;
    site.options.self = &asked;
    start(&site);
    int fd = dial(&site), chief = dial(&site);
    talk(fd,
         "use secret\r\nuse none\r\nuse inside\r\nwatch secret\r\nput 0 0 1 1\r\nx\r\nreserve\r\n",
         "NOT_FOUND\r\nNOT_FOUND\r\nNOT_FOUND\r\nNOT_FOUND\r\nNOT_FOUND\r\nNOT_FOUND\r\n");
    talk(fd, "x-put 1 to=secret\r\nx\r\nx-claim from=none\r\nx-claim\r\n",
         "X-ERROR DENIED to secret is not for this connection\r\n"
         "X-ERROR NOT_FOUND from there is no journal none\r\n"
         "X-ERROR DENIED from none that is watched is for this connection\r\n");
    talk(fd, "use open\r\nput 0 0 1 1\r\nx\r\n", "USING open\r\nINSERTED 1\r\n");
    talk(fd, "x-auth wrong\r\nx-auth maybe\r\nx-auth robot\r\nuse secret\r\nput 0 0 1 1\r\ny\r\n",
         "X-ERROR LOGIN token is not a valid token\r\nX-ERROR UNAVAILABLE token not done, try "
         "again\r\n"
         "X-OK\r\nUSING secret\r\nINSERTED 2\r\n");
    talk(fd, "x-auth wrong\r\nput 0 0 1 1\r\nz\r\nwatch secret\r\n",
         "X-ERROR LOGIN token is not a valid token\r\nINSERTED 3\r\nNOT_FOUND\r\n");
    talk(fd,
         "peek 2\r\ndelete 2\r\nreserve-job 2\r\nkick-job 2\r\nstats-job 2\r\npeek-ready\r\nkick "
         "5\r\n",
         "NOT_FOUND\r\nNOT_FOUND\r\nNOT_FOUND\r\nNOT_FOUND\r\nNOT_FOUND\r\nNOT_FOUND\r\nNOT_"
         "FOUND\r\n");
    talk(fd, "peek 1\r\ndelete 1\r\n", "FOUND 1 1\r\nx\r\nDELETED\r\n");
    talk(chief, "x-auth chief\r\nwatch secret\r\nreserve\r\ndelete 2\r\npeek 3\r\ndelete 3\r\n",
         "X-OK\r\nWATCHING 2\r\nRESERVED 2 1\r\ny\r\nDELETED\r\nFOUND 3 1\r\nz\r\nDELETED\r\n");
    EXPECT_I64(asked, 5);
    close(fd);
    close(chief);
    close_site(&site);
}

TEST(another_declaration_counts_at_once)
{
    Site site;
    open_site(&site, "[journal a]\nput = local\n");
    int fd = dial(&site);
    talk(fd, "use a\r\nput 0 0 1 1\r\nx\r\n", "USING a\r\nINSERTED 1\r\n");
    EXPECT_STATUS(journals_reload(site.journals, SLICE("[journal a]\nput = admin\nclaim = local\n"),
                                  "x", &site.reason),
                  STATUS_OK);
    talk(fd, "put 0 0 1 1\r\nx\r\ndelete 1\r\n", "NOT_FOUND\r\nDELETED\r\n");
    close(fd);
    close_site(&site);
}

TEST(other_machines_are_not_served_unless_it_is_said)
{
    Site site;
    begin(&site, TUBES);
    const Slice where = SLICE("0.0.0.0:0");
    site.options.listen = &where;
    site.options.listen_count = 1;
    EXPECT_STATUS(beanstalk_start(&site.options, &site.server, &site.reason), STATUS_INVALID);
    EXPECT(strstr(site.reason.rule, "journal_listen_open") != NULL);
    site.options.open = true;
    EXPECT_STATUS(beanstalk_start(&site.options, &site.server, &site.reason), STATUS_OK);
    close_site(&site);
}

TEST(a_socket_that_listens_already_is_taken)
{
    Site site;
    begin(&site, TUBES);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT(bind(fd, (struct sockaddr *)&address, sizeof address) == 0);
    site.options.sockets = &fd;
    site.options.socket_count = 1;
    EXPECT_STATUS(beanstalk_start(&site.options, &site.server, &site.reason), STATUS_INVALID);
    fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT(bind(fd, (struct sockaddr *)&address, sizeof address) == 0 && listen(fd, 5) == 0);
    EXPECT(getsockname(fd, (struct sockaddr *)&address, &size) == 0);
    EXPECT_STATUS(beanstalk_start(&site.options, &site.server, &site.reason), STATUS_OK);
    int client = ready(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT(connect(client, (struct sockaddr *)&address, sizeof address) == 0);
    talk(client, "list-tube-used\r\n", "USING default\r\n");
    close(client);
    close_site(&site);
}
