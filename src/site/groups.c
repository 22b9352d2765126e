/* groups.c -- categories and parties: all of them, and each with the ranking of its policies. */
#include "site/pages.h"
#include "site/views.h"

/*    by GroupKind */
static const struct {
    const char *path;
    Slice title, description;
} KINDS[] = {
    [GROUP_CATEGORY] = {"/categories",
                        {"Categories", 10},
                        {"Every policy stands in one category. See who leads in each.", 59}},
    [GROUP_PARTY] = {"/parties",
                     {"Parties", 7},
                     {"Policies that a party stands for, and who leads in each.", 56}},
};

Slice group_address(GroupKind kind, uint64_t id, Slice name, Arena *arena)
{
    return slug_address(KINDS[kind].path, id, name, arena);
}

static RankQuery query_of(GroupKind kind, uint64_t id, uint32_t days)
{
    return kind == GROUP_CATEGORY ? (RankQuery){.days = days, .category = id}
                                  : (RankQuery){.days = days, .party = id};
}

static Status fill_entry(Site *site, GroupKind kind, Arena *arena, GroupEntry *entry)
{
    RankQuery query = query_of(kind, entry->group.id, 0);
    CardPage page;
    entry->address = group_address(kind, entry->group.id, entry->group.name, arena);
    TRY(cards_ranking(site->cards, &query, 0, 1, arena, &page));
    entry->policies = page.policies;
    entry->has_leader = page.count > 0;
    if (entry->has_leader)
        entry->leader = page.cards[0];
    return STATUS_OK;
}

Status groups_view(Site *site, GroupKind kind, Arena *arena, GroupsView *ret_view)
{
    Group *groups;
    size_t count;
    GroupsView view = {.kind = kind};
    TRY(policies_groups(site->app->policies, kind, arena, &groups, &count));
    view.entries = ARENA_ARRAY(arena, count, GroupEntry);
    for (size_t i = 0; i < count; i++) {
        GroupEntry *entry = &view.entries[view.count];
        entry->group = groups[i];
        TRY(fill_entry(site, kind, arena, entry));
        if (groups[i].active || entry->policies > 0) /* a disabled one stays for its policies */
            view.count++;
    }
    *ret_view = view;
    return STATUS_OK;
}

Status group_view(Site *site, GroupKind kind, uint64_t id, const RankingWish *wish, Arena *arena,
                  GroupView *ret_view)
{
    Group *groups;
    size_t count, i = 0;
    GroupView view = {.kind = kind};
    RankingWish own = *wish;
    TRY(policies_groups(site->app->policies, kind, arena, &groups, &count));
    while (i < count && groups[i].id != id)
        i++;
    if (i == count)
        return STATUS_NOT_FOUND;
    view.group = groups[i];
    view.address = group_address(kind, id, groups[i].name, arena);
    own.path = view.address;
    own.query = query_of(kind, id, wish->query.days);
    TRY(ranking_view(site, &own, arena, &view.ranking));
    *ret_view = view;
    return STATUS_OK;
}

/* ---- Pages ------------------------------------------------------------------------------------------------------------- */

static Status show_groups(WebRequest *request, GroupKind kind)
{
    GroupsView view;
    Frame frame = {.title = KINDS[kind].title,
                   .description = KINDS[kind].description,
                   .address = slice_from(KINDS[kind].path),
                   .here = KINDS[kind].path};
    TRY(groups_view(site_of(request), kind, web_arena(request), &view));
    Buffer *out = page_begin(request, &frame);
    groups_page(out, &view);
    page_end(request, out);
    return STATUS_OK;
}

/* Rows of the parameters below. */
enum { SLUG, DAYS, OFFSET };

static Status show_group(WebRequest *request, GroupKind kind)
{
    Arena *arena = web_arena(request);
    VotingSettings settings;
    GroupView view;
    TRY(site_settings(site_of(request), arena, &settings));
    RankingWish wish = {.query = {.days = (uint32_t)settings.window_days},
                        .offset = (uint64_t)web_number(request, OFFSET)};
    if (web_has(request, DAYS))
        wish.query.days = (uint32_t)web_number(request, DAYS);
    TRY(group_view(site_of(request), kind, web_id(request, SLUG), &wish, arena, &view));
    if (site_leads_on(request, slug_of(view.group.name, web_arena(request)), view.address))
        return STATUS_OK;
    site_mark_mine(request, &view.ranking.page);
    Frame frame = {.title = view.group.name,
                   .description = view.group.description,
                   .address = view.address,
                   .here = KINDS[kind].path,
                   .topic = view.ranking.topic};
    Buffer *out = page_begin(request, &frame);
    group_page(out, &view);
    page_end(request, out);
    return STATUS_OK;
}

static Status show_categories(WebRequest *request)
{
    return show_groups(request, GROUP_CATEGORY);
}

static Status show_parties(WebRequest *request)
{
    return show_groups(request, GROUP_PARTY);
}

static Status show_category(WebRequest *request)
{
    return show_group(request, GROUP_CATEGORY);
}

static Status show_party(WebRequest *request)
{
    return show_group(request, GROUP_PARTY);
}

#define GROUP_PARAMS                                                                          \
    {                                                                                         \
        [SLUG] = {"id", WEB_PATH, WEB_SLUG, .help = "Its number and, for people, its name."}, \
        [DAYS] = {"days",                                                                     \
                  WEB_QUERY,                                                                  \
                  WEB_NUMBER,                                                                 \
                  .optional = true,                                                           \
                  .least = 0,                                                                 \
                  .most = 31,                                                                 \
                  .help = "The window; 0 is all time. Without it, the site's own."},          \
        [OFFSET] = {                                                                          \
            "offset",                                                                         \
            WEB_QUERY,                                                                        \
            WEB_NUMBER,                                                                       \
            .least = 0,                                                                       \
            .most = RANKING_OFFSET_MOST,                                                      \
            .fallback = "0",                                                                  \
            .help = "How many places to skip."                                                \
        }                                                                                     \
    }

static const WebRoute ROUTES[] = {
    {WEB_GET, "/categories", show_categories, .cache_ms = 10000,
     .help = "All categories, with who leads in each."},
    {WEB_GET, "/categories/{id}", show_category, .cache_ms = 1000,
     .help = "A category and its ranking.", .params = GROUP_PARAMS},
    {WEB_GET, "/parties", show_parties, .cache_ms = 10000,
     .help = "All parties, with who leads in each."},
    {WEB_GET, "/parties/{id}", show_party, .cache_ms = 1000, .help = "A party and its ranking.",
     .params = GROUP_PARAMS},
};
const Room ROOM_GROUPS = ROOM(ROUTES);
