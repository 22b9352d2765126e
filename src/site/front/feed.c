/* feed.c -- for readers that come by themselves: an Atom feed of new and rising policies, the map for search engines, robots.txt.
 *
 * A new policy is an entry once, dated by its creation. A rising one, among the leaders of the window, is an entry once a week
 * (its id names the Monday), so that a reader is not told the same thing each hour. The map lists policies by ranges of ids,
 * which never change, so that its parts stay the same when votes move; the whole is an index of parts as soon as there is more than
 * one. */
#include "draw/markdown.h"
#include "policies/answers.h"
#include "site/pages.h"
#include "site/views.h"

enum { FEED_NEW = 30, FEED_RISING = 10, FEED_ANSWERS = 10, SITEMAP_IDS = 10000 };
static const int64_t DAY_US = S_PER_DAY * US_PER_S;

static Slice full_url(WebRequest *request, Slice path)
{
    Slice url = web_public_url(request);
    return arena_print(web_arena(request), "%.*s%.*s", SLICE_ARG(url), SLICE_ARG(path));
}

/* ---- The feed --------------------------------------------------------------------------------------------------------- */

static FeedEntry entry_of(WebRequest *request, const PolicySummary *summary, int64_t updated_us)
{
    Slice id = arena_print(web_arena(request), "/policies/%llu", (unsigned long long)summary->id);
    return (FeedEntry){.summary = *summary,
                       .id = full_url(request, id),
                       .url = full_url(request, summary->address),
                       .updated = stamp_text(updated_us, web_arena(request))};
}

static Status add_new(WebRequest *request, FeedView *view)
{
    Site *site = site_of(request);
    Arena *arena = web_arena(request);
    PolicyQuery query = {.order = POLICIES_BY_DATE, .position = SLICE_EMPTY, .limit = FEED_NEW};
    PolicyPage page;
    TRY(policies_browse(site->app->policies, &query, arena, &page));
    for (size_t i = 0; i < page.count; i++) {
        PolicySummary summary;
        if (policy_summary_get(site->summaries, page.policies[i].id, arena, &summary) == STATUS_OK)
            view->entries[view->count++] = entry_of(request, &summary, summary.created_us);
    }
    return STATUS_OK;
}

/* The day 1970-01-01 was a Thursday. */
static int64_t monday_us(int64_t now_us)
{
    int64_t day = now_us / DAY_US;
    return (day - (day + 3) % 7) * DAY_US;
}

static Status add_rising(WebRequest *request, FeedView *view)
{
    Site *site = site_of(request);
    Arena *arena = web_arena(request);
    VotingSettings settings;
    PolicySummaryPage page;
    TRY(operations_settings(site->ops, arena, &settings));
    int64_t week_us = monday_us(site_now_us(request));
    Slice week = stamp_text(week_us, arena);
    RankQuery query = {.days = (uint32_t)settings.window_days};
    TRY(policy_summaries_ranking(site->summaries, &query, 0, FEED_RISING, arena, &page));
    for (size_t i = 0; i < page.count; i++) {
        const PolicySummary *summary = &page.summaries[i];
        if (summary->votes <= 0 ||
            summary->created_us >= week_us) /* the new ones are told already */
            continue;
        FeedEntry entry = entry_of(request, summary, week_us);
        entry.is_rising = true;
        entry.days = query.days;
        entry.id = arena_print(arena, "%.*s?rising=%.10s", SLICE_ARG(entry.id), week.data);
        view->entries[view->count++] = entry;
    }
    return STATUS_OK;
}

