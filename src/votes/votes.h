/* votes.h -- the ledger: saves, what they cost, who holds what, and the counts that are projected from them.
 *
 * A voter's row is a chain of entries. A save appends one by a conditional update on the head, so of two saves on one version
 * exactly one stands. The counts of policies are derived: a projector carries entries, in order, from the voters' rows to the
 * policies', and can always be run again. The promises (numbers as in the design):
 *   P1 No double spend: at each entry, judged at its own time, what is held and paid is covered by salary and refunds.
 *   P2 When projection has caught up, a policy's total is the sum of what voters hold on it; before that it lags, and never
 *      shows a polly on two policies.
 *   P3 An entry in the chain never changes.
 *   P4 Told "saved": in the chain for ever. Told "stale" or "refused": this request never gets in. Otherwise "unknown".
 *   P5 Every step can run twice, in parallel, or after a crash at any point. The same token is one save.
 *   P6 Clocks date things and make salary due; no clock decides an order.
 *   P7 No move of a policy lowers a balance.
 * The rules are in vote_rules.h, the bytes in ledger.h. All calls may come from any thread. */
#pragma once

#include "accounts/accounts.h"
#include "audit/audit.h"
#include "policies/policies.h"
#include "votes/vote_rules.h"

typedef struct Votes Votes;

/* One policy's change by a save. */
typedef struct VoteDelta {
    uint64_t policy;
    int64_t change;
} VoteDelta;

/* A save of this instance, for whoever shows totals at once. */
typedef struct VoteNews {
    uint64_t voter, seq;
    Id version; /* of the entry: two requests may try for one seq */
    int64_t time_us;
    const VoteDelta *deltas;
    size_t count;
} VoteNews;

typedef enum VoteStep {
    VOTE_SENT,  /* about to be written: from now on it may be in the counts */
    VOTE_SAVED, /* durable, and not answered yet */
    VOTE_DROPPED, /* not saved, or unknown; if it gets in, it is found as if somebody else had saved it */
} VoteStep;

/* Hears of each save twice, SENT and then one of the other two, and of projection: everything of this voter up to and including
 * seq is in the counts. May be called from any thread; must not wait, nor use the store. */
typedef struct VoteListener {
    void (*told)(void *self, VoteStep step, const VoteNews *news);
    void (*projected)(void *self, uint64_t voter, uint64_t seq);
    void *self;
} VoteListener;

typedef struct VotesOptions {
    Store *store;
    World world;
    Accounts *accounts;
    Policies *policies;
    Audit *audit;          /* for notices; NULL: what commands do is in none */
    VoteListener listener; /* all NULL: nobody listens */
    bool shared; /* other instances follow: changes are marked by the second, else by the minute */
    /* How old the copies of voters' rows may be that votes_cached answers from; as in AccountsOptions. */
    int64_t read_cache_us;
} VotesOptions;

Votes *votes_new(const VotesOptions *options);
void votes_free(Votes *votes);

/* ---- What stands ------------------------------------------------------------------------------------------- */

typedef struct VoterState {
    uint64_t seq; /* 0: never saved */
    Id version;   /* of the head; zero when seq is 0 */
    int64_t time_us;
    bool closed;
    VoteLine *lines; /* ascending by policy; those that hold nothing too */
    size_t line_count;
    int64_t balance; /* now */
    PoliciesReader
        *reader; /* what the balance asked for, in the arena of the state; or NULL. One thread */
} VoterState;

/* NOT_FOUND when there is no such account. */
MUST_USE Status votes_show(Votes *votes, uint64_t voter, Arena *arena, VoterState *ret_state);

/* The same for an account that was read before, for pages: perhaps from a copy of the voter's row that a save of this handle drops, and
 * that is at most read_cache_us old. The balance is of now. */
MUST_USE Status votes_cached(Votes *votes, const Account *account, Arena *arena,
                             VoterState *ret_state);

/* A line as the voter sees it: a policy together with all that were merged into it. */
typedef struct MergedLine {
    uint64_t policy; /* the root */
    PolicyState state;
    int64_t held;
    int64_t free; /* the part that came by merges: taken away first, and for nothing */
} MergedLine;
/* Those that hold something, ascending by policy. UNAVAILABLE: a policy could not be read. */
MUST_USE Status votes_merged_lines(Votes *votes, const VoterState *state, Arena *arena,
                                   MergedLine **ret_lines, size_t *ret_count);

/* ---- Saving ------------------------------------------------------------------------------------------------ */

