/* checkpoint_task.c -- writing checkpoints of days that are over and have none that is right. */
#include "ranking/checkpoints.h"

enum { HOURS_A_DAY = 24 };

static Status open_checkpoints(Ranking *ranking, Arena *arena, Checkpoints *ret_checkpoints)
{
    Votes *votes;
    RankingIndex *index = ranking_borrow(ranking, &votes);
    if (index == NULL)
        return STATUS_UNAVAILABLE;
    pthread_rwlock_rdlock(&ranking->lock);
    int64_t first_us = ranking_index_first_us(index);
    pthread_rwlock_unlock(&ranking->lock);
    ranking_index_free(index);
    return checkpoints_open(ranking, votes, first_us, arena, ret_checkpoints);
}

/* Of the days from `first` to `last`, at most `most`. */
static Status write_missing(Checkpoints *checkpoints, uint32_t first, uint32_t last, uint32_t most,
                            uint32_t *ret_written)
{
    Totals totals = {0};
    Status status = STATUS_OK;
    uint32_t written = 0;
    for (uint32_t day = first; day <= last && written < most && status == STATUS_OK; day++) {
        if (checkpoints_has(checkpoints, day))
            continue;
        status = checkpoints_advance(checkpoints, &totals, (day + 1) * HOURS_A_DAY);
        if (status == STATUS_OK)
            status = checkpoints_write(checkpoints, day, &totals);
        written += status == STATUS_OK;
    }
    totals_free(&totals);
    *ret_written = written;
    return status;
}

Status ranking_checkpoint(Ranking *ranking, uint32_t day)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Checkpoints checkpoints;
    uint32_t written;
    if (day >= ranking_today(ranking))
        return STATUS_INVALID;
    TRY(open_checkpoints(ranking, arena, &checkpoints));
    return write_missing(&checkpoints, day, day, 1, &written);
}

Status ranking_checkpoint_due(Ranking *ranking, uint32_t most, uint32_t *ret_written)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Checkpoints checkpoints;
    uint32_t written = 0, today = ranking_today(ranking);
    TRY(open_checkpoints(ranking, arena, &checkpoints));
    uint32_t first = checkpoints.first_hour / HOURS_A_DAY;
    if (first < today)
        TRY(write_missing(&checkpoints, first, today - 1, most, &written));
    *ret_written = written;
    return STATUS_OK;
}
