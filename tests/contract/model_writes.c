/* model_writes.c -- the random writes of model_run.h: batches, many batches, bad ones, conditional updates. */
#include "model_run.h"

enum { LARGE = 20000 };

/* Values live as long as the program: the model keeps them. */
static Slice random_value(void)
{
    static char large[LARGE];
    static const Slice values[] = {{"", 0},     {"a", 1},      {"ab", 2},    {"b", 1},    {"\0", 1},
                                   {"\xff", 1}, {"\xff\0", 2}, {"value", 5}, {"other", 5}};
    if (run_one_in(20))
        return slice_of(large, 1 + run_below(LARGE));
    return values[run_below(sizeof values / sizeof values[0])];
}

/* Few different ones, and often the very one that is stored, so that ties happen; moving on slowly, so that newer ones
 * are seen. */
static int64_t random_timestamp(Place place)
{
    const Table *table = run_table_at(place.table);
    const ModelCell *cell = run_cell_at(place);
    bool any = !table->deletes && !table->expires;
    int64_t now = run.model.now_us, stored = cell->states[run_below(cell->count)].timestamp;
    if (run_one_in(3) && (any || model_takes_timestamp(&run.model, stored)))
        return stored;
    if (any && run_one_in(2000))
        return run_one_in(2) ? INT64_MIN + 1 : (int64_t)run_below(1000);
    if (any)
        return run.operation / 50 + (int64_t)run_below(5) - 3;
    if (run_one_in(30))
        return now - (int64_t)run_below(RUN_GRACE_S * US_PER_S);
    if (run_one_in(50))
        return now + (int64_t)run_below(100 * US_PER_S);
    return now + (int64_t)run_below(4) - 2;
}

static int64_t random_ttl(void)
{
    return run_one_in(10) ? 4 * (int64_t)run_below(500) + 2 : 4 * (int64_t)run_below(10) + 2;
}

static Change random_change(Place place)
{
    const Table *table = run_table_at(place.table);
    Change change = {.column = model_column(place.column), .value = random_value()};
    change.timestamp = table->kind == TABLE_CONDITIONAL ? 0 : random_timestamp(place);
    if (table->deletes && run_one_in(4))
        change.is_delete = true;
    else if (table->expires && run_one_in(3))
        change.ttl_s = random_ttl();
    return change;
}

/* ---- Plain writes ------------------------------------------------------------------------------------------ */

enum { CHANGES_MAX = 5, BATCHES_MAX = 4 };

typedef struct RandomBatch {
    Place places[CHANGES_MAX];
    RowChange changes[CHANGES_MAX];
    Batch batch;
} RandomBatch;

static void make_batch(RandomBatch *out)
{
    size_t count = 1 + run_below(CHANGES_MAX);
    for (size_t i = 0; i < count; i++) {
        Place place = run_random_place(0);
        out->places[i] = place;
        out->changes[i] =
            (RowChange){run_table_at(place.table), model_row(place.row), random_change(place)};
    }
    out->batch = (Batch){out->changes, count, !run_one_in(16)}; /* syncs take most of the time */
}

static void apply_batch(const RandomBatch *batch)
{
    for (size_t i = 0; i < batch->batch.count; i++)
        model_write(&run.model, run_cell_at(batch->places[i]), &batch->changes[i].change);
}

void run_write_one(void)
{
    RandomBatch batch;
    make_batch(&batch);
    run.asked = arena_print(run.arena, "a batch of %zu", batch.batch.count);
    run_expect_status(store_write(run.store, &batch.batch), STATUS_OK);
    apply_batch(&batch);
}

void run_write_several(void)
{
    RandomBatch *made = ARENA_ARRAY(run.arena, BATCHES_MAX, RandomBatch);
    Batch batches[BATCHES_MAX];
    Status statuses[BATCHES_MAX];
    size_t count = 1 + run_below(BATCHES_MAX);
    run.asked = arena_print(run.arena, "%zu batches", count);
    for (size_t i = 0; i < count; i++) {
        make_batch(&made[i]);
        batches[i] = made[i].batch;
    }
    run_expect_status(store_write_many(run.store, batches, count, statuses), STATUS_OK);
    for (size_t i = 0; i < count; i++) {
        run_expect_status(statuses[i], STATUS_OK);
        apply_batch(&made[i]);
    }
}

/* One change that breaks a rule refuses the batch; the model does not move. */
void run_write_invalid(void)
{
    RandomBatch batch;
    make_batch(&batch);
    RowChange *bad = &batch.changes[run_below(batch.batch.count)];
    int64_t now = run.model.now_us, edge = 1 + (int64_t)run_below(3);
    *bad = (RowChange){&CONTRACT_PLAIN, model_row(0), put(model_column(0), SLICE("bad"), now)};
    switch (run_below(4)) {
    case 0:
        bad->change.timestamp = now - RUN_GRACE_S * US_PER_S - edge;
        break;
    case 1:
        bad->change.timestamp = now + STORE_AHEAD_MOST_S * US_PER_S + edge;
        break;
    case 2:
        *bad = (RowChange){&CONTRACT_KEEP, model_row(0), erase(model_column(0), now)};
        break;
    default:
        bad->table = &CONTRACT_COND;
        break;
    }
    run.asked = SLICE("a batch with a bad change");
    run_expect_status(store_write(run.store, &batch.batch), STATUS_INVALID);
}

