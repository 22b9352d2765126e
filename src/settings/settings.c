/* settings.c -- the versions of the settings, in the row `voting`. See settings.h.
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
#include <pthread.h>
#include <stdlib.h>

#include "settings/settings_private.h"

enum {
#define X(name, fallback, least, most, help) INDEX_##name,
    SETTING_LIST(X)
#undef X
        VALUES
};
enum {
    /* What was read is used for a minute, for saves whose time may be ten minutes ahead; the rest is for clocks that differ. */
    PLAN_NEAR_S = SETTING_CACHE_S + 600 + 120,
};
_Static_assert((int)PLAN_NEAR_S < (int)SETTING_AHEAD_LEAST_S,
               "a plan has some time to be carried out");

static const Slice VERSIONS = {"v/", 2};

struct Settings {
    Store *store;
    World world;
    pthread_mutex_t lock;     /* guards what follows */
    VotingSettings *versions; /* cached; NULL: nothing yet */
    size_t count;
    ClockReading read_at;
};

/* ---- Bytes ------------------------------------------------------------------------------------------------- */

typedef struct SettingsHead {
    Id write;
    uint32_t versions;
    int64_t plan_from_us;
} SettingsHead;
static const RecordField HEAD_FIELDS[] = {
    RECORD_WRITE_ID(SettingsHead, write),
    RECORD_U32(SettingsHead, versions),
    RECORD_I64(SettingsHead, plan_from_us),
};
const Record SETTINGS_HEAD_RECORD = RECORD("settings head", SettingsHead, 1, HEAD_FIELDS);
static const RecordPlace HEAD = {
    &SETTINGS_HEAD_RECORD, &TABLE_SETTINGS, {"voting", 6}, {"head", 4}};

typedef struct StoredSettings {
    VotingSettings settings;
    Id write;
} StoredSettings;
static const RecordField SETTINGS_FIELDS[] = {
    RECORD_ID(StoredSettings, write),
    RECORD_I64(StoredSettings, settings.from_us),
    RECORD_VALUES(StoredSettings, settings.salary, VALUES, false),
};
const Record SETTINGS_RECORD = {RECORD_("settings", StoredSettings, 1, SETTINGS_FIELDS),
                                .defaults = &SETTINGS_AT_FIRST};
_Static_assert(offsetof(StoredSettings, settings) == 0, "the defaults are of the settings alone");

static bool values_fit(const VotingSettings *settings)
{
    bool fit = true;
#define X(name, fallback, least, most, help) \
    fit &= settings->name >= (least) && settings->name <= (most);
    SETTING_LIST(X)
#undef X
    return fit;
}

static Status decode_version(const Cell *cell, uint32_t version, VotingSettings *ret_settings)
{
    Reader column = reader_of(slice_after(cell->column, VERSIONS.size));
    StoredSettings stored = {.settings.version = reader_u32(&column)};
    TRY(record_decode(&SETTINGS_RECORD, cell->value, NULL, NULL, &stored));
    if (!reader_done(&column) || stored.settings.version != version ||
        !values_fit(&stored.settings))
        return STATUS_CORRUPT;
    *ret_settings = stored.settings;
    return STATUS_OK;
}

/* ---- The row ----------------------------------------------------------------------------------------------- */

typedef struct SettingsRow {
    Slice head; /* the cell, to be a condition; empty: there is none */
    VotingSettings *versions;
    size_t count; /* with version 0 */
    int64_t plan_from_us;
} SettingsRow;

