/* backup.c -- a hot copy out, and a copy back in.
 *
 * Out: RocksDB makes a checkpoint (hard links, an instant) inside the data directory; its files are copied to the target,
 * synced, and listed with size and hash in BACKUP, which is written last. A backup without BACKUP is one that
 * did not end. The checkpoint is removed; one that a crash left is removed at the next open.
 * In: every file is hashed while it is copied into DIRECTORY/restoring; only when all fit the list does it become DIRECTORY/db, and
 * only then is the marker written. A restored directory is a data directory whole or not at all. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sodium.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/rocksdb/rocks.h"

static const char LIST[] = "BACKUP";
static const char LIST_HEAD[] = "ostraka backup\nformat 1\nengine rocksdb\n";
enum { LIST_MAX = 4 * 1024 * 1024, COPY_BYTES = 1024 * 1024, HASH_BYTES = 32, HASH_TEXT = 65 };

/* ---- Copying one file ------------------------------------------------------------------------------------ */

static Status file_error(const char *path, Reason *reason)
{
    return reason_set(reason, STATUS_UNAVAILABLE, "", "%s: %s", path, strerror(errno));
}

static bool write_all(int fd, const char *data, size_t size)
{
    while (size > 0) {
        ssize_t wrote = write(fd, data, size);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote < 0)
            return false;
        data += wrote;
        size -= (size_t)wrote;
    }
    return true;
}

typedef struct Copied {
    uint64_t size;
    char hash[HASH_TEXT];
} Copied;

static Status copy_bytes(int in, int out, const char *to, Copied *ret_copied, Reason *reason)
{
    crypto_generichash_state state;
    unsigned char hash[HASH_BYTES];
    char *buffer = malloc(COPY_BYTES);
    CHECK(buffer != NULL);
    crypto_generichash_init(&state, NULL, 0, sizeof hash);
    Status status = STATUS_OK;
    uint64_t size = 0;
    for (ssize_t got; (got = read(in, buffer, COPY_BYTES)) != 0;) {
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 || !write_all(out, buffer, (size_t)got)) {
            status = file_error(to, reason);
            break;
        }
        crypto_generichash_update(&state, (unsigned char *)buffer, (unsigned long long)got);
        size += (uint64_t)got;
    }
    free(buffer);
    if (status == STATUS_OK && fsync(out) != 0)
        status = file_error(to, reason);
    crypto_generichash_final(&state, hash, sizeof hash);
    ret_copied->size = size;
    sodium_bin2hex(ret_copied->hash, sizeof ret_copied->hash, hash, sizeof hash);
    return status;
}

static Status copy_file(const char *from, const char *to, Copied *ret_copied, Reason *reason)
{
    int in = open(from, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (in < 0)
        return file_error(from, reason);
    int out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (out < 0) {
        close(in);
        return file_error(to, reason);
    }
    Status status = copy_bytes(in, out, to, ret_copied, reason);
    close(in);
    if (close(out) != 0 && status == STATUS_OK)
        status = file_error(to, reason);
    return status;
}

/* Entries of a directory are durable only when the directory itself is synced. */
static Status sync_directory(const char *path, Reason *reason)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return file_error(path, reason);
    Status status = fsync(fd) == 0 ? STATUS_OK : file_error(path, reason);
    close(fd);
    return status;
}

static const char *join(Arena *arena, const char *directory, Slice name)
{
    return arena_print(arena, "%s/%.*s%c", directory, SLICE_ARG(name), '\0').data;
}

/* Whether `path` would stand below `directory`: links are followed as far as the path is there. */
static bool is_inside(const char *path, const char *directory, Arena *arena)
{
    char data[PATH_MAX], there[PATH_MAX];
    const char *at = path[0] == '/' ? path : join(arena, ".", slice_from(path));
    while (realpath(at, there) == NULL) {
        const char *slash = strrchr(at, '/');
        if (slash == NULL)
            return false; /* below a working directory that is gone */
        at = arena_text(arena, slice_of(at, slash > at ? (size_t)(slash - at) : 1));
    }
    if (realpath(directory, data) == NULL)
        return false;
    return slice_starts_with(arena_print(arena, "%s/", there), arena_print(arena, "%s/", data));
}

/* A target may exist, but must be empty: we never write over somebody's files. */
static Status check_target(Disk disk, const char *directory, Arena *arena, Reason *reason)
{
    Slice *names;
    size_t count;
    Status status = disk_list(disk, directory, arena, &names, &count, reason);
    if (status == STATUS_NOT_FOUND)
        return STATUS_OK;
    if (status == STATUS_OK && count > 0)
        return reason_set(reason, STATUS_INVALID, "directory",
                          "%s is not empty; name a directory that does not exist yet", directory);
    return status;
}

/* ---- Out ------------------------------------------------------------------------------------------------- */

