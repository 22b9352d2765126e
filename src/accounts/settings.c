/* settings.c -- the versions of the settings, in the row `voting`. See accounts.h.
 *
 * The cell `head` holds: format | id of the write (16 bytes) | number of versions (4 bytes) | from when a planned version shall count,
 * or 0 (8 bytes). The cell v/<version> (4 bytes) holds: format | id of the write | from when it counts | how many values follow | the
 * values in the order of SETTING_LIST. A version's cell is written once, and is the proof of its update. Version 0 is in the
 * program; a value that an older release did not know has its default. So SETTING_LIST may only grow at its end.
 *
 * A conditional write whose answer was lost may be carried out days later, and a version that appears behind its own time would change
 * the past. Therefore a version is planned first, in the head, and its cell is written only on top of that very plan; and whoever
 * reads a plan whose time has come near takes it back before using what was read. From then on the version cannot appear any more.
 * The planner looks at the clock again when the plan stands, because those who read before that did not see it. */
#include <stdlib.h>

#include "accounts/inside.h"

enum {
#define X(name, fallback, least, most, help) INDEX_##name,
    SETTING_LIST(X)
#undef X
        VALUES
};
enum {
    FORMAT = 1,
    /* What was read is used for a minute, for saves whose time may be ten minutes ahead; the rest is for clocks that differ. */
    PLAN_NEAR_S = SETTING_CACHE_S + 600 + 120,
};
_Static_assert((int)PLAN_NEAR_S < (int)SETTING_AHEAD_LEAST_S,
               "a plan has some time to be carried out");

static const Slice ROW = {"voting", 6};
static const Slice HEAD = {"head", 4};
static const Slice VERSIONS = {"v/", 2};

/* ---- Bytes ------------------------------------------------------------------------------------------------- */

static void point_at_values(VotingSettings *settings, int64_t **ret_values)
{
#define X(name, fallback, least, most, help) ret_values[INDEX_##name] = &settings->name;
    SETTING_LIST(X)
#undef X
}

static bool values_fit(const VotingSettings *settings)
{
    bool fit = true;
#define X(name, fallback, least, most, help) \
    fit &= settings->name >= (least) && settings->name <= (most);
    SETTING_LIST(X)
#undef X
    return fit;
}

static void encode_version(VotingSettings settings, Id id, Buffer *buffer)
{
    int64_t *values[VALUES];
    point_at_values(&settings, values);
    buffer_u8(buffer, FORMAT);
    buffer_bytes(buffer, id_slice(&id));
    buffer_i64(buffer, settings.from_us);
    buffer_u8(buffer, VALUES);
    for (int i = 0; i < VALUES; i++)
        buffer_i64(buffer, *values[i]);
}

static Status decode_version(const Cell *cell, uint32_t version, VotingSettings *ret_settings)
{
    Reader column = reader_of(slice_after(cell->column, VERSIONS.size));
    Reader reader = reader_of(cell->value);
    VotingSettings settings = SETTINGS_AT_FIRST;
    int64_t *values[VALUES];
    point_at_values(&settings, values);
    settings.version = reader_u32(&column);
    bool known = reader_u8(&reader) == FORMAT;
    (void)reader_bytes(&reader, ID_BYTES);
    settings.from_us = reader_i64(&reader);
    uint8_t count = reader_u8(&reader);
    for (int i = 0; i < count && i < VALUES; i++)
        *values[i] = reader_i64(&reader);
    if (!known || !reader_done(&reader) || !reader_done(&column) || settings.version != version ||
        !values_fit(&settings))
        return STATUS_CORRUPT;
    *ret_settings = settings;
    return STATUS_OK;
}

/* ---- The row ----------------------------------------------------------------------------------------------- */

typedef struct SettingsRow {
    Slice head; /* the cell, to be a condition; empty: there is none */
    VotingSettings *versions;
    size_t count; /* with version 0 */
    int64_t plan_from_us;
} SettingsRow;

static void encode_head(uint32_t versions, int64_t plan_from_us, Id id, Buffer *buffer)
{
    buffer_u8(buffer, FORMAT);
    buffer_bytes(buffer, id_slice(&id));
    buffer_u32(buffer, versions);
    buffer_i64(buffer, plan_from_us);
}

static Status decode_head(Slice value, size_t versions, int64_t *ret_plan_from_us)
{
    Reader reader = reader_of(value);
    bool known = reader_u8(&reader) == FORMAT;
    (void)reader_bytes(&reader, ID_BYTES);
    uint32_t count = reader_u32(&reader);
    int64_t plan_from_us = reader_i64(&reader);
    if (!known || !reader_done(&reader) || count != versions)
        return STATUS_CORRUPT;
    *ret_plan_from_us = plan_from_us;
    return STATUS_OK;
}

