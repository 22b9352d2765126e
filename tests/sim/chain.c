/* chain.c -- see chain.h: what the clients do. */
#include "chain.h"

#include "workloads.h"

enum { TRIES = 3, ROWS_MAX = 3 };

static const Slice HEAD = {"head", 4};
static const Slice SLOT = {"slot", 4};

const Table CHAIN_TABLE = {
    .number = TABLE_FIRST_FOR_TESTS + 100,
    .name = "sim_chain",
    .kind = TABLE_CONDITIONAL,
    .deletes = true,
    .row = "register",
    .columns = "head, slot, z/<seq>, c/<id>",
    .writer = "the simulator",
};
static const Table *const TABLE_POINTERS[] = {&CHAIN_TABLE};

static const Mutant MUTANTS[] = {
    {"no_read_after_unknown", "an unknown update is sent again, and that answer is believed", 10,
     1},
    {"unknown_is_no", "an unknown outcome is told as not done", 10, 3},
    {"proof_read_normally", "after an unknown outcome the row is not read serially", 20, 7},
    {"slot_deleted", "a freed slot is deleted instead of marked", 60, 4},
    {"head_without_condition", "an update is conditional on something else than the head", 10, 1},
};

static void *setup(Run *run, Store *store)
{
    (void)store;
    Arena *arena = run_arena(run);
    Chain *chain = ARENA_NEW(arena, Chain);
    chain->row_count = 1 + run_draw(run, ROWS_MAX);
    chain->rows = ARENA_ARRAY(arena, chain->row_count, Slice);
    chain->seen = ARENA_ARRAY(arena, chain->row_count, uint64_t);
    for (size_t i = 0; i < chain->row_count; i++)
        chain->rows[i] = arena_print(arena, "register %zu", i);
    return chain;
}

/* ---- Updating, rightly and wrongly ----------------------------------------------------------------------- */

/* The mistake of reading what may not have spread yet: the rule of store_update, but with normal reads. */
static Status look_normally(Store *store, const Update *update, Arena *arena)
{
    const Condition *condition = &update->conditions[0];
    Read proof = {update->table, update->row, update->proof, STORE_NORMAL};
    Read head = {update->table, update->row, condition->column, STORE_NORMAL};
    Cell stands = {.value = SLICE_EMPTY}, cell;
    Status present = store_read(store, &head, arena, &stands);
    Status there = store_read(store, &proof, arena, &cell);
    if (there == STATUS_OK && slice_equal(cell.value, update->changes[1].value))
        return STATUS_OK;
    if ((there != STATUS_OK && there != STATUS_NOT_FOUND) ||
        (present != STATUS_OK && present != STATUS_NOT_FOUND))
        return STATUS_UNKNOWN;
    bool moved = (present == STATUS_NOT_FOUND) != condition->absent ||
                 (!condition->absent && !slice_equal(stands.value, condition->value));
    return moved ? STATUS_CONFLICT : STATUS_UNKNOWN;
}

static Status update_with_normal_reads(Store *store, const Update *update, Arena *arena)
{
    bool may_have_arrived = false;
    Status status = STATUS_UNKNOWN;
    for (int i = 0; i < TRIES && status == STATUS_UNKNOWN; i++) {
        status = store_update_if(store, update, arena, NULL);
        may_have_arrived |= status == STATUS_UNKNOWN;
        if (status != STATUS_OK && may_have_arrived)
            status = look_normally(store, update, arena);
    }
    return status;
}

static Status update_somehow(Run *run, Store *store, const Update *update, Arena *arena)
{
    if (run_makes_mistake(run, "no_read_after_unknown")) {
        Status status = store_update_if(store, update, arena, NULL);
        for (int i = 1; i < TRIES && status == STATUS_UNKNOWN; i++)
            status = store_update_if(store, update, arena, NULL);
        return status;
    }
    if (run_makes_mistake(run, "proof_read_normally"))
        return update_with_normal_reads(store, update, arena);
    Status status = store_update(store, update, TRIES, arena, NULL);
    if (status == STATUS_UNKNOWN && run_makes_mistake(run, "unknown_is_no"))
        return STATUS_CONFLICT;
    return status;
}

/* Notes the try before it is made, and the answer if the client lives to hear it. */
static Status try_update(Run *run, SimClient *client, Store *store, ChainKind kind, Id id,
                         const Update *update, Arena *arena)
{
    Chain *chain = run_state(run);
    ChainTry *try = ARENA_NEW(run_arena(run), ChainTry);
    *try = (ChainTry){.id = id,
                      .kind = kind,
                      .row = arena_copy(run_arena(run), update->row),
                      .proof = arena_copy(run_arena(run), update->proof),
                      .next = chain->tries};
    chain->tries = try;
    Status status = update_somehow(run, store, update, arena);
    try->answered = sim_client_alive(client);
    try->told = status;
    return status;
}

/* ---- Appending ------------------------------------------------------------------------------------------- */

typedef struct Seen {
    bool present;
    Slice value;
    uint64_t seq;
    Slice id;
} Seen;

