/* api_desk.c -- /api/v1: reports, featured policies, the public log of acts. What is done is what the pages do. */
#include "base/time_text.h"
#include "site/api.h"
#include "site/desk/desk.h"

/* ---- Reporting --------------------------------------------------------------------------------------------------------------- */

enum { R_WORDS, R_POLICY, R_EMAIL };

/* With a policy it is about that one, without it about trouble with logging in. */
static Status make_report(WebRequest *request)
{
    PolicyHead head;
    uint64_t id;
    NewReport report = {.kind = REPORT_OF_TROUBLE,
                        .email = slice_trim(web_text(request, R_EMAIL)),
                        .words = slice_trim(web_text(request, R_WORDS))};
    if (web_has(request, R_POLICY)) {
        report.kind = REPORT_OF_POLICY;
        report.policy = web_id(request, R_POLICY);
        TRY(policy_head(site_of(request), report.policy, site_account(request), web_arena(request),
                        &head));
        if (head.is_hidden)
            return STATUS_NOT_FOUND;
    }
    TRY(desk_report(request, &report, &id));
    web_code(request, 201);
    return api_answer_done(request);
}

/* ---- Reports ----------------------------------------------------------------------------------------------------------------- */

static Status give_reports(WebRequest *request)
{
    ReportsView view;
    Arena *arena = web_arena(request);
    ReportsWish wish = {.state = (ReportState)web_word(request, 0),
                        .viewer = site_viewer(request)->account.id,
                        .is_whole = true};
    if (web_has(request, 1) && id_from_text(web_text(request, 1), &wish.after) != STATUS_OK)
        return reason_set(web_reason(request), STATUS_INVALID, "after",
                          "is not a place that `next` named");
    TRY(reports_view(site_of(request), &wish, arena, &view));
    ApiReports answer = {.reports = view.reports, .count = view.count, .next = SLICE_EMPTY};
    if (view.position.size > 0)
        answer.next = arena_print(arena, API_PATH "moderation/reports?state=%s&after=%.*s",
                                  report_state_word(wish.state), SLICE_ARG(view.position));
    return api_answer(request, &SCHEMA_REPORTS, &answer);
}

static Status answer_report(WebRequest *request, const Report *report)
{
    ReportView view;
    TRY(report_view(site_of(request), report, site_viewer(request)->account.id, web_arena(request),
                    &view));
    return api_answer(request, &SCHEMA_REPORT, &view);
}

static Status give_report(WebRequest *request)
{
    Report report;
    TRY(reports_read(site_of(request)->app->reports, web_id(request, 0), web_arena(request),
                     &report));
    return answer_report(request, &report);
}

static Status do_move(WebRequest *request, ReportState state)
{
    Report after;
    bool closes = report_is_closed(state);
    DeskMove move = {.report = web_id(request, 0),
                     .state = state,
                     .reason = closes ? slice_trim(web_text(request, 1)) : SLICE_EMPTY,
                     .all = closes && web_switch(request, 2)};
    TRY(desk_move(request, &move, &after));
    return answer_report(request, &after);
}

static Status take(WebRequest *request)
{
    return do_move(request, REPORT_TAKEN);
}

static Status give_back(WebRequest *request)
{
    return do_move(request, REPORT_OPEN);
}

static Status dismiss(WebRequest *request)
{
    return do_move(request, REPORT_DISMISSED);
}

static Status close_acted(WebRequest *request)
{
    return do_move(request, REPORT_ACTED);
}

/* ---- Acts and featured policies ---------------------------------------------------------------------------------------------- */

static Status give_acts(WebRequest *request)
{
    ActsView view;
    ActsWish wish = {.policy = web_id(request, 0), .path = API_PATH "moderation/acts"};
    if (web_has(request, 1) && id_from_text(web_text(request, 1), &wish.before) != STATUS_OK)
        return reason_set(web_reason(request), STATUS_INVALID, "before",
                          "is not a place that `next` named");
    TRY(acts_view(site_of(request), &wish, web_arena(request), &view));
    return api_answer(request, &SCHEMA_ACTS, &view);
}

static Status give_featured(WebRequest *request)
{
    FeaturedList list;
    TRY(featured_view(site_of(request), web_arena(request), &list));
    return api_answer(request, &SCHEMA_FEATURED_LIST, &list);
}

enum { F_POLICY, F_PLACE, F_FROM, F_UNTIL, F_REASON };

static Status read_time(WebRequest *request, size_t row, const char *field, int64_t *ret_us)
{
    *ret_us = 0;
    if (web_has(request, row) && time_from_text(web_text(request, row), ret_us) != STATUS_OK)
        return reason_set(web_reason(request), STATUS_INVALID, field,
                          "must be a time, as in 2026-01-31T12:00:00Z");
    return STATUS_OK;
}

static Status feature(WebRequest *request)
{
    FeatureWish wish = {.policy = web_id(request, F_POLICY),
                        .place = (uint32_t)web_number(request, F_PLACE)};
    TRY(read_time(request, F_FROM, "from", &wish.from_us));
    TRY(read_time(request, F_UNTIL, "until", &wish.until_us));
    TRY(desk_feature(request, &wish, slice_trim(web_text(request, F_REASON))));
    return give_featured(request);
}

