/* copies.h -- copies of what the store says, kept in memory for readers that may see it a little late.
 *
 *     Copy copy;
 *     if (!copies_find(copies, key, arena, &copy)) {
 *         TRY(… read it …);
 *         copy.bytes = …;
 *         copies_put(copies, key, &copy);
 *     }
 * and whoever writes calls copies_forget after the write, whatever it answered. Who knows what stands there then may put that, with one more
 * than the ticket from before the write. Promises:
 *   1. What copies_find gives was asked of the store less than `valid_us` ago.
 *   2. After copies_forget has returned, copies_find gives nothing that was asked for before the call: what a slow reader brings later is
 *      dropped. So in the process that writes, a write counts at once; a write of another process counts after `valid_us`, and so does
 *      one whose outcome is unknown and that lands later.
 *   3. At most 2^bits copies of at most COPY_MOST bytes each, key included; a larger one is not kept. Of keys that meet in one place the
 *      youngest stay.
 * All calls may come from any thread. */
#pragma once

#include "base/arena.h"
#include "base/world.h"

typedef struct Copies Copies;

enum { COPY_MOST = 1024 };

/* What was found; or, when nothing was, what admits the bytes that are read from now on. */
typedef struct Copy {
    Slice bytes;
    uint64_t ticket;
    int64_t asked_us; /* of the steady clock */
} Copy;

/* valid_us 0: nothing is kept. COPIES_EXACT: for as long as there is room, where this process alone writes, and keys hold the store's
 * generation (store_generation): what is found is then what stands in the store. */
#define COPIES_EXACT INT64_MAX
Copies *copies_new(Clock clock, unsigned bits, int64_t valid_us);
void copies_free(Copies *copies);
/* The bytes are copied into the arena, aligned for any type. */
bool copies_find(Copies *copies, Slice key, Arena *arena, Copy *ret_copy);
void copies_put(Copies *copies, Slice key, const Copy *copy);
void copies_forget(Copies *copies, Slice key);
