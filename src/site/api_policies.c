/* api_policies.c -- /api/v1/policies: all policies, one of them, its texts and its past. Changing them is in api_edit.c. */
#include "site/api.h"

/* ---- All of them --------------------------------------------------------------------------------------------------------- */

enum { L_ORDER, L_CATEGORY, L_PARTY, L_NAME, L_FROM, L_OFFSET };

static Status give_policies(WebRequest *request)
{
    BrowseView view;
    BrowseWish wish = {.order = (BrowseOrder)web_word(request, L_ORDER),
                       .category = web_id(request, L_CATEGORY),
                       .party = web_id(request, L_PARTY),
                       .name = slice_trim(web_text(request, L_NAME)),
                       .position = web_text(request, L_FROM),
                       .offset = (uint64_t)web_number(request, L_OFFSET)};
    Status status = browse_view(site_of(request), &wish, web_arena(request), &view);
    if (status == STATUS_INVALID)
        return reason_set(web_reason(request), status, "from", "is not a place that `next` named");
    TRY(status);
    if (view.fault.is_set)
        return reason_set(web_reason(request), STATUS_INVALID, "party", "%.*s",
                          SLICE_ARG(view.fault.rule));
    ApiPolicies policies = {.cards = view.cards, .count = view.count, .next = SLICE_EMPTY};
    if (view.pager.after.size > 0) /* the page's own address, which has the same parameters */
        policies.next = arena_print(web_arena(request), "/api/v1%.*s", SLICE_ARG(view.pager.after));
    return api_answer(request, &SCHEMA_POLICIES, &policies);
}

/* ---- One of them --------------------------------------------------------------------------------------------------------- */

/* The text's version, and how often the policy moved: together all that the answer tells, but for names of groups and people. */
static Slice version_of(const PolicyHead *head, Arena *arena)
{
    Slice version = id_text(head->policy.version, arena);
    return arena_print(arena, "%.*s-%zu%s", SLICE_ARG(version), head->policy.facts.move_count,
                       head->is_hidden ? "-hidden" : "");
}

static Status give_policy(WebRequest *request)
{
    PolicyHead head;
    Arena *arena = web_arena(request);
    TRY(policy_head(site_of(request), web_id(request, 0), site_account(request), arena, &head));
    if (web_etag(request, version_of(&head, arena)))
        return STATUS_OK;
    return api_answer(request, &SCHEMA_POLICY, &head);
}

/* ---- Its texts ------------------------------------------------------------------------------------------------------------ */

static Status give_revisions(WebRequest *request)
{
    ApiRevisions revisions = {.next = SLICE_EMPTY};
    Arena *arena = web_arena(request);
    uint64_t id = web_id(request, 0);
    TRY(revisions_view(site_of(request), id, (uint32_t)web_number(request, 1),
                       site_account(request), arena, &revisions.view));
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
    RevisionWish wish = {.policy = web_id(request, 0),
                         .revision = (uint32_t)web_number(request, 1)};
    TRY(revision_view(site_of(request), &wish, site_account(request), web_arena(request), &view));
    return api_answer(request, &SCHEMA_REVISION, &view);
}

/* ---- Its past -------------------------------------------------------------------------------------------------------------- */

enum { H_POLICY, H_BY, H_COUNT, H_WINDOW, H_UNTIL };

static Status give_history(WebRequest *request)
{
    HistoryView view;
    VotingSettings settings;
    TRY(site_settings(site_of(request), web_arena(request), &settings));
    HistoryWish wish = {.policy = web_id(request, H_POLICY),
                        .by_hour = web_word(request, H_BY) == 1,
                        .count = (size_t)web_number(request, H_COUNT),
                        .window = (uint32_t)settings.window_days};
    if (web_has(request, H_WINDOW))
        wish.window = (uint32_t)web_number(request, H_WINDOW);
    if (web_has(request, H_UNTIL))
        TRY(history_hour(web_text(request, H_UNTIL), &wish.last, web_reason(request)));
    TRY(history_view(site_of(request), &wish, site_account(request), web_arena(request), &view));
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
                [L_NAME] = {"name", WEB_QUERY, WEB_LINE, .optional = true, .least = 0, .most = POLICY_NAME_MOST,
                            .help = "How the name begins."},
                [L_FROM] = {"from", WEB_QUERY, WEB_OPAQUE, .optional = true, .least = 1, .most = BROWSE_POSITION_MOST,
                            .help = "Where the last page ended, as `next` names it."},
                [L_OFFSET] = {"offset", WEB_QUERY, WEB_NUMBER, .least = 0, .most = RANKING_OFFSET_MOST, .fallback = "0",
                              .help = "By votes: how many places to skip."}}},
    {WEB_GET, API_PATH "policies/{policy}", give_policy, .tag = "policies", .answers = "Policy",
     .help = "One policy with its text. Its ETag is what If-Match of a change takes.", .params = {POLICY_ROW}},
    {WEB_GET, API_PATH "policies/{policy}/revisions", give_revisions, .tag = "policies", .answers = "Revisions",
     .help = "How its text came to be what it is.",
     .params = {POLICY_ROW, {"before", WEB_QUERY, WEB_NUMBER, .least = 0, .most = INT32_MAX, .fallback = "0",
                             .help = "Only revisions before this one; 0: from the newest."}}},
    {WEB_GET, API_PATH "policies/{policy}/revisions/{revision}", give_revision, .tag = "policies", .answers = "Revision",
     .help = "A text that stood once.",
     .params = {POLICY_ROW, {"revision", WEB_PATH, WEB_NUMBER, .least = 1, .most = INT32_MAX, .help = "Its number."}}},
    {WEB_GET, API_PATH "policies/{policy}/history", give_history, .cache_ms = 60000, .tag = "policies", .answers = "History",
     .help = "Its votes and ranks by day or hour.",
     .params = {POLICY_ROW,
                {"by", WEB_QUERY, WEB_WORD, .words = BY, .fallback = "day", .help = "One point a day or hour."},
                {"count", WEB_QUERY, WEB_NUMBER, .least = 0, .most = HISTORY_HOURS_MOST, .fallback = "0",
                 .help = "How many points; at most 366 days or 744 hours. 0: as many as are usual."},
                {"window", WEB_QUERY, WEB_NUMBER, .optional = true, .least = 0, .most = 31,
                 .help = "Days of the ranking that ranks are of; 0: all votes. Without it, the site's own."},
                {"until", WEB_QUERY, WEB_LINE, .optional = true, .least = 1, .most = HISTORY_UNTIL_MOST,
                 .help = "The last moment (UTC), as in 2026-01-31 or 2026-01-31T12:00."}}},
};
/* clang-format on */
const Room ROOM_API_POLICIES = ROOM(ROUTES);
