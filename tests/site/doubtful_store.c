/* doubtful_store.c -- see doubtful_store.h. */
#include "doubtful_store.h"

static DoubtfulStore *doubtful_store_of(Store *store)
{
    return (DoubtfulStore *)store;
}

static bool is_dark(const DoubtfulStore *doubt, const Table *table)
{
    return doubt->mode != DOUBT_NONE && doubt->begun &&
           (doubt->mode == DOUBT_DARK || table == doubt->table);
}

bool doubtful_store_is_dark(const DoubtfulStore *doubt)
{
    return doubt->mode == DOUBT_DARK && doubt->begun;
}

static void count_change(DoubtfulStore *doubt, bool is_note, Status status)
{
    if (doubt->mode == DOUBT_DARK && !is_note && status == STATUS_OK && --doubt->changes_left == 0)
        doubt->begun = true;
}

static Status read_cell(Store *store, const Read *read, Arena *arena, Cell *ret_cell)
{
    DoubtfulStore *doubt = doubtful_store_of(store);
    if (is_dark(doubt, read->table))
        return STATUS_UNAVAILABLE;
    return doubt->real->engine->read(doubt->real, read, arena, ret_cell);
}

static Status read_many(Store *store, const Read *reads, size_t count, Arena *arena,
                        ReadAnswer *ret_answers)
{
    Store *real = doubtful_store_of(store)->real;
    if (doubtful_store_is_dark(doubtful_store_of(store))) {
        for (size_t i = 0; i < count; i++)
            ret_answers[i].status = STATUS_UNAVAILABLE;
        return STATUS_OK;
    }
    return real->engine->read_many(real, reads, count, arena, ret_answers);
}

static Status slice(Store *store, const Query *query, Arena *arena, Page *ret_page)
{
    DoubtfulStore *doubt = doubtful_store_of(store);
    if (is_dark(doubt, query->table))
        return STATUS_UNAVAILABLE;
    return doubt->real->engine->slice(doubt->real, query, arena, ret_page);
}

static Status scan(Store *store, const Table *table, Slice position, uint32_t limit, Arena *arena,
                   ScanPage *ret_page)
{
    Store *real = doubtful_store_of(store)->real;
    if (doubtful_store_is_dark(doubtful_store_of(store)))
        return STATUS_UNAVAILABLE;
    return real->engine->scan(real, table, position, limit, arena, ret_page);
}

static Status write_many(Store *store, const Batch *batches, size_t count, Status *ret_statuses)
{
    DoubtfulStore *doubt = doubtful_store_of(store);
    Store *real = doubt->real;
    if (doubt->mode != DOUBT_DARK)
        return real->engine->write_many(real, batches, count, ret_statuses);
    for (size_t i = 0; i < count; i++) {
        bool is_note = true;
        for (size_t k = 0; k < batches[i].count; k++)
            is_note &= batches[i].changes[k].table->notes;
        ret_statuses[i] = STATUS_UNAVAILABLE;
        if (!doubt->begun)
            (void)!real->engine->write_many(real, &batches[i], 1, &ret_statuses[i]);
        count_change(doubt, is_note, ret_statuses[i]);
    }
    return STATUS_OK;
}

static Status update_if(Store *store, const Update *update, Arena *arena, Found *ret_found)
{
    DoubtfulStore *doubt = doubtful_store_of(store);
    if (doubt->mode == DOUBT_DARK) {
        if (doubt->begun)
            return STATUS_UNAVAILABLE;
        Status status = doubt->real->engine->update_if(doubt->real, update, arena, ret_found);
        count_change(doubt, update->table->notes, status);
        return status;
    }
    if (doubt->mode == DOUBT_NONE || update->table != doubt->table)
        return doubt->real->engine->update_if(doubt->real, update, arena, ret_found);
    if (doubt->mode == DOUBT_DONE)
        (void)!doubt->real->engine->update_if(doubt->real, update, arena, ret_found);
    doubt->begun = true;
    return STATUS_UNKNOWN;
}

static Status update_many(Store *store, const Update *updates, size_t count, Arena *arena,
                          Status *ret_statuses)
{
    DoubtfulStore *doubt = doubtful_store_of(store);
    if (doubt->mode == DOUBT_NONE)
        return doubt->real->engine->update_many(doubt->real, updates, count, arena, ret_statuses);
    for (size_t i = 0; i < count; i++)
        ret_statuses[i] = update_if(store, &updates[i], arena, NULL);
    return STATUS_OK;
}

static void health(Store *store, StoreHealth *ret_health)
{
    store_health(((DoubtfulStore *)store)->real, ret_health);
}

static void metrics(Store *store, StoreMetricVisit *visit, void *context)
{
    store_metrics(((DoubtfulStore *)store)->real, visit, context);
}

static Status backup(Store *store, const char *directory, Reason *reason)
{
    return store_backup(((DoubtfulStore *)store)->real, directory, reason);
}

static const StoreEngine ENGINE = {.name = "doubt",
                                   .read = read_cell,
                                   .read_many = read_many,
                                   .slice = slice,
                                   .scan = scan,
                                   .write_many = write_many,
                                   .update_if = update_if,
                                   .update_many = update_many,
                                   .health = health,
                                   .metrics = metrics,
                                   .backup = backup};

void doubtful_store_init(DoubtfulStore *doubt, Store *real)
{
    *doubt = (DoubtfulStore){.store = *real, .real = real};
    doubt->store.engine = &ENGINE;
}

void doubtful_store_set(DoubtfulStore *doubt, DoubtMode mode, const Table *table)
{
    doubt->begun = false;
    doubt->table = table;
    doubt->mode = mode;
}

void doubtful_store_darken(DoubtfulStore *doubt, int changes)
{
    doubt->begun = false;
    doubt->changes_left = changes;
    doubt->mode = DOUBT_DARK;
}
