/* act.c -- what is done by a role, from a page or the API, into the log of acts. See inside.h. */
#include "site/inside.h"
#include "site/people.h"

static size_t characters(Slice text)
{
    size_t count = 0;
    for (; text.size > 0; text = slice_after(text, slice_utf8_length(text)), count++)
        CHECK(slice_utf8_length(text) > 0); /* parameters are UTF-8 */
    return count;
}

Status site_act(WebRequest *request, const Act *act, Id *ret_id)
{
    Act full = *act;
    full.actor = site_viewer(request)->account.id;
    full.origin = people_origin(request).address;
    if (characters(full.reason) > AUDIT_REASON_MOST)
        return reason_set(web_reason(request), STATUS_INVALID, "reason",
                          "has at most %d characters", AUDIT_REASON_MOST);
    Status status = audit_begin(site_of(request)->app->audit, &full, ret_id);
    if (status == STATUS_UNAVAILABLE ||
        status == STATUS_UNKNOWN) /* of the note; nothing else was begun */
        return reason_set(web_reason(request), STATUS_UNAVAILABLE, "",
                          "it could not be noted in the log of acts, so it was not done");
    return status;
}

void site_act_end(WebRequest *request, Id id, Status outcome)
{
    audit_end(site_of(request)->app->audit, id, outcome);
}
