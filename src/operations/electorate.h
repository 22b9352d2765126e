/* electorate.h -- who may join: the rule, invitations, the roll, as every door shows them. The operations are in electorate.c, and those
 * with whole lists of people in people_lists.c. */
#pragma once

#include "app/invite.h"
#include "electorate/electorate.h"
#include "electorate/roll.h"
#include "operations/admin.h"

/* A list of 100,000 people is 5 MB, which a slow line sends in minutes, and takes some seconds here; a cluster may take longer. */
enum {
    ROLL_COUNTED = 200000,
    ROLL_BODY = 16 * 1024 * 1024,
    INVITES_AT_ONCE = 500,
    LIST_SECONDS = 600
};

extern const Operation OPERATION_electorate_rule, OPERATION_invite, OPERATION_invite_import,
    OPERATION_invite_withdraw, OPERATION_roll_import;

typedef struct ElectorateView {
    ElectorateMode mode;
    uint64_t version;
    Slice domains[ELECTORATE_DOMAINS_MAX];
    size_t domain_count;
    uint64_t roll;
    bool roll_is_more; /* it was not counted to its end */
} ElectorateView;
MUST_USE Status electorate_view(Operations *ops, Arena *arena, ElectorateView *ret_view);

typedef struct InvitationsQuery {
    Slice position;
    bool all; /* not a page, but every one */
} InvitationsQuery;

typedef struct InvitationsView {
    Invitation *invitations;
    size_t count;
    Slice next, next_page; /* where it goes on, for programs and for people; empty: that was all */
} InvitationsView;
MUST_USE Status invitations_view(Operations *ops, const InvitationsQuery *want, Arena *arena,
                                 InvitationsView *ret_view);

/* How invitations of this actor are made and signed. */
InviteHow how_to_invite(const Operations *ops, const Actor *actor, int64_t days);
