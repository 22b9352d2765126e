/* trending.c -- see trending.h. */
#include "site/cached/trending.h"

#include <pthread.h>
#include <stdlib.h>

#include "draw/slug.h"

struct Trending {
    App *app;
    pthread_mutex_t lock; /* guards what is below */
    Arena *arena;         /* of the groups' texts */
    TrendingGroup *groups;
    size_t count;
};

Trending *trending_new(App *app)
{
    Trending *trending = calloc(1, sizeof *trending);
    CHECK(trending != NULL && pthread_mutex_init(&trending->lock, NULL) == 0);
    trending->app = app;
    trending->arena = arena_new();
    return trending;
}

void trending_free(Trending *trending)
{
    if (trending == NULL)
        return;
    pthread_mutex_destroy(&trending->lock);
    arena_free(trending->arena);
    free(trending);
}

static int64_t heat(const TrendingGroup *group)
{
    return group->moved + TRENDING_NEW * (int64_t)group->fresh;
}

int trending_order(const void *a, const void *b)
{
    const TrendingGroup *x = a, *y = b;
    if (heat(x) != heat(y))
        return heat(x) > heat(y) ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

/* Adds up one page; false when the votes are not of the sign that is looked for any more. */
static bool add_page(const RankPage *page, bool gains, int64_t *moved)
{
    for (size_t i = 0; i < page->count; i++) {
        int64_t votes = page->rows[gains ? i : page->count - 1 - i].votes;
        if (gains ? votes <= 0 : votes >= 0)
            return false;
        *moved += gains ? votes : -votes;
    }
    return page->count > 0;
}

/* Gains stand at the beginning of a ranking and losses at its end, so what nobody touched is not read. */
static Status add_votes(App *app, const RankQuery *query, bool gains, int64_t *moved)
{
    ARENA_SCOPE Arena *arena = arena_new();
    RankPage page;
    TRY(ranking_page(app->ranking, query, 0, 1, arena, &page));
    uint64_t all = page.policies;
    for (uint64_t done = 0; done < all && done < TRENDING_ROWS; done += RANK_PAGE_MAX) {
        uint64_t rest = all - done;
        uint32_t limit = rest < RANK_PAGE_MAX ? (uint32_t)rest : RANK_PAGE_MAX;
        arena_reset(arena);
        TRY(ranking_page(app->ranking, query, gains ? done : rest - limit, limit, arena, &page));
        if (!add_page(&page, gains, moved))
            break;
    }
    return STATUS_OK;
}

static void add_fresh(TrendingGroup *groups, size_t count, const Policy *policy)
{
    for (size_t i = 0; i < count; i++)
        groups[i].fresh += groups[i].id == policy->text.category;
}

static Status count_fresh(App *app, int64_t since_us, TrendingGroup *groups, size_t count)
{
    ARENA_SCOPE Arena *arena = arena_new();
    PolicyQuery query = {
        .order = POLICIES_BY_DATE, .position = SLICE_EMPTY, .limit = POLICIES_BROWSE_MAX};
    for (size_t seen = 0; seen < TRENDING_NEW_MAX;) {
        PolicyPage page;
        TRY(policies_browse(app->policies, &query, arena, &page));
        for (size_t i = 0; i < page.count; i++) {
            if (page.policies[i].created_us < since_us)
                return STATUS_OK;
            add_fresh(groups, count, &page.policies[i]);
        }
        if (!page.more)
            break;
        seen += POLICIES_BROWSE_MAX;
        query.position = page.position;
    }
    return STATUS_OK;
}

static Status compute(App *app, Arena *arena, TrendingGroup **ret_groups, size_t *ret_count)
{
    PolicyGroup *groups;
    size_t count, kept = 0;
    int64_t now_us = clock_now_us(app->world.clock);
    SettingsHistory settings;
    TRY(settings_read(accounts_settings(app->accounts), arena, &settings));
    uint32_t days = (uint32_t)settings_at(&settings, now_us)->window_days;
    TRY(policies_groups(app->policies, GROUP_CATEGORY, arena, &groups, &count));
    TrendingGroup *trending = ARENA_ARRAY(arena, count, TrendingGroup);
    for (size_t i = 0; i < count; i++) {
        RankQuery query = {.days = days, .category = groups[i].id};
        trending[i] = (TrendingGroup){
            .id = groups[i].id,
            .name = groups[i].name,
            .address = slug_address("/categories", groups[i].id, groups[i].name, arena)};
        TRY(add_votes(app, &query, true, &trending[i].moved));
        TRY(add_votes(app, &query, false, &trending[i].moved));
    }
    TRY(count_fresh(app, now_us - (int64_t)days * S_PER_DAY * US_PER_S, trending, count));
    qsort(trending, count, sizeof *trending, trending_order);
    while (kept < count && heat(&trending[kept]) > 0)
        kept++;
    *ret_groups = trending;
    *ret_count = kept;
    return STATUS_OK;
}

Status trending_refresh(Trending *trending)
{
    Arena *arena = arena_new();
    TrendingGroup *groups;
    size_t count;
    Status status = compute(trending->app, arena, &groups, &count);
    if (status == STATUS_OK) {
        pthread_mutex_lock(&trending->lock);
        Arena *before = trending->arena;
        trending->arena = arena;
        trending->groups = groups;
        trending->count = count;
        pthread_mutex_unlock(&trending->lock);
        arena = before;
    }
    arena_free(arena);
    return status;
}

void trending_categories(Trending *trending, size_t most, Arena *arena, TrendingGroup **ret_groups,
                         size_t *ret_count)
{
    pthread_mutex_lock(&trending->lock);
    size_t count = trending->count < most ? trending->count : most;
    TrendingGroup *groups = ARENA_ARRAY(arena, count, TrendingGroup);
    for (size_t i = 0; i < count; i++) {
        groups[i] = trending->groups[i];
        groups[i].name = arena_copy(arena, groups[i].name);
        groups[i].address = arena_copy(arena, groups[i].address);
    }
    pthread_mutex_unlock(&trending->lock);
    *ret_groups = groups;
    *ret_count = count;
}
