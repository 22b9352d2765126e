/* report_letters.h -- e-mails about reports: to those who work them off that there is one, to those who reported what came of it.
 *
 * Reports about policies go to moderate_policies, trouble with logging in to edit_users; where nobody has the role, to the admins.
 *
 * What waits is marked in the store, durable no later than the report or its move (reports_letters), so a crash loses none. The task
 * `report-letters` writes them; the operations that make and move reports have it run at once. An e-mail is named by report, occasion
 * and reader (MailMessage.once), so what a crash repeats, or two instances do at once, is sent once. */
#pragma once

#include "app/app.h"

/* For TasksOptions.report_teller, with the app as `self`. OK: nothing waits any more. Otherwise the rest stays marked for the next time. */
MUST_USE Status app_tell_reports(void *self, Reason *reason);
