/* world_lock.c -- one owner for a directory (world.h). */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/world.h"

Status world_lock(const char *directory, int *ret_fd, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    const char *path = arena_print(arena, "%s/lock%c", directory, '\0').data;
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        return reason_set(reason, STATUS_UNAVAILABLE, "data", "%s: %s", path, strerror(errno));
    char owner[32] = "";
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        ssize_t got = pread(fd, owner, sizeof owner - 1, 0);
        close(fd);
        owner[got > 0 ? got : 0] = '\0';
        return reason_set(reason, STATUS_CONFLICT, "data", "%s is in use by another process%s%s",
                          directory, owner[0] != '\0' ? ", id " : "", owner);
    }
    int size = snprintf(owner, sizeof owner, "%d", (int)getpid());
    if (ftruncate(fd, 0) != 0 || pwrite(fd, owner, (size_t)size, 0) != size) {
        close(fd);
        return reason_set(reason, STATUS_UNAVAILABLE, "data", "%s: %s", path, strerror(errno));
    }
    *ret_fd = fd;
    return STATUS_OK;
}
