/* scripted_store.c -- see scripted_store.h. */
#include "scripted_store.h"

static ScriptedStore *scripted_store_of(Store *store)
{
    return (ScriptedStore *)store;
}

static Status really_update(ScriptedStore *scripted, const Update *update, Found *ret_found)
{
    return scripted->real->engine->update_if(scripted->real, update, scripted->arena, ret_found);
}

void scripted_store_deliver(ScriptedStore *scripted)
{
    for (int i = 0; i < scripted->late_count; i++)
        (void)!really_update(scripted, scripted->late[i], NULL);
    scripted->late_count = 0;
}

static void meanwhile(ScriptedStore *scripted, Meanwhile what)
{
    if (what == MEANWHILE_DELIVER)
        scripted_store_deliver(scripted);
    if (what == MEANWHILE_RIVAL)
        scripted->rival_status = really_update(scripted, scripted->rival, NULL);
}

static Status update_if(Store *store, const Update *update, Arena *arena, Found *ret_found)
{
    ScriptedStore *scripted = scripted_store_of(store);
    ScriptedStep step = {MEANWHILE_NOTHING, FATE_HONEST};
    (void)arena;
    if (scripted->attempts < SCRIPTED_STEPS)
        step = scripted->steps[scripted->attempts];
    scripted->attempts++;
    meanwhile(scripted, step.before);
    switch (step.fate) {
    case FATE_HONEST:
        return really_update(scripted, update, ret_found);
    case FATE_LOST:
        return STATUS_UNKNOWN;
    case FATE_DONE:
        (void)!really_update(scripted, update, NULL);
        return STATUS_UNKNOWN;
    case FATE_LATE:
        scripted->late[scripted->late_count++] = update;
        return STATUS_UNKNOWN;
    case FATE_REFUSED:
        return STATUS_UNAVAILABLE;
    }
    return STATUS_CORRUPT;
}

static Status next_read(ScriptedStore *scripted)
{
    ScriptedRead read = {MEANWHILE_NOTHING, STATUS_OK};
    if (scripted->serial_reads < SCRIPTED_READS)
        read = scripted->reads[scripted->serial_reads];
    scripted->serial_reads++;
    meanwhile(scripted, read.before);
    return read.status;
}

/* A settling read that is not serial would prove nothing. */
static Status read_cell(Store *store, const Read *read, Arena *arena, Cell *ret_cell)
{
    ScriptedStore *scripted = scripted_store_of(store);
    CHECK(read->mode == STORE_SERIAL);
    TRY(next_read(scripted));
    return scripted->real->engine->read(scripted->real, read, arena, ret_cell);
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
    ScriptedStore *scripted = scripted_store_of(store);
    CHECK(query->mode == STORE_SERIAL);
    TRY(next_read(scripted));
    return scripted->real->engine->slice(scripted->real, query, arena, ret_page);
}

static const StoreEngine ENGINE = {.name = "liar",
                                   .read = read_cell,
                                   .read_many = read_many,
                                   .slice = slice,
                                   .update_if = update_if};

void scripted_store_init(ScriptedStore *scripted, Store *real, Arena *arena)
{
    *scripted =
        (ScriptedStore){.store = *real, .real = real, .rival_status = STATUS_COUNT, .arena = arena};
    scripted->store.engine = &ENGINE;
}
