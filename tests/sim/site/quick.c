/* quick.c -- a store that knows which rows nobody ever wrote, and answers for them at once. See site.h.
 *
 * The tasks of the site look at every hour of forty days, most of which are empty; in the simulator each look would cost a dozen
 * events. Of the tables whose rows are hours and minutes, every row that is written is noted before it is; a slice of
 * another one is empty without asking. */
#include "site/site.h"

enum { NOTED_LEAST = 256 };

static bool is_noted_table(const Table *table)
{
    return table == &TABLE_DIRTY || table == &TABLE_CHANGED || table == &TABLE_HOUR_CHANGES ||
           table == &TABLE_NEWS;
}

/* FNV-1a; two rows with one hash only cost a look. 0 is no row. */
static uint64_t hash_of(const Table *table, Slice row)
{
    uint64_t hash = UINT64_C(0xCBF29CE484222325) ^ table->number;
    for (size_t i = 0; i < row.size; i++)
        hash = (hash ^ (uint8_t)row.data[i]) * UINT64_C(0x100000001B3);
    return hash | 1;
}

/* The slot of the hash, or the empty one where it belongs. */
static uint64_t *slot_of(const SiteRows *rows, uint64_t hash)
{
    size_t at = (size_t)(hash >> 32) % rows->room;
    while (rows->hashes[at] != 0 && rows->hashes[at] != hash)
        at = (at + 1) % rows->room;
    return &rows->hashes[at];
}

static void grow(SiteInstance *instance)
{
    SiteRows *rows = &instance->site->rows, old = *rows;
    rows->room = old.room == 0 ? NOTED_LEAST : 2 * old.room;
    rows->hashes = ARENA_ARRAY(run_arena(instance->run), rows->room, uint64_t);
    for (size_t i = 0; i < old.room; i++)
        if (old.hashes[i] != 0)
            *slot_of(rows, old.hashes[i]) = old.hashes[i];
}

static void note(SiteInstance *instance, const Batch *batch)
{
    SiteRows *rows = &instance->site->rows;
    for (size_t i = 0; i < batch->count; i++) {
        if (!is_noted_table(batch->changes[i].table))
            continue;
        if (2 * rows->count >= rows->room)
            grow(instance);
        uint64_t hash = hash_of(batch->changes[i].table, batch->changes[i].row);
        uint64_t *slot = slot_of(rows, hash);
        rows->count += *slot == 0;
        *slot = hash;
    }
}

static bool is_empty(const SiteInstance *instance, const Query *query)
{
    const SiteRows *rows = &instance->site->rows;
    if (!is_noted_table(query->table))
        return false;
    return rows->room == 0 || *slot_of(rows, hash_of(query->table, query->row)) == 0;
}

/* ---- The engine ------------------------------------------------------------------------------------------ */

static Quick *quick_of(Store *store)
{
    return (Quick *)store;
}

static Store *real_of(Store *store)
{
    return quick_of(store)->real;
}

static Status read_one(Store *store, const Read *read, Arena *arena, Cell *ret_cell)
{
    return real_of(store)->engine->read(real_of(store), read, arena, ret_cell);
}

static Status read_many(Store *store, const Read *reads, size_t count, Arena *arena,
                        ReadAnswer *ret_answers)
{
    return real_of(store)->engine->read_many(real_of(store), reads, count, arena, ret_answers);
}

static void happen(Quick *quick, const Table *table, bool at_update)
{
    SiteInstance *reader = quick->reader;
    if (reader == NULL || table != &TABLE_VOTERS || quick->at_update != at_update)
        return;
    quick->reader = NULL;
    quick->meanwhile(reader);
}

static Status slice(Store *store, const Query *query, Arena *arena, Page *ret_page)
{
    Quick *quick = quick_of(store);
    if (is_empty(quick->instance, query)) {
        *ret_page = (Page){.cells = ARENA_ARRAY(arena, 0, Cell)};
        return STATUS_OK;
    }
    Status status = quick->real->engine->slice(quick->real, query, arena, ret_page);
    happen(quick, query->table, false);
    return status;
}

static Status scan(Store *store, const Table *table, Slice position, uint32_t limit, Arena *arena,
                   ScanPage *ret_page)
{
    return real_of(store)->engine->scan(real_of(store), table, position, limit, arena, ret_page);
}

/* Where somebody follows, the marks of a batch are there before the rest of it, and are looked at: no engine promises an order of rows. */
static void announce(Store *store, const Batch *batch)
{
    Quick *quick = quick_of(store);
    Batch marks = {.lazy = batch->lazy};
    note(quick->instance, batch);
    if (quick->follower == NULL)
        return;
    RowChange *changes = ARENA_ARRAY(quick->follower->arena, batch->count, RowChange);
    for (size_t i = 0; i < batch->count; i++)
        if (batch->changes[i].table == &TABLE_CHANGED || batch->changes[i].table == &TABLE_NEWS)
            changes[marks.count++] = batch->changes[i];
    marks.changes = changes;
    if (marks.count == 0)
        return;
    (void)site_instance_heard(quick->follower, "marks", store_write(quick->real, &marks));
    shown_look(quick->follower);
}

static Status write_many(Store *store, const Batch *batches, size_t count, Status *ret_statuses)
{
    for (size_t i = 0; i < count; i++)
        announce(store, &batches[i]);
    return real_of(store)->engine->write_many(real_of(store), batches, count, ret_statuses);
}

static Status update_if(Store *store, const Update *update, Arena *arena, Found *ret_found)
{
    announce(store, &update->marks);
    happen(quick_of(store), update->table, true);
    return real_of(store)->engine->update_if(real_of(store), update, arena, ret_found);
}

static Status update_many(Store *store, const Update *updates, size_t count, Arena *arena,
                          Status *ret_statuses)
{
    Store *real = real_of(store);
    for (size_t i = 0; i < count; i++) {
        announce(store, &updates[i].marks);
        happen(quick_of(store), updates[i].table, true);
    }
    if (real->engine->update_many != NULL)
        return real->engine->update_many(real, updates, count, arena, ret_statuses);
    for (size_t i = 0; i < count; i++)
        ret_statuses[i] = real->engine->update_if(real, &updates[i], arena, NULL);
    return STATUS_OK;
}

static uint64_t generation(Store *store)
{
    return store_generation(real_of(store));
}

static void health(Store *store, StoreHealth *ret_health)
{
    store_health(real_of(store), ret_health);
}

static const StoreEngine ENGINE = {.name = "quick",
                                   .generation = generation,
                                   .update_many = update_many,
                                   .read = read_one,
                                   .read_many = read_many,
                                   .slice = slice,
                                   .scan = scan,
                                   .write_many = write_many,
                                   .health = health,
                                   .update_if = update_if};

Store *quick_open(Quick *quick, SiteInstance *instance, Store *real)
{
    *quick = (Quick){.store = *real, .engine = ENGINE, .real = real, .instance = instance};
    quick->engine.shared = real->engine->shared;
    quick->store.engine = &quick->engine;
    return &quick->store;
}