/* One page, so that head and versions are of one moment. */
static Status read_row(Settings *settings, Arena *arena, SettingsRow *ret_row)
{
    Query query = {.table = &TABLE_SETTINGS,
                   .row = HEAD.row,
                   .from = SLICE_EMPTY,
                   .after = SLICE_EMPTY,
                   .to = SLICE("~"), /* without the receipts */
                   .limit = SETTING_VERSIONS_MAX + 2,
                   .mode = STORE_SERIAL};
    Page page;
    TRY(store_slice(settings->store, &query, arena, &page));
    SettingsRow row = {.head = page.count > 0 ? page.cells[0].value : SLICE_EMPTY,
                       .versions = ARENA_ARRAY(arena, page.count + 1, VotingSettings),
                       .count = page.count > 0 ? page.count : 1};
    row.versions[0] = SETTINGS_AT_FIRST;
    if (page.count > 0) {
        SettingsHead head;
        TRY(record_decode(&SETTINGS_HEAD_RECORD, row.head, NULL, NULL, &head));
        if (head.versions != page.count - 1)
            return STATUS_CORRUPT;
        row.plan_from_us = head.plan_from_us;
    }
    for (size_t i = 1; i < row.count; i++) {
        TRY(decode_version(&page.cells[i], (uint32_t)i, &row.versions[i]));
        if (row.versions[i].from_us < row.versions[i - 1].from_us)
            return STATUS_CORRUPT;
    }
    *ret_row = row;
    return STATUS_OK;
}

/* Writes a plan into the head, or takes one back (0); *ret_head is then the cell. CONFLICT: the row is no longer what was read. */
static Status write_plan(Settings *settings, const SettingsRow *row, int64_t from_us, Arena *arena,
                         Slice *ret_head)
{
    Records records = settings_records(settings);
    SettingsHead head = {.versions = (uint32_t)row->count - 1, .plan_from_us = from_us};
    RecordWrite write = {.place = HEAD, .record = &head, .before = row->head};
    return record_write(&records, &write, arena, ret_head);
}

/* What is read now is used for times up to this. */
static int64_t near_us(const Settings *settings)
{
    return clock_now_us(settings->world.clock) + PLAN_NEAR_S * US_PER_S;
}

/* The row, with no plan in it that could come true after its time. */
static Status read_settled_row(Settings *settings, Arena *arena, SettingsRow *ret_row)
{
    int64_t until_us = near_us(settings);
    Status status = STATUS_CONFLICT;
    for (int i = 0; record_again(&status, i, NULL, NULL); i++) {
        SettingsRow row;
        TRY(read_row(settings, arena, &row));
        if (row.plan_from_us == 0 || row.plan_from_us > until_us) {
            *ret_row = row;
            return STATUS_OK;
        }
        status = write_plan(settings, &row, 0, arena, &row.head);
        if (status == STATUS_OK)
            status = STATUS_CONFLICT; /* read it once more */
    }
    return status == STATUS_UNKNOWN ? STATUS_UNAVAILABLE : status; /* reading again does no harm */
}

/* ---- Reading ----------------------------------------------------------------------------------------------- */

static bool from_cache(Settings *settings, Arena *arena, SettingsHistory *ret_history)
{
    CHECK(pthread_mutex_lock(&settings->lock) == 0);
    bool fresh =
        settings->versions != NULL &&
        clock_age_us(settings->world.clock, settings->read_at) < SETTING_CACHE_S * US_PER_S;
    if (fresh) {
        VotingSettings *copy = ARENA_ARRAY(arena, settings->count, VotingSettings);
        memcpy(copy, settings->versions, settings->count * sizeof *copy);
        *ret_history = (SettingsHistory){copy, settings->count};
    }
    CHECK(pthread_mutex_unlock(&settings->lock) == 0);
    return fresh;
}

/* `read_at` is from before the read, so that the age is never told too low. */
static void to_cache(Settings *settings, const SettingsRow *row, ClockReading read_at)
{
    VotingSettings *copy = calloc(row->count, sizeof *copy);
    CHECK(copy != NULL);
    memcpy(copy, row->versions, row->count * sizeof *copy);
    CHECK(pthread_mutex_lock(&settings->lock) == 0);
    VotingSettings *old = copy;
    /* Versions are only ever added: who read fewer read earlier. */
    if (row->count >= settings->count) {
        old = settings->versions;
        settings->versions = copy;
        settings->count = row->count;
        settings->read_at = read_at;
    }
    CHECK(pthread_mutex_unlock(&settings->lock) == 0);
    free(old);
}

