/* solo.c -- one machine with one process: the store that nobody shares (sim.h).
 *
 * A row has one copy. What was changed since the last sync stands in a journal with what was there before, so that a power cut can take an
 * end of it back. What a failed write was to change is held until the store opens again. */
#include <stdlib.h>

#include "store/sim/cluster.h"

enum { COPY = SIM_DECIDED, LAZY_SYNC_US = 200000, CALL_LEAST_US = 20, CALL_MOST_US = 900 };
enum { DRAW_CALL = 200, DRAW_ANSWER, DRAW_LAND, DRAW_CUT };
enum { ANSWERED = 1 }; /* the part of a call in which a client stalls with the answer in hand */

typedef struct Undo {
    Row *row;
    Version *before, *after; /* before: NULL where nothing was */
    int64_t at_us;
    uint64_t group; /* what was written by one call is there or not */
} Undo;

typedef struct Held {
    Row *row;
    Version *version;
} Held;

struct SimSolo {
    SimWorld *world;
    SimOptions options;
    Rows rows;
    Undo *journal;
    size_t journal_count, journal_room;
    Held *held;
    size_t held_count, held_room;
    uint64_t groups;
    SimKey failed; /* the call that did */
    bool read_only;
    int64_t reopens_us;
    uint64_t generation;
};

typedef struct SoloStore {
    Store store; /* first: what the callers hold */
    SimSolo *solo;
    SimClient *leader;
} SoloStore;

static SimSolo *solo_of(Store *store)
{
    return ((SoloStore *)store)->solo;
}

static int64_t now_us(const SimSolo *solo)
{
    return sim_world_start_us(solo->world) + sim_world_now_us(solo->world);
}

/* ---- What changes ---------------------------------------------------------------------------------------------- */

static void synced(SimSolo *solo, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (solo->journal[i].before != NULL)
            version_release(solo->journal[i].before);
        version_release(solo->journal[i].after);
    }
    solo->journal_count -= count;
    if (count > 0 && solo->journal_count > 0)
        memmove(solo->journal, solo->journal + count, solo->journal_count * sizeof *solo->journal);
}

/* Lazy writes that are old enough have been synced by now. */
static void sync_old(SimSolo *solo)
{
    size_t count = 0;
    while (count < solo->journal_count &&
           sim_world_now_us(solo->world) - solo->journal[count].at_us >= LAZY_SYNC_US)
        count++;
    synced(solo, count);
}

static void *grown(void *items, size_t count, size_t *room, size_t size)
{
    if (count < *room)
        return items;
    *room = *room == 0 ? 64 : 2 * *room;
    items = realloc(items, *room * size);
    CHECK(items != NULL);
    return items;
}

static void apply(SimSolo *solo, Row *row, Version *version)
{
    Cells *cells = &row->copies[COPY];
    Version *before = cells_find(cells, version->column);
    solo->journal =
        grown(solo->journal, solo->journal_count, &solo->journal_room, sizeof *solo->journal);
    if (before != NULL)
        version_keep(before);
    cells_apply(cells, version, now_us(solo));
    if (cells_find(cells, version->column) == before) { /* an older one, or the same */
        if (before != NULL)
            version_release(before);
        return;
    }
    solo->journal[solo->journal_count++] =
        (Undo){row, before, version_keep(version), sim_world_now_us(solo->world), solo->groups};
}

static void take_back(SimSolo *solo)
{
    Undo *undo = &solo->journal[--solo->journal_count];
    Cells *cells = &undo->row->copies[COPY];
    size_t place = cells_place(cells, undo->after->column);
    version_release(cells->items[place]);
    if (undo->before != NULL) {
        cells->items[place] = undo->before;
    } else {
        cells->count--;
        memmove(&cells->items[place], &cells->items[place + 1],
                (cells->count - place) * sizeof *cells->items);
    }
    version_release(undo->after);
}

static void hold(SimSolo *solo, Row *row, Version *version)
{
    solo->held = grown(solo->held, solo->held_count, &solo->held_room, sizeof *solo->held);
    solo->held[solo->held_count++] = (Held){row, version_keep(version)};
}

/* The store opens again: the log has what failed, or has not. */
static void reopen_now(SimSolo *solo)
{
    bool lands = sim_draw(solo->world, DRAW_LAND, solo->failed) % 2 == 0;
    for (size_t i = 0; i < solo->held_count; i++) {
        if (lands)
            apply(solo, solo->held[i].row, solo->held[i].version);
        version_release(solo->held[i].version);
    }
    solo->held_count = 0;
    solo->read_only = false;
    solo->generation++;
    synced(solo, solo->journal_count);
}

