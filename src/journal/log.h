/* log.h -- where a group of journals keeps what it must not lose: batches of changes, in order, each all or nothing.
 *
 * The engine knows no files. rocksdb_log.h is the log in files; tests and the simulator pass one in memory; a log on several machines would
 * hand the batches on, as they are, before it says that they are kept. Keys are
 *     D id     an entry's header (stored.h)
 *     B id     its key and data, written once
 *     M name   a journal's pause and counters
 *     R number a set of rules that entries were made under
 * ids and numbers in 8 and 4 big-endian bytes. Keys and values live in a *generation*, a set of files that can go as a whole; the engine
 * says in which, by a slot. D and B of an entry are in one generation; M and R are in the newest, and `advance` takes them along.
 *   1. append puts all changes of a batch or none, per generation; batches become durable in their order. With `sync`, it and all before it
 *      are durable when OK is returned. Of several generations in one batch the newest is written first.
 *   2. After a failed append nothing more is appended until `start` has opened the log again.
 *   3. read and bytes may run while an append does; nothing else may.
 *   4. start counts the epoch on, durably, before it returns: no two starts have the same. ids never gives the same numbers twice.
 * After a crash between the parts of a batch of several generations an entry may be there twice (the newer one counts) and a P beside a W of
 * its key; the engine puts both right when it loads. */
#pragma once

#include "base/arena.h"
#include "journal/declaration.h"

enum { JOURNAL_SLOTS = 8, JOURNAL_HASH_KEY = 16 };

typedef struct JournalChange {
    Slice key;
    Slice value;
    uint8_t slot;
    bool removed;
} JournalChange;

typedef struct JournalStart {
    uint32_t epoch;
    unsigned char hash_key[JOURNAL_HASH_KEY]; /* the same for as long as the log lives */
    uint8_t newest;                           /* slot */
} JournalStart;

/* CORRUPT or another failure ends the walk and becomes its result. */
typedef Status JournalVisit(void *context, uint8_t slot, Slice key, Slice value, Reason *reason);

typedef struct JournalLog JournalLog;
struct JournalLog {
    MUST_USE Status (*start)(JournalLog *log, JournalStart *ret_start, Reason *reason);
    /* All keys that begin with this letter, the oldest generation first. */
    MUST_USE Status (*load)(JournalLog *log, char kind, JournalVisit *visit, void *context,
                            Reason *reason);
    MUST_USE Status (*append)(JournalLog *log, const JournalChange *changes, size_t count,
                              bool sync, Reason *reason);
    /* NOT_FOUND when it is not there. */
    MUST_USE Status (*read)(JournalLog *log, uint8_t slot, Slice key, Arena *arena,
                            Slice *ret_value, Reason *reason);
    /* A block of ids that nobody else gets: first … end - 1. */
    MUST_USE Status (*ids)(JournalLog *log, uint64_t *ret_first, uint64_t *ret_end, Reason *reason);
    /* What the generation takes on disk, and when it was made (wall clock). */
    uint64_t (*bytes)(JournalLog *log, uint8_t slot, int64_t *ret_made_ms);
    /* Opens another generation with these changes in it, which is then the newest. */
    MUST_USE Status (*advance)(JournalLog *log, const JournalFiles *files,
                               const JournalChange *changes, size_t count, uint8_t *ret_slot,
                               Reason *reason);
    /* Removes a generation that nothing lives in, which is not the newest. */
    MUST_USE Status (*drop)(JournalLog *log, uint8_t slot, Reason *reason);
    /* Gives back the space of what was removed, in a thread of its own. */
    void (*compact)(JournalLog *log, uint8_t slot);
    /* The oldest first, the newest last. */
    size_t (*slots)(JournalLog *log, uint8_t ret_slots[JOURNAL_SLOTS]);
    /* Whether there is room for more puts. */
    bool (*has_room)(JournalLog *log);
    void (*close)(JournalLog *log);
};