/* ---- Conditional writes ------------------------------------------------------------------------------------ */

enum { CONDITIONS_MAX = 3, UPDATES_MAX = 3 };

static Condition random_condition(Place place)
{
    const ModelCell *cell = run_cell_at(place);
    const ModelState *state = &cell->states[run_below(cell->count)];
    Slice column = model_column(place.column);
    if (run_one_in(8))
        return run_one_in(2) ? when_absent(column) : when_equal(column, random_value());
    return state->kind == MODEL_PUT ? when_equal(column, state->value) : when_absent(column);
}

/* Columns of the changes are different ones: a step that has no common factor with their number sees to it. */
static size_t make_changes(Place place, Change *ret_changes, size_t *ret_columns)
{
    size_t count = 1 + run_below(UPDATES_MAX), start = run_below(MODEL_COLUMNS);
    for (size_t i = 0; i < count; i++) {
        place.column = ret_columns[i] = (start + 3 * i) % MODEL_COLUMNS;
        ret_changes[i] = random_change(place);
    }
    if (ret_changes[0].is_delete) /* the first is the proof */
        ret_changes[0] = put(ret_changes[0].column, random_value(), 0);
    return count;
}

static bool holds(const Condition *condition, const Found *found)
{
    return condition->absent ? !found->present
                             : found->present && slice_equal(found->value, condition->value);
}

/* On OK every condition held, on CONFLICT one did not: either way the store has told what stood there. */
static void judge_update(const Update *update, Place *places, const Found *found, Status status)
{
    bool all = true;
    for (size_t i = 0; i < update->condition_count; i++) {
        const Condition *condition = &update->conditions[i];
        Found there =
            status == STATUS_OK ? (Found){!condition->absent, condition->value} : found[i];
        run_observe(places[i], &(Sight){there.present, there.value, 0, true});
        all &= holds(condition, &there);
    }
    if (all != (status == STATUS_OK))
        run_mismatch("the store says conflict, and what it found fits all conditions");
}

void run_update_if(void)
{
    Place place = run_random_place(2), places[CONDITIONS_MAX];
    Condition conditions[CONDITIONS_MAX];
    Found found[CONDITIONS_MAX];
    Change changes[UPDATES_MAX];
    size_t columns[UPDATES_MAX], condition_count = 1 + run_below(CONDITIONS_MAX);
    for (size_t i = 0; i < condition_count; i++) {
        places[i] = (Place){place.table, place.row, run_below(MODEL_COLUMNS)};
        conditions[i] = random_condition(places[i]);
    }
    size_t change_count = make_changes(place, changes, columns);
    Update update = {.table = run_table_at(place.table),
                     .row = model_row(place.row),
                     .conditions = conditions,
                     .condition_count = condition_count,
                     .changes = changes,
                     .change_count = change_count,
                     .proof = changes[0].column};
    run.asked = arena_print(run.arena, "an update of row %zu with %zu conditions", place.row,
                            condition_count);
    Status status = store_update_if(run.store, &update, run.arena, found);
    if (status != STATUS_OK && status != STATUS_CONFLICT)
        run_mismatch("the store says %s", status_name(status));
    judge_update(&update, places, found, status);
    for (size_t i = 0; status == STATUS_OK && i < change_count; i++)
        model_replace(&run.model, run_cell_at((Place){place.table, place.row, columns[i]}),
                      &changes[i]);
}

/* Marks go with an update whose condition holds for sure: then both are there. */
void run_update_with_marks(void)
{
    Place place = run_random_place(2);
    Slice column = model_column(place.column);
    ModelCell *cell = run_cell_at(place);
    if (model_may_be_absent(&run.model, cell) && model_may_be_present(&run.model, cell))
        return;
    const ModelState *state = &cell->states[0];
    Condition condition = model_may_be_absent(&run.model, cell) ? when_absent(column)
                                                                : when_equal(column, state->value);
    Change change = put(column, random_value(), 0);
    RandomBatch marks;
    make_batch(&marks);
    Update update = {.table = run_table_at(place.table),
                     .row = model_row(place.row),
                     .conditions = &condition,
                     .condition_count = 1,
                     .changes = &change,
                     .change_count = 1,
                     .proof = column,
                     .marks = marks.batch};
    run.asked = SLICE("an update with marks");
    run_expect_status(store_update(run.store, &update, 2, run.arena, NULL), STATUS_OK);
    model_replace(&run.model, cell, &change);
    apply_batch(&marks);
}
