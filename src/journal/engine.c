/* engine.c -- a group's two threads: one decides, one writes.
 *
 * The decider takes what callers hand in, looks at the clocks, decides request by request in memory, and serves those who wait. When the
 * committer rests it gets what has changed as one batch; what is decided meanwhile goes into the next, so that the more callers there
 * are, the fewer syncs each costs. The decider sleeps until a caller, the committer or a timer wakes it.
 *
 * Crash between any two steps: an answer that promises a durable change is given only after its batch is synced, and a batch is all there
 * or not at all. A failed append: all of the batch is UNKNOWN; what was decided on top of it was never written and is UNAVAILABLE; memory
 * is thrown away and loaded from the log again, by itself every `reopen_s`. Claims that wait go on waiting. */
#include "journal/engine.h"

#include <stdlib.h>

#include "base/threads.h"

enum { LAZY_SYNC_MS = 200, WAKE_AT = 64 };

void request_list_add(RequestList *list, JournalRequest *request)
{
    request->next = NULL;
    if (list->first == NULL)
        list->last = &list->first;
    *list->last = request;
    list->last = &request->next;
}

/* Puts and ends share the next sync anyway, so while one is on its way they do not wake the decider each. */
void group_hand_in(JournalGroup *group, JournalRequest *request)
{
    request->group = group;
    bool patient = request->call == JOURNAL_CALL_PUT ||
                   (request->call >= JOURNAL_CALL_DONE && request->call <= JOURNAL_CALL_REMOVE);
    pthread_mutex_lock(&group->lock);
    request_list_add(&group->queue, request);
    group->queued++;
    bool wake = group->sleeping && (!group->busy || !patient || group->queued >= WAKE_AT);
    if (wake)
        group->sleeping = false;
    pthread_mutex_unlock(&group->lock);
    if (wake)
        timer_call(&group->timer);
}

void group_answer_all(JournalGroup *group, RequestList *list, Status status)
{
    JournalRequest *request = list->first;
    list->first = NULL;
    while (request != NULL) {
        JournalRequest *next = request->next;
        if (status != STATUS_OK) {
            (void)reason_set(&request->reason, status, NULL, "%s",
                             status == STATUS_UNKNOWN
                                 ? "a write to the disk failed"
                                 : "the journal is read-only after a disk error");
            request->status = status;
            for (size_t i = 0; request->answers != NULL && i < request->count; i++)
                request->answers[i].status = status;
            for (size_t i = 0; request->steps != NULL && i < request->count; i++)
                request->steps[i].status = status;
        }
        group_answer(group, request);
        request = next;
    }
}

/* ---- The committer ----------------------------------------------------------------------------------------- */

static void call_alerts(const JournalGroup *group, Batch *batch, bool written)
{
    const JournalsOptions *options = &group->journals->options;
    for (size_t i = 0; i < batch->alerts.count; i++) {
        if (written && options->alert != NULL)
            options->alert(options->context, batch->alerts.items[i]);
        free(batch->alerts.items[i]);
    }
    batch->alerts.count = 0;
}

static Status write_batch(JournalGroup *group, Batch *batch, Reason *reason)
{
    JournalLog *log = group->book.log;
    if (batch->count == 0 && !batch->sync)
        return STATUS_OK;
    TRY(log->append(log, batch->changes, batch->count, batch->sync, reason));
    atomic_fetch_add(&group->commits, 1);
    atomic_fetch_add(&group->syncs, batch->sync);
    atomic_fetch_add(&group->written, batch->count);
    return STATUS_OK;
}

static int64_t count_requests(const RequestList *list)
{
    int64_t count = 0;
    for (const JournalRequest *request = list->first; request != NULL; request = request->next)
        count++;
    return count;
}

