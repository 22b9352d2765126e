/* open.c -- from settings to an open store. */
#include "cli/open.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cluster.h"
#include "cli/site_facts.h"
#include "store/rocksdb/rocksdb.h"
#include "net/address.h"
#include "web/http_rules.h"

/* ---- Engines ------------------------------------------------------------------------------------------------ */

static Status open_rocksdb(const Config *config, World world, const OpenHow *how, Store **ret_store,
                           Reason *reason)
{
    RocksdbOptions options = {.directory = config->data,
                              .create = how->create || how->bulk,
                              .cache_bytes = (size_t)config->cache_bytes,
                              .write_buffer_bytes = (size_t)config->write_buffer_bytes,
                              .grace_s = config->grace_days * S_PER_DAY,
                              .reopen_s = config->reopen_seconds,
                              .bulk = how->bulk,
                              .world = world,
                              .tables = TABLES};
    return store_rocksdb_open(&options, ret_store, reason);
}

typedef struct Engine {
    const char *store;
    bool is_address; /* `store` is how it begins */
    Status (*open)(const Config *config, World world, const OpenHow *how, Store **ret_store,
                   Reason *reason);
} Engine;

static const Engine ENGINES[] = {
    {"rocksdb", false, open_rocksdb},
    {"cassandra://", true, cluster_open},
};

static const Engine *engine_of(const Config *config)
{
    for (size_t i = 0; i < sizeof ENGINES / sizeof ENGINES[0]; i++) {
        Slice name = slice_from(ENGINES[i].store), store = slice_from(config->store);
        if (ENGINES[i].is_address ? slice_starts_with(store, name) : slice_equal(store, name))
            return &ENGINES[i];
    }
    return NULL;
}

Status open_store(const Config *config, World world, const OpenHow *how, Store **ret_store,
                  Reason *reason)
{
    const Engine *engine = engine_of(config);
    if (engine == NULL)
        return reason_set(reason, STATUS_INVALID, "store",
                          "there is no engine \"%s\"; this program has rocksdb, and "
                          "cassandra://host1,host2/keyspace",
                          config->store);
    return engine->open(config, world, how, ret_store, reason);
}

bool open_is_embedded(const Config *config)
{
    const Engine *engine = engine_of(config);
    return engine == NULL || !engine->is_address;
}

/* Takes group and others off the directory and what is in it. New files are made without them (main.c); this is for what an older version made, or
 * somebody copied. What belongs to another user is left alone, and so are links in it. False: errno says why. */
static bool close_to_others(int parent, const char *name, int depth)
{
    enum { OTHERS = 077, DEPTH_MAX = 4 };
    struct stat facts;
    if (fstatat(parent, name, &facts, depth > 0 ? AT_SYMLINK_NOFOLLOW : 0) != 0)
        return errno == ENOENT;
    bool is_directory = S_ISDIR(facts.st_mode);
    if ((!is_directory && !S_ISREG(facts.st_mode)) || facts.st_uid != geteuid())
        return true;
    mode_t closed = facts.st_mode & 07700;
    if ((facts.st_mode & OTHERS) != 0 && fchmodat(parent, name, closed, 0) != 0)
        return false;
    if (!is_directory || depth == DEPTH_MAX)
        return true;
    int fd =
        openat(parent, name, O_RDONLY | O_DIRECTORY | (depth > 0 ? O_NOFOLLOW : 0) | O_CLOEXEC);
    DIR *directory = fd >= 0 ? fdopendir(fd) : NULL;
    if (directory == NULL)
        return false;
    bool done = true;
    for (struct dirent *entry; done && (entry = readdir(directory)) != NULL;)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            done = close_to_others(dirfd(directory), entry->d_name, depth + 1);
    int error = errno;
    closedir(directory);
    errno = error;
    return done;
}

Status open_claim(const Config *config, World world, int *ret_lock, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    *ret_lock = -1;
    if (open_is_embedded(config))
        return STATUS_OK;
    TRY(disk_make_directory(world.disk, config->data, 0700, reason));
    const char *path = arena_print(arena, "%s/lock%c", config->data, 0).data;
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0) {
        *ret_lock = fd;
        if (close_to_others(AT_FDCWD, config->data, 0))
            return STATUS_OK;
        return reason_set(reason, STATUS_UNAVAILABLE, "data",
                          "%s cannot be closed to other users of this machine: %s", config->data,
                          strerror(errno));
    }
    int error = errno;
    if (fd >= 0)
        close(fd);
    if (error == EWOULDBLOCK)
        return reason_set(reason, STATUS_CONFLICT, "data",
                          "%s belongs to a process that runs: give each its own --data",
                          config->data);
    return reason_set(reason, STATUS_UNAVAILABLE, "data", "%s: %s", path, strerror(error));
}

