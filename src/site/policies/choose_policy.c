/* choose_policy.c -- other policies that somebody may mean by what they typed. See move_views.h. */
#include "site/policies/move_views.h"

Status policy_choices(WebRequest *request, const Form *form, uint64_t except,
                      PolicyChoices *ret_choices)
{
    Site *site = site_of(request);
    Arena *arena = web_arena(request);
    PolicyPage page;
    uint64_t number;
    PolicyQuery query = {.order = POLICIES_BY_NAME,
                         .prefix = slice_trim(form_typed(form, "other")),
                         .position = SLICE_EMPTY,
                         .limit = POLICY_CHOICES};
    ret_choices->count = 0;
    if (form_fault_at(&form->fault, "other") == NULL || query.prefix.size == 0 ||
        query.prefix.size > 4 * (size_t)POLICY_NAME_MAX ||
        slice_to_u64(query.prefix, &number) == STATUS_OK)
        return STATUS_OK;
    TRY(policies_browse(site->app->policies, &query, arena, &page));
    for (size_t i = 0; i < page.count; i++)
        if (page.policies[i].id != except)
            TRY(policy_summary_get(site->summaries, page.policies[i].id, arena,
                                   &ret_choices->summaries[ret_choices->count++]));
    return STATUS_OK;
}
