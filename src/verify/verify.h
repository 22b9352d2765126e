/* verify.h -- the auditor: reads everything, recomputes what was derived from the logs, and says what differs.
 *
 * It reads the rows themselves (votes/ledger.h), not through the calls whose work it checks. What it checks:
 *   voter_rows      the head, the lines and the log can be read at all
 *   voters          the chain: seq without gaps, each entry names the one before, times increase, the head is the last entry and its sum of
 *                   what is held is right; the lines are what the log says; penalties, settings, and at each entry and its own time a
 *                   balance that is not negative (P1 of votes.h)
 *   policy_voters   every voter's cell is what that voter's log says; sums, days and hours are those of the cells
 *   policy_totals, hour_changes, policy_history, projected    the same, cell by cell, in both directions
 *   policies        only moves of the rules, in order; created by the entry that they name; merges lead to a root
 *   policy_index    each listed policy is in its lists, and nothing else is
 *   rank_checkpoints  the kept rankings of past days are the sums of their hours
 *   rankings        what this process shows is what the counts say
 * Promises:
 *   1. It runs beside saves and projection, and a healthy site has no faults, however busy. Things are compared by seq and ver: an
 *      equal number means equal values; a lower one is behind. What differs or is behind is looked at again after two sweeps, and
 *      is a fault only if it has not come up to where it should have been at the first look.
 *   2. Memory is bounded, whatever the size of the site: pages, one voter's lines, and a list of what is looked at again.
 *   3. It writes nothing, except that it projects who is behind, as everybody does. verify_repair does write.
 * A policy that changes all the time while its rows are read is counted as busy and not judged. */
#pragma once

#include "ranking/ranking.h"

/* What is wrong with. A derived row is healed by a new generation, a list by adding and removing, a ranking by loading it, a voter's row that
 * cannot be read by that voter's log; the rest is what everything else is derived from, and needs a person.   name, heals by */
#define VERIFY_KIND_LIST(X)                          \
    X(VOTERS, "voters", NOTHING)                     \
    X(VOTER_ROWS, "voter_rows", ROWS)                \
    X(POLICIES, "policies", NOTHING)                 \
    X(POLICY_VOTERS, "policy_voters", REBUILD)       \
    X(POLICY_TOTALS, "policy_totals", REBUILD)       \
    X(HOUR_CHANGES, "hour_changes", REBUILD)         \
    X(POLICY_HISTORY, "policy_history", REBUILD)     \
    X(PROJECTED, "projected", REBUILD)               \
    X(RANK_CHECKPOINTS, "rank_checkpoints", REBUILD) \
    X(POLICY_INDEX, "policy_index", LISTS)           \
    X(RANKING, "ranking", LOAD)
typedef enum VerifyKind {
#define X(name, text, heal) VERIFY_##name,
    VERIFY_KIND_LIST(X)
#undef X
        VERIFY_KIND_COUNT
} VerifyKind;

const char *verify_kind_text(VerifyKind kind);
/* Whether verify_repair can do something about it. */
bool verify_kind_heals(VerifyKind kind);

typedef struct VerifyFault {
    VerifyKind kind;
    const char *words; /* valid during the call */
} VerifyFault;

typedef struct VerifyProgress {
    const char *stage;
    uint64_t done, expected; /* expected 0: not known; about, and rather too high */
} VerifyProgress;

typedef struct VerifyOptions {
    Store *store;
    World world;
    Accounts *accounts;
    Policies *policies;
    Votes *votes;
    Ranking *ranking; /* loaded; or NULL: not looked at */
    int64_t
        settle_s; /* before something is looked at again, and between the steps of a repair (RebuildOptions) */
    void (*progress)(void *self, const VerifyProgress *progress); /* or NULL */
    void (*fault)(void *self, const VerifyFault *fault);          /* or NULL */
    void *self;
} VerifyOptions;

typedef struct VerifyReport {
    uint64_t voters, entries, policies, cells; /* looked at */
    uint64_t again;                            /* looked at again */
    uint64_t busy;                             /* not judged */
    uint64_t
        old; /* sets of derived rows that repairs have left behind: they take space, and nobody reads them */
    uint64_t faults[VERIFY_KIND_COUNT];
    uint64_t damaged[VOTES_DAMAGED_MAX]; /* the voters of VOTER_ROWS */
    size_t damaged_count;
} VerifyReport;

uint64_t verify_faults(const VerifyReport *report);

/* OK when all was read, with or without faults. Otherwise the store failed, and the report says how far it came. */
MUST_USE Status verify_run(const VerifyOptions *options, VerifyReport *ret_report);
/* Heals what the report names and can be healed; then verify again. CONFLICT: somebody else repairs. CORRUPT: all of it is done but for voters
 * whose log cannot be read: they stay as they are, and hinder nobody else. */
MUST_USE Status verify_repair(const VerifyOptions *options, const VerifyReport *report);
