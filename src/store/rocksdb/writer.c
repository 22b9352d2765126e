/* writer.c -- two threads decide and write for all.
 *
 * Callers put a request, which lives on their stack, into the queue and sleep. The writer takes all that is there and decides it
 * request by request (decide.h). The committer writes what was decided as one RocksDB batch with one sync, and wakes everybody. While it
 * does, the writer decides the next group of what comes in meanwhile: there are two groups, one open and one sent. The more callers,
 * the fewer syncs each.
 *
 * Crash between any two steps: nothing is visible or acknowledged before the batch is synced, and RocksDB applies a batch
 * whole or not at all. A failed write or sync: all of the group is UNKNOWN, since the log may hold it or not; the store
 * turns read-only at once, so that nothing is decided on ground that may move, and opens again later. The group that was decided on
 * top of it is never written: UNAVAILABLE. */
#include "store/rocksdb/decide.h"

#include <stdlib.h>
#include <time.h>

#include "base/threads.h"

enum { LAZY_SYNC_MS = 200 };
enum { CACHE_BYTES_A_KNOWN = 1024 }; /* known cells take up to a sixth of the cache's size */
enum { WORTH_WAKING = 8 }; /* updates, while the committer is busy: waking up costs, too */

typedef struct Writer {
    Rocks *rocks;
    pthread_t committer;
    WriterCache writer_cache;
    WriterGroup groups[2];
    WriterGroup *open; /* is being decided */
    rocksdb_writebatch_t *batch;
    /* With the queue's lock, as is rocks->busy: */
    WriterGroup *sent;         /* to the committer; NULL when it has ended */
    bool ended;                /* the committer shall end */
    pthread_cond_t handed;     /* sent, or ended */
    bool unsynced;             /* lazy writes of earlier groups are not durable yet */
    int64_t unsynced_since_us; /* of the steady clock: the oldest of them */
} Writer;

/* ---- The callers' side ----------------------------------------------------------------------------------- */

Status rocks_write_many(Store *store, const Batch *batches, size_t count, Status *ret_statuses)
{
    Request request = {.kind = REQUEST_WRITE,
                       .batches = batches,
                       .batch_count = count,
                       .batch_statuses = ret_statuses};
    queue_hand_in(rocks_of(store), &request);
    return STATUS_OK;
}

Status rocks_update_if(Store *store, const Update *update, Arena *arena, Found *ret_found)
{
    Status status;
    Request request = {.kind = REQUEST_UPDATE,
                       .updates = update,
                       .update_count = 1,
                       .update_statuses = &status,
                       .arena = arena,
                       .found = ret_found};
    queue_hand_in(rocks_of(store), &request);
    return status;
}

Status rocks_update_many(Store *store, const Update *updates, size_t count, Arena *arena,
                         Status *ret_statuses)
{
    Request request = {.kind = REQUEST_UPDATE,
                       .updates = updates,
                       .update_count = count,
                       .update_statuses = ret_statuses,
                       .arena = arena};
    queue_hand_in(rocks_of(store), &request);
    return STATUS_OK;
}

Status rocks_reopen(Store *store, Reason *reason)
{
    Request request = {.kind = REQUEST_REOPEN, .reason = reason};
    queue_hand_in(rocks_of(store), &request);
    return request.reopened;
}

/* ---- Writing --------------------------------------------------------------------------------------------- */

static size_t fill_batch(Writer *writer, const WriterGroup *group)
{
    size_t changed = 0;
    rocksdb_writebatch_clear(writer->batch);
    log_marks_put(&writer->rocks->marks, writer->batch);
    for (size_t i = 0; i < group->overlay.count; i++) {
        const OverlayCell *entry = &group->overlay.cells[i];
        if (!entry->changed)
            continue;
        changed++;
        if (!entry->present) {
            rocksdb_writebatch_delete(writer->batch, entry->key.data, entry->key.size);
            continue;
        }
        char header[STORED_HEADER_MAX];
        const char *keys[] = {entry->key.data}, *values[] = {header, entry->cell.data.data};
        size_t key_sizes[] = {entry->key.size};
        size_t value_sizes[] = {codec_header(header, &entry->cell), entry->cell.data.size};
        rocksdb_writebatch_putv(writer->batch, 1, keys, key_sizes, 2, values, value_sizes);
    }
    return changed;
}

