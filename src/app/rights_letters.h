/* rights_letters.h -- the e-mail to somebody whose rights or roles were changed: what was taken or given back, why, and the link by which they appeal.
 *
 * It reads the change as it is stored (accounts/rights_changes.h) and queues what follows from it. The e-mail is named by the change
 * (MailMessage.once), so it is sent once, however often it is asked for within MAIL_REMEMBERED_S. A site without a mail server has nobody to
 * write to: then the notices say it. */
#pragma once

#include "app/app.h"

/* OK also when there is nothing to tell. */
MUST_USE Status app_tell_rights(App *app, uint64_t account, Reason *reason);
