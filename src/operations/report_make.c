/* report_make.c -- telling the moderators something: about a policy, or about trouble with logging in.
 *
 * Everybody may, so it is throttled by network address, and by account where there is one. A report is one conditional update; when its
 * answer is lost nobody knows whether it was stored, and sending it again may make a second one, which moderators see beside the first.
 * E-mails follow from marks that are durable with the report (app/report_letters.h). */
#include "operations/report_make.h"

#include "operations/policy_head.h"
#include "operations/report_moves.h"
#include "operations/schema_list.h"
#include "operations/tries.h"

typedef struct ReportMake {
    uint64_t policy;
    Slice words, email;
} ReportMake;

/* The answer goes to the account's own address, whatever was typed. */
static Status make(Operations *ops, const Actor *actor, ReportKind kind, const ReportMake *request,
                   ReportMade *ret_made, Reason *reason)
{
    uint64_t id;
    NewReport report = {.kind = kind,
                        .policy = request->policy,
                        .account = actor_id(actor),
                        .email = actor_id(actor) == 0 ? request->email : SLICE_EMPTY,
                        .words = request->words};
    TRY(throttle_origin(ops, actor, THROTTLE_REPORT, reason));
    if (report.account != 0)
        TRY(throttle_take(ops->throttle, THROTTLE_REPORT_ACCOUNT,
                          slice_of(&report.account, sizeof report.account), reason));
    TRY(reports_make(ops->app->reports, &report, &id, reason));
    report_tell(ops);
    ret_made->done.done = true;
    ret_made->is_answerable = report.account != 0 || report.email.size > 0;
    return STATUS_OK;
}

/* What cannot be seen cannot be reported. */
static Status policy_report(Operations *ops, const Actor *actor, const ReportMake *request,
                            Arena *arena, ReportMade *ret_made, Reason *reason)
{
    PolicyHead head;
    TRY(policy_head(ops, request->policy, actor, arena, &head));
    if (head.is_hidden)
        return STATUS_NOT_FOUND;
    ret_made->address = head.address;
    return make(ops, actor, REPORT_OF_POLICY, request, ret_made, reason);
}

static Status trouble_report(Operations *ops, const Actor *actor, const ReportMake *request,
                             Arena *arena, ReportMade *ret_made, Reason *reason)
{
    (void)arena;
    return make(ops, actor, REPORT_OF_TROUBLE, request, ret_made, reason);
}

/* clang-format off */
#define ANYBODY .no_audits = "the report itself is kept, and what moderators do about it is audited", .answers = &SCHEMA_DONE
#define WORDS_AND_EMAIL(about)                                                                                                       \
    INPUT("words", ReportMake, words, TEXT, .least = 1, .most = REPORT_WORDS_MAX, .missing = "must say something", .help = about),   \
    INPUT("email", ReportMake, email, LINE, .optional = true, .most = REPORT_EMAIL_BYTES, .help = "Where to answer somebody who is not logged in.")

OPERATION(policy_report, ReportMake, ReportMade, .help = "Report a policy to the moderators. Throttled.", ANYBODY,
    .needs = 1u << RIGHT_REPORT,
    .api = {WEB_POST, "reports", .tag = "moderation", .code = 201}, .page = {.path = "/policies/{policy}/report"},
    .command = {"report policy", .done = "Reported. Moderators will look at it."},
    .inputs = {INPUT("policy", ReportMake, policy, POLICY, .operand = true, .help = "The policy."), WORDS_AND_EMAIL("What is wrong with it.")});
OPERATION(trouble_report, ReportMake, ReportMade, .help = "Tell the moderators of trouble with logging in or joining. Throttled.", ANYBODY,
    .api = {WEB_POST, "reports/trouble", .tag = "moderation", .code = 201},
    .page = {"/trouble", "trouble-told", "Thank you. We answer to the address that you gave."},
    .command = {"report trouble", .done = "Reported. Moderators will look at it."}, .inputs = {WORDS_AND_EMAIL("What happened.")});
/* clang-format on */
