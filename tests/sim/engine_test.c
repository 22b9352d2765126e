/* engine_test.c -- the simulated cluster keeps the contract and nothing more: each fault does what it says (sim.h). */
#include "store/sim/sim.h"

#include "test.h"

static const Table PLAIN = {.number = TABLE_FIRST_FOR_TESTS + 110,
                            .name = "engine_plain",
                            .kind = TABLE_PLAIN,
                            .deletes = true,
                            .expires = true,
                            .row = "any",
                            .columns = "any",
                            .writer = "tests"};
static const Table COND = {.number = TABLE_FIRST_FOR_TESTS + 111,
                           .name = "engine_cond",
                           .kind = TABLE_CONDITIONAL,
                           .expires = true,
                           .row = "any",
                           .columns = "any",
                           .writer = "tests"};
static const Table *const TABLE_POINTERS[] = {&PLAIN, &COND};
static const Slice ROW = {"row", 3}, C = {"c", 1}, V = {"v", 1};

#define START_US (INT64_C(1900000000) * US_PER_S)
#define HOUR_US  (3600 * US_PER_S)

/* One client in a world of its own; what it does is in `run`, what it saw is noted for the test. */
typedef struct Stage {
    Sim *sim;
    Arena *arena;
    Store *outside;
    Status written, normal, serial;
    bool alive;
    int64_t clock_us, true_us;
} Stage;

static void stage_open(Stage *stage, SimWorldOptions options)
{
    *stage = (Stage){.arena = arena_new()};
    options.seed = options.seed > 0 ? options.seed : 7;
    options.start_us = START_US;
    SimOptions sim = {.tables = {TABLE_POINTERS, 2}, .grace_s = 10 * S_PER_DAY};
    stage->sim = sim_new(sim_world_new(&options), &sim);
    stage->outside = sim_open(stage->sim, NULL);
}

static void stage_close(Stage *stage)
{
    store_close(stage->outside);
    sim_free(stage->sim);
    arena_free(stage->arena);
}

static Status put_plain(Store *store, int64_t timestamp, int64_t ttl_s)
{
    RowChange change = {
        &PLAIN, ROW, {.column = C, .value = V, .timestamp = timestamp, .ttl_s = ttl_s}};
    return store_write(store, &(Batch){&change, 1, false});
}

static Status put_cond(Store *store, Arena *arena)
{
    Condition condition = {.column = C, .value = SLICE_EMPTY, .absent = true};
    Change change = {.column = C, .value = V};
    Update update = {.table = &COND,
                     .row = ROW,
                     .conditions = &condition,
                     .condition_count = 1,
                     .changes = &change,
                     .change_count = 1,
                     .proof = C};
    return store_update_if(store, &update, arena, NULL);
}

static Status read_c(Store *store, const Table *table, ReadMode mode, Arena *arena)
{
    Cell cell;
    return store_read(store, &(Read){table, ROW, C, mode}, arena, &cell);
}

static void play(Stage *stage, SimClientRun *run, int64_t for_us)
{
    sim_client_start(sim_world(stage->sim), 0, run, stage);
    sim_world_run_until(sim_world(stage->sim), for_us);
}

/* ---- Plain writes ---------------------------------------------------------------------------------------- */

static void write_plain(SimClient *client, void *context)
{
    Stage *stage = context;
    Store *store = sim_open(stage->sim, client);
    stage->written = put_plain(store, START_US, 0);
    stage->alive = sim_client_alive(client);
    store_close(store);
}

/* Two or three machines are enough for OK, fewer are not; none at all leaves nothing, and one is found by a read that asks it. */
TEST(a_write_that_reaches_some_machines)
{
    for (uint64_t mask = 0; mask < 8; mask++) {
        Stage stage;
        SimFired reach = {.fault = SIM_REACH, .key = {1, 1, 0}, .value = mask};
        int reached = __builtin_popcountll(mask);
        stage_open(&stage, (SimWorldOptions){.forced = &reach, .forced_count = 1});
        play(&stage, write_plain, 60 * US_PER_S);
        EXPECT_STATUS(stage.written, reached >= 2 ? STATUS_OK : STATUS_UNKNOWN);
        int found = 0;
        for (int i = 0; i < 20; i++)
            found += read_c(stage.outside, &PLAIN, STORE_NORMAL, stage.arena) == STATUS_OK;
        if (reached ==
            1) /* once it is found, both who were asked have it, and then all reads find it */
            EXPECT(found > 0);
        else
            EXPECT_I64(found, reached == 0 ? 0 : 20);
        stage_close(&stage);
    }
}

