/* interleaving_store.h -- a store before a real one, where something else can happen right before its n-th call.
 *
 * What one operation does while another one stands between two of its own calls is thereby tried at every point. It can also
 * lose all updates of one table: they are not done, and UNKNOWN. */
#pragma once

#include "store/engine.h"

typedef struct InterleavingStore {
    Store store; /* first: it is a Store */
    Store *real;
    int calls;
    int at; /* 0: never */
    void (*meanwhile)(void);
    const Table *lost; /* NULL: none */
} InterleavingStore;

void interleaving_store_init(InterleavingStore *interleaved, Store *real);
/* From now on, `meanwhile` runs before the n-th call. */
void interleaving_store_plan(InterleavingStore *interleaved, int at, void (*meanwhile)(void));
/* Whether that call has come. */
bool interleaving_store_struck(const InterleavingStore *interleaved);
