/* memory_log.c -- see memory_log.h. One list of cells, and what has to be undone when the power fails. */
#include "memory_log.h"

#include <pthread.h>
#include <stdlib.h>

#include "journal/table.h"

typedef struct Cell {
    char *key, *value; /* value NULL: removed */
    size_t key_size, value_size;
    uint8_t slot;
} Cell;

typedef struct Undo {
    Cell *cell;
    char *value;
    size_t value_size;
} Undo;

struct MemoryLog {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    Table cells;
    Undo *undo;
    size_t undo_count, undo_room;
    uint32_t epoch;
    uint64_t next_id;
    uint8_t order[JOURNAL_SLOTS];
    int64_t made_ms[JOURNAL_SLOTS];
    size_t slots;
    unsigned appends, syncs, fail_at;
    MemoryFault fault;
    bool failing, broken, full, held;
};

typedef struct OpenLog {
    JournalLog log;
    MemoryLog *kept;
} OpenLog;

static MemoryLog *kept_of(JournalLog *log)
{
    return ((OpenLog *)log)->kept;
}

static uint64_t hash_of(uint8_t slot, Slice key)
{
    uint64_t hash = slot + UINT64_C(14695981039346656037);
    for (size_t i = 0; i < key.size; i++)
        hash = (hash ^ (unsigned char)key.data[i]) * UINT64_C(1099511628211);
    return table_mix(hash);
}

static uint64_t hash_of_cell(const void *item)
{
    const Cell *cell = item;
    return hash_of(cell->slot, slice_of(cell->key, cell->key_size));
}

static Cell *find(const MemoryLog *kept, uint8_t slot, Slice key)
{
    Cell *cell;
    for (size_t at = 0; (cell = table_next(&kept->cells, hash_of(slot, key), &at)) != NULL;)
        if (cell->slot == slot && slice_equal(slice_of(cell->key, cell->key_size), key))
            return cell;
    return NULL;
}

static char *copy_of(Slice bytes)
{
    char *copy = malloc(bytes.size + 1);
    CHECK(copy != NULL);
    if (bytes.size > 0)
        memcpy(copy, bytes.data, bytes.size);
    return copy;
}

static void set(MemoryLog *kept, const JournalChange *change)
{
    Cell *cell = find(kept, change->slot, change->key);
    if (cell == NULL) {
        cell = calloc(1, sizeof *cell);
        CHECK(cell != NULL);
        *cell =
            (Cell){.key = copy_of(change->key), .key_size = change->key.size, .slot = change->slot};
        table_add(&kept->cells, cell);
    }
    if (kept->undo_count == kept->undo_room) {
        kept->undo_room = kept->undo_room * 2 + 64;
        kept->undo = realloc(kept->undo, kept->undo_room * sizeof *kept->undo);
        CHECK(kept->undo != NULL);
    }
    kept->undo[kept->undo_count++] = (Undo){cell, cell->value, cell->value_size};
    cell->value = change->removed ? NULL : copy_of(change->value);
    cell->value_size = change->value.size;
}

static void free_cell(MemoryLog *kept, Cell *cell)
{
    table_remove(&kept->cells, cell);
    free(cell->key);
    free(cell->value);
    free(cell);
}

static int by_cell(const void *a, const void *b)
{
    const Cell *left = *(Cell *const *)a, *right = *(Cell *const *)b;
    return left < right ? -1 : left > right;
}

/* What was written is safe; cells that were removed go. */
static void sync_all(MemoryLog *kept)
{
    Cell **gone = malloc((kept->undo_count + 1) * sizeof *gone);
    size_t count = 0;
    CHECK(gone != NULL);
    for (size_t i = 0; i < kept->undo_count; i++) {
        free(kept->undo[i].value);
        if (kept->undo[i].cell->value == NULL)
            gone[count++] = kept->undo[i].cell;
    }
    kept->undo_count = 0;
    if (count > 0)
        qsort(gone, count, sizeof *gone, by_cell);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || gone[i] != gone[i - 1])
            free_cell(kept, gone[i]);
    free(gone);
    kept->syncs++;
}

