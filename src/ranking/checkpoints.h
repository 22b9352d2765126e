/* checkpoints.h -- totals of all policies at past moments, from the changes of hours, with checkpoints to begin from.
 *
 * The truth about the past is in the ledger's hours: nothing here comes from memory, so hours in which no server ran, or
 * in which entries were found late, are as right as others. A checkpoint is the sum of all hours up to the end of a day. It holds the
 * digest of the marks of late days that were known before it was computed (votes_late_days); as long as the digest is
 * the same, so are the hours. Each page holds it, too: pages of two writers do not mix unnoticed.
 *   rank_checkpoints  row generation:       day -> digest; written after the pages
 *                     row generation, day:  page -> digest, then policy and total …
 * A page is for 1,024 consecutive ids, so that any two writers mean the same by it. A policy that once had a change stays in. */
#pragma once

#include "ranking/ranking_private.h"

typedef struct PolicyTotal {
    uint64_t policy;
    int64_t total;
} PolicyTotal;

/* Own totals, without members, of the moment before an hour. Zeros are the beginning of time. */
typedef struct Totals {
    uint32_t hours; /* all hours before this one are in */
    PolicyTotal *list;
    size_t count, room;
    Map places; /* policy -> place in the list + 1 */
    /* Hears of each change on the way, unless they came all at once from a checkpoint: then `jumped` is set. May be NULL. */
    VotesChangeVisit *changed;
    void *context;
    bool jumped;
} Totals;

void totals_free(Totals *totals);
int64_t totals_of(const Totals *totals, uint64_t policy);

typedef struct Checkpoint {
    uint32_t day;
    uint64_t digest;
} Checkpoint;

/* What is known of the past at one moment. */
typedef struct Checkpoints {
    Ranking *ranking;
    Votes *votes;
    uint32_t generation; /* of the ledger's derived rows */
    uint32_t first_hour; /* nothing happened before it */
    LateDay *late;
    size_t late_count;
    Checkpoint *days; /* that are right, ascending */
    size_t count;
} Checkpoints;

MUST_USE Status checkpoints_open(Ranking *ranking, Votes *votes, int64_t first_us, Arena *arena,
                                 Checkpoints *ret_checkpoints);
bool checkpoints_has(const Checkpoints *checkpoints, uint32_t day);
/* Brings totals up to the moment before `hours`, which is not before where they are. When it fails they are of no use. */
MUST_USE Status checkpoints_advance(Checkpoints *checkpoints, Totals *totals, uint32_t hours);
/* Totals of the end of the day. */
MUST_USE Status checkpoints_write(const Checkpoints *checkpoints, uint32_t day,
                                  const Totals *totals);
