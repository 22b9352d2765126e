/* ballot.h -- the work that is compared: who the voters are, what they hold, and what one save changes.
 *
 * A voter has a head {seq, version, time, held in all} and 11 lines {held, withdrawn, seq}, one for each policy that
 * holds votes: 12 cells. Besides, the log has the first entry. A save reads the 12, picks 2 of the 11 lines, and, if the head's
 * version is still what was read, writes the head, the 2 lines and a log entry of 104 bytes: 4 cells.
 * Both sides take the same bytes from here: ours as cells of a row (the head `head`, a line `s/` + policy, an entry
 * `z/` + seq), PostgreSQL as rows of three tables. */
#pragma once

#include "base/slice.h"
#include "bench.h"

enum {
    BALLOT_LINES = 11,
    BALLOT_CELLS = 1 + BALLOT_LINES,
    BALLOT_CHANGED = 2,
    BALLOT_ENTRY_BYTES = 104,
};

/* The policy of a voter's line 0 … BALLOT_LINES - 1; rises with the line, differs between voters. */
uint64_t ballot_policy(uint64_t voter, int line);

/* What a save is about to write. */
typedef struct BallotSave {
    uint64_t voter;
    int lines[BALLOT_CHANGED]; /* rising */
    uint64_t held[BALLOT_CHANGED];
    uint64_t version[2];
    int64_t time_us;
    char entry[BALLOT_ENTRY_BYTES];
} BallotSave;

/* A save of any of `voters`, all equally likely. */
void ballot_choose(BenchRandom *random, uint64_t voters, BallotSave *ret_save);
/* The first save of a voter, as the preload makes it. */
void ballot_first(uint64_t voter, BallotSave *ret_save);
