/* updates.c -- conditional updates: one conditional batch in one row.
 *
 * A condition is part of the statement that changes its cell. Where a condition's cell is not changed, the statement sets its value to
 * "unset", which writes nothing; a change without condition is a plain statement in the same batch, which the server does all or nothing
 * with the others and at the ballot's own time.
 *
 * Marks are written and acknowledged first, within the time of the call. A crash after them leaves marks without an update; they say "look here", not "it is so".
 * Updates of one row that are made at the same time go one after the other, as far as this process goes: rounds that meet in Paxos hinder each
 * other until some of them time out and nobody knows what they did. So each row has a gate, shared with some others. It is for speed
 * only: whoever has waited for half of the time that the marks left goes without it. */
#include <stdlib.h>
#include <time.h>

#include "store/cassandra/cassandra_private.h"

/* With less than this part of its time left an update is not begun: it would only become unknown. */
enum { LEAST = 20 };

/* ---- An update as a call ------------------------------------------------------------------------------------- */

static size_t change_of(const Update *update, Slice column)
{
    size_t i = 0;
    while (i < update->change_count && !slice_equal(update->changes[i].column, column))
        i++;
    return i;
}

typedef struct Parts {
    const Cassandra *cassandra;
    const Update *update;
    Arena *arena;
    CqlPart *parts;
    size_t count;
} Parts;

/* A statement for a cell: `change` NULL leaves it as it is, `condition` NULL asks nothing of it. */
static void add_part(Parts *parts, Slice column, const Change *change, const Condition *condition)
{
    bool is_delete = change != NULL && change->is_delete;
    CqlValue *values = ARENA_ARRAY(parts->arena, 5, CqlValue);
    size_t count = 0;
    StatementKind kind = is_delete ? STATEMENT_DELETE_ALSO : STATEMENT_PUT_ALSO;
    if (!is_delete) {
        values[count++] = cassandra_int(change != NULL ? change->ttl_s : 0, parts->arena);
        values[count++] = change != NULL ? cql_bytes(change->value) : (CqlValue){.kind = CQL_UNSET};
    }
    values[count++] = cql_bytes(parts->update->row);
    values[count++] = cql_bytes(column);
    if (condition != NULL) {
        kind = is_delete ? STATEMENT_DELETE_IF : STATEMENT_PUT_IF;
        values[count++] =
            condition->absent ? (CqlValue){.kind = CQL_NULL} : cql_bytes(condition->value);
    }
    parts->parts[parts->count++] =
        (CqlPart){cassandra_statement(parts->cassandra, parts->update->table, kind), values, count};
}

static CqlCall call_of(const Cassandra *cassandra, const Update *update, Arena *arena)
{
    Parts parts = {cassandra, update, arena, NULL, 0};
    bool *sent = ARENA_ARRAY(arena, update->change_count + 1, bool);
    parts.parts = ARENA_ARRAY(arena, update->condition_count + update->change_count, CqlPart);
    for (size_t i = 0; i < update->condition_count; i++) {
        const Condition *condition = &update->conditions[i];
        size_t k = change_of(update, condition->column);
        bool changes = k < update->change_count && !sent[k];
        add_part(&parts, condition->column, changes ? &update->changes[k] : NULL, condition);
        sent[k] = true;
    }
    for (size_t i = 0; i < update->change_count; i++)
        if (!sent[i])
            add_part(&parts, update->changes[i].column, &update->changes[i], NULL);
    return (CqlCall){.kind = CQL_CONDITIONAL,
                     .parts = parts.parts,
                     .part_count = parts.count,
                     .routing_key = update->row,
                     .consistency = CQL_QUORUM};
}

/* ---- Its answer ---------------------------------------------------------------------------------------------- */

/* What is there, of the cells that have conditions: those that are not listed are absent. An answer to a single statement does not
 * name the column: it is the condition's. */
static void tell_found(const CqlRows *rows, const Update *update, Found *ret_found)
{
    CellColumns columns = cassandra_columns(rows);
    for (size_t i = 0; i < update->condition_count; i++) {
        ret_found[i] = (Found){false, SLICE_EMPTY};
        for (size_t k = 0; columns.value >= 0 && k < rows->count; k++) {
            const CqlValue *row = &rows->values[k * rows->columns];
            bool is_it = columns.column < 0 ||
                         slice_equal(row[columns.column].bytes, update->conditions[i].column);
            if (is_it && row[columns.value].kind == CQL_BYTES)
                ret_found[i] = (Found){true, row[columns.value].bytes};
        }
    }
}

static Status status_of(const CqlAnswer *answer, const Update *update, Found *ret_found)
{
    switch (answer->status) {
    case STATUS_OK:
        break;
    case STATUS_INVALID:
    case STATUS_TOO_LARGE:
        return STATUS_INVALID;
    case STATUS_UNAVAILABLE:
    case STATUS_DENIED:
    case STATUS_LOGIN:
        return STATUS_UNAVAILABLE;
    case STATUS_NOT_FOUND:
    case STATUS_REFUSED:
    case STATUS_THROTTLED:
    case STATUS_CONFLICT:
    case STATUS_UNKNOWN:
    case STATUS_CORRUPT:
    case STATUS_COUNT:
        return STATUS_UNKNOWN;
    }
    int applied = cql_column(&answer->rows, "[applied]");
    if (applied < 0 || answer->rows.count == 0)
        return STATUS_UNKNOWN; /* it was carried out, and we cannot read how */
    const CqlValue *value = &answer->rows.values[applied];
    if (value->kind != CQL_BYTES || value->bytes.size != 1)
        return STATUS_UNKNOWN;
    if (value->bytes.data[0] != 0)
        return STATUS_OK;
    if (ret_found != NULL)
        tell_found(&answer->rows, update, ret_found);
    return STATUS_CONFLICT;
}

