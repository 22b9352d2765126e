/* model_test.c -- the engine beside the model: random calls, clock steps, restarts, a full disk; every answer must be equal.
 *
 * Some claims are an owner's, which ends what it has claimed by id and now and then goes away; one journal is a tube, which appears on use and vanishes.
 * OSTRAKA_LONG=1: a million steps. OSTRAKA_SEED begins elsewhere; a failure names the seed and the step. */
#include <semaphore.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "journal/engine.h"
#include "memory_log.h"
#include "model.h"
#include "test.h"
#include "world.h"

#define DECLARED                                                                                  \
    "[journal a]\nmax_defer_s = 5\ntimeouts = 2\nbackoff_s = 1\nbackoff_max_s = 3\nlease_s = 2\n" \
    "dead_max = 4\nsync = all\n"                                                                  \
    "[journal b]\nprocess = earliest\non_processing = reject\ndead = drop\ntimeouts = 0\n"        \
    "lease_s = 3\nsync = puts\n"                                                                  \
    "[journal c]\nmerge = no\nmax_entries = 20\npriority = 7\nexpire_s = 30\ntimeouts = none\n"   \
    "dead_days = 1\n"                                                                             \
    "[journal d]\nprocess = keep\non_processing = ignore\nlease_s = 1\n"                          \
    "[tubes]\nlease_s = 2\npriority = 3\ndead_max = 5\nbackoff_s = 2\n"

enum { TOKENS = 64, IDS = 128, OWNERS = 3, CHECK_EVERY = 64 };

typedef struct Side {
    Journals *journals;
    MemoryLog *kept;
    TestWorld own;
    World world;
    Model model;
    uint64_t luck;
    uint64_t last_id;
    JournalToken tokens[TOKENS];
    uint64_t ids[IDS];
    unsigned alerts;
    JournalOwner *owners[OWNERS + 1]; /* from 1 on; the first is nobody */
    Arena *arena;
} Side;

static const ModelRules RULES[MODEL_JOURNALS] = {
    {.name = "a",
     .merge = true,
     .max_defer_ms = 5000,
     .timeouts = 2,
     .backoff_ms = 1000,
     .backoff_max_ms = 3000,
     .lease_ms = 2000,
     .dead_max = 4,
     .priority = 100,
     .dead_ms = 30 * INT64_C(86400000),
     .max_entries = 1000000},
    {.name = "b",
     .merge = true,
     .process = JOURNAL_EARLIEST,
     .on_processing = JOURNAL_REJECT,
     .drop_dead = true,
     .lease_ms = 3000,
     .backoff_max_ms = 3600000,
     .dead_max = 10000,
     .priority = 100,
     .dead_ms = 30 * INT64_C(86400000),
     .max_entries = 1000000},
    {.name = "c",
     .priority = 7,
     .expire_ms = 30000,
     .timeouts = JOURNAL_TIMEOUTS_NONE,
     .lease_ms = 300000,
     .backoff_max_ms = 3600000,
     .dead_max = 10000,
     .max_entries = 20,
     .dead_ms = INT64_C(86400000)},
    {.name = "d",
     .merge = true,
     .process = JOURNAL_KEEP,
     .on_processing = JOURNAL_IGNORE,
     .timeouts = 3,
     .lease_ms = 1000,
     .backoff_max_ms = 3600000,
     .dead_max = 10000,
     .priority = 100,
     .dead_ms = 30 * INT64_C(86400000),
     .max_entries = 1000000},
    {.name = "t",
     .merge = true,
     .process = JOURNAL_EARLIEST,
     .timeouts = JOURNAL_TIMEOUTS_NONE,
     .lease_ms = 2000,
     .backoff_ms = 2000,
     .backoff_max_ms = 3600000,
     .dead_max = 5,
     .priority = 3,
     .dead_ms = 30 * INT64_C(86400000),
     .max_entries = 1000000},
};

static uint64_t draw(Side *side, uint64_t below)
{
    side->luck += UINT64_C(0x9E3779B97F4A7C15);
    return table_mix(side->luck) % below;
}

static void count_alert(void *context, const JournalAlert *alert)
{
    (void)alert;
    __atomic_fetch_add((unsigned *)context, 1, __ATOMIC_RELAXED);
}

static void open_side(Side *side)
{
    Reason reason = {0};
    JournalsOptions options = {.declaration = SLICE(DECLARED),
                               .world = side->world,
                               .cache_bytes = 2048, /* small: bodies are read from the log */
                               .reopen_s = 1,
                               .still = true,
                               .alert = count_alert,
                               .context = &side->alerts,
                               .log = memory_log_open(side->kept)};
    Status status = journals_open(&options, &side->journals, &reason);
    if (status != STATUS_OK)
        test_fail(__FILE__, __LINE__, "does not open: %s", reason.rule);
    for (int i = 1; i <= OWNERS; i++)
        side->owners[i] = journal_owner_new(side->journals);
}

