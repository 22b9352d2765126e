/* open.c -- from settings to an open store. */
#include "cli/open.h"

#include "cli/site_facts.h"
#include "store/rocksdb/rocksdb.h"
#include "web/address.h"
#include "web/http_rules.h"

static Status check_engine(const Config *config, Reason *reason)
{
    if (strcmp(config->store, "rocksdb") != 0)
        return reason_set(reason, STATUS_INVALID, "store",
                          "there is no engine \"%s\"; this program has rocksdb", config->store);
    return STATUS_OK;
}

static RocksdbOptions options_of(const Config *config, World world)
{
    return (RocksdbOptions){.directory = config->data,
                            .cache_bytes = (size_t)config->cache_bytes,
                            .write_buffer_bytes = (size_t)config->write_buffer_bytes,
                            .grace_s = config->grace_days * S_PER_DAY,
                            .reopen_s = config->reopen_seconds,
                            .world = world,
                            .tables = TABLES};
}

Status open_store(const Config *config, World world, bool create, Store **ret_store, Reason *reason)
{
    RocksdbOptions options = options_of(config, world);
    options.create = create;
    TRY(check_engine(config, reason));
    return store_rocksdb_open(&options, ret_store, reason);
}

Status open_store_bulk(const Config *config, World world, Store **ret_store, Reason *reason)
{
    RocksdbOptions options = options_of(config, world);
    options.create = options.bulk = true;
    TRY(check_engine(config, reason));
    return store_rocksdb_open(&options, ret_store, reason);
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
