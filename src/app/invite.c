/* invite.c -- see invite.h. */
#include "app/invite.h"

#include "mail/letters.h"

Status app_invite(App *app, const InviteHow *how, Slice email, Arena *arena, Invited *ret_invited,
                  Reason *reason)
{
    Invited invited = {.is_sent = mail_can_send(app->mail)};
    NewInvitation want = {.email = email, .days = how->days, .by = how->by};
    TRY(invitations_make(app->accounts, &want, arena, &invited.invitation, &invited.is_new,
                         reason));
    invited.link = arena_print(arena, "%.*s/invitation?token=%.*s", SLICE_ARG(how->home),
                               SLICE_ARG(invited.invitation.secret));
    if (invited.is_sent) {
        MailMessage letter;
        const Invitation *invitation = &invited.invitation;
        int64_t days = (invitation->ends_us - invitation->made_us) / (S_PER_DAY * US_PER_S);
        LetterFacts facts = {.site = how->site,
                             .home = how->home,
                             .name = SLICE_EMPTY,
                             .link = invited.link,
                             .valid_s = days * S_PER_DAY};
        TRY(letter_write(LETTER_INVITATION, &facts, arena, &letter, reason));
        letter.to = invitation->email;
        letter.once = invitation->secret;
        TRY(mail_send(app->mail, &letter, reason));
    }
    *ret_invited = invited;
    return STATUS_OK;
}

/* One line; what concerns it alone goes into the report. */
static Status invite_line(App *app, const InviteHow *how, const ListedPerson *person, Arena *words,
                          ListReport *report, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Invited invited;
    Reason why = {.rule = ""};
    if (person->fault != NULL) {
        list_report_fault(report, person->line, person->fault, words);
        return STATUS_OK;
    }
    if (how->most > 0 && report->good >= how->most) {
        list_report_fault(report, person->line, "too many at once; send the same list again",
                          words);
        return STATUS_OK;
    }
    Status status = app_invite(app, how, person->email, arena, &invited, &why);
    if (status == STATUS_OK) {
        report->good++;
        report->again += !invited.is_new;
    } else if (status == STATUS_INVALID || status == STATUS_REFUSED) {
        list_report_fault(report, person->line, why.rule, words);
    } else {
        return reason_set(reason, status, "", "it stopped at line %llu: %s; the same again goes on",
                          (unsigned long long)person->line, status_text(status));
    }
    return STATUS_OK;
}

Status app_invite_all(App *app, const InviteHow *how, PeopleList *list, Arena *words,
                      ListReport *report, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    if (!mail_can_send(app->mail))
        return reason_set(reason, STATUS_REFUSED, "", "this site sends no letters (smtp_url)");
    for (;;) {
        ListedPerson person;
        arena_reset(arena);
        Status status = people_list_next(list, arena, &person, reason);
        if (status == STATUS_NOT_FOUND)
            return STATUS_OK;
        TRY(status);
        report->lines++;
        TRY(invite_line(app, how, &person, words, report, reason));
    }
}
