/* pending.h -- saves of this instance of which it is not certain whether the store's counts have them.
 *
 * A count in memory is one that was read from the store, and the changes of saves that this instance made since. Between
 * sending a save and its projection, a count that is read may have it or not. So each change is noted from before it
 * is sent until it is both told as saved and known to be projected, and whoever reads a count asks the store about those
 * that are noted. While anybody reads, nothing is forgotten; so a reader finds the same chain again, longer at its
 * beginning by what was noted meanwhile.
 * Not safe for several threads. */
#pragma once

#include "ranking/map.h"
#include "votes/votes.h"

typedef struct Noted {
    uint64_t policy, voter, seq;
    Id version;
    int64_t time_us, change;
    bool told;         /* saved, and added to the counts in memory */
    bool projected;    /* to be forgotten as soon as it is told */
    uint64_t noted_at; /* by Pending.now */
    bool counted;      /* the count that was read last has it: not to be added when it is told */
    uint32_t next, previous; /* of the same policy; 0: none */
    uint32_t next_of_voter;
} Noted;

typedef struct PendingPolicy {
    uint64_t policy;
    uint64_t touched; /* when something was last noted or forgotten, by Pending.now */
    uint32_t first;
} PendingPolicy;

typedef struct Pending {
    uint64_t now;               /* counts the touches */
    Noted *noted;               /* place 0 is not used */
    uint32_t used, room, spare; /* `spare` begins the chain of those that can be used again */
    int readers;
    uint32_t gone;           /* the chain of those to be forgotten when nobody reads */
    PendingPolicy *policies; /* never removed, so that no touch is overlooked */
    size_t policy_count, policy_room;
    Map policy_places; /* policy -> place + 1 */
    Map voters;        /* voter -> first of its chain */
} Pending;

void pending_free(Pending *pending);

void pending_sent(Pending *pending, const VoteNews *news);
/* Calls `add` for each change that the counts do not have yet. */
typedef void PendingAdd(void *context, const Noted *noted);
void pending_saved(Pending *pending, const VoteNews *news, PendingAdd *add, void *context);
void pending_dropped(Pending *pending, const VoteNews *news);
void pending_projected(Pending *pending, uint64_t voter, uint64_t seq);

/* Around the reading of a count. */
void pending_begin_read(Pending *pending);
void pending_end_read(Pending *pending);
/* The newest noted change of a policy, NULL without any; then the one before it. */
Noted *pending_first(const Pending *pending, uint64_t policy);
Noted *pending_next(const Pending *pending, const Noted *noted);
