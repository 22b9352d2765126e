/* shim_bytes.c -- write, sync, close and the other calls on descriptors, as libfault.so offers them. */
#undef _FILE_OFFSET_BITS /* it would rename pwrite to pwrite64 right here */

#include <sys/uio.h>

#include "lengths.h"
#include "names.h"
#include "real.h"
#include "watch.h"

enum { NO_OFFSET = -1 };

static long write_real(int fd, const struct iovec *parts, int count, off_t offset)
{
    if (offset == NO_OFFSET)
        return syscall(SYS_writev, fd, parts, count);
    return syscall(SYS_pwritev, fd, parts, count, offset, 0L);
}

static size_t size_of(const struct iovec *parts, int count)
{
    size_t size = 0;
    for (int i = 0; i < count; i++)
        size += parts[i].iov_len;
    return size;
}

/* Where a write without an offset begins. */
static off_t write_position(int fd)
{
    struct stat now;
    bool at_end = (fcntl(fd, F_GETFL) & O_APPEND) != 0 && fstat(fd, &now) == 0;
    return at_end ? now.st_size : lseek(fd, 0, SEEK_CUR);
}

/* The first half of what was to be written: as much as fits into the first part. */
static long write_half(int fd, const struct iovec *parts, int count, off_t offset)
{
    size_t size = size_of(parts, count);
    struct iovec half = {parts[0].iov_base, parts[0].iov_len};
    if (half.iov_len > size / 2)
        half.iov_len = size / 2;
    return write_real(fd, &half, 1, offset);
}

static ssize_t write_any(int fd, const struct iovec *parts, int count, off_t offset)
{
    if (!watch_is_on(fd))
        return write_real(fd, parts, count, offset);
    Verdict verdict = watch_begin(FAULT_WRITE, fd, NULL);
    if (verdict == VERDICT_FAIL)
        return watch_end(-1);
    lengths_writing(fd, offset == NO_OFFSET ? write_position(fd) : offset, size_of(parts, count));
    long result = verdict == VERDICT_SHORT ? write_half(fd, parts, count, offset)
                                           : write_real(fd, parts, count, offset);
    return watch_end(result);
}

static struct iovec one_part(const void *data, size_t size)
{
    struct iovec part = {.iov_len = size};
    memcpy(&part.iov_base, &data, sizeof data); /* only read from, whatever its type says */
    return part;
}

EXPORT ssize_t write(int fd, const void *data, size_t size)
{
    struct iovec part = one_part(data, size);
    return watch_is_on(fd) ? write_any(fd, &part, 1, NO_OFFSET) : real_write(fd, data, size);
}

EXPORT ssize_t pwrite(int fd, const void *data, size_t size, off_t offset)
{
    struct iovec part = one_part(data, size);
    return write_any(fd, &part, 1, offset);
}

EXPORT ssize_t writev(int fd, const struct iovec *parts, int count)
{
    return write_any(fd, parts, count, NO_OFFSET);
}

EXPORT ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t offset)
{
    return write_any(fd, parts, count, offset);
}

EXPORT ssize_t read(int fd, void *data, size_t size)
{
    if (!watch_is_on(fd))
        return real_read(fd, data, size);
    if (watch_refused(FAULT_READ, fd, NULL))
        return watch_end(-1);
    return watch_end(real_read(fd, data, size));
}

EXPORT ssize_t pread(int fd, void *data, size_t size, off_t offset)
{
    if (watch_is_on(fd)) {
        bool fails = watch_refused(FAULT_READ, fd, NULL);
        watch_end(0);
        if (fails)
            return -1;
    }
    return syscall(SYS_pread64, fd, data, size, offset);
}

EXPORT int ftruncate(int fd, off_t size)
{
    struct stat now;
    if (!watch_is_on(fd))
        return (int)syscall(SYS_ftruncate, fd, size);
    if (watch_refused(FAULT_TRUNCATE, fd, NULL))
        return (int)watch_end(-1);
    long result = syscall(SYS_ftruncate, fd, size);
    if (result == 0 && fstat(fd, &now) == 0)
        lengths_truncated(now.st_ino, size);
    return (int)watch_end(result);
}

