/* datadir.c -- see datadir.h. */
#include "datadir.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"

enum { FILLED_ROWS = 40, FILLED_VALUE = 64 * 1024, FILE_MAX = 64 * 1024 * 1024 };

/* One arena for paths and pictures; it goes with the process. */
static Arena *paths(void)
{
    static Arena *arena;
    if (arena == NULL)
        arena = arena_new();
    return arena;
}

const char *datadir_path(const char *directory, const char *name)
{
    return arena_text(paths(), arena_print(paths(), "%s/%s", directory, name));
}

const char *datadir_new(void)
{
    return datadir_path(test_directory(), "data");
}

RocksdbOptions datadir_options(const char *directory, bool create)
{
    return (RocksdbOptions){.directory = directory,
                            .create = create,
                            .cache_bytes = 8 * 1024 * 1024,
                            .write_buffer_bytes = 1024 * 1024,
                            .grace_s = CONTRACT_GRACE_S,
                            .reopen_s = 1,
                            .world = world_real(),
                            .tables = CONTRACT_TABLES};
}

Status datadir_open(const char *directory, bool create, Store **ret_store, Reason *reason)
{
    RocksdbOptions options = datadir_options(directory, create);
    return store_rocksdb_open(&options, ret_store, reason);
}

/* ---- Filling ----------------------------------------------------------------------------------------------- */

static Slice filled_value(int row, Arena *arena)
{
    char *bytes = arena_bytes(arena, FILLED_VALUE);
    uint64_t state =
        (uint64_t)row * 7919 + 1; /* does not compress, so that files have blocks to damage */
    for (int i = 0; i < FILLED_VALUE; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        bytes[i] = (char)(state >> 56);
    }
    return slice_of(bytes, FILLED_VALUE);
}

static void fill(Store *store)
{
    ARENA_SCOPE Arena *arena = arena_new();
    for (int i = 0; i < FILLED_ROWS; i++) {
        Slice row = arena_print(arena, "row %d", i), value = filled_value(i, arena);
        int64_t now = clock_now_us(world_real().clock);
        RowChange changes[] = {{&CONTRACT_KEEP, row, put(SLICE("c"), value, 1)},
                               {&CONTRACT_PLAIN, row, put(SLICE("c"), row, now)}};
        CHECK(store_write(store, &(Batch){changes, 2, false}) == STATUS_OK);
    }
}

const char *datadir_filled(void)
{
    const char *directory = datadir_new();
    Store *store;
    Reason reason;
    CHECK(datadir_open(directory, true, &store, &reason) == STATUS_OK);
    fill(store);
    store_close(store);
    CHECK(datadir_open(directory, false, &store, &reason) ==
          STATUS_OK); /* what was in the log is in files now */
    fill(store);
    store_close(store);
    return directory;
}

static Status check_filled(Store *store, Arena *arena)
{
    for (int i = 0; i < FILLED_ROWS; i++) {
        Slice row = arena_print(arena, "row %d", i);
        Cell cell;
        TRY(store_read(store, &(Read){&CONTRACT_KEEP, row, SLICE("c"), STORE_NORMAL}, arena,
                       &cell));
        if (!slice_equal(cell.value, filled_value(i, arena)))
            return STATUS_CONFLICT; /* wrong bytes: worse than any error */
        TRY(store_read(store, &(Read){&CONTRACT_PLAIN, row, SLICE("c"), STORE_NORMAL}, arena,
                       &cell));
        if (!slice_equal(cell.value, row))
            return STATUS_CONFLICT;
    }
    return STATUS_OK;
}

Status datadir_read_all(const char *directory, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Store *store;
    TRY(datadir_open(directory, false, &store, reason));
    Status status = check_filled(store, arena);
    store_close(store);
    return status;
}

void datadir_expect_filled(const char *directory)
{
    Reason reason = {.rule = ""};
    Status status = datadir_read_all(directory, &reason);
    if (status != STATUS_OK)
        test_fail(__FILE__, __LINE__, "%s: %s: %s", directory, status_name(status), reason.rule);
}

/* ---- Files ------------------------------------------------------------------------------------------------- */

