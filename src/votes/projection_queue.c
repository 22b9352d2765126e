/* projection_queue.c -- voters that wait for projection, and projecting any number of them in rounds. */
#include <stdlib.h>

#include "votes/votes_private.h"

static Entry *copy_of(const Entry *entry)
{
    if (entry->change_count > WAITING_CHANGES)
        return NULL;
    Entry *copy = malloc(sizeof *copy + entry->change_count * sizeof *copy->changes);
    CHECK(copy != NULL);
    *copy = *entry;
    copy->changes = (EntryChange *)(void *)(copy + 1);
    memcpy(copy->changes, entry->changes, entry->change_count * sizeof *copy->changes);
    return copy;
}

void votes_projection_enqueue(Votes *votes, uint64_t voter, const Entry *entry)
{
    QueuedVoter waiting = {voter, copy_of(entry)};
    pthread_mutex_lock(&votes->lock);
    bool room = votes->waiting_count < WAITING_MAX;
    if (room)
        votes->waiting[(votes->waiting_first + votes->waiting_count++) % WAITING_MAX] = waiting;
    if (votes->waiting_count == 1)
        pthread_cond_signal(&votes->somebody);
    pthread_mutex_unlock(&votes->lock);
    if (!room) /* the mark finds it */
        free(waiting.entry);
}

/* The next one that waits. Locked. */
static QueuedVoter take(Votes *votes)
{
    QueuedVoter next = votes->waiting[votes->waiting_first];
    votes->waiting_first = (votes->waiting_first + 1) % WAITING_MAX;
    votes->waiting_count--;
    return next;
}

void votes_forget_waiting(Votes *votes)
{
    while (votes->waiting_count > 0)
        free(take(votes).entry);
    free(votes->waiting);
}

static int by_voter(const void *a, const void *b)
{
    const QueuedVoter *left = a, *right = b;
    return (left->voter > right->voter) - (left->voter < right->voter);
}

/* A voter may stand in the list twice; a round takes each once, and then reads all its entries. */
static size_t sorted_once(QueuedVoter *voters, size_t count)
{
    size_t kept = 0;
    qsort(voters, count, sizeof *voters, by_voter);
    for (size_t i = 0; i < count; i++) {
        if (kept == 0 || voters[i].voter != voters[kept - 1].voter) {
            voters[kept++] = voters[i];
            continue;
        }
        free(voters[i].entry);
        free(voters[kept - 1].entry);
        voters[kept - 1].entry = NULL;
    }
    return kept;
}

static Status project_rounds(Votes *votes, ProjectRound *round)
{
    Status status;
    do
        status = votes_project_round(votes, round);
    while (status == STATUS_OK && round->more && !MUTANT(one_round));
    return status;
}

/* Whoever shows counts hears of what is in all generations: it may read either. */
static void tell_projected(const Votes *votes, const ProjectRound *round)
{
    const VoteListener *listener = &votes->listener;
    for (size_t i = 0; i < round->count && listener->projected != NULL; i++)
        listener->projected(listener->self, round->voters[i].voter, round->projected[i]);
}

/* One round of voters, each once, into what the generations say. */
static Status project_some(Votes *votes, const Generations *generations, const QueuedVoter *voters,
                           size_t count)
{
    ProjectRound round = {.generation = generations->current, .voters = voters, .count = count};
    Status status = project_rounds(votes, &round);
    if (generations->has_also) {
        ProjectRound other = {.generation = generations->also, .voters = voters, .count = count};
        Status also = project_rounds(votes, &other);
        if (also != STATUS_OK)
            status = also;
        for (size_t i = 0; i < count; i++)
            if (other.projected[i] < round.projected[i])
                round.projected[i] = other.projected[i];
    }
    tell_projected(votes, &round);
    return status;
}

/* The next voters, each once. */
static size_t next_round(const uint64_t *voters, size_t count, QueuedVoter *ret_round)
{
    size_t size = count < ROUND_VOTERS ? count : ROUND_VOTERS;
    for (size_t i = 0; i < size; i++)
        ret_round[i] = (QueuedVoter){voters[i], NULL};
    return sorted_once(ret_round, size);
}

Status votes_project(Votes *votes, const uint64_t *voters, size_t count)
{
    Status worst = STATUS_OK;
    Generations generations;
    TRY(votes_generations(votes, &generations));
    for (size_t start = 0; start < count; start += ROUND_VOTERS) {
        QueuedVoter round[ROUND_VOTERS];
        size_t size = next_round(voters + start, count - start, round);
        Status status = project_some(votes, &generations, round, size);
        if (status != STATUS_OK)
            worst = status;
    }
    return worst;
}

Status votes_project_into(Votes *votes, uint32_t generation, const uint64_t *voters, size_t count)
{
    Status worst = STATUS_OK;
    for (size_t start = 0; start < count; start += ROUND_VOTERS) {
        QueuedVoter ids[ROUND_VOTERS];
        ProjectRound round = {.generation = generation, .voters = ids};
        round.count = next_round(voters + start, count - start, ids);
        Status status = project_rounds(votes, &round);
        if (status != STATUS_OK)
            worst = status;
    }
    return worst;
}

Status votes_project_waiting(Votes *votes, size_t most, size_t *ret_taken)
{
    QueuedVoter voters[ROUND_VOTERS];
    Generations generations;
    size_t count = 0;
    TRY(votes_generations(votes, &generations));
    pthread_mutex_lock(&votes->lock);
    while (count < ROUND_VOTERS && count < most && votes->waiting_count > 0)
        voters[count++] = take(votes);
    pthread_mutex_unlock(&votes->lock);
    *ret_taken = count;
    size_t size = sorted_once(voters, count);
    Status status = size > 0 ? project_some(votes, &generations, voters, size) : STATUS_OK;
    for (size_t i = 0; i < size; i++)
        free(voters[i].entry);
    return status;
}

size_t votes_waiting(Votes *votes)
{
    pthread_mutex_lock(&votes->lock);
    size_t count = votes->waiting_count;
    pthread_mutex_unlock(&votes->lock);
    return count;
}

bool votes_projection_await(Votes *votes)
{
    pthread_mutex_lock(&votes->lock);
    while (votes->waiting_count == 0 && !votes->await_ends)
        pthread_cond_wait(&votes->somebody, &votes->lock);
    bool goes_on = !votes->await_ends;
    pthread_mutex_unlock(&votes->lock);
    return goes_on;
}

void votes_projection_end_await(Votes *votes)
{
    pthread_mutex_lock(&votes->lock);
    votes->await_ends = true;
    pthread_cond_broadcast(&votes->somebody);
    pthread_mutex_unlock(&votes->lock);
}
