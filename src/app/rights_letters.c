/* rights_letters.c -- see rights_letters.h. */
#include "app/rights_letters.h"

#include "accounts/rights_changes.h"
#include "mail/letters.h"

Status app_tell_rights(App *app, uint64_t id, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Account account;
    RightsChange change;
    MailMessage message;
    if (!mail_can_send(app->mail))
        return STATUS_OK;
    TRY(accounts_read(app->accounts, id, arena, &account));
    TRY(accounts_rights_change(app->accounts, id, arena, &change));
    if (change.number == 0 || account.state != ACCOUNT_CONFIRMED)
        return STATUS_OK;
    bool may_appeal = rights_may_appeal(&change, &account);
    Slice token = rights_token(app->accounts, id, change.number, arena);
    LetterFacts facts = {
        .site = slice_from(app->config->site_name),
        .home = slice_from(app->home),
        .name = account.name,
        .about = rights_change_words(&change, arena),
        .words = change.reason.size > 0 ? change.reason : SLICE("none was given"),
        .link = may_appeal ? arena_print(arena, "%s/appeal?token=%.*s", app->home, SLICE_ARG(token))
                           : slice_from(app->home)};
    TRY(letter_write(may_appeal ? LETTER_RIGHTS_TAKEN : LETTER_RIGHTS_GIVEN, &facts, arena,
                     &message, reason));
    message.to = account.email;
    message.once = arena_print(arena, "rights/%llu/%llu", (unsigned long long)id,
                               (unsigned long long)change.number);
    Status status = mail_send(app->mail, &message, reason);
    return status == STATUS_REFUSED ? STATUS_OK : status; /* an address that takes no more */
}
