/* writer.c -- one thread decides and writes for all.
 *
 * Callers put a request, which lives on their stack, into the queue and sleep. The writer takes all that is there, decides
 * request by request (newest timestamp, conditions) against the database and the overlay of the open group, writes the
 * changed cells as one RocksDB batch with one sync, and wakes everybody. While it syncs, the next group gathers: the
 * more callers, the fewer syncs each. Lazy requests may be large and are in no hurry: a group takes a piece of them, so that
 * a save does not wait behind a thousand counts.
 *
 * Crash between any two steps: nothing is visible or acknowledged before the batch is synced, and RocksDB applies a batch
 * whole or not at all. A failed write or sync: all of the group is UNKNOWN, since the log may hold it or not; the store
 * turns read-only at once, so that nothing is decided on ground that may move, and opens again later. */
#include "store/rocksdb/known.h"
#include "store/rocksdb/queue.h"

#include <stdlib.h>
#include <time.h>

enum { LAZY_SYNC_MS = 200 };
enum { CACHE_BYTES_A_KNOWN = 4096 }; /* known cells take about a twentieth of the cache's size */

/* What one group needs, kept from group to group. */
typedef struct Group {
    Rocks *rocks;
    Arena *arena;
    Overlay overlay;
    Known known;
    rocksdb_writebatch_t *batch;
    int64_t now_us;
    bool must_sync;            /* some request in the group is not lazy */
    bool unsynced;             /* lazy writes of earlier groups are not durable yet */
    int64_t unsynced_since_us; /* of the steady clock: the oldest of them */
} Group;

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

/* ---- Deciding -------------------------------------------------------------------------------------------- */

/* Makes sure that the overlay knows what is stored under the entry's key. UNAVAILABLE: could not be read. */
static Status load(Group *group, OverlayCell *entry)
{
    char *error = NULL;
    entry->asked = true;
    if (entry->loaded || known_load(&group->known, entry))
        return STATUS_OK;
    rocksdb_pinnableslice_t *pinned = rocksdb_get_pinned(group->rocks->db, group->rocks->read_row,
                                                         entry->key.data, entry->key.size, &error);
    if (error != NULL)
        return rocks_error(error, group->rocks->db_path, NULL);
    Status status = STATUS_OK;
    if (pinned != NULL) {
        Slice value;
        value.data = rocksdb_pinnableslice_value(pinned, &value.size);
        status = codec_decode(arena_copy(group->arena, value), &entry->cell);
        rocksdb_pinnableslice_destroy(pinned);
    }
    if (status == STATUS_OK) {
        entry->loaded = true;
        entry->present = pinned != NULL;
    }
    return status;
}

static OverlayCell *entry_of(Group *group, const Table *table, Slice row, Slice column)
{
    char key[KEY_MOST];
    return overlay_find(&group->overlay, slice_of(key, codec_key(key, table, row, column)));
}

static StoredCell cell_of(Group *group, const Table *table, const Change *change)
{
    StoredCell cell = {.stamped = table->kind == TABLE_PLAIN,
                       .deleted = change->is_delete,
                       .timestamp = change->timestamp};
    if (change->is_delete)
        cell.death_us = group->now_us;
    else if (change->ttl_s > 0)
        cell.death_us = group->now_us + change->ttl_s * US_PER_S;
    if (!change->is_delete)
        cell.data = change->value; /* the caller's memory stays until the answer */
    return cell;
}

/* All of a batch is loaded before any of it is applied, so that a failed read leaves nothing half decided. Cells that are only ever
 * repeated are not looked at. */
