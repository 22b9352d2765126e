/* electorate.c -- see electorate.h. */
#include "electorate.h"

#include <math.h>
#include <stdlib.h>

enum { HELD_MAX = 20 };

typedef struct Voter {
    unsigned char version[ELECTORATE_VERSION];
    unsigned char held[ELECTORATE_LINES]; /* in the order of the policies */
} Voter;

struct Electorate {
    uint64_t count, policies;
    Voter *voters;
};

Electorate *electorate_new(uint64_t voters, uint64_t policies)
{
    Electorate *electorate = calloc(1, sizeof *electorate);
    CHECK(electorate != NULL && policies > ELECTORATE_LINES);
    *electorate = (Electorate){voters, policies, calloc(voters, sizeof(Voter))};
    CHECK(electorate->voters != NULL);
    return electorate;
}

void electorate_free(Electorate *electorate)
{
    free(electorate->voters);
    free(electorate);
}

/* policies ^ u, for u from 0 to 1, has density 1/r. */
static uint64_t popular(BenchRandom *random, uint64_t policies)
{
    double u = (double)(bench_random_u64(random) >> 11) / (double)(UINT64_C(1) << 53);
    uint64_t rank = (uint64_t)exp(u * log((double)policies + 1));
    return rank < 1 ? 1 : rank > policies ? policies : rank;
}

/* The three policies of a voter, ascending: a function of the voter alone. */
static void policies_of(const Electorate *electorate, uint64_t voter, uint64_t *ret_policies)
{
    BenchRandom random = bench_random(voter + 1);
    for (int count = 0; count < ELECTORATE_LINES;) {
        uint64_t policy = popular(&random, electorate->policies);
        int at = 0;
        while (at < count && ret_policies[at] < policy)
            at++;
        if (at < count && ret_policies[at] == policy)
            continue;
        for (int i = count++; i > at; i--)
            ret_policies[i] = ret_policies[i - 1];
        ret_policies[at] = policy;
    }
}

void electorate_first(const Electorate *electorate, uint64_t voter, ElectorateSave *ret_save)
{
    BenchRandom random = bench_random(~voter);
    *ret_save = (ElectorateSave){.voter = voter, .count = ELECTORATE_LINES};
    policies_of(electorate, voter, ret_save->policies);
    for (int i = 0; i < ELECTORATE_LINES; i++)
        ret_save->held[i] = 1 + (int64_t)bench_random_below(&random, HELD_MAX);
}

static void change_line(const Electorate *electorate, int line, BenchRandom *random,
                        ElectorateSave *save)
{
    uint64_t policies[ELECTORATE_LINES];
    uint64_t held = electorate->voters[save->voter].held[line];
    policies_of(electorate, save->voter, policies);
    save->policies[save->count] = policies[line];
    save->held[save->count++] =
        1 + (int64_t)((held + bench_random_below(random, HELD_MAX - 1)) % HELD_MAX);
}

void electorate_choose(const Electorate *electorate, BenchRandom *random, int client, int clients,
                       ElectorateSave *ret_save)
{
    uint64_t step = (uint64_t)clients, own = electorate->count / step;
    uint64_t voter = bench_random_below(random, own) * step + (uint64_t)client;
    bool two = bench_random_below(random, 10) < 4;
    int skipped = (int)bench_random_below(random, ELECTORATE_LINES);
    *ret_save = (ElectorateSave){.voter = voter};
    memcpy(ret_save->seen, electorate->voters[voter].version, ELECTORATE_VERSION);
    for (int line = 0; line < ELECTORATE_LINES; line++)
        if ((line != skipped) == two)
            change_line(electorate, line, random, ret_save);
}

void electorate_saved(Electorate *electorate, const ElectorateSave *save,
                      const unsigned char version[ELECTORATE_VERSION])
{
    Voter *voter = &electorate->voters[save->voter];
    uint64_t policies[ELECTORATE_LINES];
    policies_of(electorate, save->voter, policies);
    for (int line = 0, at = 0; line < ELECTORATE_LINES && at < save->count; line++)
        if (policies[line] == save->policies[at])
            voter->held[line] = (unsigned char)save->held[at++];
    memcpy(voter->version, version, ELECTORATE_VERSION);
}

int64_t electorate_held(const Electorate *electorate)
{
    int64_t held = 0;
    for (uint64_t i = 0; i < electorate->count; i++)
        for (int line = 0; line < ELECTORATE_LINES; line++)
            held += electorate->voters[i].held[line];
    return held;
}
