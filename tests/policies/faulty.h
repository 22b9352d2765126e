/* faulty.h -- a store before a real one, whose n-th call goes wrong.
 *
 * Every call of the engine is counted. The call with the number `at` meets its fate; with `dies`, every later one is refused as
 * if the process had gone: then only what was done, or arrives late, remains. For n = 1, 2, 3 … until a run is through
 * without its n-th call, this tries a crash at every point. */
#pragma once

#include "store/engine.h"

/* Of a write; a read that goes wrong is refused in any case. */
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
    bool dies;
    _Atomic int calls;
    Update late;
    bool has_late;
} Faulty;

void faulty_init(Faulty *faulty, Store *real, Arena *arena);
/* From now on the n-th call goes wrong. */
void faulty_plan(Faulty *faulty, int at, FaultFate fate, bool dies);
/* Whether the planned call has come. */
bool faulty_struck(const Faulty *faulty);
/* What was late arrives, if its conditions still hold. */
void faulty_deliver(Faulty *faulty);
