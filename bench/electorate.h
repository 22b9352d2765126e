/* electorate.h -- the voters and the saves of the ledger's benchmark, the same for both sides.
 *
 * A voter holds three lines, on policies that are drawn by popularity: the policy of rank r is as likely as 1/r (the first of a
 * hundred thousand has a twelfth of all lines). A save changes one of the three lines (six times of ten) or two, to another number of
 * pollies from 1 to 20: 1.4 lines on average. What a voter holds and the version of the last save are kept here, as a page that
 * the voter looks at would have them; each client has voters of its own, so nobody's save is refused. */
#pragma once

#include "bench.h"

enum { ELECTORATE_LINES = 3, ELECTORATE_VERSION = 16 };

typedef struct Electorate Electorate;

/* Voters are 0 … voters - 1, policies 1 … policies (more than ELECTORATE_LINES). */
Electorate *electorate_new(uint64_t voters, uint64_t policies);
void electorate_free(Electorate *electorate);

/* One save: the lines that change, ascending by policy. */
typedef struct ElectorateSave {
    uint64_t voter;
    int count;
    uint64_t policies[ELECTORATE_LINES];
    int64_t held[ELECTORATE_LINES];
    unsigned char
        seen[ELECTORATE_VERSION]; /* the version that the voter saw; zero before the first save */
} ElectorateSave;

/* A voter's first save, with all three lines. */
void electorate_first(const Electorate *electorate, uint64_t voter, ElectorateSave *ret_save);
/* A later one, by a voter of this client. */
void electorate_choose(const Electorate *electorate, BenchRandom *random, int client, int clients,
                       ElectorateSave *ret_save);
/* It stands, as this version. */
void electorate_saved(Electorate *electorate, const ElectorateSave *save,
                      const unsigned char version[ELECTORATE_VERSION]);
/* All pollies that all voters hold, by what was saved. */
int64_t electorate_held(const Electorate *electorate);
