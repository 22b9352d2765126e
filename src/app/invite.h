/* invite.h -- inviting people, one or a whole list: the invitation first, then its letter.
 *
 * A crash between the two leaves an invitation without a letter; inviting the same address again finds the same invitation and queues the letter,
 * which is one letter however often it is queued within a week (mail.h, `once`). So a list that was cut off is sent again as a whole. */
#pragma once

#include "accounts/people_list.h"
#include "app/app.h"
#include "electorate/invitations.h"

typedef struct InviteHow {
    Slice site, home; /* what the site is called, and where it is */
    int64_t days;     /* 0: INVITATION_DAYS */
    uint64_t by;      /* who invites; 0: an operator */
    uint64_t most;    /* of a list: at most so many; 0: no bound */
} InviteHow;

typedef struct Invited {
    Invitation invitation;
    Slice link;
    bool is_new;  /* else it was open before */
    bool is_sent; /* else this site sends no letters, and the link is to be handed over */
} Invited;

/* Statuses as invitations_make and mail_send. */
MUST_USE Status app_invite(App *app, const InviteHow *how, Slice email, Arena *arena,
                           Invited *ret_invited, Reason *reason);
/* All of a list. A line that is broken, or whose address has an account, is reported and left out. REFUSED at once: this site sends no letters.
 * UNAVAILABLE, UNKNOWN: it stopped, and the same again goes on. `words` holds those of the report. */
MUST_USE Status app_invite_all(App *app, const InviteHow *how, PeopleList *list, Arena *words,
                               ListReport *report, Reason *reason);
