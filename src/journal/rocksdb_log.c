/* rocksdb_log.c -- see rocksdb_log.h. */
#include "journal/rocksdb_log.h"

#include <pthread.h>
#include <rocksdb/c.h>
#include <sodium.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/threads.h"
#include "rocks/log_end.h"
#include "rocks/rocks_error.h"

enum {
    SEAL_EXTRA = crypto_secretbox_NONCEBYTES + crypto_secretbox_MACBYTES,
    ROOM_LEAST = 64 << 20, /* of the disk: below it puts are refused, so that ends still work */
    ROOM_LOOK_MS = 1000,
};

typedef struct Generation {
    CatalogueGeneration listed;
    rocksdb_t *db; /* NULL: the slot is free */
    char *path, *db_path;
    LogMarks marks;
    unsigned char key[crypto_secretbox_KEYBYTES];
    _Atomic uint64_t logged; /* bytes since the last flush */
    atomic_bool compacting;
} Generation;

typedef struct RocksdbLog {
    JournalLog log; /* first: it is one */
    World world;
    Catalogue *catalogue;
    char group[CATALOGUE_NAME_MAX + 1];
    JournalFiles first;
    Generation slots[JOURNAL_SLOTS];
    uint8_t order[JOURNAL_SLOTS]; /* the oldest first */
    size_t count;
    rocksdb_options_t *options;
    rocksdb_cache_t *cache;
    rocksdb_readoptions_t *read;
    rocksdb_writeoptions_t *synced, *lazy;
    rocksdb_writebatch_t *batch;
    pthread_t compactor;
    bool compactor_runs; /* has been started and not joined */
    atomic_bool stopping;
    int64_t room_looked_ms;
    bool room;
} RocksdbLog;

static RocksdbLog *log_of(JournalLog *log)
{
    return (RocksdbLog *)log;
}

/* ---- Names and keys ---------------------------------------------------------------------------------------- */

static const char *path_of(const RocksdbLog *log, uint32_t number, const char *ending, Arena *arena)
{
    return arena_print(arena, "%s/%s.%u%s%c", catalogue_directory(log->catalogue), log->group,
                       number, ending, '\0')
        .data;
}

/* Directories and keys of this group that the catalogue does not name: of a generation that was being made or removed. */
static Status remove_strays(RocksdbLog *log, const CatalogueGroup *listed, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Slice *names, prefix = arena_print(arena, "%s.", log->group);
    size_t count;
    Disk disk = log->world.disk;
    const char *directory = catalogue_directory(log->catalogue);
    TRY(disk_list(disk, directory, arena, &names, &count, reason));
    for (size_t i = 0; i < count; i++) {
        Slice rest = slice_after(names[i], prefix.size), number;
        uint64_t parsed;
        bool known = slice_starts_with(names[i], SLICE("catalogue.new-"))
                         ? false
                         : !slice_starts_with(names[i], prefix) ||
                               !slice_split(&rest, '.', &number) ||
                               slice_to_u64(number, &parsed) != STATUS_OK;
        for (size_t j = 0; !known && j < listed->count; j++)
            known = listed->generations[j].number == parsed &&
                    (rest.size == 0 || slice_equal(rest, SLICE("key")));
        if (!known)
            TRY(disk_remove_tree(
                disk, arena_print(arena, "%s/%.*s%c", directory, SLICE_ARG(names[i]), '\0').data,
                reason));
    }
    return STATUS_OK;
}

static Status make_key(const RocksdbLog *log, Generation *generation, Arena *arena, Reason *reason)
{
    random_fill(log->world.random, generation->key, sizeof generation->key);
    return disk_replace(log->world.disk, path_of(log, generation->listed.number, ".key", arena),
                        0600, slice_of(generation->key, sizeof generation->key), reason);
}

