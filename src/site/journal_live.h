/* journal_live.h -- LISTEN: a program is told by server-sent events when something has become due in a journal, and claims then.
 *
 * An event is {"journal", "count", "priority", "next_at"}: how many are due (counted up to a bound), the priority of the first, and when the next
 * is due where none is. One comes at once, and then whenever something becomes due after nothing was. It is a hint to everybody who listens; only a
 * claim hands out. */
#pragma once

#include "site/site.h"

typedef struct JournalLive JournalLive;

JournalLive *journal_live_new(Site *site);
/* Closes all streams; after the server has stopped, while the journals are open. */
void journal_live_stop(JournalLive *live);
void journal_live_free(JournalLive *live);
