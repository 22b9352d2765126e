/* outcome.h -- what an error, or no answer, says about a call. Pure; the one table of it.
 *
 * The promise behind it: what may have been executed is UNKNOWN for a write and is not sent again; what surely was not is
 * UNAVAILABLE, INVALID, DENIED or LOGIN. A server may report any error of a conditional write after its proposal was accepted
 * somewhere, but for those by which it refuses the request itself (0x2xxx). */
#pragma once

#include "store/cql/client.h"

typedef enum OutcomeNext {
    OUTCOME_ANSWER, /* tell the caller */
    OUTCOME_REPEAT, /* nothing was changed: another node may know better; the status is for when none does */
    OUTCOME_PREPARE, /* prepare on this node and send it there again */
} OutcomeNext;

typedef struct Outcome {
    Status status;
    OutcomeNext next;
} Outcome;

/* For a code of ERROR. */
Outcome outcome_of_error(CqlKind kind, int32_t code);
/* For a connection that broke, fell silent, or answered nonsense after the request was sent. */
Outcome outcome_of_loss(CqlKind kind);
/* At the deadline; `sent`: a node has the request. */
MUST_USE Status outcome_at_deadline(CqlKind kind, bool sent);
