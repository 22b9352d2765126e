/* task_state.c -- places and heartbeats in the store.
 *
 * Both tables are plain: the newest wins, and when two instances work on one part, either place is a good one. Timestamps are the
 * clock's, but always after what this instance knows of, so that a clock that is set back stops nothing. */
#include <stdlib.h>

#include "tasks/inside.h"

enum { FORMAT = 1, FLAG_UNDER_WAY = 1, FLAG_FAILED = 2 };

/* ---- Places ---------------------------------------------------------------------------------------------------- */

void task_state_free(TaskState *state)
{
    buffer_free(&state->position);
}

static int64_t stamp_after(const Tasks *tasks, int64_t last)
{
    int64_t now_us = clock_now_us(tasks->options.world.clock);
    return now_us > last ? now_us : last + 1;
}

static Slice state_row(const TaskPart *part, Arena *arena)
{
    return arena_print(arena, "%s/%u", part->task->name, part->number);
}

static void encode(const TaskState *state, Buffer *to)
{
    Slice error = slice_from(state->error);
    buffer_u8(to, FORMAT);
    buffer_u8(
        to, (uint8_t)((state->under_way ? FLAG_UNDER_WAY : 0) | (state->failed ? FLAG_FAILED : 0)));
    buffer_i64(to, state->begun_us);
    buffer_i64(to, state->ended_us);
    buffer_i64(to, state->whole_us);
    buffer_i64(to, state->took_us);
    buffer_u64(to, state->done);
    buffer_u64(to, state->found);
    buffer_u64(to, state->errors);
    buffer_i64(to, state->error_us);
    buffer_u16(to, (uint16_t)error.size);
    buffer_bytes(to, error);
    buffer_bytes(to, buffer_slice(&state->position));
}

static Status decode(Slice value, TaskState *state)
{
    Reader reader = reader_of(value);
    uint8_t format = reader_u8(&reader), flags = reader_u8(&reader);
    TaskState read = {.under_way = flags & FLAG_UNDER_WAY, .failed = flags & FLAG_FAILED};
    read.begun_us = reader_i64(&reader);
    read.ended_us = reader_i64(&reader);
    read.whole_us = reader_i64(&reader);
    read.took_us = reader_i64(&reader);
    read.done = reader_u64(&reader);
    read.found = reader_u64(&reader);
    read.errors = reader_u64(&reader);
    read.error_us = reader_i64(&reader);
    Slice error = reader_bytes(&reader, reader_u16(&reader));
    Slice position = reader_rest(&reader);
    if (reader.failed || format != FORMAT || error.size >= sizeof read.error ||
        position.size > STORE_POSITION_MOST)
        return STATUS_CORRUPT;
    if (error.size > 0)
        memcpy(read.error, error.data, error.size);
    read.position = state->position;
    buffer_clear(&read.position);
    buffer_bytes(&read.position, position);
    *state = read;
    return STATUS_OK;
}

Status task_state_read(Tasks *tasks, TaskPart *part)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Cell cell;
    Read read = {&TABLE_TASK_STATE, state_row(part, arena), SLICE("state"), STORE_NORMAL};
    if (part->task->local)
        return STATUS_OK;
    Status status = store_read(tasks->options.store, &read, arena, &cell);
    if (status == STATUS_NOT_FOUND)
        return STATUS_OK;
    TRY(status);
    if (cell.timestamp <= part->stamp) /* what is in memory is that, or could not be stored */
        return STATUS_OK;
    TRY(decode(cell.value, &part->state));
    part->stamp = cell.timestamp;
    return STATUS_OK;
}

Status task_state_write(Tasks *tasks, TaskPart *part)
{
    ARENA_SCOPE Arena *arena = arena_new();
    BUFFER_SCOPE Buffer value = {0};
    if (part->task->local)
        return STATUS_OK;
    encode(&part->state, &value);
    part->stamp = stamp_after(tasks, part->stamp);
    RowChange change = {
        &TABLE_TASK_STATE,
        state_row(part, arena),
        {.column = SLICE("state"), .value = buffer_slice(&value), .timestamp = part->stamp}};
    part->saved_us = clock_steady_us(tasks->options.world.clock);
    return store_write(tasks->options.store, &(Batch){&change, 1, true});
}

/* ---- Heartbeats ------------------------------------------------------------------------------------------------ */

static const Slice LIVE = {"live", 4};

static Status write_beat(Tasks *tasks, bool alive)
{
    BUFFER_SCOPE Buffer value = {0};
    tasks->beat_stamp = stamp_after(tasks, tasks->beat_stamp);
    buffer_u8(&value, FORMAT);
    buffer_i64(&value, tasks->started_us);
    buffer_bytes(&value, slice_from(tasks->options.address));
    Change change = {.column = id_slice(&tasks->id),
                     .value = buffer_slice(&value),
                     .timestamp = tasks->beat_stamp};
    change.ttl_s = alive ? INSTANCE_TTL_S : 1;
    RowChange row = {&TABLE_INSTANCES, LIVE, change};
    return store_write(tasks->options.store, &(Batch){&row, 1, true});
}

static Status decode_instance(const Cell *cell, Instance *ret_instance)
{
    Reader reader = reader_of(cell->value);
    uint8_t format = reader_u8(&reader);
    Instance instance = {.started_us = reader_i64(&reader), .beat_us = cell->timestamp};
    instance.address = reader_rest(&reader);
    if (reader.failed || format != FORMAT || id_from_bytes(cell->column, &instance.id) != STATUS_OK)
        return STATUS_CORRUPT;
    *ret_instance = instance;
    return STATUS_OK;
}

Status tasks_instances(Tasks *tasks, Arena *arena, Instance **ret_instances, size_t *ret_count)
{
    Page page;
    Query query = {.table = &TABLE_INSTANCES, .row = LIVE, .limit = INSTANCES_MOST};
    TRY(store_slice(tasks->options.store, &query, arena, &page));
    Instance *instances = ARENA_ARRAY(arena, page.count, Instance);
    size_t count = 0;
    for (size_t i = 0; i < page.count; i++) {
        Instance *instance = &instances[count];
        TRY(decode_instance(&page.cells[i], instance));
        instance->self = id_equal(instance->id, tasks->id);
        count += instance->self || tasks->options.shared;
    }
    *ret_instances = instances;
    *ret_count = count;
    return STATUS_OK;
}

static bool is_among(Id id, const Instance *instances, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (id_equal(instances[i].id, id))
            return true;
    return false;
}

/* Those who are alive now take the place of those who were. When one of them is gone it may have left something half done. */
static void hear_of(Tasks *tasks, const Instance *instances, size_t count)
{
    bool gone = false;
    for (size_t i = 0; i < tasks->known_count && !gone; i++)
        gone = !is_among(tasks->known[i], instances, count);
    if (gone)
        tasks_after_crash(tasks, false);
    free(tasks->known);
    tasks->known = calloc(count, sizeof *tasks->known);
    CHECK(tasks->known != NULL);
    tasks->known_count = count;
    tasks->live = (uint32_t)count;
    for (size_t i = 0; i < count; i++) {
        tasks->known[i] = instances[i].id;
        if (instances[i].self)
            tasks->self = (uint32_t)i;
    }
}

Status task_beat(Tasks *tasks)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Instance *instances;
    size_t count;
    TRY(write_beat(tasks, true));
    TRY(tasks_instances(tasks, arena, &instances, &count));
    if (is_among(tasks->id, instances, count)) /* else its own beat is not seen yet */
        hear_of(tasks, instances, count);
    return STATUS_OK;
}

Status task_beat_end(Tasks *tasks)
{
    return write_beat(tasks, false);
}