static Status decide_batch(Group *group, const Batch *batch)
{
    size_t *entries = arena_alloc(group->arena, batch->count * sizeof *entries);
    for (size_t i = 0; i < batch->count; i++) {
        const RowChange *change = &batch->changes[i];
        OverlayCell *entry = entry_of(group, change->table, change->row, change->change.column);
        if (!change->table->repeats)
            TRY(load(group, entry));
        entries[i] = (size_t)(entry - group->overlay.cells);
    }
    for (size_t i = 0; i < batch->count; i++) {
        const RowChange *change = &batch->changes[i];
        OverlayCell *entry = &group->overlay.cells[entries[i]];
        StoredCell cell = cell_of(group, change->table, &change->change);
        if (entry->present && !codec_wins(&cell, &entry->cell, group->now_us)) {
            atomic_fetch_add_explicit(&group->rocks->cells_dropped, 1, memory_order_relaxed);
            continue;
        }
        entry->cell = cell;
        entry->present = entry->changed = true;
    }
    return STATUS_OK;
}

/* Loads the conditions' cells and says whether all hold; *ret_hold is set on OK only. */
static Status check_conditions(Group *group, const Update *update, bool *ret_hold)
{
    bool hold = true;
    for (size_t i = 0; i < update->condition_count; i++) {
        const Condition *condition = &update->conditions[i];
        OverlayCell *entry = entry_of(group, update->table, update->row, condition->column);
        TRY(load(group, entry));
        bool alive = entry->present && codec_alive(&entry->cell, group->now_us);
        hold &=
            condition->absent ? !alive : alive && slice_equal(entry->cell.data, condition->value);
    }
    *ret_hold = hold;
    return STATUS_OK;
}

static void tell_what_stands(Group *group, const Request *request, const Update *update)
{
    for (size_t i = 0; request->found != NULL && i < update->condition_count; i++) {
        const OverlayCell *entry =
            entry_of(group, update->table, update->row, update->conditions[i].column);
        bool alive = entry->present && codec_alive(&entry->cell, group->now_us);
        request->found[i].present = alive;
        request->found[i].value =
            alive ? arena_copy(request->arena, entry->cell.data) : SLICE_EMPTY;
    }
}

static Status decide_update(Group *group, const Request *request, const Update *update)
{
    bool hold;
    TRY(decide_batch(group, &update->marks));
    TRY(check_conditions(group, update, &hold));
    if (!hold) {
        tell_what_stands(group, request, update);
        return STATUS_CONFLICT;
    }
    for (size_t i = 0; i < update->change_count; i++) {
        const Change *change = &update->changes[i];
        OverlayCell *entry = entry_of(group, update->table, update->row, change->column);
        entry->cell = cell_of(group, update->table, change);
        entry->loaded = entry->changed = true;
        entry->present = !change->is_delete; /* no timestamp to remember: a delete removes */
    }
    return STATUS_OK;
}

static void decide(Group *group, Request *request)
{
    size_t end = request->done + request->piece;
    group->must_sync |= !request->lazy;
    for (size_t i = request->done; i < end && request->kind == REQUEST_UPDATE; i++)
        request->update_statuses[i] = decide_update(group, request, &request->updates[i]);
    for (size_t i = request->done; i < end && request->kind == REQUEST_WRITE; i++)
        request->batch_statuses[i] = decide_batch(group, &request->batches[i]);
}

/* ---- Writing --------------------------------------------------------------------------------------------- */

static size_t fill_batch(Group *group)
{
    size_t changed = 0;
    rocksdb_writebatch_clear(group->batch);
    for (size_t i = 0; i < group->overlay.count; i++) {
        const OverlayCell *entry = &group->overlay.cells[i];
        if (!entry->changed)
            continue;
        changed++;
        if (!entry->present) {
            rocksdb_writebatch_delete(group->batch, entry->key.data, entry->key.size);
            continue;
        }
        char header[STORED_HEADER_MOST];
        const char *keys[] = {entry->key.data}, *values[] = {header, entry->cell.data.data};
        size_t key_sizes[] = {entry->key.size};
        size_t value_sizes[] = {codec_header(header, &entry->cell), entry->cell.data.size};
        rocksdb_writebatch_putv(group->batch, 1, keys, key_sizes, 2, values, value_sizes);
    }
    return changed;
}

