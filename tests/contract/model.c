/* model.c -- see model.h. */
#include "model.h"

static const Slice ROWS[MODEL_ROWS] = {{"a", 1},         {"a\0", 2},  {"a\0\x01", 3},
                                       {"b\xff\xff", 3}, {"\xff", 1}, {"row", 3}};
static const Slice COLUMNS[MODEL_COLUMNS] = {{"", 0},     {"\0", 1},      {"\0\xff", 2},
                                             {"a", 1},    {"ab", 2},      {"head", 4},
                                             {"\xff", 1}, {"\xff\xff", 2}};

Slice model_row(size_t index)
{
    return ROWS[index];
}

Slice model_column(size_t index)
{
    return COLUMNS[index];
}

static bool find(const Slice *names, size_t count, Slice name, size_t *ret_index)
{
    for (size_t i = 0; i < count; i++)
        if (slice_equal(names[i], name)) {
            *ret_index = i;
            return true;
        }
    return false;
}

bool model_find(Slice row, Slice column, size_t *ret_row, size_t *ret_column)
{
    return find(ROWS, MODEL_ROWS, row, ret_row) && find(COLUMNS, MODEL_COLUMNS, column, ret_column);
}

/* ---- States ------------------------------------------------------------------------------------------------ */

static bool is_visible(const ModelState *state, int64_t now_us)
{
    return state->kind == MODEL_PUT && (state->death_us == 0 || now_us < state->death_us);
}

static bool same_state(const ModelState *a, const ModelState *b)
{
    return a->kind == b->kind &&
           (a->kind == MODEL_NONE ||
            (a->timestamp == b->timestamp &&
             (a->kind == MODEL_DELETED ||
              (a->death_us == b->death_us && slice_equal(a->value, b->value)))));
}

static void add_state(ModelCell *cell, ModelState state)
{
    for (size_t i = 0; i < cell->count; i++)
        if (same_state(&cell->states[i], &state))
            return;
    CHECK(cell->count < MODEL_STATES);
    cell->states[cell->count++] = state;
}

void model_init(Model *model, int64_t now_us, int64_t grace_s)
{
    *model = (Model){.now_us = now_us, .highest_us = now_us, .grace_s = grace_s};
    for (size_t t = 0; t < MODEL_TABLES; t++)
        for (size_t r = 0; r < MODEL_ROWS; r++)
            for (size_t c = 0; c < MODEL_COLUMNS; c++)
                model->cells[t][r][c] = (ModelCell){
                    .count = 1, /* MODEL_NONE */
                    .conditional = CONTRACT_TABLES.tables[t]->kind == TABLE_CONDITIONAL};
}

/* What an engine may have done with the cell by now, given the highest time it ever saw. */
static void age(const Model *model, ModelCell *cell)
{
    for (size_t i = 0; i < cell->count; i++) { /* states that are added are looked at, too */
        ModelState state = cell->states[i];
        bool expired =
            state.kind == MODEL_PUT && state.death_us != 0 && state.death_us <= model->highest_us;
        if (expired && cell->conditional)
            add_state(cell, (ModelState){.kind = MODEL_NONE});
        else if (expired)
            add_state(cell, (ModelState){.kind = MODEL_DELETED, .timestamp = state.timestamp});
        if (state.kind == MODEL_DELETED &&
            state.timestamp < model->highest_us - model->grace_s * US_PER_S)
            add_state(cell, (ModelState){.kind = MODEL_NONE});
    }
}

void model_set_now(Model *model, int64_t now_us)
{
    model->now_us = now_us;
    if (now_us > model->highest_us)
        model->highest_us = now_us;
    for (size_t t = 0; t < MODEL_TABLES; t++)
        for (size_t r = 0; r < MODEL_ROWS; r++)
            for (size_t c = 0; c < MODEL_COLUMNS; c++)
                age(model, &model->cells[t][r][c]);
}

/* ---- Changes ----------------------------------------------------------------------------------------------- */

bool model_takes_timestamp(const Model *model, int64_t timestamp)
{
    return timestamp >= model->now_us - model->grace_s * US_PER_S &&
           timestamp <= model->now_us + STORE_AHEAD_MOST_S * US_PER_S;
}

