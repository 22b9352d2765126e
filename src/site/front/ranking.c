/* ranking.c -- the ranking: of a window or of all time, of everything or of one category or party, page by page. */
#include "site/pages.h"
#include "site/views.h"

static const uint32_t WINDOWS[] = {1, 3, 7, 14, 31};
enum { WINDOW_COUNT = sizeof WINDOWS / sizeof WINDOWS[0], CHOICES = WINDOW_COUNT + 2 };

Slice window_words(uint32_t days, Arena *arena)
{
    if (days == 0)
        return SLICE("ever");
    return days == 1 ? SLICE("today") : arena_print(arena, "in the last %u days", days);
}

/* The same ranking at another place or in another window, at the same moment. A page of a group has its group in the path. */
static Slice address_of(const RankingPageQuery *want, uint32_t days, uint64_t offset, Arena *arena)
{
    BUFFER_SCOPE Buffer address = {0};
    bool in_path = !slice_equal(want->path, SLICE("/ranking"));
    buffer_print(&address, "%.*s?days=%u", SLICE_ARG(want->path), days);
    if (want->query.category != 0 && !in_path)
        buffer_print(&address, "&category=%llu", (unsigned long long)want->query.category);
    if (want->query.party != 0 && !in_path)
        buffer_print(&address, "&party=%llu", (unsigned long long)want->query.party);
    if (offset > 0)
        buffer_print(&address, "&offset=%llu", (unsigned long long)offset);
    if (want->at.size > 0) {
        buffer_text(&address, "&at=");
        url_part_put(&address, want->at);
    }
    return arena_copy(arena, buffer_slice(&address));
}

static void add_window(const RankingPageQuery *want, uint32_t days, Arena *arena, Chooser *chooser)
{
    Slice text = days == 0   ? SLICE("Ever")
                 : days == 1 ? SLICE("Today")
                             : arena_print(arena, "%u days", days);
    chooser->choices[chooser->count++] =
        (Choice){text, address_of(want, days, 0, arena), days == want->query.days};
}

/* The usual windows, and the one that was asked for when it is another. */
static Chooser windows_of(const RankingPageQuery *want, Arena *arena)
{
    uint32_t asked = want->query.days;
    Chooser chooser = {.label = "Time", .choices = ARENA_ARRAY(arena, CHOICES, Choice)};
    bool is_there = asked == 0;
    for (size_t i = 0; i < WINDOW_COUNT; i++) {
        if (!is_there && asked <= WINDOWS[i]) {
            is_there = true;
            if (asked < WINDOWS[i])
                add_window(want, asked, arena, &chooser);
        }
        add_window(want, WINDOWS[i], arena, &chooser);
    }
    add_window(want, 0, arena, &chooser);
    return chooser;
}

static Pager pager_of(const RankingPageQuery *want, const PolicySummaryPage *page, Arena *arena)
{
    uint64_t offset = want->offset, after = offset + RANKING_ROWS;
    uint64_t before = offset > RANKING_ROWS ? offset - RANKING_ROWS : 0;
    Pager pager = {.before = SLICE_EMPTY, .after = SLICE_EMPTY, .all = page->policies};
    if (offset > 0)
        pager.before = address_of(want, want->query.days, before, arena);
    if (after < page->policies)
        pager.after = address_of(want, want->query.days, after, arena);
    if (page->count > 0) {
        pager.from = page->summaries[0].rank;
        pager.to = page->summaries[page->count - 1].rank;
    }
    return pager;
}

/* Only the beginning of a ranking is live: what passes by further down would tell nobody anything. */
static const char *topic_of(const RankingPageQuery *want, Arena *arena)
{
    const RankQuery *query = &want->query;
    if (want->offset > 0 || want->at.size > 0)
        return NULL;
    if (query->category != 0)
        return arena_text(arena, arena_print(arena, "ranking/%u/category/%llu", query->days,
                                             (unsigned long long)query->category));
    if (query->party != 0)
        return arena_text(arena, arena_print(arena, "ranking/%u/party/%llu", query->days,
                                             (unsigned long long)query->party));
    return arena_text(arena, arena_print(arena, "ranking/%u", query->days));
}

static Slice name_in(const PolicyGroup *groups, size_t count, uint64_t id)
{
    for (size_t i = 0; i < count; i++)
        if (groups[i].id == id)
            return groups[i].name;
    return SLICE_EMPTY;
}

static Status read_page(Site *site, const RankingPageQuery *want, Arena *arena,
                        PolicySummaryPage *ret_page, Reason *reason)
{
    if (want->at.size > 0)
        return ranking_past(site->ops, &want->query, want->at, want->offset, RANKING_ROWS, arena,
                            ret_page, reason);
    return policy_summaries_ranking(site->summaries, &want->query, want->offset, RANKING_ROWS,
                                    arena, ret_page);
}

