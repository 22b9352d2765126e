/* audit_list.c -- /moderation: the public log of what moderators did, and why. Not who: the site answers for it as a whole. */
#include "site/moderation/moderation.h"
#include "site/pages.h"

enum { P_POLICY, P_BEFORE };

static Status show_acts(WebRequest *request)
{
    Slice address;
    Operations *ops = site_of(request)->ops;
    PublicActQuery want = {.policy = web_id(request, P_POLICY)};
    PublicActsView view = {
        .now_us = site_now_us(request), .policy = want.policy, .policy_name = SLICE_EMPTY};
    if (web_has(request, P_BEFORE) &&
        id_from_text(web_text(request, P_BEFORE), &want.before) != STATUS_OK)
        return reason_set(web_reason(request), STATUS_INVALID, "before",
                          "must be what a page before named");
    TRY(public_acts(ops, &want, web_arena(request), &view.list));
    if (want.policy != 0)
        policy_summary_in_public(ops->summaries, want.policy, web_arena(request), &view.policy_name,
                                 &address);
    if (view.list.next.size > 0)
        view.list.next =
            arena_print(web_arena(request), "/moderation%.*s", SLICE_ARG(view.list.next));
    Frame frame = {.title = SLICE("What moderators did"),
                   .description = SLICE("Every act of moderation, with its reason."),
                   .address = SLICE("/moderation")};
    Buffer *out = page_begin(request, &frame);
    audit_list_page(out, &view);
    page_end(request, out);
    return STATUS_OK;
}

/* clang-format off */
static const WebRoute ROUTES[] = {
    {WEB_GET, "/moderation", show_acts, .shows = "audit_public", .cache_ms = 5000, .help = "The public log of moderation: what was done, to what, why.",
     .params = {[P_POLICY] = {"policy", WEB_QUERY, WEB_ID, .optional = true, .help = "Only what was done to this policy."},
                [P_BEFORE] = {"before", WEB_QUERY, WEB_OPAQUE, .optional = true, .least = ID_TEXT, .most = ID_TEXT, .help = "Where the page before ended."}}},
};
/* clang-format on */
ROUTE_TABLE(MODERATION_AUDIT, ROUTES);
