/* waiting.c -- voters that wait for projection, and projecting any number of them in rounds. */
#include <stdlib.h>

#include "votes/inside.h"

void votes_wait(Votes *votes, uint64_t voter)
{
    pthread_mutex_lock(&votes->lock);
    if (votes->waiting_count < WAITING_MOST) /* else the mark finds it */
        votes->waiting[(votes->waiting_first + votes->waiting_count++) % WAITING_MOST] = voter;
    pthread_mutex_unlock(&votes->lock);
}

static int by_number(const void *a, const void *b)
{
    const uint64_t *left = a, *right = b;
    return (*left > *right) - (*left < *right);
}

/* A voter may stand in the list twice; a round takes each once. */
static size_t sorted_once(uint64_t *voters, size_t count)
{
    size_t kept = 0;
    qsort(voters, count, sizeof *voters, by_number);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || voters[i] != voters[kept - 1])
            voters[kept++] = voters[i];
    return kept;
}

static Status project_rounds(Votes *votes, ProjectRound *round)
{
    Status status;
    do
        status = votes_project_round(votes, round);
    while (status == STATUS_OK && round->more);
    return status;
}

/* Whoever shows counts hears of what is in all generations: it may read either. */
static void tell_projected(const Votes *votes, const ProjectRound *round)
{
    const VoteListener *listener = &votes->listener;
    for (size_t i = 0; i < round->count && listener->projected != NULL; i++)
        listener->projected(listener->self, round->voters[i], round->projected[i]);
}

/* The next voters, each once. */
static size_t next_round(const uint64_t *voters, size_t count, uint64_t *ret_round)
{
    size_t size = count < ROUND_VOTERS ? count : ROUND_VOTERS;
    memcpy(ret_round, voters, size * sizeof *ret_round);
    return sorted_once(ret_round, size);
}

Status votes_project(Votes *votes, const uint64_t *voters, size_t count)
{
    Status worst = STATUS_OK;
    Generations generations;
    TRY(votes_generations(votes, &generations));
    for (size_t start = 0; start < count; start += ROUND_VOTERS) {
        uint64_t ids[ROUND_VOTERS];
        size_t size = next_round(voters + start, count - start, ids);
        ProjectRound round = {.generation = generations.current, .voters = ids, .count = size};
        Status status = project_rounds(votes, &round);
        if (generations.has_also) {
            ProjectRound other = {.generation = generations.also, .voters = ids, .count = size};
            Status also = project_rounds(votes, &other);
            if (also != STATUS_OK)
                status = also;
            for (size_t i = 0; i < size; i++)
                if (other.projected[i] < round.projected[i])
                    round.projected[i] = other.projected[i];
        }
        tell_projected(votes, &round);
        if (status != STATUS_OK)
            worst = status;
    }
    return worst;
}

Status votes_project_into(Votes *votes, uint32_t generation, const uint64_t *voters, size_t count)
{
    Status worst = STATUS_OK;
    for (size_t start = 0; start < count; start += ROUND_VOTERS) {
        uint64_t ids[ROUND_VOTERS];
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
    uint64_t voters[ROUND_VOTERS];
    size_t count = 0;
    pthread_mutex_lock(&votes->lock);
    while (count < ROUND_VOTERS && count < most && votes->waiting_count > 0) {
        voters[count++] = votes->waiting[votes->waiting_first];
        votes->waiting_first = (votes->waiting_first + 1) % WAITING_MOST;
        votes->waiting_count--;
    }
    pthread_mutex_unlock(&votes->lock);
    *ret_taken = count;
    return count > 0 ? votes_project(votes, voters, count) : STATUS_OK;
}

size_t votes_waiting(Votes *votes)
{
    pthread_mutex_lock(&votes->lock);
    size_t count = votes->waiting_count;
    pthread_mutex_unlock(&votes->lock);
    return count;
}