static int64_t wall_ms(const Side *side)
{
    return atomic_load(&side->own.now_us) / US_PER_MS;
}

static int64_t boot_ms(const Side *side)
{
    return atomic_load(&side->own.steady_us) / US_PER_MS;
}

/* As when the process ends: nobody says that the owners do. */
static void close_side(Side *side)
{
    journals_close(side->journals);
    for (int i = 1; i <= OWNERS; i++) {
        heap_free(&side->owners[i]->runs[0]);
        free(side->owners[i]);
    }
}

static void wake(JournalRequest *request)
{
    sem_post(request->context);
}

/* ---- Steps ------------------------------------------------------------------------------------------------- */

static void step_time(Side *side)
{
    bool steps = draw(side, 40) == 0;
    static const int64_t SIZES[] = {-7200000, -20000,  20000,
                                    3000000,  7200000, 40 * INT64_C(86400000)};
    if (steps)
        test_world_step(&side->own, SIZES[draw(side, 6)] * US_PER_MS);
    else
        test_world_pass(&side->own,
                        (int64_t)draw(side, draw(side, 10) == 0 ? 60000 : 700) * US_PER_MS);
    for (size_t i = 0; i <= MODEL_ENTRIES;
         i += BOOK_TURN_MAX) /* a turn deletes that many at most */
        journals_tick(side->journals);
    while (side->own.now_us < 1000 * 1000000)
        test_world_set(&side->own, TEST_WORLD_START_US);
    model_time(&side->model, wall_ms(side), boot_ms(side), steps);
}

static void step_put(Side *side)
{
    char key[MODEL_TEXT] = "", data[MODEL_TEXT];
    int journal = (int)draw(side, MODEL_JOURNALS);
    if (journal == MODEL_TUBE && draw(side, 8) > 0)
        journal = (int)draw(side, MODEL_TUBE); /* so that it is empty now and then */
    if (draw(side, 8) > 0)
        snprintf(key, sizeof key, "key %u", (unsigned)draw(side, 12));
    snprintf(data, sizeof data, "%.*s%u", (int)draw(side, 10), "some data",
             (unsigned)draw(side, 50));
    JournalPut put = {.journal = slice_from(RULES[journal].name),
                      .key = slice_from(key),
                      .data = slice_from(data),
                      .on_use = journal == MODEL_TUBE};
    if (draw(side, 2) == 0)
        put.insertion_ms =
            wall_ms(side) - 5000 + (int64_t)draw(side, draw(side, 5) == 0 ? 90000 : 6000);
    if (draw(side, 2) == 0)
        put.wanted_ms = wall_ms(side) - 500 + (int64_t)draw(side, 8000);
    if (draw(side, 4) == 0)
        put.expiration_ms = wall_ms(side) + (int64_t)draw(side, 12000);
    if (draw(side, 3) == 0)
        put.lease_ms = 1 + (int64_t)draw(side, 5000);
    if ((put.has_priority = draw(side, 2) == 0))
        put.priority = (uint32_t)draw(side, 5);
    JournalAnswer answer = {0}, wanted;
    Reason reason;
    Status status = journal_put(side->journals, &put, &answer, &reason);
    EXPECT_I64(status, answer.status);
    wanted = model_put(&side->model, journal, &put, answer.id);
    EXPECT_STATUS(answer.status, wanted.status);
    if (answer.status == STATUS_THROTTLED)
        return;
    EXPECT_I64(answer.outcome, wanted.outcome);
    EXPECT_I64(answer.process_ms, wanted.process_ms);
    EXPECT_I64(answer.id, wanted.id);
    if (answer.outcome != JOURNAL_CREATED && answer.outcome != JOURNAL_MADE_HELD)
        return;
    EXPECT(answer.id > side->last_id); /* I7 */
    side->last_id = answer.id;
    side->ids[draw(side, IDS)] = answer.id;
}

