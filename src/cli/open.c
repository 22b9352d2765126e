/* open.c -- from settings to an open store. */
#include "cli/open.h"

#include "store/rocksdb/rocksdb.h"

Status open_store(const Config *config, World world, bool create, Store **ret_store, Reason *reason)
{
    if (strcmp(config->store, "rocksdb") != 0)
        return reason_set(reason, STATUS_INVALID, "store",
                          "there is no engine \"%s\"; this program has rocksdb", config->store);
    RocksdbOptions options = {.directory = config->data,
                              .create = create,
                              .cache_bytes = (size_t)config->cache_bytes,
                              .write_buffer_bytes = (size_t)config->write_buffer_bytes,
                              .grace_s = config->grace_days * S_PER_DAY,
                              .reopen_s = config->reopen_seconds,
                              .world = world,
                              .tables = TABLES};
    return store_rocksdb_open(&options, ret_store, reason);
}

const char *open_address(const Config *config, unsigned port, Arena *arena)
{
    const char *colon = strrchr(config->listen, ':');
    int host = colon != NULL ? (int)(colon - config->listen) : (int)strlen(config->listen);
    return arena_print(arena, "%.*s:%u%c", host, config->listen, port, '\0').data;
}
