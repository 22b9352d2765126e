/* seal.c -- what a closed database looks like, so that a file which was cut short while nobody looked is noticed.
 *
 * RocksDB takes a log or manifest that ends early for the torn end that a power cut leaves, and drops what is missing without a
 * word. After a clean close nothing is torn: so the close lists every file with its size in `sealed`, and the next open
 * compares. While the database is open the file says "open", and after a crash it still does: then a torn end is to be expected
 * and nothing is compared. Each change of the file is one atomic, durable replace, before anything else is written. */
#include <sys/stat.h>

#include "base/bytes.h"
#include "store/rocksdb/rocks.h"

static const char NAME[] = "sealed";
static const char OPEN[] = "open\n";
enum { SEAL_MAX = 16 * 1024 * 1024 };

static const char *path_of(const char *directory, const char *name, Arena *arena)
{
    return arena_print(arena, "%s/%s%c", directory, name, '\0').data;
}

/* RocksDB's lock and its own log hold no data. */
static bool counts(Slice name)
{
    return !slice_equal(name, SLICE("LOCK")) && !slice_starts_with(name, SLICE("LOG"));
}

Status rocks_seal_check(const Rocks *rocks, Arena *arena, Slice *ret_seal, Reason *reason)
{
    Slice text, line;
    Status status = disk_read(rocks->world.disk, path_of(rocks->directory, NAME, arena), SEAL_MAX,
                              arena, &text, reason);
    if (status == STATUS_NOT_FOUND)
        text = slice_from(OPEN); /* restored, or from before there were seals */
    else
        TRY(status);
    Slice rest = slice_equal(text, slice_from(OPEN)) ? SLICE_EMPTY : text;
    while (slice_split(&rest, '\n', &line)) {
        Slice size_text, name = line;
        uint64_t size;
        struct stat found;
        if (!slice_split(&name, ' ', &size_text) || slice_to_u64(size_text, &size) != STATUS_OK)
            return reason_set(reason, STATUS_CORRUPT, "data",
                              "%s is damaged: its file %s cannot be read", rocks->directory, NAME);
        const char *path = path_of(rocks->db_path, arena_text(arena, name), arena);
        if (stat(path, &found) != 0)
            return reason_set(reason, STATUS_CORRUPT, "data", "%s is damaged: %s is missing",
                              rocks->directory, path);
        if ((uint64_t)found.st_size != size)
            return reason_set(reason, STATUS_CORRUPT, "data",
                              "%s is damaged: %s has %llu bytes and had %llu when it was closed",
                              rocks->directory, path, (unsigned long long)found.st_size,
                              (unsigned long long)size);
    }
    *ret_seal = text;
    return STATUS_OK;
}

Status rocks_seal_write(const Rocks *rocks, Slice seal, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    return disk_replace(rocks->world.disk, path_of(rocks->directory, NAME, arena), 0600, seal,
                        reason);
}

Status rocks_seal_break(const Rocks *rocks, Reason *reason)
{
    return rocks_seal_write(rocks, slice_from(OPEN), reason);
}

Status rocks_seal(const Rocks *rocks, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    BUFFER_SCOPE Buffer text = {0};
    Slice *names;
    size_t count;
    TRY(disk_list(rocks->world.disk, rocks->db_path, arena, &names, &count, reason));
    for (size_t i = 0; i < count; i++) {
        struct stat found;
        const char *path = path_of(rocks->db_path, arena_text(arena, names[i]), arena);
        if (!counts(names[i]))
            continue;
        if (stat(path, &found) != 0)
            return reason_set(reason, STATUS_UNAVAILABLE, "data", "%s cannot be looked at", path);
        buffer_print(&text, "%llu %.*s\n", (unsigned long long)found.st_size, SLICE_ARG(names[i]));
    }
    return rocks_seal_write(rocks, buffer_slice(&text), reason);
}