static void expect_claimed(Side *side, const JournalClaimed *claimed, ModelEntry *entry,
                           int64_t lease_ms, int owner)
{
    EXPECT(entry != NULL);
    EXPECT_I64(claimed->id, entry->id); /* I5, I6 */
    EXPECT_SLICE(claimed->journal, slice_from(RULES[entry->journal].name));
    EXPECT_SLICE(claimed->key, slice_from(entry->key));
    EXPECT_SLICE(claimed->data, slice_from(entry->data));
    EXPECT_I64(claimed->timeouts, entry->timeouts);
    EXPECT_I64(claimed->process_ms, model_process_ms(&side->model, entry));
    for (size_t i = 0; i < TOKENS; i++)
        EXPECT(memcmp(&side->tokens[i], &claimed->token, sizeof claimed->token) != 0);
    model_hand_out(&side->model, entry, claimed->token, lease_ms, owner);
    EXPECT_I64(claimed->lease_ms, entry->run_lease_ms);
    side->tokens[draw(side, TOKENS)] = claimed->token;
}

static void step_claim(Side *side)
{
    static const uint32_t MOST[] = {0, 2, 50, UINT32_MAX};
    Slice names[MODEL_JOURNALS];
    int journals[MODEL_JOURNALS];
    size_t count = 0;
    for (int i = 0; i < MODEL_JOURNALS; i++)
        if (draw(side, 2) == 0 || (i == MODEL_TUBE && count == 0)) {
            journals[count] = i;
            names[count++] = slice_from(RULES[i].name);
        }
    int owner = draw(side, 2) == 0 ? 0 : 1 + (int)draw(side, OWNERS);
    JournalClaim claim = {.journals = names,
                          .owner = side->owners[owner],
                          .on_use = true,
                          .journal_count = count,
                          .count = (uint32_t)draw(side, 4),
                          .max_priority = MOST[draw(side, 4)],
                          .lease_ms = draw(side, 2) == 0 ? 0 : 1 + (int64_t)draw(side, 3000)};
    JournalClaims claims;
    Reason reason;
    arena_reset(side->arena);
    EXPECT_STATUS(journal_claim(side->journals, &claim, side->arena, &claims, &reason), STATUS_OK);
    for (size_t i = 0; i < claims.count; i++)
        expect_claimed(side, &claims.entries[i],
                       model_choose(&side->model, journals, count, claim.max_priority),
                       claim.lease_ms, owner);
    if (claims.count < (claim.count == 0 ? 1 : claim.count))
        EXPECT(model_choose(&side->model, journals, count, claim.max_priority) == NULL);
}

static void step_claim_id(Side *side)
{
    uint64_t id = side->ids[draw(side, IDS)];
    int owner = (int)draw(side, OWNERS + 1);
    JournalClaimed claimed;
    Reason reason;
    ModelEntry *entry = model_find(&side->model, id), *other;
    arena_reset(side->arena);
    Status status =
        journal_claim_id(side->journals, id, side->owners[owner], side->arena, &claimed, &reason);
    bool may = entry != NULL && (entry->state == 'W' || entry->state == 'F') &&
               (entry->expiration_ms == 0 || entry->expiration_ms > wall_ms(side));
    for (size_t i = 0; may && entry->state == 'F' && i < MODEL_ENTRIES; i++) {
        other = &side->model.entries[i];
        if ((other->state == 'W' || other->state == 'P') && other->journal == entry->journal &&
            RULES[entry->journal].merge && entry->key[0] != '\0' &&
            strcmp(other->key, entry->key) == 0)
            may = false;
    }
    EXPECT_STATUS(status, may ? STATUS_OK : STATUS_NOT_FOUND);
    if (!may)
        return;
    entry->retry_ms = 0;
    entry->state = 'W';
    expect_claimed(side, &claimed, entry, 0, owner);
}

static void step_step(Side *side)
{
    static const JournalCall CALLS[] = {
        JOURNAL_CALL_EXTEND,  JOURNAL_CALL_DONE, JOURNAL_CALL_DONE,
        JOURNAL_CALL_RELEASE, JOURNAL_CALL_FAIL, JOURNAL_CALL_BURY,
        JOURNAL_CALL_REQUEUE, JOURNAL_CALL_KICK, JOURNAL_CALL_REMOVE};
    static Status (*const FUNCTIONS[])(Journals *, JournalStep *, size_t, Reason *) = {
        journal_extend, journal_done,    journal_done, journal_release, journal_fail,
        journal_bury,   journal_requeue, journal_kick, journal_remove};
    size_t which = draw(side, 9);
    JournalStep step = {.token = side->tokens[draw(side, TOKENS)],
                        .id = side->ids[draw(side, IDS)],
                        .error = SLICE("it broke")};
    if (CALLS[which] == JOURNAL_CALL_EXTEND && draw(side, 2) == 0)
        step.ms = 1 + (int64_t)draw(side, 4000);
    if (CALLS[which] == JOURNAL_CALL_RELEASE && draw(side, 2) == 0)
        step.ms = wall_ms(side) + (int64_t)draw(side, 4000);
    if ((step.has_priority = draw(side, 3) == 0))
        step.priority = (uint32_t)draw(side, 5);
    Reason reason;
    JournalStep given = step;
    Status status = FUNCTIONS[which](side->journals, &given, 1, &reason);
    EXPECT_I64(status, given.status);
    EXPECT_STATUS(status, model_step(&side->model, CALLS[which], &step));
}

