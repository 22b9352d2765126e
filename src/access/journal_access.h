/* journal_access.h -- who may put into a journal, claim from it, and administer it: the one rule for all doors.
 *
 * Admins administer every journal. Who puts and claims is what the declaration says (`put =`, `claim =`), and nobody else:
 *     admin       whoever has the role admin, and the command line; it is also what holds where nothing is said
 *     role:NAME   whoever has that role
 *     token:NAME  a personal token of that name which belongs to an admin: anybody may call a token as they like
 *     local       the command line, and what connects from this machine
 *     task        this process itself; no door
 *     any         everybody, without log-in
 *   1. A personal token whose scope is journals adds nothing to what its account may, and takes away all that it does not name.
 *   2. Roles that ask for a second factor count only where it was shown (the caller passes those that count).
 *   3. Whether a journal is there is said to everybody who may reach the door; what is in it is not. */
#pragma once

#include "access/tokens.h"
#include "journal/journal.h"

/*    right, word */
#define JOURNAL_RIGHT_LIST(X) X(PUT, "put") X(CLAIM, "claim") X(ADMIN, "admin")
typedef enum JournalRight {
#define X(name, word) JOURNAL_RIGHT_##name,
    JOURNAL_RIGHT_LIST(X)
#undef X
        JOURNAL_RIGHTS
} JournalRight;
extern const char *const JOURNAL_RIGHT_WORDS[];

typedef struct JournalActor {
    bool is_operator; /* the command line in its own name */
    bool is_local;    /* it, and what connects from this machine */
    uint32_t roles;   /* of the account, those that count */
    bool is_known;    /* there is an account */
    bool by_token;    /* with a personal token: */
    Slice token_name;
    bool is_limited; /* whose scope is journals */
    Slice token_journals;
} JournalActor;

/* Pure. LOGIN where a log-in could help, DENIED. */
MUST_USE Status journal_access_check(const JournalAccessList *list, Slice journal,
                                     JournalRight right, const JournalActor *actor, Reason *reason);
/* The same by the declaration in force. NOT_FOUND: no such journal. */
MUST_USE Status journal_access(Journals *journals, Slice journal, JournalRight right,
                               const JournalActor *actor, Reason *reason);

/* What a token may, as people write it, in the form in which it is stored: blanks between, none twice. INVALID names the part. Pure. */
MUST_USE Status journal_scopes_read(Slice text, Arena *arena, Slice *ret_scopes, Reason *reason);
