/* merge.c -- the page on which a policy is merged with another: choosing that one, then seeing what would happen. See move_views.h. */
#include "site/pages.h"
#include "site/policies/move_views.h"

/* What merging it with the policy that was typed would do. */
static Status fill_merge(WebRequest *request, MergePage *page, Reason *reason)
{
    Operations *ops = site_of(request)->ops;
    Arena *arena = web_arena(request);
    uint64_t policy = page->head.policy.id, other;
    TRY(form_thing(request, &page->form, "other", &other, reason));
    TRY(policy_check_other(ops, policy, other, arena, reason));
    return merge_view(ops, site_actor(request), policy, other, arena, &page->merge, reason);
}

static Status fill(WebRequest *request, void *view, Frame *frame)
{
    MergePage *page = view;
    Form *form = &page->form;
    Reason reason = {0};
    Arena *arena = web_arena(request);
    TRY(move_page_head(request, form, AUDIT_POLICY_MERGE, &page->head));
    *frame =
        (Frame){.title = arena_print(arena, "Merge %.*s", SLICE_ARG(policy_title(&page->head))),
                .is_narrow = true};
    form->focus = "other";
    if (slice_trim(form_typed(form, "other")).size == 0)
        return STATUS_OK;
    Status status = fill_merge(request, page, &reason);
    page->has_other = status == STATUS_OK;
    if (page->has_other) {
        form->focus = "reason";
        form_type(form, "other",
                  arena_print(arena, "%llu", (unsigned long long)page->merge.other.policy));
        return STATUS_OK;
    }
    if (!form_can_be_corrected(status))
        return status;
    if (!form->fault.is_set)
        form_fault_add(&form->fault, form_fault(&reason), arena);
    return policy_choices(request, form, page->head.policy.id, &page->choices);
}

static void draw(Buffer *out, const void *view)
{
    const MergePage *page = view;
    if (page->has_other)
        policy_merge_page(out, page);
    else
        merge_choose_page(out, page);
}

FORM(policy_merge, MergePage, .path = "/policies/{policy}/merge", .fill = fill, .draw = draw,
     .leads = move_page_leads,
     .help = "What merging a policy with another would do, and the form to do it.");
