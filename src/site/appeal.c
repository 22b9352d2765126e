/* appeal.c -- the owner of a policy that waits for its deletion asks for it: a report to the moderators. See acts.h and reports.h. */
#include "site/acts.h"

static Status take_appeal(WebRequest *request)
{
    Site *site = site_of(request);
    const Account *account = site_account(request);
    PolicyHead head;
    uint64_t report;
    TRY(policy_head(site, web_id(request, 0), account, web_arena(request), &head));
    if (!head.is_owner)
        return reason_set(web_reason(request), STATUS_DENIED, "",
                          "only the owner of a policy appeals against its deletion");
    if (head.state != POLICY_PENDING_DELETION)
        return reason_set(web_reason(request), STATUS_REFUSED, "",
                          "a policy that is %s does not wait for its deletion",
                          policy_state_text(head.state));
    NewReport appeal = {.kind = REPORT_OF_APPEAL,
                        .policy = head.policy.id,
                        .account = account->id,
                        .email = SLICE_EMPTY,
                        .words = slice_trim(web_text(request, 1))};
    TRY(reports_make(site->app->reports, &appeal, &report, web_reason(request)));
    site_done(request, head.address, "appealed", 0);
    return STATUS_OK;
}

static const WebRoute ROUTES[] = {
    {WEB_POST, "/policies/{policy}/appeal", take_appeal, .access = WEB_LOGIN, .whose = WEB_OWN,
     .body_bytes = WEB_BODY_DEFAULT, .help = "Appeals against the deletion of one's own policy.",
     .params = {{"policy", WEB_PATH, WEB_SLUG, .help = "The policy."},
                {"words", WEB_FORM, WEB_TEXT, .fallback = "", .most = 20000,
                 .help = "Why it should stay; for moderators."}}},
};
const Room ROOM_APPEAL = ROOM(ROUTES);