/* Each official answer once, and again when it is changed. */
static Status add_answers(WebRequest *request, FeedView *view)
{
    Site *site = site_of(request);
    Arena *arena = web_arena(request);
    RecentAnswer *answers = ARENA_ARRAY(arena, FEED_ANSWERS, RecentAnswer);
    size_t count;
    TRY(answers_recent(site->app->policies, FEED_ANSWERS, arena, answers, &count));
    for (size_t i = 0; i < count; i++) {
        PolicySummary summary;
        if (policy_summary_get(site->summaries, answers[i].policy, arena, &summary) != STATUS_OK ||
            summary.state == POLICY_PENDING_DELETION)
            continue;
        FeedEntry entry = entry_of(request, &summary, answers[i].answer.time_us);
        entry.outcome = outcome_text(answers[i].answer.outcome);
        entry.summary.summary = markdown_words(answers[i].answer.text, 200, arena);
        entry.id =
            arena_print(arena, "%.*s?answer=%u", SLICE_ARG(entry.id), answers[i].answer.revision);
        entry.url = arena_print(arena, "%.*s#answer", SLICE_ARG(entry.url));
        view->entries[view->count++] = entry;
    }
    return STATUS_OK;
}

static Status show_feed(WebRequest *request)
{
    Site *site = site_of(request);
    Arena *arena = web_arena(request);
    FeedView view = {.site_name = slice_from(site->options.config->site_name),
                     .public_url = web_public_url(request),
                     .entries =
                         ARENA_ARRAY(arena, FEED_NEW + FEED_RISING + FEED_ANSWERS, FeedEntry)};
    TRY(add_new(request, &view));
    TRY(add_rising(request, &view));
    TRY(add_answers(request, &view));
    view.updated = stamp_text(monday_us(site_now_us(request)), arena);
    for (size_t i = 0; i < view.count; i++) /* times in this form sort as texts */
        if (slice_compare(view.entries[i].updated, view.updated) > 0)
            view.updated = view.entries[i].updated;
    atom_feed(web_out(request, "application/atom+xml; charset=utf-8"), &view);
    return STATUS_OK;
}

/* ---- The map ------------------------------------------------------------------------------------------------------------- */

/* Ids are handed out in blocks, so that a policy may be older than another with a lower id: the part after the newest is
 * always there. Above *ret_last there is none. */
static Status count_parts(Site *site, Arena *arena, uint64_t *ret_parts, uint64_t *ret_last)
{
    PolicyQuery query = {.order = POLICIES_BY_DATE, .position = SLICE_EMPTY, .limit = 10};
    PolicyPage page;
    uint64_t highest = 0;
    TRY(policies_browse(site->app->policies, &query, arena, &page));
    for (size_t i = 0; i < page.count; i++)
        highest = page.policies[i].id > highest ? page.policies[i].id : highest;
    *ret_last = highest + 1000;
    *ret_parts = highest < SITEMAP_IDS - 1000 ? 1 : *ret_last / SITEMAP_IDS + 1;
    return STATUS_OK;
}

static void add_page(WebRequest *request, const char *path, SitemapView *view)
{
    view->entries[view->count++] = (SitemapEntry){full_url(request, slice_from(path)), SLICE_EMPTY};
}

static Status add_groups(WebRequest *request, GroupKind kind, SitemapView *view)
{
    Arena *arena = web_arena(request);
    PolicyGroup *groups;
    size_t count;
    TRY(policies_groups(site_of(request)->app->policies, kind, arena, &groups, &count));
    for (size_t i = 0; i < count; i++) {
        Slice address = group_address(kind, groups[i].id, groups[i].name, arena);
        view->entries[view->count++] = (SitemapEntry){full_url(request, address), SLICE_EMPTY};
    }
    return STATUS_OK;
}

static Status add_policy(WebRequest *request, uint64_t id, Arena *scratch, SitemapView *view)
{
    Arena *arena = web_arena(request);
    Policy policy;
    Status status = policies_read(site_of(request)->app->policies, id, scratch, &policy);
    if (status == STATUS_NOT_FOUND)
        return STATUS_OK;
    TRY(status);
    if (policy.revision == 0 ||
        !policy_state_listed(policy.facts.moves[policy.facts.move_count - 1].state))
        return STATUS_OK;
    view->entries[view->count++] =
        (SitemapEntry){full_url(request, policy_address(id, policy.text.name, arena)),
                       stamp_text(policy.edited_us, arena)};
    return STATUS_OK;
}