static void *committer(void *argument)
{
    JournalGroup *group = argument;
    pthread_mutex_lock(&group->lock);
    for (;;) {
        while (group->sent == NULL && !group->ended)
            pthread_cond_wait(&group->handed, &group->lock);
        Batch *batch = group->sent;
        if (batch == NULL)
            break;
        pthread_mutex_unlock(&group->lock);
        Reason reason = {0};
        Clock clock = group->book.world.clock;
        int64_t began_us = clock_steady_us(clock);
        Status status = write_batch(group, batch, &reason);
        int64_t took_us = clock_steady_us(clock) - began_us;
        call_alerts(group, batch, status == STATUS_OK);
        pthread_mutex_lock(&group->lock);
        histogram_add(&group->commit_spans, &JOURNAL_COMMITS, took_us);
        histogram_add(&group->commit_sizes, &JOURNAL_SIZES, count_requests(&batch->requests));
        group->sent = NULL;
        group->busy = false;
        group->failed = status != STATUS_OK;
        if (status != STATUS_OK)
            group->reason = reason;
        bool wake = group->sleeping;
        group->sleeping = false;
        RequestList answered = batch->requests;
        batch->requests.first = NULL;
        pthread_mutex_unlock(&group->lock);
        if (wake)
            timer_call(&group->timer);
        group_answer_all(group, &answered, status == STATUS_OK ? STATUS_OK : STATUS_UNKNOWN);
        pthread_mutex_lock(&group->lock);
    }
    pthread_mutex_unlock(&group->lock);
    return NULL;
}

/* ---- Batches ----------------------------------------------------------------------------------------------- */

static void recycle(Batch *batch)
{
    for (size_t i = 0; i < batch->bodies.count; i++)
        book_release_body(batch->bodies.items[i]);
    batch->bodies.count = 0;
    batch->changes = NULL;
    batch->count = 0;
    arena_reset(batch->arena);
}

/* The committer rests. */
static void send_open(JournalGroup *group, bool sync)
{
    Batch *batch = group->open;
    Book *book = &group->book;
    batch->sync = sync || book->must_sync;
    book_flush(book, batch->arena, &batch->bodies, &batch->changes, &batch->count);
    batch->sync &= batch->count > 0 || group->unsynced;
    Pointers alerts = batch->alerts;
    batch->alerts = book->alerts;
    book->alerts = (Pointers){0};
    pointers_free(&alerts);
    if (batch->sync)
        group->unsynced = false;
    else if (batch->count > 0 && !group->unsynced) {
        group->unsynced = true;
        group->unsynced_since_ms = book->now.boot_ms;
    }
    group->worked |= batch->count > 0;
    group->open = &group->batches[batch == &group->batches[0]];
    if (batch->count == 0 && !batch->sync) { /* nothing to wait for: it rests on what is written */
        call_alerts(group, batch, true);
        group_answer_all(group, &batch->requests, STATUS_OK);
        group->open = batch;
        return;
    }
    recycle(group->open);
    pthread_mutex_lock(&group->lock);
    group->sent = batch;
    group->busy = true;
    pthread_cond_signal(&group->handed);
    pthread_mutex_unlock(&group->lock);
}

static bool has_to_send(const JournalGroup *group)
{
    const Book *book = &group->book;
    return group->open->requests.first != NULL || book->dirty.count > 0 ||
           book->changed.count > 0 || book->leftover_count > 0 || book->alerts.count > 0;
}

/* ---- Failing and opening again ----------------------------------------------------------------------------- */

/* Until its failure has been looked at, nothing more is sent. */
static bool is_busy(JournalGroup *group)
{
    pthread_mutex_lock(&group->lock);
    bool busy = group->busy || group->failed;
    pthread_mutex_unlock(&group->lock);
    return busy;
}

static void turn_read_only(JournalGroup *group)
{
    group->read_only = true;
    atomic_fetch_add(&group->failures, 1);
    group->tried_ms = group->book.now.boot_ms;
    group_answer_all(group, &group->open->requests, STATUS_UNAVAILABLE);
    book_clear(&group->book);
    recycle(group->open);
}