static void turn_read_only(Rocks *rocks, const Reason *reason)
{
    pthread_mutex_lock(&rocks->queue_lock);
    rocks->reason = *reason;
    rocks->read_only_since_us = clock_now_us(rocks->world.clock);
    pthread_mutex_unlock(&rocks->queue_lock);
    atomic_store(&rocks->read_only, true);
    atomic_fetch_add(&rocks->failures, 1);
}

/* The batch, if anything changed, and the sync, if there is anything to sync. */
static Status write_batch(Writer *writer, size_t changed, bool must_sync, bool unsynced)
{
    Rocks *rocks = writer->rocks;
    char *error = NULL;
    if (changed > 0)
        rocksdb_write(rocks->db, must_sync ? rocks->write_synced : rocks->write_lazy, writer->batch,
                      &error);
    else if (must_sync && unsynced)
        rocksdb_flush_wal(rocks->db, 1, &error); /* an OK may rest on a lazy write */
    if (error != NULL) {
        Reason reason;
        (void)!rocks_error(error, rocks->db_path, &reason);
        turn_read_only(rocks, &reason);
        return STATUS_UNKNOWN;
    }
    if (changed > 0 || (must_sync && unsynced))
        log_marks_wrote(&rocks->marks, rocks->directory, rocks->world.disk, rocks->db, changed,
                        must_sync);
    if (must_sync && (changed > 0 || unsynced))
        atomic_fetch_add_explicit(&rocks->syncs, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&rocks->cells_written, changed, memory_order_relaxed);
    return STATUS_OK;
}

/* How long the oldest lazy write may still wait for its sync. */
static int64_t lazy_left_ms(const Writer *writer)
{
    int64_t waited_us = clock_steady_us(writer->rocks->world.clock) - writer->unsynced_since_us;
    int64_t left_ms = LAZY_SYNC_MS - waited_us / US_PER_MS;
    return left_ms > 0 ? left_ms : 0;
}

/* Only the committer changes `unsynced`, and a reopen when the committer rests. */
static Status commit(Writer *writer, WriterGroup *group)
{
    Rocks *rocks = writer->rocks;
    if (group->undecided || atomic_load(&rocks->read_only))
        return STATUS_UNAVAILABLE;
    /* Steady lazy traffic leaves no pause in which to sync, so now and then a lazy group pays for it. */
    bool must_sync = group->must_sync || (writer->unsynced && lazy_left_ms(writer) == 0);
    must_sync &= !rocks->bulk;
    size_t changed = fill_batch(writer, group);
    TRY(write_batch(writer, changed, must_sync, writer->unsynced));
    if (changed > 0 && !must_sync && !writer->unsynced)
        writer->unsynced_since_us = clock_steady_us(rocks->world.clock);
    if (changed > 0 || must_sync)
        writer->unsynced = !must_sync;
    return STATUS_OK;
}

/* A group's fate over what was decided: a failed commit makes everything that rested on it unknown, "conflict" too,
 * because the cell in the way may be one of this very group. */
static void settle(Rocks *rocks, const Piece *piece, Status fate)
{
    const Request *request = piece->request;
    Status *statuses =
        request->kind == REQUEST_UPDATE ? request->update_statuses : request->batch_statuses;
    for (size_t i = piece->from; i < piece->to; i++) {
        if (fate != STATUS_OK)
            statuses[i] = fate;
        else if (statuses[i] == STATUS_CONFLICT)
            atomic_fetch_add_explicit(&rocks->conflicts, 1, memory_order_relaxed);
    }
    queue_piece_done(piece);
}

static void end_group(Writer *writer, WriterGroup *group)
{
    Rocks *rocks = writer->rocks;
    Status fate = commit(writer, group);
    if (fate == STATUS_OK)
        read_hints_end(&rocks->read_hints);
    atomic_fetch_add_explicit(&rocks->groups, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&rocks->requests, group->pieces.count, memory_order_relaxed);
    for (size_t i = 0; i < group->pieces.count; i++)
        settle(rocks, &group->pieces.items[i], fate);
}

static void wait_ms(Rocks *rocks, pthread_cond_t *what, int64_t ms)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += ms / 1000;
    until.tv_nsec += ms % 1000 * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    pthread_cond_timedwait(what, &rocks->queue_lock, &until);
}