static Status read_key(const RocksdbLog *log, Generation *generation, Arena *arena, Reason *reason)
{
    Slice key;
    const char *path = path_of(log, generation->listed.number, ".key", arena);
    Status status = disk_read(log->world.disk, path, sizeof generation->key, arena, &key, reason);
    if (status == STATUS_NOT_FOUND || (status == STATUS_OK && key.size != sizeof generation->key))
        return reason_set(reason, STATUS_CORRUPT, "journal", "%s is no key", path);
    TRY(status);
    memcpy(generation->key, key.data, key.size);
    return STATUS_OK;
}

/* ---- Opening ----------------------------------------------------------------------------------------------- */

static void make_options(RocksdbLog *log)
{
    rocksdb_options_t *base = rocksdb_options_create();
    rocksdb_block_based_table_options_t *table = rocksdb_block_based_options_create();
    char *error = NULL;
    log->cache = rocksdb_cache_create_lru(8 << 20);
    rocksdb_block_based_options_set_block_cache(table, log->cache);
    rocksdb_block_based_options_set_format_version(table, 5);
    rocksdb_options_set_block_based_table_factory(base, table);
    rocksdb_block_based_options_destroy(table);
    rocksdb_options_set_create_if_missing(base, 1);
    rocksdb_options_set_write_buffer_size(base, ROCKSDB_LOG_BUFFER);
    rocksdb_options_set_max_write_buffer_number(base, 3);
    rocksdb_options_set_max_total_wal_size(base, 4 * ROCKSDB_LOG_BUFFER);
    rocksdb_options_set_max_background_jobs(base, 2);
    rocksdb_options_set_compression(base, rocksdb_lz4_compression);
    rocksdb_options_set_info_log_level(base, 4);
    rocksdb_options_set_keep_log_file_num(base, 1);
    rocksdb_options_set_wal_recovery_mode(base, rocksdb_tolerate_corrupted_tail_records_recovery);
    log->options = rocksdb_options_create();
    /* No opening again by itself behind a failed sync; no space taken in advance, since files are to be small. */
    rocksdb_get_options_from_string(base, "max_bgerror_resume_count=0;allow_fallocate=false",
                                    log->options, &error);
    CHECK(error == NULL);
    rocksdb_options_destroy(base);
    log->read = rocksdb_readoptions_create();
    log->synced = rocksdb_writeoptions_create();
    rocksdb_writeoptions_set_sync(log->synced, 1);
    log->lazy = rocksdb_writeoptions_create();
    log->batch = rocksdb_writebatch_create();
}

/* What a power cut leaves of RocksDB's own log may have holes: it is settled first. */
static Status open_db(RocksdbLog *log, Generation *generation, Reason *reason)
{
    char *error = NULL;
    TRY(log_end_settle(log->world.disk, generation->path, reason));
    generation->db = rocksdb_open(log->options, generation->db_path, &error);
    if (error != NULL) {
        generation->db = NULL;
        return rocks_error(error, generation->path, reason);
    }
    atomic_store(&generation->logged, 0); /* opening has made files of it */
    return log_marks_open(&generation->marks, log->world.disk, generation->path, generation->db,
                          reason);
}

static void close_generation(Generation *generation)
{
    if (generation->db != NULL)
        rocksdb_close(generation->db);
    log_marks_close(&generation->marks);
    free(generation->path);
    free(generation->db_path);
    sodium_memzero(generation, sizeof *generation);
}

static Status open_generation(RocksdbLog *log, uint8_t slot, CatalogueGeneration listed, bool made,
                              Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Generation *generation = &log->slots[slot];
    generation->listed = listed;
    generation->marks.fd = -1;
    generation->path = strdup(path_of(log, listed.number, "", arena));
    generation->db_path = strdup(path_of(log, listed.number, "/db", arena));
    CHECK(generation->path != NULL && generation->db_path != NULL);
    Status status = STATUS_OK;
    if (listed.sealed)
        status = made ? make_key(log, generation, arena, reason)
                      : read_key(log, generation, arena, reason);
    if (status == STATUS_OK && made)
        status = disk_make_directory(log->world.disk, generation->db_path, 0700, reason);
    rocksdb_options_set_create_if_missing(log->options, made);
    if (status == STATUS_OK)
        status = open_db(log, generation, reason);
    if (status != STATUS_OK)
        close_generation(generation);
    return status;
}

