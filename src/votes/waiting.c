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

Status votes_project(Votes *votes, const uint64_t *voters, size_t count)
{
    Status worst = STATUS_OK;
    for (size_t start = 0; start < count; start += ROUND_VOTERS) {
        uint64_t round[ROUND_VOTERS];
        size_t size = count - start < ROUND_VOTERS ? count - start : ROUND_VOTERS, taken = 0;
        memcpy(round, voters + start, size * sizeof *round);
        size = sorted_once(round, size);
        Status status;
        do
            status = votes_project_round(votes, round, size, &taken);
        while (status == STATUS_OK &&
               taken >= ROUND_ENTRIES); /* somebody may have more than a page */
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
