/* between.h -- a store before a real one that lets something happen between any two calls.
 *
 * While it is armed, `happen` runs before each call of whoever is tested; what it does itself goes straight through. So a test
 * runs through the interleavings of two parties at every call, in one thread, and the same way each time. A call can also be
 * refused. */
#pragma once

#include "store/engine.h"

typedef struct Between {
    Store store; /* first: it is a Store */
    Store *real;
    bool armed, inside;
    void (*happen)(void);
    bool refuses; /* reads are UNAVAILABLE */
} Between;

void between_init(Between *between, Store *real);
