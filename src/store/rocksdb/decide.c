/* decide.c -- see decide.h. */
#include "store/rocksdb/decide.h"

void group_init(WriterGroup *group, Rocks *rocks, WriterCache *writer_cache)
{
    *group = (WriterGroup){.rocks = rocks, .arena = arena_new(), .writer_cache = writer_cache};
    overlay_init(&group->overlay, group->arena);
}

void group_free(WriterGroup *group)
{
    overlay_free(&group->overlay);
    pieces_free(&group->pieces);
    arena_free(group->arena);
}

void group_clear(WriterGroup *group)
{
    overlay_clear(&group->overlay);
    pieces_clear(&group->pieces);
    arena_reset(group->arena);
    group->decided = 0;
    group->must_sync = group->undecided = false;
}

/* ---- Cells ------------------------------------------------------------------------------------------------- */

/* What the group before writes is as good as stored: if it is not written, neither is this group. */
static bool load_sent(const WriterGroup *group, OverlayCell *entry)
{
    const OverlayCell *sent = group->sent != NULL ? overlay_peek(group->sent, entry) : NULL;
    if (sent == NULL || !sent->changed)
        return false;
    entry->cell = sent->cell;
    entry->present = sent->present;
    entry->loaded = true;
    return true;
}

static Status load_stored(WriterGroup *group, OverlayCell *entry)
{
    char *error = NULL;
    rocksdb_pinnableslice_t *pinned = rocksdb_get_pinned(group->rocks->db, group->rocks->read_row,
                                                         entry->key.data, entry->key.size, &error);
    if (error != NULL)
        return rocks_error(error, group->rocks->db_path, NULL);
    Status status = STATUS_OK;
    if (pinned != NULL) {
        Slice value;
        value.data = rocksdb_pinnableslice_value(pinned, &value.size);
        status = codec_decode(arena_copy(group->arena, value), &entry->cell);
        rocksdb_pinnableslice_destroy(pinned);
    }
    if (status == STATUS_OK) {
        entry->loaded = true;
        entry->present = pinned != NULL;
    }
    return status;
}

/* What had expired may be gone from the database since it was remembered. That shows when the clock steps back: readers do not see it, and the
 * writer must not, either. */
static bool may_be_gone(const WriterGroup *group, const OverlayCell *entry)
{
    return entry->present && entry->cell.death_us != 0 &&
           entry->cell.death_us <= atomic_load(&group->rocks->swept_us);
}

/* Makes sure that the overlay knows what is stored under the entry's key. UNAVAILABLE: could not be read. What its changer has
 * just read need not be remembered: whoever changes it next will have read it, too. */
static Status load(WriterGroup *group, OverlayCell *entry)
{
    if (entry->loaded || load_sent(group, entry))
        return STATUS_OK;
    bool writer_cache = writer_cache_load(group->writer_cache, entry);
    if (!writer_cache && read_hints_load(&group->rocks->read_hints, entry, group->arena) &&
        !may_be_gone(group, entry))
        return STATUS_OK;
    if (!writer_cache || may_be_gone(group, entry)) {
        entry->loaded = false;
        TRY(load_stored(group, entry));
    }
    entry->asked = true;
    return STATUS_OK;
}

static OverlayCell *entry_of(WriterGroup *group, const Table *table, Slice row, Slice column)
{
    char key[KEY_MAX];
    return overlay_find(&group->overlay, slice_of(key, codec_key(key, table, row, column)));
}

/* With a copy of the value: the next group may look at it when the caller has been answered and is gone. */
static StoredCell cell_of(WriterGroup *group, const Table *table, const Change *change)
{
    StoredCell cell = {.stamped = table->kind == TABLE_PLAIN,
                       .deleted = change->is_delete,
                       .timestamp = change->timestamp};
    if (change->is_delete)
        cell.death_us = group->now_us;
    else if (change->ttl_s > 0)
        cell.death_us = group->now_us + change->ttl_s * US_PER_S;
    if (!change->is_delete)
        cell.data = arena_copy(group->arena, change->value);
    return cell;
}

/* ---- Requests ---------------------------------------------------------------------------------------------- */

/* All of a batch is loaded before any of it is applied, so that a failed read leaves nothing half decided. Cells that are only ever
 * repeated are not looked at. */
