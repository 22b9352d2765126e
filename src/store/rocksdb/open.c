/* open.c -- options, opening and closing, opening again after a disk error, health and metrics. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "store/rocksdb/rocks.h"

/* ---- Options --------------------------------------------------------------------------------------------- */

/* Bloom filters are kept for rows: all keys of a row share the prefix up to its end. */
static char *row_prefix(void *self, const char *key, size_t size, size_t *ret_size)
{
    (void)self;
    *ret_size = codec_row_prefix(slice_of(key, size));
    union { /* RocksDB's C interface wants it without const and does not write to it */
        const char *in;
        char *out;
    } same = {.in = key};
    return same.out;
}

static unsigned char has_row_prefix(void *self, const char *key, size_t size)
{
    (void)self;
    return codec_row_prefix(slice_of(key, size)) > 0;
}

static unsigned char is_row_prefix(void *self, const char *key, size_t size)
{
    (void)self;
    return codec_row_prefix(slice_of(key, size)) == size;
}

static const char *row_prefix_name(void *self)
{
    (void)self;
    return "ostraka.row";
}

static const char *filter_name(void *self)
{
    (void)self;
    return "ostraka.expiry";
}

static void nothing(void *self)
{
    (void)self;
}

static void note_sweep(Rocks *rocks, int64_t now_us)
{
    int64_t before = atomic_load(&rocks->swept_us);
    while (before < now_us && !atomic_compare_exchange_weak(&rocks->swept_us, &before, now_us))
        ;
}

/* Compaction's question about each cell. RocksDB copies `new_value` and never frees it, hence the buffer of the thread. */
static unsigned char filter(void *self, int level, const char *key, size_t key_size,
                            const char *value, size_t value_size, char **new_value,
                            size_t *new_size, unsigned char *changed)
{
    static _Thread_local char buried[STORED_HEADER_MAX];
    Rocks *rocks = self;
    int64_t now_us = clock_now_us(rocks->world.clock);
    StoredCell cell;
    (void)level, (void)key, (void)key_size;
    *changed = 0;
    if (codec_decode(slice_of(value, value_size), &cell) != STATUS_OK)
        return 0; /* damage is for readers to report, not for compaction to lose */
    CodecFate fate = codec_fate(&cell, now_us, rocks->store.grace_s + STORE_AHEAD_MOST_S);
    if (fate != CODEC_KEEP)
        note_sweep(rocks, now_us);
    switch (fate) {
    case CODEC_KEEP:
        return 0;
    case CODEC_FORGET:
        return 1;
    case CODEC_BURY:
        cell.deleted = true;
        *new_size = codec_header(buried, &cell);
        *new_value = buried;
        *changed = 1;
        return 0;
    }
    return 0;
}

static void set_table_options(rocksdb_options_t *options, rocksdb_cache_t *cache)
{
    rocksdb_block_based_table_options_t *table = rocksdb_block_based_options_create();
    rocksdb_block_based_options_set_block_size(table, 16 * 1024);
    rocksdb_block_based_options_set_filter_policy(table,
                                                  rocksdb_filterpolicy_create_bloom_full(10));
    rocksdb_block_based_options_set_whole_key_filtering(table, 1);
    rocksdb_block_based_options_set_format_version(table, 5);
    rocksdb_block_based_options_set_block_cache(table, cache);
    rocksdb_options_set_block_based_table_factory(options, table);
    rocksdb_block_based_options_destroy(table);
}

/* A memtable is a skip list, which gets slow when it is larger than the processor's cache: so it is made of smaller ones. */
enum { MEMTABLES_A_FLUSH = 4 };

