/* store.c -- the door of the store: limits and table rules are checked here, once for all engines, before
 * anything is done. What passes goes to the engine unchanged. */
#include "store/store.h"

#include "base/mutant.h"
#include "store/engine.h"

/* ---- Rules ----------------------------------------------------------------------------------------------- */

static Status check_size(size_t size, size_t least, size_t most)
{
    if (size < least)
        return STATUS_INVALID;
    return size > most ? STATUS_TOO_LARGE : STATUS_OK;
}

static Status check_row(const Table *table, TableKind kind, Slice row)
{
    if (table == NULL || table->kind != kind)
        return STATUS_INVALID;
    return check_size(row.size, 1, STORE_ROW_MAX);
}

static Status check_read(const Table *table, Slice row, ReadMode mode)
{
    if (table == NULL || (mode == STORE_SERIAL && table->kind != TABLE_CONDITIONAL))
        return STATUS_INVALID;
    return check_size(row.size, 1, STORE_ROW_MAX);
}

/* A table that forgets needs timestamps that can be compared with its memory: µs of the wall clock, no older than
 * the grace period, and not so far ahead that nothing could ever replace them. */
static Status check_timestamp(const Store *store, const Table *table, int64_t timestamp)
{
    if (table->kind == TABLE_CONDITIONAL)
        return timestamp == 0 ? STATUS_OK : STATUS_INVALID;
    if (!table->deletes && !table->expires)
        return timestamp != INT64_MIN ? STATUS_OK : STATUS_INVALID;
    int64_t now = clock_now_us(store->clock);
    bool fits = timestamp >= now - store->grace_s * US_PER_S &&
                timestamp <= now + STORE_AHEAD_MOST_S * US_PER_S;
    return fits ? STATUS_OK : STATUS_INVALID;
}

static Status check_change(const Store *store, const Table *table, const Change *change)
{
    TRY(check_size(change->column.size, 0, STORE_COLUMN_MAX));
    if (change->is_delete)
        return table->deletes && change->ttl_s == 0
                   ? check_timestamp(store, table, change->timestamp)
                   : STATUS_INVALID;
    TRY(check_size(change->value.size, 0, STORE_VALUE_MAX));
    if (change->ttl_s != 0) {
        if (!table->expires || change->ttl_s < 0)
            return STATUS_INVALID;
        if (change->ttl_s > STORE_TTL_MOST_S)
            return STATUS_TOO_LARGE;
    }
    return check_timestamp(store, table, change->timestamp);
}

static size_t change_bytes(const Change *change)
{
    return change->column.size + (change->is_delete ? 0 : change->value.size);
}

static Status check_batch(const Store *store, const Batch *batch)
{
    size_t bytes = 0;
    TRY(check_size(batch->count, 0, STORE_BATCH_CHANGES_MAX));
    for (size_t i = 0; i < batch->count; i++) {
        const RowChange *row = &batch->changes[i];
        TRY(check_row(row->table, TABLE_PLAIN, row->row));
        TRY(check_change(store, row->table, &row->change));
        bytes += row->row.size + change_bytes(&row->change);
    }
    return check_size(bytes, 0, STORE_BATCH_MAX);
}

static Status check_conditions(const Update *update, size_t *bytes)
{
    TRY(check_size(update->condition_count, 1, STORE_CHANGES_MAX));
    for (size_t i = 0; i < update->condition_count; i++) {
        const Condition *condition = &update->conditions[i];
        TRY(check_size(condition->column.size, 0, STORE_COLUMN_MAX));
        *bytes += condition->column.size;
        if (condition->absent)
            continue;
        TRY(check_size(condition->value.size, 0, STORE_VALUE_MAX));
        *bytes += condition->value.size;
    }
    return STATUS_OK;
}

static const Change *proof_of(const Update *update)
{
    for (size_t i = 0; i < update->change_count; i++) {
        const Change *change = &update->changes[i];
        if (!change->is_delete && slice_equal(change->column, update->proof))
            return change;
    }
    return NULL;
}

/* A column that is changed twice in one update would leave it open which change stands. */
static bool changes_a_column_twice(const Update *update)
{
    for (size_t i = 0; i < update->change_count; i++)
        for (size_t k = 0; k < i; k++)
            if (slice_equal(update->changes[i].column, update->changes[k].column))
                return true;
    return false;
}