Status ranking_view(Site *site, const RankingPageQuery *want, Arena *arena, RankingView *ret_view,
                    Reason *reason)
{
    Policies *policies = site->app->policies;
    RankingPageQuery now = *want;
    now.at = SLICE_EMPTY;
    RankingView view = {.now_us = clock_now_us(site->app->world.clock),
                        .arena = arena,
                        .query = want->query,
                        .at = want->at,
                        .now_address = address_of(&now, want->query.days, 0, arena),
                        .topic = topic_of(want, arena),
                        .windows = windows_of(want, arena)};
    TRY(policies_groups(policies, GROUP_CATEGORY, arena, &view.categories, &view.category_count));
    TRY(policies_groups(policies, GROUP_PARTY, arena, &view.parties, &view.party_count));
    view.group_name = want->query.category != 0
                          ? name_in(view.categories, view.category_count, want->query.category)
                          : name_in(view.parties, view.party_count, want->query.party);
    if (view.group_name.size == 0 && (want->query.category != 0 || want->query.party != 0))
        return STATUS_NOT_FOUND;
    TRY(read_page(site, want, arena, &view.page, reason));
    view.pager = pager_of(want, &view.page, arena);
    *ret_view = view;
    return STATUS_OK;
}

Slice ranking_window_words(const RankingView *view)
{
    BUFFER_SCOPE Buffer words = {0};
    if (view->at.size == 0)
        return window_words(view->query.days, view->arena);
    if (view->query.days == 0)
        buffer_text(&words, "up to ");
    else if (view->query.days == 1)
        buffer_text(&words, "in the day before ");
    else
        buffer_print(&words, "in the %u days before ", view->query.days);
    html_exact(&words, view->page.as_of_us);
    return arena_copy(view->arena, buffer_slice(&words));
}

static Slice title_of(const RankingView *view, Arena *arena)
{
    Slice window = ranking_window_words(view);
    if (view->group_name.size > 0)
        return arena_print(arena, "%.*s: most votes %.*s", SLICE_ARG(view->group_name),
                           SLICE_ARG(window));
    return arena_print(arena, "Most votes %.*s", SLICE_ARG(window));
}

/* Rows of the parameters below. */
enum { DAYS, CATEGORY, PARTY, OFFSET, AT };

static Status show_ranking(WebRequest *request)
{
    Arena *arena = web_arena(request);
    VotingSettings settings;
    RankingView view;
    TRY(operations_settings(site_of(request)->ops, arena, &settings));
    RankingPageQuery want = {.query = {.days = (uint32_t)settings.window_days,
                                       .category = web_id(request, CATEGORY),
                                       .party = web_id(request, PARTY)},
                             .offset = (uint64_t)web_number(request, OFFSET),
                             .path = SLICE("/ranking"),
                             .at = slice_trim(web_text(request, AT))};
    bool both = want.query.category != 0 && want.query.party != 0;
    if (web_has(request, DAYS))
        want.query.days = (uint32_t)web_number(request, DAYS);
    if (both)
        want.query.party = 0;
    TRY(ranking_view(site_of(request), &want, arena, &view, web_reason(request)));
    if (both) {
        view.fault = (FormFault){true, SLICE("party"),
                                 SLICE("Choose a category or a party, not both"), NULL};
        web_code(request, status_http(STATUS_REFUSED));
    }
    site_mark_mine(request, &view.page);
    Frame frame = {.title = title_of(&view, arena),
                   .description = SLICE("Which policies have the most votes, exact and live."),
                   .address = both || want.at.size > 0
                                  ? SLICE_EMPTY
                                  : address_of(&want, want.query.days, want.offset, arena),
                   .here = "/ranking",
                   .topic = view.topic};
    Buffer *out = page_begin(request, &frame);
    ranking_page_html(out, &view);
    page_end(request, out);
    return STATUS_OK;
}

static const WebRoute ROUTES[] = {
    {WEB_GET, "/ranking", show_ranking, .cache_ms = 1000, .shows = "rank_top",
     .help = "The ranking: by the votes of the last days or of all time.",
     .params = {[DAYS] = {"days", WEB_QUERY, WEB_NUMBER, .optional = true, .least = 0, .most = 31,
                          .help = "The window; 0 is all time. Without it, the site's own."},
                [CATEGORY] = {"category", WEB_QUERY, WEB_ID, .optional = true,
                              .help = "Only this category."},
                [PARTY] = {"party", WEB_QUERY, WEB_ID, .optional = true,
                           .help = "Only this party."},
                [OFFSET] = {"offset", WEB_QUERY, WEB_NUMBER, .least = 0, .most = RANKING_OFFSET_MAX,
                            .fallback = "0", .help = "How many places to skip."},
                [AT] = RANKING_AT_PARAM}},
};
ROUTE_TABLE(RANKING, ROUTES);
