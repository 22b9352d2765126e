/* mail_state.h -- e-mails that wait or have failed, and addresses that get only what they must, as every door shows them. The operations are in
 * mail_state.c. */
#pragma once

#include "mail/suppress.h"
#include "operations/operation.h"

typedef struct MailQueue {
    int64_t now_us;
    MailEntry *entries; /* waiting, failed, then those of a demo's outbox; each newest first */
    size_t count;
    MailEntry *failed; /* among them */
    size_t failed_count, waiting_count;
    Suppressed *suppressed;
    size_t suppressed_count;
    bool can_send;
} MailQueue;
MUST_USE Status mail_queue(Operations *ops, Arena *arena, MailQueue *ret_queue);