EXPORT int truncate(const char *path, off_t size)
{
    char full[PATH_MAX];
    struct stat now;
    if (!watch_inside(AT_FDCWD, path, full))
        return real_truncate(path, size);
    if (watch_refused(FAULT_TRUNCATE, -1, full))
        return (int)watch_end(-1);
    long result = real_truncate(full, size);
    if (result == 0 && stat(full, &now) == 0)
        lengths_truncated(now.st_ino, size);
    return (int)watch_end(result);
}

EXPORT int fallocate(int fd, int mode, off_t offset, off_t size)
{
    if (!watch_is_on(fd))
        return (int)syscall(SYS_fallocate, fd, mode, offset, size);
    if (watch_refused(FAULT_ALLOCATE, fd, NULL))
        return (int)watch_end(-1);
    return (int)watch_end(syscall(SYS_fallocate, fd, mode, offset, size));
}

EXPORT int posix_fallocate(int fd, off_t offset, off_t size)
{
    int error = errno;
    int result = fallocate(fd, 0, offset, size) == 0 ? 0 : errno;
    errno = error;
    return result;
}

static int sync_any(int fd, long number)
{
    struct stat start;
    if (!watch_is_on(fd) || fstat(fd, &start) != 0)
        return (int)syscall(number, fd);
    if (watch_refused(FAULT_SYNC, fd, NULL)) {
        lengths_sync_failed(start.st_ino);
        return (int)watch_end(-1);
    }
    if (plan_lies())
        return (int)watch_end(0);
    fstat(fd, &start); /* again, now that nobody writes */
    uint64_t latest = names_latest(), began = lengths_sync_begins();
    watch_unlock();
    long result = syscall(number, fd);
    watch_lock();
    if (result == 0 && S_ISDIR(start.st_mode)) {
        names_synced_directory(start.st_ino, latest);
    } else if (result == 0) {
        lengths_synced(start.st_ino, start.st_size, began);
        names_synced_file(start.st_ino);
    }
    return (int)watch_end(result);
}

EXPORT int fsync(int fd)
{
    return sync_any(fd, SYS_fsync);
}

EXPORT int fdatasync(int fd)
{
    return sync_any(fd, SYS_fdatasync);
}

/* Without flags it asks whether the call exists, and does nothing that could fail; RocksDB rightly relies on that. */
EXPORT int sync_file_range(int fd, off_t offset, off_t size, unsigned flags)
{
    if (flags != 0 && watch_is_on(fd)) {
        bool fails = watch_refused(FAULT_RANGE, fd, NULL);
        watch_end(0);
        if (fails)
            return -1;
    }
    return (int)syscall(SYS_sync_file_range, fd, offset, size, flags);
}

EXPORT int close(int fd)
{
    if (!watch_is_on(fd))
        return real_close(fd);
    bool fails = watch_refused(FAULT_CLOSE, fd, NULL);
    int error = errno;
    watch_closed(fd);
    int result = real_close(fd);
    if (fails) {
        errno = error;
        result = -1;
    }
    return (int)watch_end(result);
}

/* The names that programs built for large files use. */
EXPORT ssize_t pwrite64(int fd, const void *data, size_t size, off64_t offset) ALSO_AS(pwrite);
EXPORT ssize_t pwritev64(int fd, const struct iovec *parts, int count, off64_t offset)
    ALSO_AS(pwritev);
EXPORT ssize_t pread64(int fd, void *data, size_t size, off64_t offset) ALSO_AS(pread);
EXPORT int ftruncate64(int fd, off64_t size) ALSO_AS(ftruncate);
EXPORT int truncate64(const char *path, off64_t size) ALSO_AS(truncate);
EXPORT int fallocate64(int fd, int mode, off64_t offset, off64_t size) ALSO_AS(fallocate);
EXPORT int posix_fallocate64(int fd, off64_t offset, off64_t size) ALSO_AS(posix_fallocate);
