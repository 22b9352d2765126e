/* between.c -- see between.h. */
#include "between.h"

/* The store that is behind, after whatever happens first. */
static Store *pass(Store *store)
{
    Between *between = (Between *)store;
    if (between->armed && !between->inside) {
        between->inside = true;
        between->happen();
        between->inside = false;
    }
    return between->real;
}

static bool refuses(Store *store)
{
    return ((Between *)store)->refuses;
}

static Status read_cell(Store *store, const Read *read, Arena *arena, Cell *ret_cell)
{
    Store *real = pass(store);
    return refuses(store) ? STATUS_UNAVAILABLE : real->engine->read(real, read, arena, ret_cell);
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
    Store *real = pass(store);
    return refuses(store) ? STATUS_UNAVAILABLE : real->engine->slice(real, query, arena, ret_page);
}

static Status scan(Store *store, const Table *table, Slice position, uint32_t limit, Arena *arena,
                   ScanPage *ret_page)
{
    Store *real = pass(store);
    if (refuses(store))
        return STATUS_UNAVAILABLE;
    return real->engine->scan(real, table, position, limit < 7 ? limit : 7, arena, ret_page);
}

static Status write_many(Store *store, const Batch *batches, size_t count, Status *ret_statuses)
{
    Store *real = pass(store);
    return real->engine->write_many(real, batches, count, ret_statuses);
}

static Status update_if(Store *store, const Update *update, Arena *arena, Found *ret_found)
{
    Store *real = pass(store);
    return real->engine->update_if(real, update, arena, ret_found);
}

static const StoreEngine ENGINE = {.name = "between",
                                   .read = read_cell,
                                   .read_many = read_many,
                                   .slice = slice,
                                   .scan = scan,
                                   .write_many = write_many,
                                   .update_if = update_if};

void between_init(Between *between, Store *real)
{
    *between = (Between){.store = *real, .real = real};
    between->store.engine = &ENGINE;
}
