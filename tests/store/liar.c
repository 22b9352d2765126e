/* liar.c -- see liar.h. */
#include "liar.h"

static Liar *liar_of(Store *store)
{
    return (Liar *)store;
}

static Status really_update(Liar *liar, const Update *update, Found *ret_found)
{
    return liar->real->engine->update_if(liar->real, update, liar->arena, ret_found);
}

void liar_deliver(Liar *liar)
{
    for (int i = 0; i < liar->late_count; i++)
        (void)!really_update(liar, liar->late[i], NULL);
    liar->late_count = 0;
}

static void meanwhile(Liar *liar, Meanwhile what)
{
    if (what == MEANWHILE_DELIVER)
        liar_deliver(liar);
    if (what == MEANWHILE_RIVAL)
        liar->rival_status = really_update(liar, liar->rival, NULL);
}

static Status update_if(Store *store, const Update *update, Arena *arena, Found *ret_found)
{
    Liar *liar = liar_of(store);
    LiarStep step = {MEANWHILE_NOTHING, FATE_HONEST};
    (void)arena;
    if (liar->attempts < LIAR_STEPS)
        step = liar->steps[liar->attempts];
    liar->attempts++;
    meanwhile(liar, step.before);
    switch (step.fate) {
    case FATE_HONEST:
        return really_update(liar, update, ret_found);
    case FATE_LOST:
        return STATUS_UNKNOWN;
    case FATE_DONE:
        (void)!really_update(liar, update, NULL);
        return STATUS_UNKNOWN;
    case FATE_LATE:
        liar->late[liar->late_count++] = update;
        return STATUS_UNKNOWN;
    case FATE_REFUSED:
        return STATUS_UNAVAILABLE;
    }
    return STATUS_CORRUPT;
}

static Status next_read(Liar *liar)
{
    LiarRead read = {MEANWHILE_NOTHING, STATUS_OK};
    if (liar->serial_reads < LIAR_READS)
        read = liar->reads[liar->serial_reads];
    liar->serial_reads++;
    meanwhile(liar, read.before);
    return read.status;
}

/* A settling read that is not serial would prove nothing. */
static Status read_cell(Store *store, const Read *read, Arena *arena, Cell *ret_cell)
{
    Liar *liar = liar_of(store);
    CHECK(read->mode == STORE_SERIAL);
    TRY(next_read(liar));
    return liar->real->engine->read(liar->real, read, arena, ret_cell);
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
    Liar *liar = liar_of(store);
    CHECK(query->mode == STORE_SERIAL);
    TRY(next_read(liar));
    return liar->real->engine->slice(liar->real, query, arena, ret_page);
}

static const StoreEngine ENGINE = {.name = "liar",
                                   .read = read_cell,
                                   .read_many = read_many,
                                   .slice = slice,
                                   .update_if = update_if};

void liar_init(Liar *liar, Store *real, Arena *arena)
{
    *liar = (Liar){.store = *real, .real = real, .rival_status = STATUS_COUNT, .arena = arena};
    liar->store.engine = &ENGINE;
}