/* One page, so that head and versions are of one moment. */
static Status read_row(Accounts *accounts, Arena *arena, SettingsRow *ret_row)
{
    Query query = {.table = &TABLE_SETTINGS,
                   .row = ROW,
                   .from = SLICE_EMPTY,
                   .after = SLICE_EMPTY,
                   .to = SLICE("~"), /* without the receipts */
                   .limit = SETTING_VERSIONS_MOST + 2,
                   .mode = STORE_SERIAL};
    Page page;
    TRY(store_slice(accounts->store, &query, arena, &page));
    SettingsRow row = {.head = page.count > 0 ? page.cells[0].value : SLICE_EMPTY,
                       .versions = ARENA_ARRAY(arena, page.count + 1, VotingSettings),
                       .count = page.count > 0 ? page.count : 1};
    row.versions[0] = SETTINGS_AT_FIRST;
    if (page.count > 0)
        TRY(decode_head(row.head, page.count - 1, &row.plan_from_us));
    for (size_t i = 1; i < row.count; i++) {
        TRY(decode_version(&page.cells[i], (uint32_t)i, &row.versions[i]));
        if (row.versions[i].from_us < row.versions[i - 1].from_us)
            return STATUS_CORRUPT;
    }
    *ret_row = row;
    return STATUS_OK;
}

/* Writes a plan into the head, or takes one back (0); *ret_head is then the cell. CONFLICT: the row is no longer what was read. */
static Status write_plan(Accounts *accounts, const SettingsRow *row, int64_t from_us, Arena *arena,
                         Slice *ret_head)
{
    BUFFER_SCOPE Buffer head = {0};
    Id id = fresh_id(accounts);
    encode_head((uint32_t)row->count - 1, from_us, id, &head);
    Replacement plan = {.table = &TABLE_SETTINGS,
                        .row = ROW,
                        .column = HEAD,
                        .before = row->head,
                        .value = buffer_slice(&head),
                        .id = id};
    TRY(store_replace(accounts->store, &plan, UPDATE_TRIES, arena));
    *ret_head = arena_copy(arena, buffer_slice(&head));
    return STATUS_OK;
}

/* What is read now is used for times up to this. */
static int64_t near_us(const Accounts *accounts)
{
    return clock_now_us(accounts->world.clock) + PLAN_NEAR_S * US_PER_S;
}

/* The row, with no plan in it that could come true after its time. */
static Status read_settled_row(Accounts *accounts, Arena *arena, SettingsRow *ret_row)
{
    int64_t until_us = near_us(accounts);
    for (int i = 0; i < RACE_TRIES; i++) {
        SettingsRow row;
        TRY(read_row(accounts, arena, &row));
        if (row.plan_from_us == 0 || row.plan_from_us > until_us) {
            *ret_row = row;
            return STATUS_OK;
        }
        Status status = write_plan(accounts, &row, 0, arena, &row.head);
        if (status == STATUS_UNKNOWN) /* reading again does no harm */
            return STATUS_UNAVAILABLE;
        if (status != STATUS_OK && status != STATUS_CONFLICT)
            return status;
    }
    return STATUS_UNAVAILABLE;
}

/* ---- Reading ----------------------------------------------------------------------------------------------- */

static bool from_cache(Accounts *accounts, Arena *arena, SettingsHistory *ret_history)
{
    const SettingsCache *cache = &accounts->cache;
    int64_t now_us = clock_steady_us(accounts->world.clock);
    CHECK(pthread_mutex_lock(&accounts->lock) == 0);
    bool fresh =
        cache->versions != NULL && now_us - cache->read_steady_us < SETTING_CACHE_S * US_PER_S;
    if (fresh) {
        VotingSettings *copy = ARENA_ARRAY(arena, cache->count, VotingSettings);
        memcpy(copy, cache->versions, cache->count * sizeof *copy);
        *ret_history = (SettingsHistory){copy, cache->count};
    }
    CHECK(pthread_mutex_unlock(&accounts->lock) == 0);
    return fresh;
}

/* `read_steady_us` is from before the read, so that the age is never told too low. */
static void to_cache(Accounts *accounts, const SettingsRow *row, int64_t read_steady_us)
{
    VotingSettings *copy = calloc(row->count, sizeof *copy);
    CHECK(copy != NULL);
    memcpy(copy, row->versions, row->count * sizeof *copy);
    CHECK(pthread_mutex_lock(&accounts->lock) == 0);
    VotingSettings *old = copy;
    /* Versions are only ever added: who read fewer read earlier. */
    if (row->count >= accounts->cache.count) {
        old = accounts->cache.versions;
        accounts->cache = (SettingsCache){copy, row->count, read_steady_us};
    }
    CHECK(pthread_mutex_unlock(&accounts->lock) == 0);
    free(old);
}