typedef struct SaveRequest {
    uint64_t voter;
    Id seen; /* the version that the voter saw; zero before the first save */
    const VoteRequest *vote_requests;
    size_t vote_request_count;
    Id token; /* zero: none. The same token again gives the same answer, for 7 days, whatever was seen */
    bool has_price;           /* the voter was told what taking back costs: */
    int64_t price;            /* refused by the rule PRICE when it costs more */
    const PolicyText *create; /* or NULL. A new policy */
    int64_t create_held;      /* its first line */
    int64_t time_us;          /* 0: now. Generators of past data say when; later entries only */
} SaveRequest;

/* What changes cost beyond what they put on policies. */
typedef struct VotePrice {
    int64_t penalty;
    int64_t given_back; /* by withdrawals, after the penalty */
    int64_t balance;    /* after it; below zero: so many are missing */
} VotePrice;

/* STALE: the head is not `seen`, or a line that is to change does not hold what the request says was seen. */
typedef enum SaveOutcome { SAVE_SAVED, SAVE_STALE, SAVE_REFUSED, SAVE_UNKNOWN } SaveOutcome;
const char *save_outcome_text(SaveOutcome outcome);

typedef struct SaveResult {
    SaveOutcome outcome;
    VoteRule rule; /* refused: which, and about which policy (0: none in particular) */
    uint64_t refused_policy;
    VotePrice price; /* saved by this very call, or refused by PRICE or BALANCE: what it costs */
    uint64_t seq;    /* saved: of this request's entry */
    Id version;
    uint64_t created; /* the new policy's id */
    VoterState state; /* what stands now; after UNKNOWN: what was last seen */
} SaveResult;

/* OK whenever there is a result. UNKNOWN: it is perhaps saved, or was by an earlier try with this token, and not even what stands could be
 * read. Else nothing was done: INVALID (the text of the policy: see reason), NOT_FOUND (no such account),
 * DENIED (not confirmed, or the right was taken away), UNAVAILABLE. */
MUST_USE Status votes_save(Votes *votes, const SaveRequest *request, Arena *arena,
                           SaveResult *ret_result, Reason *reason);

/* The same in three steps, for who has several saves to send at once: begin each, send all by one call of the store, end each. What is
 * returned and passed lives in the arena, and the request must stay as it is until the end. What was sent may be saved, ended or not. */
typedef struct Save Save;
MUST_USE Status votes_save_begin(Votes *votes, const SaveRequest *request, Arena *arena,
                                 Save **ret_save, Reason *reason);
void votes_save_send(Save *const *saves, size_t count);
/* Whether it is saved by that, or perhaps. */
bool votes_save_is_sent(const Save *save);
MUST_USE Status votes_save_end(Save *save, SaveResult *ret_result);

/* What the save would do, without doing it. `vote_requests` as in a request; rule NONE when it may stand. */
typedef struct CostAnswer {
    VoteRule rule;
    uint64_t refused_policy;
    int64_t balance; /* after it; before it when refused by another rule than BALANCE */
    int64_t penalty; /* 0 when refused, as the next */
    int64_t given_back;
} CostAnswer;
MUST_USE Status votes_cost(Votes *votes, uint64_t voter, const VoteRequest *vote_requests,
                           size_t count, Arena *arena, CostAnswer *ret_answer);

/* The last entry of a voter: all lines to zero, closed. Later saves are refused. Then the caller closes the account (tasks/leaving.h); when it
 * cannot, whoever sweeps finds the voter. OK also when it was closed before; REFUSED: the account is not confirmed, and there is nothing to leave; UNKNOWN: ask again. */
MUST_USE Status votes_leave(Votes *votes, uint64_t voter, Reason *reason);

/* ---- A voter's history ------------------------------------------------------------------------------------- */

typedef struct EntryChange {
    uint64_t policy;
    int64_t before, held, withdrawn_centi;
} EntryChange;

typedef struct Entry {
    uint64_t seq;
    Id version, prev;
    int64_t time_us;
    uint32_t setting_version;
    bool closing, fence;
    uint64_t created; /* policy, or 0 */
    Id token;         /* or zero */
    EntryChange *changes;
    size_t change_count;
} Entry;

/* Entries with seq < `before` (0: from the newest), newest first. */
MUST_USE Status votes_history(Votes *votes, uint64_t voter, uint64_t before, uint32_t limit,
                              Arena *arena, Entry **ret_entries, size_t *ret_count);
