/* in_name.c -- see in_name.h. The entry comes first: without it nothing is done, shown or sent. The e-mail is a courtesy beside the notice,
 * and its failure changes nothing. A crash in between leaves an entry, and so a notice, of something that may not have happened; it says so. */
#include "operations/in_name.h"

#include "mail/letters.h"

bool in_name_may(const Operation *operation)
{
    bool shows_own = operation->shows != 0 && operation_is_own(operation);
    return operation->audits == 0 && (!operation->asks || shows_own);
}

bool in_name_is(const OperationCall *call)
{
    const Actor *actor = call->actor;
    return actor->is_operator && actor->account != NULL && in_name_may(call->operation);
}

/* Whoever runs commands cannot answer for an address that was never confirmed. */
static void mail_person(Operations *ops, const OperationCall *call, Slice why, Id entry,
                        Arena *arena)
{
    const Account *account = call->actor->account;
    MailMessage letter;
    LetterFacts facts = {.site = slice_from(ops->config->site_name),
                         .home = slice_from(ops->app->home),
                         .name = account->name,
                         .about = personal_words(call->operation->shows, arena),
                         .words = why,
                         .link = arena_print(arena, "%s/my/notices", ops->app->home)};
    if (account->state != ACCOUNT_CONFIRMED ||
        letter_write(LETTER_LOOKED_AT, &facts, arena, &letter, NULL) != STATUS_OK)
        return;
    letter.to = account->email;
    letter.once = id_text(entry, arena);
    (void)!mail_send(ops->app->mail, &letter, &(Reason){0});
}

Status in_name_begin(Operations *ops, const OperationCall *call, Arena *arena, Id *ret_id,
                     Reason *reason)
{
    const Operation *row = call->operation;
    const Account *account = call->actor->account;
    Actor clerk = {.door = DOOR_COMMAND, .is_operator = true, .origin = call->actor->origin};
    Slice why = call->actor->why.size > 0 ? call->actor->why : SLICE("no reason given");
    AuditAct act = {.kind = row->asks ? AUDIT_PERSON_READ : AUDIT_PERSON_AS,
                    .object = account->id,
                    .reason = why,
                    .details = slice_from(row->command.words)};
    TRY(operation_audit(ops, &clerk, &act, ret_id, reason));
    operations_notify(ops, CHANGE_NOTICES, account->id);
    if (row->shows != 0)
        mail_person(ops, call, why, *ret_id, arena);
    return STATUS_OK;
}
