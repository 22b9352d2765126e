/* audit.c -- opening, noting, ending. See audit.h. */
#include <stdlib.h>

#include "audit/audit_private.h"

static const Slice NO_INSTANCE = {"command line", 12};

Audit *audit_new(const AuditOptions *options)
{
    Audit *audit = calloc(1, sizeof *audit);
    CHECK(audit != NULL && options->vault != NULL);
    audit->options = *options;
    audit->days = AUDIT_DAYS;
    audit_name(audit, NO_INSTANCE);
    return audit;
}

void audit_free(Audit *audit)
{
    free(audit);
}

void audit_name(Audit *audit, Slice instance)
{
    audit->instance_size =
        instance.size < AUDIT_INSTANCE_BYTES ? instance.size : AUDIT_INSTANCE_BYTES;
    if (audit->instance_size > 0)
        memcpy(audit->instance, instance.data, audit->instance_size);
}

void audit_keep_days(Audit *audit, int64_t days)
{
    if (days < AUDIT_DAYS_LEAST)
        days = AUDIT_DAYS_LEAST;
    atomic_store(&audit->days, days < AUDIT_DAYS_MAX ? days : AUDIT_DAYS_MAX);
}

/* ---- Noting ------------------------------------------------------------------------------------------------ */

Change audit_cell(const Audit *audit, Slice column, Slice value)
{
    return (Change){.column = column,
                    .value = value,
                    .timestamp = clock_now_us(audit->options.world.clock),
                    .ttl_s = atomic_load(&audit->days) * S_PER_DAY};
}

static bool fits(const AuditAct *act)
{
    return act->kind < AUDIT_KIND_COUNT && act->reason.size <= AUDIT_REASON_BYTES &&
           act->details.size <= AUDIT_DETAILS_BYTES && act->origin.size <= AUDIT_ORIGIN_BYTES;
}

/* The entry and the rows that name it, in one batch: a crash in the middle of it leaves an act that was not begun, in some lists. */
Status audit_begin(Audit *audit, const AuditAct *act, Id *ret_id)
{
    ARENA_SCOPE Arena *arena = arena_new();
    World world = audit->options.world;
    RowChange changes[1 + INDEX_ROWS_MAX];
    IndexRow rows[INDEX_ROWS_MAX];
    Id id = id_new(world.clock, world.random);
    if (!fits(act))
        return STATUS_INVALID;
    size_t count = index_rows(audit, act, rows);
    int64_t time_us = index_time_us(id);
    for (size_t i = 0; i < count; i++)
        changes[i] =
            (RowChange){&TABLE_AUDIT_INDEX, index_row(&rows[i], index_piece(time_us), arena),
                        audit_cell(audit, id_slice(&id), SLICE_EMPTY)};
    Slice value = entry_encode(audit, act, &id, arena);
    changes[count++] =
        (RowChange){&TABLE_AUDIT, id_slice(&id), audit_cell(audit, AUDIT_ACT_COLUMN, value)};
    TRY(store_write(audit->options.store, &(Batch){.changes = changes, .count = count}));
    *ret_id = id;
    return STATUS_OK;
}

void audit_end(Audit *audit, Id id, Status outcome)
{
    ARENA_SCOPE Arena *arena = arena_new();
    if (audit_outcome_of(outcome) == AUDIT_OPEN)
        return;
    Slice value = entry_end_encode(outcome, clock_now_us(audit->options.world.clock), arena);
    RowChange change = {&TABLE_AUDIT, id_slice(&id), audit_cell(audit, AUDIT_END_COLUMN, value)};
    (void)!store_write(audit->options.store,
                       &(Batch){.changes = &change, .count = 1, .lazy = true});
}
