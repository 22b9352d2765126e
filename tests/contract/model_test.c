/* model_test.c -- random operations against the store and the model, compared at every answer.
 *
 * The seed is printed; OSTRAKA_SEED replays it, OSTRAKA_OPS changes the number of operations. On a mismatch the seed, the number
 * of the operation, what was asked, and both answers are printed. Clock steps are multiples of four seconds and lives
 * are two more than that, so no cell dies at the very moment a read happens. */
#include "model_run.h"

#include <stdarg.h>

enum { OPERATIONS = 100000 };

Run run;

uint64_t run_below(uint64_t bound)
{
    return random_u64(run.luck) % bound;
}

bool run_one_in(uint64_t n)
{
    return run_below(n) == 0;
}

void run_mismatch(const char *format, ...)
{
    char text[2000];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    test_fail(__FILE__, __LINE__, "seed %" PRIu64 ", operation %d: %.*s: %s", run.seed,
              run.operation, SLICE_ARG(run.asked), text);
}

void run_expect_status(Status actual, Status expected)
{
    if (actual != expected)
        run_mismatch("the store says %s, the model says %s", status_name(actual),
                     status_name(expected));
}

Place run_random_place(size_t first_table)
{
    return (Place){first_table + run_below(2), run_below(MODEL_ROWS), run_below(MODEL_COLUMNS)};
}

const Table *run_table_at(size_t index)
{
    return CONTRACT_TABLES.tables[index];
}

ModelCell *run_cell_at(Place place)
{
    return &run.model.cells[place.table][place.row][place.column];
}

void run_observe(Place place, const Sight *sight)
{
    if (model_observe(&run.model, run_cell_at(place), sight))
        return;
    Slice model_says = model_describe(&run.model, run_cell_at(place), run.arena);
    run_mismatch("%s, row %zu, column %zu: the store says %s %zu bytes \"%.*s\"@%" PRId64
                 ", the model says %.*s",
                 run_table_at(place.table)->name, place.row, place.column,
                 sight->present ? "present" : "absent", sight->value.size,
                 sight->value.size > 8 ? 8 : (int)sight->value.size, sight->value.data,
                 sight->timestamp, SLICE_ARG(model_says));
}

/* ---- Time and restarts ------------------------------------------------------------------------------------- */

static void set_clock(int64_t now_us)
{
    contract_set_now_us(now_us);
    model_set_now(&run.model, now_us);
}

static void clock_forward(void)
{
    int64_t steps = run_one_in(20) ? 1 + (int64_t)run_below(250) : 1 + (int64_t)run_below(8);
    set_clock(run.model.now_us + 4 * steps * US_PER_S);
}

static void clock_back(void)
{
    set_clock(run.model.now_us - 4 * (1 + (int64_t)run_below(15)) * US_PER_S);
}

/* Every cell is read once: nothing is lost, nothing came up that nobody asked about. */
static void read_everything(void)
{
    for (size_t t = 0; t < MODEL_TABLES; t++)
        for (size_t r = 0; r < MODEL_ROWS; r++) {
            Page page;
            Query query = {.table = run_table_at(t),
                           .row = model_row(r),
                           .from = SLICE_EMPTY,
                           .to = SLICE_EMPTY,
                           .after = SLICE_EMPTY,
                           .limit = STORE_PAGE_MAX};
            run_expect_status(store_slice(run.store, &query, run.arena, &page), STATUS_OK);
            run_judge_slice(&query, (Place){t, r, 0}, &page);
        }
}

static void restart(void)
{
    run.asked = SLICE("a restart");
    run.store = contract_restart();
    read_everything();
}

/* ---- The run ----------------------------------------------------------------------------------------------- */

static const struct {
    void (*act)(void);
    unsigned weight;
} OPERATION_TABLE[] = {
    {run_write_one, 300},
    {run_write_several, 60},
    {run_write_invalid, 10},
    {run_update_if, 100},
    {run_update_with_marks, 20},
    {run_read_one, 120},
    {run_read_several, 50},
    {run_slice_row, 160},
    {run_scan_on, 80},
    {clock_forward, 22},
    {clock_back, 7},
    {restart, 1},
};

static void step(void)
{
    unsigned all = 0;
    size_t i = 0;
    for (size_t k = 0; k < sizeof OPERATION_TABLE / sizeof OPERATION_TABLE[0]; k++)
        all += OPERATION_TABLE[k].weight;
    uint64_t choice = run_below(all);
    for (; choice >= OPERATION_TABLE[i].weight; i++)
        choice -= OPERATION_TABLE[i].weight;
    OPERATION_TABLE[i].act();
    run_watch_scans();
    arena_reset(run.arena);
}

static uint64_t number_from(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    uint64_t number = otherwise;
    if (text != NULL && slice_to_u64(slice_from(text), &number) != STATUS_OK) {
        fprintf(stderr, "%s is not a number.\n", name);
        exit(1);
    }
    return number;
}

TEST(random_operations_answer_as_the_model_does)
{
    run.store = contract_fresh_with_grace(RUN_GRACE_S);
    if (!contract_has_clock()) {
        contract_end();
        return;
    }
    run.seed = number_from("OSTRAKA_SEED", random_u64(world_real().random) >> 32);
    run.operations = (int)number_from("OSTRAKA_OPS", OPERATIONS);
    run.luck = test_world(&run.luck_state, run.seed).random;
    run.arena = arena_new();
    model_init(&run.model, contract_now_us(), RUN_GRACE_S);
    memset(run.scans, 0, sizeof run.scans);
    printf("# seed %" PRIu64 ", %d operations; OSTRAKA_SEED=%" PRIu64 " replays them\n", run.seed,
           run.operations, run.seed);
    for (run.operation = 0; run.operation < run.operations; run.operation++)
        step();
    read_everything();
    arena_free(run.arena);
    contract_end();
}