/* An owner that ends something, or itself. */
static void step_owner(Side *side)
{
    static const JournalCall CALLS[] = {JOURNAL_CALL_EXTEND,  JOURNAL_CALL_DONE,
                                        JOURNAL_CALL_RELEASE, JOURNAL_CALL_FAIL,
                                        JOURNAL_CALL_BURY,    JOURNAL_CALL_DELETE};
    int owner = 1 + (int)draw(side, OWNERS);
    if (draw(side, 12) == 0) {
        journal_owner_end(side->owners[owner]);
        side->owners[owner] = journal_owner_new(side->journals);
        model_owner_ends(&side->model, owner);
        return;
    }
    sem_t answered;
    JournalStep step = {.id = side->ids[draw(side, IDS)], .error = SLICE("it broke")};
    if ((step.has_priority = draw(side, 3) == 0))
        step.priority = (uint32_t)draw(side, 5);
    JournalStep given = step;
    arena_reset(side->arena);
    JournalRequest request = {.call = CALLS[draw(side, 6)],
                              .steps = &given,
                              .count = 1,
                              .claim.owner = side->owners[owner],
                              .arena = side->arena,
                              .finish = wake,
                              .context = &answered};
    sem_init(&answered, 0, 0);
    journal_submit(side->journals, &request);
    while (sem_wait(&answered) != 0)
        ;
    sem_destroy(&answered);
    EXPECT_STATUS(request.status, given.status);
    EXPECT_STATUS(given.status, model_owner_step(&side->model, request.call, &step, owner));
}

static void step_journal(Side *side)
{
    int journal = (int)draw(side, MODEL_JOURNALS);
    Slice name = slice_from(RULES[journal].name);
    Reason reason;
    bool there = journal != MODEL_TUBE || model_has_tube(&side->model);
    Status wanted = there ? STATUS_OK : STATUS_NOT_FOUND;
    if (draw(side, 2) == 0) {
        uint64_t most = draw(side, 4), kicked = 0;
        EXPECT_STATUS(journal_kick_some(side->journals, name, most, &kicked, &reason), wanted);
        EXPECT_I64(kicked, model_kick_some(&side->model, journal, most));
        return;
    }
    int64_t ms = (int64_t)draw(side, 3000);
    bool resumes = draw(side, 3) == 0;
    EXPECT_STATUS(resumes ? journal_resume(side->journals, name, &reason)
                          : journal_pause(side->journals, name, ms, &reason),
                  wanted);
    if (there)
        side->model.paused_until_ms[journal] = resumes || ms == 0 ? 0 : boot_ms(side) + ms;
}

static void step_get(Side *side)
{
    uint64_t id = side->ids[draw(side, IDS)];
    JournalView view;
    Reason reason;
    ModelEntry *entry = model_find(&side->model, id);
    arena_reset(side->arena);
    Status status = journal_get(side->journals, id, side->arena, &view, &reason);
    bool there = entry != NULL && (entry->state == 'P' || entry->expiration_ms == 0 ||
                                   entry->expiration_ms > wall_ms(side));
    EXPECT_STATUS(status, there ? STATUS_OK : STATUS_NOT_FOUND);
    if (!there)
        return;
    EXPECT_I64(view.state, entry->state);
    EXPECT_SLICE(view.key, slice_from(entry->key));
    EXPECT_SLICE(view.data, slice_from(entry->data));
    EXPECT_I64(view.priority, entry->priority);
    EXPECT_I64(view.process_ms, model_process_ms(&side->model, entry));
    EXPECT_I64(view.expiration_ms, entry->expiration_ms);
    EXPECT_I64(view.timeouts, entry->timeouts);
    EXPECT_I64(view.timeouts_ever, entry->timeouts_ever);
}

