/* world.c -- the machine behind the handles: its clock, its randomness, its file system.
 *
 * Every disk call is repeated when a signal interrupts it and continued when it did less than asked. A failure
 * before the point of no return is UNAVAILABLE (nothing changed); a failed sync after a rename is UNKNOWN,
 * because a power cut may still undo what is already visible. */
#include "base/world.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "base/bytes.h"

/* PATH_SHOWN: enough of a path for a reason, so that the system's words after it are not cut off.
 * TREE_DEPTH: nothing of ours is nearly as deep; each level costs an open file and a stack frame. */
enum { READ_CHUNK = 64 * 1024, PATH_SHOWN = 200, PATH_BYTES_MAX = 4096, TREE_DEPTH = 64 };

/* Clock */

static int64_t time_us(clockid_t which)
{
    struct timespec time;
    CHECK(clock_gettime(which, &time) == 0);
    return (int64_t)time.tv_sec * US_PER_S + time.tv_nsec / 1000;
}

static int64_t real_now_us(void *self)
{
    (void)self;
    return time_us(CLOCK_REALTIME);
}

static int64_t real_steady_us(void *self)
{
    (void)self;
    return time_us(CLOCK_BOOTTIME); /* goes on while the machine sleeps */
}

static int64_t real_boot_us(void *self)
{
    (void)self;
    return time_us(CLOCK_BOOTTIME);
}

static void real_sleep_us(void *self, int64_t us)
{
    (void)self;
    if (us <= 0)
        return;
    struct timespec left = {.tv_sec = us / US_PER_S, .tv_nsec = us % US_PER_S * 1000};
    while (nanosleep(&left, &left) != 0)
        CHECK(errno == EINTR);
}

/* Randomness */

static void real_fill(void *self, void *to, size_t size)
{
    (void)self;
    randombytes_buf(to, size);
}

uint64_t random_u64(Random random)
{
    uint64_t number;
    random_fill(random, &number, sizeof number);
    return number;
}

/* Disk */

/* Fills the reason from errno: what was tried, on which path (its end, when it is long), and why not. */
static Status failed(Reason *reason, Status status, const char *doing, const char *path)
{
    int error = errno;
    size_t size = strlen(path);
    bool cut = size > PATH_SHOWN;
    return reason_set(reason, status, NULL, "cannot %s %s%s: %s", doing, cut ? "..." : "",
                      cut ? path + size - PATH_SHOWN : path, strerror(error));
}

static Status missing_or(Status status)
{
    return errno == ENOENT ? STATUS_NOT_FOUND : status;
}

/* A file that is created gets the mode of a secret; whoever wants another says so before it has a name. */
static int open_again(const char *path, int flags)
{
    int fd;
    do {
        fd = open(path, flags | O_CLOEXEC, 0600);
    } while (fd < 0 && errno == EINTR);
    return fd;
}

static int sync_again(int fd)
{
    int result;
    do {
        result = fsync(fd);
    } while (result != 0 && errno == EINTR);
    return result;
}

/* Closes without losing the errno of what failed before. */
static void close_quietly(int fd)
{
    int error = errno;
    close(fd);
    errno = error;
}

/* The directory that holds `path`: "." when it has no slash, "/" for what stands in the root. */
static const char *parent_of(const char *path, char *to, size_t size)
{
    size_t end = strlen(path);
    while (end > 1 && path[end - 1] == '/')
        end--;
    while (end > 0 && path[end - 1] != '/')
        end--;
    while (end > 1 && path[end - 1] == '/')
        end--;
    CHECK(end < size);
    memcpy(to, end == 0 ? "." : path, end == 0 ? 1 : end);
    to[end == 0 ? 1 : end] = '\0';
    return to;
}

static bool path_fits(const char *path)
{
    errno = ENAMETOOLONG;
    return strlen(path) < PATH_BYTES_MAX;
}

/* Makes the names in the directory that holds `path` durable. Some file systems keep no directories of their own
 * and answer EINVAL: there is nothing to sync. */
