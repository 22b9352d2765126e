/* hook.c -- see hook.h. */
#include "hook.h"

static Store *next_call(Store *store)
{
    Hook *hook = (Hook *)store;
    if (++hook->calls == hook->at)
        hook->meanwhile();
    return hook->real;
}

static Status read_cell(Store *store, const Read *read, Arena *arena, Cell *ret_cell)
{
    Store *real = next_call(store);
    return real->engine->read(real, read, arena, ret_cell);
}

static Status slice(Store *store, const Query *query, Arena *arena, Page *ret_page)
{
    Store *real = next_call(store);
    return real->engine->slice(real, query, arena, ret_page);
}

static Status write_many(Store *store, const Batch *batches, size_t count, Status *ret_statuses)
{
    Store *real = next_call(store);
    return real->engine->write_many(real, batches, count, ret_statuses);
}

static Status update_if(Store *store, const Update *update, Arena *arena, Found *ret_found)
{
    Store *real = next_call(store);
    if (update->table == ((Hook *)store)->lost)
        return STATUS_UNKNOWN;
    return real->engine->update_if(real, update, arena, ret_found);
}

static const StoreEngine ENGINE = {.name = "hook",
                                   .read = read_cell,
                                   .slice = slice,
                                   .write_many = write_many,
                                   .update_if = update_if};

void hook_init(Hook *hook, Store *real)
{
    *hook = (Hook){.store = *real, .real = real};
    hook->store.engine = &ENGINE;
}

void hook_plan(Hook *hook, int at, void (*meanwhile)(void))
{
    hook->calls = 0;
    hook->at = at;
    hook->meanwhile = meanwhile;
}

bool hook_struck(const Hook *hook)
{
    return hook->at > 0 && hook->calls >= hook->at;
}
