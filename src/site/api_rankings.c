/* api_rankings.c -- /api/v1: rankings, now and at any hour of the past; places; categories and parties; the rules in force. */
#include "site/api.h"

/* ---- A ranking ---------------------------------------------------------------------------------------------------------- */

enum { R_DAYS, R_CATEGORY, R_PARTY, R_OFFSET, R_LIMIT, R_AT };

static Status query_of(WebRequest *request, RankQuery *ret_query)
{
    VotingSettings settings;
    RankQuery query = {.category = web_id(request, R_CATEGORY), .party = web_id(request, R_PARTY)};
    TRY(site_settings(site_of(request), web_arena(request), &settings));
    query.days = web_has(request, R_DAYS) ? (uint32_t)web_number(request, R_DAYS)
                                          : (uint32_t)settings.window_days;
    if (query.category != 0 && query.party != 0)
        return reason_set(web_reason(request), STATUS_INVALID, "party",
                          "choose a category or a party, not both");
    *ret_query = query;
    return STATUS_OK;
}

static Slice next_of(WebRequest *request, const ApiRanking *ranking)
{
    BUFFER_SCOPE Buffer address = {0};
    uint64_t limit = (uint64_t)web_number(request, R_LIMIT);
    uint64_t after = (uint64_t)web_number(request, R_OFFSET) + limit;
    if (after >= ranking->page.policies || after > (uint64_t)RANKING_OFFSET_MOST)
        return SLICE_EMPTY;
    buffer_print(&address, API_PATH "rankings?days=%u&limit=%llu&offset=%llu", ranking->query.days,
                 (unsigned long long)limit, (unsigned long long)after);
    if (ranking->query.category != 0)
        buffer_print(&address, "&category=%llu", (unsigned long long)ranking->query.category);
    if (ranking->query.party != 0)
        buffer_print(&address, "&party=%llu", (unsigned long long)ranking->query.party);
    if (web_has(request, R_AT)) {
        buffer_text(&address, "&at=");
        url_part_put(&address, web_text(request, R_AT));
    }
    return arena_copy(web_arena(request), buffer_slice(&address));
}

/* It reads and sorts all policies, for a million of them in a second: one at a time, so that who asks for many holds up nobody but those
 * who ask for the past. */
static Status past_page(WebRequest *request, const RankQuery *query, uint32_t hour,
                        RankPage *ret_page)
{
    Site *site = site_of(request);
    if (atomic_exchange(&site->past_is_asked, true))
        return reason_set(web_reason(request), STATUS_UNAVAILABLE, "at",
                          "another question about the past is being answered; ask again");
    Status status =
        ranking_page_at(site->app->ranking, query, hour, (uint64_t)web_number(request, R_OFFSET),
                        (uint32_t)web_number(request, R_LIMIT), web_arena(request), ret_page);
    atomic_store(&site->past_is_asked, false);
    return status == STATUS_INVALID ? reason_set(web_reason(request), status, "at", "must be over")
                                    : status;
}

/* Names and groups are those of today; a policy whose text is gone is left out. */
static Status page_at(WebRequest *request, uint32_t hour, ApiRanking *ranking)
{
    Arena *arena = web_arena(request);
    RankPage page;
    TRY(past_page(request, &ranking->query, hour, &page));
    ranking->page = (CardPage){.cards = ARENA_ARRAY(arena, page.count, PolicyCard),
                               .policies = page.policies,
                               .as_of_us = ((int64_t)hour + 1) * HOUR_US};
    for (size_t i = 0; i < page.count; i++) {
        PolicyCard *card = &ranking->page.cards[ranking->page.count];
        Status status = cards_one(site_of(request)->cards, page.rows[i].policy, arena, card);
        if (status == STATUS_NOT_FOUND ||
            (status == STATUS_OK && card->state == POLICY_PENDING_DELETION))
            continue;
        TRY(status);
        card->rank = page.rows[i].rank;
        card->votes = page.rows[i].votes;
        card->total = page.rows[i].total;
        ranking->page.count++;
    }
    return STATUS_OK;
}

static Status give_ranking(WebRequest *request)
{
    ApiRanking ranking = {0};
    uint32_t hour;
    TRY(query_of(request, &ranking.query));
    if (web_has(request, R_AT)) {
        if (history_hour(web_text(request, R_AT), &hour, web_reason(request)) != STATUS_OK)
            return reason_set(web_reason(request), STATUS_INVALID, "at",
                              "write a day or a moment (UTC) as in 2026-01-31 or 2026-01-31T12:00");
        TRY(page_at(request, hour, &ranking));
    } else {
        TRY(cards_ranking(
            site_of(request)->cards, &ranking.query, (uint64_t)web_number(request, R_OFFSET),
            (uint32_t)web_number(request, R_LIMIT), web_arena(request), &ranking.page));
    }
    ranking.next = next_of(request, &ranking);
    return api_answer(request, &SCHEMA_RANKING, &ranking);
}