/* ---- Marks --------------------------------------------------------------------------------------------------- */

/* Statuses of updates whose marks are not surely there become UNAVAILABLE, of all others OK. */
static void write_marks(Cassandra *cassandra, const Update *updates, size_t count, int64_t until_us,
                        Status *ret_statuses)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Batch *batches = ARENA_ARRAY(arena, count, Batch);
    bool any = false;
    for (size_t i = 0; i < count; i++) {
        batches[i] = updates[i].marks;
        any |= batches[i].count > 0;
        ret_statuses[i] = STATUS_OK;
    }
    if (!any)
        return;
    cassandra_write_until(cassandra, batches, count, until_us, ret_statuses);
    for (size_t i = 0; i < count; i++)
        if (ret_statuses[i] != STATUS_OK)
            ret_statuses[i] = STATUS_UNAVAILABLE;
}

/* ---- Calls ---------------------------------------------------------------------------------------------------- */

static pthread_mutex_t *gate_of(Cassandra *cassandra, const Update *update)
{
    uint32_t hash = 2166136261u ^ update->table->number;
    for (size_t i = 0; i < update->row.size; i++)
        hash = (hash ^ (unsigned char)update->row.data[i]) * 16777619u;
    return &cassandra->gates[(hash ^ hash >> 16) % GATE_COUNT];
}

/* Waits for half of the time that is left, by the kernel's clock. */
static bool enter(const Cassandra *cassandra, pthread_mutex_t *gate, int64_t until_us)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    int64_t wait_us = (until_us - clock_steady_us(cassandra->world.clock)) / 2;
    int64_t at_us = at.tv_sec * US_PER_S + at.tv_nsec / 1000 + wait_us;
    at = (struct timespec){.tv_sec = at_us / US_PER_S, .tv_nsec = at_us % US_PER_S * 1000};
    return pthread_mutex_clocklock(gate, CLOCK_MONOTONIC, &at) == 0;
}

static int64_t left_ms(const Cassandra *cassandra, int64_t until_us)
{
    return (until_us - clock_steady_us(cassandra->world.clock)) / US_PER_MS;
}

Status cassandra_update_if(Store *store, const Update *update, Arena *arena, Found *ret_found)
{
    Cassandra *cassandra = cassandra_of(store);
    ARENA_SCOPE Arena *own = arena_new();
    int64_t until_us = cassandra_until_us(cassandra);
    Status status;
    CqlAnswer answer = {.status = STATUS_UNAVAILABLE};
    write_marks(cassandra, update, 1, until_us, &status);
    TRY(status);
    CqlCall call = call_of(cassandra, update, own);
    pthread_mutex_t *gate = gate_of(cassandra, update);
    bool entered = enter(cassandra, gate, until_us);
    call.request_ms = left_ms(cassandra, until_us);
    if (call.request_ms > cassandra->request_ms / LEAST)
        cql_run(cassandra->client, &call, 1, arena, &answer);
    if (entered)
        pthread_mutex_unlock(gate);
    return status_of(&answer, update, ret_found);
}

static int compare_rows(const void *left, const void *right)
{
    const Update *const *a = left, *const *b = right;
    int order = (*a)->table->number - (*b)->table->number;
    if (order == 0)
        order = slice_compare((*a)->row, (*b)->row);
    return order;
}

/* Which round each update belongs to, counted from 0; returns how many there are. */
static size_t plan_rounds(const Update *updates, size_t count, Arena *arena, size_t *ret_rounds)
{
    const Update **sorted = arena_alloc(arena, count * sizeof *sorted);
    size_t rounds = 0;
    for (size_t i = 0; i < count; i++)
        sorted[i] = &updates[i];
    qsort(sorted, count, sizeof *sorted, compare_rows);
    for (size_t i = 0, round = 0; i < count; i++) {
        round = i > 0 && compare_rows(&sorted[i - 1], &sorted[i]) == 0 ? round + 1 : 0;
        ret_rounds[sorted[i] - updates] = round;
        if (round >= rounds)
            rounds = round + 1;
    }
    return rounds;
}

Status cassandra_update_many(Store *store, const Update *updates, size_t count, Arena *arena,
                             Status *ret_statuses)
{
    Cassandra *cassandra = cassandra_of(store);
    ARENA_SCOPE Arena *own = arena_new();
    size_t *rounds = ARENA_ARRAY(own, count, size_t), *places = ARENA_ARRAY(own, count, size_t);
    CqlCall *calls = ARENA_ARRAY(own, count, CqlCall);
    CqlAnswer *answers = ARENA_ARRAY(own, count, CqlAnswer);
    Status *marks = ARENA_ARRAY(own, count, Status);
    (void)arena;
    write_marks(cassandra, updates, count, cassandra_until_us(cassandra), marks);
    size_t round_count = plan_rounds(updates, count, own, rounds);
    for (size_t round = 0; round < round_count; round++) {
        size_t call_count = 0;
        for (size_t i = 0; i < count; i++)
            if (rounds[i] == round && marks[i] == STATUS_OK) {
                places[call_count] = i;
                calls[call_count++] = call_of(cassandra, &updates[i], own);
            }
        cassandra_run(cassandra, calls, call_count, own, answers);
        for (size_t i = 0; i < call_count; i++)
            marks[places[i]] = status_of(&answers[i], &updates[places[i]], NULL);
    }
    memcpy(ret_statuses, marks, count * sizeof *marks);
    return STATUS_OK;
}
