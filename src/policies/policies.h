/* policies.h -- policies with their texts, revisions and moves; categories and parties.
 *
 * A policy's row holds its moves (policy_rules.h), its current text and its older revisions. Every change is a conditional update
 * that carries a fresh id, so that a writer recognises its own success and nothing is lost between two writers.
 * Promises:
 *   1. Only the moves of policy_rules.h happen, each with time, actor, reason and id; their times increase.
 *   2. A merge is source active -> merging(target), then the target, which must be active, lists the source with the merge's
 *      id, then source -> merged, or back to active when the target could not list it. Of opposite merges at most one stands. A
 *      crash between any two steps leaves a source that is `merging`, which policies_finish_merge settles.
 *   3. A listed source counts for its target only while its own row says merged with the same id. So a listing that arrives
 *      late harms nobody, and the source's row alone decides.
 *   4. Reading facts comes from a cache that may be behind; rules are safe with that. policies_read asks the store, and on a
 *      cluster may miss a change that has just been answered; policies_fresh misses nothing.
 *   5. Lists for browsing are derived and may be behind a change; policies_browse shows nothing that is wrong, and
 *      policies_reindex_page brings back what is missing.
 * Not promised: that a text and a move which change at the same time come in some order.
 * What a move means for votes is in votes/. Who may do what is checked by the caller (rights are in accounts.h), except
 * that an owner is an owner. */
#pragma once

#include "base/clock_guard.h"
#include "policies/policy_rules.h"
#include "store/sequence.h"
#include "store/store.h"

typedef struct Policies Policies;

typedef struct PoliciesOptions {
    Store *store;
    World world;
    uint32_t id_block;
    int64_t cache_s;    /* how long facts may be taken from the cache */
    uint32_t cache_max; /* policies in the cache, about 250 bytes each; 0: 250,000 */
    const ClockGuard *
        clock_guard; /* while it says no, nothing moves: UNAVAILABLE. NULL: nobody watches the clock */
} PoliciesOptions;

Policies *policies_new(const PoliciesOptions *options);
void policies_free(Policies *policies);

enum {
    POLICY_NAME_LEAST = 3,
    POLICY_NAME_MAX = 120,
    POLICY_TEXT_MAX = 20000, /* description, rationale */
    POLICY_LINKS_MAX = 10,
    POLICY_LINK_MAX = 510,
    POLICY_REASON_MAX = 1000,
    POLICY_REVISIONS_MAX = 500,
    POLICY_MEMBERS_MAX = 1000, /* that lead to one root, itself included */
    POLICY_LISTED_MAX = 2000,  /* listings on one row, also of merges that fell back */
};

typedef struct PolicyText {
    Slice name, description, rationale;
    Slice links[POLICY_LINKS_MAX];
    size_t link_count;
    uint64_t category; /* exactly one */
    uint64_t party;    /* 0: none */
} PolicyText;

/* Bounds in Unicode characters, links http(s) only, valid UTF-8 without control characters but line ends. INVALID names field and rule. Pure. */
MUST_USE Status policy_check_text(const PolicyText *text, Reason *reason);

/* At most `most` characters with line ends, valid UTF-8 without other control characters; for what people write elsewhere, too. Pure. */
MUST_USE Status policy_check_prose(const char *field, Slice text, size_t most, Reason *reason);

typedef struct Policy {
    uint64_t id;
    PolicyFacts facts;
    PolicyText text;
    uint64_t owner; /* 0: none any more */
    int64_t created_us, edited_us;
    uint32_t revision;    /* 1, 2, … */
    Id version;           /* of the text, to notice a change in between */
    uint64_t created_seq; /* the creator's entry that creates it */
    uint64_t creator;
    Id created_version;
} Policy;

/* A new id, before anything is written. */
MUST_USE Status policies_next_id(Policies *policies, uint64_t *ret_id);

typedef struct NewPolicy {
    uint64_t id;
    PolicyText text;
    uint64_t creator; /* 0 for a merge's new target: active at once, without owner */
    uint64_t seq;     /* the entry in the creator's chain that will create it */
    Id version;
    int64_t time_us;
} NewPolicy;

