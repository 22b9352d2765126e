/* retire.c -- the page on which a policy is retired: what it does and what it costs. See move_views.h. */
#include "site/pages.h"
#include "site/policies/move_views.h"

/* What an owner holds, and loses of it. Nobody else is shown either. */
static Status fill_price(WebRequest *request, RetirePage *page)
{
    const VoterState *state;
    const MergedLine *lines;
    size_t count;
    uint64_t id = page->head.policy.id;
    if (!page->head.is_owner)
        return STATUS_OK;
    TRY(site_voter_state(request, &state));
    TRY(site_merged_lines(request, &lines, &count));
    for (size_t i = 0; i < count; i++)
        if (lines[i].policy == id)
            page->held = lines[i].held;
    for (size_t i = 0; i < state->line_count; i++) {
        const VoteLine *line = &state->lines[i];
        VoteLine paid = {.withdrawn_centi = line->withdrawn_centi};
        if (line->policy == id)
            page->price =
                vote_retire_cost(line, page->percent) - vote_retire_cost(&paid, page->percent);
    }
    return STATUS_OK;
}

static Status fill(WebRequest *request, void *view, Frame *frame)
{
    RetirePage *page = view;
    VotingSettings settings;
    Arena *arena = web_arena(request);
    Status status = move_page_head(request, &page->form, AUDIT_POLICY_RETIRE, &page->head);
    if ((status == STATUS_OK || status == STATUS_REFUSED) && !page->head.may_retire)
        return reason_set(web_reason(request), STATUS_DENIED, "",
                          "only its owner and moderators can retire this policy");
    TRY(status);
    TRY(operations_settings(site_of(request)->ops, arena, &settings));
    page->percent = settings.withdrawal_percent;
    TRY(fill_price(request, page));
    TRY(policy_choices(request, &page->form, page->head.policy.id, &page->choices));
    *frame =
        (Frame){.title = arena_print(arena, "Retire %.*s", SLICE_ARG(policy_title(&page->head))),
                .is_narrow = true};
    return STATUS_OK;
}

static void draw(Buffer *out, const void *view)
{
    policy_retire_page(out, view);
}

FORM(policy_retire, RetirePage, .path = "/policies/{policy}/retire", .fill = fill, .draw = draw,
     .leads = move_page_leads, .help = "What retiring a policy means, and the form to do it.");
