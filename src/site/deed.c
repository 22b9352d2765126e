/* deed.c -- what is done to policies by a role, noted once. See acts.h. */
#include "site/acts.h"

Status deed_begin(WebRequest *request, Deed *deed, Reason *reason)
{
    Status status = deed->is_repeat ? STATUS_OK : site_act(request, &deed->act, &deed->id);
    if (status != STATUS_OK)
        *reason = *web_reason(request);
    return status;
}

void deed_end(WebRequest *request, const Deed *deed, Status outcome)
{
    if (!deed->is_repeat)
        site_act_end(request, deed->id, outcome);
    if (outcome == STATUS_OK)
        site_report_acted(request, deed->report, deed->act.reason);
}

bool deed_stands(const PolicyHead *head, Id token)
{
    for (size_t i = 0; i < head->policy.facts.move_count; i++)
        if (id_equal(head->policy.facts.moves[i].id, token))
            return true;
    return false;
}

Status deed_check_reason(Slice text, Reason *reason)
{
    size_t count = 0;
    for (Slice rest = text; rest.size > 0; rest = slice_after(rest, slice_utf8_length(rest)))
        count++;
    if (slice_trim(text).size == 0)
        return reason_set(reason, STATUS_INVALID, "reason", "say why: everybody can read it");
    if (count > POLICY_REASON_MOST)
        return reason_set(reason, STATUS_INVALID, "reason", "has at most %d characters",
                          POLICY_REASON_MOST);
    return STATUS_OK;
}