/* ---- The committer ----------------------------------------------------------------------------------------- */

static void sync_lazy(Writer *writer)
{
    if (!atomic_load(&writer->rocks->read_only) && write_batch(writer, 0, true, true) == STATUS_OK)
        writer->unsynced = false;
}

/* Sleeps until a group was sent, or lazy writes have waited long enough, or the end. Locked. */
static void await_group(Writer *writer)
{
    Rocks *rocks = writer->rocks;
    while (writer->sent == NULL && !writer->ended) {
        bool lazy = writer->unsynced && !rocks->bulk && !atomic_load(&rocks->read_only);
        if (lazy && lazy_left_ms(writer) == 0 && !rocks->busy)
            return;
        if (lazy && !rocks->busy)
            wait_ms(rocks, &writer->handed, lazy_left_ms(writer));
        else
            pthread_cond_wait(&writer->handed, &rocks->queue_lock);
    }
}

static void *committer(void *argument)
{
    Writer *writer = argument;
    Rocks *rocks = writer->rocks;
    pthread_mutex_lock(&rocks->queue_lock);
    for (bool end = false; !end;) {
        await_group(writer);
        WriterGroup *group = writer->sent;
        end = group == NULL && writer->ended;
        rocks->busy = true;
        pthread_mutex_unlock(&rocks->queue_lock);
        if (group != NULL)
            end_group(writer, group);
        else if (writer->unsynced)
            sync_lazy(writer);
        pthread_mutex_lock(&rocks->queue_lock);
        writer->sent = NULL;
        rocks->busy = false;
        pthread_cond_signal(&rocks->queue_filled);
    }
    pthread_mutex_unlock(&rocks->queue_lock);
    return NULL;
}

/* ---- The writer -------------------------------------------------------------------------------------------- */

/* Locked, and the committer rests: the open group goes to it, and the one that has ended is the next to be filled. */
static void send_open(Writer *writer)
{
    WriterGroup *group = writer->open;
    writer->sent = group;
    writer->rocks->busy = true;
    pthread_cond_signal(&writer->handed);
    pthread_mutex_unlock(&writer->rocks->queue_lock);
    group_remember(group);
    writer->open = &writer->groups[group == &writer->groups[0]];
    group_clear(writer->open);
    writer->open->sent = &group->overlay;
    pthread_mutex_lock(&writer->rocks->queue_lock);
}

/* Locked: until the committer rests, with nothing left to send. */
static void await_rest(Writer *writer)
{
    while (writer->rocks->busy || writer->open->pieces.count > 0) {
        if (!writer->rocks->busy)
            send_open(writer);
        else
            pthread_cond_wait(&writer->rocks->queue_filled, &writer->rocks->queue_lock);
    }
}

/* Opening again drops and replaces the database, so nothing else is under way. Locked. */
static void reopen(Writer *writer, Request *request)
{
    Rocks *rocks = writer->rocks;
    Reason reason = {0};
    await_rest(writer);
    rocks->busy = true;
    bool was_read_only = atomic_load(&rocks->read_only);
    pthread_mutex_unlock(&rocks->queue_lock);
    Status status = rocks_open_again(rocks, &reason);
    writer_cache_clear(&writer->writer_cache);
    read_hints_clear(&rocks->read_hints);
    pthread_mutex_lock(&rocks->queue_lock);
    rocks->busy = false;
    pthread_cond_signal(&writer->handed); /* it may have lazy writes to sync */
    writer->open->sent = NULL;
    if (status == STATUS_OK && was_read_only)
        writer->unsynced = false; /* opening has made files of the log */
    if (request == NULL)
        return;
    request->reopened = status;
    if (request->reason != NULL)
        *request->reason = reason;
    sem_post(&request->answered);
}

/* Is there something to take? While the committer is busy, a few requests wait until there are more. Locked. */
static bool worth_taking(const Writer *writer)
{
    const Rocks *rocks = writer->rocks;
    if (!queue_has_work_for(rocks, &writer->open->pieces))
        return false;
    return !rocks->busy || rocks->queued >= WORTH_WAKING || rocks->lazy_queue.first != NULL;
}

