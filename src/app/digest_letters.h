/* digest_letters.h -- the letter about what happened to somebody's policies in a day or a week. */
#pragma once

#include "accounts/digests.h"
#include "app/app.h"

enum { DIGEST_ITEMS_MOST = 20 };

/* What letters are written with: the ranking at the beginning of a period, which many letters compare with. */
typedef struct DigestDesk DigestDesk;
DigestDesk *digest_desk_new(App *app);
void digest_desk_free(DigestDesk *desk);

/* For TasksOptions.digest_teller; `self` is a DigestDesk. Writes and queues the letter of the period for who wishes it, unless nothing happened, the
 * account cannot get it, or it was queued before (mail.h, promise 2). The same again is fine. */
MUST_USE Status app_send_digest(void *self, const DigestWish *wish, const DigestPeriod *period,
                                Reason *reason);
