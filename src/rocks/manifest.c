/* manifest.c -- see manifest.h. A record is a row of fields, each a tag and what belongs to it. Fields that we
 * do not know (families of columns, blobs) end the reading: then nothing is said about the tables. */
#include "rocks/manifest.h"

#include <sys/stat.h>

#include "base/bytes.h"
#include "rocks/log_record.h"

enum {
    CURRENT_MAX = 64,
    MANIFEST_MAX = INT32_MAX, /* RocksDB begins another at 1 GiB */
    TABLE_BYTES_MIN = 20,     /* of the field that names a table */
};

enum {
    TAG_COMPARATOR = 1,
    TAG_LOG = 2,
    TAG_NEXT_FILE = 3,
    TAG_LAST_SEQUENCE = 4,
    TAG_CURSOR = 5,
    TAG_REMOVED = 6,
    TAG_PREVIOUS_LOG = 9,
    TAG_MIN_LOG = 10,
    TAG_ADDED = 103,
    TAG_MAX_FAMILY = 203,
    TAG_DATABASE = (1 << 13) + 1,
    ADDED_END = 1, /* of the properties of a table */
};

typedef struct TableFile {
    uint64_t number, size;
} TableFile;

typedef struct Listed {
    TableFile *tables;
    size_t count, room;
    uint64_t log;
    bool has_log, has_next_file, has_last_sequence; /* in one record */
    bool is_whole;                                  /* what the opening changed is in it */
} Listed;

static bool take_number(Slice *rest, uint64_t *ret_number)
{
    uint64_t number = 0;
    for (size_t i = 0; i < rest->size && i < 10; i++) {
        unsigned char byte = (unsigned char)rest->data[i];
        number |= (uint64_t)(byte & 0x7f) << (7 * i);
        if (byte >= 0x80)
            continue;
        *rest = slice_after(*rest, i + 1);
        *ret_number = number;
        return true;
    }
    return false;
}

static bool skip_numbers(Slice *rest, int count)
{
    uint64_t ignored;
    bool whole = true;
    for (int i = 0; whole && i < count; i++)
        whole = take_number(rest, &ignored);
    return whole;
}

static bool skip_text(Slice *rest)
{
    uint64_t size;
    if (!take_number(rest, &size) || size > rest->size)
        return false;
    *rest = slice_after(*rest, (size_t)size);
    return true;
}

/* level, number, size, smallest and largest key, their sequence numbers, properties */
static bool take_added(Slice *rest, Listed *listed)
{
    TableFile table;
    uint64_t property;
    if (!skip_numbers(rest, 1) || !take_number(rest, &table.number) ||
        !take_number(rest, &table.size) || !skip_text(rest) || !skip_text(rest) ||
        !skip_numbers(rest, 2) || listed->count == listed->room)
        return false;
    while (take_number(rest, &property)) {
        if (property == ADDED_END) {
            listed->tables[listed->count++] = table;
            return true;
        }
        if (!skip_text(rest))
            return false;
    }
    return false;
}

static bool take_removed(Slice *rest, Listed *listed)
{
    uint64_t number;
    if (!skip_numbers(rest, 1) || !take_number(rest, &number))
        return false;
    for (size_t i = listed->count; i > 0; i--)
        if (listed->tables[i - 1].number == number) {
            listed->tables[i - 1] = listed->tables[--listed->count];
            return true;
        }
    return false;
}

static bool take_field(Slice *rest, Listed *listed)
{
    uint64_t tag;
    if (!take_number(rest, &tag))
        return false;
    switch (tag) {
    case TAG_LOG:
        return listed->has_log = take_number(rest, &listed->log);
    case TAG_NEXT_FILE:
        return listed->has_next_file = skip_numbers(rest, 1);
    case TAG_LAST_SEQUENCE:
        return listed->has_last_sequence = skip_numbers(rest, 1);
    case TAG_PREVIOUS_LOG:
    case TAG_MIN_LOG:
    case TAG_MAX_FAMILY:
        return skip_numbers(rest, 1);
    case TAG_COMPARATOR:
    case TAG_DATABASE:
        return skip_text(rest);
    case TAG_CURSOR:
        return skip_numbers(rest, 1) && skip_text(rest);
    case TAG_REMOVED:
        return take_removed(rest, listed);
    case TAG_ADDED:
        return take_added(rest, listed);
    default:
        return false;
    }
}

