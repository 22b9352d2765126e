/* report.c -- /policies/{policy}/report and /trouble: forms by which everybody can tell moderators something.
 *
 * A report is one conditional update. When its answer is lost nobody knows whether it was kept; sending it again may make a second one,
 * which moderators see beside the first. */
#include "site/account/people.h"
#include "site/moderation/moderation.h"
#include "site/pages.h"

/* ---- Making ------------------------------------------------------------------------------------------------------------------ */

static Status throttle(WebRequest *request, uint64_t account)
{
    TRY(people_throttle(request, THROTTLE_REPORT));
    if (account == 0)
        return STATUS_OK;
    return throttle_take(site_of(request)->ops->throttle, THROTTLE_REPORT_ACCOUNT,
                         slice_of(&account, sizeof account), web_reason(request));
}

/* The answer goes to the account's own address, whatever was typed. */
Status moderation_report(WebRequest *request, NewReport *report, uint64_t *ret_id)
{
    const Viewer *viewer = site_viewer(request);
    report->account = viewer->known ? viewer->account.id : 0;
    if (viewer->known)
        report->email = SLICE_EMPTY;
    TRY(throttle(request, report->account));
    return reports_make(site_of(request)->app->reports, report, ret_id, web_reason(request));
}

/* ---- The form ---------------------------------------------------------------------------------------------------------------- */

static Status show(WebRequest *request, ReportForm *form, int code)
{
    (void)site_form_token(request);
    form->viewer = site_viewer(request);
    Frame frame = {.title = form->is_trouble ? SLICE("Trouble with logging in")
                                             : arena_print(web_arena(request), "Report %.*s",
                                                           SLICE_ARG(form->policy_name)),
                   .is_narrow = true};
    Buffer *out = page_begin(request, &frame);
    report_form_page(out, form);
    page_end(request, out);
    web_code(request, code);
    return STATUS_OK;
}

static Status show_unknown(WebRequest *request, ReportForm *form)
{
    Frame frame = {.title = SLICE("We do not know whether your report was kept"),
                   .is_narrow = true};
    (void)site_form_token(request);
    form->viewer = site_viewer(request);
    Buffer *out = page_begin(request, &frame);
    report_unknown_page(out, form);
    page_end(request, out);
    web_code(request, 503);
    return STATUS_OK;
}

static Status answer(WebRequest *request, ReportForm *form, Status status, const char *done)
{
    if (status == STATUS_UNKNOWN)
        return show_unknown(request, form);
    if (form_can_be_corrected(status)) {
        form->fault = form_fault(web_reason(request));
        return show(request, form, status == STATUS_THROTTLED ? 429 : 422);
    }
    TRY(status);
    site_done(request, form->back, done, 0);
    return STATUS_OK;
}

/* ---- About a policy ---------------------------------------------------------------------------------------------------------- */

enum { P_POLICY, P_WORDS, P_EMAIL };

/* What cannot be seen cannot be reported. */
static Status begin_policy(WebRequest *request, ReportForm *form)
{
    PolicyHead head;
    Arena *arena = web_arena(request);
    TRY(policy_head(site_of(request)->ops, web_id(request, P_POLICY), site_actor(request), arena,
                    &head));
    if (head.is_hidden)
        return STATUS_NOT_FOUND;
    *form = (ReportForm){.action = policy_path(&head, "/report", arena),
                         .back = head.address,
                         .policy_name = policy_title(&head),
                         .words = SLICE_EMPTY,
                         .email = SLICE_EMPTY};
    return STATUS_OK;
}

static Status show_policy(WebRequest *request)
{
    ReportForm form;
    TRY(begin_policy(request, &form));
    return show(request, &form, 200);
}

static Status take_policy(WebRequest *request)
{
    ReportForm form;
    uint64_t id;
    TRY(begin_policy(request, &form));
    form.words = slice_trim(web_text(request, P_WORDS));
    form.email = slice_trim(web_text(request, P_EMAIL));
    NewReport report = {.kind = REPORT_OF_POLICY,
                        .policy = web_id(request, P_POLICY),
                        .email = form.email,
                        .words = form.words};
    bool can_be_told = site_viewer(request)->known || form.email.size > 0;
    return answer(request, &form, moderation_report(request, &report, &id),
                  can_be_told ? "reported" : "reported-unnamed");
}

/* ---- Trouble ----------------------------------------------------------------------------------------------------------------- */

static ReportForm trouble_form(WebRequest *request)
{
    return (ReportForm){.action = SLICE("/trouble"),
                        .back = site_viewer(request)->known ? SLICE("/") : SLICE("/login"),
                        .is_trouble = true,
                        .policy_name = SLICE_EMPTY,
                        .words = SLICE_EMPTY,
                        .email = SLICE_EMPTY};
}

static Status show_trouble(WebRequest *request)
{
    ReportForm form = trouble_form(request);
    return show(request, &form, 200);
}

enum { T_WORDS, T_EMAIL };

static Status take_trouble(WebRequest *request)
{
    ReportForm form = trouble_form(request);
    uint64_t id;
    form.words = slice_trim(web_text(request, T_WORDS));
    form.email = slice_trim(web_text(request, T_EMAIL));
    NewReport report = {.kind = REPORT_OF_TROUBLE, .email = form.email, .words = form.words};
    return answer(request, &form, moderation_report(request, &report, &id), "trouble-told");
}

/* clang-format off */
#define POLICY_ROW {"policy", WEB_PATH, WEB_SLUG, .help = "The policy."}
#define WORDS_ROW {"words", WEB_FORM, WEB_TEXT, .fallback = "", .most = MODERATION_FIELD_MAX, .help = "What is wrong."}
#define EMAIL_ROW {"email", WEB_FORM, WEB_LINE, .fallback = "", .most = 1000, .help = "Where to answer, of a visitor."}

static const WebRoute ROUTES[] = {
    {WEB_GET, "/policies/{policy}/report", show_policy, .help = "The form to report a policy to the moderators.",
     .params = {[P_POLICY] = POLICY_ROW}},
    {WEB_POST, "/policies/{policy}/report", take_policy, .body_bytes = WEB_BODY_DEFAULT,
     .help = "Reports a policy to the moderators.", .params = {[P_POLICY] = POLICY_ROW, [P_WORDS] = WORDS_ROW, [P_EMAIL] = EMAIL_ROW}},
    {WEB_GET, "/trouble", show_trouble, .help = "The form to tell of trouble with logging in or joining."},
    {WEB_POST, "/trouble", take_trouble, .body_bytes = WEB_BODY_DEFAULT,
     .help = "Tells the moderators of trouble with logging in or joining.", .params = {[T_WORDS] = WORDS_ROW, [T_EMAIL] = EMAIL_ROW}},
};
/* clang-format on */
ROUTE_TABLE(REPORT, ROUTES);