/* Every choice with its measurement is in docs/store.md. */
static rocksdb_options_t *make_options(Rocks *rocks)
{
    rocksdb_options_t *base = rocksdb_options_create(), *options = rocksdb_options_create();
    set_table_options(base, rocks->cache);
    rocksdb_options_set_prefix_extractor(
        base, rocksdb_slicetransform_create(NULL, nothing, row_prefix, has_row_prefix,
                                            is_row_prefix, row_prefix_name));
    rocksdb_options_set_memtable_prefix_bloom_size_ratio(base, 0.1);
    rocksdb_options_set_write_buffer_size(base, rocks->write_buffer_bytes / MEMTABLES_A_FLUSH);
    rocksdb_options_set_min_write_buffer_number_to_merge(base, MEMTABLES_A_FLUSH);
    rocksdb_options_set_max_write_buffer_number(base, 3 * MEMTABLES_A_FLUSH);
    rocksdb_options_set_level_compaction_dynamic_level_bytes(base, 1);
    rocksdb_options_set_max_background_jobs(base, 2);
    rocksdb_options_set_bytes_per_sync(base, 1024 * 1024);
    rocksdb_options_set_compression(base, rocksdb_lz4_compression);
    /* Fatal lines only: Debian's build aborts on the second failed write to its own log, on a full disk, where the engine goes on
     * reading. Errors reach us by their calls. */
    rocksdb_options_set_info_log_level(base, 4);
    rocksdb_options_set_keep_log_file_num(base, 1);
    /* What a power cut leaves of the log ends before its first hole (log_end.h); whatever else is wrong with it is refused, not
     * skipped. */
    rocksdb_options_set_wal_recovery_mode(base, rocksdb_tolerate_corrupted_tail_records_recovery);

    /* Opening again is ours to do: RocksDB's own attempts would write behind a failed sync. The prefix of the hint is the table. */
    char text[256], *error = NULL;
    snprintf(text, sizeof text,
             "periodic_compaction_seconds=%lld;max_bgerror_resume_count=0;"
             "memtable_whole_key_filtering=true;"
             "memtable_insert_with_hint_prefix_extractor=rocksdb.FixedPrefix.2",
             (long long)rocks->store.grace_s);
    rocksdb_get_options_from_string(base, text, options, &error);
    CHECK(error == NULL);
    rocksdb_options_destroy(base);
    rocksdb_options_set_compaction_filter(options, rocks->filter = rocksdb_compactionfilter_create(
                                                       rocks, nothing, filter, filter_name));
    return options;
}

static void make_read_and_write_options(Rocks *rocks)
{
    rocks->read_row = rocksdb_readoptions_create();
    rocksdb_readoptions_set_prefix_same_as_start(rocks->read_row, 1);
    rocks->read_table = rocksdb_readoptions_create();
    rocksdb_readoptions_set_total_order_seek(rocks->read_table, 1);
    rocksdb_readoptions_set_fill_cache(rocks->read_table, 0);
    rocks->write_synced = rocksdb_writeoptions_create();
    rocksdb_writeoptions_set_sync(rocks->write_synced, 1);
    rocks->write_lazy = rocksdb_writeoptions_create();
}

/* ---- The catalogue --------------------------------------------------------------------------------------- */

/* Which table has which number is stored with the data, so that a number which changed its meaning is noticed before it
 * does harm. Tables that only the database knows are fine: a newer version may have run here. */
static const Table CATALOGUE = {.number = 0, .name = "catalogue", .kind = TABLE_CONDITIONAL};

static Status check_table(Rocks *rocks, const Table *table, Arena *arena, Reason *reason)
{
    char number[2], key[KEY_MAX], flags, *error = NULL;
    bytes_put_u16(number, table->number);
    size_t key_size = codec_key(key, &CATALOGUE, SLICE("tables"), slice_of(number, sizeof number)),
           size = 0;
    CHECK(codec_header(&flags, &(StoredCell){0}) == 1);
    Slice entry = arena_print(arena, "%c%s %s", flags, table->name,
                              table->kind == TABLE_PLAIN ? "plain" : "conditional");
    char *stored = rocksdb_get(rocks->db, rocks->read_row, key, key_size, &size, &error);
    if (error != NULL)
        return rocks_error(error, rocks->db_path, reason);
    bool same = stored != NULL && slice_equal(slice_of(stored, size), entry);
    Status status = STATUS_OK;
    if (stored == NULL)
        rocksdb_put(rocks->db, rocks->write_synced, key, key_size, entry.data, entry.size, &error);
    else if (!same)
        status =
            reason_set(reason, STATUS_INVALID, "data",
                       "%s has as table %u another one than \"%s\": it was written by a program "
                       "with other tables",
                       rocks->db_path, table->number, table->name);
    rocksdb_free(stored);
    return error != NULL ? rocks_error(error, rocks->db_path, reason) : status;
}

