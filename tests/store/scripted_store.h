/* scripted_store.h -- a store that stands before a real one and, on command, does not tell the truth about it.
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
    FATE_LATE, /* UNKNOWN, and carried out by scripted_store_deliver, or before the attempt or read where the script says so */
    FATE_REFUSED, /* not done; UNAVAILABLE */
} Fate;

/* What happens at a moment between the calls of store_update. */
typedef enum Meanwhile {
    MEANWHILE_NOTHING,
    MEANWHILE_DELIVER, /* the late attempts arrive */
    MEANWHILE_RIVAL,   /* somebody else's update goes through, when its conditions hold */
} Meanwhile;

enum { SCRIPTED_STEPS = 8, SCRIPTED_READS = 16 };

typedef struct ScriptedStep {
    Meanwhile before;
    Fate fate;
} ScriptedStep;

typedef struct ScriptedRead {
    Meanwhile before;
    Status status; /* OK: honest */
} ScriptedRead;

typedef struct ScriptedStore {
    Store store; /* first: it is a Store */
    Store *real;
    ScriptedStep steps[SCRIPTED_STEPS];
    ScriptedRead reads[SCRIPTED_READS];
    int attempts, serial_reads; /* calls so far */
    const Update *late[SCRIPTED_STEPS];
    int late_count;
    const Update *rival;
    Status rival_status; /* of the last time it went */
    Arena *arena;
} ScriptedStore;

/* Everything honest until the caller writes a script. `real` stays open and belongs to the caller. */
void scripted_store_init(ScriptedStore *scripted, Store *real, Arena *arena);
/* The late attempts arrive now, in order. */
void scripted_store_deliver(ScriptedStore *scripted);
