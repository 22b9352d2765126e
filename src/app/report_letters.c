/* report_letters.c -- see report_letters.h. */
#include "app/report_letters.h"

#include "app/role_holders.h"
#include "mail/letters.h"

/* Who works off reports of a kind. */
static const AccountRole WORKERS[REPORT_KIND_COUNT] = {
    [REPORT_OF_POLICY] = ROLE_MODERATE_POLICIES,
    [REPORT_OF_TROUBLE] = ROLE_EDIT_USERS,
    [REPORT_OF_APPEAL] = ROLE_MODERATE_POLICIES,
    [REPORT_OF_RIGHTS] = ROLE_EDIT_USERS,
};

/* Found when the first letter needs them. */
typedef struct ReportWorkers {
    bool is_known;
    Account *list;
    size_t count;
} ReportWorkers;

/* `reader` has id 0 when it is somebody without an account. Those who reported it and moderators know a policy's name, also when it is hidden. */
static Status write_to(App *app, const ReportLetter *letter, LetterKind kind, const Account *reader,
                       Arena *arena, Reason *reason)
{
    const Report *report = &letter->report;
    const char *of = report->kind == REPORT_OF_APPEAL ? "the deletion of " : "";
    unsigned long long id = report->id;
    Slice home = slice_from(app->home);
    Policy policy;
    MailMessage message;
    LetterFacts facts = {
        .site = slice_from(app->config->site_name),
        .home = home,
        .name = reader->name,
        .about = report->kind == REPORT_OF_RIGHTS ? SLICE("a change of what an account may do")
                                                  : SLICE("trouble with logging in or joining"),
        .words = report->reason,
        .link = kind == LETTER_REPORT
                    ? arena_print(arena, "%.*s/desk/reports/%llu", SLICE_ARG(home), id)
                    : arena_print(arena, "%.*s/moderation", SLICE_ARG(home))};
    facts.policies = &report->policy;
    facts.policy_count = report->policy != 0;
    if (report->policy != 0)
        facts.about =
            policies_read(app->policies, report->policy, arena, &policy) == STATUS_OK &&
                    policy.text.name.size > 0
                ? arena_print(arena, "%sthe policy “%.*s”", of, SLICE_ARG(policy.text.name))
                : arena_print(arena, "%sa policy that is gone", of);
    TRY(letter_write(kind, &facts, arena, &message, reason));
    message.to = reader->email;
    message.once = arena_print(arena, "report/%c/%llu/%llu", (char)letter->kind, id,
                               (unsigned long long)reader->id);
    return mail_send(app->mail, &message, reason);
}

static Status tell_reporter(App *app, const ReportLetter *letter, Arena *arena, Reason *reason)
{
    const Report *report = &letter->report;
    Account reader = {.name = SLICE_EMPTY, .email = report->email};
    if (report->account != 0)
        TRY(accounts_read(app->accounts, report->account, arena, &reader));
    return reader.email.size == 0
               ? STATUS_OK
               : write_to(app, letter,
                          report->state == REPORT_ACTED ? LETTER_REPORT_ACTED
                                                        : LETTER_REPORT_DISMISSED,
                          &reader, arena, reason);
}

static Status tell_workers(App *app, const ReportLetter *letter, ReportWorkers *workers,
                           Arena *arena, Reason *reason)
{
    Status status = STATUS_OK;
    if (!workers->is_known)
        TRY(app_find_holders(app, WORKERS[letter->report.kind], arena, &workers->list,
                             &workers->count));
    workers->is_known = true;
    for (size_t i = 0; i < workers->count && status == STATUS_OK; i++)
        status = write_to(app, letter, LETTER_REPORT, &workers->list[i], arena, reason);
    return status;
}

/* What may succeed later stays marked; what never will does not. */
Status app_tell_reports(void *self, Reason *reason)
{
    App *app = self;
    ARENA_SCOPE Arena *arena = arena_new();
    ReportLetter *letters;
    ReportWorkers workers[REPORT_KIND_COUNT] = {{.is_known = false}};
    size_t count;
    Status worst = STATUS_OK;
    TRY(reports_letters(app->reports, arena, &letters, &count));
    for (size_t i = 0; i < count; i++) {
        const ReportLetter *letter = &letters[i];
        Status status =
            letter->kind == REPORT_LETTER_NEW
                ? tell_workers(app, letter, &workers[letter->report.kind], arena, reason)
                : tell_reporter(app, letter, arena, reason);
        if (status == STATUS_UNAVAILABLE || status == STATUS_UNKNOWN || status == STATUS_CONFLICT)
            worst = status;
        else
            reports_told(app->reports, letter);
    }
    return worst;
}
