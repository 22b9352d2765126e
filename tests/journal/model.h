/* model.h -- what a journal must answer: the rules of journal.h written down once more, with lists and no indexes.
 *
 * Every call says what the engine must have answered; what it chooses freely (ids, tokens) it is told. Nothing here knows of threads, logs
 * or files. */
#pragma once

#include "journal/journal.h"

/* The last is a tube: it is there while it has entries or is paused, and its counts begin anew each time. */
enum { MODEL_JOURNALS = 5, MODEL_TUBE = 4, MODEL_ENTRIES = 4096, MODEL_TEXT = 24 };

typedef struct ModelRules {
    const char *name;
    bool merge, drop_dead;
    JournalProcess process;
    JournalOnProcessing on_processing;
    int64_t max_defer_ms, lease_ms, backoff_ms, backoff_max_ms, expire_ms, dead_ms;
    uint32_t priority, timeouts;
    uint64_t max_entries, dead_max;
} ModelRules;

typedef struct ModelEntry {
    uint64_t id;
    int journal;
    char state; /* 0: free */
    char key[MODEL_TEXT], data[MODEL_TEXT];
    uint32_t priority, timeouts, timeouts_ever;
    int64_t insertion_ms, expiration_ms, wanted_ms, retry_ms, update_ms, lease_ms;
    int64_t deadline_ms, run_lease_ms;
    JournalToken token;
    bool given_up;
    bool late_done_counts; /* it lapsed, and nothing has come since */
    int owner;             /* P: 1 …, of those who claim for themselves; 0: none */
} ModelEntry;

typedef struct Model {
    ModelRules rules[MODEL_JOURNALS];
    ModelEntry entries[MODEL_ENTRIES];
    uint64_t counters[MODEL_JOURNALS][JOURNAL_COUNTERS];
    int64_t paused_until_ms[MODEL_JOURNALS];
    int64_t wall_ms, boot_ms, hold_until_ms;
    unsigned alerts;
    bool full; /* the disk */
} Model;

/* Time goes on, or the wall clock is set; then the clocks are looked at. */
void model_time(Model *model, int64_t wall_ms, int64_t boot_ms, bool stepped);
/* All running entries have their whole lease again, but what owners had claimed waits. */
void model_restart(Model *model);
/* `id`: that of the engine's answer, for an entry that is made. */
JournalAnswer model_put(Model *model, int journal, const JournalPut *put, uint64_t id);
/* The entry that must be handed out, or NULL; model_hand_out does it. */
ModelEntry *model_choose(Model *model, const int *journals, size_t count, uint32_t most);
void model_hand_out(Model *model, ModelEntry *entry, JournalToken token, int64_t lease_ms,
                    int owner);
MUST_USE Status model_step(Model *model, JournalCall call, const JournalStep *step);
/* By id, of what the owner has claimed; JOURNAL_CALL_DELETE also of what nobody works on. */
MUST_USE Status model_owner_step(Model *model, JournalCall call, const JournalStep *step,
                                 int owner);
void model_owner_ends(Model *model, int owner);
bool model_has_tube(const Model *model);
/* After each call: a tube with nothing in it is no more. */
void model_tidy(Model *model);
uint64_t model_kick_some(Model *model, int journal, uint64_t most);
ModelEntry *model_find(Model *model, uint64_t id);
int64_t model_process_ms(const Model *model, const ModelEntry *entry);