void memory_log_cut(MemoryLog *kept)
{
    while (kept->undo_count > 0) {
        Undo *undo = &kept->undo[--kept->undo_count];
        free(undo->cell->value);
        undo->cell->value = undo->value;
        undo->cell->value_size = undo->value_size;
    }
}

/* ---- The log ----------------------------------------------------------------------------------------------- */

static Status start(JournalLog *log, JournalStart *ret_start, Reason *reason)
{
    MemoryLog *kept = kept_of(log);
    pthread_mutex_lock(&kept->lock);
    bool broken = kept->broken;
    kept->failing = false;
    pthread_mutex_unlock(&kept->lock);
    if (broken)
        return reason_set(reason, STATUS_UNAVAILABLE, NULL, "the log is broken");
    *ret_start = (JournalStart){.epoch = ++kept->epoch,
                                .hash_key = "not so secret..",
                                .newest = kept->order[kept->slots - 1]};
    return STATUS_OK;
}

static Status load(JournalLog *log, char kind, JournalVisit *visit, void *context, Reason *reason)
{
    MemoryLog *kept = kept_of(log);
    for (size_t slot = 0; slot < kept->slots; slot++)
        for (size_t i = 0; i < kept->cells.capacity; i++) {
            const Cell *cell = kept->cells.slots[i];
            if (cell == NULL || cell->value == NULL || cell->slot != kept->order[slot] ||
                cell->key[0] != kind)
                continue;
            TRY(visit(context, cell->slot, slice_of(cell->key, cell->key_size),
                      slice_of(cell->value, cell->value_size), reason));
        }
    return STATUS_OK;
}

static Status append(JournalLog *log, const JournalChange *changes, size_t count, bool sync,
                     Reason *reason)
{
    MemoryLog *kept = kept_of(log);
    pthread_mutex_lock(&kept->lock);
    while (kept->held)
        pthread_cond_wait(&kept->changed, &kept->lock);
    kept->appends++;
    if (kept->fail_at > 0 && --kept->fail_at == 0)
        kept->failing = true;
    bool fails = kept->failing, done = !fails || kept->fault == MEMORY_FAILS_DONE;
    for (size_t i = 0; done && i < count; i++)
        set(kept, &changes[i]);
    if (done && sync)
        sync_all(kept);
    pthread_mutex_unlock(&kept->lock);
    return fails ? reason_set(reason, STATUS_UNAVAILABLE, NULL, "the disk failed") : STATUS_OK;
}

static Status read_value(JournalLog *log, uint8_t slot, Slice key, Arena *arena, Slice *ret_value,
                         Reason *reason)
{
    MemoryLog *kept = kept_of(log);
    Status status = STATUS_NOT_FOUND;
    (void)reason;
    pthread_mutex_lock(&kept->lock);
    const Cell *cell = find(kept, slot, key);
    if (cell != NULL && cell->value != NULL) {
        *ret_value = arena_copy(arena, slice_of(cell->value, cell->value_size));
        status = STATUS_OK;
    }
    pthread_mutex_unlock(&kept->lock);
    return status;
}

static Status ids(JournalLog *log, uint64_t *ret_first, uint64_t *ret_end, Reason *reason)
{
    MemoryLog *kept = kept_of(log);
    (void)reason;
    *ret_first = kept->next_id;
    *ret_end = kept->next_id += 100;
    return STATUS_OK;
}

static uint64_t bytes(JournalLog *log, uint8_t slot, int64_t *ret_made_ms)
{
    *ret_made_ms = kept_of(log)->made_ms[slot];
    return 0;
}

static Status advance(JournalLog *log, const JournalFiles *files, const JournalChange *changes,
                      size_t count, uint8_t *ret_slot, Reason *reason)
{
    MemoryLog *kept = kept_of(log);
    bool used[JOURNAL_SLOTS] = {false};
    uint8_t slot = 0;
    (void)files, (void)reason;
    for (size_t i = 0; i < kept->slots; i++)
        used[kept->order[i]] = true;
    while (used[slot])
        slot++;
    for (size_t i = 0; i < count; i++) {
        JournalChange change = changes[i];
        change.slot = slot;
        set(kept, &change);
    }
    sync_all(kept);
    kept->order[kept->slots++] = slot;
    *ret_slot = slot;
    return STATUS_OK;
}

