/* shim_names.c -- open, rename, unlink and the other calls on names, as libfault.so offers them. */
#undef _FILE_OFFSET_BITS /* it would rename open to open64 right here */

#include <stdarg.h>

#include "lengths.h"
#include "names.h"
#include "real.h"
#include "watch.h"

static int open_watched(const char *full, int flags, mode_t mode)
{
    if (watch_refused((flags & O_CREAT) != 0 ? FAULT_CREATE : FAULT_OPEN, -1, full))
        return (int)watch_end(-1);
    int error = errno;
    struct stat before;
    bool exists = lstat(full, &before) == 0;
    errno = error;
    bool creates = (flags & O_CREAT) != 0 && !exists;
    Name *name = creates ? names_before(NAME_CREATED, full, NULL) : NULL;
    int fd = (int)syscall(SYS_openat, AT_FDCWD, full, flags, mode);
    error = errno;
    names_after(name, fd >= 0);
    if (fd >= 0) {
        watch_opened(fd);
        lengths_opened(fd, creates || (flags & O_TRUNC) != 0);
    }
    errno = error;
    return (int)watch_end(fd);
}

static int open_any(int directory, const char *path, int flags, mode_t mode)
{
    char full[PATH_MAX];
    if (watch_inside(directory, path, full))
        return open_watched(full, flags, mode);
    int fd = (int)syscall(SYS_openat, directory, path, flags, mode);
    watch_closed(fd);
    return fd;
}

static mode_t mode_of(int flags, va_list arguments)
{
    bool has_mode = (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
    return has_mode ? va_arg(arguments, mode_t) : 0;
}

EXPORT int open(const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = mode_of(flags, arguments);
    va_end(arguments);
    return open_any(AT_FDCWD, path, flags, mode);
}

EXPORT int openat(int directory, const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = mode_of(flags, arguments);
    va_end(arguments);
    return open_any(directory, path, flags, mode);
}

EXPORT int creat(const char *path, mode_t mode)
{
    return open_any(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode);
}

/* The C library makes its temporary files by inner calls that nobody can stand before, so we make them. */
EXPORT int mkostemp(char *template, int flags)
{
    static const char LETTERS[] = "abcdefghijklmnopqrstuvwxyz012345";
    size_t size = strlen(template);
    if (size < 6 || strcmp(template + size - 6, "XXXXXX") != 0) {
        errno = EINVAL;
        return -1;
    }
    for (int tries = 0; tries < 100; tries++) {
        unsigned char luck[6];
        if (syscall(SYS_getrandom, luck, sizeof luck, 0) != (long)sizeof luck)
            return -1;
        for (size_t i = 0; i < sizeof luck; i++)
            template[size - 6 + i] = LETTERS[luck[i] % 32];
        int fd = open_any(AT_FDCWD, template, flags | O_RDWR | O_CREAT | O_EXCL, 0600);
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    return -1;
}

EXPORT int mkstemp(char *template)
{
    return mkostemp(template, 0);
}

EXPORT int unlinkat(int directory, const char *path, int flags)
{
    char full[PATH_MAX];
    bool is_directory = (flags & AT_REMOVEDIR) != 0;
    if (!watch_inside(directory, path, full))
        return (int)syscall(SYS_unlinkat, directory, path, flags);
    if (watch_refused(FAULT_UNLINK, -1, full))
        return (int)watch_end(-1);
    Name *name = names_before(is_directory ? NAME_REMOVED_DIRECTORY : NAME_REMOVED, full, NULL);
    long result = syscall(SYS_unlinkat, AT_FDCWD, full, flags);
    int error = errno;
    names_after(name, result == 0);
    errno = error;
    return (int)watch_end(result);
}

EXPORT int unlink(const char *path)
{
    return unlinkat(AT_FDCWD, path, 0);
}

EXPORT int rmdir(const char *path)
{
    return unlinkat(AT_FDCWD, path, AT_REMOVEDIR);
}

EXPORT int mkdirat(int directory, const char *path, mode_t mode)
{
    char full[PATH_MAX];
    if (!watch_inside(directory, path, full))
        return (int)syscall(SYS_mkdirat, directory, path, mode);
    if (watch_refused(FAULT_MKDIR, -1, full))
        return (int)watch_end(-1);
    Name *name = names_before(NAME_MADE_DIRECTORY, full, NULL);
    long result = syscall(SYS_mkdirat, AT_FDCWD, full, mode);
    int error = errno;
    names_after(name, result == 0);
    errno = error;
    return (int)watch_end(result);
}

EXPORT int mkdir(const char *path, mode_t mode)
{
    return mkdirat(AT_FDCWD, path, mode);
}

EXPORT int linkat(int from_directory, const char *from, int to_directory, const char *to, int flags)
{
    char full[PATH_MAX];
    if (!watch_inside(to_directory, to, full))
        return (int)syscall(SYS_linkat, from_directory, from, to_directory, to, flags);
    if (watch_refused(FAULT_LINK, -1, full))
        return (int)watch_end(-1);
    Name *name = names_before(NAME_LINKED, full, NULL);
    long result = syscall(SYS_linkat, from_directory, from, AT_FDCWD, full, flags);
    int error = errno;
    names_after(name, result == 0);
    errno = error;
    return (int)watch_end(result);
}

EXPORT int link(const char *from, const char *to)
{
    return linkat(AT_FDCWD, from, AT_FDCWD, to, 0);
}

EXPORT int renameat2(int from_directory, const char *from, int to_directory, const char *to,
                     unsigned flags)
{
    char full[PATH_MAX], old[PATH_MAX];
    if (!watch_inside(to_directory, to, full) || !watch_inside(from_directory, from, old))
        return (int)syscall(SYS_renameat2, from_directory, from, to_directory, to, flags);
    if (watch_refused(FAULT_RENAME, -1, full))
        return (int)watch_end(-1);
    Name *name = names_before(NAME_RENAMED, full, old);
    long result = syscall(SYS_renameat2, AT_FDCWD, old, AT_FDCWD, full, flags);
    int error = errno;
    names_after(name, result == 0);
    errno = error;
    return (int)watch_end(result);
}

EXPORT int renameat(int from_directory, const char *from, int to_directory, const char *to)
{
    return renameat2(from_directory, from, to_directory, to, 0);
}

EXPORT int rename(const char *from, const char *to)
{
    return renameat2(AT_FDCWD, from, AT_FDCWD, to, 0);
}

/* The names that programs built for large files use. */
EXPORT int open64(const char *path, int flags, ...) ALSO_AS(open);
EXPORT int openat64(int directory, const char *path, int flags, ...) ALSO_AS(openat);
EXPORT int creat64(const char *path, mode_t mode) ALSO_AS(creat);
EXPORT int mkstemp64(char *template) ALSO_AS(mkstemp);
EXPORT int mkostemp64(char *template, int flags) ALSO_AS(mkostemp);
