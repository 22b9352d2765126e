/* policy_letters.h -- e-mails about one policy: to those who answer, when it waits for its official answer; to its owner, when it was hidden.
 *
 * Both are for TasksOptions, with the app as `self`. They read what is so now and queue what follows from it. An e-mail is named by what it
 * is about (MailMessage.once), so each person gets it once, however often and by however many instances it is asked for within
 * MAIL_REMEMBERED_S. A site without a mail server has nobody to write to: then the policy's page and the notices say it. */
#pragma once

#include "app/app.h"

/* To everybody with the role `respond`, else to the admins. */
MUST_USE Status app_tell_answer_due(void *self, uint64_t policy, Reason *reason);
/* To the owner, when the policy is waiting for its deletion by somebody else's act. The operation that hides it calls this; the task
 * `letters` does again, in case a crash came between. */
MUST_USE Status app_tell_hidden(void *self, uint64_t policy, Reason *reason);