/* ---- A place ------------------------------------------------------------------------------------------------------------ */

static Status fill_place(Site *site, uint64_t policy, uint32_t days, ApiPlace *place)
{
    Status status =
        ranking_place(site->app->ranking, &(RankQuery){.days = days}, policy, &place->place);
    place->days = days;
    place->is_there = status == STATUS_OK;
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

static Status give_place(WebRequest *request)
{
    Site *site = site_of(request);
    PolicyHead head;
    VotingSettings settings;
    ApiStanding standing = {.policy = web_id(request, 0)};
    TRY(policy_head(site, standing.policy, NULL, web_arena(request), &head));
    TRY(site_settings(site, web_arena(request), &settings));
    uint32_t days =
        web_has(request, 1) ? (uint32_t)web_number(request, 1) : (uint32_t)settings.window_days;
    TRY(fill_place(site, standing.policy, days, &standing.recent));
    TRY(fill_place(site, standing.policy, 0, &standing.ever));
    standing.total = standing.ever.is_there ? standing.ever.place.self.total : 0;
    return api_answer(request, &SCHEMA_STANDING, &standing);
}

/* ---- What stands beside them ---------------------------------------------------------------------------------------------- */

static Status give_groups(WebRequest *request, GroupKind kind)
{
    GroupsView view;
    TRY(groups_view(site_of(request), kind, web_arena(request), &view));
    return api_answer(request, &SCHEMA_GROUPS, &view);
}

static Status give_categories(WebRequest *request)
{
    return give_groups(request, GROUP_CATEGORY);
}

static Status give_parties(WebRequest *request)
{
    return give_groups(request, GROUP_PARTY);
}

static Status give_settings(WebRequest *request)
{
    VotingSettings settings;
    TRY(site_settings(site_of(request), web_arena(request), &settings));
    return api_answer(request, &SCHEMA_SETTINGS, &settings);
}

static const WebRoute ROUTES[] = {
    {WEB_GET, API_PATH "rankings", give_ranking, .cache_ms = 1000, .tag = "rankings",
     .answers = "Ranking", .help = "A ranking, page by page; now, or as it was.",
     .params = {[R_DAYS] = {"days", WEB_QUERY, WEB_NUMBER, .optional = true, .least = 0, .most = 31,
                            .help = "The window; 0 is all time. Without it, the site's own."},
                [R_CATEGORY] = {"category", WEB_QUERY, WEB_ID, .optional = true,
                                .help = "Only this category."},
                [R_PARTY] = {"party", WEB_QUERY, WEB_ID, .optional = true,
                             .help = "Only this party; not together with a category."},
                [R_OFFSET] = {"offset", WEB_QUERY, WEB_NUMBER, .least = 0,
                              .most = RANKING_OFFSET_MOST, .fallback = "0",
                              .help = "How many places to skip."},
                [R_LIMIT] = {"limit", WEB_QUERY, WEB_NUMBER, .least = 1, .most = API_ROWS_MOST,
                             .fallback = "50", .help = "How many to give."},
                [R_AT] = {"at", WEB_QUERY, WEB_LINE, .optional = true, .least = 1,
                          .most = HISTORY_UNTIL_MOST,
                          .help = "A moment that is over (UTC), as in 2026-01-31 (its end) or "
                                  "2026-01-31T12:00; to the hour."}}},
    {WEB_GET, API_PATH "rankings/{policy}", give_place, .cache_ms = 1000, .tag = "rankings",
     .answers = "Standing", .help = "Where a policy stands, and what it needs to rise.",
     .params = {{"policy", WEB_PATH, WEB_ID, .help = "The policy."},
                {"days", WEB_QUERY, WEB_NUMBER, .optional = true, .least = 0, .most = 31,
                 .help = "The window; 0 is all time. Without it, the site's own."}}},
    {WEB_GET, API_PATH "categories", give_categories, .cache_ms = 5000, .tag = "rankings",
     .answers = "Groups", .help = "All categories."},
    {WEB_GET, API_PATH "parties", give_parties, .cache_ms = 5000, .tag = "rankings",
     .answers = "Groups", .help = "All parties."},
    {WEB_GET, API_PATH "settings", give_settings, .cache_ms = 10000, .tag = "rankings",
     .answers = "Settings", .help = "The rules of the vote that are in force now."},
};
const Room ROOM_API_RANKINGS = ROOM(ROUTES);
