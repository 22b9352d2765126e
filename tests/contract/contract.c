/* contract.c -- the fixture behind contract.h: which engine, which tables, what time it is. */
#include "contract.h"

#include <pthread.h>
#include <stdatomic.h>

static const ContractEngine *const ENGINES[] = {
    &CONTRACT_CASSANDRA,
    &CONTRACT_ROCKSDB,
    &CONTRACT_SIM,
};

const Table CONTRACT_KEEP = {
    .number = TABLE_FIRST_FOR_TESTS,
    .name = "test_keep",
    .kind = TABLE_PLAIN,
    .row = "any",
    .columns = "any",
    .writer = "tests",
};
const Table CONTRACT_PLAIN = {
    .number = TABLE_FIRST_FOR_TESTS + 1,
    .name = "test_plain",
    .kind = TABLE_PLAIN,
    .deletes = true,
    .expires = true,
    .row = "any",
    .columns = "any",
    .writer = "tests",
};
const Table CONTRACT_COND = {
    .number = TABLE_FIRST_FOR_TESTS + 2,
    .name = "test_cond",
    .kind = TABLE_CONDITIONAL,
    .expires = true,
    .row = "any",
    .columns = "any",
    .writer = "tests",
};
const Table CONTRACT_COND_D = {
    .number = TABLE_FIRST_FOR_TESTS + 3,
    .name = "test_cond_d",
    .kind = TABLE_CONDITIONAL,
    .deletes = true,
    .expires = true,
    .row = "any",
    .columns = "any",
    .writer = "tests",
};
const Table CONTRACT_REPEAT = {
    .number = TABLE_FIRST_FOR_TESTS + 4,
    .name = "test_repeat",
    .kind = TABLE_PLAIN,
    .repeats = true,
    .expires = true,
    .row = "any",
    .columns = "any",
    .writer = "tests",
};
static const Table *const TABLE_POINTERS[] = {&CONTRACT_KEEP, &CONTRACT_PLAIN, &CONTRACT_COND,
                                              &CONTRACT_COND_D, &CONTRACT_REPEAT};
const TableSet CONTRACT_TABLES = {TABLE_POINTERS, 5};

/* The fixture itself: one store at a time. The engine's threads read the clock while a test moves it. */
static Store *on_stage;
static Arena *arena;
static int64_t grace_s;
static TableSet tables;
static _Atomic int64_t manual_now_us;

static const ContractEngine *engine_on_stage(void)
{
    static const ContractEngine *chosen;
    const char *name = getenv("OSTRAKA_TEST_STORE");
    if (chosen != NULL)
        return chosen;
    if (name == NULL || name[0] == '\0')
        name = "rocksdb";
    for (size_t i = 0; i < sizeof ENGINES / sizeof ENGINES[0]; i++)
        if (strcmp(ENGINES[i]->name, name) == 0)
            chosen = ENGINES[i];
    if (chosen == NULL) {
        fprintf(stderr, "OSTRAKA_TEST_STORE: there is no engine \"%s\" to test.\n", name);
        exit(1);
    }
    return chosen;
}

static int64_t manual_now(void *self)
{
    (void)self;
    return atomic_load(&manual_now_us);
}

/* Only the time of day is ours: what waits or measures inside an engine does so in real time. */
World contract_world(void)
{
    World world = world_real();
    if (engine_on_stage()->takes_clock)
        world.clock.now_us = manual_now;
    return world;
}

static Store *open_on_stage(bool fresh)
{
    const ContractEngine *engine = engine_on_stage();
    Reason reason = {.rule = ""};
    ContractOptions options = {
        .world = contract_world(), .tables = tables, .grace_s = grace_s, .fresh = fresh};
    Status status = engine->open(&options, &on_stage, &reason);
    if (status != STATUS_OK)
        test_fail(__FILE__, __LINE__, "%s does not open: %s: %s", engine->name, status_name(status),
                  reason.rule);
    return on_stage;
}

static void close_on_stage(void)
{
    if (on_stage != NULL)
        store_close(on_stage);
    on_stage = NULL;
}

static Store *begin(TableSet with_tables, int64_t seconds)
{
    close_on_stage();
    if (arena == NULL)
        arena = arena_new();
    arena_reset(arena);
    grace_s = seconds;
    tables = with_tables;
    atomic_store(&manual_now_us, CONTRACT_START_US);
    return open_on_stage(true);
}

Store *contract_fresh_with_grace(int64_t seconds)
{
    return begin(CONTRACT_TABLES, seconds);
}

Store *contract_fresh(void)
{
    return begin(CONTRACT_TABLES, CONTRACT_GRACE_S);
}