Status rocks_clear_checkpoint(Rocks *rocks, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    /* RocksDB gathers the links under the second name; left alone, they would keep files that it has long removed. */
    const char *path = join(arena, rocks->directory, SLICE("checkpoint")),
               *gathering = join(arena, rocks->directory, SLICE("checkpoint.tmp"));
    TRY(disk_remove_tree(rocks->world.disk, path, reason));
    return disk_remove_tree(rocks->world.disk, gathering, reason);
}

static Status make_checkpoint(Rocks *rocks, const char *path, Reason *reason)
{
    char *error = NULL;
    pthread_rwlock_rdlock(&rocks->gate);
    if (rocks->db == NULL) {
        pthread_rwlock_unlock(&rocks->gate);
        StoreHealth health;
        store_health(&rocks->store, &health);
        return reason_set(reason, STATUS_UNAVAILABLE, "", "the store is not open: %s",
                          health.reason);
    }
    rocksdb_checkpoint_t *checkpoint = rocksdb_checkpoint_object_create(rocks->db, &error);
    if (error == NULL)
        rocksdb_checkpoint_create(checkpoint, path, 0, &error);
    if (checkpoint != NULL)
        rocksdb_checkpoint_object_destroy(checkpoint);
    pthread_rwlock_unlock(&rocks->gate);
    return error == NULL ? STATUS_OK : rocks_error(error, path, reason);
}

static Status copy_out(Rocks *rocks, const char *checkpoint, const char *directory, Arena *arena,
                       Reason *reason)
{
    Disk disk = rocks->world.disk;
    BUFFER_SCOPE Buffer list = {0};
    Slice *names;
    size_t count;
    const char *db = join(arena, directory, SLICE("db"));
    TRY(disk_make_directory(disk, db, 0700, reason));
    TRY(disk_list(disk, checkpoint, arena, &names, &count, reason));
    buffer_text(&list, LIST_HEAD);
    for (size_t i = 0; i < count; i++) {
        Copied copied;
        TRY(copy_file(join(arena, checkpoint, names[i]), join(arena, db, names[i]), &copied,
                      reason));
        buffer_print(&list, "%s %llu %.*s\n", copied.hash, (unsigned long long)copied.size,
                     SLICE_ARG(names[i]));
    }
    TRY(sync_directory(db, reason));
    buffer_print(&list, "files %zu\n", count);
    return disk_replace(disk, join(arena, directory, SLICE("BACKUP")), 0600, buffer_slice(&list),
                        reason);
}

Status rocks_backup(Store *store, const char *directory, Reason *reason)
{
    Rocks *rocks = rocks_of(store);
    ARENA_SCOPE Arena *arena = arena_new();
    const char *checkpoint = join(arena, rocks->directory, SLICE("checkpoint"));
    TRY(check_target(rocks->world.disk, directory, arena, reason));
    if (is_inside(directory, rocks->directory, arena))
        return reason_set(reason, STATUS_INVALID, "directory",
                          "%s is inside the data directory; name one outside, best on another disk",
                          directory);
    if (atomic_exchange(&rocks->backing_up, true))
        return reason_set(reason, STATUS_CONFLICT, "", "another backup is running");
    Status status = rocks_clear_checkpoint(rocks, reason);
    if (status == STATUS_OK)
        status = make_checkpoint(rocks, checkpoint, reason);
    if (status == STATUS_OK)
        status = copy_out(rocks, checkpoint, directory, arena, reason);
    Reason ignored;
    (void)!rocks_clear_checkpoint(rocks, &ignored); /* the next backup or open tries again */
    atomic_store(&rocks->backing_up, false);
    return status;
}

/* ---- In -------------------------------------------------------------------------------------------------- */

static Status bad_list(const char *backup, const char *why, Reason *reason)
{
    return reason_set(reason, STATUS_CORRUPT, "backup", "%s is not a whole backup: %s", backup,
                      why);
}

typedef struct Listed {
    Slice hash, name;
    uint64_t size;
} Listed;

/* One line "hash size name"; a name with a slash would lead out of the directory. */
static bool parse_line(Slice line, Listed *ret_file)
{
    Slice rest = line, size;
    return slice_split(&rest, ' ', &ret_file->hash) && ret_file->hash.size == HASH_TEXT - 1 &&
           slice_split(&rest, ' ', &size) && slice_to_u64(size, &ret_file->size) == STATUS_OK &&
           (ret_file->name = rest).size > 0 && rest.data[0] != '.' &&
           slice_find(rest, '/') == rest.size && slice_find(rest, '\0') == rest.size;
}

static Status restore_file(const Listed *file, const char *from, const char *to, Arena *arena,
                           Reason *reason)
{
    Copied copied;
    const char *source = join(arena, from, file->name);
    if (access(source, F_OK) != 0)
        return reason_set(reason, STATUS_CORRUPT, "backup", "%s is missing in the backup", source);
    TRY(copy_file(source, join(arena, to, file->name), &copied, reason));
    if (copied.size == file->size && slice_equal(slice_from(copied.hash), file->hash))
        return STATUS_OK;
    return reason_set(reason, STATUS_CORRUPT, "backup",
                      "%s is damaged: it is not the file that was backed up", source);
}

