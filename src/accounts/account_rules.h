/* account_rules.h -- names, e-mails, passwords, roles and rights: the bounds and the folding, pure.
 *
 * A user name has 3 to 30 characters: letters and digits of one script, and - _ . between them; two names are the same when they
 * are equal after NFKC and case folding (utf8proc). An e-mail has at most 254 bytes, is trimmed and folded to lower case.
 * A password has 10 characters to 72 bytes. */
#pragma once

#include "base/arena.h"

/*    name, final */
#define ACCOUNT_STATE_LIST(X) \
    X(PENDING, "pending") X(CONFIRMED, "confirmed") X(VOID, "void") X(CLOSED, "closed")
typedef enum AccountState {
#define X(name, text) ACCOUNT_##name,
    ACCOUNT_STATE_LIST(X)
#undef X
} AccountState;

#define ACCOUNT_ROLE_LIST(X)                  \
    X(ADMIN, "admin")                         \
    X(EDIT_POLICIES, "edit_policies")         \
    X(EDIT_USERS, "edit_users")               \
    X(MODERATE_COMMENTS, "moderate_comments") \
    X(MODERATE_TAGS, "moderate_tags")         \
    X(MODERATE_POLICIES, "moderate_policies") \
    X(FEATURE, "feature")
typedef enum AccountRole {
#define X(name, text) ROLE_##name,
    ACCOUNT_ROLE_LIST(X)
#undef X
        ROLE_COUNT
} AccountRole;

/* What everybody may do unless it was taken from them. */
#define ACCOUNT_RIGHT_LIST(X) \
    X(LOG_IN, "log_in")       \
    X(VOTE, "vote") X(CREATE, "create") X(COMMENT, "comment") X(TAG, "tag") X(REPORT, "report")
typedef enum AccountRight {
#define X(name, text) RIGHT_##name,
    ACCOUNT_RIGHT_LIST(X)
#undef X
        RIGHT_COUNT
} AccountRight;

const char *account_state_text(AccountState state);
const char *account_role_text(AccountRole role);
MUST_USE Status account_role_from(Slice text, AccountRole *ret_role);
const char *account_right_text(AccountRight right);
MUST_USE Status account_right_from(Slice text, AccountRight *ret_right);

/* INVALID with the rule; OK with the form by which names are compared. */
MUST_USE Status account_fold_name(Slice name, Arena *arena, Slice *ret_folded, Reason *reason);
MUST_USE Status account_fold_email(Slice email, Arena *arena, Slice *ret_folded, Reason *reason);
MUST_USE Status account_check_password(Slice password, Reason *reason);
/* The e-mail without dots and plus-tags: a signal for duplicate accounts, never an identity. */
Slice account_email_signal(Slice folded_email, Arena *arena);