static void restart(Side *side)
{
    close_side(side);
    test_world_pass(&side->own, (int64_t)draw(side, 3000) * US_PER_MS);
    open_side(side);
    side->model.wall_ms = wall_ms(side);
    side->model.boot_ms = boot_ms(side);
    model_restart(&side->model);
    for (int i = 0; i < MODEL_JOURNALS;
         i++) { /* what is left of a pause is judged by the wall clock */
        JournalStats stats;
        Reason reason;
        stats = (JournalStats){0};
        Status status = journal_stats(side->journals, slice_from(RULES[i].name), &stats, &reason);
        EXPECT(status == STATUS_OK || (status == STATUS_NOT_FOUND && i == MODEL_TUBE));
        side->model.paused_until_ms[i] =
            stats.pause_left_ms > 0 ? boot_ms(side) + stats.pause_left_ms : 0;
    }
    for (size_t i = 0; i <= MODEL_ENTRIES; i += BOOK_TURN_MAX)
        journals_tick(side->journals);
    model_time(&side->model, wall_ms(side), boot_ms(side), false);
}

static void compare(Side *side)
{
    model_time(&side->model, wall_ms(side), boot_ms(side), false);
    const char *wrong = journals_check(side->journals); /* I1, I2, I9, I11 */
    if (wrong != NULL)
        test_fail(__FILE__, __LINE__, "%s", wrong);
    for (int i = 0; i < MODEL_JOURNALS; i++) {
        JournalStats stats;
        Reason reason;
        uint64_t states[4] = {0}, due = 0;
        bool there = i != MODEL_TUBE || model_has_tube(&side->model);
        EXPECT_STATUS(journal_stats(side->journals, slice_from(RULES[i].name), &stats, &reason),
                      there ? STATUS_OK : STATUS_NOT_FOUND);
        if (!there)
            continue;
        for (size_t j = 0; j < MODEL_ENTRIES; j++) {
            const ModelEntry *entry = &side->model.entries[j];
            if (entry->state == 0 || entry->journal != i)
                continue;
            states[entry->state == 'W'   ? 0
                   : entry->state == 'P' ? 1
                   : entry->state == 'H' ? 2
                                         : 3]++;
            due += entry->state == 'W' && model_process_ms(&side->model, entry) <= wall_ms(side);
        }
        EXPECT_I64(stats.waiting, states[0]);
        EXPECT_I64(stats.processing, states[1]);
        EXPECT_I64(stats.held, states[2]);
        EXPECT_I64(stats.failed, states[3]);
        EXPECT(stats.due <= due); /* those that are hidden are not counted */
        for (size_t j = 0; j < JOURNAL_COUNTERS; j++)
            if (stats.counters[j] != side->model.counters[i][j])
                test_fail(__FILE__, __LINE__, "%s of %s is %llu, the model has %llu",
                          JOURNAL_COUNTER_NAMES[j], RULES[i].name,
                          (unsigned long long)stats.counters[j],
                          (unsigned long long)side->model.counters[i][j]);
    }
    EXPECT_I64(__atomic_load_n(&side->alerts, __ATOMIC_RELAXED), side->model.alerts);
}

static void one_step(Side *side)
{
    model_time(&side->model, wall_ms(side), boot_ms(side), false); /* the engine looks each time */
    model_tidy(&side->model);
    uint64_t what = draw(side, 100);
    if (what < 37)
        step_put(side);
    else if (what < 54)
        step_claim(side);
    else if (what < 67)
        step_step(side);
    else if (what < 74)
        step_owner(side);
    else if (what < 90)
        step_time(side);
    else if (what < 93)
        step_journal(side);
    else if (what < 95)
        step_claim_id(side);
    else if (what < 99)
        step_get(side);
    else if (draw(side, 4) == 0)
        restart(side);
    else if (draw(side, 4) == 0)
        memory_log_fill(side->kept, side->model.full = !side->model.full);
}

TEST(every_answer_is_that_of_the_model)
{
    const char *seed = getenv("OSTRAKA_SEED");
    bool lasts = getenv("OSTRAKA_LONG") != NULL;
    uint64_t steps = lasts ? 1000000 : 30000;
    static Side side;
    side = (Side){.kept = memory_log_new(), .arena = arena_new()};
    side.luck = seed == NULL ? 1 : strtoull(seed, NULL, 10);
    side.world = test_world(&side.own, side.luck);
    memcpy(side.model.rules, RULES, sizeof RULES);
    side.model.wall_ms = wall_ms(&side);
    side.model.boot_ms = boot_ms(&side);
    printf("# seed %s\n", seed == NULL ? "1" : seed);
    open_side(&side);
    for (uint64_t i = 0; i < steps; i++) {
        if (getenv("OSTRAKA_STEPS") != NULL)
            fprintf(stderr, "# step %llu\n", (unsigned long long)i);
        one_step(&side);
        model_tidy(&side.model);
        if (i % CHECK_EVERY == 0)
            compare(&side);
    }
    compare(&side);
    close_side(&side);
    memory_log_free(side.kept);
    arena_free(side.arena);
}