/* Sleeps until there is something to take or to send, the end, or the time to try to open again. Locked. */
static void await_work(Writer *writer)
{
    Rocks *rocks = writer->rocks;
    while (!worth_taking(writer) && (rocks->busy || writer->open->pieces.count == 0)) {
        if (!rocks->busy && rocks->stopping)
            return;
        rocks->wanted = rocks->busy ? WORTH_WAKING : 1;
        if (atomic_load(&rocks->read_only) && !rocks->busy) {
            wait_ms(rocks, &rocks->queue_filled, rocks->reopen_s * 1000);
            return;
        }
        pthread_cond_wait(&rocks->queue_filled, &rocks->queue_lock);
    }
}

/* One step: take and decide, or send. Locked. */
static void step(Writer *writer)
{
    Rocks *rocks = writer->rocks;
    if (queue_has_work_for(rocks, &writer->open->pieces)) {
        Request *alone = queue_take(rocks, &writer->open->pieces);
        if (alone != NULL) {
            reopen(writer, alone);
            return;
        }
        if (!rocks->busy)
            writer->open->sent = NULL; /* the database has it */
        pthread_mutex_unlock(&rocks->queue_lock);
        group_decide(writer->open);
        pthread_mutex_lock(&rocks->queue_lock);
    }
    if (!rocks->busy && writer->open->pieces.count > 0)
        send_open(writer);
}

static void *run(void *argument)
{
    Writer *writer = argument;
    Rocks *rocks = writer->rocks;
    int64_t tried_us = clock_steady_us(rocks->world.clock);
    pthread_mutex_lock(&rocks->queue_lock);
    for (;;) {
        await_work(writer);
        if (rocks->stopping && !rocks->busy && !queue_has_work(rocks) &&
            writer->open->pieces.count == 0)
            break;
        step(writer);
        int64_t now_us = clock_steady_us(rocks->world.clock);
        if (!atomic_load(&rocks->read_only))
            tried_us = now_us;
        else if (!rocks->stopping && now_us - tried_us >= rocks->reopen_s * US_PER_S) {
            reopen(writer, NULL);
            tried_us = now_us;
        }
    }
    writer->ended = true;
    pthread_cond_signal(&writer->handed);
    pthread_mutex_unlock(&rocks->queue_lock);
    pthread_join(writer->committer, NULL);
    return NULL;
}

/* ---- Both -------------------------------------------------------------------------------------------------- */

static void init_cond(pthread_cond_t *cond)
{
    pthread_condattr_t steady;
    pthread_condattr_init(&steady);
    pthread_condattr_setclock(&steady, CLOCK_MONOTONIC);
    pthread_cond_init(cond, &steady);
    pthread_condattr_destroy(&steady);
}

void rocks_writer_start(Rocks *rocks)
{
    Writer *writer = calloc(1, sizeof *writer);
    CHECK(writer != NULL);
    writer->rocks = rocks;
    writer->batch = rocksdb_writebatch_create();
    writer->open = &writer->groups[0];
    writer_cache_init(&writer->writer_cache,
                      rocksdb_cache_get_capacity(rocks->cache) / CACHE_BYTES_A_KNOWN);
    group_init(&writer->groups[0], rocks, &writer->writer_cache);
    group_init(&writer->groups[1], rocks, &writer->writer_cache);
    init_cond(&writer->handed);
    init_cond(&rocks->queue_filled);
    pthread_mutex_init(&rocks->queue_lock, NULL);
    rocks->queue.last = &rocks->queue.first;
    rocks->lazy_queue.last = &rocks->lazy_queue.first;
    rocks->writer = writer;
    writer->committer = thread_start(THREAD_STORE_COMMITTER, committer, writer);
    rocks->writer_thread = thread_start(THREAD_STORE_WRITER, run, writer);
}

void rocks_writer_stop(Rocks *rocks)
{
    Writer *writer = rocks->writer;
    pthread_mutex_lock(&rocks->queue_lock);
    rocks->stopping = true;
    pthread_cond_signal(&rocks->queue_filled);
    pthread_mutex_unlock(&rocks->queue_lock);
    pthread_join(rocks->writer_thread, NULL);
    pthread_cond_destroy(&rocks->queue_filled);
    pthread_cond_destroy(&writer->handed);
    pthread_mutex_destroy(&rocks->queue_lock);
    rocksdb_writebatch_destroy(writer->batch);
    group_free(&writer->groups[0]);
    group_free(&writer->groups[1]);
    writer_cache_free(&writer->writer_cache);
    free(writer);
}
