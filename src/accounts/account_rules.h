/* account_rules.h -- names, e-mails, passwords, roles and rights: the bounds and the folding, pure.
 *
 * A user name has 3 to 30 characters: letters and digits of one script, and - _ . between them; two names are the same when they
 * are equal after NFKC and case folding (utf8proc). An e-mail has at most 254 bytes, is trimmed and folded to lower case.
 * A password has 10 characters to 72 bytes.
 *   1. Folding what was folded gives the same again, and what was folded is itself a name (or an e-mail).
 *   2. What NFKC or case folding makes equal is one name: "Ａlice", "ALICE" and "alice"; the Turkish İ counts as i.
 *   3. A name mixes no scripts (accounts/unicode_scripts.h), except that 0 … 9 go with all of them and that Han, Hiragana and Katakana are one.
 * Not promised: that two names of different scripts do not look alike. */
#pragma once

#include "base/arena.h"
#include "base/words.h"

/*    name, text */
#define ACCOUNT_STATE_LIST(X) \
    X(PENDING, "pending") X(CONFIRMED, "confirmed") X(VOID, "void") X(CLOSED, "closed")
typedef enum AccountState {
#define X(name, text) ACCOUNT_##name,
    ACCOUNT_STATE_LIST(X)
#undef X
        ACCOUNT_STATE_COUNT
} AccountState;

/*    name, word for scripts, for people */
#define ACCOUNT_ROLE_LIST(X)                                       \
    X(ADMIN, "admin", "admin")                                     \
    X(EDIT_POLICIES, "edit_policies", "edit all policies")         \
    X(EDIT_USERS, "edit_users", "manage people")                   \
    X(MODERATE_COMMENTS, "moderate_comments", "moderate comments") \
    X(MODERATE_TAGS, "moderate_tags", "moderate tags")             \
    X(MODERATE_POLICIES, "moderate_policies", "moderate policies") \
    X(FEATURE, "feature", "choose featured policies")              \
    X(RESPOND, "respond", "answer officially")
typedef enum AccountRole {
#define X(name, word, text) ROLE_##name,
    ACCOUNT_ROLE_LIST(X)
#undef X
        ROLE_COUNT
} AccountRole;

/* What everybody may do unless it was taken from them.
 *    name, word for scripts, for people */
#define ACCOUNT_RIGHT_LIST(X)               \
    X(LOG_IN, "log_in", "log in")           \
    X(VOTE, "vote", "vote")                 \
    X(CREATE, "create", "propose policies") \
    X(COMMENT, "comment", "comment")        \
    X(TAG, "tag", "tag")                    \
    X(REPORT, "report", "report")
typedef enum AccountRight {
#define X(name, word, text) RIGHT_##name,
    ACCOUNT_RIGHT_LIST(X)
#undef X
        RIGHT_COUNT
} AccountRight;

enum {
    ACCOUNT_NAME_LEAST = 3, /* characters of the folded form */
    ACCOUNT_NAME_MAX = 30,
    ACCOUNT_NAME_BYTES = 360,   /* as written */
    ACCOUNT_EMAIL_BYTES = 254,  /* trimmed, and folded */
    ACCOUNT_REAL_NAME_MAX = 80, /* characters */
    ACCOUNT_PASSWORD_LEAST = 10,
    ACCOUNT_PASSWORD_BYTES = 72, /* bcrypt takes no more */
    ACCOUNT_ROLES_ALL = (1 << ROLE_COUNT) - 1,
    ACCOUNT_RIGHTS_ALL = (1 << RIGHT_COUNT) - 1,
};

extern const char *const ACCOUNT_STATE_WORDS[], *const ACCOUNT_ROLE_WORDS[],
                                                    *const ACCOUNT_RIGHT_WORDS[];
const char *account_state_text(AccountState state);
const char *account_role_text(AccountRole role);
/* For people: "manage people", "propose policies". */
const char *account_role_words(AccountRole role);
const char *account_right_words(AccountRight right);
/* "admin,feature" to bits; an empty text is none, blanks around a word do not count. INVALID names
 * `field`, the word, and those that there are. */
MUST_USE Status account_roles_from(Slice text, const char *field, uint32_t *ret_roles,
                                   Reason *reason);
MUST_USE Status account_rights_from(Slice text, const char *field, uint32_t *ret_rights,
                                    Reason *reason);
const char *account_right_text(AccountRight right);

/* INVALID with the rule; OK with the form by which names are compared. */
MUST_USE Status account_fold_name(Slice name, Arena *arena, Slice *ret_folded, Reason *reason);
/* A name that somebody wants to have from now on: as account_fold_name, and INVALID also when it looks like the name of a host, so that nobody is called
 * like a site that people would believe. Those who have such a name keep it. */
MUST_USE Status account_check_new_name(Slice name, Arena *arena, Slice *ret_folded, Reason *reason);
MUST_USE Status account_fold_email(Slice email, Arena *arena, Slice *ret_folded, Reason *reason);
MUST_USE Status account_check_password(Slice password, Reason *reason);
/* A real name, or any other line that people give: at most `most` characters, UTF-8 without control characters, not blank at the ends. */
MUST_USE Status account_check_line(const char *field, Slice text, size_t most, Reason *reason);
/* The e-mail without dots and plus-tags: a signal for duplicate accounts, never an identity. */
Slice account_email_signal(Slice folded_email, Arena *arena);