static void empty_cache(Settings *settings)
{
    CHECK(pthread_mutex_lock(&settings->lock) == 0);
    VotingSettings *old = settings->versions;
    settings->versions = NULL;
    settings->count = 0;
    CHECK(pthread_mutex_unlock(&settings->lock) == 0);
    free(old);
}

Settings *settings_new(Store *store, World world)
{
    Settings *settings = calloc(1, sizeof *settings);
    CHECK(settings != NULL);
    settings->store = store;
    settings->world = world;
    CHECK(pthread_mutex_init(&settings->lock, NULL) == 0);
    return settings;
}

void settings_free(Settings *settings)
{
    if (settings == NULL)
        return;
    empty_cache(settings);
    CHECK(pthread_mutex_destroy(&settings->lock) == 0);
    free(settings);
}

Records settings_records(const Settings *settings)
{
    return (Records){settings->store, settings->world, NULL};
}

Status settings_read(Settings *settings, Arena *arena, SettingsHistory *ret_history)
{
    SettingsRow row;
    if (from_cache(settings, arena, ret_history))
        return STATUS_OK;
    ClockReading read_at = clock_reading(settings->world.clock);
    TRY(read_settled_row(settings, arena, &row));
    to_cache(settings, &row, read_at);
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
    if (from_us > SETTING_TIME_MAX)
        return reason_set(reason, STATUS_INVALID, "from", "that time is too far away");
    *ret_from_us = from_us;
    return STATUS_OK;
}

/* On top of the plan, which is the head's cell now. */
static Status append(Settings *settings, Slice plan, const VotingSettings *version, Arena *arena)
{
    Records records = settings_records(settings);
    BUFFER_SCOPE Buffer column = {0};
    SettingsHead head = {.write = id_new(settings->world.clock, settings->world.random),
                         .versions = version->version};
    StoredSettings stored = {*version, head.write};
    buffer_bytes(&column, VERSIONS);
    buffer_u32(&column, version->version);
    Change cell = {.column = buffer_slice(&column),
                   .value = record_encode(&SETTINGS_RECORD, &stored, NULL, arena)};
    RecordWrite write = {.place = HEAD,
                         .record = &head,
                         .keep_id = true,
                         .before = plan,
                         .also = &cell,
                         .also_count = 1,
                         .proof = cell.column};
    return record_write(&records, &write, arena, NULL);
}

/* Until the last step is sent, the change is surely not done. */
static Status plan_and_append(Settings *settings, const SettingsRow *row,
                              const VotingSettings *version, Arena *arena)
{
    Slice plan;
    uint64_t before = store_effects();
    Status status = write_plan(settings, row, version->from_us, arena, &plan);
    store_effects_forget(before); /* a plan alone comes to nothing */
    if (status == STATUS_UNKNOWN)
        return STATUS_UNAVAILABLE;
    TRY(status);
    /* Who read before the plan was there knows nothing of it: if planning took long, they may judge beyond its time. */
    if (version->from_us < near_us(settings))
        return STATUS_UNAVAILABLE;
    return append(settings, plan, version, arena);
}

Status settings_set(Settings *settings, Slice name, Slice value, int64_t from_us, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    int64_t now_us = clock_now_us(settings->world.clock);
    SettingsRow row;
    VotingSettings version;
    TRY(read_row(settings, arena, &row));
    const VotingSettings *last = &row.versions[row.count - 1];
    TRY(settings_change(last, name, value, &version, reason));
    TRY(check_from(last, now_us, from_us, &version.from_us, reason));
    if (row.count > SETTING_VERSIONS_MAX)
        return reason_set(reason, STATUS_REFUSED, "", "settings can change %d times at most",
                          SETTING_VERSIONS_MAX);
    version.version = (uint32_t)row.count;
    Status status = plan_and_append(settings, &row, &version, arena);
    empty_cache(settings);
    if (status == STATUS_CONFLICT)
        return reason_set(reason, status, "", "somebody else changed a setting in the same moment");
    return status;
}