static int sync_parent(const char *path)
{
    char parent[PATH_BYTES_MAX];
    int fd = open_again(parent_of(path, parent, sizeof parent), O_RDONLY | O_DIRECTORY);
    if (fd < 0)
        return -1;
    int result = sync_again(fd) == 0 || errno == EINVAL ? 0 : -1;
    close_quietly(fd);
    return result;
}

/* Appends what is left in the file, but stops soon after `limit`, so that a huge file costs no more. */
static int read_to_end(int fd, size_t limit, Buffer *buffer)
{
    for (;;) {
        ssize_t got = read(fd, buffer_reserve(buffer, READ_CHUNK), READ_CHUNK);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return (int)got;
        buffer->size += (size_t)got;
        if (buffer->size > limit)
            return 0;
    }
}

static Status real_read(void *self, const char *path, size_t limit, Arena *arena,
                        Slice *ret_content, Reason *reason)
{
    (void)self;
    int fd = open_again(path, O_RDONLY);
    if (fd < 0)
        return failed(reason, missing_or(STATUS_UNAVAILABLE), "open", path);
    BUFFER_SCOPE Buffer buffer = {0};
    int result = read_to_end(fd, limit, &buffer);
    close_quietly(fd);
    if (result != 0)
        return failed(reason, STATUS_UNAVAILABLE, "read", path);
    if (buffer.size > limit) {
        errno = EFBIG; /* "File too large" */
        return failed(reason, STATUS_TOO_LARGE, "read", path);
    }
    *ret_content = arena_copy(arena, buffer_slice(&buffer));
    return STATUS_OK;
}

static Status real_read_part(void *self, const char *path, DiskPart part, Arena *arena,
                             Slice *ret_content, Reason *reason)
{
    (void)self;
    int fd = open_again(path, O_RDONLY);
    if (fd < 0)
        return failed(reason, missing_or(STATUS_UNAVAILABLE), "open", path);
    char *bytes = arena_bytes(arena, part.size);
    size_t size = 0;
    ssize_t got = 1;
    while (size < part.size && (got > 0 || (got < 0 && errno == EINTR))) {
        got = pread(fd, bytes + size, part.size - size, (off_t)(part.offset + size));
        size += got > 0 ? (size_t)got : 0;
    }
    close_quietly(fd);
    if (got < 0)
        return failed(reason, STATUS_UNAVAILABLE, "read", path);
    *ret_content = slice_of(bytes, size);
    return STATUS_OK;
}

static int write_all(int fd, Slice content)
{
    while (content.size > 0) {
        ssize_t wrote = write(fd, content.data, content.size);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote < 0)
            return -1;
        content = slice_after(content, (size_t)wrote);
    }
    return 0;
}

/* Writes and syncs an open file and closes it in any case; -1 with errno. */
static int fill_and_close(int fd, int mode, Slice content)
{
    if (fchmod(fd, (mode_t)mode) == 0 && write_all(fd, content) == 0 && sync_again(fd) == 0)
        return close(fd);
    close_quietly(fd);
    return -1;
}

/* The new content gets its own name in the same directory, so that the rename stays inside one file system. A
 * power cut may leave such a file behind; it is never read. */
static Status real_replace(void *self, const char *path, int mode, Slice content, Reason *reason)
{
    (void)self;
    char temporary[PATH_BYTES_MAX + 32];
    uint64_t unique;
    if (!path_fits(path))
        return failed(reason, STATUS_UNAVAILABLE, "write", path);
    real_fill(NULL, &unique, sizeof unique);
    snprintf(temporary, sizeof temporary, "%s.new-%016" PRIx64, path, unique);
    int fd = open_again(temporary, O_WRONLY | O_CREAT | O_EXCL);
    if (fd < 0)
        return failed(reason, STATUS_UNAVAILABLE, "create a file beside", path);
    if (fill_and_close(fd, mode, content) != 0 || rename(temporary, path) != 0) {
        Status status = failed(reason, STATUS_UNAVAILABLE, "write", path);
        unlink(temporary);
        return status;
    }
    if (sync_parent(path) != 0)
        return failed(reason, STATUS_UNKNOWN, "sync the directory of", path);
    return STATUS_OK;
}

/* One that exists may have been made by a process that died before its sync, so it is synced all the same; but one
 * that we may not even read was not made by us. */