static Status check_update(const Store *store, const Update *update)
{
    size_t bytes = update->row.size;
    TRY(check_row(update->table, TABLE_CONDITIONAL, update->row));
    TRY(check_conditions(update, &bytes));
    TRY(check_size(update->change_count, 1, STORE_CHANGES_MAX));
    for (size_t i = 0; i < update->change_count; i++) {
        TRY(check_change(store, update->table, &update->changes[i]));
        bytes += change_bytes(&update->changes[i]);
    }
    TRY(check_size(bytes, 0, STORE_UPDATE_MAX));
    if ((update->proof.size > 0 && proof_of(update) == NULL) || changes_a_column_twice(update))
        return STATUS_INVALID;
    return check_batch(store, &update->marks);
}

/* ---- What a thread has changed ----------------------------------------------------------------------------- */

static _Thread_local uint64_t effects;

uint64_t store_effects(void)
{
    return effects;
}

void store_effects_forget(uint64_t before)
{
    effects = before;
}

static bool is_perhaps_done(Status status)
{
    return status == STATUS_OK || status == STATUS_UNKNOWN;
}

static void note_batch(const Batch *batch, Status status)
{
    bool counts = false;
    for (size_t i = 0; i < batch->count; i++)
        counts |= !batch->changes[i].table->notes;
    effects += counts && is_perhaps_done(status);
}

static void note_update(const Update *update, Status status)
{
    effects += !update->table->notes && is_perhaps_done(status);
}

/* ---- Calls ----------------------------------------------------------------------------------------------- */

Status store_read(Store *store, const Read *read, Arena *arena, Cell *ret_cell)
{
    TRY(check_read(read->table, read->row, read->mode));
    TRY(check_size(read->column.size, 0, STORE_COLUMN_MAX));
    return store->engine->read(store, read, arena, ret_cell);
}

Status store_read_many(Store *store, const Read *reads, size_t count, Arena *arena,
                       ReadAnswer *ret_answers)
{
    TRY(check_size(count, 0, STORE_MANY_MAX));
    for (size_t i = 0; i < count; i++) {
        TRY(check_read(reads[i].table, reads[i].row, reads[i].mode));
        TRY(check_size(reads[i].column.size, 0, STORE_COLUMN_MAX));
    }
    return store->engine->read_many(store, reads, count, arena, ret_answers);
}

static Status check_query(const Query *query)
{
    TRY(check_read(query->table, query->row, query->mode));
    TRY(check_size(query->from.size, 0, STORE_COLUMN_MAX));
    TRY(check_size(query->to.size, 0, STORE_COLUMN_MAX));
    TRY(check_size(query->after.size, 0, STORE_COLUMN_MAX));
    TRY(check_size(query->limit, 1, STORE_PAGE_MAX));
    return query->mode == STORE_SERIAL && query->resume ? STATUS_INVALID : STATUS_OK;
}

Status store_slice(Store *store, const Query *query, Arena *arena, Page *ret_page)
{
    TRY(check_query(query));
    return store->engine->slice(store, query, arena, ret_page);
}

Status store_slice_many(Store *store, const Query *queries, size_t count, Arena *arena,
                        PageAnswer *ret_answers)
{
    TRY(check_size(count, 0, STORE_MANY_MAX));
    for (size_t i = 0; i < count; i++)
        TRY(check_query(&queries[i]));
    if (count > 0 && store->engine->slice_many != NULL)
        store->engine->slice_many(store, queries, count, arena, ret_answers);
    else
        for (size_t i = 0; i < count; i++)
            ret_answers[i].status =
                store->engine->slice(store, &queries[i], arena, &ret_answers[i].page);
    return STATUS_OK;
}

Status store_scan(Store *store, const Table *table, Slice position, uint32_t limit, Arena *arena,
                  ScanPage *ret_page)
{
    if (table == NULL)
        return STATUS_INVALID;
    TRY(check_size(position.size, 0, STORE_POSITION_MAX));
    TRY(check_size(limit, 1, STORE_PAGE_MAX));
    return store->engine->scan(store, table, position, limit, arena, ret_page);
}

Status store_write(Store *store, const Batch *batch)
{
    Status status;
    TRY(store_write_many(store, batch, 1, &status));
    return status;
}

