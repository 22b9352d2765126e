/* real.h -- the system calls themselves, for the code that stands in front of the C library's functions.
 *
 * They cannot come back to us, need no look-up at start, and so can be used from anywhere in libfault. */
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FAULT_EXIT_CUT      137
#define FAULT_EXIT_CONFUSED 70

static inline int real_unlink(const char *path)
{
    return (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}

static inline int real_rmdir(const char *path)
{
    return (int)syscall(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR);
}

static inline int real_mkdir(const char *path)
{
    return (int)syscall(SYS_mkdirat, AT_FDCWD, path, 0755);
}

static inline int real_rename(const char *from, const char *to)
{
    return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

static inline int real_link(const char *from, const char *to)
{
    return (int)syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0);
}

static inline int real_truncate(const char *path, off_t size)
{
    return (int)syscall(SYS_truncate, path, size);
}

static inline int real_open(const char *path, int flags)
{
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC, 0644);
}

static inline ssize_t real_write(int fd, const void *data, size_t size)
{
    return syscall(SYS_write, fd, data, size);
}

static inline ssize_t real_read(int fd, void *data, size_t size)
{
    return syscall(SYS_read, fd, data, size);
}

static inline int real_close(int fd)
{
    return (int)syscall(SYS_close, fd);
}

_Noreturn static inline void real_exit(int code)
{
    for (;;)
        syscall(SYS_exit_group, code);
}

/* A test that misuses the library must not pass by accident. */
_Noreturn static inline void fault_confused(const char *what, const char *detail)
{
    char line[5000];
    int size = snprintf(line, sizeof line, "fault: %s: %s\n", what, detail);
    if (size > 0 && real_write(2, line, strlen(line)) < 0)
        real_exit(FAULT_EXIT_CONFUSED);
    real_exit(FAULT_EXIT_CONFUSED);
}