/* ---- The key ------------------------------------------------------------------------------------------------ */

const char *open_key_path(const Config *config, Arena *arena)
{
    Slice data = slice_from(config->data);
    if (config->key_file[0] != '\0')
        return config->key_file;
    while (data.size > 1 && data.data[data.size - 1] == '/')
        data.size--;
    return arena_text(arena, arena_print(arena, "%.*s.key", SLICE_ARG(data)));
}

/* The file is made and durable before the store knows its id. A crash in between leaves a key that the next start takes. */
static Status open_or_make(Store *store, World world, const char *path, Slice known,
                           Vault **ret_vault, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    ScanPage page;
    Status status = vault_open(world, path, ret_vault, reason);
    if (status != STATUS_NOT_FOUND)
        return status;
    TRY(store_scan(store, &TABLE_ACCOUNTS, SLICE_EMPTY, 1, arena, &page));
    bool has_accounts = page.count > 0;
    if (known.data == NULL && !has_accounts)
        return vault_create(world, path, ret_vault, reason);
    if (known.data == NULL)
        known = SLICE("of these accounts");
    return reason_set(
        reason, STATUS_REFUSED, "key_file",
        "%s is missing, and this data needs it: put key %.*s there, or name its file with "
        "--key-file. A backup of the data does not have it",
        path, SLICE_ARG(known));
}

static Status check_key(Store *store, World world, const char *path, const Vault *vault,
                        Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Slice known, id = slice_from(vault_id(vault));
    TRY(site_key(store, arena, &known));
    if (known.data == NULL) {
        Status status = site_set_key(store, world, id);
        if (status != STATUS_CONFLICT)
            return status;
        TRY(site_key(store, arena, &known)); /* another instance was first */
    }
    if (slice_equal(known, id))
        return STATUS_OK;
    return reason_set(
        reason, STATUS_REFUSED, "key_file",
        "%s is key %.*s, but this data needs key %.*s: put that file there, or name it with "
        "--key-file",
        path, SLICE_ARG(id), SLICE_ARG(known));
}

Status open_vault(const Config *config, World world, Store *store, Vault **ret_vault,
                  Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    const char *path = open_key_path(config, arena);
    Vault *vault = NULL;
    Slice known;
    TRY(site_key(store, arena, &known));
    TRY(open_or_make(store, world, path, known, &vault, reason));
    Status status = check_key(store, world, path, vault, reason);
    if (status != STATUS_OK) {
        vault_free(vault);
        return status;
    }
    *ret_vault = vault;
    return STATUS_OK;
}

const char *open_address(const Config *config, unsigned port, Arena *arena)
{
    const char *colon = strrchr(config->listen, ':');
    int host = colon != NULL ? (int)(colon - config->listen) : (int)strlen(config->listen);
    return arena_print(arena, "%.*s:%u%c", host, config->listen, port, '\0').data;
}

bool open_is_loopback(const Config *config)
{
    HttpOrigin origin;
    if (!address_names_loopback(slice_from(config->listen)))
        return false;
    if (config->public_url[0] == '\0')
        return true;
    return http_parse_origin(slice_from(config->public_url), &origin, NULL) == STATUS_OK &&
           address_names_loopback(slice_after(origin.text, origin.is_secure ? 8 : 7));
}

const char *open_doubt(const Config *config)
{
    if (!address_names_loopback(slice_from(config->listen)) || open_is_loopback(config) ||
        config->trusted_proxies[0] != '\0')
        return NULL;
    return "public_url says that visitors come by a proxy, and trusted_proxies does not name it: "
           "all of them seem to come from loopback, which is bounded by no address. Name the "
           "proxy, as in trusted_proxies = 127.0.0.1";
}

Status open_check_proxy(const Config *config, Reason *reason)
{
    HttpOrigin origin;
    if (open_doubt(config) == NULL ||
        http_parse_origin(slice_from(config->public_url), &origin, NULL) != STATUS_OK ||
        !origin.is_secure)
        return STATUS_OK;
    return reason_set(reason, STATUS_REFUSED, "public_url",
                      "is https, and listen is on loopback, so visitors come by a proxy; name it "
                      "in trusted_proxies, as in trusted_proxies = 127.0.0.1, or no limit by "
                      "address holds");
}
