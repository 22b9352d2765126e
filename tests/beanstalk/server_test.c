/* server_test.c -- the listener over real sockets, on journals in memory: order, bounds, what a connection leaves behind, how it ends. */
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "server_fixture.h"

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
    /* A long way to say 1: the kernel's buffers then hold fewer of them. */
    char line[210];
    snprintf(line, sizeof line, "peek %0200d\r\n", 1);
    const Slice ask = slice_from(line);
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

/* What a unix socket with a small buffer has sent the server has read, but for that buffer. */
static void say_and_be_read(int fd, Slice bytes)
{
    int small = 16384;
    EXPECT(setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &small, sizeof small) == 0);
    say_bytes(fd, bytes);
}

TEST(all_bodies_together_have_a_bound)
{
    static char body[1000000]; /* needs a buffer of 1 MiB from its 524,289th byte on */
    const Slice big = slice_of(body, sizeof body);
    Site site;
    begin(&site, "[tubes]\nmax_data = 1M\n");
    site.options.memory = 1300000; /* that one, and not half of another */
    start(&site);
    int one = dial_unix(&site), two = dial(&site);
    say(one, "put 0 0 1 1000000\r\n");
    say_and_be_read(one, big);
    say(two, "x-put 1000000\r\n");
    say_bytes(two, big);
    talk(two, "\r\n", "X-ERROR THROTTLED body no memory for it now\r\n");
    say(two, "put 0 0 1 1000000\r\n");
    say_bytes(two, big);
    talk(two, "\r\n", "OUT_OF_MEMORY\r\n");
    talk(one, "\r\n", "INSERTED 1\r\n");
    say(two, "put 0 0 1 1000000\r\n");
    say_bytes(two, big);
    talk(two, "\r\n", "INSERTED 2\r\n");
    close(one);
    close(two);
    close_site(&site);
}

/* The server turns to others after some reads: the last of them may have been the last of what is to come. */
TEST(a_body_of_any_size_is_answered_when_its_last_byte_is_there)
{
    static char body[1500000];
    Site site;
    open_site(&site, "[tubes]\nmax_data = 2M\n");
    int fd = dial(&site), near = dial_unix(&site);
    for (size_t i = 0; i < 40; i++) {
        char said[64];
        size_t size = 300000 + i * 29989;
        int to = i % 4 == 3 ? near : fd;
        snprintf(said, sizeof said, "put 0 0 60 %zu\r\n", size);
        say(to, said);
        say_bytes(to, slice_of(body, size));
        say(to, "\r\n");
        snprintf(said, sizeof said, "INSERTED %zu\r\n", i + 1);
        hear(to, said);
        snprintf(said, sizeof said, "delete %zu\r\n", i + 1);
        talk(to, said, "DELETED\r\n");
    }
    close(fd);
    close(near);
    close_site(&site);
}

/* The answers are more than is kept for one client, and it takes them at once: nothing more will come to wake the server. */
TEST(commands_that_came_together_are_all_answered)
{
    enum { NAMES = 100, ASKS = 40 };
    Site site;
    BUFFER_SCOPE Buffer asks = {0}, answer = {0};
    open_site(&site, TUBES);
    int fd = dial(&site);
    buffer_text(&answer, "---\n- default\n");
    for (int i = 0; i < NAMES; i++) {
        char name[201], said[256];
        snprintf(name, sizeof name, "%0200d", i);
        buffer_print(&answer, "- %s\n", name);
        snprintf(said, sizeof said, "watch %s\r\n", name);
        say(fd, said);
        snprintf(said, sizeof said, "WATCHING %d\r\n", i + 2);
        hear(fd, said);
    }
    for (int i = 0; i < ASKS; i++)
        buffer_text(&asks, "list-tubes-watched\r\n");
    say_bytes(fd, buffer_slice(&asks));
    for (int i = 0; i < ASKS; i++) {
        char head[32];
        snprintf(head, sizeof head, "OK %zu\r\n", answer.size);
        hear(fd, head);
        hear_bytes(fd, buffer_slice(&answer));
        hear(fd, "\r\n");
    }
    close(fd);
    close_site(&site);
}

TEST(what_is_said_before_the_journals_are_there_is_answered_then)
{
    Site site;
    begin(&site, TUBES);
    site.options.journals = NULL;
    start(&site);
    int fd = dial(&site), near = dial_unix(&site);
    say(fd, "put 0 0 1 1\r\nx\r\n");
    beanstalk_serve(site.server, site.journals);
    hear(fd, "INSERTED 1\r\n");
    talk(near, "list-tube-used\r\n", "USING default\r\n");
    close(fd);
    close(near);
    close_site(&site);
    begin(&site, TUBES);
    site.options.journals = NULL;
    start(&site); /* and one that never serves can be stopped */
    fd = dial(&site);
    say(fd, "list-tube-used\r\n");
    beanstalk_stop(site.server);
    char byte;
    EXPECT(recv(fd, &byte, 1, 0) <= 0);
    close(fd);
    journals_close(site.journals);
    memory_log_free(site.kept);
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
