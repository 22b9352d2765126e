/* report_moves.h -- taking, giving back and closing reports, each with its audit entry. Who may is checked by the caller's row. */
#pragma once

#include "operations/operation.h"

/* Who works off reports; trouble with logging in belongs to who manages people, too. */
enum { REPORT_ROLES = 1 << ROLE_MODERATE_POLICIES | 1 << ROLE_EDIT_USERS };
/* DENIED: it is about a policy, and the actor only manages people. */
MUST_USE Status report_admit(const Actor *actor, const Report *report, Reason *reason);

typedef struct ReportMoveRequest {
    uint64_t report;
    ReportState state;
    Slice reason; /* of a closing */
    bool all;     /* also the others about the same policy that nobody else has */
} ReportMoveRequest;

/* Statuses as of reports_move; the rule of a CONFLICT names who has it. *ret_report is set on OK and CONFLICT. A crash between the entry
 * and the move leaves an entry whose outcome is not known; the same request again is safe. */
MUST_USE Status report_move(Operations *ops, const Actor *actor, const ReportMoveRequest *request,
                            Arena *arena, Report *ret_report, Reason *reason);
/* The e-mails about what was just reported or moved; they are marked in the store, so that nothing is lost where this does not come to it. */
void report_tell(Operations *ops);
/* After an act that a report led to: closes it as acted upon, and the others about the same policy that nobody else has. Nothing for 0, and
 * for an actor who does not work on reports; one that cannot be closed stays in the queue. */
void report_acted(Operations *ops, const Actor *actor, uint64_t report, Slice reason, Arena *arena);