Store *contract_fresh_site(void)
{
    return begin(TABLES, CONTRACT_GRACE_S);
}

Store *contract_restart(void)
{
    close_on_stage();
    return open_on_stage(false);
}

void contract_end(void)
{
    close_on_stage();
    arena_free(arena);
    arena = NULL;
}

Store *contract_store(void)
{
    return on_stage;
}

Arena *contract_arena(void)
{
    return arena;
}

bool contract_has_clock(void)
{
    return engine_on_stage()->takes_clock;
}

int64_t contract_now_us(void)
{
    return clock_now_us(contract_world().clock);
}

void contract_set_now_us(int64_t now_us)
{
    CHECK(contract_has_clock());
    atomic_store(&manual_now_us, now_us);
}

void contract_pass_s(int64_t seconds)
{
    if (contract_has_clock())
        atomic_fetch_add(&manual_now_us, seconds * US_PER_S);
    else
        clock_sleep_us(contract_world().clock, seconds * US_PER_S);
}

typedef struct Thread {
    pthread_t id;
    int index;
    pthread_barrier_t *start;
    void (*run)(int index, void *context);
    void *context;
} Thread;

static void *thread_main(void *argument)
{
    Thread *thread = argument;
    pthread_barrier_wait(thread->start);
    thread->run(thread->index, thread->context);
    return NULL;
}

void contract_threads(int count, void (*run)(int index, void *context), void *context)
{
    pthread_barrier_t start;
    Thread *threads = ARENA_ARRAY(arena, (size_t)count, Thread);
    CHECK(pthread_barrier_init(&start, NULL, (unsigned)count) == 0);
    for (int i = 0; i < count; i++) {
        threads[i] = (Thread){.index = i, .start = &start, .run = run, .context = context};
        CHECK(pthread_create(&threads[i].id, NULL, thread_main, &threads[i]) == 0);
    }
    for (int i = 0; i < count; i++)
        CHECK(pthread_join(threads[i].id, NULL) == 0);
    pthread_barrier_destroy(&start);
}

static Status write_cells(const Table *table, Slice row, const Change *changes, size_t count,
                          bool lazy)
{
    RowChange *rows = ARENA_ARRAY(arena, count, RowChange);
    for (size_t i = 0; i < count; i++)
        rows[i] = (RowChange){table, row, changes[i]};
    return store_write(on_stage, &(Batch){rows, count, lazy});
}

Status contract_write(const Table *table, Slice row, Change change)
{
    return write_cells(table, row, &change, 1, false);
}

Status contract_write_lazy(const Table *table, Slice row, Change change)
{
    return write_cells(table, row, &change, 1, true);
}

Status contract_write_row(const Table *table, Slice row, const Change *changes, size_t count)
{
    return write_cells(table, row, changes, count, false);
}

/* What was finished is what the tests ask about, and on conditional tables only a serial read promises that. */
static ReadMode mode_for(const Table *table)
{
    return table->kind == TABLE_CONDITIONAL ? STORE_SERIAL : STORE_NORMAL;
}

Status contract_read(const Table *table, Slice row, Slice column, Cell *ret_cell)
{
    return store_read(on_stage, &(Read){table, row, column, mode_for(table)}, arena, ret_cell);
}

Status contract_slice(const Table *table, Slice row, uint32_t limit, Page *ret_page)
{
    Query query = {.table = table,
                   .row = row,
                   .from = SLICE_EMPTY,
                   .to = SLICE_EMPTY,
                   .after = SLICE_EMPTY,
                   .limit = limit,
                   .mode = mode_for(table)};
    return store_slice(on_stage, &query, arena, ret_page);
}

Status contract_update(const Table *table, Slice row, Condition condition, const Change *changes,
                       size_t count)
{
    Update update = {.table = table,
                     .row = row,
                     .conditions = &condition,
                     .condition_count = 1,
                     .changes = changes,
                     .change_count = count,
                     .proof = changes[0].column};
    return store_update_if(on_stage, &update, arena, NULL);
}

Status contract_update_one(const Table *table, Slice row, Condition condition, Change change,
                           Found *ret_found)
{
    Update update = {.table = table,
                     .row = row,
                     .conditions = &condition,
                     .condition_count = 1,
                     .changes = &change,
                     .change_count = 1,
                     .proof = change.column};
    return store_update_if(on_stage, &update, arena, ret_found);
}

Slice contract_filler(size_t size, char byte)
{
    char *bytes = arena_bytes(arena, size);
    memset(bytes, byte, size);
    return slice_of(bytes, size);
}
