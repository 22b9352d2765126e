/* client_fixture.h -- a client before scripted servers: opening with short times, calls of one line, and waiting for what is true soon. */
#pragma once

#include "server.h"
#include "store/cql/client.h"
#include "test.h"

/* Short, but not so short that a machine with too much to do breaks them. */
enum {
    CLIENT_FIXTURE_REQUEST_MS = 8000,
    CLIENT_FIXTURE_CONNECT_MS = 2500,
    CLIENT_FIXTURE_SILENCE_MS = 1000
};

/* A client and its town. Both outlive a test that failed in the middle, as their threads do. */
typedef struct ClientFixture {
    ScriptedCluster cluster;
    CqlClient *client;
    Arena *arena;
} ClientFixture;

/* Waits until all servers are up. */
ClientFixture *client_fixture_new(int servers);
void client_fixture_end(ClientFixture *fixture);
/* Calls that the servers were given in all. */
int client_fixture_executed(const ClientFixture *fixture);
void client_fixture_act(ClientFixture *fixture, Act act, int error);
/* The server that conditional calls of the fixture's row go to. */
Server *client_fixture_first_of_row(ClientFixture *fixture);

/* The contact is the town's first server; times as above. */
CqlOptions client_fixture_options(const ScriptedCluster *cluster);
CqlClient *client_fixture_open(const ScriptedCluster *cluster);
/* Fails with a status and words; nothing is left open. */
void client_fixture_expect_refused(const CqlOptions *options, Status status, const char *word);

/* One statement without values. With a routing key it goes to the first of its nodes when it is conditional. */
CqlAnswer client_fixture_call(CqlClient *client, CqlKind kind, Arena *arena);
CqlAnswer client_fixture_call_within(CqlClient *client, CqlKind kind, int64_t request_ms,
                                     Arena *arena);
/* The server that answered, by the row it gave. */
Slice client_fixture_host(const CqlAnswer *answer);
double client_fixture_metric(CqlClient *client, const char *name);
int64_t client_fixture_now_ms(void);

/* Waits until it is true, some seconds at most. */
#define CLIENT_FIXTURE_SOON(condition)                              \
    do {                                                            \
        int64_t until_ms_ = client_fixture_now_ms() + 20000;        \
        while (!(condition) && client_fixture_now_ms() < until_ms_) \
            clock_sleep_us(world_real().clock, 2000);               \
        EXPECT(condition);                                          \
    } while (0)
