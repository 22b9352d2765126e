/* api_moderation.c -- /api/v1: reports, featured policies, the public audit log. What is done is what the pages do. */
#include "site/api/api.h"
#include "site/moderation/moderation.h"

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
        TRY(policy_head(site_of(request)->ops, report.policy, site_actor(request),
                        web_arena(request), &head));
        if (head.is_hidden)
            return STATUS_NOT_FOUND;
    }
    TRY(moderation_report(request, &report, &id));
    web_code(request, 201);
    return api_answer_done(request);
}

/* clang-format off */
static const WebRoute ROUTES[] = {
    {WEB_POST, API_PATH "reports", make_report, .body_bytes = WEB_BODY_DEFAULT, .tag = "moderation", .answers = "Done",
     .help = "Tells the moderators about a policy, or without one about trouble with logging in. Throttled.",
     .params = {[R_WORDS] = {"words", WEB_JSON, WEB_TEXT, .least = 1, .most = REPORT_WORDS_MAX, .help = "What is wrong."},
                [R_POLICY] = {"policy", WEB_JSON, WEB_ID, .optional = true, .help = "The policy."},
                [R_EMAIL] = {"email", WEB_JSON, WEB_LINE, .fallback = "", .most = REPORT_EMAIL_BYTES,
                             .help = "Where to answer; of who is not logged in. About trouble it is needed."}}},
};
/* clang-format on */
ROUTE_TABLE(API_MODERATION, ROUTES);