static void write_and_go_on(SimClient *client, void *context)
{
    Stage *stage = context;
    write_plain(client, context);
    Store *store = sim_open(stage->sim, client);
    stage->normal = read_c(store, &PLAIN, STORE_NORMAL, stage->arena);
    int64_t before_us = clock_steady_us(sim_client_clock(client));
    clock_sleep_us(sim_client_clock(client), HOUR_US);
    stage->clock_us = clock_steady_us(sim_client_clock(client)) - before_us;
    stage->true_us = sim_world_now_us(sim_world(stage->sim));
    store_close(store);
}

/* Before the call: nothing is done. During it: it is done, and nobody is told. A ghost reads nothing and sleeps no time. */
TEST(a_client_that_dies_becomes_a_ghost)
{
    static const SimFault KINDS[] = {SIM_DEATH, SIM_SILENCE};
    for (int i = 0; i < 2; i++) {
        Stage stage;
        SimFired death = {.fault = KINDS[i], .key = {1, 1, 0}};
        stage_open(&stage, (SimWorldOptions){.forced = &death, .forced_count = 1});
        play(&stage, write_and_go_on, 60 * US_PER_S);
        EXPECT(!stage.alive);
        EXPECT_STATUS(stage.written, STATUS_UNKNOWN);
        EXPECT_STATUS(stage.normal, STATUS_UNAVAILABLE);
        EXPECT_I64(stage.clock_us, HOUR_US);
        EXPECT(stage.true_us < US_PER_S);
        EXPECT_STATUS(read_c(stage.outside, &PLAIN, STORE_NORMAL, stage.arena),
                      KINDS[i] == SIM_SILENCE ? STATUS_OK : STATUS_NOT_FOUND);
        stage_close(&stage);
    }
}

/* One machine has it and is down for an hour, so the others know nothing; after that it is found. */
TEST(the_targeted_fault_hides_a_write_on_a_machine_that_is_down)
{
    Stage stage;
    SimFired targeted = {.fault = SIM_TARGETED, .key = {1, 1, 0}};
    SimWorldOptions options = {.forced = &targeted, .forced_count = 1};
    options.swarm.most_us[SIM_TARGETED] = 2 * US_PER_S;
    stage_open(&stage, options);
    play(&stage, write_plain, US_PER_S / 10);
    EXPECT(!stage.alive);
    EXPECT_STATUS(read_c(stage.outside, &PLAIN, STORE_NORMAL, stage.arena), STATUS_NOT_FOUND);
    sim_world_run_until(sim_world(stage.sim), HOUR_US);
    sim_repair(stage.sim);
    EXPECT_STATUS(read_c(stage.outside, &PLAIN, STORE_NORMAL, stage.arena), STATUS_OK);
    stage_close(&stage);
}

TEST(when_every_request_is_lost_writes_are_unknown_and_reads_unavailable)
{
    Stage stage;
    SimWorldOptions options = {.seed = 3};
    options.swarm.rate[SIM_DROP] = options.swarm.rate[SIM_HINT] = 1000000;
    stage_open(&stage, options);
    play(&stage, write_and_go_on, 2 * HOUR_US);
    EXPECT(stage.alive);
    EXPECT_STATUS(stage.written, STATUS_UNKNOWN);
    EXPECT_STATUS(stage.normal, STATUS_UNAVAILABLE);
    EXPECT_STATUS(read_c(stage.outside, &PLAIN, STORE_NORMAL, stage.arena), STATUS_NOT_FOUND);
    stage_close(&stage);
}

TEST(what_a_machine_missed_is_kept_for_it)
{
    Stage stage;
    SimWorldOptions options = {.seed = 3};
    options.swarm.rate[SIM_DROP] = 1000000;
    stage_open(&stage, options);
    play(&stage, write_plain, 2 * HOUR_US);
    EXPECT_STATUS(stage.written, STATUS_UNKNOWN);
    EXPECT_STATUS(read_c(stage.outside, &PLAIN, STORE_NORMAL, stage.arena), STATUS_OK);
    stage_close(&stage);
}

/* ---- Updates --------------------------------------------------------------------------------------------- */

static void update_and_read(SimClient *client, void *context)
{
    Stage *stage = context;
    Store *store = sim_open(stage->sim, client);
    stage->written = put_cond(store, stage->arena);
    stage->normal = read_c(store, &COND, STORE_NORMAL, stage->arena);
    stage->serial = read_c(store, &COND, STORE_SERIAL, stage->arena);
    store_close(store);
}

TEST(an_update_that_has_not_spread_is_seen_serially_only)
{
    Stage stage;
    SimWorldOptions options = {.seed = 3};
    options.swarm.rate[SIM_UNSPREAD] = 1000000;
    options.swarm.most_us[SIM_UNSPREAD] = 1000 * HOUR_US;
    for (int normal_missed = 0; normal_missed == 0; options.seed++) {
        EXPECT(options.seed < 20); /* luck may spread it at once, but not each time */
        stage_open(&stage, options);
        play(&stage, update_and_read, HOUR_US);
        EXPECT_STATUS(stage.written, STATUS_OK);
        EXPECT_STATUS(stage.serial, STATUS_OK);
        normal_missed += stage.normal == STATUS_NOT_FOUND;
        stage_close(&stage);
    }
}

