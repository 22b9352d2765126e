/* retention.c -- see retention.h. The cell `state` of row `retention` holds: format | id of the write (16 bytes) | version | when changed | how many periods |
 * each, in the order of the list, which may only grow at its end. */
#include "accounts/retention.h"

#include "accounts/inside.h"

enum { FORMAT = 1, PAGE_CELLS = 2000 };

static const StateRow STATE = {&TABLE_SITE, {"retention", 9}};

const RetentionRow RETENTION_ROWS[] = {
#define X(name, fallback, least, most, deletes, about) \
    {#name, about, fallback, least, most, deletes, offsetof(Retention, name)},
    RETENTION_LIST(X)
#undef X
};
const size_t RETENTION_ROW_COUNT = sizeof RETENTION_ROWS / sizeof RETENTION_ROWS[0];

static const Retention AT_FIRST = {
#define X(name, fallback, least, most, deletes, about) .name = (fallback),
    RETENTION_LIST(X)
#undef X
        .value = {"", 0},
};

static void set_days(Retention *retention, size_t row, int64_t days)
{
    memcpy((char *)retention + RETENTION_ROWS[row].offset, &days, sizeof days);
}

static int64_t days_of(const Retention *retention, size_t row)
{
    int64_t days;
    memcpy(&days, (const char *)retention + RETENTION_ROWS[row].offset, sizeof days);
    return days;
}

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
        set_days(&changed, i, days);
        *ret_retention = changed;
        return STATUS_OK;
    }
    return reason_set(reason, STATUS_INVALID, "name", "there is no period \"%.*s\"",
                      (int)(name.size < 60 ? name.size : 60), name.data);
}

/* ---- The row ------------------------------------------------------------------------------------------------- */

static Status decode(Slice value, Retention *ret_retention)
{
    Reader reader = reader_of(value);
    Retention retention = AT_FIRST;
    bool known = reader_u8(&reader) == FORMAT;
    (void)reader_bytes(&reader, ID_BYTES);
    retention.version = reader_u64(&reader);
    retention.changed_us = reader_i64(&reader);
    uint8_t count = reader_u8(&reader);
    for (size_t i = 0; i < count && i < RETENTION_ROW_COUNT; i++)
        set_days(&retention, i, reader_i64(&reader));
    if (!known || reader.failed)
        return STATUS_CORRUPT;
    retention.value = value;
    *ret_retention = retention;
    return STATUS_OK;
}

Status retention_read(Accounts *accounts, Arena *arena, Retention *ret_retention)
{
    Slice value;
    TRY(state_read(accounts, &STATE, arena, &value));
    if (value.size > 0)
        return decode(value, ret_retention);
    *ret_retention = AT_FIRST;
    return STATUS_OK;
}

Status retention_set(Accounts *accounts, const Retention *retention, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    BUFFER_SCOPE Buffer value = {0};
    Id id = fresh_id(accounts);
    buffer_u8(&value, FORMAT);
    buffer_bytes(&value, id_slice(&id));
    buffer_u64(&value, retention->version + 1);
    buffer_i64(&value, clock_now_us(accounts->world.clock));
    buffer_u8(&value, (uint8_t)RETENTION_ROW_COUNT);
    for (size_t i = 0; i < RETENTION_ROW_COUNT; i++)
        buffer_i64(&value, days_of(retention, i));
    Status status = state_replace(accounts, &STATE, retention->value,
                                  &(StateValue){id, buffer_slice(&value)}, arena);
    if (status == STATUS_CONFLICT)
        return reason_set(reason, status, "", "somebody else changed it in between");
    return status;
}

/* ---- Carrying it out ----------------------------------------------------------------------------------------- */

void accounts_keep(Accounts *accounts, const Retention *retention)
{
    atomic_store(&accounts->logins_days, retention->logins);
    atomic_store(&accounts->signals_days, retention->signals);
}

/* The time stands behind the format, as login_change writes it. */
static bool is_older(const Cell *cell, int64_t before_us)
{
    Reader reader = reader_of(cell->value);
    (void)reader_u8(&reader);
    int64_t time_us = reader_i64(&reader);
    return !reader.failed && time_us < before_us;
}

Status logins_delete_old(Accounts *accounts, int64_t days, Slice position, Arena *arena,
                         LoginsPage *ret_page)
{
    ScanPage scan;
    int64_t now_us = clock_now_us(accounts->world.clock);
    TRY(store_scan(accounts->store, &TABLE_LOGINS, position, PAGE_CELLS, arena, &scan));
    RowChange *changes = ARENA_ARRAY(arena, scan.count, RowChange);
    size_t count = 0;
    for (size_t i = 0; i < scan.count; i++)
        if (is_older(&scan.cells[i].cell, now_us - days * S_PER_DAY * US_PER_S))
            changes[count++] = (RowChange){&TABLE_LOGINS, scan.cells[i].row,
                                           (Change){.column = scan.cells[i].cell.column,
                                                    .timestamp = now_us,
                                                    .is_delete = true}};
    if (count > 0)
        TRY(store_write(accounts->store, &(Batch){changes, count, false}));
    *ret_page = (LoginsPage){scan.position, scan.more, scan.count, count};
    return STATUS_OK;
}
