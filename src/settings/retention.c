/* retention.c -- see retention.h. The cell `state` of row `retention` holds: format | id of the write (16 bytes) | version | when changed | how many periods |
 * each, in the order of the list, which may only grow at its end. */
#include "settings/settings_private.h"

const RetentionRow RETENTION_ROWS[] = {
#define X(name, fallback, least, most, deletes, about) \
    {#name, about, fallback, least, most, deletes, offsetof(Retention, name)},
    RETENTION_LIST(X)
#undef X
};
const size_t RETENTION_ROW_COUNT = sizeof RETENTION_ROWS / sizeof RETENTION_ROWS[0];

const Retention RETENTION_AT_FIRST = {
#define X(name, fallback, least, most, deletes, about) .name = (fallback),
    RETENTION_LIST(X)
#undef X
};

enum {
#define X(name, fallback, least, most, deletes, about) PERIOD_##name,
    RETENTION_LIST(X)
#undef X
        PERIODS
};
static const RecordField FIELDS[] = {
    RECORD_WRITE_ID(Retention, write),
    RECORD_U64(Retention, version),
    RECORD_I64(Retention, changed_us),
    RECORD_VALUES(Retention, logins, PERIODS, true),
};
const Record RETENTION_RECORD = {RECORD_("retention", Retention, 1, FIELDS),
                                 .defaults = &RETENTION_AT_FIRST};
static const RecordPlace PLACE = {&RETENTION_RECORD, &TABLE_SITE, {"retention", 9}, {"state", 5}};

Status retention_change(const Retention *retention, Slice name, int64_t days,
                        Retention *ret_retention, Reason *reason)
{
    for (size_t i = 0; i < RETENTION_ROW_COUNT; i++) {
        const RetentionRow *row = &RETENTION_ROWS[i];
        if (!slice_equal(name, slice_from(row->name)))
            continue;
        if (days < row->least || days > row->most)
            return reason_set(reason, STATUS_INVALID, row->name, "must be %lld to %lld days",
                              (long long)row->least, (long long)row->most);
        Retention changed = *retention;
        memcpy((char *)&changed + RETENTION_ROWS[i].offset, &days, sizeof days);
        *ret_retention = changed;
        return STATUS_OK;
    }
    return reason_set(reason, STATUS_INVALID, "name", "there is no period \"%.*s\"",
                      (int)(name.size < 60 ? name.size : 60), name.data);
}

/* ---- The row ------------------------------------------------------------------------------------------------- */

Status retention_read(Settings *settings, Arena *arena, Retention *ret_retention)
{
    Records records = settings_records(settings);
    return record_find(&records, &PLACE, STORE_SERIAL, arena, ret_retention, &ret_retention->value);
}

Status retention_set(Settings *settings, const Retention *retention, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Records records = settings_records(settings);
    Retention next = *retention;
    RecordWrite write = {.place = PLACE, .record = &next, .before = retention->value};
    next.version++;
    next.changed_us = clock_now_us(records.world.clock);
    Status status = record_write(&records, &write, arena, NULL);
    if (status == STATUS_CONFLICT)
        return reason_set(reason, status, "", "somebody else changed it in between");
    return status;
}
