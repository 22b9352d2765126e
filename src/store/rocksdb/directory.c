/* directory.c -- is this data directory ours, is it free, is it whole.
 *
 * Making one goes: OSTRAKA.making, RocksDB's files, then OSTRAKA.making is renamed to OSTRAKA. So with OSTRAKA there the
 * database must be there too, and a missing part is damage, never a reason to start empty; with OSTRAKA.making nothing was
 * ever acknowledged, and starting again is safe; with neither, a directory that is not empty belongs to somebody else. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "store/rocksdb/rocks.h"

static const char MARKER[] = "OSTRAKA";
static const char MAKING[] = "OSTRAKA.making";
static const char LOCK[] = "lock";
enum { MARKER_MAX = 1024 };

char *rocks_path(const char *directory, const char *name)
{
    char *path;
    CHECK(asprintf(&path, "%s/%s", directory, name) >= 0);
    return path;
}

static const char *path_in(const char *directory, const char *name, Arena *arena)
{
    return arena_print(arena, "%s/%s%c", directory, name, '\0').data;
}

Slice rocks_marker(Arena *arena)
{
    return arena_print(arena, "ostraka data directory\nformat %d\nengine rocksdb\n", STORE_FORMAT);
}

Status rocks_marker_check(Slice text, const char *directory, Reason *reason)
{
    Slice head = SLICE("ostraka data directory\nformat "), rest = slice_after(text, head.size),
          line;
    uint64_t format;
    if (!slice_starts_with(text, head) || !slice_split(&rest, '\n', &line) ||
        slice_to_u64(line, &format) != STATUS_OK || line.data[0] == '0')
        return reason_set(reason, STATUS_CORRUPT, "data",
                          "%s is damaged: its file %s is not readable as ours", directory, MARKER);
    if (format > STORE_FORMAT)
        return reason_set(
            reason, STATUS_INVALID, "data",
            "%s was written by a newer version: its format is %llu, this program knows "
            "formats up to %d",
            directory, (unsigned long long)format, STORE_FORMAT);
    if (!slice_equal(rest, SLICE("engine rocksdb\n")))
        return reason_set(reason, STATUS_INVALID, "data",
                          "%s belongs to another engine than rocksdb", directory);
    return STATUS_OK;
}

static bool has_name(const Slice *names, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (slice_equal(names[i], slice_from(name)))
            return true;
    return false;
}

/* With the marker there the database must be there, too: RocksDB would begin to make one before it complains. */
static Status look_inside(const char *directory, Disk disk, Arena *arena, Reason *reason)
{
    Slice text = SLICE_EMPTY, *names;
    size_t count;
    Status status =
        disk_read(disk, path_in(directory, MARKER, arena), MARKER_MAX, arena, &text, reason);
    if (status != STATUS_TOO_LARGE) /* no marker of ours is that long: as good as unreadable */
        TRY(status);
    TRY(rocks_marker_check(text, directory, reason));
    status = disk_list(disk, path_in(directory, "db", arena), arena, &names, &count, reason);
    if (status == STATUS_NOT_FOUND || (status == STATUS_OK && !has_name(names, count, "CURRENT")))
        return reason_set(reason, STATUS_CORRUPT, "data",
                          "%s is damaged: it has no database, db/CURRENT is missing", directory);
    return status;
}

/* The announcement itself, or a first attempt to write it that a power cut left behind (disk_replace). */
static bool has_making(const Slice *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (slice_starts_with(names[i], slice_from(MAKING)))
            return true;
    return false;
}

/* Looks without touching. */
static Status look(const char *directory, Disk disk, Arena *arena, DirectoryState *ret_state,
                   Reason *reason)
{
    Slice *names;
    size_t count;
    TRY(disk_list(disk, directory, arena, &names, &count, reason));
    if (has_name(names, count, MARKER)) {
        *ret_state = DIRECTORY_OURS;
        return look_inside(directory, disk, arena, reason);
    }
    if (has_name(names, count, "restoring"))
        return reason_set(reason, STATUS_INVALID, "data",
                          "a restore into %s did not end; run it again, or remove the directory",
                          directory);
    bool empty = count == (has_name(names, count, LOCK) ? 1 : 0);
    if (!empty && !has_making(names, count))
        return reason_set(reason, STATUS_INVALID, "data",
                          "%s is not empty and not a data directory of ostraka: it has no file %s",
                          directory, MARKER);
    *ret_state = DIRECTORY_NEW;
    return STATUS_OK;
}

/* A database that was never finished is thrown away, and the making is announced. */
static Status begin_making(const char *directory, Disk disk, Arena *arena, Reason *reason)
{
    TRY(disk_replace(disk, path_in(directory, MAKING, arena), 0600, rocks_marker(arena), reason));
    TRY(disk_remove_tree(disk, path_in(directory, "synced", arena),
                         reason)); /* of that one's log */
    return disk_remove_tree(disk, path_in(directory, "db", arena), reason);
}

Status rocks_directory_claim(const char *directory, bool create, Disk disk,
                             DirectoryState *ret_state, int *ret_lock_fd, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Status status = look(directory, disk, arena, ret_state, reason);
    if (status == STATUS_NOT_FOUND && create)
        status = disk_make_directory(disk, directory, 0700, reason);
    else if (status == STATUS_OK && *ret_state == DIRECTORY_NEW && !create)
        status = reason_set(reason, STATUS_NOT_FOUND, "data", "%s holds no data yet", directory);
    TRY(status);
    TRY(world_lock(directory, ret_lock_fd, reason));
    status = look(directory, disk, arena, ret_state, reason); /* again, now that nobody else can */
    if (status == STATUS_OK && *ret_state == DIRECTORY_NEW)
        status = begin_making(directory, disk, arena, reason);
    if (status != STATUS_OK)
        close(*ret_lock_fd);
    return status;
}

Status rocks_directory_finish(const char *directory, Disk disk, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    return disk_rename(disk, path_in(directory, MAKING, arena), path_in(directory, MARKER, arena),
                       reason);
}