static Status decide_batch(WriterGroup *group, const Batch *batch)
{
    size_t *entries = arena_alloc(group->arena, batch->count * sizeof *entries);
    for (size_t i = 0; i < batch->count; i++) {
        const RowChange *change = &batch->changes[i];
        OverlayCell *entry = entry_of(group, change->table, change->row, change->change.column);
        if (!change->table->repeats)
            TRY(load(group, entry));
        entries[i] = (size_t)(entry - group->overlay.cells);
    }
    for (size_t i = 0; i < batch->count; i++) {
        const RowChange *change = &batch->changes[i];
        OverlayCell *entry = &group->overlay.cells[entries[i]];
        StoredCell cell = cell_of(group, change->table, &change->change);
        if (entry->present && !codec_wins(&cell, &entry->cell, group->now_us)) {
            atomic_fetch_add_explicit(&group->rocks->cells_dropped, 1, memory_order_relaxed);
            continue;
        }
        entry->cell = cell;
        entry->present = entry->changed = true;
    }
    return STATUS_OK;
}

/* Loads the conditions' cells and says whether all hold; *ret_hold is set on OK only. */
static Status check_conditions(WriterGroup *group, const Update *update, bool *ret_hold)
{
    bool hold = true;
    for (size_t i = 0; i < update->condition_count; i++) {
        const Condition *condition = &update->conditions[i];
        OverlayCell *entry = entry_of(group, update->table, update->row, condition->column);
        TRY(load(group, entry));
        bool alive = entry->present && codec_alive(&entry->cell, group->now_us);
        hold &=
            condition->absent ? !alive : alive && slice_equal(entry->cell.data, condition->value);
    }
    *ret_hold = hold;
    return STATUS_OK;
}

static void tell_what_stands(WriterGroup *group, const Request *request, const Update *update)
{
    for (size_t i = 0; request->found != NULL && i < update->condition_count; i++) {
        const OverlayCell *entry =
            entry_of(group, update->table, update->row, update->conditions[i].column);
        bool alive = entry->present && codec_alive(&entry->cell, group->now_us);
        request->found[i].present = alive;
        request->found[i].value =
            alive ? arena_copy(request->arena, entry->cell.data) : SLICE_EMPTY;
    }
}

static Status decide_update(WriterGroup *group, const Request *request, const Update *update)
{
    bool hold;
    TRY(decide_batch(group, &update->marks));
    TRY(check_conditions(group, update, &hold));
    if (!hold) {
        tell_what_stands(group, request, update);
        return STATUS_CONFLICT;
    }
    for (size_t i = 0; i < update->change_count; i++) {
        const Change *change = &update->changes[i];
        OverlayCell *entry = entry_of(group, update->table, update->row, change->column);
        entry->cell = cell_of(group, update->table, change);
        entry->loaded = entry->changed = true;
        entry->present = !change->is_delete; /* no timestamp to remember: a delete removes */
    }
    return STATUS_OK;
}

static void decide(WriterGroup *group, const Piece *piece)
{
    const Request *request = piece->request;
    group->must_sync |= !request->lazy;
    for (size_t i = piece->from; i < piece->to && request->kind == REQUEST_UPDATE; i++)
        request->update_statuses[i] = decide_update(group, request, &request->updates[i]);
    for (size_t i = piece->from; i < piece->to && request->kind == REQUEST_WRITE; i++)
        request->batch_statuses[i] = decide_batch(group, &request->batches[i]);
}

void group_decide(WriterGroup *group)
{
    group->undecided |= atomic_load(&group->rocks->read_only);
    group->now_us = clock_now_us(group->rocks->world.clock);
    for (; group->decided < group->pieces.count; group->decided++)
        if (!group->undecided)
            decide(group, &group->pieces.items[group->decided]);
}

void group_remember(const WriterGroup *group)
{
    read_hints_begin(&group->rocks->read_hints);
    for (size_t i = 0; i < group->overlay.count; i++) {
        const OverlayCell *entry = &group->overlay.cells[i];
        if (!entry->changed)
            continue;
        writer_cache_keep(group->writer_cache, entry);
        read_hints_changed(&group->rocks->read_hints, entry);
    }
}
