/* names.h -- which directory entries would survive a power cut.
 *
 * A list of what happened to names since their directory was last synced, and enough to undo it: a file that is
 * removed or replaced is kept by a hard link in FAULT_ROOT/../fault-side. Each change is announced before the real call
 * and confirmed after it. Does nothing unless FAULT_DIRS asks for it. The caller holds the lock. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef enum NameChange {
    NAME_CREATED,
    NAME_LINKED,
    NAME_MADE_DIRECTORY,
    NAME_REMOVED,
    NAME_REMOVED_DIRECTORY,
    NAME_RENAMED,
} NameChange;

typedef struct Name Name;

void names_load(const char *root);
/* `from` is the old name of a rename, else NULL. Returns NULL when names are not watched. */
Name *names_before(NameChange change, const char *path, const char *from);
void names_after(Name *name, bool happened);
/* The number of the latest change: a sync saves the changes up to the one that stood when it began. */
uint64_t names_latest(void);
void names_synced_directory(ino_t directory, uint64_t latest);
void names_synced_file(ino_t file);
/* Undoes whatever was not synced. */
void names_undo(void);