static void remember(Group *group)
{
    for (size_t i = 0; i < group->overlay.count; i++)
        if (group->overlay.cells[i].changed)
            known_keep(&group->known, &group->overlay.cells[i]);
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

static Status commit(Group *group)
{
    Rocks *rocks = group->rocks;
    size_t changed = fill_batch(group);
    char *error = NULL;
    if (changed > 0)
        rocksdb_write(rocks->db, group->must_sync ? rocks->write_synced : rocks->write_lazy,
                      group->batch, &error);
    else if (group->must_sync && group->unsynced)
        rocksdb_flush_wal(rocks->db, 1, &error); /* an OK may rest on a lazy write */
    if (error != NULL) {
        Reason reason;
        (void)!rocks_error(error, rocks->db_path, &reason);
        turn_read_only(rocks, &reason);
        known_clear(&group->known);
        return STATUS_UNKNOWN;
    }
    remember(group);
    if (group->must_sync && (changed > 0 || group->unsynced))
        atomic_fetch_add_explicit(&rocks->syncs, 1, memory_order_relaxed);
    if (changed > 0 && !group->must_sync && !group->unsynced)
        group->unsynced_since_us = clock_steady_us(rocks->world.clock);
    if (changed > 0 || group->must_sync)
        group->unsynced = !group->must_sync;
    atomic_fetch_add_explicit(&rocks->cells_written, changed, memory_order_relaxed);
    return STATUS_OK;
}

/* How long the oldest lazy write may still wait for its sync. */
static int64_t lazy_left_ms(const Group *group)
{
    int64_t waited_us = clock_steady_us(group->rocks->world.clock) - group->unsynced_since_us;
    int64_t left_ms = LAZY_SYNC_MS - waited_us / US_PER_MS;
    return left_ms > 0 ? left_ms : 0;
}

/* A group's fate over what was decided: a failed commit makes everything that rested on it unknown, "conflict" too,
 * because the cell in the way may be one of this very group. */
static void settle(Rocks *rocks, Request *request, Status fate)
{
    Status *statuses =
        request->kind == REQUEST_UPDATE ? request->update_statuses : request->batch_statuses;
    for (size_t i = request->done; i < request->done + request->piece; i++) {
        if (fate != STATUS_OK)
            statuses[i] = fate;
        else if (statuses[i] == STATUS_CONFLICT)
            atomic_fetch_add_explicit(&rocks->conflicts, 1, memory_order_relaxed);
    }
    request->done += request->piece;
}

/* Opening again drops and replaces the database, so it never shares a group with writes. */
static void reopen(Group *group, Request *request)
{
    Reason reason = {0};
    Status status = rocks_open_again(group->rocks, &reason);
    known_clear(&group->known);
    if (status == STATUS_OK)
        group->unsynced = false;
    if (request == NULL)
        return;
    request->reopened = status;
    if (request->reason != NULL)
        *request->reason = reason;
}

static void run_group(Group *group, Request *first)
{
    Rocks *rocks = group->rocks;
    size_t requests = 0;
    if (first->kind == REQUEST_REOPEN) {
        reopen(group, first);
        queue_answer(rocks, first);
        return;
    }
    bool writable = !atomic_load(&rocks->read_only);
    group->now_us = clock_now_us(rocks->world.clock);
    /* Steady lazy traffic leaves no pause in which to sync, so now and then a lazy group pays for it. */
    group->must_sync = group->unsynced && lazy_left_ms(group) == 0;
    for (Request *request = first; request != NULL && writable; request = request->next)
        decide(group, request);
    group->must_sync &= !rocks->bulk;
    Status fate = writable ? commit(group) : STATUS_UNAVAILABLE;
    for (Request *request = first; request != NULL; request = request->next, requests++)
        settle(rocks, request, fate);
    atomic_fetch_add_explicit(&rocks->groups, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&rocks->requests, requests, memory_order_relaxed);
    queue_answer(rocks, first);
    overlay_clear(&group->overlay);
    arena_reset(group->arena);
}

/* ---- The thread ------------------------------------------------------------------------------------------ */

static void wait_ms(Rocks *rocks, int64_t ms)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += ms / 1000;
    until.tv_nsec += ms % 1000 * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    pthread_cond_timedwait(&rocks->queue_filled, &rocks->queue_lock, &until);
}