static ModelState state_of(const Model *model, const Change *change)
{
    if (change->is_delete)
        return (ModelState){.kind = MODEL_DELETED, .timestamp = change->timestamp};
    return (ModelState){.kind = MODEL_PUT,
                        .timestamp = change->timestamp,
                        .death_us =
                            change->ttl_s > 0 ? model->now_us + change->ttl_s * US_PER_S : 0,
                        .value = change->value};
}

static int rank(const ModelState *state, int64_t now_us)
{
    if (!is_visible(state, now_us))
        return 2;
    return state->death_us != 0 ? 1 : 0;
}

static ModelState newest(const ModelState *stored, const ModelState *incoming, int64_t now_us)
{
    if (stored->kind == MODEL_NONE)
        return *incoming;
    if (stored->timestamp != incoming->timestamp)
        return stored->timestamp > incoming->timestamp ? *stored : *incoming;
    int stored_rank = rank(stored, now_us), incoming_rank = rank(incoming, now_us);
    if (stored_rank != incoming_rank)
        return stored_rank > incoming_rank ? *stored : *incoming;
    if (stored_rank == 2) /* a delete stays one when the clock steps back */
        return stored->kind == MODEL_DELETED ? *stored : *incoming;
    if (stored->death_us != incoming->death_us)
        return stored->death_us > incoming->death_us ? *stored : *incoming;
    return slice_compare(stored->value, incoming->value) >= 0 ? *stored : *incoming;
}

void model_write(const Model *model, ModelCell *cell, const Change *change)
{
    ModelState incoming = state_of(model, change);
    ModelCell after = {.conditional = cell->conditional};
    for (size_t i = 0; i < cell->count; i++)
        add_state(&after, newest(&cell->states[i], &incoming, model->now_us));
    *cell = after;
}

void model_replace(const Model *model, ModelCell *cell, const Change *change)
{
    cell->count = 1;
    cell->states[0] =
        change->is_delete ? (ModelState){.kind = MODEL_NONE} : state_of(model, change);
}

/* ---- Answers ----------------------------------------------------------------------------------------------- */

static bool agrees(const Model *model, const ModelState *state, const Sight *sight)
{
    if (!is_visible(state, model->now_us) || !sight->present)
        return is_visible(state, model->now_us) == sight->present;
    return slice_equal(state->value, sight->value) &&
           (sight->any_timestamp || state->timestamp == sight->timestamp);
}

bool model_observe(const Model *model, ModelCell *cell, const Sight *sight)
{
    size_t kept = 0;
    for (size_t i = 0; i < cell->count; i++)
        kept += agrees(model, &cell->states[i], sight);
    if (kept == 0)
        return false;
    kept = 0;
    for (size_t i = 0; i < cell->count; i++)
        if (agrees(model, &cell->states[i], sight))
            cell->states[kept++] = cell->states[i];
    cell->count = kept;
    age(model,
        cell); /* a burial that began before the clock stepped back may end after this answer */
    return true;
}

bool model_may_be_present(const Model *model, const ModelCell *cell)
{
    for (size_t i = 0; i < cell->count; i++)
        if (is_visible(&cell->states[i], model->now_us))
            return true;
    return false;
}

bool model_may_be_absent(const Model *model, const ModelCell *cell)
{
    for (size_t i = 0; i < cell->count; i++)
        if (!is_visible(&cell->states[i], model->now_us))
            return true;
    return false;
}

Slice model_describe(const Model *model, const ModelCell *cell, Arena *arena)
{
    Slice text = SLICE_EMPTY;
    for (size_t i = 0; i < cell->count; i++) {
        const ModelState *state = &cell->states[i];
        const char *before = i > 0 ? " or " : "";
        if (is_visible(state, model->now_us))
            text =
                arena_print(arena, "%.*s%s%zu bytes \"%.*s\"@%" PRId64, SLICE_ARG(text), before,
                            state->value.size, state->value.size > 8 ? 8 : (int)state->value.size,
                            state->value.data, state->timestamp);
        else
            text = arena_print(arena, "%.*s%sabsent@%" PRId64, SLICE_ARG(text), before,
                               state->timestamp);
    }
    return text;
}
