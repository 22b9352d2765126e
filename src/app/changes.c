/* changes.c -- see changes.h. */
#include "app/changes.h"

#include <stdlib.h>

Changes *changes_new(Policies *policies, Ranking *ranking)
{
    Changes *changes = calloc(1, sizeof *changes);
    CHECK(changes != NULL);
    *changes = (Changes){
        .policies = policies, .ranking = ranking, .vote_listener = ranking_listener(ranking)};
    return changes;
}

void changes_free(Changes *changes)
{
    free(changes);
}

/* The count moves after the entry is there, so that threads that notify meanwhile see all of it or nothing. */
void changes_listen(Changes *changes, ChangeListener listener)
{
    size_t count = atomic_load(&changes->count);
    CHECK(count < CHANGE_LISTENERS_MAX);
    changes->listeners[count] = listener;
    atomic_store(&changes->count, count + 1);
}

static void tell(Changes *changes, ChangeKind kind, uint64_t id)
{
    size_t count = atomic_load(&changes->count);
    for (size_t i = 0; i < count; i++)
        changes->listeners[i].changed(changes->listeners[i].self, kind, id);
}

Status changes_notify_policy(Changes *changes, uint64_t policy)
{
    policies_forget(changes->policies, policy);
    Status status = ranking_policy_changed(changes->ranking, policy);
    tell(changes, CHANGE_POLICY, policy);
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

void changes_notify(Changes *changes, ChangeKind kind, uint64_t id)
{
    if (kind == CHANGE_POLICY)
        (void)!changes_notify_policy(changes, id);
    else
        tell(changes, kind, id);
}

static void hear_votes(void *self, VoteStep step, const VoteNews *news)
{
    Changes *changes = self;
    changes->vote_listener.told(changes->vote_listener.self, step, news);
    if (step != VOTE_SENT)
        tell(changes, CHANGE_VOTES, news->voter);
}

static void hear_projection(void *self, uint64_t voter, uint64_t seq)
{
    Changes *changes = self;
    changes->vote_listener.projected(changes->vote_listener.self, voter, seq);
}

VoteListener changes_of_votes(Changes *changes)
{
    return (VoteListener){hear_votes, hear_projection, changes};
}
