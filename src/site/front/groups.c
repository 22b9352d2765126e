/* groups.c -- categories and parties: all of them, and each with the ranking of its policies. */
#include "operations/follow.h"
#include "site/forms.h"
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

/* NOT_FOUND: no such group. */
static Status group_view(Site *site, GroupKind kind, uint64_t id, const RankingPageQuery *want,
                         Arena *arena, GroupView *ret_view, Reason *reason)
{
    PolicyGroup *groups;
    size_t count, i = 0;
    GroupView view = {.kind = kind};
    RankingPageQuery own = *want;
    TRY(policies_groups(site->app->policies, kind, arena, &groups, &count));
    while (i < count && groups[i].id != id)
        i++;
    if (i == count)
        return STATUS_NOT_FOUND;
    view.group = groups[i];
    view.address = group_address(kind, id, groups[i].name, arena);
    own.path = view.address;
    own.query = group_query(kind, id, want->query.days);
    TRY(ranking_view(site, &own, arena, &view.ranking, reason));
    *ret_view = view;
    return STATUS_OK;
}

/* ---- Pages ------------------------------------------------------------------------------------------------------------- */

/* Those that take no new policies stay for the policies that they have. */
static Status show_groups(WebRequest *request, GroupKind kind)
{
    GroupsView all;
    Frame frame = {.title = KINDS[kind].title,
                   .description = KINDS[kind].description,
                   .address = slice_from(KINDS[kind].path),
                   .here = KINDS[kind].path};
    TRY(groups_view(site_of(request)->ops, kind, web_arena(request), &all));
    GroupsView view = {.kind = kind,
                       .entries = ARENA_ARRAY(web_arena(request), all.count, GroupEntry)};
    for (size_t i = 0; i < all.count; i++)
        if (all.entries[i].group.active || all.entries[i].policies > 0)
            view.entries[view.count++] = all.entries[i];
    Buffer *out = page_begin(request, &frame);
    groups_page(out, &view);
    page_end(request, out);
    return STATUS_OK;
}

/* Rows of the parameters below. */
enum { SLUG, DAYS, OFFSET, AT };

static Status show_group(WebRequest *request, GroupKind kind)
{
    Arena *arena = web_arena(request);
    VotingSettings settings;
    GroupView view;
    TRY(operations_settings(site_of(request)->ops, arena, &settings));
    RankingPageQuery want = {.query = {.days = (uint32_t)settings.window_days},
                             .offset = (uint64_t)web_number(request, OFFSET),
                             .at = slice_trim(web_text(request, AT))};
    if (web_has(request, DAYS))
        want.query.days = (uint32_t)web_number(request, DAYS);
    TRY(group_view(site_of(request), kind, web_id(request, SLUG), &want, arena, &view,
                   web_reason(request)));
    if (site_leads_on(request, slug_of(view.group.name, web_arena(request)), view.address))
        return STATUS_OK;
    site_mark_mine(request, &view.ranking.page);
    Frame frame = {.title = view.group.name,
                   .description = view.group.description,
                   .address = want.at.size > 0 ? SLICE_EMPTY : view.address,
                   .here = KINDS[kind].path,
                   .topic = view.ranking.topic};
    Buffer *out = page_begin(request, &frame);
    group_page(out, &view);
    if (site_viewer(request)->known) {
        Following following;
        TRY(following_of(site_of(request)->ops, site_actor(request), arena, &following));
        follow_button(out, site_viewer(request)->csrf, kind, view.group.id,
                      following_has(&following, kind, view.group.id));
    }
    page_end(request, out);
    return STATUS_OK;
}

static Status fill_following(WebRequest *request, void *view, Frame *frame)
{
    Following *following = ARENA_NEW(web_arena(request), Following);
    *frame = (Frame){.title = SLICE("What you follow"), .is_narrow = true};
    ((FormView *)view)->of = following;
    return following_of(site_of(request)->ops, site_actor(request), web_arena(request), following);
}

static void draw_following(Buffer *out, const void *view)
{
    following_page(out, view);
}

FORM(follow_set, FormView, .path = "/my/following", .fill = fill_following, .draw = draw_following,
     .help = "The categories and parties that whoever is logged in follows.");

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
        [OFFSET] = {"offset",                                                                 \
                    WEB_QUERY,                                                                \
                    WEB_NUMBER,                                                               \
                    .least = 0,                                                               \
                    .most = RANKING_OFFSET_MAX,                                               \
                    .fallback = "0",                                                          \
                    .help = "How many places to skip."},                                      \
        [AT] = RANKING_AT_PARAM                                                               \
    }

static const WebRoute ROUTES[] = {
    {WEB_GET, "/categories", show_categories, .cache_ms = 10000,
     .help = "All categories, with who leads in each."},
    {WEB_GET, "/categories/{id}", show_category, .cache_ms = 1000, .shows = "rank_top",
     .help = "A category and its ranking.", .params = GROUP_PARAMS},
    {WEB_GET, "/parties", show_parties, .cache_ms = 10000,
     .help = "All parties, with who leads in each."},
    {WEB_GET, "/parties/{id}", show_party, .cache_ms = 1000, .shows = "rank_top",
     .help = "A party and its ranking.", .params = GROUP_PARAMS},
};
ROUTE_TABLE(GROUPS, ROUTES);
