/* sequence.h -- short 64-bit ids, handed out in blocks.
 *
 * A counter row in table `counters` says what comes next; an instance takes a block by a conditional update and hands out from
 * it without asking again. Promises: an id is handed out once, ever, by whatever instance; ids start at 1. Not promised: order
 * between instances, or that there are no gaps (a block dies with its process). Safe from any thread. */
#pragma once

#include "store/store.h"

typedef struct Sequence Sequence;

/* `name` is the counter's row, e.g. "policies"; `block` is how many ids are taken at once (1 … 4096). Nothing is read or written yet. */
Sequence *sequence_new(Store *store, World world, const char *name, uint32_t block);
void sequence_free(Sequence *sequence);
/* UNAVAILABLE or UNKNOWN: no block could be had; nothing is lost but perhaps a block. CORRUPT: the counter is not one. */
MUST_USE Status sequence_next(Sequence *sequence, uint64_t *ret_id);