/* The record at *at, and *at behind it. False: it is not whole. */
static bool take_record(Slice text, size_t *at, Buffer *record)
{
    LogPart part;
    Slice bytes;
    size_t from = *at;
    buffer_clear(record);
    for (bool more = true, first = true; more; first = false) {
        from = log_skip_trailer(text, from);
        if (!log_record_at(text, from, &part, &bytes) ||
            first != (part == PART_FULL || part == PART_FIRST))
            return false;
        buffer_bytes(record, bytes);
        from += LOG_HEADER + bytes.size;
        more = part == PART_FIRST || part == PART_MIDDLE;
    }
    *at = from;
    return true;
}

/* A manifest begins with the list as an opening found it; what the opening changed comes next. Until then the list names logs that
 * are gone: only a change, and no list, has the number of the next file. In a new directory there is nothing to change. */
static bool list_tables(Slice text, Listed *listed)
{
    BUFFER_SCOPE Buffer record = {0};
    for (size_t at = 0; take_record(text, &at, &record);) {
        listed->has_log = listed->has_next_file = listed->has_last_sequence = false;
        for (Slice rest = buffer_slice(&record); rest.size > 0;)
            if (!take_field(&rest, listed))
                return false;
        listed->is_whole |= listed->has_next_file && listed->has_last_sequence &&
                            (listed->has_log || listed->log == 0);
    }
    return listed->is_whole;
}

static bool tables_are_there(const char *db, const Listed *listed)
{
    bool all = true;
    for (size_t i = 0; all && i < listed->count; i++) {
        ARENA_SCOPE Arena *arena = arena_new();
        const TableFile *table = &listed->tables[i];
        struct stat found;
        Slice path = arena_print(arena, "%s/%06llu.sst", db, (unsigned long long)table->number);
        all = stat(arena_text(arena, path), &found) == 0 && (uint64_t)found.st_size == table->size;
    }
    return all;
}

/* CURRENT holds its name. */
static Status find_manifest(Disk disk, const char *db, Arena *arena, const char **ret_path,
                            Reason *reason)
{
    Slice name;
    const char *current = arena_text(arena, arena_print(arena, "%s/CURRENT", db));
    TRY(disk_read(disk, current, CURRENT_MAX, arena, &name, reason));
    name = slice_trim(name);
    if (!slice_starts_with(name, SLICE("MANIFEST-")) || slice_find(name, '/') != name.size)
        return STATUS_NOT_FOUND;
    *ret_path = arena_text(arena, arena_print(arena, "%s/%.*s", db, SLICE_ARG(name)));
    return STATUS_OK;
}

Status manifest_read(Disk disk, const char *db, Arena *arena, Manifest *ret_manifest,
                     Reason *reason)
{
    BUFFER_SCOPE Buffer record = {0};
    Manifest manifest = {0};
    Slice text = SLICE_EMPTY;
    Status status = find_manifest(disk, db, arena, &manifest.path, reason);
    if (status == STATUS_OK)
        status = disk_read(disk, manifest.path, MANIFEST_MAX, arena, &text, reason);
    *ret_manifest = manifest;
    if (status == STATUS_NOT_FOUND || status == STATUS_TOO_LARGE)
        return STATUS_OK;
    TRY(status);
    while (take_record(text, &manifest.whole, &record))
        ;
    manifest.is_torn = manifest.whole < text.size;
    if (manifest.is_torn) {
        size_t room = manifest.whole / TABLE_BYTES_MIN;
        Listed listed = {.tables = ARENA_ARRAY(arena, room + 1, TableFile), .room = room};
        manifest.has_all_tables = list_tables(slice_of(text.data, manifest.whole), &listed) &&
                                  tables_are_there(db, &listed);
        manifest.log = listed.log;
    }
    *ret_manifest = manifest;
    return STATUS_OK;
}
