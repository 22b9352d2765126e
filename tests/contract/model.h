/* model.h -- what a store must answer, kept in memory and simple enough to be seen to be right.
 *
 * A small world of cells: every table of contract.h has the same few rows and columns, so that writes collide. A cell is the
 * set of states it may be in. Nearly always that is one; it is more after the clock has passed a time of death, because
 * from then on an engine may have buried the cell (and forgotten it after grace) or not yet, which shows when the
 * clock steps back. An answer of the store strikes out the states that it contradicts; when none is left, the
 * store is wrong.
 * Deaths must never fall on the very moment that the clock shows: store.h leaves that moment to the engine. */
#pragma once

#include "contract.h"

enum { MODEL_TABLES = 4, MODEL_ROWS = 6, MODEL_COLUMNS = 8, MODEL_STATES = 24 };

typedef enum ModelKind { MODEL_NONE, MODEL_PUT, MODEL_DELETED } ModelKind;

typedef struct ModelState {
    ModelKind kind;
    int64_t timestamp;
    int64_t death_us; /* of a put; 0: lives for ever */
    Slice value;      /* must outlive the model */
} ModelState;

typedef struct ModelCell {
    ModelState states[MODEL_STATES];
    size_t count;
    bool conditional;
} ModelCell;

typedef struct Model {
    ModelCell cells[MODEL_TABLES][MODEL_ROWS][MODEL_COLUMNS];
    int64_t now_us, highest_us;
    int64_t grace_s;
} Model;

Slice model_row(size_t index);
/* In byte order. */
Slice model_column(size_t index);
/* false: no such name in this world. */
bool model_find(Slice row, Slice column, size_t *ret_row, size_t *ret_column);

void model_init(Model *model, int64_t now_us, int64_t grace_s);
/* The clock now shows this, earlier or later than before. */
void model_set_now(Model *model, int64_t now_us);

/* Whether store.h allows this timestamp on a table that deletes or expires. */
bool model_takes_timestamp(const Model *model, int64_t timestamp);
/* A plain change: promise 1. */
void model_write(const Model *model, ModelCell *cell, const Change *change);
/* A change of a conditional table: the last one stands. */
void model_replace(const Model *model, ModelCell *cell, const Change *change);

typedef struct Sight {
    bool present;
    Slice value;
    int64_t timestamp;
    bool any_timestamp; /* what update_if found comes without one */
} Sight;

/* The store says this about the cell. false: it cannot be. */
bool model_observe(const Model *model, ModelCell *cell, const Sight *sight);
bool model_may_be_present(const Model *model, const ModelCell *cell);
bool model_may_be_absent(const Model *model, const ModelCell *cell);
/* "absent or "abc"@17 …", for a person who looks for the bug. */
Slice model_describe(const Model *model, const ModelCell *cell, Arena *arena);
