/* faulty.c -- see faulty.h. */
#include "faulty.h"

static Faulty *faulty_of(Store *store)
{
    return (Faulty *)store;
}

typedef enum Turn { TURN_HONEST, TURN_STRIKES, TURN_OUT } Turn;

static Turn next_turn(Faulty *faulty)
{
    int call = ++faulty->calls;
    if (call == faulty->arrives_at)
        faulty_deliver(faulty);
    if (faulty->at == 0 || call < faulty->at)
        return TURN_HONEST;
    if (call == faulty->at)
        return TURN_STRIKES;
    return call - faulty->at < faulty->lasts ? TURN_OUT : TURN_HONEST;
}

static Status read_cell(Store *store, const Read *read, Arena *arena, Cell *ret_cell)
{
    Faulty *faulty = faulty_of(store);
    if (next_turn(faulty) != TURN_HONEST)
        return STATUS_UNAVAILABLE;
    return faulty->real->engine->read(faulty->real, read, arena, ret_cell);
}

static Status read_many(Store *store, const Read *reads, size_t count, Arena *arena,
                        ReadAnswer *ret_answers)
{
    for (size_t i = 0; i < count; i++)
        ret_answers[i].status = read_cell(store, &reads[i], arena, &ret_answers[i].cell);
    return STATUS_OK;
}

static Status slice(Store *store, const Query *query, Arena *arena, Page *ret_page)
{
    Faulty *faulty = faulty_of(store);
    if (next_turn(faulty) != TURN_HONEST)
        return STATUS_UNAVAILABLE;
    return faulty->real->engine->slice(faulty->real, query, arena, ret_page);
}

static Status scan(Store *store, const Table *table, Slice position, uint32_t limit, Arena *arena,
                   ScanPage *ret_page)
{
    Faulty *faulty = faulty_of(store);
    if (next_turn(faulty) != TURN_HONEST)
        return STATUS_UNAVAILABLE;
    return faulty->real->engine->scan(faulty->real, table, position, limit, arena, ret_page);
}

static Status write_many(Store *store, const Batch *batches, size_t count, Status *ret_statuses)
{
    Faulty *faulty = faulty_of(store);
    if (next_turn(faulty) == TURN_HONEST && !faulty->loses_plain)
        return faulty->real->engine->write_many(faulty->real, batches, count, ret_statuses);
    for (size_t i = 0; i < count; i++)
        ret_statuses[i] = STATUS_UNAVAILABLE;
    return STATUS_OK;
}

static Change copy_change(const Change *change, Arena *arena)
{
    Change copy = *change;
    copy.column = arena_copy(arena, change->column);
    copy.value = change->is_delete ? SLICE_EMPTY : arena_copy(arena, change->value);
    return copy;
}

/* The caller's memory will be gone when it arrives. */
static void keep_late(Faulty *faulty, const Update *update)
{
    Arena *arena = faulty->arena;
    Condition *conditions = ARENA_ARRAY(arena, update->condition_count, Condition);
    Change *changes = ARENA_ARRAY(arena, update->change_count, Change);
    for (size_t i = 0; i < update->condition_count; i++)
        conditions[i] = (Condition){arena_copy(arena, update->conditions[i].column),
                                    arena_copy(arena, update->conditions[i].value),
                                    update->conditions[i].absent};
    for (size_t i = 0; i < update->change_count; i++)
        changes[i] = copy_change(&update->changes[i], arena);
    faulty->late = *update;
    faulty->late.row = arena_copy(arena, update->row);
    faulty->late.proof = arena_copy(arena, update->proof);
    faulty->late.conditions = conditions;
    faulty->late.changes = changes;
    faulty->late.marks = (Batch){.count = 0};
    faulty->has_late = true;
    if (update->marks.count > 0) { /* they go before the update, and so are there already */
        Status status;
        (void)!faulty->real->engine->write_many(faulty->real, &update->marks, 1, &status);
    }
}

static Status update_if(Store *store, const Update *update, Arena *arena, Found *ret_found)
{
    Faulty *faulty = faulty_of(store);
    Turn turn = next_turn(faulty);
    if (turn == TURN_HONEST)
        return faulty->real->engine->update_if(faulty->real, update, arena, ret_found);
    if (faulty->fate == FAULT_REFUSED)
        return STATUS_UNAVAILABLE;
    if (turn == TURN_STRIKES && faulty->fate == FAULT_DONE)
        (void)!faulty->real->engine->update_if(faulty->real, update, arena, ret_found);
    if (turn == TURN_STRIKES && faulty->fate == FAULT_LATE)
        keep_late(faulty, update);
    return STATUS_UNKNOWN;
}

static uint64_t generation(Store *store)
{
    return faulty_of(store)->generation;
}

static void health(Store *store, StoreHealth *ret_health)
{
    store_health(faulty_of(store)->real, ret_health);
}

static const StoreEngine ENGINE = {.name = "faulty",
                                   .generation = generation,
                                   .read = read_cell,
                                   .read_many = read_many,
                                   .slice = slice,
                                   .scan = scan,
                                   .write_many = write_many,
                                   .update_if = update_if,
                                   .health = health};

void faulty_init(Faulty *faulty, Store *real, Arena *arena)
{
    *faulty = (Faulty){.store = *real, .real = real, .arena = arena};
    faulty->store.engine = &ENGINE;
}

void faulty_plan(Faulty *faulty, int at, FaultFate fate, int lasts)
{
    faulty->at = at;
    faulty->fate = fate;
    faulty->lasts = lasts;
    faulty->calls = 0;
    faulty->has_late = false;
    faulty->arrives_at = 0;
}

void faulty_arrive(Faulty *faulty, int at)
{
    faulty->at = 0;
    faulty->calls = 0;
    faulty->arrives_at = at;
}

bool faulty_struck(const Faulty *faulty)
{
    return faulty->at > 0 && faulty->calls >= faulty->at;
}

void faulty_deliver(Faulty *faulty)
{
    if (faulty->has_late)
        (void)!faulty->real->engine->update_if(faulty->real, &faulty->late, faulty->arena, NULL);
    faulty->generation += faulty->has_late;
    faulty->has_late = false;
}