/* Writes the row as pending (or active, for a merge's target). Repeating it is fine. REFUSED: a category or party that is not
 * there or takes no new policies. CONFLICT: the id is taken by another version. */
MUST_USE Status policies_create(Policies *policies, const NewPolicy *policy, Reason *reason);
/* One move, but for those of a merge. `from` is the state that the caller saw: without it, a late "pending -> active" would
 * look like an appeal. The caller gives state, actor, reason and, for `retired`, other and percent; time_us and payer (the
 * owner) are filled in. An id of zero is replaced by a fresh one before anything is sent, so that after UNKNOWN the same
 * move can be repeated. OK when this very move (by id) is already there. REFUSED: not a move from there. CONFLICT: it is not
 * in `from` any more, or another move came first. */
MUST_USE Status policies_move(Policies *policies, uint64_t id, PolicyState from, PolicyMove *move,
                              Reason *reason);

/* Moves that a wrong clock has dated more than CLOCK_GUARD_S ahead get the time of now, in their order. It lowers nobody's balance. *ret_moves:
 * how many. REFUSED: there is none; or it was merged into a policy whose moves are ahead. CONFLICT: it was moved in the same moment. */
MUST_USE Status policies_retime(Policies *policies, uint64_t id, uint32_t *ret_moves,
                                Reason *reason);

/* An appeal is granted: from pending-deletion back to the state before, with what it was retired for and who pays as it was. The
 * caller gives actor, reason and id (zero: a fresh one, as in policies_move); the rest is filled in. REFUSED: it does not wait for its
 * deletion. CONFLICT: another move came first. */
MUST_USE Status policies_restore(Policies *policies, uint64_t id, PolicyMove *move, Reason *reason);

/* An obliterated policy has empty texts and revision 0. */
MUST_USE Status policies_read(Policies *policies, uint64_t id, Arena *arena, Policy *ret_policy);
/* The same by a serial read. */
MUST_USE Status policies_fresh(Policies *policies, uint64_t id, Arena *arena, Policy *ret_policy);
/* `seen` must be the version that the editor saw (CONFLICT otherwise). OK, and no new revision, when the text already is what
 * is asked for. REFUSED in states that are neither active nor merging. */
MUST_USE Status policies_edit(Policies *policies, uint64_t id, Id seen, const PolicyText *text,
                              uint64_t editor, Reason *reason);

typedef struct PolicyRevision {
    PolicyText text;
    uint32_t revision;
    Id version;
    uint64_t editor; /* of the first revision: the creator */
    int64_t time_us; /* increases with the revision */
} PolicyRevision;

MUST_USE Status policies_revision(Policies *policies, uint64_t id, uint32_t revision, Arena *arena,
                                  PolicyRevision *ret_revision);
/* The whole merge, as in promise 2. REFUSED: it fell back, or did not begin. UNAVAILABLE, CONFLICT: it did not begin.
 * UNKNOWN: it has perhaps begun, policies_finish_merge settles it, and policies_left_merges has it. */
MUST_USE Status policies_merge(Policies *policies, uint64_t source, uint64_t target, uint64_t actor,
                               Slice reason_text, Reason *reason);

/* A merge that has a name, so that a form sent twice, at once or after an unknown answer, is one merge. Several sources of one act may
 * share the id. */
typedef struct PolicyMerge {
    Id id; /* fresh for each act, not zero */
    uint64_t source, target, actor;
    Slice reason;
} PolicyMerge;
/* The same as policies_merge, and OK when this very merge is already there. REFUSED also when it fell back before: that does not change
 * any more, and another try needs another id. CONFLICT: the id names a merge of this source into something else. */
MUST_USE Status policies_merge_named(Policies *policies, const PolicyMerge *merge, Reason *reason);
/* The new policy that a merge leads to: active at once, without owner and without cost. Its id is written down at the source before it
 * is made, by the merge's id, so the same merge always has the same. `target` is not used. A crash before the merge begins leaves a policy
 * without votes, which the same call again finds. */