Status store_write_many(Store *store, const Batch *batches, size_t count, Status *ret_statuses)
{
    TRY(check_size(count, 0, STORE_MANY_MAX));
    for (size_t i = 0; i < count; i++)
        TRY(check_batch(store, &batches[i]));
    if (count == 0)
        return STATUS_OK;
    TRY(store->engine->write_many(store, batches, count, ret_statuses));
    for (size_t i = 0; i < count; i++)
        note_batch(&batches[i], ret_statuses[i]);
    return STATUS_OK;
}

Status store_update_if(Store *store, const Update *update, Arena *arena, Found *ret_found)
{
    TRY(check_update(store, update));
    Status status = store->engine->update_if(store, update, arena, ret_found);
    note_update(update, status);
    return status;
}

/* One attempt of each, which were checked. */
static Status attempt(Store *store, const Update *updates, size_t count, Arena *arena,
                      Status *ret_statuses)
{
    if (count > 0 && store->engine->update_many != NULL)
        return store->engine->update_many(store, updates, count, arena, ret_statuses);
    for (size_t i = 0; i < count; i++)
        ret_statuses[i] = store->engine->update_if(store, &updates[i], arena, NULL);
    return STATUS_OK;
}

Status store_update_many(Store *store, const Update *updates, size_t count, Arena *arena,
                         Status *ret_statuses)
{
    TRY(check_size(count, 0, STORE_MANY_MAX));
    for (size_t i = 0; i < count; i++)
        TRY(check_update(store, &updates[i]));
    TRY(attempt(store, updates, count, arena, ret_statuses));
    for (size_t i = 0; i < count; i++)
        note_update(&updates[i], ret_statuses[i]);
    return STATUS_OK;
}

/* ---- The rule for UNKNOWN -------------------------------------------------------------------------------- */

/* OK: our proof is there. NOT_FOUND: it is not. Anything else: could not be read. */
static Status look_for_proof(Store *store, const Update *update, Slice value, Arena *arena)
{
    Read read = {update->table, update->row, update->proof, STORE_SERIAL};
    Cell cell;
    TRY(store->engine->read(store, &read, arena, &cell));
    return slice_equal(cell.value, value) ? STATUS_OK : STATUS_NOT_FOUND;
}

/* CONFLICT: a condition is false; `found` says what is there. OK: all hold. */
static Status look_at_conditions(Store *store, const Update *update, Arena *arena, Found *found)
{
    bool hold = true;
    for (size_t i = 0; i < update->condition_count; i++) {
        const Condition *condition = &update->conditions[i];
        Read read = {update->table, update->row, condition->column, STORE_SERIAL};
        Cell cell = {.value = SLICE_EMPTY};
        Status status = store->engine->read(store, &read, arena, &cell);
        if (status != STATUS_OK && status != STATUS_NOT_FOUND)
            return status;
        bool present = status == STATUS_OK;
        found[i] = (Found){present, cell.value};
        hold &= condition->absent ? !present : present && slice_equal(cell.value, condition->value);
    }
    return hold ? STATUS_OK : STATUS_CONFLICT;
}

/* What the row says about an update of which an attempt may have arrived. OK: done. CONFLICT: not done, now or ever.
 * UNKNOWN: cannot be told; *ret_unmoved when that is because the conditions still hold, so that sending again is right.
 * The proof is looked for after a condition was seen false, since our own attempt may be what made it so. */
static Status look(Store *store, const Update *update, Slice proof, Arena *arena, Found *found,
                   bool *ret_unmoved)
{
    Status conditions = look_at_conditions(store, update, arena, found);
    Status there = look_for_proof(store, update, proof, arena);
    *ret_unmoved = conditions == STATUS_OK && there == STATUS_NOT_FOUND;
    if (there == STATUS_OK)
        return STATUS_OK;
    return conditions == STATUS_CONFLICT && there == STATUS_NOT_FOUND ? STATUS_CONFLICT
                                                                      : STATUS_UNKNOWN;
}

