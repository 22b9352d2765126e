/* verify_private.h -- what the files of verify share.
 *
 * A *unit* is what is looked at as a whole, and again when something differs: a voter, a bucket of a policy, a day of its history …
 * A check reads it and calls audit_differs for each difference.
 *   verify.c    the stages, the second look, repair
 *   voters.c    chains, lines, balances, and what was projected from them
 *   counts.c    buckets, totals, hours
 *   history.c   days of a policy's history, against logs and hours
 *   states.c    policies, lists, rankings
 *   past.c      kept rankings of past days */
#pragma once

#include "verify/verify.h"
#include "votes/votes_private.h"

typedef struct Unit {
    enum UnitKind {
        UNIT_VOTER,     /* voter */
        UNIT_PROJECTED, /* voter */
        UNIT_BUCKET,    /* policy, bucket */
        UNIT_TOTALS,    /* policy */
        UNIT_HOUR,      /* hour, shard */
        UNIT_HISTORY,   /* policy, day */
        UNIT_POLICY,    /* policy */
        UNIT_RANK,      /* policy */
        UNIT_KINDS
    } kind;
    uint64_t id;
    uint32_t number;
} Unit;

/* A difference: `have` is the seq or ver that something is at, `need` where it must come by the second look. What is wrong in
 * itself has need 1 and have 0. */
typedef struct Difference {
    VerifyKind kind;
    uint64_t key; /* tells it from the others of the unit */
    uint64_t have, need;
} Difference;

enum { DIFFERENCES_MAX = 4, WORDS_MAX = 256 };

typedef struct Findings {
    Difference differences[DIFFERENCES_MAX];
    char words[DIFFERENCES_MAX][WORDS_MAX];
    size_t count; /* further ones of a unit are not kept: the first say enough */
} Findings;

typedef struct Audit {
    const VerifyOptions *options;
    uint32_t generation;
    uint32_t first_hour; /* in which something changed, as far as was seen; UINT32_MAX: none */
    SettingsHistory settings;
    Arena *arena; /* for the whole audit: little */
    VerifyReport report;
    Findings found; /* of the unit that is looked at */
    struct Suspects *suspects;
} Audit;

typedef Status UnitCheck(Audit *audit, const Unit *unit, Arena *arena);
UnitCheck check_voter, check_projected, check_bucket, check_totals, check_hour, check_history,
    check_policy, check_rank;

void audit_differs(Audit *audit, Difference difference, const char *format, ...) PRINTF_LIKE(3, 4);
/* A fault that needs no second look. */
void audit_fault(Audit *audit, VerifyKind kind, const char *format, ...) PRINTF_LIKE(3, 4);
/* Forgets what was found in this unit: it moved while it was read. */
void audit_forget(Audit *audit);
/* Looks at a unit; what differs is kept for the second look. */
MUST_USE Status audit_look(Audit *audit, Unit unit);
/* The lists of policies, whose places have no unit of their own. */
MUST_USE Status audit_index(Audit *audit);
/* Kept rankings; after the hours were looked at. */
MUST_USE Status audit_past(Audit *audit);

/* Of a voter's log, the entries that the reads name; NOT_FOUND in an answer is one. */
typedef struct EntryRead {
    uint64_t voter, seq;
    bool found;
    Entry entry;
} EntryRead;
MUST_USE Status audit_entries(Audit *audit, EntryRead *reads, size_t count, Arena *arena);
/* The change of an entry on a policy, or NULL. */
const EntryChange *audit_change(const Entry *entry, uint64_t policy);

/* Tries of what must not move while it is read. */
enum { STABLE_TRIES = 10, PART_CELLS = 1000 };
#define WRONG(of, number) ((Difference){.kind = (of), .key = (number), .need = 1})
