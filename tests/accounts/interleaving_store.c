/* interleaving_store.c -- see interleaving_store.h. */
#include "interleaving_store.h"

static Store *next_call(Store *store)
{
    InterleavingStore *interleaved = (InterleavingStore *)store;
    if (++interleaved->calls == interleaved->at)
        interleaved->meanwhile();
    return interleaved->real;
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
    if (update->table == ((InterleavingStore *)store)->lost)
        return STATUS_UNKNOWN;
    return real->engine->update_if(real, update, arena, ret_found);
}

static const StoreEngine ENGINE = {.name = "interleaved",
                                   .read = read_cell,
                                   .slice = slice,
                                   .write_many = write_many,
                                   .update_if = update_if};

void interleaving_store_init(InterleavingStore *interleaved, Store *real)
{
    *interleaved = (InterleavingStore){.store = *real, .real = real};
    interleaved->store.engine = &ENGINE;
}

void interleaving_store_plan(InterleavingStore *interleaved, int at, void (*meanwhile)(void))
{
    interleaved->calls = 0;
    interleaved->at = at;
    interleaved->meanwhile = meanwhile;
}

bool interleaving_store_struck(const InterleavingStore *interleaved)
{
    return interleaved->at > 0 && interleaved->calls >= interleaved->at;
}
