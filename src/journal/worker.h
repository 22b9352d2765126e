/* worker.h -- a thread of the product that lives on a journal of its own.
 *
 *     JournalWorker *worker = journal_worker_new(journals, SLICE("site.mail"));
 *     journal_worker_put(worker, key, (JournalNext){date_ms, PRIORITY_NEW});      (from any thread)
 *     while (!ends) {
 *         status = journal_worker_claim(worker, wait_us, &work);        (from one thread at a time)
 *         if (status == STATUS_OK)
 *             journal_worker_end(worker, &work, do_it(journal_work_key(&work)));
 *         else if (status != STATUS_NOT_FOUND)
 *             look_for_work_in_the_store();
 *     }
 * The journal says what is to be done soon, and when. What is to be done at all is said by the store: so nobody waits for the disk of a
 * journal here, an entry that is lost costs time only, and a journal that cannot be used stops nothing.
 *   1. A claim sleeps until something is due, its time is over, an entry may have been lost, or journal_worker_call. Nothing polls.
 *   2. While work was found, priorities from PRIORITY_SLOW on are not asked for; they are when nothing else is left.
 *   3. Work that has a next date gets it as the successor of the entry, before that is ended. What was put while it ran merges with the
 *      successor, and a crash between the two steps repeats the work.
 *   4. What was claimed and not ended when the process ended is due again when the journals are opened.
 *   5. When a put or an end did not get there, claims wake up, and journal_worker_lost says so once: it is time to ask the store.
 *   6. When the clock was set back, all that waits is handed out once, for its date may mean nothing any more.
 * The journal has to be declared with `process = earliest`, so that a put can only make an entry due earlier, and `timeouts = none`.
 * Keys have at most JOURNAL_WORKER_KEY_MAX bytes. */
#pragma once

#include "journal/journal.h"

typedef struct JournalWorker JournalWorker;

enum { JOURNAL_WORKER_KEY_MAX = 64 };

/* What is to be done next with a key; `at_ms` JOURNAL_NEVER: nothing. */
typedef struct JournalNext {
    int64_t at_ms;
    uint32_t priority;
} JournalNext;

typedef struct JournalWork {
    JournalToken token;
    uint32_t priority;
    size_t key_size;
    char key[JOURNAL_WORKER_KEY_MAX];
} JournalWork;

static inline Slice journal_work_key(const JournalWork *work)
{
    return slice_of(work->key, work->key_size);
}

/* `journals` may be NULL: then every put is lost, and claims are UNAVAILABLE. The name is copied. */
JournalWorker *journal_worker_new(Journals *journals, Slice journal);
/* What is claimed goes back. No call may be under way. Before the journals are closed. NULL is fine. */
void journal_worker_free(JournalWorker *worker);

/* Does not wait, and cannot fail: see promise 5. */
void journal_worker_put(JournalWorker *worker, Slice key, JournalNext next);
/* NOT_FOUND: nothing was due, or it was woken. Anything else: the journal cannot be used now; it did not wait. */
MUST_USE Status journal_worker_claim(JournalWorker *worker, int64_t wait_us, JournalWork *ret_work);
/* Does not wait. */
void journal_worker_end(JournalWorker *worker, const JournalWork *work, JournalNext next);
/* What wakes a claim wakes it, too. For when the journal cannot be used. */
void journal_worker_sleep(JournalWorker *worker, int64_t us);
/* The next claim or sleep, or the one under way, ends. From any thread. */
void journal_worker_call(JournalWorker *worker);
/* Whether an entry may have been lost since this was last asked. */
bool journal_worker_lost(JournalWorker *worker);
/* Entries that wait, run or are held; 0 when the journal cannot be used. */
uint64_t journal_worker_waiting(JournalWorker *worker);