static void update_only(SimClient *client, void *context)
{
    Stage *stage = context;
    Store *store = sim_open(stage->sim, client);
    stage->written = put_cond(store, stage->arena);
    store_close(store);
}

/* Nobody comes by: it is finished by itself. */
TEST(an_unfinished_update_may_happen_long_after_its_client_gave_up)
{
    Stage stage;
    SimWorldOptions options = {.seed = 3};
    options.swarm.rate[SIM_LATE] = options.swarm.rate[SIM_UNMET] = 1000000;
    options.swarm.most_us[SIM_LATE] = 100 * HOUR_US;
    stage_open(&stage, options);
    play(&stage, update_only, 10 * US_PER_S);
    EXPECT_STATUS(stage.written, STATUS_UNKNOWN);
    EXPECT_STATUS(read_c(stage.outside, &COND, STORE_NORMAL, stage.arena), STATUS_NOT_FOUND);
    sim_world_run_until(sim_world(stage.sim), 101 * HOUR_US);
    sim_repair(stage.sim);
    EXPECT_STATUS(read_c(stage.outside, &COND, STORE_NORMAL, stage.arena), STATUS_OK);
    stage_close(&stage);
}

/* The same, but a serial read comes by and meets it: done or ended, and from then on it stays so. */
TEST(a_serial_read_settles_an_unfinished_update)
{
    int done = 0;
    for (uint64_t seed = 1; seed <= 30; seed++) {
        Stage stage;
        SimFired reach = {.fault = SIM_REACH, .key = {1, 1, 0}, .value = 1};
        SimWorldOptions options = {.seed = seed, .forced = &reach, .forced_count = 1};
        options.swarm.most_us[SIM_LATE] = 100 * HOUR_US;
        stage_open(&stage, options);
        play(&stage, update_only, 10 * US_PER_S);
        EXPECT_STATUS(stage.written, STATUS_UNKNOWN);
        Status first = read_c(stage.outside, &COND, STORE_SERIAL, stage.arena);
        sim_world_run_until(sim_world(stage.sim), 101 * HOUR_US);
        EXPECT_STATUS(read_c(stage.outside, &COND, STORE_SERIAL, stage.arena), first);
        done += first == STATUS_OK;
        stage_close(&stage);
    }
    EXPECT(done > 0 && done < 30);
}

/* ---- Clocks ---------------------------------------------------------------------------------------------- */

static void look_at_clock(SimClient *client, void *context)
{
    Stage *stage = context;
    stage->clock_us = clock_now_us(sim_client_clock(client));
    stage->true_us = START_US + sim_world_now_us(sim_world(stage->sim));
}

TEST(the_clock_of_a_client_is_wrong_by_at_most_its_skew)
{
    int64_t skew_us = 300 * US_PER_S;
    bool ahead = false, behind = false;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        Stage stage;
        SimWorldOptions options = {.seed = seed};
        options.swarm.rate[SIM_SKEW] = 1000000;
        options.swarm.most_us[SIM_SKEW] = skew_us;
        stage_open(&stage, options);
        play(&stage, look_at_clock, US_PER_S);
        int64_t wrong_us = stage.clock_us - stage.true_us;
        EXPECT(wrong_us >= -skew_us && wrong_us <= skew_us);
        ahead |= wrong_us > 0;
        behind |= wrong_us < 0;
        stage_close(&stage);
    }
    EXPECT(ahead && behind);
}

/* Written for a minute; half a minute later some machines whose clocks are minutes ahead think that it is over. */
TEST(expiry_follows_the_clocks_of_the_machines)
{
    int early = 0, in_time = 0;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        Stage stage;
        SimWorldOptions options = {.seed = seed};
        options.swarm.rate[SIM_NODE_SKEW] = 1000000;
        options.swarm.most_us[SIM_NODE_SKEW] = 300 * US_PER_S;
        stage_open(&stage, options);
        EXPECT_STATUS(put_plain(stage.outside, START_US, 60), STATUS_OK);
        sim_world_run_until(sim_world(stage.sim), 30 * US_PER_S);
        Status status = read_c(stage.outside, &PLAIN, STORE_NORMAL, stage.arena);
        early += status == STATUS_NOT_FOUND;
        in_time += status == STATUS_OK;
        sim_world_run_until(sim_world(stage.sim), HOUR_US);
        EXPECT_STATUS(read_c(stage.outside, &PLAIN, STORE_NORMAL, stage.arena), STATUS_NOT_FOUND);
        stage_close(&stage);
    }
    EXPECT(early > 0 && in_time > 0);
}