static void join_compactor(RocksdbLog *log)
{
    if (log->compactor_runs)
        pthread_join(log->compactor, NULL);
    log->compactor_runs = false;
}

static void close_all(RocksdbLog *log)
{
    atomic_store(&log->stopping, true);
    for (size_t i = 0; i < log->count; i++)
        if (log->slots[log->order[i]].db != NULL)
            rocksdb_cancel_all_background_work(log->slots[log->order[i]].db, 0);
    join_compactor(log);
    atomic_store(&log->stopping, false);
    for (size_t i = 0; i < log->count; i++)
        close_generation(&log->slots[log->order[i]]);
    log->count = 0;
}

static Status advance(JournalLog *journal_log, const JournalFiles *files,
                      const JournalChange *changes, size_t count, uint8_t *ret_slot,
                      Reason *reason);

static Status start(JournalLog *journal_log, JournalStart *ret_start, Reason *reason)
{
    RocksdbLog *log = log_of(journal_log);
    JournalStart started = {0};
    CatalogueGroup listed = catalogue_group(log->catalogue, slice_from(log->group));
    uint8_t newest = 0;
    close_all(log);
    TRY(catalogue_start(log->catalogue, &started, reason));
    TRY(remove_strays(log, &listed, reason));
    for (size_t i = 0; i < listed.count; i++) {
        Status status = open_generation(log, (uint8_t)i, listed.generations[i], false, reason);
        if (status != STATUS_OK) {
            close_all(log);
            return status;
        }
        log->order[log->count++] = (uint8_t)i;
        newest = (uint8_t)i;
    }
    if (log->count == 0)
        TRY(advance(journal_log, &log->first, NULL, 0, &newest, reason));
    started.newest = newest;
    *ret_start = started;
    return STATUS_OK;
}

/* ---- Writing ----------------------------------------------------------------------------------------------- */

static void put(RocksdbLog *log, const Generation *generation, const JournalChange *change)
{
    if (change->removed) {
        rocksdb_writebatch_delete(log->batch, change->key.data, change->key.size);
        return;
    }
    if (!generation->listed.sealed || change->key.data[0] != 'B') {
        rocksdb_writebatch_put(log->batch, change->key.data, change->key.size, change->value.data,
                               change->value.size);
        return;
    }
    BUFFER_SCOPE Buffer sealed = {0};
    unsigned char *out = (unsigned char *)buffer_reserve(&sealed, SEAL_EXTRA + change->value.size);
    random_fill(log->world.random, out, crypto_secretbox_NONCEBYTES);
    crypto_secretbox_easy(out + crypto_secretbox_NONCEBYTES,
                          (const unsigned char *)change->value.data, change->value.size, out,
                          generation->key);
    rocksdb_writebatch_put(log->batch, change->key.data, change->key.size, (const char *)out,
                           SEAL_EXTRA + change->value.size);
}

static Status write_slot(RocksdbLog *log, uint8_t slot, const JournalChange *changes, size_t count,
                         bool sync, Reason *reason)
{
    Generation *generation = &log->slots[slot];
    char *error = NULL;
    size_t mine = 0, size = 0;
    rocksdb_writebatch_clear(log->batch);
    log_marks_put(&generation->marks, log->batch);
    for (size_t i = 0; i < count; i++) {
        if (changes[i].slot != slot)
            continue;
        mine++;
        put(log, generation, &changes[i]);
    }
    if (mine > 0) {
        (void)rocksdb_writebatch_data(log->batch, &size);
        rocksdb_write(generation->db, sync ? log->synced : log->lazy, log->batch, &error);
        atomic_fetch_add(&generation->logged, size);
    } else if (sync) {
        rocksdb_flush_wal(generation->db, 1, &error); /* what was written without a sync */
    }
    if (error != NULL)
        return rocks_error(error, generation->path, reason);
    if (mine > 0 || sync)
        log_marks_wrote(&generation->marks, generation->path, log->world.disk, generation->db, mine,
                        sync);
    return STATUS_OK;
}

