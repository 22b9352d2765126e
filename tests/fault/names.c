/* names.c -- the list of unsynced changes, newest first.
 *
 * Paths in the list are always those of the present moment: when a thing moves, every older change of it is moved
 * along (into the side directory as well). So the list can be undone from its head, one change at a time, and any
 * change can be dropped from the middle when its directory is synced. */
#include "names.h"

#include <dirent.h>
#include <limits.h>

#include "real.h"

struct Name {
    NameChange change;
    uint64_t number;
    bool settled;        /* known to last: to be dropped */
    ino_t object;        /* what was created, or the directory that was removed */
    ino_t parent;        /* the directory whose sync makes the change last */
    uint64_t removed_by; /* that directory's removal, if it is gone */
    char *path;
    char *from; /* the old name of a rename */
    char *side; /* where the removed or replaced file is kept */
    Name *older;
};

static bool watched, strict;
static char side_directory[PATH_MAX];
static Name *newest;
static uint64_t numbers;

static void empty_side(void)
{
    DIR *entries = opendir(side_directory);
    if (entries == NULL)
        fault_confused("cannot use the side directory", side_directory);
    for (struct dirent *entry; (entry = readdir(entries)) != NULL;) {
        char path[PATH_MAX + NAME_MAX + 2];
        snprintf(path, sizeof path, "%s/%s", side_directory, entry->d_name);
        if (entry->d_name[0] != '.')
            real_unlink(path);
    }
    closedir(entries);
}

void names_load(const char *root)
{
    const char *text = getenv("FAULT_DIRS");
    if (text == NULL || strcmp(text, "keep") == 0)
        return;
    strict = strcmp(text, "strict") == 0;
    if (!strict && strcmp(text, "undo") != 0)
        fault_confused("FAULT_DIRS not understood", text);
    const char *last = strrchr(root, '/');
    snprintf(side_directory, sizeof side_directory, "%.*s/fault-side", (int)(last - root), root);
    real_mkdir(side_directory);
    empty_side();
    watched = true;
}

static char *copied(const char *text)
{
    char *copy = strdup(text);
    if (copy == NULL)
        fault_confused("no memory for", text);
    return copy;
}

static ino_t inode_of(const char *path)
{
    struct stat now;
    return lstat(path, &now) == 0 ? now.st_ino : 0;
}

static ino_t parent_of(const char *path)
{
    char parent[PATH_MAX];
    snprintf(parent, sizeof parent, "%.*s", (int)(strrchr(path, '/') - path), path);
    return inode_of(parent);
}

static void forget(Name *name)
{
    if (name->side != NULL)
        real_unlink(name->side);
    free(name->path);
    free(name->from);
    free(name->side);
    free(name);
}

/* Keeps the file that is about to lose its name. */
static char *set_aside(const char *path)
{
    char side[PATH_MAX + 32];
    struct stat now;
    if (lstat(path, &now) != 0 || S_ISDIR(now.st_mode))
        return NULL;
    snprintf(side, sizeof side, "%s/%llu", side_directory, (unsigned long long)numbers);
    if (real_link(path, side) != 0)
        fault_confused("cannot set aside", path);
    return copied(side);
}

Name *names_before(NameChange change, const char *path, const char *from)
{
    if (!watched)
        return NULL;
    Name *name = calloc(1, sizeof *name);
    if (name == NULL)
        fault_confused("no memory for", path);
    *name = (Name){.change = change, .number = ++numbers, .parent = parent_of(path)};
    name->object = inode_of(path);
    name->path = copied(path);
    name->from = from != NULL ? copied(from) : NULL;
    if (change == NAME_REMOVED || change == NAME_RENAMED)
        name->side = set_aside(path);
    return name;
}

/* `path` with `from` at its beginning replaced, or NULL if it does not stand there. The thing itself moves only
 * where the path names a thing (`exact`), and not where it is just a name to go back to. */
static char *moved_path(const char *path, const char *from, const char *to, bool exact)
{
    char result[PATH_MAX];
    size_t size = strlen(from);
    if (path == NULL || strncmp(path, from, size) != 0)
        return NULL;
    if (path[size] != '/' && !(path[size] == '\0' && exact))
        return NULL;
    int length = snprintf(result, sizeof result, "%s%s", to, path + size);
    if (length < 0 || (size_t)length >= sizeof result)
        fault_confused("path too long", path);
    return copied(result);
}

static void replace(char **path, char *with)
{
    if (with == NULL)
        return;
    free(*path);
    *path = with;
}