static Status check_catalogue(Rocks *rocks, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    for (size_t i = 0; i < rocks->store.tables.count; i++)
        TRY(check_table(rocks, rocks->store.tables.tables[i], arena, reason));
    return STATUS_OK;
}

/* ---- Opening and closing --------------------------------------------------------------------------------- */

static Status open_db(Rocks *rocks, Reason *reason)
{
    char *error = NULL;
    Disk disk = rocks->world.disk;
    rocks->db = NULL;
    TRY(log_end_settle(disk, rocks->directory, reason));
    rocks->db = rocksdb_open(rocks->options, rocks->db_path, &error);
    if (error != NULL) {
        rocks->db = NULL;
        return rocks_error(error, rocks->db_path, reason);
    }
    Status status = check_catalogue(rocks, reason);
    if (status == STATUS_OK)
        status = log_marks_open(&rocks->marks, disk, rocks->directory, rocks->db, reason);
    if (status != STATUS_OK) {
        rocksdb_close(rocks->db);
        rocks->db = NULL;
    }
    return status;
}

static void free_rocks(Rocks *rocks)
{
    if (rocks->db != NULL)
        rocksdb_close(rocks->db);
    rocksdb_options_destroy(rocks->options);
    rocksdb_compactionfilter_destroy(rocks->filter);
    rocksdb_cache_destroy(rocks->cache);
    rocksdb_readoptions_destroy(rocks->read_row);
    rocksdb_readoptions_destroy(rocks->read_table);
    rocksdb_writeoptions_destroy(rocks->write_synced);
    rocksdb_writeoptions_destroy(rocks->write_lazy);
    pthread_rwlock_destroy(&rocks->gate);
    read_hints_free(&rocks->read_hints);
    log_marks_close(&rocks->marks);
    close(rocks->lock_fd);
    free(rocks->directory);
    free(rocks->db_path);
    free(rocks);
}

static void rocks_close(Store *store)
{
    Rocks *rocks = rocks_of(store);
    Reason ignored;
    rocks_writer_stop(rocks);
    if (!atomic_load(&rocks->read_only)) {
        rocksdb_close(rocks->db);
        rocks->db = NULL;
        (void)!rocks_seal(rocks, &ignored); /* without a seal the next open trusts what it finds */
    }
    free_rocks(rocks);
}

static void rocks_health(Store *store, StoreHealth *ret_health)
{
    Rocks *rocks = rocks_of(store);
    *ret_health = (StoreHealth){.engine = "rocksdb", .writable = !atomic_load(&rocks->read_only)};
    if (ret_health->writable)
        return;
    pthread_mutex_lock(&rocks->queue_lock);
    snprintf(ret_health->reason, sizeof ret_health->reason, "%.*s",
             (int)sizeof ret_health->reason - 1, rocks->reason.rule);
    ret_health->since_us = rocks->read_only_since_us;
    pthread_mutex_unlock(&rocks->queue_lock);
}