static Status append(JournalLog *journal_log, const JournalChange *changes, size_t count, bool sync,
                     Reason *reason)
{
    RocksdbLog *log = log_of(journal_log);
    for (size_t i = log->count; i-- > 0;)
        TRY(write_slot(log, log->order[i], changes, count, sync, reason));
    return STATUS_OK;
}

/* ---- Reading ----------------------------------------------------------------------------------------------- */

static Status unseal(const Generation *generation, Slice value, Arena *arena, Slice *ret_plain)
{
    if (value.size < SEAL_EXTRA)
        return STATUS_CORRUPT;
    const unsigned char *sealed = (const unsigned char *)value.data;
    unsigned char *plain = (unsigned char *)arena_bytes(arena, value.size - SEAL_EXTRA + 1);
    if (crypto_secretbox_open_easy(plain, sealed + crypto_secretbox_NONCEBYTES,
                                   value.size - crypto_secretbox_NONCEBYTES, sealed,
                                   generation->key) != 0)
        return STATUS_CORRUPT;
    *ret_plain = slice_of(plain, value.size - SEAL_EXTRA);
    return STATUS_OK;
}

static Status read_value(JournalLog *journal_log, uint8_t slot, Slice key, Arena *arena,
                         Slice *ret_value, Reason *reason)
{
    RocksdbLog *log = log_of(journal_log);
    Generation *generation = &log->slots[slot];
    char *error = NULL;
    size_t size;
    if (generation->db == NULL)
        return reason_set(reason, STATUS_UNAVAILABLE, "journal", "its files are closed");
    char *value = rocksdb_get(generation->db, log->read, key.data, key.size, &size, &error);
    if (error != NULL)
        return rocks_error(error, generation->path, reason);
    if (value == NULL)
        return STATUS_NOT_FOUND;
    Slice copy = arena_copy(arena, slice_of(value, size));
    rocksdb_free(value);
    if (generation->listed.sealed && key.data[0] == 'B')
        return unseal(generation, copy, arena, ret_value);
    *ret_value = copy;
    return STATUS_OK;
}

static Status load_slot(RocksdbLog *log, uint8_t slot, char kind, JournalVisit *visit,
                        void *context, Reason *reason)
{
    Generation *generation = &log->slots[slot];
    rocksdb_readoptions_t *options = rocksdb_readoptions_create();
    char end = (char)(kind + 1), *error = NULL;
    Status status = STATUS_OK;
    rocksdb_readoptions_set_fill_cache(options, 0);
    rocksdb_readoptions_set_iterate_upper_bound(options, &end, 1);
    rocksdb_readoptions_set_readahead_size(options, 1 << 20);
    rocksdb_iterator_t *walk = rocksdb_create_iterator(generation->db, options);
    for (rocksdb_iter_seek(walk, &kind, 1); status == STATUS_OK && rocksdb_iter_valid(walk);
         rocksdb_iter_next(walk)) {
        size_t key_size, value_size;
        const char *key = rocksdb_iter_key(walk, &key_size);
        const char *value = rocksdb_iter_value(walk, &value_size);
        status = visit(context, slot, slice_of(key, key_size), slice_of(value, value_size), reason);
    }
    rocksdb_iter_get_error(walk, &error);
    if (error != NULL)
        status = rocks_error(error, generation->path, reason);
    rocksdb_iter_destroy(walk);
    rocksdb_readoptions_destroy(options);
    return status;
}

