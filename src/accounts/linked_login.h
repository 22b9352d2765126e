/* linked_login.h -- a log-in at another site that belongs to an account: what is known of it, and its bounds. */
#pragma once

#include "accounts/accounts.h"

enum {
    LINKED_LOGINS_MAX = 10,
    LINKED_LOGIN_PROVIDER_BYTES = 32,
    LINKED_LOGIN_SUBJECT_BYTES = 255,
    LINKED_LOGIN_LABEL_BYTES = 254,
    LINKED_LOGIN_WISH_S = 86400,
};

typedef struct LinkedLogin {
    Id id; /* names it; no secret */
    Slice provider, subject, label;
    int64_t made_us;
} LinkedLogin;
