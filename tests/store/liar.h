/* liar.h -- a store that stands before a real one and, on command, does not tell the truth about it.
 *
 * A network may lose the request, the answer, or deliver the request late; a replica that should answer a read may be away. A
 * script says, attempt by attempt, what becomes of an update_if, and whether the serial reads after it are answered. Calls
 * beyond the script are honest. Only what store_update may use is here; anything else is a bug of the test. */
#pragma once

#include "store/engine.h"

typedef enum Fate {
    FATE_HONEST, /* done as asked, answered as it was */
    FATE_LOST,   /* not done; UNKNOWN */
    FATE_DONE,   /* done, or refused; UNKNOWN */
    FATE_LATE, /* UNKNOWN, and carried out by liar_deliver, or before the attempt or read where the script says so */
    FATE_REFUSED, /* not done; UNAVAILABLE */
} Fate;

/* What happens at a moment between the calls of store_update. */
typedef enum Meanwhile {
    MEANWHILE_NOTHING,
    MEANWHILE_DELIVER, /* the late attempts arrive */
    MEANWHILE_RIVAL,   /* somebody else's update goes through, when its conditions hold */
} Meanwhile;

enum { LIAR_STEPS = 8, LIAR_READS = 16 };

typedef struct LiarStep {
    Meanwhile before;
    Fate fate;
} LiarStep;

typedef struct LiarRead {
    Meanwhile before;
    Status status; /* OK: honest */
} LiarRead;

typedef struct Liar {
    Store store; /* first: it is a Store */
    Store *real;
    LiarStep steps[LIAR_STEPS];
    LiarRead reads[LIAR_READS];
    int attempts, serial_reads; /* calls so far */
    const Update *late[LIAR_STEPS];
    int late_count;
    const Update *rival;
    Status rival_status; /* of the last time it went */
    Arena *arena;
} Liar;

/* Everything honest until the caller writes a script. `real` stays open and belongs to the caller. */
void liar_init(Liar *liar, Store *real, Arena *arena);
/* The late attempts arrive now, in order. */
void liar_deliver(Liar *liar);