/* The lines of BACKUP that name files; the last line counts them, so a list that was cut is noticed before any copying. */
static Status read_list(const char *backup, Disk disk, Arena *arena, Slice *ret_files,
                        Reason *reason)
{
    Slice list, line, head = slice_from(LIST_HEAD);
    uint64_t count = 0, expected = UINT64_MAX;
    Status status =
        disk_read(disk, join(arena, backup, slice_from(LIST)), LIST_MAX, arena, &list, reason);
    if (status == STATUS_NOT_FOUND)
        return bad_list(backup, "it has no file BACKUP; either it is none, or it did not end",
                        reason);
    TRY(status);
    if (!slice_starts_with(list, head))
        return bad_list(backup, "its file BACKUP is not readable as ours", reason);
    Slice files = slice_after(list, head.size), rest = files;
    bool ended = list.data[list.size - 1] == '\n';
    for (Listed file; ended && slice_split(&rest, '\n', &line); count++) {
        if (slice_starts_with(line, SLICE("files ")) && rest.size == 0) {
            ended = slice_to_u64(slice_after(line, 6), &expected) == STATUS_OK;
            files.size = (size_t)(line.data - files.data);
            break;
        }
        ended = parse_line(line, &file);
    }
    if (!ended || count != expected)
        return bad_list(backup, "its file BACKUP is cut short or changed", reason);
    *ret_files = files;
    return STATUS_OK;
}

static Status copy_in(const char *backup, const char *target, Disk disk, Arena *arena,
                      Reason *reason)
{
    Slice files, line;
    TRY(read_list(backup, disk, arena, &files, reason));
    const char *from = join(arena, backup, SLICE("db")), *to = join(arena, target, SLICE("db"));
    TRY(disk_make_directory(disk, to, 0700, reason));
    while (slice_split(&files, '\n', &line)) {
        Listed file;
        CHECK(parse_line(line, &file));
        TRY(restore_file(&file, from, to, arena, reason));
    }
    return sync_directory(to, reason);
}

/* What a restore may find: nothing, or what an earlier one that did not end has left. `restoring` is there from its first step to
 * its last, so whatever stands beside it without OSTRAKA is its own. */
static Status check_restore_target(Disk disk, const char *directory, Arena *arena, Reason *reason)
{
    Slice *names;
    size_t count, writer_cache = 0;
    bool unfinished = false, finished = false;
    TRY(disk_list(disk, directory, arena, &names, &count, reason));
    for (size_t i = 0; i < count; i++) {
        unfinished |= slice_equal(names[i], SLICE("restoring"));
        finished |= slice_equal(names[i], SLICE("OSTRAKA"));
        writer_cache += slice_equal(names[i], SLICE("lock"));
    }
    if (writer_cache == count || (unfinished && !finished))
        return STATUS_OK;
    return reason_set(reason, STATUS_INVALID, "data",
                      "%s is not empty; name a directory that does not exist yet, or an empty one",
                      directory);
}

/* The database is copied aside, moved into place, and marked as ours last: before the mark the directory is no data directory, and
 * `serve` says that a restore did not end. */
static Status restore_into(const char *backup, const char *directory, Disk disk, Arena *arena,
                           Reason *reason)
{
    const char *aside = join(arena, directory, SLICE("restoring")),
               *db = join(arena, directory, SLICE("db"));
    TRY(disk_remove_tree(disk, db, reason));
    TRY(disk_remove_tree(disk, aside, reason));
    TRY(disk_make_directory(disk, aside, 0700, reason));
    TRY(copy_in(backup, aside, disk, arena, reason));
    TRY(disk_rename(disk, join(arena, aside, SLICE("db")), db, reason));
    TRY(disk_replace(disk, join(arena, directory, SLICE("OSTRAKA")), 0600, rocks_marker(arena),
                     reason));
    return disk_remove_tree(disk, aside, reason);
}

Status store_rocksdb_restore(const char *backup, const char *directory, Disk disk, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Slice files, *names;
    size_t count;
    int lock_fd = -1;
    Reason ignored;
    TRY(read_list(backup, disk, arena, &files, reason)); /* before anything is made */
    bool is_new = disk_list(disk, directory, arena, &names, &count, &ignored) == STATUS_NOT_FOUND;
    TRY(disk_make_directory(disk, directory, 0700, reason));
    TRY(check_restore_target(disk, directory, arena, reason));
    TRY(world_lock(directory, &lock_fd, reason));
    Status status = check_restore_target(disk, directory, arena, reason);
    if (status == STATUS_OK)
        status = restore_into(backup, directory, disk, arena, reason);
    if (status == STATUS_CORRUPT) { /* the backup is no good: leave nothing behind */
        (void)!disk_remove_tree(disk, join(arena, directory, SLICE("restoring")), &ignored);
        if (is_new)
            (void)!disk_remove_tree(disk, directory, &ignored);
    }
    close(lock_fd);
    return status;
}
