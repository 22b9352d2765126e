/* saves.h -- voters at full speed on the real ledger, and what must be true of them after the process was cut off.
 *
 * `saves make` builds a site, `saves run` saves with many threads and keeps, outside the disk that fails, a record of every
 * answer: one line, written before the thread's next request. `saves check` starts the site again, lets it catch up and compares
 * (numbers as in votes.h):
 *   1. P4: what was told as saved is in the chain, at its place, with its version and token. What was told as not saved is not in
 *      it: no entry has that token.
 *   2. P3: a head that somebody saw is in the chain.
 *   3. P5: a form that is sent again is the same save.
 * That chains, balances, counts and rankings fit together is for `ostraka verify` to say, which the loops run after it. */
#pragma once

#include "app/app.h"
#include "base/ids.h"

enum { SAVES_VOTERS = 1000, SAVES_POLICIES = 24, SAVES_THREADS_MAX = 64 };

/* The ledger's tables with the smallest write buffer, so that short runs flush and compact. */
MUST_USE Status saves_open(const char *directory, bool bulk, Store **ret_store, Reason *reason);

typedef enum SavesTold {
    SAVES_YES = 'Y',  /* saved: voter, seq, version, token */
    SAVES_NO = 'N',   /* stale or refused: voter, token */
    SAVES_SEEN = 'S', /* a head: voter, seq, version */
} SavesTold;

typedef struct SavesRecord {
    SavesTold told;
    uint64_t voter, seq;
    Id version, token;
} SavesRecord;

/* One write(2) of one line, so that lines of several threads do not mix. */
void saves_record(int fd, const SavesRecord *record);
/* All whole lines of the file, by voter; a line that a kill has torn is left out. From malloc. */
SavesRecord *saves_records(const char *path, size_t *ret_count);

/* Prints each finding; returns how many. */
size_t saves_check(App *app, const SavesRecord *records, size_t count);
