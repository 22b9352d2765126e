/* people_appeals.c -- see people_appeals.h.
 *
 * The account's row names the report before that is made, so the same appeal sent again is the same report, also after a crash in between. */
#include "operations/people_appeals.h"

#include "operations/report_moves.h"
#include "operations/schema_macros.h"
#include "operations/tries.h"

/* clang-format off */
static const ApiMember RIGHTS[] = {
    FIELD("changed", RightsView, has_change, .help = "Whether your rights or roles were ever changed."),
    FIELD("what", RightsView, words, WHEN(RightsView, has_change), .help = "What was taken away and given back by the last change."),
    FIELD("reason", RightsView, change.reason, OR_NULL, .help = "Why."),
    TIME("time", RightsView, change.time_us, OR_NULL, .help = "When."),
    FIELD("may_appeal", RightsView, may_appeal, .help = "Something is taken away, and you have not appealed against this change."),
    FIELD("appealed", RightsView, has_appealed, .help = "You have."),
    WORD("appeal_state", RightsView, appeal.state, REPORT_STATE_WORDS, WHEN(RightsView, has_appealed), .help = "Where your appeal stands."),
    FIELD("answer", RightsView, appeal.reason, OR_NULL, .help = "What whoever closed it wrote."),
};
SCHEMA(MY_RIGHTS, "MyRights", RightsView, RIGHTS, .help = "The last change of somebody's rights, and their appeal.");
/* clang-format on */

/* ---- Looking ------------------------------------------------------------------------------------------------------------------ */

static Status no_link(Reason *reason)
{
    return reason_set(reason, STATUS_NOT_FOUND, "token", "there is no such link");
}

/* *ret_number 0: whatever the last change is. */
static Status whose(Operations *ops, const Actor *actor, Slice token, uint64_t *ret_account,
                    uint64_t *ret_number, Reason *reason)
{
    *ret_number = 0;
    *ret_account = actor_id(actor);
    if (token.size > 0)
        return rights_from_token(ops->app->accounts, token, ret_account, ret_number) == STATUS_OK
                   ? STATUS_OK
                   : no_link(reason);
    return *ret_account != 0 ? STATUS_OK
                             : reason_set(reason, STATUS_REFUSED, "",
                                          "log in, or open the link in the e-mail that told you of "
                                          "the change");
}

Status rights_view(Operations *ops, const Actor *actor, Slice token, Arena *arena,
                   RightsView *ret_view, Reason *reason)
{
    RightsView view = {.words = SLICE_EMPTY, .appeal.reason = SLICE_EMPTY};
    uint64_t account, number;
    TRY(whose(ops, actor, token, &account, &number, reason));
    TRY(accounts_read(ops->app->accounts, account, arena, &view.account));
    if (view.account.state != ACCOUNT_CONFIRMED)
        return no_link(reason);
    TRY(accounts_rights_change(ops->app->accounts, account, arena, &view.change));
    if (number != 0 && number != view.change.number)
        return reason_set(reason, STATUS_REFUSED, "token",
                          "your rights were changed again since; the newest e-mail has the link");
    view.has_lost = view.account.denied != 0;
    view.has_change = view.change.number != 0;
    view.words = rights_change_words(&view.change, arena);
    view.may_appeal = rights_may_appeal(&view.change, &view.account);
    if (view.has_change && view.change.appealed == view.change.number) {
        Status status = reports_read(ops->app->reports, view.change.report, arena, &view.appeal);
        view.has_appealed = status == STATUS_OK;
        view.may_appeal = status == STATUS_NOT_FOUND; /* it was cut off before */
        if (status != STATUS_NOT_FOUND)
            TRY(status);
    }
    *ret_view = view;
    return STATUS_OK;
}

typedef struct RightsAppeal {
    Slice token, words;
} RightsAppeal;

static Status rights_show(Operations *ops, const Actor *actor, const Nothing *request, Arena *arena,
                          RightsView *ret_view, Reason *reason)
{
    (void)request;
    return rights_view(ops, actor, SLICE_EMPTY, arena, ret_view, reason);
}

/* ---- Appealing ------------------------------------------------------------------------------------------------------------------ */

static Status refuse_appeal(const RightsView *view, Reason *reason)
{
    if (view->has_appealed)
        return reason_set(reason, STATUS_REFUSED, "", "you have appealed already: once a change");
    return reason_set(reason, STATUS_REFUSED, "", "nothing is taken away from this account");
}

