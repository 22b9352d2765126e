/* people.h -- people as those who run the site see them: who they are, what they may, what their accounts have in common. What somebody
 * votes for is not here. The operations are in people.c (reading) and people_changes.c. */
#pragma once

#include "operations/admin.h"

enum { PEOPLE_CELLS = 150, PEOPLE_ROWS = 50, PEOPLE_PAGES_MAX = 100, PEOPLE_POSITION_MAX = 1000 };

/* Ended by NULL. */
extern const Operation OPERATION_person_rights;

typedef struct PeopleQuery {
    Slice q; /* an address: exactly that one; else a part of a name */
    bool has_role, has_state;
    AccountRole role;
    AccountState state; /* without one: pending and confirmed */
    Slice position;
    bool all; /* not a page, but everybody */
} PeopleQuery;

typedef struct PersonLine {
    Account account;
    const char *roles[ROLE_COUNT], *denied[RIGHT_COUNT];
    size_t role_count, denied_count;
} PersonLine;

typedef struct PeopleView {
    PeopleQuery want;
    PersonLine *people;
    size_t count;
    Slice next, next_page; /* where it goes on, for programs and for people; empty: that was all */
    int64_t now_us;
} PeopleView;
MUST_USE Status people_view(Operations *ops, const PeopleQuery *want, Arena *arena,
                            PeopleView *ret_view);

typedef struct PersonSignal {
    uint64_t account;
    Slice name, tag;
    const char *reason;
    int64_t time_us;
} PersonSignal;

typedef struct PersonLogin {
    int64_t time_us;
    bool success;
} PersonLogin;

typedef struct PersonView {
    int64_t now_us;
    PersonLine line;
    Slice name;                 /* or what stands for one that is gone */
    bool may_roles, may_rights; /* what who looks may change */
    uint64_t sessions;
    int64_t seen_us; /* the newest session; 0: none */
    PersonLogin *logins;
    size_t login_count;
    PersonSignal *signals;
    size_t signal_count;
} PersonView;
MUST_USE Status person_view(Operations *ops, uint64_t id, const Actor *viewer, Arena *arena,
                            PersonView *ret_view);

/* "name", or "number 7" for an account that has none any more; empty for 0. */
Slice account_label(Operations *ops, uint64_t account, Arena *arena);

/* Whether the actor may set these rights on `of`: roles are for admins, who cannot take that role from themselves; who edits people takes
 * rights of those who are no admins. Pure. */
MUST_USE Status person_rights_rule(const Actor *actor, const Account *of,
                                   const AccountRights *rights, Reason *reason);
