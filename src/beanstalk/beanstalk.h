/* beanstalk.h -- the journals, for every client of beanstalkd.
 *
 * A server speaks the protocol of beanstalkd 1.13 and a few words of its own (docs/journal-protocol.md) on TCP and unix sockets. Tubes are
 * journals. One thread serves all connections; it never waits for the disk: each connection has one request at the journals at a time, and its
 * answer comes back as a post.
 *   1. Answers come in the order of the commands. A connection that does not read is not read from, and is cut after a while.
 *   2. Everything is bounded: connections (also of one address), lines, bodies (the journal's max_data), what is read ahead, what is buffered for one
 *      client, and the memory of all bodies together: above it bodies are swallowed, and commands wait.
 *   3. Who may do what: the declaration's put and claim lists. `local` is a unix socket or loopback; with `open` it is everybody.
 *   4. A connection that ends gives back what it has reserved, uncounted. What was acknowledged is what journal.h promises.
 *   5. A stop lets commands under way finish and then closes; claims that wait are answered first.
 * Statuses of beanstalk_start: INVALID (an address, or one that is not loopback without `open` and without accounts), UNAVAILABLE (taken). */
#pragma once

#include "journal/journal.h"

/* beanstalkd's version that we answer as, and ours: in the form of semver, which clients compare. */
#define BEANSTALK_VERSION "1.13.0+ostraka." OSTRAKA_VERSION

typedef struct BeanstalkServer BeanstalkServer;

enum { BEANSTALK_LISTENERS_MAX = 16 };

typedef struct BeanstalkOptions {
    Journals *journals; /* NULL: connections wait until beanstalk_serve */
    World world;
    const Slice *listen; /* "HOST:PORT", "[::1]:PORT", "unix:/path" */
    size_t listen_count;
    const int
        *sockets; /* that listen already (from the system's manager); the server closes them */
    size_t socket_count;
    bool open; /* other addresses than loopback, and everybody is local */
    bool lazy; /* puts are answered before they are synced */
    int64_t connections,
        connections_per_address; /* loopback and unix sockets are exempt from the second */
    int64_t memory;              /* bytes, for all bodies together */
    /* x-auth, NULL without accounts. `auth` finds what a token may, LOGIN for what is no token; it may wait, by a thread of its own. `may` says whether
     * that allows what the list of the declaration says. `forget` frees it. The last two are called by the server's thread. */
    Status (*auth)(void *self, Slice token, void **ret_grants);
    bool (*may)(void *self, const void *grants, const JournalAccessList *list, Slice journal,
                bool put);
    void (*forget)(void *self, void *grants);
    void *self;
} BeanstalkOptions;

MUST_USE Status beanstalk_start(const BeanstalkOptions *options, BeanstalkServer **ret_server,
                                Reason *reason);
/* Once, when the journals were not there at the start: from now on commands are read. */
void beanstalk_serve(BeanstalkServer *server, Journals *journals);
/* Of the first TCP address. */
uint16_t beanstalk_port(const BeanstalkServer *server);
/* From now on puts are answered DRAINING. From any thread. */
void beanstalk_drain(BeanstalkServer *server);
void beanstalk_stop(BeanstalkServer *server);
