/* open.c -- from settings to an open store. */
#include "cli/open.h"

#include "store/rocksdb/rocksdb.h"

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

const char *open_address(const Config *config, unsigned port, Arena *arena)
{
    const char *colon = strrchr(config->listen, ':');
    int host = colon != NULL ? (int)(colon - config->listen) : (int)strlen(config->listen);
    return arena_print(arena, "%.*s:%u%c", host, config->listen, port, '\0').data;
}