/* ---- Calls ------------------------------------------------------------------------------------------------------- */

static SimClient *caller(const SimSolo *solo)
{
    return sim_world_running(solo->world);
}

static bool alive(const SimSolo *solo)
{
    return caller(solo) == NULL || sim_client_alive(caller(solo));
}

static void wait_some(const SimSolo *solo, uint32_t purpose, SimKey key)
{
    Clock clock =
        caller(solo) != NULL ? sim_client_clock(caller(solo)) : sim_world_clock(solo->world);
    clock_sleep_us(clock, sim_draw_between(solo->world, purpose, key, CALL_LEAST_US, CALL_MOST_US));
}

/* Up to the moment at which it takes effect. False: the caller is a ghost. */
static bool begin(SimSolo *solo, SimKey *ret_key)
{
    if (!sim_call_begin(solo->world, caller(solo), ret_key))
        return false;
    wait_some(solo, DRAW_CALL, *ret_key);
    sync_old(solo);
    if (solo->read_only && sim_world_now_us(solo->world) >= solo->reopens_us)
        reopen_now(solo);
    return alive(solo);
}

static void end(SimSolo *solo, SimKey key)
{
    SimKey answer = {key.who, key.call, ANSWERED};
    if (caller(solo) != NULL && sim_fires(solo->world, SIM_SILENCE, key, NULL))
        sim_client_kill(caller(solo));
    wait_some(solo, DRAW_ANSWER, key);
    if (alive(solo) && sim_fires(solo->world, SIM_STALL, answer, NULL))
        clock_sleep_us(sim_client_clock(caller(solo)),
                       sim_span_us(solo->world, SIM_STALL, answer, 100 * US_PER_MS));
}

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

static Cell cell_of(const Version *version, Arena *arena)
{
    return (Cell){arena_copy(arena, version->column), arena_copy(arena, version->value),
                  version->stamped ? version->timestamp : 0};
}

static Status read_cell(SimSolo *solo, const Read *read, Arena *arena, Cell *ret_cell)
{
    const Row *row = rows_get(&solo->rows, read->table, read->row);
    const Version *version = cells_find(&row->copies[COPY], read->column);
    if (version == NULL || !version_alive(version, now_us(solo)))
        return STATUS_NOT_FOUND;
    *ret_cell = cell_of(version, arena);
    return STATUS_OK;
}

static Status solo_read_many(Store *store, const Read *reads, size_t count, Arena *arena,
                             ReadAnswer *ret_answers)
{
    SimSolo *solo = solo_of(store);
    SimKey key;
    bool goes = begin(solo, &key);
    for (size_t i = 0; i < count; i++)
        ret_answers[i].status =
            goes ? read_cell(solo, &reads[i], arena, &ret_answers[i].cell) : STATUS_UNAVAILABLE;
    if (goes)
        end(solo, key);
    return STATUS_OK;
}

static Status solo_read(Store *store, const Read *read, Arena *arena, Cell *ret_cell)
{
    ReadAnswer answer;
    TRY(solo_read_many(store, read, 1, arena, &answer));
    if (answer.status == STATUS_OK)
        *ret_cell = answer.cell;
    return answer.status;
}

static Status solo_slice(Store *store, const Query *query, Arena *arena, Page *ret_page)
{
    SimSolo *solo = solo_of(store);
    SimKey key;
    Cells found = {0};
    Range range = {query->from,    query->to, query->after, query->resume,
                   query->reverse, false,     query->limit};
    if (!begin(solo, &key))
        return STATUS_UNAVAILABLE;
    const Row *row = rows_get(&solo->rows, query->table, query->row);
    (void)cells_collect(&row->copies[COPY], &range, now_us(solo), &found);
    Page page = {.cells = ARENA_ARRAY(arena, found.count, Cell)};
    for (size_t i = 0; i < found.count && !page.more; i++) {
        if (!version_alive(found.items[i], now_us(solo)))
            continue;
        if (page.count == query->limit)
            page.more = true;
        else
            page.cells[page.count++] = cell_of(found.items[i], arena);
    }
    cells_free(&found);
    end(solo, key);
    *ret_page = page;
    return STATUS_OK;
}

