/* personal.h -- what the site keeps of somebody, in parts: which operations show which of them (Operation.shows), and so who sees what.
 *
 * The page on privacy says for each part who sees it, and has it from the rows of the operations (privacy.h). A part that is somebody's
 * own is shown to no role: operations_check refuses such a row. A command can show it all the same, in the person's name; that is in the
 * audit log before it is done, and the person is told (operation.c). */
#pragma once

#include "base/arena.h"

/*    name, whether no role may see it, what it is, to the person, with a capital */
#define PERSONAL_LIST(X)                                                                   \
    X(NAME, false, "Your user name, beside the policies that you own")                     \
    X(EMAIL, false, "Your e-mail address")                                                 \
    X(LOGIN_TIMES, false, "When you joined, logged in and were last seen")                 \
    X(SIGNALS, false, "What your registration has in common with others")                  \
    X(REPORTS, false, "What you told the moderators")                                      \
    X(RIGHTS, false, "Your roles and rights, and why one was taken away or given back")    \
    X(VOTES, true, "What you hold on which policy, your balance, and when you changed it") \
    X(REAL_NAME, true, "Your real name, unless you have it shown beside your user name")   \
    X(LISTS, true, "What you watch and follow, your notices, and which e-mails you get")   \
    X(ORIGINS, true, "From which network addresses and with which programs you log in")    \
    X(ACCESS, true, "Your tokens, second factor and log-ins at other sites, without their secrets")
typedef enum Personal {
#define X(name, is_own, text) PERSONAL_##name,
    PERSONAL_LIST(X)
#undef X
        PERSONAL_PARTS
} Personal;

/* For Operation.shows. */
#define SHOWS(part) (UINT32_C(1) << PERSONAL_##part)
#define SHOWS_ALL   ((UINT32_C(1) << PERSONAL_PARTS) - 1)

typedef struct PersonalRow {
    bool is_own;
    const char *text;
} PersonalRow;
extern const PersonalRow PERSONAL_ROWS[PERSONAL_PARTS];
/* The parts, for a sentence: "a; b". */
Slice personal_words(uint32_t shows, Arena *arena);

/* For the help of inputs, which is fixed: what personal_seen_by says of an e-mail address (tests/operations compares them). */
#define EMAIL_SEEN_BY \
    "Seen by you, by people with the role admin or edit_users, and by those who run the server."
