/* lengths.c -- a hash table of synced lengths, a list of synced bytes that were overwritten, and the cut itself. */
#include "lengths.h"

#include <dirent.h>
#include <limits.h>
#include <stdint.h>

#include "plan.h"
#include "real.h"

enum { SLOTS = 1 << 16, PAGE = 4096, OLD_BYTES_MAX = 1 << 26 };

typedef struct File {
    ino_t inode; /* 0: free */
    off_t synced;
    bool lost; /* a sync failed; no later one brings the bytes back */
} File;

/* Synced bytes as they were before they were overwritten. */
typedef struct Old {
    ino_t inode;
    off_t start;
    size_t size;
    uint64_t epoch; /* syncs that had begun before */
    struct Old *older;
    char bytes[];
} Old;

typedef enum Keep { KEEP_NONE, KEEP_RANDOM, KEEP_PAGES, KEEP_ALL } Keep;

static File files[SLOTS];
static size_t used, old_bytes;
static Old *newest;
static Keep keep;
static uint64_t seed, epoch;

void lengths_load(void)
{
    const char *text = getenv("FAULT_KEEP");
    seed = plan_number("FAULT_SEED");
    if (text == NULL || strcmp(text, "none") == 0)
        keep = KEEP_NONE;
    else if (strcmp(text, "random") == 0)
        keep = KEEP_RANDOM;
    else if (strcmp(text, "pages") == 0)
        keep = KEEP_PAGES;
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

/* Since the last sync began. */
static bool is_kept(ino_t inode, off_t start, size_t size)
{
    for (const Old *old = newest; old != NULL; old = old->older)
        if (old->inode == inode && old->epoch == epoch && old->start <= start &&
            start + (off_t)size <= old->start + (off_t)old->size)
            return true;
    return false;
}

/* The descriptor may be for writing only. */
static void read_old(int fd, Old *old)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    int own = real_open(path, O_RDONLY);
    if (own < 0 || syscall(SYS_pread64, own, old->bytes, old->size, old->start) != (long)old->size)
        fault_confused("cannot keep what is overwritten", path);
    real_close(own);
}

void lengths_writing(int fd, off_t start, size_t size)
{
    struct stat now;
    if (fstat(fd, &now) != 0)
        return;
    const File *file = find(now.st_ino);
    if (file->inode == 0 || start >= file->synced || size == 0)
        return;
    if ((off_t)size > file->synced - start)
        size = (size_t)(file->synced - start);
    if (is_kept(file->inode, start, size))
        return;
    Old *old = malloc(sizeof *old + size);
    if (old == NULL || (old_bytes += size) > OLD_BYTES_MAX)
        fault_confused("too much is overwritten in place", "more than the list holds");
    *old = (Old){file->inode, start, size, epoch, newest};
    read_old(fd, old);
    newest = old;
}

void lengths_truncated(ino_t inode, off_t size)
{
    File *file = find(inode);
    if (file->inode != 0 && size < file->synced)
        file->synced = size;
}

uint64_t lengths_sync_begins(void)
{
    return epoch++;
}

void lengths_synced(ino_t inode, off_t size, uint64_t began)
{
    File *file = find(inode);
    if (file->inode == 0 || file->lost)
        return;
    if (size > file->synced)
        file->synced = size;
    for (Old **at = &newest; *at != NULL;) {
        Old *old = *at;
        if (old->inode != inode || old->epoch > began) {
            at = &old->older;
            continue;
        }
        *at = old->older;
        old_bytes -= old->size;
        free(old);
    }
}

void lengths_sync_failed(ino_t inode)
{
    File *file = find(inode);
    if (file->inode != 0)
        file->lost = true;
}

/* The same seed and path give the same luck, whatever the order of the walk. */
static uint64_t luck_of(const char *path)
{
    uint64_t luck = seed;
    for (const char *byte = path; *byte != '\0'; byte++)
        luck = mix(luck + (unsigned char)*byte + UINT64_C(0x9e3779b97f4a7c15));
    return luck;
}

static uint64_t luck_of_page(uint64_t luck, off_t page)
{
    return mix(luck + (uint64_t)page * UINT64_C(0xd1b54a32d192ed03) + 1);
}

static void put(int fd, const char *bytes, size_t size, off_t start, const char *path)
{
    if (syscall(SYS_pwrite64, fd, bytes, size, start) != (long)size)
        fault_confused("cannot play the cut", path);
}

/* Each page by itself is on the disk, or is as it was at the last sync, or as it was at some moment in between. Where nothing was
 * there are zeros, or the end of the file: always when the last page was written in part. Returns where that is. */
static off_t lose_pages(int fd, const File *file, uint64_t luck, off_t size, const char *path)
{
    static const char zeros[PAGE];
    off_t end = file->synced;
    for (off_t page = file->synced / PAGE; page * PAGE < size; page++) {
        off_t from = page * PAGE, to = from + PAGE < size ? from + PAGE : size;
        uint64_t own = luck_of_page(luck, page);
        if (from < file->synced)
            from = file->synced;
        if (own % 4 == 0)
            from += (off_t)((own >> 8) % (uint64_t)(to - from + 1));
        if (own % 4 < 2)
            put(fd, zeros, (size_t)(to - from), from, path);
        if (own % 4 != 1)
            end = own % 4 == 0 ? from : to;
    }
    bool ends = luck_of_page(luck, -1) % 2 == 0 || luck_of_page(luck, (size - 1) / PAGE) % 4 == 0;
    return ends ? end : size;
}

/* The newest first, so that the oldest is what remains; pages of the same file share their luck. */
static void restore(int fd, ino_t inode, uint64_t luck, off_t size, const char *path)
{
    for (const Old *old = newest; old != NULL; old = old->older) {
        for (off_t at = 0; old->inode == inode && at < (off_t)old->size;) {
            off_t from = old->start + at, to = (from / PAGE + 1) * PAGE;
            if (to > old->start + (off_t)old->size)
                to = old->start + (off_t)old->size;
            bool back = keep == KEEP_NONE || luck_of_page(luck, from / PAGE) % 2 == 0;
            if (back && to <= size)
                put(fd, old->bytes + at, (size_t)(to - from), from, path);
            at += to - from;
        }
    }
}

static void cut_file(const char *root, const char *path, const struct stat *now)
{
    const File *file = find(now->st_ino);
    if (keep == KEEP_ALL || file->inode == 0)
        return;
    uint64_t luck = luck_of(path + strlen(root));
    int fd = real_open(path, O_WRONLY);
    if (fd < 0)
        fault_confused("cannot cut back", path);
    restore(fd, now->st_ino, luck, now->st_size, path);
    if (now->st_size > file->synced) {
        off_t end = file->synced;
        if (keep == KEEP_RANDOM)
            end += (off_t)(luck % (uint64_t)(now->st_size - file->synced + 1));
        else if (keep == KEEP_PAGES)
            end = lose_pages(fd, file, luck, now->st_size, path);
        if (real_truncate(path, end) != 0)
            fault_confused("cannot cut back", path);
    }
    real_close(fd);
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
    walk(root, root);
}