static Status drop(JournalLog *log, uint8_t slot, Reason *reason)
{
    MemoryLog *kept = kept_of(log);
    size_t at = 0;
    (void)reason;
    while (kept->order[at] != slot)
        at++;
    memmove(&kept->order[at], &kept->order[at + 1], kept->slots - at - 1);
    kept->slots--;
    for (size_t i = 0; i < kept->cells.capacity; i++) {
        Cell *cell = kept->cells.slots[i];
        if (cell == NULL || cell->slot != slot)
            continue;
        free_cell(kept, cell);
        i = (size_t)-1; /* removing moves others */
    }
    return STATUS_OK;
}

static void compact(JournalLog *log, uint8_t slot)
{
    (void)log, (void)slot;
}

static size_t slots(JournalLog *log, uint8_t ret_slots[JOURNAL_SLOTS])
{
    MemoryLog *kept = kept_of(log);
    memcpy(ret_slots, kept->order, kept->slots);
    return kept->slots;
}

static bool has_room(JournalLog *log)
{
    MemoryLog *kept = kept_of(log);
    pthread_mutex_lock(&kept->lock);
    bool full = kept->full;
    pthread_mutex_unlock(&kept->lock);
    return !full;
}

static void close_log(JournalLog *log)
{
    free(log);
}

/* ---- What is kept ------------------------------------------------------------------------------------------ */

MemoryLog *memory_log_new(void)
{
    MemoryLog *kept = calloc(1, sizeof *kept);
    CHECK(kept != NULL);
    pthread_mutex_init(&kept->lock, NULL);
    pthread_cond_init(&kept->changed, NULL);
    kept->cells.hash = hash_of_cell;
    kept->next_id = 1;
    kept->slots = 1;
    return kept;
}

void memory_log_free(MemoryLog *kept)
{
    sync_all(kept);
    for (size_t i = 0; i < kept->cells.capacity; i++) {
        Cell *cell = kept->cells.slots[i];
        if (cell == NULL)
            continue;
        free(cell->key);
        free(cell->value);
        free(cell);
    }
    table_free(&kept->cells);
    free(kept->undo);
    pthread_mutex_destroy(&kept->lock);
    pthread_cond_destroy(&kept->changed);
    free(kept);
}

JournalLog *memory_log_open(MemoryLog *kept)
{
    OpenLog *open = calloc(1, sizeof *open);
    CHECK(open != NULL);
    open->kept = kept;
    open->log = (JournalLog){.start = start,
                             .load = load,
                             .append = append,
                             .read = read_value,
                             .ids = ids,
                             .bytes = bytes,
                             .advance = advance,
                             .drop = drop,
                             .compact = compact,
                             .slots = slots,
                             .has_room = has_room,
                             .close = close_log};
    return &open->log;
}

void memory_log_fail(MemoryLog *kept, unsigned at, MemoryFault how)
{
    pthread_mutex_lock(&kept->lock);
    kept->fail_at = at;
    kept->fault = how;
    pthread_mutex_unlock(&kept->lock);
}

void memory_log_break(MemoryLog *kept, bool broken)
{
    pthread_mutex_lock(&kept->lock);
    kept->broken = broken;
    pthread_mutex_unlock(&kept->lock);
}

void memory_log_fill(MemoryLog *kept, bool full)
{
    pthread_mutex_lock(&kept->lock);
    kept->full = full;
    pthread_mutex_unlock(&kept->lock);
}

void memory_log_hold(MemoryLog *kept, bool held)
{
    pthread_mutex_lock(&kept->lock);
    kept->held = held;
    pthread_cond_broadcast(&kept->changed);
    pthread_mutex_unlock(&kept->lock);
}

unsigned memory_log_appends(const MemoryLog *kept)
{
    return kept->appends;
}

unsigned memory_log_syncs(const MemoryLog *kept)
{
    return kept->syncs;
}

size_t memory_log_count(const MemoryLog *kept, char kind)
{
    size_t count = 0;
    for (size_t i = 0; i < kept->cells.capacity; i++) {
        const Cell *cell = kept->cells.slots[i];
        count += cell != NULL && cell->value != NULL && cell->key[0] == kind;
    }
    return count;
}