/* What the lines held when `version` was the head, found by going back from `now`, at most VOTES_BACK_MAX entries; without balance,
 * and withdrawn_centi as it is now. NOT_FOUND: it was never the head, or is too long ago. */
enum { VOTES_BACK_MAX = 500 };
MUST_USE Status votes_back(Votes *votes, uint64_t voter, const VoterState *now, Id version,
                           Arena *arena, VoterState *ret_then);

/* ---- Counts ------------------------------------------------------------------------------------------------ */

/* One day more than the longest window: an entry may be dated some minutes ahead, into tomorrow. */
enum { COUNT_DAYS = 32, COUNT_BUCKETS = 16 };

/* A policy's own count, without members; `days[0]` is the change on `day`, days[1] the day before … Days are UTC, since 1970. */
typedef struct Count {
    int64_t total;
    uint32_t day;
    int64_t days[COUNT_DAYS];
} Count;

MUST_USE Status votes_count(Votes *votes, uint64_t policy, Arena *arena, Count *ret_count);

/* An entry of a voter, and whether it is in a count. */
typedef struct CountMark {
    uint64_t voter, seq;
    bool taken;
} CountMark;
/* The count, and for each mark whether that entry's change of this policy is in it: both of one moment. UNAVAILABLE also when the
 * count moves all the time. */
MUST_USE Status votes_count_marked(Votes *votes, uint64_t policy, CountMark *marks,
                                   size_t mark_count, Arena *arena, Count *ret_count);

typedef struct PolicyCount {
    uint64_t policy;
    Count count;
} PolicyCount;
/* All counts, page by page; position as in store_scan. A policy may come in parts, on this page and the next: add them. */
MUST_USE Status votes_scan_counts(Votes *votes, Slice position, Arena *arena,
                                  PolicyCount **ret_counts, size_t *ret_count, Slice *ret_position,
                                  bool *ret_more);
/* The policies whose counts were marked as changed in a minute (since 1970), in its second `from` or later. A mark says that something changed in
 * that second or, without `shared`, until the end of the minute; it may be there a moment before the count is. Marks live for an hour. */
typedef struct VotesMark {
    uint64_t policy;
    uint8_t second;
} VotesMark;
typedef void VotesMarkVisit(void *context, VotesMark mark);
MUST_USE Status votes_changed(Votes *votes, uint32_t minute, uint8_t from, VotesMarkVisit *visit,
                              void *context);

/* The change over the last `n` days up to and including `today`. Pure. */
int64_t count_window(const Count *count, uint32_t today, uint32_t n);
void count_add(Count *to, const Count *from);
/* Adds a change at a time, as the projection does. */
void count_change(Count *count, int64_t time_us, int64_t change);
uint32_t count_day(int64_t time_us);

/* Adds the cells of `policy_voters` up again: what voters hold by the projection, and what its sums say. */
typedef struct Recount {
    int64_t voters, cells, sums;
} Recount;
MUST_USE Status votes_recount(Votes *votes, uint64_t policy, Recount *ret_recount);

/* A policy with all that were merged into it (policies_members). */
typedef struct VotersOf {
    const uint64_t *policies;
    size_t count;
} VotersOf;
typedef struct VoterCounts {
    uint64_t first, second, both;
} VoterCounts;
/* How many people hold something on the one, on the other, and on both, each counted once; by the counts, so it may lag. Only numbers:
 * who they are is not told. TOO_LARGE: more than `most` cells would have to be read for it. */
MUST_USE Status votes_voters(Votes *votes, const VotersOf *first, const VotersOf *second,
                             uint64_t most, VoterCounts *ret_counts);

/* ---- The past ---------------------------------------------------------------------------------------------- */

/* The changes of one hour (since 1970), by the entries' own time. A policy may come several times: add. */
typedef void VotesChangeVisit(void *context, uint64_t policy, int64_t change);
MUST_USE Status votes_hour_changes(Votes *votes, uint32_t hour, VotesChangeVisit *visit,
                                   void *context);

/* A day into which an entry was carried when it was over, or nearly. `digest` is of all such marks up to and including
 * this day: whoever reads the digest, then the hours up to that day, and later finds the same digest, would read the
 * same hours again. That relies on clocks that are less than ten minutes off. */
typedef struct LateDay {
    uint32_t day;
    uint64_t digest;
} LateDay;
/* Ascending. */
MUST_USE Status votes_late_days(Votes *votes, Arena *arena, LateDay **ret_days, size_t *ret_count);
/* Which set of derived rows the counts come from; what is kept of them belongs to this number. The last one known, when the
 * store does not answer. */
