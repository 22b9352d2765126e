/* pending.c -- see pending.h. Chains by place in one array: no pointer changes when the array grows. */
#include "ranking/pending.h"

#include <stdlib.h>

void pending_free(Pending *pending)
{
    free(pending->noted);
    free(pending->policies);
    map_free(&pending->policy_places);
    map_free(&pending->voters);
    *pending = (Pending){0};
}

static PendingPolicy *policy_of(Pending *pending, uint64_t policy)
{
    uint64_t place = map_get(&pending->policy_places, policy);
    if (place == 0) {
        if (pending->policy_count == pending->policy_room) {
            pending->policy_room = 2 * pending->policy_room + 64;
            pending->policies =
                realloc(pending->policies, pending->policy_room * sizeof pending->policies[0]);
            CHECK(pending->policies != NULL);
        }
        pending->policies[pending->policy_count++] = (PendingPolicy){.policy = policy};
        place = pending->policy_count;
        map_put(&pending->policy_places, policy, place);
    }
    return &pending->policies[place - 1];
}

static uint32_t spare_place(Pending *pending)
{
    uint32_t place = pending->spare;
    if (place != 0) {
        pending->spare = pending->noted[place].next;
        return place;
    }
    if (pending->used + 1 >= pending->room) {
        pending->room = 2 * pending->room + 64;
        pending->noted = realloc(pending->noted, pending->room * sizeof pending->noted[0]);
        CHECK(pending->noted != NULL);
    }
    return ++pending->used;
}

static void note(Pending *pending, const VoteNews *news, const VoteDelta *delta)
{
    uint32_t place = spare_place(pending);
    PendingPolicy *policy = policy_of(pending, delta->policy);
    pending->noted[place] =
        (Noted){.policy = delta->policy,
                .voter = news->voter,
                .seq = news->seq,
                .version = news->version,
                .time_us = news->time_us,
                .change = delta->change,
                .next = policy->first,
                .next_of_voter = (uint32_t)map_get(&pending->voters, news->voter)};
    if (policy->first != 0)
        pending->noted[policy->first].previous = place;
    policy->first = place;
    policy->touched = pending->noted[place].noted_at = ++pending->now;
    map_put(&pending->voters, news->voter, place);
}

void pending_sent(Pending *pending, const VoteNews *news)
{
    for (size_t i = 0; i < news->count; i++)
        note(pending, news, &news->deltas[i]);
}

/* Takes it out of the policy's chain; it is in no voter's any more. */
static void remove_noted(Pending *pending, uint32_t place)
{
    Noted *noted = &pending->noted[place];
    PendingPolicy *policy = policy_of(pending, noted->policy);
    if (noted->previous != 0)
        pending->noted[noted->previous].next = noted->next;
    else
        policy->first = noted->next;
    if (noted->next != 0)
        pending->noted[noted->next].previous = noted->previous;
    policy->touched = ++pending->now;
    noted->next = pending->spare;
    pending->spare = place;
}

static void forget(Pending *pending, uint32_t place)
{
    if (pending->readers == 0) {
        remove_noted(pending, place);
        return;
    }
    pending->noted[place].next_of_voter = pending->gone;
    pending->gone = place;
}

void pending_begin_read(Pending *pending)
{
    pending->readers++;
}

void pending_end_read(Pending *pending)
{
    CHECK(pending->readers > 0);
    pending->readers--;
    while (pending->readers == 0 && pending->gone != 0) {
        uint32_t place = pending->gone;
        pending->gone = pending->noted[place].next_of_voter;
        remove_noted(pending, place);
    }
}

/* Walks a voter's chain and forgets those for which `is_over` says so. A voter has few at a time. */
typedef bool IsOver(Noted *noted, const void *context);

static void sift(Pending *pending, uint64_t voter, IsOver *is_over, const void *context)
{
    uint32_t first = 0, at = (uint32_t)map_get(&pending->voters, voter);
    if (at == 0)
        return;
    while (at != 0) {
        Noted *noted = &pending->noted[at];
        uint32_t next = noted->next_of_voter;
        if (is_over(noted, context)) {
            forget(pending, at);
        } else {
            noted->next_of_voter = first;
            first = at;
        }
        at = next;
    }
    if (first != 0)
        map_put(&pending->voters, voter, first);
    else
        map_remove(&pending->voters, voter);
}

static bool is_dropped(Noted *noted, const void *context)
{
    const Id *version = context;
    return id_equal(noted->version, *version);
}

void pending_dropped(Pending *pending, const VoteNews *news)
{
    sift(pending, news->voter, is_dropped, &news->version);
}

typedef struct Saved {
    Id version;
    PendingAdd *add;
    void *context;
} Saved;

static bool is_saved_and_projected(Noted *noted, const void *context)
{
    const Saved *saved = context;
    if (!id_equal(noted->version, saved->version))
        return false;
    noted->told = true;
    if (!noted->counted)
        saved->add(saved->context, noted);
    return noted->projected;
}

void pending_saved(Pending *pending, const VoteNews *news, PendingAdd *add, void *context)
{
    Saved saved = {news->version, add, context};
    sift(pending, news->voter, is_saved_and_projected, &saved);
}

static bool is_projected(Noted *noted, const void *context)
{
    const uint64_t *seq = context;
    if (noted->seq > *seq)
        return false;
    noted->projected = true;
    return noted->told;
}

void pending_projected(Pending *pending, uint64_t voter, uint64_t seq)
{
    sift(pending, voter, is_projected, &seq);
}

Noted *pending_first(const Pending *pending, uint64_t policy)
{
    uint64_t place = map_get(&pending->policy_places, policy);
    uint32_t first = place == 0 ? 0 : pending->policies[place - 1].first;
    return first == 0 ? NULL : &pending->noted[first];
}

Noted *pending_next(const Pending *pending, const Noted *noted)
{
    return noted->next == 0 ? NULL : &pending->noted[noted->next];
}
