/* votes_private.h -- what the files of votes share:
 *   save.c      a voter's row: reading, judging, appending entries
 *   cached_rows.c    voters' rows that are kept in memory
 *   merged_lines.c      lines as the voter sees them
 *   history.c   a voter's log, and what stood before
 *   project.c   from entries to counts
 *   count_update.c     their changes, into the buckets of policies
 *   sums.c      the counts that were changed last
 *   projection_queue.c   who waits for it
 *   sweep.c     finding what was left behind
 *   counts.c    reading counts
 *   voters.c    how many people are behind them
 *   damage.c    voters whose row or log cannot be read
 *   late.c      marks of days that changed when they were over
 *   generations.c  which set of derived rows counts */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "base/mutant.h"
#include "base/read_cache.h"
#include "votes/ledger.h"

enum { WAITING_MAX = 65536, WAITING_CHANGES = 8, NOTED_BITS = 13, SAVE_TRIES = 5 };
enum { NOTED_CHANGES = 1 << NOTED_BITS };
enum { READ_CACHE_BITS = 18 }; /* voters whose rows are kept in memory */
enum { TOKEN_TTL_S = 7 * 86400, DIRTY_TTL_S = VOTES_MARK_LIFE_S, CHANGED_TTL_S = 3600 };

/* A voter that saved here and is not projected yet. With its entry, if that has no more than WAITING_CHANGES: what was just written
 * need not be read again. */
typedef struct QueuedVoter {
    uint64_t voter;
    Entry *entry; /* or NULL; from malloc */
} QueuedVoter;

typedef struct Sums Sums;

struct Votes {
    Store *store;
    World world;
    Accounts *accounts;
    Policies *policies;
    Audit *audit; /* or NULL */
    VoteListener listener;
    bool shared;
    Id writer; /* names this handle in the marks of late days */
    _Atomic uint64_t late_marks;
    Sums *sums;
    ReadCache *read_cache; /* of voters' rows, by id */
    bool exact;            /* what they, and those of accounts, say is what stands in the store */

    pthread_mutex_t lock;    /* guards what is below; never held while the store is asked */
    Generations generations; /* as last read, and when */
    ClockReading generations_read;
    bool generations_known;
    uint64_t left[VOTES_LEFT_MAX]; /* voters whose chain is closed and whose account is not gone */
    size_t left_count;
    uint64_t damaged[VOTES_DAMAGED_MAX];
    _Atomic size_t damaged_count; /* also read without the lock */
    QueuedVoter *waiting;         /* a ring */
    size_t waiting_first, waiting_count;
    pthread_cond_t somebody; /* waits, or await_ends */
    bool await_ends;
    uint64_t
        noted_at; /* policies that this handle has marked as changed in this minute, or second: */
    uint64_t
        noted_in; /* generation of the store: a reopen may have lost the marks of the one before */
    uint64_t noted[NOTED_CHANGES]; /* by hash, the last one of each */
};

/* Of the copy of a voter's row. */
typedef struct RowKey {
    uint64_t generation; /* the store's */
    uint64_t voter;
} RowKey;

static const Id NO_TOKEN = {{0}};

/* A voter's row, without the log. */
typedef struct Voter {
    uint64_t id;
    Account account;
    Id token;       /* of the request that the row is read for; zero: none */
    bool has_token; /* it was saved before: */
    uint64_t token_seq;
    bool has_head;
    LedgerHead head; /* all zero without one */
    Slice head_value;
    VoteLine *lines;
    size_t line_count;
    RowKey key;       /* by votes_cached_row, as the next */
    CachedBytes copy; /* what admits the row to the copies */
} Voter;

/* The account, head and lines, and whether the entry of `token` (zero: of none) is in the chain: not read before the head is, so that a head
 * without it stays without it, or does not stay. */
MUST_USE Status votes_read_voter(Votes *votes, uint64_t id, Id token, Arena *arena,
                                 Voter *ret_voter);