uint32_t votes_generation(Votes *votes);

/* ---- Generations of the derived rows ------------------------------------------------------------------------ */

/* All rows that projection writes carry a generation in their key. `current` is read and written; `also`, while there is one, is
 * written. What a handle knows of that is at most GENERATIONS_CACHE_S old. */
enum { GENERATIONS_CACHE_S = 10 };
typedef struct Generations {
    uint64_t step; /* grows with each change */
    uint32_t current, also, last;
    bool has_also;
} Generations;
MUST_USE Status votes_generations(Votes *votes, Generations *ret_generations);

typedef struct RebuildOptions {
    int64_t
        settle_s; /* between two steps: longer than GENERATIONS_CACHE_S and a round of projection where other processes use the
                         store, less where this handle is the only one */
    void (*progress)(void *self, uint64_t voters); /* or NULL */
    void *self;
} RebuildOptions;
/* Builds the next generation from the voters' rows, beside the one that is read, and moves there; goes on with one that was left
 * half done. Saves and reads go on all the time. CONFLICT: somebody else rebuilds. Other failures: ask again. The rows of the
 * old generation stay and are not used any more: their cells are stamped with a seq or ver, so no engine can delete them for good (a
 * table that deletes is stamped by the clock, promise 6 of store.h). That takes as much space as the counts, once for each rebuild, which
 * nobody asks for but a repair of what was found to be wrong. */
MUST_USE Status votes_rebuild(Votes *votes, const RebuildOptions *options);

/* ---- Projection -------------------------------------------------------------------------------------------- */

/* Carries what these voters saved to the counts. OK when all are caught up with what was read; else the worst status: what is
 * missing is found again by its mark. */
MUST_USE Status votes_project(Votes *votes, const uint64_t *voters, size_t count);
/* The same for voters that saved through this instance and wait; returns how many were taken. */
MUST_USE Status votes_project_waiting(Votes *votes, size_t most, size_t *ret_taken);
/* How many wait. */
size_t votes_waiting(Votes *votes);
/* Waits until somebody is there to be taken by it. False: it was ended, by whoever wants the thread back. */
bool votes_projection_await(Votes *votes);
void votes_projection_end_await(Votes *votes);

/* How long a mark lives. Whoever was not projected in that time is found by a pass over all voters only. */
enum { VOTES_MARK_LIFE_S = 40 * 86400 };
/* Follows the marks of one hour (hours since 1970): projects voters that are behind. `*ret_behind` says how many were. */
MUST_USE Status votes_sweep_hour(Votes *votes, uint32_t hour, size_t *ret_behind);
/* The slow pass: a page of all voters. position as in store_scan. When the page was read but somebody on it could not be carried,
 * the status says so and the three are set all the same, so that a pass can go on without them. */
MUST_USE Status votes_sweep_page(Votes *votes, Slice position, Arena *arena, Slice *ret_position,
                                 bool *ret_more, size_t *ret_behind);
/* Voters that sweeps of this handle have found to have left while their account is not gone; each is returned once, until it is found again. */
enum { VOTES_LEFT_MAX = 64 };
size_t votes_take_left(Votes *votes, uint64_t ret_voters[VOTES_LEFT_MAX]);

/* Voters of whom something could not be read when they were last looked at: the head, a line, or an entry that is not projected yet. Sweeps
 * and passes leave that out, go on, and do not fail by it. Returns how many; the first VOTES_DAMAGED_MAX are kept. */
enum { VOTES_DAMAGED_MAX = 64 };
size_t votes_damaged(Votes *votes, uint64_t ret_voters[VOTES_DAMAGED_MAX]);
size_t votes_damaged_count(const Votes *votes);
/* Writes a head and lines that cannot be read anew, as the voter's log says them. CORRUPT: the log itself cannot be read or has a gap, or
 * says something else than a head that can be read; nothing was done. CONFLICT: somebody else was first. Repeating it is fine. */
MUST_USE Status votes_mend(Votes *votes, uint64_t voter);

/* A policy that is still pending: active when its entry is in the creator's chain; void when another entry stands there. After
 * `creation_grace_s` a fence is appended to the chain, so that the question has an answer. */
MUST_USE Status votes_settle_creation(Votes *votes, uint64_t policy, int64_t creation_grace_s);