static Status unfeature(WebRequest *request)
{
    TRY(desk_unfeature(request, web_id(request, 0), SLICE_EMPTY));
    return give_featured(request);
}

static const char *const STATE_WORDS[] = {
#define X(name, word, text) word,
    REPORT_STATE_LIST(X)
#undef X
        NULL};

/* clang-format off */
#define FOR_REPORTS .access = WEB_ROLE, .roles = DESK_REPORTS, .tag = "moderation"
#define FOR_FEATURE .access = WEB_ROLE, .roles = DESK_FEATURE, .whose = WEB_ANYBODYS, .tag = "moderation", .answers = "FeaturedList"
#define REPORT_ROW {"report", WEB_PATH, WEB_ID, .help = "The report."}
#define POLICY_ROW {"policy", WEB_PATH, WEB_ID, .help = "The policy."}
#define MOVE(where, what, words) {WEB_POST, API_PATH "moderation/reports/{report}/" where, what, FOR_REPORTS, .whose = WEB_ANYBODYS, \
     .answers = "Report", .help = words
#define CLOSE_ROWS .body_bytes = WEB_BODY_DEFAULT, .params = {REPORT_ROW,                           \
                {"reason", WEB_JSON, WEB_TEXT, .least = 1, .most = REPORT_REASON_MOST, .help = "Why; who reported is told."}, \
                {"all", WEB_JSON, WEB_SWITCH, .fallback = "off", .help = "Also the others about the same policy that nobody else has."}}
#define TIME_ROW(name, words) {name, WEB_JSON, WEB_LINE, .optional = true, .least = 1, .most = 40, .help = words}

static const WebRoute ROUTES[] = {
    {WEB_POST, API_PATH "reports", make_report, .body_bytes = WEB_BODY_DEFAULT, .tag = "moderation", .answers = "Done",
     .help = "Tells the moderators about a policy, or without one about trouble with logging in. Throttled.",
     .params = {[R_WORDS] = {"words", WEB_JSON, WEB_TEXT, .least = 1, .most = REPORT_WORDS_MOST, .help = "What is wrong."},
                [R_POLICY] = {"policy", WEB_JSON, WEB_ID, .optional = true, .help = "The policy."},
                [R_EMAIL] = {"email", WEB_JSON, WEB_LINE, .fallback = "", .most = REPORT_EMAIL_BYTES,
                             .help = "Where to answer; of who is not logged in. About trouble it is needed."}}},
    {WEB_GET, API_PATH "moderation/reports", give_reports, FOR_REPORTS, .answers = "Reports", .help = "Reports by state.",
     .params = {{"state", WEB_QUERY, WEB_WORD, .words = STATE_WORDS, .fallback = "open", .help = "Which."},
                {"after", WEB_QUERY, WEB_OPAQUE, .optional = true, .least = ID_TEXT, .most = ID_TEXT, .help = "Where the page before ended, as `next` names it."}}},
    {WEB_GET, API_PATH "moderation/reports/{report}", give_report, FOR_REPORTS, .whose = WEB_ANYBODYS, .answers = "Report",
     .help = "One report.", .params = {REPORT_ROW}},
    MOVE("take", take, "Takes a report on; 409 when somebody else has it."), .params = {REPORT_ROW}},
    MOVE("return", give_back, "Gives a report back to the queue."), .params = {REPORT_ROW}},
    MOVE("dismiss", dismiss, "Dismisses a report."), CLOSE_ROWS},
    MOVE("act", close_acted, "Closes a report upon which something was done."), CLOSE_ROWS},
    {WEB_GET, API_PATH "moderation/acts", give_acts, .cache_ms = 5000, .tag = "moderation", .answers = "Acts",
     .help = "The public log of moderation: what was done, to what, why.",
     .params = {{"policy", WEB_QUERY, WEB_ID, .optional = true, .help = "Only what was done to this policy."},
                {"before", WEB_QUERY, WEB_OPAQUE, .optional = true, .least = ID_TEXT, .most = ID_TEXT, .help = "Where the page before ended, as `next` names it."}}},
    {WEB_GET, API_PATH "featured", give_featured, .cache_ms = 5000, .tag = "moderation", .answers = "FeaturedList",
     .help = "Policies that stand first on the front page."},
    {WEB_PUT, API_PATH "featured/{policy}", feature, FOR_FEATURE, .body_bytes = WEB_BODY_DEFAULT, .help = "Features a policy, or changes its place or times.",
     .params = {[F_POLICY] = POLICY_ROW,
                [F_PLACE] = {"place", WEB_JSON, WEB_NUMBER, .fallback = "0", .least = 0, .most = FEATURED_MOST, .help = "1 for the first; 0: where it is, or last."},
                [F_FROM] = TIME_ROW("from", "From when; left out: at once."),
                [F_UNTIL] = TIME_ROW("until", "Until when; left out: without an end."),
                [F_REASON] = {"reason", WEB_JSON, WEB_TEXT, .fallback = "", .most = AUDIT_REASON_MOST, .help = "Why; the public log shows it."}}},
    {WEB_DELETE, API_PATH "featured/{policy}", unfeature, FOR_FEATURE, .help = "Takes a policy off the front page.", .params = {POLICY_ROW}},
};
/* clang-format on */
const Room ROOM_API_DESK = ROOM(ROUTES);
