/* rocksdb.c -- the embedded engine on the fixture of contract.h. */
#include "store/rocksdb/rocksdb.h"

#include "contract.h"

/* Small buffers: even a short test flushes and compacts, where expiry and grace have their second home. */
static Status open_rocksdb(const ContractOptions *options, Store **ret_store, Reason *reason)
{
    static char directory[256];
    if (options->fresh)
        snprintf(directory, sizeof directory, "%s", test_directory());
    RocksdbOptions rocksdb = {.directory = directory,
                              .create = options->fresh,
                              .cache_bytes = 8 * 1024 * 1024,
                              .write_buffer_bytes = 1024 * 1024,
                              .grace_s = options->grace_s,
                              .reopen_s = 1,
                              .world = options->world,
                              .tables = options->tables};
    return store_rocksdb_open(&rocksdb, ret_store, reason);
}

const ContractEngine CONTRACT_ROCKSDB = {
    .name = "rocksdb", .takes_clock = true, .open = open_rocksdb};