/* Part 0 has the pages that are no policies, too. Texts are read only to be left out, so they go at once. */
static Status show_part(WebRequest *request, uint64_t part, uint64_t last)
{
    static const char *const PAGES[] = {"/",        "/ranking", "/policies", "/categories",
                                        "/parties", "/about",   "/help",     "/api"};
    enum { PAGE_COUNT = sizeof PAGES / sizeof PAGES[0] };
    ARENA_SCOPE Arena *scratch = arena_new();
    SitemapView view = {.entries =
                            ARENA_ARRAY(web_arena(request),
                                        SITEMAP_IDS + PAGE_COUNT + 2 * GROUPS_MAX, SitemapEntry)};
    for (size_t i = 0; i < PAGE_COUNT && part == 0; i++)
        add_page(request, PAGES[i], &view);
    if (part == 0) {
        TRY(add_groups(request, GROUP_CATEGORY, &view));
        TRY(add_groups(request, GROUP_PARTY, &view));
    }
    for (uint64_t i = 1; i <= SITEMAP_IDS && part * SITEMAP_IDS + i <= last; i++) {
        TRY(add_policy(request, part * SITEMAP_IDS + i, scratch, &view));
        arena_reset(scratch);
    }
    sitemap(web_out(request, "application/xml; charset=utf-8"), &view);
    return STATUS_OK;
}

static Status show_sitemap(WebRequest *request)
{
    Arena *arena = web_arena(request);
    uint64_t parts, last;
    TRY(count_parts(site_of(request), arena, &parts, &last));
    if (parts == 1)
        return show_part(request, 0, last);
    SitemapView view = {.entries = ARENA_ARRAY(arena, parts, SitemapEntry), .count = parts};
    for (uint64_t i = 0; i < parts; i++) {
        Slice path = arena_print(arena, "/sitemap/%llu", (unsigned long long)i + 1);
        view.entries[i] = (SitemapEntry){full_url(request, path), SLICE_EMPTY};
    }
    sitemap_index(web_out(request, "application/xml; charset=utf-8"), &view);
    return STATUS_OK;
}

enum { P_PART };

static Status show_sitemap_part(WebRequest *request)
{
    uint64_t part = web_id(request, P_PART), parts, last;
    TRY(count_parts(site_of(request), web_arena(request), &parts, &last));
    return part <= parts ? show_part(request, part - 1, last) : STATUS_NOT_FOUND;
}

static Status show_robots(WebRequest *request)
{
    Slice url = web_public_url(request);
    buffer_print(web_out(request, "text/plain; charset=utf-8"),
                 "User-agent: *\n"
                 "Disallow: /api/\n"
                 "Disallow: /my/\n"
                 "Disallow: /metrics\n"
                 "Sitemap: %.*s/sitemap.xml\n",
                 SLICE_ARG(url));
    return STATUS_OK;
}

static const WebRoute ROUTES[] = {
    {WEB_GET, "/feed.atom", show_feed, .cache_ms = 60000,
     .help = "An Atom feed of new and rising policies."},
    {WEB_GET, "/sitemap.xml", show_sitemap, .cache_ms = 3600000, .threads = WEB_COMPUTE,
     .help = "All pages, for search engines."},
    {WEB_GET, "/sitemap/{part}", show_sitemap_part, .cache_ms = 3600000, .threads = WEB_COMPUTE,
     .help = "A part of that, on large sites.",
     .params = {[P_PART] = {"part", WEB_PATH, WEB_ID, .help = "Which part, from 1 on."}}},
    {WEB_GET, "/robots.txt", show_robots, .always = true, .cache_ms = 60000,
     .help = "What robots may read."},
};
ROUTE_TABLE(FEED, ROUTES);
