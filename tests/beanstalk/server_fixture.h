/* server_fixture.h -- the listener on journals in memory, and a client of it that says bytes and expects bytes. */
#pragma once

#include "base/bytes.h"
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

/* Options may be changed between the two. */
void begin(Site *site, const char *declaration);
void start(Site *site);
void open_site(Site *site, const char *declaration);
void close_site(Site *site);

/* Sockets that wait for a minute at most. */
int ready(int fd);
int dial(const Site *site);
int dial_unix(const Site *site);

void say_bytes(int fd, Slice bytes);
void say(int fd, const char *text);
/* Exactly these bytes come next. */
void hear_bytes(int fd, Slice expected);
void hear(int fd, const char *expected);
void talk(int fd, const char *said, const char *heard);
/* Nothing more does; closes. */
void hear_end(int fd);
/* A line without its end, until the next call. */
const char *hear_line(int fd);
/* The number after `key: ` in the YAML that the command gives. */
long long stat_of(int fd, const char *command, const char *key);
void await_stat(int fd, const char *command, const char *key, long long value);
