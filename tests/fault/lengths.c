/* lengths.c -- a hash table of synced lengths, and the cut itself. */
#include "lengths.h"

#include <dirent.h>
#include <limits.h>
#include <stdint.h>

#include "plan.h"
#include "real.h"

enum { SLOTS = 1 << 16 };

typedef struct File {
    ino_t inode; /* 0: free */
    off_t synced;
    bool lost; /* a sync failed; no later one brings the bytes back */
} File;

typedef enum Keep { KEEP_NONE, KEEP_RANDOM, KEEP_ALL } Keep;

static File files[SLOTS];
static size_t used;
static Keep keep;
static uint64_t seed;
static bool overwritten;

void lengths_load(void)
{
    const char *text = getenv("FAULT_KEEP");
    seed = plan_number("FAULT_SEED");
    if (text == NULL || strcmp(text, "none") == 0)
        keep = KEEP_NONE;
    else if (strcmp(text, "random") == 0)
        keep = KEEP_RANDOM;
    else if (strcmp(text, "all") == 0)
        keep = KEEP_ALL;
    else
        fault_confused("FAULT_KEEP not understood", text);
}

static uint64_t mix(uint64_t number)
{
    number = (number ^ (number >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    number = (number ^ (number >> 27)) * UINT64_C(0x94d049bb133111eb);
    return number ^ (number >> 31);
}

/* The file's slot, or the free one where it belongs. */
static File *find(ino_t inode)
{
    size_t slot = mix(inode) % SLOTS;
    while (files[slot].inode != 0 && files[slot].inode != inode)
        slot = (slot + 1) % SLOTS;
    return &files[slot];
}

void lengths_opened(int fd, bool emptied)
{
    struct stat now;
    if (fstat(fd, &now) != 0 || !S_ISREG(now.st_mode))
        return;
    File *file = find(now.st_ino);
    if (file->inode != 0 && !emptied)
        return;
    if (file->inode == 0 && ++used > SLOTS / 2)
        fault_confused("too many files", "more than the table holds");
    *file = (File){.inode = now.st_ino, .synced = emptied ? 0 : now.st_size};
}

void lengths_written(int fd, off_t start)
{
    struct stat now;
    if (fstat(fd, &now) != 0)
        return;
    File *file = find(now.st_ino);
    if (file->inode != 0 && start < file->synced)
        overwritten = true;
}

void lengths_truncated(ino_t inode, off_t size)
{
    File *file = find(inode);
    if (file->inode != 0 && size < file->synced)
        file->synced = size;
}

void lengths_synced(ino_t inode, off_t size)
{
    File *file = find(inode);
    if (file->inode != 0 && !file->lost && size > file->synced)
        file->synced = size;
}

void lengths_sync_failed(ino_t inode)
{
    File *file = find(inode);
    if (file->inode != 0)
        file->lost = true;
}

/* The same seed and path give the same luck, whatever the order of the walk. */
static off_t kept(const File *file, const char *path, off_t size)
{
    uint64_t luck = seed;
    for (const char *byte = path; *byte != '\0'; byte++)
        luck = mix(luck + (unsigned char)*byte + UINT64_C(0x9e3779b97f4a7c15));
    if (keep == KEEP_NONE)
        return file->synced;
    return file->synced + (off_t)(luck % (uint64_t)(size - file->synced + 1));
}

static void cut_file(const char *root, const char *path, const struct stat *now)
{
    const File *file = find(now->st_ino);
    if (keep == KEEP_ALL || file->inode == 0 || now->st_size <= file->synced)
        return;
    if (real_truncate(path, kept(file, path + strlen(root), now->st_size)) != 0)
        fault_confused("cannot cut back", path);
}

static void walk(const char *root, const char *directory)
{
    DIR *entries = opendir(directory);
    if (entries == NULL)
        return;
    for (struct dirent *entry; (entry = readdir(entries)) != NULL;) {
        char path[PATH_MAX];
        struct stat now;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        int size = snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
        if (size < 0 || (size_t)size >= sizeof path || lstat(path, &now) != 0)
            fault_confused("cannot look at", entry->d_name);
        if (S_ISDIR(now.st_mode))
            walk(root, path);
        else if (S_ISREG(now.st_mode))
            cut_file(root, path, &now);
    }
    closedir(entries);
}

void lengths_cut(const char *root)
{
    if (overwritten)
        fault_confused("synced bytes were overwritten in place", "the power cut cannot be played");
    walk(root, root);
}
