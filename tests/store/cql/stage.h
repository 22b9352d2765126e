/* stage.h -- a client before scripted servers: opening with short times, calls of one line, and waiting for what is true soon. */
#pragma once

#include "server.h"
#include "store/cql/client.h"
#include "test.h"

/* Short, but not so short that a machine with too much to do breaks them. */
enum { STAGE_REQUEST_MS = 8000, STAGE_CONNECT_MS = 2500, STAGE_SILENCE_MS = 1000 };

/* A client and its town. Both outlive a test that failed in the middle, as their threads do. */
typedef struct Stage {
    Town town;
    CqlClient *client;
    Arena *arena;
} Stage;

/* Waits until all servers are up. */
Stage *stage_new(int servers);
void stage_end(Stage *stage);
/* Calls that the servers were given in all. */
int stage_executed(const Stage *stage);
void stage_act(Stage *stage, Act act, int error);
/* The server that conditional calls of the stage's row go to. */
Server *stage_first_of_row(Stage *stage);

/* The contact is the town's first server; times as above. */
CqlOptions stage_options(const Town *town);
CqlClient *stage_open(const Town *town);
/* Fails with a status and words; nothing is left open. */
void stage_expect_refused(const CqlOptions *options, Status status, const char *word);

/* One statement without values. With a routing key it goes to the first of its nodes when it is conditional. */
CqlAnswer stage_call(CqlClient *client, CqlKind kind, Arena *arena);
CqlAnswer stage_call_within(CqlClient *client, CqlKind kind, int64_t request_ms, Arena *arena);
/* The server that answered, by the row it gave. */
Slice stage_host(const CqlAnswer *answer);
double stage_metric(CqlClient *client, const char *name);
int64_t stage_now_ms(void);

/* Waits until it is true, some seconds at most. */
#define STAGE_SOON(condition)                              \
    do {                                                   \
        int64_t until_ms_ = stage_now_ms() + 20000;        \
        while (!(condition) && stage_now_ms() < until_ms_) \
            clock_sleep_us(world_real().clock, 2000);      \
        EXPECT(condition);                                 \
    } while (0)
