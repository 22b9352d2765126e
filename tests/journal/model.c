/* model.c -- see model.h. */
#include "model.h"

#include <string.h>

static void count(Model *model, int journal, JournalCounter counter)
{
    model->counters[journal][counter]++;
}

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static bool expired(const Model *model, const ModelEntry *entry)
{
    return entry->expiration_ms != 0 && entry->expiration_ms <= model->wall_ms;
}

int64_t model_process_ms(const Model *model, const ModelEntry *entry)
{
    const ModelRules *rules = &model->rules[entry->journal];
    int64_t date = entry->wanted_ms;
    if (rules->max_defer_ms > 0)
        date = earlier(date, entry->insertion_ms + rules->max_defer_ms);
    return later(later(date, entry->insertion_ms), entry->state == 'F' ? 0 : entry->retry_ms);
}

ModelEntry *model_find(Model *model, uint64_t id)
{
    for (size_t i = 0; i < MODEL_ENTRIES; i++)
        if (model->entries[i].state != 0 && model->entries[i].id == id)
            return &model->entries[i];
    return NULL;
}

static ModelEntry *find_key(Model *model, int journal, const char *key, char state)
{
    for (size_t i = 0; i < MODEL_ENTRIES; i++) {
        ModelEntry *entry = &model->entries[i];
        if (entry->state == state && entry->journal == journal && strcmp(entry->key, key) == 0)
            return entry;
    }
    return NULL;
}

static ModelEntry *held_of(Model *model, const ModelEntry *entry)
{
    bool keyed = entry->key[0] != '\0' && model->rules[entry->journal].merge;
    return keyed ? find_key(model, entry->journal, entry->key, 'H') : NULL;
}

static void gone(Model *model, ModelEntry *entry, JournalCounter counter)
{
    count(model, entry->journal, counter);
    entry->state = 0;
}

/* The end of a running entry: its successor is on its own. */
static void end_run(Model *model, ModelEntry *entry, JournalCounter counter)
{
    ModelEntry *held = entry->state == 'P' ? held_of(model, entry) : NULL;
    if (held != NULL)
        held->state = 'W';
    gone(model, entry, counter);
}

/* What `from` says goes into `into`. */
static bool merge(const Model *model, ModelEntry *into, const ModelEntry *from)
{
    JournalProcess process = model->rules[into->journal].process;
    bool newer = from->update_ms > into->update_ms ||
                 (from->update_ms == into->update_ms && strcmp(from->data, into->data) > 0);
    if (newer)
        memcpy(into->data, from->data, sizeof into->data);
    into->insertion_ms = earlier(into->insertion_ms, from->insertion_ms);
    into->expiration_ms = into->expiration_ms == 0 || from->expiration_ms == 0
                              ? 0
                              : later(into->expiration_ms, from->expiration_ms);
    if (process != JOURNAL_KEEP)
        into->wanted_ms = process == JOURNAL_LATEST ? later(into->wanted_ms, from->wanted_ms)
                                                    : earlier(into->wanted_ms, from->wanted_ms);
    into->retry_ms = later(into->retry_ms, from->state == 'F' ? 0 : from->retry_ms);
    into->update_ms = later(into->update_ms, from->update_ms);
    into->lease_ms = later(into->lease_ms, from->lease_ms);
    into->priority = from->priority < into->priority ? from->priority : into->priority;
    into->late_done_counts = false;
    return newer;
}

static void give_up(Model *model, ModelEntry *entry, bool alert)
{
    const ModelRules *rules = &model->rules[entry->journal];
    ModelEntry *held = entry->state == 'P' ? held_of(model, entry) : NULL;
    if (held != NULL)
        held->state = 'W';
    count(model, entry->journal, JOURNAL_COUNT_DEAD);
    model->alerts += alert;
    if (alert && rules->drop_dead) {
        gone(model, entry, JOURNAL_COUNT_DROPPED);
        return;
    }
    entry->state = 'F';
    entry->retry_ms = model->wall_ms;
    entry->late_done_counts = entry->given_up = false;
    for (;;) {
        ModelEntry *oldest = NULL;
        size_t failed = 0;
        for (size_t i = 0; i < MODEL_ENTRIES; i++) {
            ModelEntry *other = &model->entries[i];
            if (other->state != 'F' || other->journal != entry->journal)
                continue;
            failed++;
            if (oldest == NULL || other->retry_ms < oldest->retry_ms ||
                (other->retry_ms == oldest->retry_ms && other->id < oldest->id))
                oldest = other;
        }
        if (failed <= rules->dead_max)
            return;
        gone(model, oldest, JOURNAL_COUNT_DROPPED);
    }
}