static int make_one(const char *path, int mode)
{
    if (mkdir(path, (mode_t)mode) == 0)
        return sync_parent(path);
    if (errno != EEXIST)
        return -1;
    return sync_parent(path) == 0 || errno == EACCES ? 0 : -1;
}

static Status real_make_directory(void *self, const char *path, int mode, Reason *reason)
{
    (void)self;
    char part[PATH_BYTES_MAX];
    struct stat info;
    if (!path_fits(path))
        return failed(reason, STATUS_UNAVAILABLE, "create the directory", path);
    for (size_t end = 1; end <= strlen(path); end++) {
        if (path[end] != '/' && path[end] != '\0')
            continue;
        memcpy(part, path, end);
        part[end] = '\0';
        if (make_one(part, mode) != 0)
            return failed(reason, STATUS_UNAVAILABLE, "create the directory", part);
    }
    errno = ENOTDIR;
    if (stat(path, &info) != 0 || !S_ISDIR(info.st_mode))
        return failed(reason, STATUS_UNAVAILABLE, "create the directory", path);
    return STATUS_OK;
}

static bool is_dots(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* The next name but . and ..; NULL at the end with errno 0, or after an error. */
static const char *next_name(DIR *directory)
{
    struct dirent *entry;
    do {
        errno = 0;
        entry = readdir(directory);
    } while (entry != NULL && is_dots(entry->d_name));
    return entry == NULL ? NULL : entry->d_name;
}

static int compare_names(const void *a, const void *b)
{
    return slice_compare(*(const Slice *)a, *(const Slice *)b);
}

static Status real_list(void *self, const char *path, Arena *arena, Slice **ret_names,
                        size_t *ret_count, Reason *reason)
{
    (void)self;
    DIR *directory = opendir(path);
    if (directory == NULL)
        return failed(reason, missing_or(STATUS_UNAVAILABLE), "list", path);
    BUFFER_SCOPE Buffer found = {0};
    const char *name;
    while ((name = next_name(directory)) != NULL) {
        Slice copy = arena_copy(arena, slice_from(name));
        buffer_bytes(&found, slice_of(&copy, sizeof copy));
    }
    int error = errno;
    closedir(directory);
    errno = error;
    if (error != 0)
        return failed(reason, STATUS_UNAVAILABLE, "list", path);
    size_t count = found.size / sizeof(Slice);
    Slice *names = ARENA_ARRAY(arena, count, Slice);
    memcpy(names, buffer_slice(&found).data, found.size);
    qsort(names, count, sizeof *names, compare_names);
    *ret_names = names;
    *ret_count = count;
    return STATUS_OK;
}

/* File systems that cannot refuse an existing target in one step (NFS) are asked in two; the data directory has
 * one owner, so nobody comes in between. */
static int rename_to_new(const char *from, const char *to)
{
    struct stat info;
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return -1;
    if (lstat(to, &info) == 0) {
        errno = EEXIST;
        return -1;
    }
    return rename(from, to);
}

static Status real_rename(void *self, const char *from, const char *to, Reason *reason)
{
    (void)self;
    if (!path_fits(from) || !path_fits(to))
        return failed(reason, STATUS_UNAVAILABLE, "rename", from);
    if (rename_to_new(from, to) != 0) {
        if (errno == EEXIST)
            return failed(reason, STATUS_CONFLICT, "rename to", to);
        return failed(reason, missing_or(STATUS_UNAVAILABLE), "rename", from);
    }
    if (sync_parent(to) != 0 || sync_parent(from) != 0)
        return failed(reason, STATUS_UNKNOWN, "sync the directory of", to);
    return STATUS_OK;
}

static int remove_at(int parent, const char *name, int depth);

static int remove_names_in(DIR *directory, int depth)
{
    const char *name;
    while ((name = next_name(directory)) != NULL)
        if (remove_at(dirfd(directory), name, depth) != 0)
            return -1;
    return errno == 0 ? 0 : -1;
}

/* Removes the content through an open directory and not by path, so that a link that is put in its place meanwhile
 * leads nowhere. */
static int empty_at(int parent, const char *name, int depth)
{
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *directory = fd < 0 ? NULL : fdopendir(fd);
    if (directory == NULL) {
        if (fd >= 0)
            close_quietly(fd);
        return -1;
    }
    int result = remove_names_in(directory, depth);
    int error = errno;
    closedir(directory);
    errno = error;
    return result;
}

static int remove_at(int parent, const char *name, int depth)
{
    if (unlinkat(parent, name, 0) == 0 || errno == ENOENT)
        return 0;
    if (errno != EISDIR)
        return -1;
    if (depth == TREE_DEPTH) {
        errno = ELOOP;
        return -1;
    }
    if (empty_at(parent, name, depth + 1) != 0)
        return -1;
    return unlinkat(parent, name, AT_REMOVEDIR);
}

static Status real_remove_tree(void *self, const char *path, Reason *reason)
{
    (void)self;
    if (remove_at(AT_FDCWD, path, 0) != 0)
        return failed(reason, STATUS_UNAVAILABLE, "remove", path);
    return STATUS_OK;
}

static Status real_free_bytes(void *self, const char *path, uint64_t *ret_bytes, Reason *reason)
{
    (void)self;
    struct statvfs info;
    if (statvfs(path, &info) != 0)
        return failed(reason, missing_or(STATUS_UNAVAILABLE), "measure", path);
    *ret_bytes = (uint64_t)info.f_bavail * info.f_frsize;
    return STATUS_OK;
}

static Status real_mode(void *self, const char *path, int *ret_mode, Reason *reason)
{
    (void)self;
    struct stat info;
    if (stat(path, &info) != 0)
        return failed(reason, missing_or(STATUS_UNAVAILABLE), "look at", path);
    *ret_mode = (int)(info.st_mode & 07777);
    return STATUS_OK;
}

Status disk_read(Disk disk, const char *path, size_t limit, Arena *arena, Slice *ret_content,
                 Reason *reason)
{
    return disk.read(disk.self, path, limit, arena, ret_content, reason);
}

Status disk_read_line(Disk disk, const char *path, size_t limit, Arena *arena, Slice *ret_line,
                      Reason *reason)
{
    Slice content;
    TRY(disk_read(disk, path, limit, arena, &content, reason));
    Slice line = slice_trim(content);
    if (line.size == 0 || slice_find(line, '\0') < line.size || slice_find(line, '\n') < line.size)
        return reason_set(reason, STATUS_INVALID, NULL, "%s must hold one line", path);
    *ret_line = line;
    return STATUS_OK;
}

Status disk_read_part(Disk disk, const char *path, DiskPart part, Arena *arena, Slice *ret_content,
                      Reason *reason)
{
    return disk.read_part(disk.self, path, part, arena, ret_content, reason);
}

Status disk_replace(Disk disk, const char *path, int mode, Slice content, Reason *reason)
{
    return disk.replace(disk.self, path, mode, content, reason);
}

Status disk_make_directory(Disk disk, const char *path, int mode, Reason *reason)
{
    return disk.make_directory(disk.self, path, mode, reason);
}

Status disk_list(Disk disk, const char *path, Arena *arena, Slice **ret_names, size_t *ret_count,
                 Reason *reason)
{
    return disk.list(disk.self, path, arena, ret_names, ret_count, reason);
}

Status disk_rename(Disk disk, const char *from, const char *to, Reason *reason)
{
    return disk.rename(disk.self, from, to, reason);
}

Status disk_remove_tree(Disk disk, const char *path, Reason *reason)
{
    return disk.remove_tree(disk.self, path, reason);
}

Status disk_free_bytes(Disk disk, const char *path, uint64_t *ret_bytes, Reason *reason)
{
    return disk.free_bytes(disk.self, path, ret_bytes, reason);
}

Status disk_mode(Disk disk, const char *path, int *ret_mode, Reason *reason)
{
    return disk.mode(disk.self, path, ret_mode, reason);
}

World world_real(void)
{
    CHECK(sodium_init() >= 0);
    return (World){
        .clock = {real_now_us, real_steady_us, real_sleep_us, NULL, real_boot_us},
        .random = {real_fill, NULL},
        .disk = {real_read, real_replace, real_make_directory, real_list, real_rename,
                 real_remove_tree, real_free_bytes, real_mode, real_read_part, NULL},
    };
}
