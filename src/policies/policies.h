/* policies.h -- policies with their texts, revisions and moves; categories and parties.
 *
 * A policy's row holds its moves (policy_rules.h), its current text and its older revisions. Every change is a conditional update
 * that carries a fresh id, so that a writer recognises its own success and nothing is lost between two writers.
 * Promises:
 *   1. Only the moves of policy_rules.h happen, each with time, actor, reason and id; their times increase.
 *   2. A merge is source active -> merging(target), then the target, which must be active, lists the source with the merge's
 *      id, then source -> merged, or back to active when the target could not list it. Two opposite merges both fall back. A
 *      crash between any two steps leaves a source that is `merging`, which policies_finish_merge settles.
 *   3. A listed source counts for its target only while its own row says merged with the same id.
 *   4. Reading facts comes from a cache that may be behind; rules are safe with that. `policies_fresh` asks the store.
 * What a move means for votes is in votes/. Who may do what is checked by the caller (rights are in accounts.h), except
 * that an owner is an owner. */
#pragma once

#include "policies/policy_rules.h"
#include "store/sequence.h"
#include "store/store.h"

typedef struct Policies Policies;

typedef struct PoliciesOptions {
    Store *store;
    World world;
    uint32_t id_block;
    int64_t cache_s; /* how long facts may be taken from the cache */
} PoliciesOptions;

Policies *policies_new(const PoliciesOptions *options);
void policies_free(Policies *policies);

enum {
    POLICY_NAME_LEAST = 3,
    POLICY_NAME_MOST = 120,
    POLICY_TEXT_MOST = 20000, /* description, rationale */
    POLICY_LINKS_MOST = 10,
    POLICY_LINK_MOST = 510,
    POLICY_REASON_MOST = 1000,
};

typedef struct PolicyText {
    Slice name, description, rationale;
    Slice links[POLICY_LINKS_MOST];
    size_t link_count;
    uint64_t category; /* exactly one */
    uint64_t party;    /* 0: none */
} PolicyText;

/* Bounds in Unicode characters, links http(s) only, valid UTF-8 without control characters but line ends. INVALID names field and rule. Pure. */
MUST_USE Status policy_check_text(const PolicyText *text, Reason *reason);

typedef struct Policy {
    uint64_t id;
    PolicyFacts facts;
    PolicyText text;
    uint64_t owner; /* 0: none any more */
    int64_t created_us, edited_us;
    uint32_t revision;       /* 1, 2, … */
    Id version;              /* of the text, to notice a change in between */
    const uint64_t *members; /* listed sources that count (promise 3) */
    size_t member_count;
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

/* Writes the row as pending (or active, for a merge's target). Repeating it is fine. */
MUST_USE Status policies_create(Policies *policies, const NewPolicy *policy, Reason *reason);
/* One move. `move->time_us` and `move->id` are filled in. REFUSED: not a move from here. OK when this very move (by id) is
 * already there; CONFLICT when another came first. */
MUST_USE Status policies_move(Policies *policies, uint64_t id, PolicyMove *move, Reason *reason);

MUST_USE Status policies_read(Policies *policies, uint64_t id, Arena *arena, Policy *ret_policy);
/* `seen` must be the version that the editor saw (CONFLICT otherwise). */
MUST_USE Status policies_edit(Policies *policies, uint64_t id, Id seen, const PolicyText *text,
                              uint64_t editor, Reason *reason);
MUST_USE Status policies_revision(Policies *policies, uint64_t id, uint32_t revision, Arena *arena,
                                  PolicyText *ret_text, uint64_t *ret_editor, int64_t *ret_time_us);
/* The whole merge, as in promise 2; UNKNOWN or UNAVAILABLE leave it to policies_finish_merge. */
MUST_USE Status policies_merge(Policies *policies, uint64_t source, uint64_t target, uint64_t actor,
                               Slice reason_text, Reason *reason);
MUST_USE Status policies_finish_merge(Policies *policies, uint64_t source);
/* Without owner, when the owner's account is closed. */
MUST_USE Status policies_disown(Policies *policies, uint64_t id, uint64_t owner);
/* Deleted or void: removes texts and revisions; moves and the ledger stay. */
MUST_USE Status policies_obliterate(Policies *policies, uint64_t id);
/* All policies, page by page, as store_scan. */
MUST_USE Status policies_list(Policies *policies, Slice position, Arena *arena,
                              Policy **ret_policies, size_t *ret_count, Slice *ret_position,
                              bool *ret_more);

/* ---- Facts for rules --------------------------------------------------------------------------------------- */

/* A book for rules, whose facts live until the arena goes; asks the cache, then the store. What could not be read is not
 * there, and *ret_failed (set by find) says so: then nothing may be concluded from its absence. */
typedef struct PoliciesReader {
    Policies *policies;
    Arena *arena;
    Status failed; /* OK, or why some policy could not be read */
} PoliciesReader;
PolicyBook policies_book(PoliciesReader *reader);
/* Drops what the cache knows of a policy: after an own move, or when another instance told of one. */
void policies_forget(Policies *policies, uint64_t id);
/* The root of a policy now, and all members that count for a root (itself first). */
MUST_USE Status policies_members(Policies *policies, uint64_t root, Arena *arena,
                                 uint64_t **ret_members, size_t *ret_count);

/* ---- Categories and parties --------------------------------------------------------------------------------- */

typedef struct Group {
    uint64_t id;
    Slice name, description;
    bool active;
} Group;

typedef enum GroupKind { GROUP_CATEGORY, GROUP_PARTY } GroupKind;
enum { GROUPS_MOST = 1000, GROUP_NAME_MOST = 80, GROUP_DESCRIPTION_MOST = 2000 };

/* In order of name. */
MUST_USE Status policies_groups(Policies *policies, GroupKind kind, Arena *arena,
                                Group **ret_groups, size_t *ret_count);
/* id 0 adds one; names are unique within a kind. A disabled one stays on its policies and takes no new ones. */
MUST_USE Status policies_set_group(Policies *policies, GroupKind kind, const Group *group,
                                   uint64_t *ret_id, Reason *reason);
