/* watch.c -- the root, the descriptors, the lock. */
#include "watch.h"

#include <pthread.h>
#include <stdatomic.h>

#include "lengths.h"
#include "names.h"
#include "real.h"

enum { DESCRIPTORS = 1 << 16 };

static char root[PATH_MAX];
static size_t root_size; /* 0: nothing is watched */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic ino_t watched[DESCRIPTORS];

void watch_lock(void)
{
    pthread_mutex_lock(&lock);
}

void watch_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

__attribute__((constructor)) static void load(void)
{
    const char *text = getenv("FAULT_ROOT");
    if (text == NULL)
        return;
    size_t size = strlen(text);
    if (text[0] != '/' || size < 2 || size >= sizeof root || text[size - 1] == '/')
        fault_confused("FAULT_ROOT is not an absolute directory", text);
    memcpy(root, text, size + 1);
    plan_load();
    lengths_load();
    names_load(root);
    pthread_atfork(watch_lock, watch_unlock, watch_unlock);
    root_size = size;
}

__attribute__((destructor)) static void unload(void)
{
    if (root_size != 0)
        plan_report();
}

_Noreturn void watch_cut(void)
{
    names_undo();
    lengths_cut(root);
    plan_report();
    real_exit(FAULT_EXIT_CUT);
}

/* Removes empty parts and dots, so that names can be compared as text. */
static void tidy(char *path)
{
    char *to = path, *rest = NULL, copy[PATH_MAX];
    strcpy(copy, path);
    for (char *part = strtok_r(copy, "/", &rest); part; part = strtok_r(NULL, "/", &rest)) {
        if (strcmp(part, ".") == 0)
            continue;
        if (strcmp(part, "..") == 0) {
            while (to > path && *--to != '/')
                ;
            continue;
        }
        to += sprintf(to, "/%s", part);
    }
    strcpy(to, to == path ? "/" : "");
}

static void descriptor_path(int fd, char path[PATH_MAX])
{
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t size = readlink(link, path, PATH_MAX - 1);
    path[size > 0 ? size : 0] = '\0';
}

bool watch_inside(int directory, const char *path, char full[PATH_MAX])
{
    int error = errno;
    size_t size = 0;
    if (root_size == 0)
        return false;
    full[0] = '\0';
    if (path[0] != '/') {
        if (directory != AT_FDCWD)
            descriptor_path(directory, full);
        else if (getcwd(full, PATH_MAX) == NULL)
            full[0] = '\0';
        size = strlen(full);
    }
    errno = error;
    if (size + strlen(path) + 2 > PATH_MAX)
        return false;
    sprintf(full + size, "/%s", path);
    tidy(full);
    return strncmp(full, root, root_size) == 0 &&
           (full[root_size] == '/' || full[root_size] == '\0');
}

bool watch_is_on(int fd)
{
    struct stat now;
    int error = errno;
    if (fd < 0 || fd >= DESCRIPTORS || watched[fd] == 0)
        return false;
    bool same = fstat(fd, &now) == 0 && now.st_ino == watched[fd] &&
                (S_ISREG(now.st_mode) || S_ISDIR(now.st_mode));
    errno = error;
    return same;
}

void watch_opened(int fd)
{
    struct stat now;
    if (fstat(fd, &now) == 0 && fd < DESCRIPTORS)
        watched[fd] = now.st_ino;
}

void watch_closed(int fd)
{
    if (fd >= 0 && fd < DESCRIPTORS)
        watched[fd] = 0;
}

Verdict watch_begin(FaultKind kind, int fd, const char *path)
{
    watch_lock();
    int error = errno;
    Verdict verdict = plan_next(kind);
    if (verdict == VERDICT_CUT)
        watch_cut();
    errno = error;
    if (verdict == VERDICT_PASS)
        return verdict;
    char name[PATH_MAX];
    if (path == NULL)
        descriptor_path(fd, name);
    plan_note(kind, path != NULL ? path : name);
    errno = verdict == VERDICT_FAIL ? plan_error() : error;
    return verdict;
}

bool watch_refused(FaultKind kind, int fd, const char *path)
{
    return watch_begin(kind, fd, path) == VERDICT_FAIL;
}

long watch_end(long result)
{
    int error = errno;
    watch_unlock();
    errno = error;
    return result;
}
