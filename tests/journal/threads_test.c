/* threads_test.c -- many threads at once on a log in memory, with the machine's own clock and timers; under ThreadSanitizer, too. */
#include <pthread.h>
#include <unistd.h>

#include "journal/engine.h"
#include "memory_log.h"
#include "test.h"

enum { PRODUCERS = 4, WORKERS = 4, EACH = 500 };

typedef struct Crowd {
    Journals *journals;
    _Atomic unsigned done, put;
    _Atomic unsigned runs[PRODUCERS * EACH];
} Crowd;

static Journals *open_journals(MemoryLog *kept, const char *declaration)
{
    Reason reason = {0};
    Journals *journals;
    JournalsOptions options = {.declaration = slice_from(declaration),
                               .world = world_real(),
                               .cache_bytes = 1 << 20,
                               .reopen_s = 1,
                               .log = memory_log_open(kept)};
    if (journals_open(&options, &journals, &reason) != STATUS_OK)
        test_fail(__FILE__, __LINE__, "%s", reason.rule);
    return journals;
}

static void *produce(void *context)
{
    Crowd *crowd = context;
    for (unsigned i = 0; i < EACH; i++) {
        unsigned number = atomic_fetch_add(&crowd->put, 1);
        JournalPut put = {.journal = SLICE("j"),
                          .data = slice_of(&number, sizeof number),
                          .wanted_ms =
                              i % 7 == 0 ? clock_now_us(world_real().clock) / 1000 + 20 : 0};
        JournalAnswer answer;
        Reason reason;
        CHECK(journal_put(crowd->journals, &put, &answer, &reason) == STATUS_OK);
    }
    return NULL;
}

static void *work(void *context)
{
    Crowd *crowd = context;
    const Slice name = SLICE("j");
    JournalClaim claim = {.journals = &name,
                          .journal_count = 1,
                          .count = 3,
                          .max_priority = UINT32_MAX,
                          .wait_ms = 300};
    for (;;) {
        ARENA_SCOPE Arena *arena = arena_new();
        JournalClaims claims;
        Reason reason;
        CHECK(journal_claim(crowd->journals, &claim, arena, &claims, &reason) == STATUS_OK);
        if (claims.count == 0)
            return NULL;
        JournalStep steps[3] = {0};
        for (size_t i = 0; i < claims.count; i++) {
            unsigned number;
            memcpy(&number, claims.entries[i].data.data, sizeof number);
            atomic_fetch_add(&crowd->runs[number], 1);
            steps[i].token = claims.entries[i].token;
        }
        CHECK(journal_done(crowd->journals, steps, claims.count, &reason) == STATUS_OK);
        atomic_fetch_add(&crowd->done, (unsigned)claims.count);
    }
}

TEST(every_entry_of_a_crowd_runs_once)
{
    static Crowd crowd;
    pthread_t threads[PRODUCERS + WORKERS];
    MemoryLog *kept = memory_log_new();
    crowd.journals = open_journals(kept, "[journal j]\n");
    for (size_t i = 0; i < PRODUCERS + WORKERS; i++)
        CHECK(pthread_create(&threads[i], NULL, i < PRODUCERS ? produce : work, &crowd) == 0);
    for (size_t i = 0; i < PRODUCERS + WORKERS; i++)
        pthread_join(threads[i], NULL);
    EXPECT_I64(atomic_load(&crowd.done), PRODUCERS * EACH);
    for (size_t i = 0; i < PRODUCERS * EACH; i++)
        EXPECT_I64(atomic_load(&crowd.runs[i]), 1);
    EXPECT(journals_check(crowd.journals) == NULL);
    journals_close(crowd.journals);
    memory_log_free(kept);
}

static void *put_until_told(void *context)
{
    Crowd *crowd = context;
    for (unsigned i = 0; atomic_load(&crowd->done) == 0; i++) {
        JournalPut put = {.journal = SLICE("j"), .key = slice_of(&i, 1)};
        JournalAnswer answer;
        Reason reason;
        Status status = journal_put(crowd->journals, &put, &answer, &reason);
        CHECK(status == STATUS_OK || status == STATUS_UNKNOWN || status == STATUS_UNAVAILABLE);
    }
    return NULL;
}

TEST(failing_reopening_and_reloading_under_load_keep_the_indexes_sound)
{
    static Crowd crowd;
    pthread_t threads[PRODUCERS];
    MemoryLog *kept = memory_log_new();
    Reason reason;
    crowd.journals = open_journals(kept, "[journal j]\n");
    for (size_t i = 0; i < PRODUCERS; i++)
        CHECK(pthread_create(&threads[i], NULL, put_until_told, &crowd) == 0);
    for (unsigned i = 0; i < 20; i++) {
        memory_log_fail(kept, 1 + i % 3, i % 2 == 0 ? MEMORY_FAILS : MEMORY_FAILS_DONE);
        usleep(5000);
        EXPECT_STATUS(journals_reopen(crowd.journals, &reason), STATUS_OK);
        EXPECT_STATUS(journals_reload(crowd.journals,
                                      i % 2 == 0 ? SLICE("[journal j]\ntimeouts = 5\n")
                                                 : SLICE("[journal j]\n"),
                                      "f", &reason),
                      STATUS_OK);
    }
    atomic_store(&crowd.done, 1);
    for (size_t i = 0; i < PRODUCERS; i++)
        pthread_join(threads[i], NULL);
    EXPECT_STATUS(journals_reopen(crowd.journals, &reason), STATUS_OK);
    const char *wrong = journals_check(crowd.journals);
    if (wrong != NULL)
        test_fail(__FILE__, __LINE__, "%s", wrong);
    journals_close(crowd.journals);
    memory_log_free(kept);
}