static void give_back(Model *model, ModelEntry *entry, bool keep_counter)
{
    ModelEntry *held = held_of(model, entry);
    if (entry->given_up) {
        end_run(model, entry, JOURNAL_COUNT_REMOVED);
        return;
    }
    if (held != NULL && expired(model, held)) {
        gone(model, held, JOURNAL_COUNT_EXPIRED);
        held = NULL;
    }
    if (expired(model, entry)) {
        end_run(model, entry, JOURNAL_COUNT_EXPIRED);
        return;
    }
    entry->state = 'W';
    if (held == NULL)
        return;
    if (!keep_counter)
        entry->timeouts = 0;
    merge(model, entry, held);
    gone(model, held, JOURNAL_COUNT_MERGED_AWAY);
}

static bool fails_too_often(const Model *model, ModelEntry *entry)
{
    const ModelRules *rules = &model->rules[entry->journal];
    entry->timeouts += entry->timeouts < 255;
    entry->timeouts_ever++;
    return !entry->given_up && rules->timeouts != JOURNAL_TIMEOUTS_NONE &&
           entry->timeouts > rules->timeouts;
}

static void lapse(Model *model, ModelEntry *entry)
{
    count(model, entry->journal, JOURNAL_COUNT_LAPSED);
    if (fails_too_often(model, entry)) {
        give_up(model, entry, true);
        return;
    }
    entry->late_done_counts = true;
    give_back(model, entry, true);
}

/* By deadline, as they come: the dead list drops the oldest. */
static void lapse_all(Model *model)
{
    for (;;) {
        ModelEntry *first = NULL;
        for (size_t i = 0; i < MODEL_ENTRIES; i++) {
            ModelEntry *entry = &model->entries[i];
            if (entry->state == 'P' && entry->deadline_ms <= model->boot_ms &&
                (first == NULL || entry->deadline_ms < first->deadline_ms))
                first = entry;
        }
        if (first == NULL)
            return;
        lapse(model, first);
    }
}

void model_time(Model *model, int64_t wall_ms, int64_t boot_ms, bool stepped)
{
    int64_t step_ms = (wall_ms - boot_ms) - (model->wall_ms - model->boot_ms);
    model->wall_ms = wall_ms;
    model->boot_ms = boot_ms;
    if (stepped && (step_ms > JOURNAL_HOUR_MS || (step_ms > 0 && model->hold_until_ms > boot_ms)))
        model->hold_until_ms = boot_ms + 60 * 1000;
    lapse_all(model);
    for (size_t i = 0; i < MODEL_ENTRIES && model->hold_until_ms <= boot_ms; i++) {
        ModelEntry *entry = &model->entries[i];
        const ModelRules *rules = &model->rules[entry->journal];
        if (entry->state == 0 || entry->state == 'P')
            continue;
        if (expired(model, entry))
            gone(model, entry, JOURNAL_COUNT_EXPIRED);
        else if (entry->state == 'F' && entry->retry_ms + rules->dead_ms <= wall_ms)
            gone(model, entry, JOURNAL_COUNT_DROPPED);
    }
    for (size_t i = 0; i < MODEL_JOURNALS; i++)
        if (model->paused_until_ms[i] <= boot_ms)
            model->paused_until_ms[i] = 0;
}

void model_restart(Model *model)
{
    model->hold_until_ms = 0;
    for (size_t i = 0; i < MODEL_ENTRIES; i++) {
        ModelEntry *entry = &model->entries[i], *held;
        if (entry->state != 'P')
            continue;
        entry->deadline_ms = model->boot_ms + entry->run_lease_ms;
        if (entry->owner == 0 || entry->given_up) {
            entry->owner = 0;
            continue;
        }
        held = held_of(model, entry);
        entry->state = 'W';
        entry->retry_ms = 0;
        entry->late_done_counts = false;
        if (held == NULL)
            continue;
        merge(model, entry, held);
        gone(model, held, JOURNAL_COUNT_MERGED_AWAY);
    }
}

bool model_has_tube(const Model *model)
{
    for (size_t i = 0; i < MODEL_ENTRIES; i++)
        if (model->entries[i].state != 0 && model->entries[i].journal == MODEL_TUBE)
            return true;
    return model->paused_until_ms[MODEL_TUBE] > model->boot_ms;
}