/* The same for a voter whose id, account and token are there already. */
MUST_USE Status votes_read_row(Votes *votes, Arena *arena, Voter *voter);
/* The same, perhaps from a copy. */
MUST_USE Status votes_cached_row(Votes *votes, Arena *arena, Voter *voter);
/* After an entry was appended: the row is now as `voter` says, which votes_cached_row had filled in before. */
void votes_keep_row(Votes *votes, const Voter *voter, Arena *arena);
/* What stands, by a row that was read. */
MUST_USE Status votes_state_of(Votes *votes, const Voter *voter, Arena *arena,
                               VoterState *ret_state);
/* After any write to the voter's head or lines. */
void votes_forget_copy(Votes *votes, uint64_t voter);
/* Appends an entry on top of what `voter` says. As store_update: OK, CONFLICT, UNAVAILABLE, UNKNOWN. */
MUST_USE Status votes_append(Votes *votes, const Voter *voter, const Entry *entry,
                             const VotePlan *plan, Arena *arena);
/* The entry at seq, by a serial read. */
MUST_USE Status votes_read_entry(Votes *votes, uint64_t voter, uint64_t seq, Arena *arena,
                                 Entry *ret_entry);
/* One round of projection into one generation: at most ROUND_VOTERS voters, each once, at most ROUND_ENTRIES entries of each. */
enum { ROUND_VOTERS = SIMULATED(2048, 3), ROUND_ENTRIES = SIMULATED(64, 3) };
typedef struct ProjectRound {
    uint32_t generation;
    const QueuedVoter *
        voters; /* an entry that comes with a voter is taken if it is the next one, and is not read */
    size_t count;
    bool more;                        /* somebody may have further entries, out */
    uint64_t projected[ROUND_VOTERS]; /* up to which seq each voter is whole, out */
} ProjectRound;
MUST_USE Status votes_project_round(Votes *votes, ProjectRound *round);
/* Any number of voters into one generation, without telling the listener. */
MUST_USE Status votes_project_into(Votes *votes, uint32_t generation, const uint64_t *voters,
                                   size_t count);
/* The generation that is read. */
MUST_USE Status votes_current(Votes *votes, uint32_t *ret_generation);
/* A page of all voters, of whom those who are behind are carried into one generation. */
typedef struct VotesPage {
    Slice *ret_position;
    bool *ret_more;
    size_t *ret_count; /* voters on the page */
} VotesPage;
MUST_USE Status votes_pass_page(Votes *votes, uint32_t generation, Slice position, Arena *arena,
                                const VotesPage *page);

/* After the cells of these days were acknowledged: marks those that are over, or nearly. */
typedef struct LateMarks {
    uint32_t generation;
    const uint32_t *days;
    size_t count;
} LateMarks;
MUST_USE Status votes_mark_late(Votes *votes, const LateMarks *late, Arena *arena);
/* All cells of a row's range, page by page. */
typedef Status VotesCellVisit(void *context, const Cell *cell);
MUST_USE Status votes_each_cell(Votes *votes, Query query, VotesCellVisit *visit, void *context);
/* The entry is in the chain. */
void votes_projection_enqueue(Votes *votes, uint64_t voter, const Entry *entry);
void votes_forget_waiting(Votes *votes);

/* damage.c: this voter's row or log cannot be read; or it can, again. */
void votes_note_damage(Votes *votes, uint64_t voter);
void votes_note_whole(Votes *votes, uint64_t voter);

/* sums.c: what this handle last wrote as a bucket's sum, with the change of the latest hour in it. It may be old. */
typedef struct SumKey {
    uint64_t policy;
    uint32_t generation;
    uint8_t bucket;
} SumKey;
typedef struct KnownSum {
    Slice value;
    uint32_t hour;
    int64_t change;
} KnownSum;
Sums *sums_new(void);
void sums_free(Sums *sums);
bool sums_find(Sums *sums, SumKey key, Arena *arena, KnownSum *ret_known);
void sums_keep(Sums *sums, SumKey key, KnownSum known);
void sums_forget(Sums *sums, SumKey key);
