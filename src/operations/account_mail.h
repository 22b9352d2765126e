/* account_mail.h -- e-mails to people about their own account. */
#pragma once

#include "access/credentials.h"
#include "mail/letters.h"
#include "operations/operation.h"

/* Writes the e-mail and queues it: the mail's secret becomes the link `path`?token=…; without a secret the link is the path alone. */
MUST_USE Status account_mail(Operations *ops, LetterKind kind, const LinkMail *mail,
                             const char *path, Arena *arena, Reason *reason);
/* The same to the actor, about something that was done: a courtesy, whose failure changes nothing. */
void account_mail_actor(Operations *ops, const Actor *actor, LetterKind kind, const char *path,
                        Arena *arena);