void model_tidy(Model *model)
{
    if (!model_has_tube(model))
        memset(model->counters[MODEL_TUBE], 0, sizeof model->counters[MODEL_TUBE]);
}

/* ---- Putting ----------------------------------------------------------------------------------------------- */

static ModelEntry *create(Model *model, const ModelEntry *put, char state, uint64_t id)
{
    size_t place = 0, lives = 0;
    for (size_t i = 0; i < MODEL_ENTRIES; i++)
        lives += model->entries[i].state != 0 && model->entries[i].journal == put->journal;
    if (lives >= model->rules[put->journal].max_entries || model->full)
        return NULL;
    while (model->entries[place].state != 0)
        place++;
    model->entries[place] = *put;
    model->entries[place].id = id;
    model->entries[place].state = state;
    count(model, put->journal, JOURNAL_COUNT_CREATED);
    return &model->entries[place];
}

static JournalAnswer merged(Model *model, ModelEntry *entry, const ModelEntry *put)
{
    bool held = entry->state == 'H', stale = put->update_ms < entry->update_ms;
    if (model->full && strlen(put->data) > strlen(entry->data) &&
        (put->update_ms > entry->update_ms ||
         (put->update_ms == entry->update_ms && strcmp(put->data, entry->data) > 0)))
        return (JournalAnswer){.status = STATUS_THROTTLED};
    merge(model, entry, put);
    entry->timeouts = 0;
    count(model, entry->journal,
          stale  ? JOURNAL_COUNT_STALE
          : held ? JOURNAL_COUNT_HELD
                 : JOURNAL_COUNT_MERGED);
    if (held && !stale)
        count(model, entry->journal, JOURNAL_COUNT_HELD_MERGED);
    return (JournalAnswer){.outcome = stale  ? JOURNAL_STALE
                                      : held ? JOURNAL_HELD_MERGED
                                             : JOURNAL_MERGED,
                           .id = entry->id,
                           .process_ms = model_process_ms(model, entry)};
}

static JournalAnswer made(const Model *model, const ModelEntry *entry, JournalOutcome outcome)
{
    if (entry == NULL)
        return (JournalAnswer){.status = STATUS_THROTTLED};
    return (JournalAnswer){
        .outcome = outcome, .id = entry->id, .process_ms = model_process_ms(model, entry)};
}

static ModelEntry entry_of(Model *model, int journal, const JournalPut *put)
{
    const ModelRules *rules = &model->rules[journal];
    bool ahead = put->insertion_ms > model->wall_ms + 60 * 1000;
    ModelEntry entry = {.journal = journal};
    memcpy(entry.key, put->key.data, put->key.size);
    memcpy(entry.data, put->data.data, put->data.size);
    if (ahead)
        count(model, journal, JOURNAL_COUNT_AHEAD);
    entry.insertion_ms = put->insertion_ms == 0 || ahead ? model->wall_ms : put->insertion_ms;
    entry.update_ms = entry.insertion_ms;
    entry.wanted_ms = put->wanted_ms == 0 ? model->wall_ms : put->wanted_ms;
    entry.expiration_ms = put->expiration_ms;
    if (put->expiration_ms == 0 && rules->expire_ms > 0)
        entry.expiration_ms = entry.insertion_ms + rules->expire_ms;
    entry.lease_ms = put->lease_ms == 0 ? rules->lease_ms : put->lease_ms;
    entry.priority = put->has_priority ? put->priority : rules->priority;
    return entry;
}

JournalAnswer model_put(Model *model, int journal, const JournalPut *said, uint64_t id)
{
    const ModelRules *rules = &model->rules[journal];
    ModelEntry put = entry_of(model, journal, said);
    bool keyed = put.key[0] != '\0' && rules->merge;
    ModelEntry *waiting = keyed ? find_key(model, journal, put.key, 'W') : NULL;
    ModelEntry *running = keyed ? find_key(model, journal, put.key, 'P') : NULL;
    if (waiting != NULL && expired(model, waiting)) {
        gone(model, waiting, JOURNAL_COUNT_EXPIRED);
        waiting = NULL;
    }
    if (waiting != NULL)
        return merged(model, waiting, &put);
    if (running == NULL)
        return made(model, create(model, &put, 'W', id), JOURNAL_CREATED);
    if (rules->on_processing != JOURNAL_SUCCESSOR) {
        count(model, journal, JOURNAL_COUNT_REJECTED);
        return (JournalAnswer){.status = rules->on_processing == JOURNAL_REJECT ? STATUS_CONFLICT
                                                                                : STATUS_OK,
                               .outcome = JOURNAL_IGNORED,
                               .id = running->id,
                               .process_ms = model_process_ms(model, running)};
    }
    ModelEntry *held = find_key(model, journal, put.key, 'H');
    if (held != NULL && expired(model, held)) {
        gone(model, held, JOURNAL_COUNT_EXPIRED);
        held = NULL;
    }
    if (held != NULL)
        return merged(model, held, &put);
    held = create(model, &put, 'H', id);
    if (held != NULL)
        count(model, journal, JOURNAL_COUNT_HELD);
    return made(model, held, JOURNAL_MADE_HELD);
}

