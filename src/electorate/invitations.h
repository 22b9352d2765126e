/* invitations.h -- who was invited: one address, one link, one registration.
 *
 * An invitation belongs to an e-mail address, and its row is a keyed hash of it; the address itself is sealed. The secret of its link is made
 * from the row and the id of the write by the site's key, so the store has nothing that opens it, and the same link can be sent again.
 *   1. An address has at most one invitation. To invite it again while that is open gives the same one: letters are queued by their secret
 *      (mail.h, `once`), so that a list which was cut off in the middle can be sent again, and whoever had a letter gets no second within a week.
 *   2. It is over when it was used, withdrawn, or is too old; a new one has another secret. One whose registration was never confirmed,
 *      and so came to nothing, is open again.
 *   3. It admits a registration with its own address only, and addresses are unique: of two who use it at once, one gets in.
 *   4. invitations_peek changes nothing.
 *   5. Rows expire INVITATION_KEPT_DAYS after their end.
 * The list by time is a plain table beside it, written no later than the invitation. */
#pragma once

#include "accounts/accounts.h"

/*    state, word */
#define INVITATION_STATE_LIST(X) X(OPEN, "open") X(USED, "used") X(WITHDRAWN, "withdrawn")
typedef enum InvitationState {
#define X(name, word) INVITATION_##name,
    INVITATION_STATE_LIST(X)
#undef X
        INVITATION_STATES
} InvitationState;

enum {
    INVITATION_DAYS = 30,
    INVITATION_DAYS_MAX = 365,
    INVITATION_KEPT_DAYS = 30,
    INVITATIONS_LISTED = 100,
};

extern const char *const INVITATION_STATE_WORDS[];
const char *invitation_state_text(InvitationState state);

typedef struct Invitation {
    Slice email; /* as it was written */
    InvitationState state;
    int64_t made_us, ends_us;
    uint64_t by;      /* who invited; 0: an operator */
    uint64_t account; /* USED: who registered */
    Slice secret;     /* of its link, while it is open */
    Slice row, value; /* private */
} Invitation;

typedef struct NewInvitation {
    Slice email;
    int64_t days; /* 0: INVITATION_DAYS */
    uint64_t by;
} NewInvitation;

/* *ret_new says whether there was none that is open. INVALID names the rule; REFUSED, field `email`: somebody has an account with it. */
MUST_USE Status invitations_make(Accounts *accounts, const NewInvitation *want, Arena *arena,
                                 Invitation *ret_invitation, bool *ret_new, Reason *reason);
/* NOT_FOUND: there is no such invitation. REFUSED with the reason: used, withdrawn, too old. */
MUST_USE Status invitations_peek(Accounts *accounts, Slice secret, Arena *arena,
                                 Invitation *ret_invitation, Reason *reason);
/* OK also when it was over. NOT_FOUND: nobody invited that address. */
MUST_USE Status invitations_withdraw(Accounts *accounts, Slice email, Reason *reason);
/* Whose registration has been made. CONFLICT: it is not any more what it was. */
MUST_USE Status invitations_use(Accounts *accounts, const Invitation *invitation, uint64_t account);

/* The newest first, at most INVITATIONS_LISTED; `position` is empty or as it was returned. */
typedef struct InvitationPage {
    Invitation *invitations;
    size_t count;
    Slice position;
    bool more;
} InvitationPage;
MUST_USE Status invitations_list(Accounts *accounts, Slice position, Arena *arena,
                                 InvitationPage *ret_page);
