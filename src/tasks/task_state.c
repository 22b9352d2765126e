/* task_state.c -- places and heartbeats in the store.
 *
 * Both tables are plain: the newest wins, and when two instances work on one part, either place is a good one. Timestamps are the
 * clock's, but always after what this instance knows of, so that a clock that is set back stops nothing. */
#include <stdlib.h>

#include "tasks/tasks_private.h"

/* A state as it is stored. */
typedef struct StoredState {
    TaskState state;
    Slice error, position;
} StoredState;

static const RecordField STATE_FIELDS[] = {
    RECORD_FLAGS(StoredState, state.under_way, state.failed),
    RECORD_I64(StoredState, state.begun_us),
    RECORD_I64(StoredState, state.ended_us),
    RECORD_I64(StoredState, state.whole_us),
    RECORD_I64(StoredState, state.took_us),
    RECORD_U64(StoredState, state.done),
    RECORD_U64(StoredState, state.found),
    RECORD_U64(StoredState, state.errors),
    RECORD_I64(StoredState, state.error_us),
    RECORD_TEXT16(StoredState, error),
    RECORD_REST(StoredState, position, STORE_POSITION_MAX),
};
const Record TASK_STATE_RECORD = RECORD("task state", StoredState, 1, STATE_FIELDS);
static const RecordField INSTANCE_FIELDS[] = {
    RECORD_I64(Instance, started_us),
    RECORD_REST(Instance, address, STORE_VALUE_MAX),
};
const Record TASK_INSTANCE_RECORD = RECORD("instance", Instance, 1, INSTANCE_FIELDS);

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

static Status decode(Slice value, TaskState *state)
{
    StoredState stored = {.error = SLICE_EMPTY};
    TRY(record_decode(&TASK_STATE_RECORD, value, NULL, NULL, &stored));
    if (stored.error.size >= sizeof stored.state.error)
        return STATUS_CORRUPT;
    memcpy(stored.state.error, stored.error.data, stored.error.size);
    stored.state.position = state->position;
    buffer_clear(&stored.state.position);
    buffer_bytes(&stored.state.position, stored.position);
    *state = stored.state;
    return STATUS_OK;
}

Status task_state_read(Tasks *tasks, TaskPart *part)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Cell cell;
    Read read = {&TABLE_TASK_STATE, task_part_key(part, arena), SLICE("state"), STORE_NORMAL};
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
    if (part->task->local)
        return STATUS_OK;
    StoredState stored = {.state = part->state,
                          .error = slice_from(part->state.error),
                          .position = buffer_slice(&part->state.position)};
    Slice value = record_encode(&TASK_STATE_RECORD, &stored, NULL, arena);
    part->stamp = stamp_after(tasks, part->stamp);
    RowChange change = {&TABLE_TASK_STATE,
                        task_part_key(part, arena),
                        {.column = SLICE("state"), .value = value, .timestamp = part->stamp}};
    part->saved_us = clock_steady_us(tasks->options.world.clock);
    return store_write(tasks->options.store, &(Batch){&change, 1, true});
}

/* ---- Heartbeats ------------------------------------------------------------------------------------------------ */

static const Slice LIVE = {"live", 4};

static Status write_beat(Tasks *tasks, bool alive)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Instance self = {.started_us = tasks->started_us,
                     .address = slice_from(tasks->options.address)};
    tasks->beat_stamp = stamp_after(tasks, tasks->beat_stamp);
    Change change = {.column = id_slice(&tasks->id),
                     .value = record_encode(&TASK_INSTANCE_RECORD, &self, NULL, arena),
                     .timestamp = tasks->beat_stamp};
    change.ttl_s = alive ? INSTANCE_TTL_S : 1;
    RowChange row = {&TABLE_INSTANCES, LIVE, change};
    return store_write(tasks->options.store, &(Batch){&row, 1, true});
}

Status tasks_instances(Tasks *tasks, Arena *arena, Instance **ret_instances, size_t *ret_count)
{
    Page page;
    Query query = {.table = &TABLE_INSTANCES, .row = LIVE, .limit = INSTANCES_MAX};
    TRY(store_slice(tasks->options.store, &query, arena, &page));
    Instance *instances = ARENA_ARRAY(arena, page.count, Instance);
    size_t count = 0;
    for (size_t i = 0; i < page.count; i++) {
        const Cell *cell = &page.cells[i];
        Instance *instance = &instances[count];
        TRY(record_decode(&TASK_INSTANCE_RECORD, cell->value, NULL, NULL, instance));
        instance->beat_us = cell->timestamp;
        if (id_from_bytes(cell->column, &instance->id) != STATUS_OK)
            return STATUS_CORRUPT;
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

/* A heartbeat bears the time of its writer's clock, and is up to INSTANCE_BEAT_S old. */
static void hear_clocks(Tasks *tasks, const Instance *instances, size_t count)
{
    int64_t others_us[INSTANCES_MAX];
    size_t others = 0;
    for (size_t i = 0; i < count; i++)
        if (!instances[i].self)
            others_us[others++] = instances[i].beat_us;
    if (tasks->options.clock_guard != NULL)
        clock_guard_hear(tasks->options.clock_guard, others_us, others);
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
    hear_clocks(tasks, instances, count);
    if (is_among(tasks->id, instances, count)) /* else its own beat is not seen yet */
        hear_of(tasks, instances, count);
    return STATUS_OK;
}

Status task_beat_end(Tasks *tasks)
{
    return write_beat(tasks, false);
}