/* ---- Claiming and ending ----------------------------------------------------------------------------------- */

ModelEntry *model_choose(Model *model, const int *journals, size_t journal_count, uint32_t most)
{
    ModelEntry *best = NULL;
    for (size_t i = 0; i < MODEL_ENTRIES; i++) {
        ModelEntry *entry = &model->entries[i];
        bool named = false;
        for (size_t j = 0; j < journal_count; j++)
            named |= entry->journal == journals[j] && model->paused_until_ms[journals[j]] == 0;
        int64_t date = model_process_ms(model, entry);
        if (entry->state != 'W' || !named || date > model->wall_ms || expired(model, entry) ||
            entry->priority > most)
            continue;
        int64_t best_date = best == NULL ? 0 : model_process_ms(model, best);
        if (best == NULL || entry->priority < best->priority ||
            (entry->priority == best->priority &&
             (date < best_date || (date == best_date && entry->id < best->id))))
            best = entry;
    }
    return best;
}

void model_hand_out(Model *model, ModelEntry *entry, JournalToken token, int64_t lease_ms,
                    int owner)
{
    entry->state = 'P';
    entry->owner = owner;
    entry->token = token;
    entry->run_lease_ms = lease_ms > 0 ? lease_ms : entry->lease_ms;
    entry->deadline_ms = model->boot_ms + entry->run_lease_ms;
    entry->late_done_counts = false;
    count(model, entry->journal, JOURNAL_COUNT_CLAIMS);
}

static Status end_it(Model *model, JournalCall call, const JournalStep *step, ModelEntry *entry,
                     bool late)
{
    const ModelRules *rules = &model->rules[entry->journal];
    switch ((int)call) {
    case JOURNAL_CALL_EXTEND:
        entry->deadline_ms = model->boot_ms + (step->ms > 0 ? step->ms : entry->run_lease_ms);
        return STATUS_OK;
    case JOURNAL_CALL_DONE:
        if (late)
            count(model, entry->journal, JOURNAL_COUNT_LATE_DONE);
        end_run(model, entry, JOURNAL_COUNT_DONE);
        return STATUS_OK;
    case JOURNAL_CALL_RELEASE:
        count(model, entry->journal, JOURNAL_COUNT_RELEASED);
        entry->wanted_ms = entry->retry_ms = step->ms == 0 ? model->wall_ms : step->ms;
        if (step->has_priority)
            entry->priority = step->priority;
        give_back(model, entry, false);
        return STATUS_OK;
    case JOURNAL_CALL_FAIL:
        count(model, entry->journal, JOURNAL_COUNT_FAILS);
        if (fails_too_often(model, entry)) {
            give_up(model, entry, true);
            return STATUS_OK;
        }
        int64_t wait_ms = rules->backoff_ms;
        for (uint32_t i = 1; i < entry->timeouts; i++)
            wait_ms = earlier(wait_ms * 2, rules->backoff_max_ms);
        entry->retry_ms = model->wall_ms + earlier(wait_ms, rules->backoff_max_ms);
        give_back(model, entry, true);
        return STATUS_OK;
    default:
        if (step->has_priority)
            entry->priority = step->priority;
        count(model, entry->journal, JOURNAL_COUNT_BURIED);
        give_up(model, entry, false);
        return STATUS_OK;
    }
}

static Status step_token(Model *model, JournalCall call, const JournalStep *step)
{
    ModelEntry *entry = NULL;
    for (size_t i = 0; i < MODEL_ENTRIES; i++)
        if (model->entries[i].state != 0 &&
            memcmp(&model->entries[i].token, &step->token, sizeof step->token) == 0)
            entry = &model->entries[i];
    bool late = entry != NULL && call == JOURNAL_CALL_DONE && entry->state == 'W' &&
                entry->late_done_counts && !expired(model, entry);
    if (entry == NULL || (entry->state != 'P' && !late))
        return STATUS_CONFLICT;
    return end_it(model, call, step, entry, late);
}