static void move(Name *list, const char *from, const char *to)
{
    for (Name *name = list; name != NULL; name = name->older) {
        bool is_thing = name->change != NAME_REMOVED && name->change != NAME_REMOVED_DIRECTORY;
        replace(&name->path, moved_path(name->path, from, to, is_thing));
        replace(&name->from, moved_path(name->from, from, to, false));
    }
}

/* The directory is gone and will not be synced again, and its inode may soon be another's. */
static void leave_directory(const Name *removed)
{
    for (Name *name = newest; name != NULL; name = name->older) {
        if (name->change == NAME_MADE_DIRECTORY && name->object == removed->object)
            name->object = 0;
        if (name->parent != removed->object)
            continue;
        name->parent = 0;
        name->removed_by = removed->number;
    }
}

void names_after(Name *name, bool happened)
{
    if (name == NULL)
        return;
    if (!happened) {
        forget(name);
        return;
    }
    if (name->change == NAME_REMOVED_DIRECTORY)
        leave_directory(name);
    else if (name->change != NAME_REMOVED)
        name->object = inode_of(name->path);
    if (name->side != NULL)
        move(newest, name->path, name->side);
    if (name->from != NULL)
        move(newest, name->from, name->path);
    name->older = newest;
    newest = name;
}

uint64_t names_latest(void)
{
    return numbers;
}

/* A directory that is gone for good takes along whatever was still to be undone in it. */
static bool settle_content(const Name *removed)
{
    bool any = false;
    if (!removed->settled || removed->change != NAME_REMOVED_DIRECTORY)
        return false;
    for (Name *name = removed->older; name != NULL; name = name->older) {
        any |= name->removed_by == removed->number && !name->settled;
        name->settled |= name->removed_by == removed->number;
    }
    return any;
}

static void drop_settled(void)
{
    bool more = true;
    while (more) {
        more = false;
        for (Name *name = newest; name != NULL; name = name->older)
            more |= settle_content(name);
    }
    for (Name **place = &newest; *place != NULL;) {
        Name *name = *place;
        if (!name->settled) {
            place = &name->older;
            continue;
        }
        *place = name->older;
        forget(name);
    }
}

/* Settles a change and what happened earlier under the same name: that cannot be undone any more without harm to the
 * thing that has the name now. */
static void settle_name(Name *last)
{
    for (Name *name = last; name != NULL; name = name->older)
        name->settled |= strcmp(name->path, last->path) == 0 ||
                         (name->from != NULL && strcmp(name->from, last->path) == 0);
}

/* What is synced can be reached, so the new directories above it last as well. */
static void settle_upwards(NameChange change, ino_t object)
{
    for (Name *name = newest; name != NULL; name = name->older) {
        if (name->change != change || name->object != object)
            continue;
        settle_name(name);
        settle_upwards(NAME_MADE_DIRECTORY, name->parent);
        return;
    }
}

void names_synced_directory(ino_t directory, uint64_t latest)
{
    for (Name *name = newest; name != NULL; name = name->older)
        name->settled |= name->parent == directory && name->number <= latest;
    if (!strict)
        settle_upwards(NAME_MADE_DIRECTORY, directory);
    drop_settled();
}

void names_synced_file(ino_t file)
{
    if (strict)
        return;
    settle_upwards(NAME_CREATED, file);
    drop_settled();
}

/* With what is in it: a name that is lost makes it unreachable, synced or not. */
static int undo_directory(const Name *name)
{
    char side[PATH_MAX + 64];
    if (real_rmdir(name->path) == 0)
        return 0;
    if (errno != ENOTEMPTY)
        return -1;
    snprintf(side, sizeof side, "%s/lost-%d-%llu", side_directory, (int)getpid(),
             (unsigned long long)name->number);
    return real_rename(name->path, side);
}

static int undo(Name *name)
{
    int result = 0;
    switch (name->change) {
    case NAME_CREATED:
    case NAME_LINKED:
        return real_unlink(name->path);
    case NAME_MADE_DIRECTORY:
        return undo_directory(name);
    case NAME_REMOVED_DIRECTORY:
        return real_mkdir(name->path);
    case NAME_RENAMED:
        result = real_rename(name->path, name->from);
        move(name->older, name->path, name->from);
        break;
    case NAME_REMOVED:
        break;
    }
    if (name->side != NULL && result == 0) {
        result = real_rename(name->side, name->path);
        move(name->older, name->side, name->path);
    }
    return result;
}

void names_undo(void)
{
    for (Name *name = newest; name != NULL; name = name->older)
        if (undo(name) != 0 && errno != ENOENT)
            fault_confused("cannot undo", name->path);
}