static void rocks_metrics(Store *store, StoreMetricVisit *visit, void *context)
{
    Rocks *rocks = rocks_of(store);
    const struct {
        const char *name, *help;
        atomic_ullong *value;
    } counters[] = {
        {"groups_total", "Groups of requests that were decided together.", &rocks->groups},
        {"syncs_total", "Synced writes of the log.", &rocks->syncs},
        {"requests_total", "Write requests.", &rocks->requests},
        {"cells_written_total", "Cells written.", &rocks->cells_written},
        {"cells_dropped_total", "Cells not written because a newer one was there.",
         &rocks->cells_dropped},
        {"conflicts_total", "Conditional updates whose condition was false.", &rocks->conflicts},
        {"failures_total", "Failed writes or syncs.", &rocks->failures},
        {"reopens_total", "Times the store opened again after a failure.", &rocks->reopens},
    };
    static const struct {
        const char *name, *help, *property;
    } gauges[] = {
        {"keys", "Stored cells, estimated.", "rocksdb.estimate-num-keys"},
        {"disk_bytes", "Bytes in sorted files.", "rocksdb.total-sst-files-size"},
        {"memtable_bytes", "Memory for recent writes.", "rocksdb.cur-size-all-mem-tables"},
        {"cache_bytes", "Memory used by the block cache.", "rocksdb.block-cache-usage"},
        {"compaction_pending_bytes", "Bytes that compaction still has to rewrite, estimated.",
         "rocksdb.estimate-pending-compaction-bytes"},
    };
    for (size_t i = 0; i < sizeof counters / sizeof counters[0]; i++)
        visit(context, counters[i].name, counters[i].help, true,
              (double)atomic_load(counters[i].value));
    visit(context, "writable", "1 when the store takes writes.", false,
          atomic_load(&rocks->read_only) ? 0 : 1);
    pthread_rwlock_rdlock(&rocks->gate);
    for (size_t i = 0; rocks->db != NULL && i < sizeof gauges / sizeof gauges[0]; i++) {
        uint64_t value;
        if (rocksdb_property_int(rocks->db, gauges[i].property, &value) == 0)
            visit(context, gauges[i].name, gauges[i].help, false, (double)value);
    }
    pthread_rwlock_unlock(&rocks->gate);
}

static uint64_t generation(Store *store)
{
    return atomic_load(&rocks_of(store)->reopens);
}

static const StoreEngine ENGINE = {
    .name = "rocksdb",
    .generation = generation,
    .read = rocks_read,
    .read_many = rocks_read_many,
    .slice = rocks_slice,
    .scan = rocks_scan,
    .write_many = rocks_write_many,
    .update_if = rocks_update_if,
    .update_many = rocks_update_many,
    .health = rocks_health,
    .metrics = rocks_metrics,
    .backup = rocks_backup,
    .reopen = rocks_reopen,
    .close = rocks_close,
};