/* Sleeps until there is a request, the end, or something to do without one: lazy writes to sync, or a try to open again.
 * Returns NULL for the latter two. Called and left with the queue locked. */
static Request *next_group(Rocks *rocks, const Group *group)
{
    bool read_only = atomic_load(&rocks->read_only);
    if (!queue_has_work(rocks) && !rocks->stopping) {
        if (read_only)
            wait_ms(rocks, rocks->reopen_s * 1000);
        else if (group->unsynced && !rocks->bulk)
            wait_ms(rocks, lazy_left_ms(group));
        else
            pthread_cond_wait(&rocks->queue_filled, &rocks->queue_lock);
    }
    return queue_has_work(rocks) ? queue_take_group(rocks) : NULL;
}

static void sync_lazy(Group *group)
{
    group->must_sync = true;
    (void)commit(
        group); /* the overlay is empty: only the sync; a failure turns the store read-only */
}

static void *writer(void *argument)
{
    Rocks *rocks = argument;
    Group group = {.rocks = rocks, .arena = arena_new(), .batch = rocksdb_writebatch_create()};
    int64_t tried_us = clock_steady_us(rocks->world.clock);
    overlay_init(&group.overlay, group.arena);
    known_init(&group.known, rocksdb_cache_get_capacity(rocks->cache) / CACHE_BYTES_A_KNOWN);
    for (bool stop = false; !stop;) {
        pthread_mutex_lock(&rocks->queue_lock);
        Request *first = next_group(rocks, &group);
        stop = rocks->stopping && first == NULL;
        pthread_mutex_unlock(&rocks->queue_lock);
        bool read_only = atomic_load(&rocks->read_only);
        if (first != NULL)
            run_group(&group, first);
        else if (group.unsynced && !read_only)
            sync_lazy(&group);
        int64_t now_us = clock_steady_us(rocks->world.clock);
        if (!read_only)
            tried_us = now_us;
        else if (!stop && now_us - tried_us >= rocks->reopen_s * US_PER_S) {
            reopen(&group, NULL);
            tried_us = now_us;
        }
    }
    rocksdb_writebatch_destroy(group.batch);
    overlay_free(&group.overlay);
    known_free(&group.known);
    arena_free(group.arena);
    return NULL;
}

void rocks_writer_start(Rocks *rocks)
{
    pthread_condattr_t steady;
    pthread_condattr_init(&steady);
    pthread_condattr_setclock(&steady, CLOCK_MONOTONIC);
    pthread_cond_init(&rocks->queue_filled, &steady);
    pthread_condattr_destroy(&steady);
    pthread_mutex_init(&rocks->queue_lock, NULL);
    rocks->queue.last = &rocks->queue.first;
    rocks->lazy_queue.last = &rocks->lazy_queue.first;
    CHECK(pthread_create(&rocks->writer, NULL, writer, rocks) == 0);
}

void rocks_writer_stop(Rocks *rocks)
{
    pthread_mutex_lock(&rocks->queue_lock);
    rocks->stopping = true;
    pthread_cond_signal(&rocks->queue_filled);
    pthread_mutex_unlock(&rocks->queue_lock);
    pthread_join(rocks->writer, NULL);
    pthread_cond_destroy(&rocks->queue_filled);
    pthread_mutex_destroy(&rocks->queue_lock);
}
