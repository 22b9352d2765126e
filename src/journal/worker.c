/* worker.c -- see worker.h. Puts and ends are handed in and forgotten: the decider takes requests in the order in which they came, so a put
 * before an end, and both before the claim that follows. */
#include "journal/worker.h"

#include "journal/engine.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { STEP_MS = 1000 };

struct JournalWorker {
    Journals *journals;
    JournalOwner *owner;
    Slice journal;
    char name[JOURNAL_NAME_MAX];
    int wake;    /* an eventfd */
    bool worked; /* the last claim found something */
    _Atomic bool answered, lost, called;
    _Atomic int64_t seen_ms; /* the latest date that was seen since the last claim */
    pthread_mutex_t lock;    /* guards what follows */
    pthread_cond_t idle;
    unsigned under_way; /* puts and ends */
};

/* A put or an end. */
typedef struct Sent {
    JournalRequest request;
    JournalWorker *worker;
    JournalPut put;
    JournalAnswer answer;
    JournalStep step;
    char key[JOURNAL_WORKER_KEY_MAX];
} Sent;

JournalWorker *journal_worker_new(Journals *journals, Slice journal)
{
    JournalWorker *worker = calloc(1, sizeof *worker);
    CHECK(worker != NULL && journal.size <= sizeof worker->name);
    memcpy(worker->name, journal.data, journal.size);
    worker->journal = slice_of(worker->name, journal.size);
    worker->journals = journals;
    worker->owner = journals != NULL ? journal_owner_new(journals) : NULL;
    worker->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    CHECK(worker->wake >= 0 && pthread_mutex_init(&worker->lock, NULL) == 0 &&
          pthread_cond_init(&worker->idle, NULL) == 0);
    return worker;
}

void journal_worker_free(JournalWorker *worker)
{
    if (worker == NULL)
        return;
    pthread_mutex_lock(&worker->lock);
    while (worker->under_way > 0)
        pthread_cond_wait(&worker->idle, &worker->lock);
    pthread_mutex_unlock(&worker->lock);
    if (worker->owner != NULL)
        journal_owner_end(worker->owner);
    pthread_cond_destroy(&worker->idle);
    pthread_mutex_destroy(&worker->lock);
    close(worker->wake);
    free(worker);
}

/* ---- Sleeping ---------------------------------------------------------------------------------------------- */

static void wake_up(const JournalWorker *worker)
{
    uint64_t one = 1;
    ssize_t wrote = write(worker->wake, &one, sizeof one);
    CHECK(wrote == sizeof one || errno == EAGAIN); /* it has been woken often enough */
}

/* `ms` below 0: until it is woken. What it was woken for is in the flags. */
static void await(const JournalWorker *worker, int ms)
{
    struct pollfd set = {worker->wake, POLLIN, 0};
    uint64_t count;
    if (poll(&set, 1, ms) < 0)
        CHECK(errno == EINTR);
    CHECK(read(worker->wake, &count, sizeof count) == sizeof count || errno == EAGAIN);
}

static int whole_ms(int64_t us)
{
    int64_t ms = us / US_PER_MS + (us % US_PER_MS > 0);
    return ms < 0 ? 0 : ms < INT_MAX ? (int)ms : INT_MAX;
}

void journal_worker_sleep(JournalWorker *worker, int64_t us)
{
    if (us > 0 && !atomic_exchange(&worker->called, false)) {
        await(worker, whole_ms(us));
        atomic_store(&worker->called, false);
    }
}

void journal_worker_call(JournalWorker *worker)
{
    atomic_store(&worker->called, true);
    wake_up(worker);
}

bool journal_worker_lost(JournalWorker *worker)
{
    return atomic_exchange(&worker->lost, false);
}

/* ---- Puts and ends ----------------------------------------------------------------------------------------- */

static void forget(JournalRequest *request)
{
    Sent *sent = request->context;
    JournalWorker *worker = sent->worker;
    if (request->status != STATUS_OK) {
        atomic_store(&worker->lost, true);
        journal_worker_call(worker);
    }
    free(sent);
    pthread_mutex_lock(&worker->lock);
    if (--worker->under_way == 0)
        pthread_cond_signal(&worker->idle);
    pthread_mutex_unlock(&worker->lock);
}

static Sent *sent_new(JournalWorker *worker, JournalCall call)
{
    Sent *sent = calloc(1, sizeof *sent);
    CHECK(sent != NULL);
    sent->worker = worker;
    sent->request = (JournalRequest){.call = call, .count = 1, .finish = forget, .context = sent};
    pthread_mutex_lock(&worker->lock);
    worker->under_way++;
    pthread_mutex_unlock(&worker->lock);
    return sent;
}

static int64_t now_ms(const JournalWorker *worker)
{
    return clock_now_us(worker->journals->world.clock) / US_PER_MS;
}