void settings_forget(Accounts *accounts)
{
    CHECK(pthread_mutex_lock(&accounts->lock) == 0);
    VotingSettings *old = accounts->cache.versions;
    accounts->cache = (SettingsCache){NULL, 0, 0};
    CHECK(pthread_mutex_unlock(&accounts->lock) == 0);
    free(old);
}

Status accounts_settings(Accounts *accounts, Arena *arena, SettingsHistory *ret_history)
{
    SettingsRow row;
    if (from_cache(accounts, arena, ret_history))
        return STATUS_OK;
    int64_t now_us = clock_steady_us(accounts->world.clock);
    TRY(read_settled_row(accounts, arena, &row));
    to_cache(accounts, &row, now_us);
    *ret_history = (SettingsHistory){row.versions, row.count};
    return STATUS_OK;
}

/* ---- Appending --------------------------------------------------------------------------------------------- */

static Status check_from(const VotingSettings *last, int64_t now_us, int64_t from_us,
                         int64_t *ret_from_us, Reason *reason)
{
    int64_t earliest_us = now_us + SETTING_AHEAD_LEAST_S * US_PER_S;
    if (from_us == 0)
        from_us = earliest_us > last->from_us ? earliest_us : last->from_us;
    if (from_us < earliest_us)
        return reason_set(reason, STATUS_REFUSED, "from",
                          "a setting counts at the earliest %d minutes from now",
                          SETTING_AHEAD_LEAST_S / 60);
    if (from_us < last->from_us)
        return reason_set(reason, STATUS_REFUSED, "from",
                          "a setting does not count before the last change does");
    if (from_us > SETTING_TIME_MOST)
        return reason_set(reason, STATUS_INVALID, "from", "that time is too far away");
    *ret_from_us = from_us;
    return STATUS_OK;
}

/* On top of the plan, which is the head's cell now. */
static Status append(Accounts *accounts, Slice plan, const VotingSettings *settings, Arena *arena)
{
    BUFFER_SCOPE Buffer head = {0}, column = {0}, value = {0};
    Id id = fresh_id(accounts);
    encode_head(settings->version, 0, id, &head);
    buffer_bytes(&column, VERSIONS);
    buffer_u32(&column, settings->version);
    encode_version(*settings, id, &value);
    Condition condition = {HEAD, plan, false};
    Change changes[] = {{.column = HEAD, .value = buffer_slice(&head)},
                        {.column = buffer_slice(&column), .value = buffer_slice(&value)}};
    Update update = {.table = &TABLE_SETTINGS,
                     .row = ROW,
                     .conditions = &condition,
                     .condition_count = 1,
                     .changes = changes,
                     .change_count = 2,
                     .proof = buffer_slice(&column)};
    return store_update(accounts->store, &update, UPDATE_TRIES, arena, NULL);
}

/* Until the last step is sent, the change is surely not done. */
static Status plan_and_append(Accounts *accounts, const SettingsRow *row,
                              const VotingSettings *settings, Arena *arena)
{
    Slice plan;
    Status status = write_plan(accounts, row, settings->from_us, arena, &plan);
    if (status == STATUS_UNKNOWN)
        return STATUS_UNAVAILABLE;
    TRY(status);
    /* Who read before the plan was there knows nothing of it: if planning took long, they may judge beyond its time. */
    if (settings->from_us < near_us(accounts))
        return STATUS_UNAVAILABLE;
    return append(accounts, plan, settings, arena);
}

Status accounts_set_setting(Accounts *accounts, Slice name, Slice value, int64_t from_us,
                            Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    int64_t now_us = clock_now_us(accounts->world.clock);
    SettingsRow row;
    VotingSettings settings;
    TRY(read_row(accounts, arena, &row));
    const VotingSettings *last = &row.versions[row.count - 1];
    TRY(settings_change(last, name, value, &settings, reason));
    TRY(check_from(last, now_us, from_us, &settings.from_us, reason));
    if (row.count > SETTING_VERSIONS_MOST)
        return reason_set(reason, STATUS_REFUSED, "", "settings can change %d times at most",
                          SETTING_VERSIONS_MOST);
    settings.version = (uint32_t)row.count;
    Status status = plan_and_append(accounts, &row, &settings, arena);
    settings_forget(accounts);
    if (status == STATUS_CONFLICT)
        return reason_set(reason, status, "", "somebody else changed a setting in the same moment");
    return status;
}
