/* hot.c -- see hot.h. */
#include "site/hot.h"

#include <pthread.h>
#include <stdlib.h>

#include "site/views.h"

struct Hot {
    App *app;
    pthread_mutex_t lock; /* guards what is below */
    Arena *arena;         /* of the groups' texts */
    HotGroup *groups;
    size_t count;
};

Hot *hot_new(App *app)
{
    Hot *hot = calloc(1, sizeof *hot);
    CHECK(hot != NULL && pthread_mutex_init(&hot->lock, NULL) == 0);
    hot->app = app;
    hot->arena = arena_new();
    return hot;
}

void hot_free(Hot *hot)
{
    if (hot == NULL)
        return;
    pthread_mutex_destroy(&hot->lock);
    arena_free(hot->arena);
    free(hot);
}

static int64_t heat(const HotGroup *group)
{
    return group->moved + HOT_NEW * (int64_t)group->fresh;
}

int hot_order(const void *a, const void *b)
{
    const HotGroup *x = a, *y = b;
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
    for (uint64_t done = 0; done < all && done < HOT_ROWS; done += RANK_PAGE_MOST) {
        uint64_t rest = all - done;
        uint32_t limit = rest < RANK_PAGE_MOST ? (uint32_t)rest : RANK_PAGE_MOST;
        arena_reset(arena);
        TRY(ranking_page(app->ranking, query, gains ? done : rest - limit, limit, arena, &page));
        if (!add_page(&page, gains, moved))
            break;
    }
    return STATUS_OK;
}

static void add_fresh(HotGroup *groups, size_t count, const Policy *policy)
{
    for (size_t i = 0; i < count; i++)
        groups[i].fresh += groups[i].id == policy->text.category;
}

static Status count_fresh(App *app, int64_t since_us, HotGroup *groups, size_t count)
{
    ARENA_SCOPE Arena *arena = arena_new();
    PolicyQuery query = {
        .order = POLICIES_BY_DATE, .position = SLICE_EMPTY, .limit = POLICIES_BROWSE_MOST};
    for (size_t seen = 0; seen < HOT_NEW_MOST;) {
        PolicyPage page;
        TRY(policies_browse(app->policies, &query, arena, &page));
        for (size_t i = 0; i < page.count; i++) {
            if (page.policies[i].created_us < since_us)
                return STATUS_OK;
            add_fresh(groups, count, &page.policies[i]);
        }
        if (!page.more)
            break;
        seen += POLICIES_BROWSE_MOST;
        query.position = page.position;
    }
    return STATUS_OK;
}

static Status compute(App *app, Arena *arena, HotGroup **ret_groups, size_t *ret_count)
{
    Group *groups;
    size_t count, kept = 0;
    int64_t now_us = clock_now_us(app->world.clock);
    SettingsHistory settings;
    TRY(accounts_settings(app->accounts, arena, &settings));
    uint32_t days = (uint32_t)settings_at(&settings, now_us)->window_days;
    TRY(policies_groups(app->policies, GROUP_CATEGORY, arena, &groups, &count));
    HotGroup *hot = ARENA_ARRAY(arena, count, HotGroup);
    for (size_t i = 0; i < count; i++) {
        RankQuery query = {.days = days, .category = groups[i].id};
        hot[i] = (HotGroup){.id = groups[i].id,
                            .name = groups[i].name,
                            .address =
                                group_address(GROUP_CATEGORY, groups[i].id, groups[i].name, arena)};
        TRY(add_votes(app, &query, true, &hot[i].moved));
        TRY(add_votes(app, &query, false, &hot[i].moved));
    }
    TRY(count_fresh(app, now_us - (int64_t)days * S_PER_DAY * US_PER_S, hot, count));
    qsort(hot, count, sizeof *hot, hot_order);
    while (kept < count && heat(&hot[kept]) > 0)
        kept++;
    *ret_groups = hot;
    *ret_count = kept;
    return STATUS_OK;
}

Status hot_refresh(Hot *hot)
{
    Arena *arena = arena_new();
    HotGroup *groups;
    size_t count;
    Status status = compute(hot->app, arena, &groups, &count);
    if (status == STATUS_OK) {
        pthread_mutex_lock(&hot->lock);
        Arena *before = hot->arena;
        hot->arena = arena;
        hot->groups = groups;
        hot->count = count;
        pthread_mutex_unlock(&hot->lock);
        arena = before;
    }
    arena_free(arena);
    return status;
}

void hot_categories(Hot *hot, size_t most, Arena *arena, HotGroup **ret_groups, size_t *ret_count)
{
    pthread_mutex_lock(&hot->lock);
    size_t count = hot->count < most ? hot->count : most;
    HotGroup *groups = ARENA_ARRAY(arena, count, HotGroup);
    for (size_t i = 0; i < count; i++) {
        groups[i] = hot->groups[i];
        groups[i].name = arena_copy(arena, groups[i].name);
        groups[i].address = arena_copy(arena, groups[i].address);
    }
    pthread_mutex_unlock(&hot->lock);
    *ret_groups = groups;
    *ret_count = count;
}
