/* inside.h -- what the files of votes share:
 *   save.c      a voter's row: reading, judging, appending entries
 *   project.c   from entries to counts
 *   sweep.c     finding what was left behind
 *   counts.c    reading counts */
#pragma once

#include <pthread.h>

#include "votes/ledger.h"

enum { WAITING_MOST = 65536, SAVE_TRIES = 5 };
enum { TOKEN_TTL_S = 7 * 86400, DIRTY_TTL_S = 40 * 86400, CHANGED_TTL_S = 3600 };

struct Votes {
    Store *store;
    World world;
    Accounts *accounts;
    Policies *policies;
    void (*saved)(void *self, const VoteDelta *deltas, size_t count);
    void *saved_self;
    uint32_t generation; /* of the derived rows */

    pthread_mutex_t lock; /* guards the ring below */
    uint64_t *waiting;    /* voters that saved here and are not projected yet; a ring */
    size_t waiting_first, waiting_count;
};

/* A voter's row, without the log. */
typedef struct Voter {
    uint64_t id;
    Account account;
    bool has_head;
    Head head; /* all zero without one */
    Slice head_value;
    VoteLine *lines;
    size_t line_count;
} Voter;

MUST_USE Status votes_read_voter(Votes *votes, uint64_t id, Arena *arena, Voter *ret_voter);
/* Appends an entry on top of what `voter` says. As store_update: OK, CONFLICT, UNAVAILABLE, UNKNOWN. */
MUST_USE Status votes_append(Votes *votes, const Voter *voter, const Entry *entry,
                             const VotePlan *plan, Arena *arena);
/* The entry at seq, by a serial read. */
MUST_USE Status votes_read_entry(Votes *votes, uint64_t voter, uint64_t seq, Arena *arena,
                                 Entry *ret_entry);
void votes_wait(Votes *votes, uint64_t voter);
