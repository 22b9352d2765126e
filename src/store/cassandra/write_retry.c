/* write_retry.c -- plain writes, sent until they are done.
 *
 * The client sends a write once and says UNKNOWN when it cannot know what became of it: the node went, or did not answer in time. A
 * plain write carries its timestamp and may arrive any number of times, so it is sent again, to whichever node is there by now, until it is
 * acknowledged or the time of the call is over. A node that restarts is so not noticed by anybody. A crash in between leaves what a
 * crash after the first attempt leaves.
 *
 * What is not done in the end is UNAVAILABLE only if no attempt can have arrived. */
#include "store/cassandra/cassandra_private.h"

enum { PAUSE_FIRST_MS = 20, PAUSE_MOST_MS = 320 };

/* A portion of calls, of which those that are not done yet stand in front. */
typedef struct WriteRetry {
    Cassandra *cassandra;
    CqlCall *calls;
    Status **statuses; /* of each call, where the caller wants it */
    size_t count;
    CqlAnswer *answers;
    Arena *arena;
    int64_t until_us, pause_ms;
} WriteRetry;

static bool may_be_sent_again(Status status)
{
    return status == STATUS_UNAVAILABLE || status == STATUS_UNKNOWN;
}

/* What an attempt says about a call that was tried before: once UNKNOWN, only OK is better. */
static Status worse(Status before, Status now)
{
    return before == STATUS_UNKNOWN && now != STATUS_OK ? STATUS_UNKNOWN : now;
}

/* Sends what is left, and keeps what is to be sent again. False: the time is over. */
static bool attempt(WriteRetry *retry)
{
    Clock clock = retry->cassandra->world.clock;
    int64_t left_ms = (retry->until_us - clock_steady_us(clock)) / US_PER_MS;
    size_t kept = 0;
    if (left_ms <= 0)
        return false;
    for (size_t i = 0; i < retry->count; i++)
        retry->calls[i].request_ms = left_ms;
    cql_run(retry->cassandra->client, retry->calls, retry->count, retry->arena, retry->answers);
    for (size_t i = 0; i < retry->count; i++) {
        Status status = retry->answers[i].status;
        *retry->statuses[i] = worse(*retry->statuses[i], status);
        if (!may_be_sent_again(status))
            continue;
        retry->calls[kept] = retry->calls[i];
        retry->statuses[kept++] = retry->statuses[i];
    }
    retry->count = kept;
    return true;
}

/* Spread at random, so that those whom one node left alone do not come back together. */
static void rest(WriteRetry *retry)
{
    World *world = &retry->cassandra->world;
    int64_t pause_us = retry->pause_ms * US_PER_MS / 2;
    pause_us += (int64_t)(random_u64(world->random) % (uint64_t)pause_us);
    int64_t left_us = retry->until_us - clock_steady_us(world->clock);
    if (left_us > 0)
        clock_sleep_us(world->clock, pause_us < left_us ? pause_us : left_us);
    if (retry->pause_ms < PAUSE_MOST_MS)
        retry->pause_ms *= 2;
}

/* True: some of it was done. */
static bool run_portion(WriteRetry *retry)
{
    size_t count = retry->count;
    while (attempt(retry) && retry->count > 0)
        rest(retry);
    return retry->count < count;
}

void cassandra_run_writes(Cassandra *cassandra, CqlCall *calls, size_t count, int64_t until_us,
                          Status *ret_statuses)
{
    ARENA_SCOPE Arena *arena = arena_new();
    size_t most = count < CASSANDRA_PORTION ? count : CASSANDRA_PORTION, done = 0;
    WriteRetry retry = {.cassandra = cassandra,
                        .statuses = arena_alloc(arena, most * sizeof(Status *)),
                        .answers = ARENA_ARRAY(arena, most, CqlAnswer),
                        .arena = arena,
                        .until_us = until_us};
    bool goes_on = true;
    for (size_t i = 0; i < count; i++)
        ret_statuses[i] = STATUS_UNAVAILABLE;
    while (goes_on && done < count) {
        retry.calls = calls + done;
        retry.count = count - done < most ? count - done : most;
        retry.pause_ms = PAUSE_FIRST_MS;
        for (size_t i = 0; i < retry.count; i++)
            retry.statuses[i] = &ret_statuses[done + i];
        done += retry.count;
        goes_on = run_portion(&retry);
        retry.until_us = cassandra_until_us(cassandra);
    }
}
