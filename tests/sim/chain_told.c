/* chain_told.c -- truth to the caller: told OK, it is there for ever; told CONFLICT or UNAVAILABLE, it never gets in. */
#include "chain.h"

static const char *const KINDS[] = {[CHAIN_APPEND] = "an entry", [CHAIN_SLOT] = "a turn"};

static void check_try(Run *run, Store *store, Arena *arena, const ChainTry *try)
{
    Read read = {&CHAIN_TABLE, try->row, try->proof, STORE_SERIAL};
    Cell cell = {.value = SLICE_EMPTY};
    Status status = store_read(store, &read, arena, &cell);
    if (status != STATUS_OK && status != STATUS_NOT_FOUND) {
        run_violated(run, "a healed cluster does not answer: %s", status_name(status));
        return;
    }
    bool done = status == STATUS_OK && cell.value.size >= ID_BYTES &&
                slice_equal(slice_of(cell.value.data, ID_BYTES), id_slice(&try->id));
    if (!try->answered || try->told == STATUS_UNKNOWN)
        return;
    if (done != (try->told == STATUS_OK))
        run_violated(run, "%s of %.*s was told %s and is %s", KINDS[try->kind], SLICE_ARG(try->row),
                     status_name(try->told), done ? "done" : "not done");
}

static void check(Run *run, Store *store, Arena *arena)
{
    const Chain *chain = run_state(run);
    for (const ChainTry *try = chain->tries; try != NULL; try = try->next) {
        check_try(run, store, arena, try);
        arena_reset(arena);
    }
}

const Checker CHECK_CHAIN_TOLD = {"told the truth", check};
