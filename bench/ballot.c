/* ballot.c -- the voters and the saves that both sides of the comparison do. */
#include "ballot.h"

#include <time.h>

enum { POLICIES_A_LINE = 90000 };

uint64_t ballot_policy(uint64_t voter, int line)
{
    BenchRandom random = bench_random(voter * BALLOT_LINES + (uint64_t)line);
    return (uint64_t)line * POLICIES_A_LINE + bench_random_below(&random, POLICIES_A_LINE);
}

static int64_t now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec * INT64_C(1000000) + now.tv_nsec / 1000;
}

/* The rest of a save whose voter is known. */
static void fill(BenchRandom *random, BallotSave *save)
{
    int first = (int)bench_random_below(random, BALLOT_LINES - 1);
    save->lines[0] = first;
    save->lines[1] =
        first + 1 + (int)bench_random_below(random, (uint64_t)(BALLOT_LINES - 1 - first));
    save->held[0] = bench_random_below(random, 100);
    save->held[1] = bench_random_below(random, 100);
    save->version[0] = bench_random_u64(random);
    save->version[1] = bench_random_u64(random);
    save->time_us = now_us();
    for (size_t i = 0; i < BALLOT_ENTRY_BYTES; i += sizeof(uint64_t)) {
        uint64_t part = bench_random_u64(random);
        memcpy(save->entry + i, &part, sizeof part);
    }
}

void ballot_choose(BenchRandom *random, uint64_t voters, BallotSave *ret_save)
{
    ret_save->voter = bench_random_below(random, voters);
    fill(random, ret_save);
}

void ballot_first(uint64_t voter, BallotSave *ret_save)
{
    BenchRandom random = bench_random(voter);
    ret_save->voter = voter;
    fill(&random, ret_save);
}
