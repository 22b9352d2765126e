/* api_policies.c -- /api/v1/policies: all policies, their texts and their past. */
#include "site/api/api.h"

/* ---- All of them --------------------------------------------------------------------------------------------------------- */

enum { L_ORDER, L_CATEGORY, L_PARTY, L_NAME, L_FROM, L_OFFSET };

static Status give_policies(WebRequest *request)
{
    BrowseView view;
    BrowseQuery want = {.order = (BrowseOrder)web_word(request, L_ORDER),
                        .category = web_id(request, L_CATEGORY),
                        .party = web_id(request, L_PARTY),
                        .name = slice_trim(web_text(request, L_NAME)),
                        .position = web_text(request, L_FROM),
                        .offset = (uint64_t)web_number(request, L_OFFSET)};
    Status status = browse_view(site_of(request), &want, web_arena(request), &view);
    if (status == STATUS_INVALID)
        return reason_set(web_reason(request), status, "from", "is not a place that `next` named");
    TRY(status);
    if (view.fault.is_set)
        return reason_set(web_reason(request), STATUS_INVALID, "party", "%.*s",
                          SLICE_ARG(view.fault.rule));
    ApiPolicies policies = {.summaries = view.summaries, .count = view.count, .next = SLICE_EMPTY};
    if (view.pager.after.size > 0) /* the page's own address, which has the same parameters */
        policies.next = arena_print(web_arena(request), "/api/v1%.*s", SLICE_ARG(view.pager.after));
    return api_answer(request, &SCHEMA_POLICIES, &policies);
}

/* ---- Its texts ------------------------------------------------------------------------------------------------------------ */

enum { R_POLICY, R_BEFORE, R_REVISION = R_BEFORE };

static Status give_revisions(WebRequest *request)
{
    ApiRevisions revisions = {.next = SLICE_EMPTY};
    Arena *arena = web_arena(request);
    uint64_t id = web_id(request, R_POLICY);
    TRY(revisions_view(site_of(request), id, (uint32_t)web_number(request, R_BEFORE),
                       site_actor(request), arena, &revisions.view));
    const RevisionsView *view = &revisions.view;
    uint32_t oldest = view->entries[view->count - 1].revision;
    if (oldest > 1)
        revisions.next = arena_print(arena, API_PATH "policies/%llu/revisions?before=%u",
                                     (unsigned long long)id, oldest);
    return api_answer(request, &SCHEMA_REVISIONS, &revisions);
}

static Status give_revision(WebRequest *request)
{
    RevisionView view;
    RevisionQuery want = {.policy = web_id(request, R_POLICY),
                          .revision = (uint32_t)web_number(request, R_REVISION)};
    TRY(revision_view(site_of(request), &want, site_actor(request), web_arena(request), &view));
    return api_answer(request, &SCHEMA_REVISION, &view);
}

/* ---- Its past -------------------------------------------------------------------------------------------------------------- */

enum { H_POLICY, H_BY, H_COUNT, H_WINDOW, H_UNTIL };

static Status give_history(WebRequest *request)
{
    HistoryView view;
    VotingSettings settings;
    TRY(operations_settings(site_of(request)->ops, web_arena(request), &settings));
    HistoryQuery want = {.policy = web_id(request, H_POLICY),
                         .by_hour = web_word(request, H_BY) == 1,
                         .count = (size_t)web_number(request, H_COUNT),
                         .window = (uint32_t)settings.window_days};
    if (web_has(request, H_WINDOW))
        want.window = (uint32_t)web_number(request, H_WINDOW);
    if (web_has(request, H_UNTIL))
        TRY(history_hour("until", web_text(request, H_UNTIL), &want.last, web_reason(request)));
    TRY(history_view(site_of(request), &want, site_actor(request), web_arena(request), &view));
    return api_answer(request, &SCHEMA_HISTORY, &view);
}

static const char *const BY[] = {"day", "hour", NULL};

/* clang-format off */
#define POLICY_ROW {"policy", WEB_PATH, WEB_ID, .help = "The policy."}

static const WebRoute ROUTES[] = {
    {WEB_GET, API_PATH "policies", give_policies, .cache_ms = 5000, .tag = "policies", .answers = "Policies",
     .help = "All policies: by name, newest first, or by votes.",
     .params = {[L_ORDER] = {"order", WEB_QUERY, WEB_WORD, .words = BROWSE_WORDS, .fallback = "date",
                             .help = "The order; with `name` always by name."},
                [L_CATEGORY] = {"category", WEB_QUERY, WEB_ID, .optional = true, .help = "Only this category."},
                [L_PARTY] = {"party", WEB_QUERY, WEB_ID, .optional = true, .help = "Only this party."},
                [L_NAME] = {"name", WEB_QUERY, WEB_LINE, .optional = true, .least = 0, .most = POLICY_NAME_MAX,
                            .help = "How the name begins."},
                [L_FROM] = {"from", WEB_QUERY, WEB_OPAQUE, .optional = true, .least = 1, .most = BROWSE_POSITION_MAX,
                            .help = "Where the last page ended, as `next` names it."},
                [L_OFFSET] = {"offset", WEB_QUERY, WEB_NUMBER, .least = 0, .most = RANKING_OFFSET_MAX, .fallback = "0",
                              .help = "By votes: how many places to skip."}}},
    {WEB_GET, API_PATH "policies/{policy}/revisions", give_revisions, .tag = "policies", .answers = "Revisions",
     .help = "How its text came to be what it is.",
     .params = {[R_POLICY] = POLICY_ROW,
                [R_BEFORE] = {"before", WEB_QUERY, WEB_NUMBER, .least = 0, .most = INT32_MAX, .fallback = "0",
                              .help = "Only revisions before this one; 0: from the newest."}}},
    {WEB_GET, API_PATH "policies/{policy}/revisions/{revision}", give_revision, .tag = "policies", .answers = "Revision",
     .help = "A text that stood once.",
     .params = {[R_POLICY] = POLICY_ROW,
                [R_REVISION] = {"revision", WEB_PATH, WEB_NUMBER, .least = 1, .most = INT32_MAX, .help = "Its number."}}},
    {WEB_GET, API_PATH "policies/{policy}/history", give_history, .cache_ms = 60000, .tag = "policies", .answers = "History",
     .help = "Its votes and ranks by day or hour.",
     .params = {[H_POLICY] = POLICY_ROW,
                [H_BY] = {"by", WEB_QUERY, WEB_WORD, .words = BY, .fallback = "day", .help = "One point a day or hour."},
                [H_COUNT] = {"count", WEB_QUERY, WEB_NUMBER, .least = 0, .most = HISTORY_HOURS_MAX, .fallback = "0",
                 .help = "How many points; at most 366 days or 744 hours. 0: as many as are usual."},
                [H_WINDOW] = {"window", WEB_QUERY, WEB_NUMBER, .optional = true, .least = 0, .most = 31,
                 .help = "Days of the ranking that ranks are of; 0: all votes. Without it, the site's own."},
                [H_UNTIL] = {"until", WEB_QUERY, WEB_LINE, .optional = true, .least = 1, .most = HISTORY_UNTIL_MAX,
                 .help = "The last moment (UTC), as in 2026-01-31 or 2026-01-31T12:00."}}},
};
/* clang-format on */
ROUTE_TABLE(API_POLICIES, ROUTES);