static Slice read_file(const char *path, Arena *arena)
{
    Slice content;
    Reason reason;
    Disk disk = world_real().disk;
    CHECK(disk_read(disk, path, FILE_MAX, arena, &content, &reason) == STATUS_OK);
    return content;
}

void datadir_write_file(const char *path, Slice content)
{
    FILE *file = fopen(path, "wb");
    CHECK(file != NULL);
    CHECK(fwrite(content.data, 1, content.size, file) == content.size);
    CHECK(fclose(file) == 0);
}

static bool is_directory(const char *path)
{
    struct stat about;
    CHECK(lstat(path, &about) == 0);
    return S_ISDIR(about.st_mode);
}

static uint64_t hash_of(Slice content)
{
    uint64_t hash = 14695981039346656037u;
    for (size_t i = 0; i < content.size; i++)
        hash = (hash ^ (unsigned char)content.data[i]) * 1099511628211u;
    return hash;
}

static void picture(const char *directory, Buffer *out)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Slice *names;
    size_t count;
    Reason reason;
    CHECK(disk_list(world_real().disk, directory, arena, &names, &count, &reason) == STATUS_OK);
    for (size_t i = 0; i < count; i++) {
        const char *name = arena_text(arena, names[i]), *path = datadir_path(directory, name);
        if (strcmp(name, "lock") == 0 || strncmp(name, "LOG", 3) == 0)
            continue; /* no data; RocksDB turns its own, empty log at every open */
        if (is_directory(path)) {
            buffer_print(out, "%s/\n", name);
            picture(path, out);
            continue;
        }
        Slice content = read_file(path, arena);
        buffer_print(out, "%s %zu %016" PRIx64 "\n", name, content.size, hash_of(content));
    }
}

Slice datadir_picture(const char *directory, Arena *arena)
{
    BUFFER_SCOPE Buffer out = {0};
    picture(directory, &out);
    return arena_copy(arena, buffer_slice(&out));
}

const char *datadir_find(const char *directory, const char *below, const char *part)
{
    ARENA_SCOPE Arena *arena = arena_new();
    const char *inside = datadir_path(directory, below);
    Slice *names;
    size_t count;
    Reason reason;
    CHECK(disk_list(world_real().disk, inside, arena, &names, &count, &reason) == STATUS_OK);
    for (size_t i = 0; i < count; i++)
        if (strstr(arena_text(arena, names[i]), part) != NULL)
            return datadir_path(inside, arena_text(arena, names[i]));
    return NULL;
}

static void copy_tree(const char *from, const char *to)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Slice *names;
    size_t count;
    Reason reason;
    CHECK(mkdir(to, 0700) == 0);
    CHECK(disk_list(world_real().disk, from, arena, &names, &count, &reason) == STATUS_OK);
    for (size_t i = 0; i < count; i++) {
        const char *name = arena_text(arena, names[i]);
        const char *source = datadir_path(from, name), *target = datadir_path(to, name);
        if (is_directory(source))
            copy_tree(source, target);
        else
            datadir_write_file(target, read_file(source, arena));
    }
}

const char *datadir_copy(const char *directory)
{
    const char *copy = datadir_new();
    copy_tree(directory, copy);
    return copy;
}

/* ---- Damage ------------------------------------------------------------------------------------------------ */

const char *damage_name(Damage damage)
{
    static const char *const names[] = {"removed", "emptied", "cut in half", "garbled"};
    return names[damage];
}

void damage_file(const char *path, Damage damage)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Slice content = read_file(path, arena);
    char *bytes = arena_bytes(arena, content.size);
    memcpy(bytes, content.data, content.size);
    switch (damage) {
    case DAMAGE_REMOVE:
        CHECK(unlink(path) == 0);
        return;
    case DAMAGE_EMPTY:
        content.size = 0;
        break;
    case DAMAGE_HALF:
        content.size /= 2;
        break;
    case DAMAGE_GARBLE:
        for (size_t i = content.size / 2; i < content.size && i < content.size / 2 + 16; i++)
            bytes[i] ^= 0x55;
        break;
    case DAMAGE_COUNT:
        CHECK(false); /* not a kind of damage */
    }
    datadir_write_file(path, slice_of(bytes, content.size));
}
