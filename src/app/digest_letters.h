/* digest_letters.h -- the letter about what happened to somebody's policies in a day or a week. */
#pragma once

#include "accounts/digests.h"
#include "app/app.h"

enum { DIGEST_ITEMS_MAX = 20 };

/* What letters are written with: the ranking at the beginning of a period, which many letters compare with. */
typedef struct DigestWriter DigestWriter;
DigestWriter *digest_writer_new(App *app);
void digest_writer_free(DigestWriter *writer);

/* For TasksOptions.digest_teller; `self` is a DigestWriter. Writes and queues the letter of the period for who wishes it, unless nothing happened, the
 * account cannot get it, or it was queued before (mail.h, promise 2). The same again is fine. */
MUST_USE Status app_send_digest(void *self, const DigestRequest *want, const DigestPeriod *period,
                                Reason *reason);