MUST_USE Status policies_merge_target(Policies *policies, const PolicyMerge *merge,
                                      const PolicyText *text, uint64_t *ret_target, Reason *reason);
/* Settles a source that is `merging`, by the same steps; OK when it is settled, or was not merging. Anything else: it still is,
 * or may be; repeat it. */
MUST_USE Status policies_finish_merge(Policies *policies, uint64_t source);
/* Sources of merges that this handle has (perhaps) begun and could not end, until policies_finish_merge has settled them; when there are
 * more, some are missing. Returns how many. */
enum { POLICIES_LEFT_MAX = 16 };
size_t policies_left_merges(Policies *policies, uint64_t ret_sources[POLICIES_LEFT_MAX]);
/* Without owner, when the owner's account is closed. */
MUST_USE Status policies_disown(Policies *policies, uint64_t id, uint64_t owner);
/* Deleted or void (REFUSED otherwise): removes texts, revisions, the names it had in lists, the reasons of its moves and of merges into it, and
 * its answer; the moves themselves and the ledger stay. Anything but OK: perhaps not all of it. Repeating it is fine. */
MUST_USE Status policies_obliterate(Policies *policies, uint64_t id);
/* Whether everything was removed that is kept anywhere of a policy that was obliterated (app/obliterate.h), and the note that it was. */
MUST_USE Status policies_is_gone(Policies *policies, uint64_t id, bool *ret_gone);
MUST_USE Status policies_note_gone(Policies *policies, uint64_t id);
/* All policies, page by page, as store_scan. A page may be empty though more follow. CORRUPT: a policy on it cannot be read and is
 * left out; all four are set all the same, so that a pass can go on without it. */
MUST_USE Status policies_list(Policies *policies, Slice position, Arena *arena,
                              Policy **ret_policies, size_t *ret_count, Slice *ret_position,
                              bool *ret_more);

/* ---- News --------------------------------------------------------------------------------------------------- */

typedef struct PolicyEdit {
    uint32_t revision; /* that the text is; 0: it is the first */
    uint64_t editor;
    int64_t time_us;
} PolicyEdit;

/* A merge into a policy, as that lists it; promise 3 says when it counts. */
typedef struct PolicySource {
    uint64_t source;
    Id merge;
} PolicySource;

/* What has happened to a policy: its moves, without their reasons, the last change of its text, and the merges into it that were ever
 * listed. From the cache, which may be behind, but never behind this handle's own changes. */
typedef struct PolicyNews {
    PolicyFacts facts;
    PolicyEdit edit;
    const PolicySource *sources;
    size_t listed;
} PolicyNews;
MUST_USE Status policies_news(Policies *policies, uint64_t id, Arena *arena, PolicyNews *ret_news);

/* ---- Facts for rules --------------------------------------------------------------------------------------- */

/* A lookup for rules, whose facts live until the arena goes; asks the cache, then the store, and gives the same answer for a
 * policy each time. Moves come without their reasons. What could not be read is not there, and `failed` says so: then nothing
 * may be concluded from its absence. Begin with {.policies = …, .arena = …}; one thread. */
typedef struct PoliciesReader {
    Policies *policies;
    Arena *arena;
    bool fresh;                /* ask the store, which misses nothing, and not the cache */
    Status failed;             /* OK, or why some policy could not be read */
    struct PoliciesSeen *seen; /* private */
} PoliciesReader;
PolicyLookup policies_lookup(PoliciesReader *reader);
/* Drops what the cache knows of a policy: after an own move, or when another instance told of one. */
void policies_forget(Policies *policies, uint64_t id);
/* All policies that count for a root, through several merges (itself first, then the nearest); from the cache. The root of a
 * policy now is policy_standing at INT64_MAX. */
MUST_USE Status policies_members(Policies *policies, uint64_t root, Arena *arena,
                                 uint64_t **ret_members, size_t *ret_count);

/* ---- Categories and parties --------------------------------------------------------------------------------- */