void journal_worker_put(JournalWorker *worker, Slice key, JournalNext next)
{
    CHECK(key.size <= JOURNAL_WORKER_KEY_MAX);
    if (worker->journals == NULL) {
        atomic_store(&worker->lost, true);
        journal_worker_call(worker);
        return;
    }
    if (now_ms(worker) > atomic_load(&worker->seen_ms))
        atomic_store(&worker->seen_ms, now_ms(worker));
    Sent *sent = sent_new(worker, JOURNAL_CALL_PUT);
    memcpy(sent->key, key.data, key.size);
    sent->put = (JournalPut){.journal = worker->journal,
                             .key = slice_of(sent->key, key.size),
                             .data = SLICE_EMPTY,
                             .wanted_ms = next.at_ms,
                             .priority = next.priority,
                             .has_priority = true,
                             .lazy = true};
    sent->request.puts = &sent->put;
    sent->request.answers = &sent->answer;
    journal_submit(worker->journals, &sent->request);
}

void journal_worker_end(JournalWorker *worker, const JournalWork *work, JournalNext next)
{
    if (next.at_ms != JOURNAL_NEVER)
        journal_worker_put(worker, journal_work_key(work), next);
    Sent *sent = sent_new(worker, JOURNAL_CALL_DONE);
    sent->step = (JournalStep){.token = work->token};
    sent->request.steps = &sent->step;
    journal_submit(worker->journals, &sent->request);
}

/* ---- Claims ------------------------------------------------------------------------------------------------ */

static void answer(JournalRequest *request)
{
    JournalWorker *worker = request->context;
    atomic_store(&worker->answered, true);
    wake_up(worker);
}

/* Whoever has been called does not wait for something to become due. */
static void wait_for(JournalWorker *worker, JournalRequest *request)
{
    atomic_store(&worker->answered, false);
    journal_submit(worker->journals, request);
    while (!atomic_load(&worker->answered) && !atomic_load(&worker->called))
        await(worker, -1);
    if (!atomic_load(&worker->answered))
        journal_cancel(worker->journals, request);
    while (!atomic_load(&worker->answered))
        await(worker, -1);
}

static Status claim(JournalWorker *worker, uint32_t most, int64_t wait_us, JournalWork *ret_work)
{
    ARENA_SCOPE Arena *arena = arena_new();
    JournalRequest request = {.call = JOURNAL_CALL_CLAIM,
                              .claim = {.journals = &worker->journal,
                                        .journal_count = 1,
                                        .max_priority = most,
                                        .wait_ms = whole_ms(wait_us),
                                        .owner = worker->owner},
                              .arena = arena,
                              .finish = answer,
                              .context = worker};
    wait_for(worker, &request);
    TRY(request.status);
    if (request.claims.count == 0)
        return STATUS_NOT_FOUND;
    const JournalClaimed *claimed = request.claims.entries;
    CHECK(claimed->key.size <= JOURNAL_WORKER_KEY_MAX);
    *ret_work = (JournalWork){
        .token = claimed->token, .priority = claimed->priority, .key_size = claimed->key.size};
    memcpy(ret_work->key, claimed->key.data, claimed->key.size);
    return STATUS_OK;
}

/* What was dated by a clock that was set back since is looked at, rather than waiting for the time that the clock had. */
static void follow_clock(JournalWorker *worker)
{
    int64_t seen_ms = atomic_exchange(&worker->seen_ms, now_ms(worker));
    uint64_t kicked = JOURNAL_MANY_MAX;
    Reason reason;
    while (seen_ms > now_ms(worker) + STEP_MS && kicked == JOURNAL_MANY_MAX)
        if (journal_kick_some(worker->journals, worker->journal, JOURNAL_MANY_MAX, &kicked,
                              &reason) != STATUS_OK)
            return;
}

Status journal_worker_claim(JournalWorker *worker, int64_t wait_us, JournalWork *ret_work)
{
    Status status = STATUS_NOT_FOUND;
    if (worker->journals == NULL)
        return STATUS_UNAVAILABLE;
    follow_clock(worker);
    if (worker->worked)
        status = claim(worker, PRIORITY_SLOW - 1, 0, ret_work);
    if (status == STATUS_NOT_FOUND)
        status = claim(worker, UINT32_MAX, wait_us, ret_work);
    worker->worked = status == STATUS_OK;
    atomic_store(&worker->called, false);
    return status;
}

uint64_t journal_worker_waiting(JournalWorker *worker)
{
    JournalStats stats;
    Reason reason;
    if (worker->journals == NULL ||
        journal_stats(worker->journals, worker->journal, &stats, &reason) != STATUS_OK)
        return 0;
    return stats.waiting + stats.processing + stats.held;
}
