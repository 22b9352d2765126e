/* report_letters.h -- e-mails about reports: to moderators that there is one, to those who reported what came of it.
 *
 * What waits is marked in the store, durable no later than the report or its move (reports_letters), so a crash loses none. The task
 * `report-letters` writes them; the operations that make and move reports have it run at once. An e-mail is named by report, occasion
 * and reader (MailMessage.once), so what a crash repeats, or two instances do at once, is sent once. */
#pragma once

#include "app/app.h"

/* For TasksOptions.report_teller, with the app as `self`. OK: nothing waits any more. Otherwise the rest stays marked for the next time. */
MUST_USE Status app_tell_reports(void *self, Reason *reason);

/* Id, name and e-mail of those who have a role, at most so many. All accounts are looked at: a site has few of them and no list, and what they
 * are written about is rare. */
MUST_USE Status app_find_holders(App *app, AccountRole role, size_t most, Arena *arena,
                                 Account **ret_list, size_t *ret_count);