typedef struct PolicyGroup {
    uint64_t id; /* 1, 2, … within its kind */
    Slice name, description;
    bool active;
} PolicyGroup;

typedef enum GroupKind { GROUP_CATEGORY, GROUP_PARTY } GroupKind;
enum { GROUPS_MAX = 1000, GROUP_NAME_MAX = 80, GROUP_DESCRIPTION_MAX = 2000 };

/* In order of id, which is the order in which they were added. */
MUST_USE Status policies_groups(Policies *policies, GroupKind kind, Arena *arena,
                                PolicyGroup **ret_groups, size_t *ret_count);
/* The name of one for pages, perhaps from a copy (base/read_cache.h) of the last second; a change by this handle counts at once. Empty when there
 * is none, or id is 0. */
MUST_USE Status policies_group_name(Policies *policies, GroupKind kind, uint64_t id, Arena *arena,
                                    Slice *ret_name);
/* id 0 adds one; names (1 … GROUP_NAME_MAX characters) are unique within a kind, after NFKC and case folding. A disabled one
 * stays on its policies and takes no new ones. REFUSED: the name is taken, or there are GROUPS_MAX. */
MUST_USE Status policies_set_group(Policies *policies, GroupKind kind, const PolicyGroup *group,
                                   uint64_t *ret_id, Reason *reason);

/* The categories of a site that names no others. */
extern const Slice POLICY_CATEGORIES[];
extern const size_t POLICY_CATEGORY_COUNT;
/* Adds those of the names that are not there yet; at start, on every instance at once if need be. */
MUST_USE Status policies_ensure_categories(Policies *policies, const Slice *names, size_t count,
                                           Reason *reason);

/* ---- Browsing ------------------------------------------------------------------------------------------------- */

/*    order, row of the index, whether it is of one group, whether the newest come first */
#define POLICY_ORDER_LIST(X)              \
    X(NAME, "name", false, false)         \
    X(DATE, "date", false, true)          \
    X(PARTY, "party/", true, false)       \
    X(CATEGORY, "category/", true, false) \
    X(OWNER, "owner/", true, true)
typedef enum PolicyOrder {
#define X(name, row, grouped, newest_first) POLICIES_BY_##name,
    POLICY_ORDER_LIST(X)
#undef X
        POLICY_ORDER_COUNT
} PolicyOrder;

enum { POLICIES_BROWSE_MAX = 100 };

typedef struct PolicyQuery {
    PolicyOrder order; /* by name, folded; DATE and OWNER by date of creation, the newest first */
    uint64_t group;    /* the party, category or owner */
    Slice prefix;      /* only names that begin so, folded; empty: all. Not by date */
    Slice position;    /* empty: from the beginning; else as it was returned */
    uint32_t limit;    /* 1 … POLICIES_BROWSE_MAX */
} PolicyQuery;

/* Policies that are in lists (policy_state_listed) and belong here; an owner's also when they are merged, retired or wait for
 * deletion. */
typedef struct PolicyPage {
    Policy *policies;
    size_t count; /* may be less than the limit though more follow */
    Slice position;
    bool more;
} PolicyPage;

/* INVALID: a limit or position out of bounds. */
MUST_USE Status policies_browse(Policies *policies, const PolicyQuery *query, Arena *arena,
                                PolicyPage *ret_page);
/* One page of the repair of these lists: adds what is missing, removes what is wrong. Begin with an empty position, go on while
 * *ret_more. CORRUPT: the places of a policy that cannot be read were left as they are; the rest of the page is done, and both are
 * set. */
MUST_USE Status policies_reindex_page(Policies *policies, Slice position, Arena *arena,
                                      Slice *ret_position, bool *ret_more);
/* The same, but only says how many places are missing or wrong. CORRUPT as above. */
typedef struct PolicyIndexPage {
    Slice *ret_position;
    bool *ret_more;
    size_t *ret_faults;
} PolicyIndexPage;
MUST_USE Status policies_check_index_page(Policies *policies, Slice position, Arena *arena,
                                          const PolicyIndexPage *page);