Status group_reload(JournalGroup *group, Reason *reason)
{
    Book *book = &group->book;
    group->tried_ms = book->now.boot_ms;
    book_clear(book);
    Status status = book_load(book, reason);
    if (status == STATUS_OK)
        status = book_declare(book, book->declaration, reason);
    if (status != STATUS_OK) {
        book_clear(book);
        pthread_mutex_lock(&group->lock);
        group->reason = *reason;
        pthread_mutex_unlock(&group->lock);
        return status;
    }
    group->read_only = group->unsynced = false;
    atomic_fetch_add(&group->reopens, 1);
    for (size_t i = 0; i < book->names.capacity; i++)
        if (book->names.slots[i] != NULL)
            book_touch(book, book->names.slots[i]);
    return STATUS_OK;
}

static void rest(JournalGroup *group)
{
    for (bool busy = true; busy;) {
        pthread_mutex_lock(&group->lock);
        busy = group->sleeping = group->busy;
        pthread_mutex_unlock(&group->lock);
        if (busy)
            timer_sleep(&group->timer, JOURNAL_NEVER, JOURNAL_NEVER);
    }
}

static void look_at_failure(JournalGroup *group)
{
    pthread_mutex_lock(&group->lock);
    bool failed = group->failed;
    group->failed = false;
    pthread_mutex_unlock(&group->lock);
    if (failed)
        turn_read_only(group);
}

bool group_settle(JournalGroup *group)
{
    rest(group);
    look_at_failure(group);
    if (!group->read_only && (has_to_send(group) || group->unsynced)) {
        send_open(group, true);
        rest(group);
        look_at_failure(group);
    }
    return !group->read_only;
}

static void try_to_reopen(JournalGroup *group)
{
    Reason reason = {0};
    int64_t now_ms = clock_boot_us(group->book.world.clock) / US_PER_MS;
    if (!group->read_only)
        return;
    group->book.now.boot_ms = now_ms;
    if (now_ms - group->tried_ms >= group->journals->options.reopen_s * 1000)
        (void)!group_reload(group, &reason);
}

/* ---- The decider ------------------------------------------------------------------------------------------- */

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void sleep_until_needed(JournalGroup *group)
{
    const Book *book = &group->book;
    Now next = book_next_tick(book);
    const Journal *journal = heap_first(&group->wakes);
    const JournalWait *wait = heap_first(&group->waits);
    if (journal != NULL)
        next.wall_ms = least(next.wall_ms, journal->wake_ms);
    if (group->unsynced)
        next.boot_ms = least(next.boot_ms, group->unsynced_since_ms + LAZY_SYNC_MS);
    next.boot_ms = least(next.boot_ms, files_next_look_ms(group));
    if (group->read_only)
        next = (Now){JOURNAL_NEVER, group->tried_ms + group->journals->options.reopen_s * 1000};
    if (wait != NULL)
        next.boot_ms = least(next.boot_ms, wait->wake_ms);
    pthread_mutex_lock(&group->lock);
    bool sleep = group->queue.first == NULL && !group->stopping && !group->failed &&
                 (group->busy || !has_to_send(group));
    group->sleeping = sleep;
    pthread_mutex_unlock(&group->lock);
    if (sleep)
        timer_sleep(&group->timer, next.wall_ms, next.boot_ms);
    pthread_mutex_lock(&group->lock);
    group->sleeping = false;
    pthread_mutex_unlock(&group->lock);
}

static RequestList take_queue(JournalGroup *group)
{
    pthread_mutex_lock(&group->lock);
    RequestList taken = group->queue;
    group->queue.first = NULL;
    group->queued = 0;
    pthread_mutex_unlock(&group->lock);
    return taken;
}

