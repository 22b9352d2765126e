/* report_letters.c -- see report_letters.h. */
#include "app/report_letters.h"

#include "mail/letters.h"

enum { MODERATORS_MAX = 100 };

Status app_find_holders(App *app, AccountRole role, size_t most, Arena *arena, Account **ret_list,
                        size_t *ret_count)
{
    ARENA_SCOPE Arena *page = arena_new();
    Slice position = SLICE_EMPTY;
    size_t found = 0;
    Account *holders = ARENA_ARRAY(arena, most, Account);
    for (bool more = true; more;) {
        Account *list;
        size_t count;
        arena_reset(page);
        TRY(accounts_list(app->accounts, position, page, &list, &count, &position, &more));
        position = arena_copy(arena, position);
        for (size_t i = 0; i < count && found < most; i++)
            if (list[i].state == ACCOUNT_CONFIRMED && (list[i].roles & 1u << role) != 0)
                holders[found++] = (Account){.id = list[i].id,
                                             .name = arena_copy(arena, list[i].name),
                                             .email = arena_copy(arena, list[i].email)};
    }
    *ret_list = holders;
    *ret_count = found;
    return STATUS_OK;
}

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

/* What may succeed later stays marked; what never will does not. */
Status app_tell_reports(void *self, Reason *reason)
{
    App *app = self;
    ARENA_SCOPE Arena *arena = arena_new();
    ReportLetter *letters;
    Account *moderators = NULL;
    size_t count, moderator_count = 0;
    Status worst = STATUS_OK;
    TRY(reports_letters(app->reports, arena, &letters, &count));
    for (size_t i = 0; i < count; i++) {
        Status status = STATUS_OK;
        if (letters[i].kind == REPORT_LETTER_NEW) {
            if (moderators == NULL)
                TRY(app_find_holders(app, ROLE_MODERATE_POLICIES, MODERATORS_MAX, arena,
                                     &moderators, &moderator_count));
            for (size_t k = 0; k < moderator_count && status == STATUS_OK; k++)
                status = write_to(app, &letters[i], LETTER_REPORT, &moderators[k], arena, reason);
        } else {
            status = tell_reporter(app, &letters[i], arena, reason);
        }
        if (status == STATUS_UNAVAILABLE || status == STATUS_UNKNOWN || status == STATUS_CONFLICT)
            worst = status;
        else
            reports_told(app->reports, &letters[i]);
    }
    return worst;
}