static Status load(JournalLog *journal_log, char kind, JournalVisit *visit, void *context,
                   Reason *reason)
{
    RocksdbLog *log = log_of(journal_log);
    for (size_t i = 0; i < log->count; i++)
        TRY(load_slot(log, log->order[i], kind, visit, context, reason));
    return STATUS_OK;
}

static Status ids(JournalLog *journal_log, uint64_t *ret_first, uint64_t *ret_end, Reason *reason)
{
    return catalogue_ids(log_of(journal_log)->catalogue, ret_first, ret_end, reason);
}

/* ---- Generations ------------------------------------------------------------------------------------------- */

static uint64_t bytes(JournalLog *journal_log, uint8_t slot, int64_t *ret_made_ms)
{
    Generation *generation = &log_of(journal_log)->slots[slot];
    uint64_t files = 0;
    *ret_made_ms = generation->listed.made_ms;
    if (generation->db != NULL &&
        rocksdb_property_int(generation->db, "rocksdb.total-sst-files-size", &files) != 0)
        files = 0;
    return files + atomic_load(&generation->logged);
}

static size_t slots(JournalLog *journal_log, uint8_t ret_slots[JOURNAL_SLOTS])
{
    RocksdbLog *log = log_of(journal_log);
    memcpy(ret_slots, log->order, log->count);
    return log->count;
}

static Status list_generations(RocksdbLog *log, const CatalogueGeneration *more, int without,
                               Reason *reason)
{
    CatalogueGroup group = catalogue_group(log->catalogue, slice_from(log->group));
    group.count = 0;
    for (size_t i = 0; i < log->count; i++)
        if (log->order[i] != without)
            group.generations[group.count++] = log->slots[log->order[i]].listed;
    if (more != NULL)
        group.generations[group.count++] = *more;
    return catalogue_set_group(log->catalogue, &group, reason);
}

static uint8_t free_slot(const RocksdbLog *log)
{
    for (uint8_t i = 0; i < JOURNAL_SLOTS; i++)
        if (log->slots[i].db == NULL)
            return i;
    CHECK(false);
}

/* The files, with what the changes put there, are synced before the catalogue names them. */
static Status advance(JournalLog *journal_log, const JournalFiles *files,
                      const JournalChange *changes, size_t count, uint8_t *ret_slot, Reason *reason)
{
    RocksdbLog *log = log_of(journal_log);
    ARENA_SCOPE Arena *arena = arena_new();
    uint32_t newest = log->count == 0 ? 0 : log->slots[log->order[log->count - 1]].listed.number;
    const CatalogueGeneration listed = {
        .number = newest + 1,
        .made_ms = clock_now_us(log->world.clock) / US_PER_MS,
        .sealed = files->wipe,
    };
    uint8_t slot = free_slot(log);
    TRY(disk_remove_tree(log->world.disk, path_of(log, listed.number, "", arena), reason));
    TRY(open_generation(log, slot, listed, true, reason));
    JournalChange *own = ARENA_ARRAY(arena, count + 1, JournalChange);
    for (size_t i = 0; i < count; i++) {
        own[i] = changes[i];
        own[i].slot = slot;
    }
    Status status = write_slot(log, slot, own, count, true, reason);
    if (status == STATUS_OK)
        status = list_generations(log, &listed, -1, reason);
    if (status != STATUS_OK) {
        close_generation(&log->slots[slot]);
        return status;
    }
    log->order[log->count++] = slot;
    *ret_slot = slot;
    return STATUS_OK;
}

/* The catalogue first: whatever is left of it then is a stray. The key before the files, so that nothing can be read from what remains. */
static Status drop(JournalLog *journal_log, uint8_t slot, Reason *reason)
{
    RocksdbLog *log = log_of(journal_log);
    ARENA_SCOPE Arena *arena = arena_new();
    Generation *generation = &log->slots[slot];
    uint32_t number = generation->listed.number;
    Disk disk = log->world.disk;
    size_t at = 0;
    TRY(list_generations(log, NULL, slot, reason));
    if (atomic_load(&generation->compacting))
        rocksdb_cancel_all_background_work(generation->db, 0);
    join_compactor(log);
    close_generation(generation);
    while (log->order[at] != slot)
        at++;
    memmove(&log->order[at], &log->order[at + 1], log->count - at - 1);
    log->count--;
    TRY(disk_remove_tree(disk, path_of(log, number, ".key", arena), reason));
    return disk_remove_tree(disk, path_of(log, number, "", arena), reason);
}

