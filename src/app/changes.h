/* changes.h -- who in this process hears that something changed.
 *
 * Pages that are kept, summaries of policies, live events: whoever keeps something in memory listens here, and is told what changed by
 * one call, whichever door or instance changed it:
 *     changes_listen(app->changes, (ChangeListener){forget, self});
 *     changes_notify(app->changes, CHANGE_POLICY, policy);
 *   1. A listener is called by the thread that notifies, which may be a voter's: it leaves a mark and returns.
 *   2. A save of votes is in the ranking before anybody hears of it. What is kept of a policy that changed is dropped, and the ranking has
 *      read it again.
 *   3. Nothing is remembered. What a crash left untold, and what other instances did, comes from marks in the store (news.h,
 *      and `changed` for counts), which instance_sync follows.
 * Listeners are added while the process starts, and are never removed: they must outlive the app. */
#pragma once

#include <stdatomic.h>

#include "ranking/ranking.h"

typedef enum ChangeKind {
    CHANGE_POLICY,  /* a policy was moved, edited or answered; id: the policy */
    CHANGE_FRONT,   /* what the front page shows beside the rankings */
    CHANGE_GROUPS,  /* categories or parties */
    CHANGE_TEXT,    /* what the pages on privacy and terms say */
    CHANGE_ACCOUNT, /* roles, rights, sessions, or the name in public; id: the account */
    CHANGE_NOTICES, /* somebody dismissed some; id: the account */
    CHANGE_VOTES,   /* somebody saved votes here; id: the voter */
    CHANGE_RANKING, /* other instances saved votes */
    CHANGE_KINDS
} ChangeKind;

typedef struct ChangeListener {
    void (*changed)(void *self, ChangeKind kind, uint64_t id);
    void *self;
} ChangeListener;

enum { CHANGE_LISTENERS_MAX = 8 };

typedef struct Changes {
    Policies *policies;
    Ranking *ranking;
    VoteListener vote_listener; /* the ranking's, which hears of votes first */
    ChangeListener listeners[CHANGE_LISTENERS_MAX];
    _Atomic size_t count;
} Changes;

Changes *changes_new(Policies *policies, Ranking *ranking);
/* After the votes, whose listener it is. */
void changes_free(Changes *changes);
void changes_listen(Changes *changes, ChangeListener listener);
void changes_notify(Changes *changes, ChangeKind kind, uint64_t id);
/* CHANGE_POLICY, for who must know whether the ranking has it: what it cannot read now it reads later. */
MUST_USE Status changes_notify_policy(Changes *changes, uint64_t policy);
/* For VotesOptions.listener. */
VoteListener changes_of_votes(Changes *changes);
