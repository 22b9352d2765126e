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
    ino_t object; /* what was created */
    ino_t parent; /* the directory whose sync makes the change last */
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

void names_after(Name *name, bool happened)
{
    if (name == NULL)
        return;
    if (!happened) {
        forget(name);
        return;
    }
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

typedef bool (*Rule)(const Name *name, const Name *given);

static void drop(Rule rule, const Name *given)
{
    for (Name **place = &newest; *place != NULL;) {
        Name *name = *place;
        if (!rule(name, given)) {
            place = &name->older;
            continue;
        }
        *place = name->older;
        forget(name);
    }
}

static bool saved_by_directory(const Name *name, const Name *given)
{
    bool own = !strict && name->change == NAME_MADE_DIRECTORY && name->object == given->object;
    return name->number <= given->number && (own || name->parent == given->object);
}

void names_synced_directory(ino_t directory, uint64_t latest)
{
    drop(saved_by_directory, &(Name){.object = directory, .number = latest});
}

/* What happened earlier under the same name cannot be undone any more without harm to the file that has it now. */
static bool same_name(const Name *name, const Name *given)
{
    return name->number <= given->number &&
           (strcmp(name->path, given->path) == 0 ||
            (name->from != NULL && strcmp(name->from, given->path) == 0));
}

void names_synced_file(ino_t file)
{
    if (strict)
        return;
    for (Name *name = newest; name != NULL; name = name->older) {
        if (name->change != NAME_CREATED || name->object != file)
            continue;
        char path[PATH_MAX];
        snprintf(path, sizeof path, "%s", name->path);
        drop(same_name, &(Name){.number = name->number, .path = path});
        return;
    }
}

static int undo(Name *name)
{
    int result = 0;
    switch (name->change) {
    case NAME_CREATED:
    case NAME_LINKED:
        return real_unlink(name->path);
    case NAME_MADE_DIRECTORY:
        return real_rmdir(name->path);
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
    for (Name *name = newest; name != NULL; name = name->older) {
        /* A directory stays when something in it is known to last, and with that its own name does. */
        bool stays = name->change == NAME_MADE_DIRECTORY;
        if (undo(name) != 0 && !(stays && errno == ENOTEMPTY) && errno != ENOENT)
            fault_confused("cannot undo", name->path);
    }
}
