/* journal_test.c -- the thread of the tasks on a journal in memory. The clock moves only when the test says so. */
#include <sched.h>
#include <semaphore.h>

#include "instance.h"
#include "memory_log.h"

static struct {
    MemoryLog *kept;
    Journals *journals;
    Tasks *tasks;
    _Atomic int runs;
    _Atomic bool holds; /* a run waits until the test lets it go on */
    sem_t go_on;
} with;

static Status run(void *self, Reason *reason)
{
    (void)self, (void)reason;
    atomic_fetch_add(&with.runs, 1);
    if (atomic_load(&with.holds))
        CHECK(sem_wait(&with.go_on) == 0);
    return STATUS_OK;
}

static void open_journals(void)
{
    JournalsOptions options = {.declaration = SLICE("[journal tasks]\nprocess = earliest\n"
                                                    "timeouts = none\nsync = puts\n"),
                               .world = fixture.world,
                               .cache_bytes = 4096,
                               .reopen_s = 5,
                               .still = true,
                               .log = memory_log_open(with.kept)};
    EXPECT_STATUS(journals_open(&options, &with.journals, NULL), STATUS_OK);
}

static void make_tasks(void)
{
    Tasks *other = instance();
    TasksOptions options = other->options;
    tasks_free(other);
    options.shared = false;
    options.journals = with.journals;
    options.journal = "tasks";
    options.report_teller = (WaitingTeller){run, NULL};
    with.tasks = tasks_new(&options);
}

static void begin(void)
{
    ledger_fixture_begin();
    CHECK(sem_init(&with.go_on, 0, 0) == 0);
    atomic_store(&with.runs, 0);
    atomic_store(&with.holds, false);
    with.kept = memory_log_new();
    open_journals();
    make_tasks();
}

static void end(void)
{
    tasks_stop(with.tasks);
    tasks_free(with.tasks);
    journals_close(with.journals);
    memory_log_free(with.kept);
    sem_destroy(&with.go_on);
    ledger_fixture_end();
}

static JournalStats stats(void)
{
    JournalStats found = {0};
    EXPECT_STATUS(journal_stats(with.journals, SLICE("tasks"), &found, NULL), STATUS_OK);
    return found;
}

/* Until nothing is due, and nothing runs. */
static void await_rest(void)
{
    for (JournalStats now = stats();
         now.due + now.processing + now.held > 0 || now.waiting < with.tasks->part_count;
         now = stats())
        sched_yield();
}

static void await_runs(int runs)
{
    while (atomic_load(&with.runs) < runs)
        sched_yield();
}

static void ask(void)
{
    EXPECT_STATUS(tasks_ask(with.tasks, SLICE(TASK_REPORT_LETTERS), NULL), STATUS_OK);
}

static void pass_s(int64_t seconds)
{
    test_world_pass(&fixture.own, seconds * US_PER_S);
    journals_tick(with.journals);
}

TEST(ten_thousand_reasons_during_a_run_are_one_more_run)
{
    begin();
    tasks_start(with.tasks);
    await_rest();
    int before = atomic_load(&with.runs);
    atomic_store(&with.holds, true);
    ask();
    await_runs(before + 1);
    for (int i = 0; i < 10000; i++)
        ask(); /* which waits for nothing: the run is held by us */
    atomic_store(&with.holds, false);
    CHECK(sem_post(&with.go_on) == 0);
    await_rest();
    EXPECT_I64(atomic_load(&with.runs), before + 2);
    end();
}

TEST(every_part_waits_in_the_journal_by_its_date_and_is_taken_when_it_comes)
{
    begin();
    tasks_start(with.tasks);
    await_rest();
    int before = atomic_load(&with.runs);
    JournalStats rest = stats();
    EXPECT_I64((int64_t)rest.waiting, (int64_t)with.tasks->part_count);
    EXPECT(rest.next_ms > clock_now_us(fixture.world.clock) / US_PER_MS);
    pass_s(60);
    await_runs(before + 1);
    await_rest();
    EXPECT_I64(atomic_load(&with.runs), before + 1);
    end();
}

TEST(the_order_of_the_journal_is_that_of_the_choice_from_memory)
{
    enum { TAKEN = 60 };
    uint64_t turns[2][TASKS_PARTS_MAX] = {{0}};
    for (int by_journal = 0; by_journal < 2; by_journal++) {
        begin();
        (void)tasks_beat_when_due(with.tasks);
        if (by_journal)
            tasks_tell_journal(with.tasks, true);
        JournalWork work;
        for (int i = 0; i < TAKEN; i++)
            if (!by_journal) {
                EXPECT_I64(tasks_turn(with.tasks), 0);
            } else {
                EXPECT_STATUS(journal_worker_claim(with.tasks->worker, 0, &work), STATUS_OK);
                tasks_take_claimed(with.tasks, &work);
            }
        for (size_t i = 0; i < with.tasks->part_count; i++)
            turns[by_journal][i] = with.tasks->parts[i].turn;
        end();
    }
    for (size_t i = 0; i < TASKS_PARTS_MAX; i++)
        EXPECT(turns[0][i] == turns[1][i]);
}

TEST(what_was_asked_for_is_done_after_a_restart)
{
    begin();
    (void)tasks_beat_when_due(with.tasks);
    tasks_tell_journal(with.tasks, true);
    JournalWork work;
    while (journal_worker_claim(with.tasks->worker, 0, &work) == STATUS_OK)
        tasks_take_claimed(with.tasks, &work);
    int before = atomic_load(&with.runs);
    ask();
    tasks_free(with.tasks);
    journals_close(with.journals); /* which syncs */
    open_journals();
    make_tasks();
    while (journal_worker_claim(with.tasks->worker, 0, &work) == STATUS_OK)
        tasks_take_claimed(with.tasks, &work);
    EXPECT_I64(atomic_load(&with.runs), before + 1);
    end();
}

TEST(a_journal_that_fails_stops_nothing_and_is_used_again)
{
    begin();
    tasks_start(with.tasks);
    await_rest();
    int before = atomic_load(&with.runs);
    memory_log_fail(with.kept, 1, MEMORY_FAILS);
    memory_log_break(with.kept, true);
    ask();
    await_runs(before + 1);
    for (int i = 2; i < 10; i++) {
        ask();
        await_runs(before + i);
        pass_s(60); /* and without being asked */
        ask();
    }
    memory_log_break(with.kept, false);
    EXPECT_STATUS(journals_reopen(with.journals, NULL), STATUS_OK);
    pass_s(INSTANCE_BEAT_S);
    uint64_t claims = stats().counters[JOURNAL_COUNT_CLAIMS];
    ask(); /* wakes the thread, whose heartbeat is due */
    while (stats().counters[JOURNAL_COUNT_CLAIMS] == claims)
        sched_yield();
    await_rest();
    end();
}

TEST(an_entry_that_got_lost_costs_a_heartbeat)
{
    begin();
    tasks_start(with.tasks);
    await_rest();
    int before = atomic_load(&with.runs);
    JournalList list;
    EXPECT_STATUS(journal_list(with.journals, SLICE("tasks"), 0, 0, JOURNAL_LIST_MAX, fixture.arena,
                               &list, NULL),
                  STATUS_OK);
    EXPECT_I64((int64_t)list.count, (int64_t)with.tasks->part_count);
    for (size_t i = 0; i < list.count; i++) {
        JournalStep step = {.id = list.entries[i].id};
        EXPECT_STATUS(journal_remove(with.journals, &step, 1, NULL), STATUS_OK);
    }
    pass_s(61);
    await_runs(before + 1);
    end();
}
