/* roll.h -- the roll: addresses of people who may join, imported, and kept as keyed hashes only.
 *
 * Who has the data alone cannot read an address out of the roll, nor try one; who has the site can ask about one address at a time. The name
 * that a line may have is kept as a hash, too: it can be compared, and not be shown.
 *   1. An import can be repeated: a line that is there already changes nothing. When one was cut off by a crash, UNKNOWN or UNAVAILABLE, the
 *      same import again completes it; what went in before stays.
 *   2. Memory is bounded whatever the size of the file: pieces are read, ROLL_CHUNK lines are hashed and written, and forgotten.
 *   3. A broken line is left out and reported with its number and what is wrong; the others go in.
 *   4. Taking addresses off the roll, or clearing it, touches no account. */
#pragma once

#include "accounts/accounts.h"
#include "accounts/people_list.h"

enum { ROLL_BATCH = 500, ROLL_BATCHES = 8, ROLL_CHUNK = ROLL_BATCH * ROLL_BATCHES };

typedef enum RollEdit { ROLL_ADD, ROLL_REMOVE } RollEdit;

/* The report counts what was surely written, also when it fails. Its words live in the arena. */
MUST_USE Status roll_change(Accounts *accounts, RollEdit act, PeopleList *list, Arena *arena,
                            ListReport *report, Reason *reason);
/* Removes everybody; to be repeated after a failure. */
MUST_USE Status roll_clear(Accounts *accounts, uint64_t *ret_removed);
/* Counts up to `most` (a roll can be long). */
MUST_USE Status roll_count(Accounts *accounts, uint64_t most, uint64_t *ret_count);

typedef struct RollEntry {
    bool listed;
    bool has_name; /* the line had one */
    bool
        name_fits; /* and it is the one that was asked about, but for case and blanks at the ends */
} RollEntry;
/* INVALID: it is no address. */
MUST_USE Status roll_find(Accounts *accounts, Slice email, Slice name, Arena *arena,
                          RollEntry *ret_entry, Reason *reason);