Status model_owner_step(Model *model, JournalCall call, const JournalStep *step, int owner)
{
    ModelEntry *entry = model_find(model, step->id);
    bool is_delete = call == JOURNAL_CALL_DELETE;
    if (entry != NULL && entry->state == 'P' && entry->owner == owner)
        return end_it(model, is_delete ? JOURNAL_CALL_DONE : call, step, entry, false);
    if (entry == NULL || !is_delete || entry->state == 'P' || expired(model, entry))
        return STATUS_NOT_FOUND;
    gone(model, entry, JOURNAL_COUNT_REMOVED);
    return STATUS_OK;
}

void model_owner_ends(Model *model, int owner)
{
    for (size_t i = 0; i < MODEL_ENTRIES; i++) {
        ModelEntry *entry = &model->entries[i];
        if (entry->state != 'P' || entry->owner != owner)
            continue;
        entry->retry_ms = 0;
        entry->late_done_counts = false;
        give_back(model, entry, true);
    }
}

static void requeue(Model *model, ModelEntry *entry)
{
    bool keyed = entry->key[0] != '\0' && model->rules[entry->journal].merge;
    ModelEntry *waiting = keyed ? find_key(model, entry->journal, entry->key, 'W') : NULL;
    ModelEntry *running = keyed ? find_key(model, entry->journal, entry->key, 'P') : NULL;
    ModelEntry *held = running == NULL ? NULL : held_of(model, running);
    count(model, entry->journal, JOURNAL_COUNT_KICKED);
    entry->retry_ms = 0;
    entry->timeouts = 0;
    if (waiting == NULL && held == NULL) {
        entry->state = running == NULL ? 'W' : 'H';
        return;
    }
    merge(model, waiting != NULL ? waiting : held, entry);
    gone(model, entry, JOURNAL_COUNT_MERGED_AWAY);
}

static void make_due(Model *model, ModelEntry *entry)
{
    entry->wanted_ms = model->wall_ms;
    entry->insertion_ms = earlier(entry->insertion_ms, model->wall_ms);
    entry->retry_ms = 0;
    count(model, entry->journal, JOURNAL_COUNT_KICKED);
}

Status model_step(Model *model, JournalCall call, const JournalStep *step)
{
    if (call <= JOURNAL_CALL_BURY)
        return step_token(model, call, step);
    ModelEntry *entry = model_find(model, step->id);
    if (entry == NULL || (entry->state != 'P' && expired(model, entry)))
        return STATUS_NOT_FOUND;
    if (call == JOURNAL_CALL_REMOVE) {
        ModelEntry *held = entry->state == 'P' ? held_of(model, entry) : NULL;
        if (entry->state != 'P')
            gone(model, entry, JOURNAL_COUNT_REMOVED);
        else
            entry->given_up = true;
        if (held != NULL)
            gone(model, held, JOURNAL_COUNT_REMOVED);
        return STATUS_OK;
    }
    if (entry->state == 'F') {
        requeue(model, entry);
        return STATUS_OK;
    }
    if (call == JOURNAL_CALL_REQUEUE || entry->state != 'W' ||
        model_process_ms(model, entry) <= model->wall_ms)
        return STATUS_NOT_FOUND;
    make_due(model, entry);
    return STATUS_OK;
}

uint64_t model_kick_some(Model *model, int journal, uint64_t most)
{
    uint64_t kicked = 0;
    bool failed = false;
    for (; kicked < most; kicked++) {
        ModelEntry *first = NULL;
        int64_t date = 0;
        for (size_t i = 0; i < MODEL_ENTRIES; i++) {
            ModelEntry *entry = &model->entries[i];
            int64_t own = entry->state == 'F' ? entry->retry_ms : model_process_ms(model, entry);
            if (entry->journal != journal ||
                (entry->state != 'F' &&
                 (failed || entry->state != 'W' || own <= model->wall_ms || expired(model, entry))))
                continue;
            bool better = first == NULL || (entry->state == 'F' && first->state != 'F') ||
                          (entry->state == first->state &&
                           (own < date || (own == date && entry->id < first->id)));
            if (!better)
                continue;
            first = entry;
            date = own;
        }
        if (first == NULL)
            break;
        failed |= first->state == 'F';
        if (first->state == 'F')
            requeue(model, first);
        else
            make_due(model, first);
    }
    return kicked;
}