static void *compactor(void *argument)
{
    Generation *generation = argument;
    char *error = NULL;
    rocksdb_flushoptions_t *flush = rocksdb_flushoptions_create();
    rocksdb_compactoptions_t *how = rocksdb_compactoptions_create();
    uint64_t logged = atomic_load(&generation->logged);
    rocksdb_flush(generation->db, flush, &error);
    rocksdb_free(error); /* the next write tells it, too */
    rocksdb_compactoptions_set_bottommost_level_compaction(how, 1);
    rocksdb_compact_range_opt(generation->db, how, NULL, 0, NULL, 0);
    atomic_fetch_sub(&generation->logged, logged);
    rocksdb_compactoptions_destroy(how);
    rocksdb_flushoptions_destroy(flush);
    atomic_store(&generation->compacting, false);
    return NULL;
}

static void compact(JournalLog *journal_log, uint8_t slot)
{
    RocksdbLog *log = log_of(journal_log);
    for (uint8_t i = 0; i < JOURNAL_SLOTS; i++)
        if (atomic_load(&log->slots[i].compacting))
            return;
    join_compactor(log);
    atomic_store(&log->slots[slot].compacting, true);
    log->compactor = thread_start(THREAD_JOURNAL_COMPACTOR, compactor, &log->slots[slot]);
    log->compactor_runs = true;
}

static bool has_room(JournalLog *journal_log)
{
    RocksdbLog *log = log_of(journal_log);
    int64_t now_ms = clock_boot_us(log->world.clock) / US_PER_MS;
    uint64_t free_bytes;
    Reason reason;
    if (log->room_looked_ms != 0 && now_ms - log->room_looked_ms < ROOM_LOOK_MS)
        return log->room;
    log->room_looked_ms = now_ms;
    log->room = disk_free_bytes(log->world.disk, catalogue_directory(log->catalogue), &free_bytes,
                                &reason) != STATUS_OK ||
                free_bytes >= ROOM_LEAST;
    return log->room;
}

static void close_log(JournalLog *journal_log)
{
    RocksdbLog *log = log_of(journal_log);
    close_all(log);
    rocksdb_writebatch_destroy(log->batch);
    rocksdb_readoptions_destroy(log->read);
    rocksdb_writeoptions_destroy(log->synced);
    rocksdb_writeoptions_destroy(log->lazy);
    rocksdb_options_destroy(log->options);
    rocksdb_cache_destroy(log->cache);
    free(log);
}

Status rocksdb_log_open(World world, Catalogue *catalogue, Slice group, const JournalFiles *files,
                        JournalLog **ret_log, Reason *reason)
{
    if (group.size > CATALOGUE_NAME_MAX)
        return reason_set(reason, STATUS_INVALID, "group", "at most %d bytes", CATALOGUE_NAME_MAX);
    RocksdbLog *log = calloc(1, sizeof *log);
    CHECK(log != NULL);
    log->log = (JournalLog){.start = start,
                            .load = load,
                            .append = append,
                            .read = read_value,
                            .ids = ids,
                            .bytes = bytes,
                            .advance = advance,
                            .drop = drop,
                            .compact = compact,
                            .slots = slots,
                            .has_room = has_room,
                            .close = close_log};
    log->world = world;
    log->catalogue = catalogue;
    log->first = *files;
    memcpy(log->group, group.data, group.size);
    make_options(log);
    *ret_log = &log->log;
    return STATUS_OK;
}