static Status solo_scan(Store *store, const Table *table, Slice position, uint32_t limit,
                        Arena *arena, ScanPage *ret_page)
{
    SimSolo *solo = solo_of(store);
    SimKey key;
    Slice from_row = SLICE_EMPTY, from = SLICE_EMPTY;
    if (position.size > 0)
        TRY(scan_position_parse(table, position, &from_row, &from));
    if (!begin(solo, &key))
        return STATUS_UNAVAILABLE;
    Row **rows = rows_sorted(&solo->rows);
    ScanPage page = {.cells = ARENA_ARRAY(arena, limit, ScanCell), .position = SLICE_EMPTY};
    for (size_t i = position.size > 0 ? rows_place(&solo->rows, table, from_row) : 0;
         i < solo->rows.count && !page.more; i++) {
        const Cells *cells = &rows[i]->copies[COPY];
        bool goes_on = position.size > 0 && slice_equal(rows[i]->key, from_row);
        for (size_t k = 0; rows[i]->table == table && k < cells->count && !page.more; k++) {
            const Version *version = cells->items[k];
            if (!version_alive(version, now_us(solo)) ||
                (goes_on && slice_compare(version->column, from) <= 0))
                continue;
            if (page.count == limit)
                page.more = true;
            else
                page.cells[page.count++] =
                    (ScanCell){arena_copy(arena, rows[i]->key), cell_of(version, arena)};
        }
    }
    if (page.count > 0)
        page.position = scan_position(table, page.cells[page.count - 1].row,
                                      page.cells[page.count - 1].cell.column, arena);
    end(solo, key);
    *ret_page = page;
    return STATUS_OK;
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

typedef struct Group {
    SimSolo *solo;
    SimKey key;
    bool fails, must_sync;
} Group;

/* False: nothing can be written. */
static bool group_begin(SimSolo *solo, Group *group)
{
    *group = (Group){.solo = solo};
    solo->groups++;
    if (!begin(solo, &group->key) || solo->read_only)
        return false;
    group->fails = caller(solo) != NULL && sim_fires(solo->world, SIM_DISK, group->key, NULL);
    return true;
}

static void group_put(Group *group, const Table *table, Slice key, const Change *change,
                      int64_t timestamp)
{
    SimSolo *solo = group->solo;
    Change stamped = *change;
    stamped.timestamp = timestamp;
    Row *row = rows_get(&solo->rows, table, key);
    Version *version = version_new(&stamped, table->kind == TABLE_PLAIN, now_us(solo));
    if (group->fails)
        hold(solo, row, version);
    else
        apply(solo, row, version);
    version_release(version);
}

static void group_end(Group *group)
{
    SimSolo *solo = group->solo;
    if (group->fails) {
        solo->read_only = true;
        solo->failed = group->key;
        solo->reopens_us = sim_world_now_us(solo->world) +
                           sim_span_us(solo->world, SIM_DISK, group->key, 100 * US_PER_MS);
    } else if (group->must_sync) {
        synced(solo, solo->journal_count);
    }
    if (caller(solo) != NULL && sim_fires(solo->world, SIM_POWER, group->key, NULL)) {
        size_t left = sim_draw(solo->world, DRAW_CUT, group->key) % (solo->journal_count + 1);
        uint64_t first = left < solo->journal_count ? solo->journal[left].group : solo->groups + 1;
        while (solo->journal_count > 0 && solo->journal[solo->journal_count - 1].group >= first)
            take_back(solo);
        sim_client_kill(caller(solo));
    }
    end(solo, group->key);
}

static void put_batch(Group *group, const Batch *batch)
{
    for (size_t i = 0; i < batch->count; i++)
        group_put(group, batch->changes[i].table, batch->changes[i].row, &batch->changes[i].change,
                  batch->changes[i].change.timestamp);
}

static Status solo_write_many(Store *store, const Batch *batches, size_t count,
                              Status *ret_statuses)
{
    Group group;
    bool goes = group_begin(solo_of(store), &group);
    for (size_t i = 0; i < count; i++) {
        ret_statuses[i] = !goes ? STATUS_UNAVAILABLE : group.fails ? STATUS_UNKNOWN : STATUS_OK;
        group.must_sync |= !batches[i].lazy;
        if (goes)
            put_batch(&group, &batches[i]);
    }
    if (goes)
        group_end(&group);
    return STATUS_OK;
}

static bool holds(const SimSolo *solo, const Condition *condition, const Version *version)
{
    bool there = version != NULL && version_alive(version, now_us(solo));
    return condition->absent ? !there : there && slice_equal(version->value, condition->value);
}

static Status put_update(Group *group, const Update *update, Arena *arena, Found *ret_found)
{
    SimSolo *solo = group->solo;
    Row *row = rows_get(&solo->rows, update->table, update->row);
    bool hold_all = true;
    group->must_sync |= !update->lazy;
    put_batch(group, &update->marks);
    for (size_t i = 0; i < update->condition_count; i++) {
        const Condition *condition = &update->conditions[i];
        const Version *version = cells_find(&row->copies[COPY], condition->column);
        hold_all &= holds(solo, condition, version);
        if (ret_found != NULL && version != NULL && version_alive(version, now_us(solo)))
            ret_found[i] = (Found){true, arena_copy(arena, version->value)};
        else if (ret_found != NULL)
            ret_found[i] = (Found){false, SLICE_EMPTY};
    }
    for (size_t i = 0; group->fails && i < solo->held_count; i++)
        hold_all &= solo->held[i].row != row; /* one that goes with it came first */
    if (!hold_all)
        return group->fails ? STATUS_UNKNOWN : STATUS_CONFLICT;
    row->decisions++;
    for (size_t i = 0; i < update->change_count; i++)
        group_put(group, update->table, update->row, &update->changes[i], row->decisions);
    return group->fails ? STATUS_UNKNOWN : STATUS_OK;
}

static Status solo_update_if(Store *store, const Update *update, Arena *arena, Found *ret_found)
{
    Group group;
    if (!group_begin(solo_of(store), &group))
        return STATUS_UNAVAILABLE;
    Status status = put_update(&group, update, arena, ret_found);
    group_end(&group);
    return status;
}

/* Those that go together share their fate; of two for one row the second is decided on the first. */
static Status solo_update_many(Store *store, const Update *updates, size_t count, Arena *arena,
                               Status *ret_statuses)
{
    Group group;
    bool goes = group_begin(solo_of(store), &group);
    for (size_t i = 0; i < count; i++)
        ret_statuses[i] = goes ? put_update(&group, &updates[i], arena, NULL) : STATUS_UNAVAILABLE;
    if (goes)
        group_end(&group);
    return STATUS_OK;
}

/* ---- The engine -------------------------------------------------------------------------------------------------- */

static uint64_t generation(Store *store)
{
    return solo_of(store)->generation;
}

static void health(Store *store, StoreHealth *ret_health)
{
    *ret_health = (StoreHealth){.engine = "solo", .writable = !solo_of(store)->read_only};
}

static void close_store(Store *store)
{
    free(store);
}

static const StoreEngine ENGINE = {.name = "solo",
                                   .generation = generation,
                                   .read = solo_read,
                                   .read_many = solo_read_many,
                                   .slice = solo_slice,
                                   .scan = solo_scan,
                                   .write_many = solo_write_many,
                                   .update_if = solo_update_if,
                                   .update_many = solo_update_many,
                                   .health = health,
                                   .close = close_store};

Store *sim_solo_open(SimSolo *solo, SimClient *leader)
{
    SoloStore *own = calloc(1, sizeof *own);
    CHECK(own != NULL);
    if (solo->read_only)
        reopen_now(solo);
    synced(solo, solo->journal_count); /* what a killed process wrote is read, and saved */
    own->store =
        (Store){.engine = &ENGINE,
                .tables = solo->options.tables,
                .clock = leader != NULL ? sim_client_clock(leader) : sim_world_clock(solo->world),
                .grace_s = solo->options.grace_s};
    own->solo = solo;
    own->leader = leader;
    return &own->store;
}

void sim_solo_heal(SimSolo *solo)
{
    solo->reopens_us = sim_world_now_us(solo->world);
}

SimSolo *sim_solo_new(SimWorld *world, const SimOptions *options)
{
    SimSolo *solo = calloc(1, sizeof *solo);
    CHECK(solo != NULL);
    solo->world = world;
    solo->options = *options;
    return solo;
}

void sim_solo_free(SimSolo *solo)
{
    if (solo == NULL)
        return;
    synced(solo, solo->journal_count);
    for (size_t i = 0; i < solo->held_count; i++)
        version_release(solo->held[i].version);
    rows_free(&solo->rows);
    free(solo->journal);
    free(solo->held);
    free(solo);
}
