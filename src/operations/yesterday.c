/* yesterday.c -- see yesterday.h. Ranks stand in arrays sorted by policy; a reader takes a share of the current pair under a lock
 * that is held for a moment only. */
#include "operations/yesterday.h"

#include <pthread.h>
#include <stdlib.h>

enum { WINDOWS = 2, PAGE = RANK_PAGE_MAX };
static const int64_t HOUR_US = INT64_C(3600) * US_PER_S;

typedef struct Ranked {
    uint64_t policy, rank;
} Ranked;

typedef struct Ranks {
    Ranked *rows;
    size_t count;
} Ranks;

struct Yesterday {
    App *app;
    pthread_rwlock_t lock; /* guards what is below */
    uint32_t hour;         /* 0: none yet */
    uint32_t windows[WINDOWS];
    Ranks ranks[WINDOWS];
};

Yesterday *yesterday_new(App *app)
{
    Yesterday *yesterday = calloc(1, sizeof *yesterday);
    CHECK(yesterday != NULL && pthread_rwlock_init(&yesterday->lock, NULL) == 0);
    yesterday->app = app;
    return yesterday;
}

void yesterday_free(Yesterday *yesterday)
{
    for (size_t i = 0; i < WINDOWS; i++)
        free(yesterday->ranks[i].rows);
    pthread_rwlock_destroy(&yesterday->lock);
    free(yesterday);
}

/* All votes, and the window of the front page as the settings in force now say it. */
static Status read_windows(App *app, uint32_t *ret_windows)
{
    ARENA_SCOPE Arena *arena = arena_new();
    SettingsHistory history;
    TRY(settings_read(accounts_settings(app->accounts), arena, &history));
    ret_windows[0] = 0;
    ret_windows[1] = (uint32_t)settings_at(&history, clock_now_us(app->world.clock))->window_days;
    return STATUS_OK;
}

static int by_policy(const void *a, const void *b)
{
    const Ranked *x = a, *y = b;
    return x->policy < y->policy ? -1 : x->policy > y->policy;
}

/* One call reads and sorts all policies, so the whole ranking is asked for in as few pages as the bound allows. */
static Status read_ranks(App *app, uint32_t days, uint32_t hour, Ranks *ret_ranks)
{
    ARENA_SCOPE Arena *arena = arena_new();
    RankQuery query = {.days = days};
    Ranks ranks = {0};
    for (uint64_t offset = 0;;) {
        RankPage page;
        arena_reset(arena);
        Status status = ranking_page_at(app->ranking, &query, hour, offset, PAGE, arena, &page);
        if (status != STATUS_OK) {
            free(ranks.rows);
            return status;
        }
        ranks.rows = reallocarray(ranks.rows, ranks.count + page.count + 1, sizeof *ranks.rows);
        CHECK(ranks.rows != NULL);
        for (size_t i = 0; i < page.count; i++)
            ranks.rows[ranks.count++] = (Ranked){page.rows[i].policy, page.rows[i].rank};
        offset += page.count;
        if (page.count < PAGE || offset >= YESTERDAY_MAX)
            break;
    }
    qsort(ranks.rows, ranks.count, sizeof *ranks.rows, by_policy);
    *ret_ranks = ranks;
    return STATUS_OK;
}

Status yesterday_refresh(Yesterday *yesterday)
{
    App *app = yesterday->app;
    uint32_t hour = (uint32_t)(clock_now_us(app->world.clock) / HOUR_US) - 25;
    uint32_t windows[WINDOWS];
    Ranks ranks[WINDOWS] = {0};
    TRY(read_windows(app, windows));
    if (hour == yesterday->hour && /* only this thread writes it */
        memcmp(windows, yesterday->windows, sizeof windows) == 0)
        return STATUS_OK;
    for (size_t i = 0; i < WINDOWS; i++) {
        Status status = read_ranks(app, windows[i], hour, &ranks[i]);
        if (status != STATUS_OK) {
            free(ranks[0].rows);
            return status;
        }
    }
    pthread_rwlock_wrlock(&yesterday->lock);
    for (size_t i = 0; i < WINDOWS; i++) {
        Ranks before = yesterday->ranks[i];
        yesterday->ranks[i] = ranks[i];
        free(before.rows);
    }
    yesterday->hour = hour;
    memcpy(yesterday->windows, windows, sizeof windows);
    pthread_rwlock_unlock(&yesterday->lock);
    return STATUS_OK;
}

void yesterday_compare(Yesterday *yesterday, const RankQuery *query, PolicySummary *summary)
{
    Ranked key = {.policy = summary->id};
    if (query->category != 0 || query->party != 0)
        return;
    pthread_rwlock_rdlock(&yesterday->lock);
    for (size_t i = 0; i < WINDOWS && yesterday->hour != 0; i++) {
        const Ranks *ranks = &yesterday->ranks[i];
        if (query->days != yesterday->windows[i])
            continue;
        const Ranked *found = ranks->count == 0 ? NULL
                                                : bsearch(&key, ranks->rows, ranks->count,
                                                          sizeof *ranks->rows, by_policy);
        summary->has_change = found != NULL;
        summary->change = found != NULL ? (int64_t)found->rank - (int64_t)summary->rank : 0;
        summary->is_new = found == NULL && ranks->count > 0 && ranks->count < YESTERDAY_MAX;
    }
    pthread_rwlock_unlock(&yesterday->lock);
}