/* What became of an update whose first attempt was UNKNOWN, with up to `tries` attempts in all. */
static Status find_out(Store *store, const Update *update, int tries, Arena *arena, Found *found)
{
    const Change *proof = proof_of(update);
    Status status = STATUS_UNKNOWN;
    CHECK(proof != NULL); /* it was checked */
    bool send = false;
    for (int i = 0; i < tries; i++) {
        if (send) {
            status = store->engine->update_if(store, update, arena, found);
            if (status == STATUS_OK)
                break;
        }
        if (MUTANT(unknown_sent_again)) {
            send = true;
            if (status == STATUS_UNKNOWN)
                continue;
            break;
        }
        status = look(store, update, proof->value, arena, found, &send);
        if (status != STATUS_UNKNOWN)
            break;
    }
    return status;
}

static Status check_proven(const Store *store, const Update *update)
{
    TRY(check_update(store, update));
    return proof_of(update) == NULL ? STATUS_INVALID : STATUS_OK;
}

Status store_update(Store *store, const Update *update, int tries, Arena *arena, Found *ret_found)
{
    CHECK(tries >= 1);
    TRY(check_proven(store, update));
    Found *found = ARENA_ARRAY(arena, update->condition_count, Found);
    Status status = store->engine->update_if(store, update, arena, found);
    if (status == STATUS_UNKNOWN)
        status = find_out(store, update, tries, arena, found);
    if (status == STATUS_CONFLICT && ret_found != NULL)
        memcpy(ret_found, found, update->condition_count * sizeof *found);
    note_update(update, status);
    return status;
}

Status store_update_each(Store *store, const Update *updates, size_t count, int tries, Arena *arena,
                         Status *ret_statuses)
{
    CHECK(tries >= 1);
    TRY(check_size(count, 0, STORE_MANY_MAX));
    if (count == 1) {
        ret_statuses[0] = store_update(store, updates, tries, arena, NULL);
        return ret_statuses[0] == STATUS_INVALID || ret_statuses[0] == STATUS_TOO_LARGE
                   ? ret_statuses[0]
                   : STATUS_OK;
    }
    for (size_t i = 0; i < count; i++)
        TRY(check_proven(store, &updates[i]));
    TRY(attempt(store, updates, count, arena, ret_statuses));
    for (size_t i = 0; i < count; i++) {
        Found *found = ARENA_ARRAY(arena, updates[i].condition_count, Found);
        if (ret_statuses[i] == STATUS_UNKNOWN)
            ret_statuses[i] = find_out(store, &updates[i], tries, arena, found);
        note_update(&updates[i], ret_statuses[i]);
    }
    return STATUS_OK;
}

Slice store_receipt(Slice id, Arena *arena)
{
    char *column = arena_bytes(arena, 2 + id.size);
    memcpy(column, "~/", 2);
    memcpy(column + 2, id.data, id.size);
    return slice_of(column, 2 + id.size);
}

Status store_replace(Store *store, const Replacement *replacement, int tries, Arena *arena)
{
    Slice id = id_slice(&replacement->id), receipt = store_receipt(id, arena);
    Condition condition = {replacement->column, replacement->before, replacement->before.size == 0};
    Change changes[] = {
        {.column = replacement->column, .value = replacement->value, .ttl_s = replacement->ttl_s},
        {.column = receipt, .value = id, .ttl_s = STORE_RECEIPT_TTL_S},
    };
    Update update = {.table = replacement->table,
                     .row = replacement->row,
                     .conditions = &condition,
                     .condition_count = 1,
                     .changes = changes,
                     .change_count = 2,
                     .proof = receipt};
    return store_update(store, &update, tries, arena, NULL);
}

/* ---- Running --------------------------------------------------------------------------------------------- */

void store_health(Store *store, StoreHealth *ret_health)
{
    store->engine->health(store, ret_health);
}

uint64_t store_generation(Store *store)
{
    return store->engine->generation == NULL ? 0 : store->engine->generation(store);
}

bool store_is_shared(const Store *store)
{
    return store->engine->shared;
}

void store_metrics(Store *store, StoreMetricVisit *visit, void *context)
{
    store->engine->metrics(store, visit, context);
}

Status store_backup(Store *store, const char *directory, Reason *reason)
{
    return store->engine->backup(store, directory, reason);
}

Status store_reopen(Store *store, Reason *reason)
{
    return store->engine->reopen(store, reason);
}

void store_close(Store *store)
{
    if (store != NULL)
        store->engine->close(store);
}