static Status rights_appeal(Operations *ops, const Actor *actor, const RightsAppeal *request,
                            Arena *arena, Done *ret_done, Reason *reason)
{
    RightsView view;
    NewReport appeal = {.kind = REPORT_OF_RIGHTS, .email = SLICE_EMPTY, .words = request->words};
    TRY(throttle_origin(ops, actor, THROTTLE_REPORT, reason));
    TRY(rights_view(ops, actor, request->token, arena, &view, reason));
    if (!view.may_appeal)
        return refuse_appeal(&view, reason);
    appeal.account = view.account.id;
    TRY(throttle_take(ops->throttle, THROTTLE_REPORT_ACCOUNT,
                      slice_of(&appeal.account, sizeof appeal.account), reason));
    TRY(reports_reserve(ops->app->reports, &appeal.id));
    TRY(accounts_appeal_rights(ops->app->accounts, appeal.account, view.change.number, appeal.id,
                               &appeal.id, reason));
    TRY(reports_make(ops->app->reports, &appeal, &appeal.id, reason));
    report_tell(ops);
    ret_done->done = true;
    return STATUS_OK;
}

/* clang-format off */
OPERATION(rights_show, Nothing, RightsView, .help = "Show the last change of one's rights, why it was made, and one's appeal.",
    .access = WEB_LOGIN, .asks = true, .shows = SHOWS(RIGHTS), .answers = &SCHEMA_MY_RIGHTS, .api = {WEB_GET, "me/rights", .tag = "me"},
    .no_page = "/appeal shows it", .command = {.words = "rights show"});
OPERATION(rights_appeal, RightsAppeal, Done, .help = "Appeal against a change of one's rights, once for each change. Throttled.",
    .no_audits = "it is one's own", .answers = &SCHEMA_DONE, .api = {WEB_POST, "me/rights/appeal", .tag = "me", .code = 201},
    .page = {"/appeal", "rights-appealed", "Your appeal is with the moderators. You are told what they decide."},
    .command = {.words = "rights appeal", .done = "Moderators will look at it."},
    .inputs = {
        INPUT("words", RightsAppeal, words, TEXT, .least = 1, .most = REPORT_WORDS_MAX, .missing = "say why it should not stay so", .help = "Why it should not stay so; for those who decide."),
        INPUT("token", RightsAppeal, token, OPAQUE, .optional = true, .least = 1, .most = APPEAL_TOKEN_MAX, .help = "Of the link in the e-mail, for somebody who is not logged in."),
    });
/* clang-format on */

/* ---- Deciding -------------------------------------------------------------------------------------------------------------------- */

/* Whether somebody else than these two could decide. */
static Status find_other(Operations *ops, uint64_t one, uint64_t another, bool *ret_found)
{
    static const uint32_t JUDGES = 1u << ROLE_ADMIN | 1u << ROLE_MODERATE_POLICIES;
    ARENA_SCOPE Arena *arena = arena_new();
    Slice position = SLICE_EMPTY;
    *ret_found = false;
    for (bool more = true; more && !*ret_found;) {
        ARENA_SCOPE Arena *page = arena_new();
        Account *list;
        size_t count;
        Slice next;
        TRY(accounts_list(ops->app->accounts, position, page, &list, &count, &next, &more));
        for (size_t i = 0; i < count; i++)
            *ret_found |= list[i].id != one && list[i].id != another &&
                          account_may(&list[i], RIGHT_LOG_IN) && (list[i].roles & JUDGES) != 0;
        position = arena_copy(arena, next);
    }
    return STATUS_OK;
}

Status appeal_check_judge(Operations *ops, const Actor *actor, const Report *report,
                          ReportState wanted, Arena *arena, Reason *reason)
{
    RightsChange change;
    uint64_t judge = actor_id(actor);
    bool has_other;
    if (report->kind != REPORT_OF_RIGHTS || judge == 0 || wanted == REPORT_OPEN)
        return STATUS_OK;
    if (report->account == judge)
        return reason_set(reason, STATUS_REFUSED, "", "this is your own appeal");
    TRY(accounts_rights_change(ops->app->accounts, report->account, arena, &change));
    if (wanted == REPORT_ACTED || change.report != report->id || change.appeal_actor != judge)
        return STATUS_OK;
    TRY(find_other(ops, judge, report->account, &has_other));
    return has_other ? reason_set(reason, STATUS_REFUSED, "",
                                  "it is against what you did, so somebody else decides")
                     : STATUS_OK;
}