static Rocks *make_rocks(const RocksdbOptions *options, int lock_fd)
{
    Rocks *rocks = calloc(1, sizeof *rocks);
    CHECK(rocks != NULL);
    rocks->store = (Store){&ENGINE, options->tables, options->world.clock, options->grace_s};
    rocks->world = options->world;
    rocks->directory = strdup(options->directory);
    CHECK(rocks->directory != NULL);
    rocks->db_path = rocks_path(options->directory, "db");
    rocks->lock_fd = lock_fd;
    rocks->marks.fd = -1;
    rocks->reopen_s = options->reopen_s;
    rocks->bulk = options->bulk;
    rocks->write_buffer_bytes = options->write_buffer_bytes;
    rocks->cache = rocksdb_cache_create_lru(options->cache_bytes);
    rocks->options = make_options(rocks);
    make_read_and_write_options(rocks);
    read_hints_init(&rocks->read_hints);
    pthread_rwlockattr_t fair; /* else steady readers would keep a reopen waiting for ever */
    pthread_rwlockattr_init(&fair);
    pthread_rwlockattr_setkind_np(&fair, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    pthread_rwlock_init(&rocks->gate, &fair);
    pthread_rwlockattr_destroy(&fair);
    return rocks;
}

/* Compares with the seal, breaks it, opens. A damaged database keeps its seal: nothing was changed. After any other failure files
 * may have changed, so the seal stays broken. */
static Status open_sealed(Rocks *rocks, DirectoryState state, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Slice seal = SLICE("open\n");
    Reason ignored;
    if (state == DIRECTORY_OURS)
        TRY(rocks_seal_check(rocks, arena, &seal, reason));
    TRY(rocks_clear_checkpoint(rocks, reason));
    TRY(rocks_seal_break(rocks, reason));
    Status status = open_db(rocks, reason);
    if (status == STATUS_CORRUPT)
        (void)!rocks_seal_write(rocks, seal, &ignored);
    return status;
}

Status store_rocksdb_open(const RocksdbOptions *options, Store **ret_store, Reason *reason)
{
    DirectoryState state;
    int lock_fd;
    TRY(rocks_directory_claim(options->directory, options->create, options->world.disk, &state,
                              &lock_fd, reason));
    Rocks *rocks = make_rocks(options, lock_fd);
    rocksdb_options_set_create_if_missing(rocks->options, state == DIRECTORY_NEW);
    Status status = open_sealed(rocks, state, reason);
    if (status == STATUS_OK && state == DIRECTORY_NEW)
        status = rocks_directory_finish(options->directory, options->world.disk, reason);
    if (status != STATUS_OK) {
        free_rocks(rocks);
        return status;
    }
    rocksdb_options_set_create_if_missing(rocks->options, 0);
    rocks_writer_start(rocks);
    *ret_store = &rocks->store;
    return STATUS_OK;
}

/* ---- Opening again --------------------------------------------------------------------------------------- */

/* Is there room, and can a file be written and synced? If not, the open database still serves reads, so it stays. */
static Status probe(Rocks *rocks, Reason *reason)
{
    uint64_t room;
    Disk disk = rocks->world.disk;
    TRY(disk_free_bytes(disk, rocks->directory, &room, reason));
    if (room < rocks->write_buffer_bytes)
        return reason_set(reason, STATUS_UNAVAILABLE, "data",
                          "%s: the disk is full: %llu MiB are free, %llu are needed to go on",
                          rocks->directory, (unsigned long long)room >> 20,
                          (unsigned long long)rocks->write_buffer_bytes >> 20);
    ARENA_SCOPE Arena *arena = arena_new();
    const char *path = arena_print(arena, "%s/probe%c", rocks->directory, '\0').data;
    TRY(disk_replace(disk, path, 0600, SLICE("can this disk take a write?\n"), reason));
    return disk_remove_tree(disk, path, reason);
}

/* Closing drops what RocksDB holds in memory, and opening reads the log again: what was UNKNOWN is now there or not, and
 * recovery writes it into new files, which does not rely on the pages that a failed sync may have lost. When that
 * fails the database is opened for reading only; it then shows all of the log, also what was UNKNOWN and may yet be lost,
 * so serial reads, by which callers find out what became of it, have to wait. */
Status rocks_open_again(Rocks *rocks, Reason *reason)
{
    if (!atomic_load(&rocks->read_only))
        return STATUS_OK;
    Status status = rocks->db != NULL ? probe(rocks, reason) : STATUS_OK;
    if (status == STATUS_OK) {
        pthread_rwlock_wrlock(&rocks->gate);
        if (rocks->db != NULL)
            rocksdb_close(rocks->db);
        status = open_db(rocks, reason);
        char *error = NULL;
        if (status != STATUS_OK)
            rocks->db = rocksdb_open_for_read_only(rocks->options, rocks->db_path, 0, &error);
        if (error != NULL) {
            rocks->db = NULL;
            rocksdb_free(error);
        }
        rocks->unsettled = status != STATUS_OK;
        if (status == STATUS_OK)
            atomic_fetch_add(&rocks->reopens, 1);
        pthread_rwlock_unlock(&rocks->gate);
    }
    if (status == STATUS_OK) {
        atomic_store(&rocks->read_only, false);
        return STATUS_OK;
    }
    pthread_mutex_lock(&rocks->queue_lock);
    if (reason != NULL)
        rocks->reason = *reason;
    pthread_mutex_unlock(&rocks->queue_lock);
    return status;
}
