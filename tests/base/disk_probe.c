/* disk_probe.c -- a fixed series of disk calls, for test_disk_faults.py.
 *
 *     disk_probe DIRECTORY
 * prints the status of each call as soon as it returns, and stops after the first that is not OK. */
#include <stdio.h>

#include "base/world.h"

static const char *below(Arena *arena, const char *root, const char *name)
{
    return arena_print(arena, "%s/%s", root, name).data;
}

static Status step(int number, Disk disk, Arena *arena, const char *root)
{
    const char *file = below(arena, root, "a/b/file");
    switch (number) {
    case 0:
        return disk_make_directory(disk, below(arena, root, "a/b"), 0700, NULL);
    case 1:
        return disk_replace(disk, file, 0600, SLICE("old"), NULL);
    case 2:
        return disk_replace(disk, file, 0600, SLICE("new content"), NULL);
    case 3:
        return disk_rename(disk, file, below(arena, root, "a/moved"), NULL);
    default:
        return disk_remove_tree(disk, below(arena, root, "a/b"), NULL);
    }
}

int main(int argc, char **argv)
{
    enum { STEPS = 5 };
    ARENA_SCOPE Arena *arena = arena_new();
    CHECK(argc == 2);
    setvbuf(stdout, NULL, _IONBF, 0);
    for (int i = 0; i < STEPS; i++) {
        Status status = step(i, world_real().disk, arena, argv[1]);
        printf("%s\n", status_name(status));
        if (status != STATUS_OK)
            return 1;
    }
    return 0;
}
