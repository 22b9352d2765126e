/* views.c -- reports as moderators see them. See desk.h. */
#include "site/desk/desk.h"

/* A moderator sees names that are hidden from others; one that is gone is called by its number. */
static void name_policy(Site *site, ReportView *view, Arena *arena)
{
    PolicyCard card;
    uint64_t policy = view->report.policy;
    view->has_policy = policy != 0;
    view->policy_state = POLICY_DELETED;
    view->policy_name = arena_print(arena, "Policy %llu", (unsigned long long)policy);
    view->policy_address = arena_print(arena, "/policies/%llu", (unsigned long long)policy);
    if (policy == 0 || cards_name(site->cards, policy, arena, &card) != STATUS_OK)
        return;
    view->policy_state = card.state;
    view->policy_name = card.name;
    view->policy_address = card.address;
}

Status report_view(Site *site, const Report *report, uint64_t viewer, Arena *arena,
                   ReportView *ret_view)
{
    ReportView view = {.report = *report};
    name_policy(site, &view, arena);
    view.reporter =
        report->account != 0 ? person_name(site, report->account, arena) : SLICE("a visitor");
    view.has_moderator = report->state != REPORT_OPEN;
    view.moderator = view.has_moderator ? person_name(site, report->moderator, arena) : SLICE_EMPTY;
    view.is_mine = report->state == REPORT_TAKEN && report->moderator == viewer;
    *ret_view = view;
    return STATUS_OK;
}

/* ---- Lists ------------------------------------------------------------------------------------------------------------------- */

static ReportView *same_policy(ReportsView *view, uint64_t policy)
{
    for (size_t i = 0; policy != 0 && i < view->count; i++)
        if (view->reports[i].report.policy == policy)
            return &view->reports[i];
    return NULL;
}

static Chooser states_chooser(ReportState chosen, Arena *arena)
{
    Chooser chooser = {.label = "State",
                       .choices = ARENA_ARRAY(arena, REPORT_STATE_COUNT, Choice),
                       .count = REPORT_STATE_COUNT};
    for (int i = 0; i < REPORT_STATE_COUNT; i++) {
        static const char *const TEXTS[] = {[REPORT_OPEN] = "Waiting",
                                            [REPORT_TAKEN] = "Taken on",
                                            [REPORT_ACTED] = "Acted upon",
                                            [REPORT_DISMISSED] = "Dismissed"};
        chooser.choices[i] = (Choice){.text = slice_from(TEXTS[i]),
                                      .address = arena_print(arena, "/desk/reports?state=%s",
                                                             report_state_word((ReportState)i)),
                                      .is_chosen = i == (int)chosen};
    }
    return chooser;
}

Status reports_view(Site *site, const ReportsWish *wish, Arena *arena, ReportsView *ret_view)
{
    ReportPage page;
    ReportQuery query = {.state = wish->state, .after = wish->after, .limit = DESK_ROWS};
    TRY(reports_list(site->app->reports, &query, arena, &page));
    ReportsView view = {.now_us = clock_now_us(site->app->world.clock),
                        .state = wish->state,
                        .reports = ARENA_ARRAY(arena, page.count, ReportView),
                        .states = states_chooser(wish->state, arena),
                        .position = SLICE_EMPTY,
                        .pager = {.before = SLICE_EMPTY, .after = SLICE_EMPTY}};
    for (size_t i = 0; i < page.count; i++) {
        ReportView *same = wish->is_whole ? NULL : same_policy(&view, page.reports[i].policy);
        if (same != NULL)
            same->more++;
        else
            TRY(report_view(site, &page.reports[i], wish->viewer, arena,
                            &view.reports[view.count++]));
    }
    if (page.more) {
        view.position = id_text(page.position, arena);
        view.pager.after = arena_print(arena, "/desk/reports?state=%s&after=%.*s",
                                       report_state_word(wish->state), SLICE_ARG(view.position));
    }
    *ret_view = view;
    return STATUS_OK;
}