static void turn(JournalGroup *group)
{
    Book *book = &group->book;
    look_at_failure(group);
    try_to_reopen(group);
    RequestList taken = take_queue(group);
    if (!group->read_only) {
        book_tick(book);
        waits_serve(group);
    }
    waits_end_late(group);
    for (JournalRequest *request = taken.first, *next; request != NULL; request = next) {
        next = request->next;
        journal_group_decide(group, request);
    }
    if (!group->read_only)
        waits_serve(group);
    if (group->read_only || is_busy(group))
        return;
    files_look(group, false);
    bool late = group->unsynced && book->now.boot_ms - group->unsynced_since_ms >= LAZY_SYNC_MS;
    if (!group->read_only && (has_to_send(group) || late))
        send_open(group, late);
}

static bool must_go_on(JournalGroup *group)
{
    pthread_mutex_lock(&group->lock);
    bool on = !group->stopping || group->queue.first != NULL;
    pthread_mutex_unlock(&group->lock);
    return on;
}

static void *decider(void *argument)
{
    JournalGroup *group = argument;
    while (must_go_on(group)) {
        turn(group);
        if (!group->book.again)
            sleep_until_needed(group);
    }
    rest(group);
    look_at_failure(group);
    waits_end_all(group);
    if (!group->read_only)
        waits_serve(group);
    (void)!group_settle(group);
    pthread_mutex_lock(&group->lock);
    group->ended = true;
    pthread_cond_signal(&group->handed);
    pthread_mutex_unlock(&group->lock);
    pthread_join(group->committer, NULL);
    return NULL;
}

/* ---- Both -------------------------------------------------------------------------------------------------- */

static void free_group(JournalGroup *group)
{
    for (size_t i = 0; i < 2; i++) {
        if (group->batches[i].arena != NULL)
            recycle(&group->batches[i]);
        arena_free(group->batches[i].arena);
        pointers_free(&group->batches[i].bodies);
        pointers_free(&group->batches[i].alerts);
    }
    book_free(&group->book);
    heap_free(&group->waits);
    heap_free(&group->wakes);
    pthread_mutex_destroy(&group->lock);
    pthread_cond_destroy(&group->handed);
    free(group->name);
    free(group);
}

Status group_open(Journals *journals, Slice name, size_t index, JournalLog *log,
                  const JournalDeclaration *declaration, JournalGroup **ret_group, Reason *reason)
{
    JournalGroup *group = calloc(1, sizeof *group);
    CHECK(group != NULL);
    group->journals = journals;
    group->index = index;
    group->name = strndup(name.data, name.size);
    CHECK(group->name != NULL);
    book_init(&group->book, journals->world, log, slice_of(group->name, name.size), index);
    group->book.cache_bytes = journals->options.cache_bytes;
    pthread_mutex_init(&group->lock, NULL);
    pthread_cond_init(&group->handed, NULL);
    for (size_t i = 0; i < 2; i++)
        group->batches[i].arena = arena_new();
    group->open = &group->batches[0];
    Status status = timer_open(&group->timer, journals->options.still, reason);
    if (status == STATUS_OK) {
        status = book_load(&group->book, reason);
        if (status == STATUS_OK)
            status = book_declare(&group->book, declaration, reason);
        if (status != STATUS_OK)
            timer_close(&group->timer);
    }
    if (status != STATUS_OK) {
        log->close(log);
        free_group(group);
        return status;
    }
    group->looked_ms = group->book.now.boot_ms;
    group->worked = true;
    group->committer = thread_start(THREAD_JOURNAL_COMMITTER, committer, group);
    group->decider = thread_start(THREAD_JOURNAL, decider, group);
    *ret_group = group;
    return STATUS_OK;
}

void group_close(JournalGroup *group)
{
    pthread_mutex_lock(&group->lock);
    group->stopping = true;
    pthread_mutex_unlock(&group->lock);
    timer_call(&group->timer);
    pthread_join(group->decider, NULL);
    timer_close(&group->timer);
    group->book.log->close(group->book.log);
    free_group(group);
}
