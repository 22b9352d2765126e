/* notices.h -- what happened to the policies that somebody has to do with: those they hold votes on, watch, or own; and to their account.
 *
 * Nothing is written when something happens: the list is made when it is asked for, from the moves and texts of those policies, less what the
 * person has dismissed. So a move of a policy with a million voters costs no more than any other.
 *   1. Every move that a voter should know of, every merge into the policy, and the latest change of its text and of its official answer, by
 *      somebody else, in the last NOTICES_DAYS days, is there until it is dismissed; what happened before the account was made is not.
 *      So is the last change of the person's own rights.
 *      Of what is new in the categories and parties that the person follows, the newest 100 policies of the site are looked at.
 *      So is each command in the person's name that the audit log has of that time, whatever came of it; the newest 100.
 *   2. Dismissing is repeatable, and in any order; a dismissal lives longer than what it dismisses.
 *   3. Bounded: the lines of a voter, the watch list, the newest 100 policies of an owner, 100 merges into one policy; facts come from the
 *      cache of policies, and may be a minute behind. The newest NOTICES_MAX are listed.
 * Not promised: that what is told happened after the person came to the policy. A policy that cannot be read is left out. */
#pragma once

#include "votes/votes.h"

#define NOTICE_COMMAND_KEY SLICE("command-") /* begins the keys of looked-at and in-name */
enum { NOTICES_MAX = 50, NOTICES_DAYS = 365, NOTICE_KEY_BYTES = 40 };

/*    kind, name for scripts, sentence */
#define NOTICE_KIND_LIST(X)                                                           \
    X(EDITED, "edited", "its text was changed")                                       \
    X(MERGING, "merging", "it is being merged into another policy")                   \
    X(MERGED, "merged", "it was merged into another policy; your votes went with it") \
    X(RETIRED, "retired", "it was retired; you have your votes back")                 \
    X(HIDDEN, "hidden", "it was hidden and waits to be deleted")                      \
    X(DELETED, "deleted", "it was deleted; you have your votes back")                 \
    X(RESTORED, "restored", "it is back: an appeal was granted")                      \
    X(JOINED, "joined", "another policy was merged into it; its votes count here")    \
    X(ANSWERED, "answered", "it has an official answer")                              \
    X(NEW, "new", "it is new in a category or party that you follow")                 \
    X(RIGHTS, "rights", "what your account may do was changed")                       \
    X(LOOKED_AT, "looked-at", "those who run the server looked at what is yours")     \
    X(IN_NAME, "in-name", "those who run the server did something in your name")
typedef enum NoticeKind {
#define X(name, word, text) NOTICE_##name,
    NOTICE_KIND_LIST(X)
#undef X
        NOTICE_KIND_COUNT
} NoticeKind;

const char *notice_kind_name(NoticeKind kind);
const char *notice_kind_text(NoticeKind kind);

typedef struct PolicyNotice {
    Slice
        key; /* names it for dismissing: "12-m3"; what came by a merge has the key that it has for its own voters */
    NoticeKind kind;
    uint64_t policy; /* 0: it is about the account */
    Slice command;   /* looked-at, in-name: "vote show" */
    Slice
        name; /* of the policy, as it is now; empty when it has no text any more. RIGHTS: what was taken and given */
    uint64_t
        other; /* merging, merged: where to; retired: in favour of which; joined: which one came; 0: none */
    uint64_t actor; /* who did it; 0: the system */
    int64_t time_us;
    Slice reason; /* as it stands in the log; empty: none */
} PolicyNotice;

/* The newest first. NOT_FOUND: no such account. */
MUST_USE Status notices_list(Votes *votes, uint64_t account, Arena *arena,
                             PolicyNotice **ret_notices, size_t *ret_count);
/* INVALID: a key that no notice can have. */
MUST_USE Status notices_dismiss(Votes *votes, uint64_t account, Slice key);
/* All up to and including that moment: the time of the newest that was shown. */
MUST_USE Status notices_dismiss_all(Votes *votes, uint64_t account, int64_t until_us);

/* Which notice a move gives somebody, if any; pure. `number` is its place in the list. */
bool notice_of_move(const PolicyFacts *facts, size_t number, NoticeKind *ret_kind);
