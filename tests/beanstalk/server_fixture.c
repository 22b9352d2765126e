/* server_fixture.c -- see server_fixture.h. */
#include "server_fixture.h"

#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

void begin(Site *site, const char *declaration)
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

void start(Site *site)
{
    char where[128];
    snprintf(site->path, sizeof site->path, "%s/socket", test_directory());
    snprintf(where, sizeof where, "unix:%s", site->path);
    const Slice listen[] = {SLICE("127.0.0.1:0"), slice_from(where)};
    site->options.listen = listen;
    site->options.listen_count = 2;
    EXPECT_STATUS(beanstalk_start(&site->options, &site->server, &site->reason), STATUS_OK);
}

void open_site(Site *site, const char *declaration)
{
    begin(site, declaration);
    start(site);
}

void close_site(Site *site)
{
    beanstalk_stop(site->server);
    journals_close(site->journals);
    memory_log_free(site->kept);
}

/* ---- A client ---------------------------------------------------------------------------------------------- */

int ready(int fd)
{
    struct timeval patience = {.tv_sec = 60};
    EXPECT(fd >= 0);
    EXPECT(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) == 0);
    return fd;
}

int dial(const Site *site)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons(beanstalk_port(site->server)),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = ready(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT(connect(fd, (struct sockaddr *)&address, sizeof address) == 0);
    return fd;
}

int dial_unix(const Site *site)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    memcpy(address.sun_path, site->path, strlen(site->path));
    int fd = ready(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT(connect(fd, (struct sockaddr *)&address, sizeof address) == 0);
    return fd;
}

void say_bytes(int fd, Slice bytes)
{
    while (bytes.size > 0) {
        ssize_t sent = send(fd, bytes.data, bytes.size, MSG_NOSIGNAL);
        EXPECT(sent > 0);
        bytes = slice_after(bytes, (size_t)sent);
    }
}

void say(int fd, const char *text)
{
    say_bytes(fd, slice_from(text));
}

void hear_bytes(int fd, Slice expected)
{
    static char got[1 << 20];
    size_t at = 0;
    EXPECT(expected.size < sizeof got);
    while (at < expected.size) {
        ssize_t more = recv(fd, got + at, expected.size - at, 0);
        if (more <= 0)
            test_fail(__FILE__, __LINE__, "\"%.*s\" and then nothing, expected \"%.*s\"", (int)at,
                      got, SLICE_ARG(expected));
        at += (size_t)more;
        if (memcmp(got, expected.data, at) != 0)
            test_fail(__FILE__, __LINE__, "\"%.*s\", expected \"%.*s\"", (int)at, got,
                      SLICE_ARG(expected));
    }
}

void hear(int fd, const char *expected)
{
    hear_bytes(fd, slice_from(expected));
}

void talk(int fd, const char *said, const char *heard)
{
    say(fd, said);
    hear(fd, heard);
}

void hear_end(int fd)
{
    char byte;
    EXPECT_I64(recv(fd, &byte, 1, 0), 0);
    close(fd);
}

const char *hear_line(int fd)
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

long long stat_of(int fd, const char *command, const char *key)
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

void await_stat(int fd, const char *command, const char *key, long long value)
{
    while (stat_of(fd, command, key) != value)
        usleep(1000);
}