static Status read_cell(Store *store, Slice row, Slice column, Arena *arena, Seen *ret_seen)
{
    Read read = {&CHAIN_TABLE, row, column, STORE_SERIAL};
    Cell cell = {.value = SLICE_EMPTY};
    Status status = store_read(store, &read, arena, &cell);
    if (status != STATUS_OK && status != STATUS_NOT_FOUND)
        return status;
    *ret_seen = (Seen){.present = status == STATUS_OK, .value = cell.value, .id = SLICE_EMPTY};
    return STATUS_OK;
}

/* What is final stays: no later serial read may see less. `seen_before` was known when the read began. */
static Status read_head(Run *run, Store *store, size_t row, Arena *arena, Seen *ret_head)
{
    Chain *chain = run_state(run);
    uint64_t seen_before = chain->seen[row];
    TRY(read_cell(store, chain->rows[row], HEAD, arena, ret_head));
    if (ret_head->present) {
        Reader reader = reader_of(ret_head->value);
        ret_head->seq = reader_u64(&reader);
        ret_head->id = reader_rest(&reader);
    }
    if (ret_head->seq < seen_before)
        run_violated(run, "%.*s: a serial read saw seq %llu after %llu was seen",
                     SLICE_ARG(chain->rows[row]), (unsigned long long)ret_head->seq,
                     (unsigned long long)seen_before);
    if (ret_head->seq > chain->seen[row])
        chain->seen[row] = ret_head->seq;
    return STATUS_OK;
}

static Condition still(Slice column, const Seen *seen)
{
    return (Condition){.column = column, .value = seen->value, .absent = !seen->present};
}

static void append(Run *run, SimClient *client, Store *store, size_t row, Arena *arena)
{
    Chain *chain = run_state(run);
    Seen head;
    if (read_head(run, store, row, arena, &head) != STATUS_OK)
        return;
    Id id = id_new(sim_client_clock(client), sim_client_random(client));
    BUFFER_SCOPE Buffer new_head = {0}, entry = {0};
    buffer_u64(&new_head, head.seq + 1);
    buffer_bytes(&new_head, id_slice(&id));
    buffer_bytes(&entry, id_slice(&id));
    buffer_bytes(&entry, head.id);
    Condition condition = still(HEAD, &head);
    if (run_makes_mistake(run, "head_without_condition"))
        condition = (Condition){.column = SLICE("nothing"), .value = SLICE_EMPTY, .absent = true};
    Change changes[] = {
        {.column = HEAD, .value = buffer_slice(&new_head)},
        {.column = chain_entry_column(head.seq + 1, arena), .value = buffer_slice(&entry)}};
    Update update = {.table = &CHAIN_TABLE,
                     .row = chain->rows[row],
                     .conditions = &condition,
                     .condition_count = 1,
                     .changes = changes,
                     .change_count = 2,
                     .proof = changes[1].column};
    (void)!try_update(run, client, store, CHAIN_APPEND, id, &update, arena);
}

/* ---- Taking turns ---------------------------------------------------------------------------------------- */

/* Takes a free slot; frees a held one, whoever holds it: its holder may be dead. */
static void take_turn(Run *run, SimClient *client, Store *store, size_t row, Arena *arena)
{
    Chain *chain = run_state(run);
    Seen slot;
    if (read_cell(store, chain->rows[row], SLOT, arena, &slot) != STATUS_OK)
        return;
    bool held = slot.present && slot.value.data[0] == 'h';
    Id id = id_new(sim_client_clock(client), sim_client_random(client));
    Slice id_text_ = id_text(id, arena);
    Condition condition = still(SLOT, &slot);
    Change changes[] = {
        {.column = SLOT,
         .value = arena_print(arena, "%s %.*s", held ? "free" : "held", SLICE_ARG(id_text_))},
        {.column = arena_print(arena, "c/%.*s", SLICE_ARG(id_text_)), .value = id_slice(&id)}};
    changes[0].is_delete = held && run_makes_mistake(run, "slot_deleted");
    Update update = {.table = &CHAIN_TABLE,
                     .row = chain->rows[row],
                     .conditions = &condition,
                     .condition_count = 1,
                     .changes = changes,
                     .change_count = 2,
                     .proof = changes[1].column};
    (void)!try_update(run, client, store, CHAIN_SLOT, id, &update, arena);
}

static void client_work(Run *run, SimClient *client, Store *store, Arena *arena)
{
    Chain *chain = run_state(run);
    while (run_working(run, client)) {
        uint64_t luck = random_u64(sim_client_random(client));
        size_t row = (luck >> 8) % chain->row_count;
        if (luck % 2 == 0)
            append(run, client, store, row, arena);
        else
            take_turn(run, client, store, row, arena);
        arena_reset(arena);
        run_pause(run, client);
    }
}

static const Checker *const CHECKERS[] = {&CHECK_CHAIN_TOLD, &CHECK_CHAIN_GAPS, NULL};

const Workload WORKLOAD_CHAIN = {
    .name = "chain",
    .tables = {TABLE_POINTERS, 1},
    .mutants = MUTANTS,
    .mutant_count = sizeof MUTANTS / sizeof MUTANTS[0],
    .checkers = CHECKERS,
    .setup = setup,
    .client = client_work,
};
