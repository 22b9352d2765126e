/* doubtful_store.h -- a store before a real one that, when told so, does not say whether something was saved.
 *
 * In doubt, the answer to every conditional update of a table (of voters: a save of votes; of policies: an edit or a move) is UNKNOWN, though it was done (DOUBT_DONE) or not
 * (DOUBT_LOST), and that table cannot be read: so nobody can find out. Everything else is the real store's.
 * Or it goes wholly dark (DOUBT_DARK) behind the n-th change that somebody asked for (any but notes, tables.h): that is done and answered, and
 * from then on every call is UNAVAILABLE. */
#pragma once

#include <stdatomic.h>

#include "store/engine.h"

typedef enum DoubtMode { DOUBT_NONE, DOUBT_LOST, DOUBT_DONE, DOUBT_DARK } DoubtMode;

typedef struct DoubtfulStore {
    Store store; /* first: it is a Store */
    Store *real;
    _Atomic int mode;
    const Table *_Atomic table;
    _Atomic bool
        begun; /* an update was struck: from then on the table cannot be read; or all is dark */
    _Atomic int changes_left; /* until it is dark */
} DoubtfulStore;

void doubtful_store_init(DoubtfulStore *doubt, Store *real);
void doubtful_store_set(DoubtfulStore *doubt, DoubtMode mode, const Table *table);
/* Dark behind so many changes. */
void doubtful_store_darken(DoubtfulStore *doubt, int changes);
bool doubtful_store_is_dark(const DoubtfulStore *doubt);
