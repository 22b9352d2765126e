/* people_appeals.h -- what somebody is told of a change of their rights, and their appeal against it. The operations are in people_appeals.c.
 *
 * An appeal is a report of its own kind, once for each change (accounts/rights_changes.h), made by whoever is logged in or has the link of the e-mail:
 * also by somebody who may not log in any more. Whoever made the change does not decide, where there is somebody else who can. */
#pragma once

#include "accounts/rights_changes.h"
#include "operations/operation.h"

enum { APPEAL_TOKEN_MAX = 200 };

typedef struct RightsView {
    Account account;
    RightsChange change; /* number 0: there was none */
    Slice words;         /* what was taken and given */
    bool has_lost;       /* some right is taken away */
    bool has_change, may_appeal;
    bool has_appealed; /* against this change: */
    Report appeal;
} RightsView;

/* Of whoever the token names, or without one of the actor. LOGIN: neither. NOT_FOUND, REFUSED: the link does not work. */
MUST_USE Status rights_view(Operations *ops, const Actor *actor, Slice token, Arena *arena,
                            RightsView *ret_view, Reason *reason);
/* Whether the actor may decide about a report: REFUSED for one's own appeal, and for an appeal against what one did oneself, as long as another moderator is
 * there. Others than dismissing may be done by whoever did it. */
MUST_USE Status appeal_check_judge(Operations *ops, const Actor *actor, const Report *report,
                                   ReportState wanted, Arena *arena, Reason *reason);
