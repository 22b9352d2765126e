/* account_mail.c -- see account_mail.h. */
#include "operations/account_mail.h"

/* How long the link of an e-mail lives, from the table of links. */
static int64_t valid_s(LetterKind kind)
{
    static const int64_t LIVES[] = {
#define X(name, column, life_s, epoch) [LINK_##name] = (life_s),
        LINK_KIND_LIST(X)
#undef X
    };
    if (kind == LETTER_CONFIRM)
        return LIVES[LINK_CONFIRM];
    if (kind == LETTER_RESET)
        return LIVES[LINK_RESET];
    if (kind == LETTER_EMAIL_CHANGED)
        return LIVES[LINK_BACK];
    return kind == LETTER_NEW_EMAIL ? LIVES[LINK_EMAIL] : 0;
}

Status account_mail(Operations *ops, LetterKind kind, const LinkMail *mail, const char *path,
                    Arena *arena, Reason *reason)
{
    World world = ops->app->world;
    MailMessage letter;
    LetterFacts facts = {.site = slice_from(ops->config->site_name),
                         .home = slice_from(ops->app->home),
                         .name = mail->name,
                         .link = arena_print(arena, "%s%s%s%.*s", ops->app->home, path,
                                             mail->secret.size > 0 ? "?token=" : "",
                                             SLICE_ARG(mail->secret)),
                         .valid_s = valid_s(kind)};
    TRY(letter_write(kind, &facts, arena, &letter, reason));
    letter.to = mail->email;
    letter.once =
        mail->secret.size > 0 ? mail->secret : id_text(id_new(world.clock, world.random), arena);
    return mail_send(ops->app->mail, &letter, reason);
}

void account_mail_actor(Operations *ops, const Actor *actor, LetterKind kind, const char *path,
                        Arena *arena)
{
    const Account *account = actor->account;
    LinkMail mail = {.account = account->id, .name = account->name, .email = account->email};
    (void)!account_mail(ops, kind, &mail, path, arena, &(Reason){0});
}
