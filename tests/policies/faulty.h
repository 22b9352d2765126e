/* faulty.h -- a store before a real one, whose n-th call goes wrong.
 *
 * Every call of the engine is counted. The call with the number `at` meets its fate, and `lasts` - 1 more go wrong after it:
 * none, as many as an outage has, or all, as if the process had gone: then only what was done, or arrives late, remains.
 * For n = 1, 2, 3 … until a run is through without its n-th call, this tries a fault at every point. */
#pragma once

#include "store/engine.h"

/* Of the first write that goes wrong; those after it are lost (or refused too), reads are refused in any case. */
typedef enum FaultFate {
    FAULT_REFUSED, /* not done: UNAVAILABLE */
    FAULT_LOST,    /* not done: UNKNOWN */
    FAULT_DONE,    /* done: UNKNOWN */
    FAULT_LATE,    /* UNKNOWN, and done by faulty_deliver */
    FAULT_FATES
} FaultFate;

typedef struct Faulty {
    Store store; /* first: it is a Store */
    Store *real;
    Arena *arena;
    int at; /* 0: never */
    FaultFate fate;
    int lasts;
    _Atomic int calls;
    Update late;
    bool has_late;
    int arrives_at;      /* what is late arrives before the call with this number; 0: when told */
    bool loses_plain;    /* plain writes are refused */
    uint64_t generation; /* grows when what was late arrives */
} Faulty;

void faulty_init(Faulty *faulty, Store *real, Arena *arena);
/* From now on the n-th call goes wrong. */
/* An outage is as long as all tries of one update, and no longer: it ends unknown, and what comes next works. */
enum { FAULT_ONCE = 1, FAULT_OUTAGE = 1 + 2 * 5, FAULT_FOREVER = 1 << 20 };
void faulty_plan(Faulty *faulty, int at, FaultFate fate, int lasts);
/* Whether the planned call has come. */
bool faulty_struck(const Faulty *faulty);
/* Honest from now on; what is late arrives before the n-th call from now, or for 0 when told. */
void faulty_arrive(Faulty *faulty, int at);
/* What was late arrives, if its conditions still hold. */
void faulty_deliver(Faulty *faulty);
