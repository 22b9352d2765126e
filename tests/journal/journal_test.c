/* journal_test.c -- what journal.h promises, one rule a test, on a log in memory. The invariants are named. */
#include <semaphore.h>

#include "journal_fixture.h"

#define PLAIN "[journal j]\nlease_s = 10\ntimeouts = 1\n[journal k]\nsync = all\n[tubes]\n"

/* ---- Durability -------------------------------------------------------------------------------------------- */

TEST(I3_an_acknowledged_put_survives_a_power_cut)
{
    Fixture fixture;
    fixture_open(&fixture, PLAIN);
    uint64_t id = fixture_put(&fixture, "j", "a", "1").id;
    EXPECT_I64(fixture_put(&fixture, "j", "a", "2").outcome, JOURNAL_MERGED);
    fixture_restart(&fixture, true);
    JournalClaimed claimed = fixture_claim(&fixture, "j");
    EXPECT_I64(claimed.id, id);
    EXPECT_SLICE(claimed.data, SLICE("2"));
    fixture_close(&fixture);
}

TEST(I3_an_unchanged_merge_waits_for_what_it_rests_on)
{
    Fixture fixture;
    fixture_open(&fixture, PLAIN);
    JournalPut put = {
        .journal = SLICE("j"), .key = SLICE("a"), .insertion_ms = 5, .wanted_ms = 5, .lazy = true};
    JournalAnswer answer;
    EXPECT_STATUS(journal_put(fixture.journals, &put, &answer, &fixture.reason), STATUS_OK);
    unsigned syncs = memory_log_syncs(fixture.kept);
    put.lazy = false;
    EXPECT_STATUS(journal_put(fixture.journals, &put, &answer, &fixture.reason), STATUS_OK);
    EXPECT_I64(answer.outcome, JOURNAL_MERGED);
    EXPECT(memory_log_syncs(fixture.kept) > syncs);
    fixture_close(&fixture);
}

TEST(what_is_lazy_is_synced_within_200_ms)
{
    Fixture fixture;
    fixture_open(&fixture, PLAIN);
    JournalPut put = {.journal = SLICE("j"), .lazy = true};
    JournalAnswer answer;
    EXPECT_STATUS(journal_put(fixture.journals, &put, &answer, &fixture.reason), STATUS_OK);
    unsigned syncs = memory_log_syncs(fixture.kept);
    fixture_pass(&fixture, 199);
    (void)fixture_stats(&fixture, "j");
    EXPECT_I64(memory_log_syncs(fixture.kept), syncs);
    fixture_pass(&fixture, 1);
    while (memory_log_syncs(fixture.kept) == syncs)
        (void)fixture_stats(&fixture, "j");
    fixture_close(&fixture);
}

TEST(I4_a_claim_with_sync_all_survives_a_power_cut_and_has_its_whole_lease_again)
{
    Fixture fixture;
    fixture_open(&fixture, PLAIN);
    (void)fixture_put(&fixture, "k", "a", "1");
    JournalClaimed claimed = fixture_claim(&fixture, "k");
    fixture_pass(&fixture, 299999);
    fixture_restart(&fixture, true);
    EXPECT_I64(fixture_claim(&fixture, "k").id, 0);
    fixture_pass(&fixture, 299999);
    EXPECT_STATUS(fixture_done(&fixture, &claimed), STATUS_OK);
    EXPECT_I64(fixture_stats(&fixture, "k").processing, 0);
    fixture_close(&fixture);
}

TEST(I7_ids_and_tokens_do_not_repeat_after_a_power_cut)
{
    Fixture fixture;
    fixture_open(&fixture, PLAIN);
    JournalPut put = {.journal = SLICE("j"), .lazy = true};
    JournalAnswer answer;
    EXPECT_STATUS(journal_put(fixture.journals, &put, &answer, &fixture.reason), STATUS_OK);
    JournalClaimed claimed = fixture_claim(&fixture, "j");
    uint64_t id = answer.id;
    fixture_restart(&fixture, true);
    answer = fixture_put(&fixture, "j", "", "");
    EXPECT(answer.id > id);
    JournalClaimed again = fixture_claim(&fixture, "j");
    EXPECT(memcmp(&again.token, &claimed.token, sizeof again.token) != 0);
    EXPECT(memcmp(again.token.bytes, claimed.token.bytes, 4) != 0); /* another epoch */
    fixture_close(&fixture);
}

TEST(an_entry_that_was_done_leaves_nothing_in_the_log)
{
    Fixture fixture;
    fixture_open(&fixture, PLAIN);
    (void)fixture_put(&fixture, "j", "a", "data");
    EXPECT_I64(memory_log_count(fixture.kept, 'B'), 1);
    JournalClaimed claimed = fixture_claim(&fixture, "j");
    EXPECT_STATUS(fixture_done(&fixture, &claimed), STATUS_OK);
    EXPECT_I64(memory_log_count(fixture.kept, 'D'), 0);
    EXPECT_I64(memory_log_count(fixture.kept, 'B'), 0);
    fixture_close(&fixture);
}

static void fail_and_heal(MemoryFault how, bool there)
{
    Fixture fixture;
    fixture_open(&fixture, PLAIN);
    (void)fixture_put(&fixture, "j", "kept", "");
    memory_log_fail(fixture.kept, 1, how);
    EXPECT_STATUS(fixture_put(&fixture, "j", "a", "").status, STATUS_UNKNOWN);
    EXPECT_STATUS(fixture_put(&fixture, "j", "b", "").status, STATUS_UNAVAILABLE);
    JournalsHealth health;
    journals_health(fixture.journals, &health);
    EXPECT(!health.writable && strcmp(health.reason, "the disk failed") == 0);
    memory_log_break(fixture.kept, true);
    fixture_pass(&fixture, 5000);
    journals_health(fixture.journals, &health);
    EXPECT(!health.writable);
    memory_log_break(fixture.kept, false);
    fixture_pass(&fixture, 4999);
    EXPECT_STATUS(fixture_put(&fixture, "j", "c", "").status, STATUS_UNAVAILABLE);
    fixture_pass(&fixture, 1);
    EXPECT_STATUS(fixture_put(&fixture, "j", "d", "").status, STATUS_OK);
    EXPECT_I64(fixture_stats(&fixture, "j").waiting, there ? 3 : 2);
    fixture_close(&fixture);
}

TEST(a_failed_write_is_unknown_and_the_journal_opens_again_by_itself)
{
    fail_and_heal(MEMORY_FAILS, false);
    fail_and_heal(MEMORY_FAILS_DONE, true);
}

TEST(a_full_disk_refuses_puts_and_lets_work_end)
{
    Fixture fixture;
    fixture_open(&fixture, PLAIN);
    (void)fixture_put(&fixture, "j", "a", "");
    memory_log_fill(fixture.kept, true);
    EXPECT_STATUS(fixture_put(&fixture, "j", "b", "").status, STATUS_THROTTLED);
    JournalClaimed claimed = fixture_claim(&fixture, "j");
    EXPECT_STATUS(fixture_done(&fixture, &claimed), STATUS_OK);
    fixture_close(&fixture);
}

/* ---- Keys, leases, tokens ---------------------------------------------------------------------------------- */

TEST(ten_thousand_puts_of_one_key_while_it_runs_are_exactly_two_runs)
{
    Fixture fixture;
    fixture_open(&fixture, PLAIN);
    (void)fixture_put(&fixture, "j", "a", "0");
    JournalClaimed first = fixture_claim(&fixture, "j");
    for (int i = 0; i < 10; i++) {
        static JournalPut puts[1000];
        static JournalAnswer answers[1000];
        for (size_t j = 0; j < 1000; j++)
            puts[j] = (JournalPut){.journal = SLICE("j"), .key = SLICE("a"), .data = SLICE("x")};
        EXPECT_STATUS(journal_put_many(fixture.journals, puts, 1000, answers, &fixture.reason),
                      STATUS_OK);
    }
    EXPECT_I64(fixture_claim(&fixture, "j").id, 0);
    EXPECT_STATUS(fixture_done(&fixture, &first), STATUS_OK);
    JournalClaimed second = fixture_claim(&fixture, "j");
    EXPECT(second.id > first.id);
    EXPECT_STATUS(fixture_done(&fixture, &second), STATUS_OK);
    EXPECT_I64(fixture_claim(&fixture, "j").id, 0);
    EXPECT_I64(fixture_stats(&fixture, "j").counters[JOURNAL_COUNT_CLAIMS], 2);
    fixture_close(&fixture);
}

TEST(a_poison_entry_stops_after_its_limit_with_one_alert)
{
    Fixture fixture;
    fixture_open(&fixture, PLAIN);
    (void)fixture_put(&fixture, "j", "a", "");
    for (int i = 0; i < 2; i++) {
        EXPECT(fixture_claim(&fixture, "j").id != 0);
        (void)fixture_put(&fixture, "j", "a", "");
        fixture_pass(&fixture, 10000);
    }
    JournalStats stats = fixture_stats(&fixture, "j");
    EXPECT(stats.failed == 1 && stats.waiting == 1); /* its successor is on its own */
    EXPECT_I64(atomic_load(&fixture.alerts), 1);
    fixture_close(&fixture);
}

TEST(I13_a_stale_token_changes_nothing)
{
    Fixture fixture;
    fixture_open(&fixture, PLAIN);
    (void)fixture_put(&fixture, "j", "a", "");
    JournalClaimed old = fixture_claim(&fixture, "j");
    fixture_pass(&fixture, 10000);
    JournalClaimed fresh = fixture_claim(&fixture, "j");
    EXPECT_I64(fresh.id, old.id);
    JournalStep step = {.token = old.token};
    EXPECT_STATUS(journal_extend(fixture.journals, &step, 1, &fixture.reason), STATUS_CONFLICT);
    EXPECT_STATUS(journal_release(fixture.journals, &step, 1, &fixture.reason), STATUS_CONFLICT);
    EXPECT_STATUS(journal_fail(fixture.journals, &step, 1, &fixture.reason), STATUS_CONFLICT);
    EXPECT_STATUS(journal_bury(fixture.journals, &step, 1, &fixture.reason), STATUS_CONFLICT);
    EXPECT_STATUS(fixture_done(&fixture, &old), STATUS_CONFLICT);
    EXPECT_STATUS(fixture_done(&fixture, &fresh), STATUS_OK);
    EXPECT_STATUS(fixture_done(&fixture, &fresh), STATUS_CONFLICT);
    fixture_close(&fixture);
}

TEST(a_late_done_is_taken_until_something_new_has_come)
{
    Fixture fixture;
    fixture_open(&fixture, PLAIN);
    (void)fixture_put(&fixture, "j", "a", "1");
    JournalClaimed claimed = fixture_claim(&fixture, "j");
    fixture_pass(&fixture, 10000);
    EXPECT_STATUS(fixture_done(&fixture, &claimed), STATUS_OK);
    EXPECT_I64(fixture_stats(&fixture, "j").counters[JOURNAL_COUNT_LATE_DONE], 1);
    (void)fixture_put(&fixture, "j", "b", "1");
    claimed = fixture_claim(&fixture, "j");
    (void)fixture_put(&fixture, "j", "b", "1"); /* the same again: a trigger all the same */
    fixture_pass(&fixture, 10000);
    EXPECT_STATUS(fixture_done(&fixture, &claimed), STATUS_CONFLICT);
    fixture_close(&fixture);
}

TEST(a_step_of_the_wall_clock_neither_ends_nor_prolongs_a_lease)
{
    Fixture fixture;
    fixture_open(&fixture, PLAIN);
    (void)fixture_put(&fixture, "j", "a", "");
    JournalClaimed claimed = fixture_claim(&fixture, "j");
    test_world_step(&fixture.own, 50 * INT64_C(3600) * US_PER_S);
    fixture_pass(&fixture, 9999);
    EXPECT_I64(fixture_stats(&fixture, "j").processing, 1);
    test_world_step(&fixture.own, -100 * INT64_C(3600) * US_PER_S);
    fixture_pass(&fixture, 1);
    EXPECT_I64(fixture_stats(&fixture, "j").processing, 0);
    (void)claimed;
    fixture_close(&fixture);
}

TEST(a_leap_of_the_clock_hides_what_expired_and_deletes_it_after_a_minute)
{
    Fixture fixture;
    fixture_open(&fixture, PLAIN "[journal e]\nexpire_s = 7000\n");
    (void)fixture_put(&fixture, "e", "a", "");
    test_world_step(&fixture.own, 7201 * US_PER_S);
    fixture_pass(&fixture, 1000);
    EXPECT_I64(fixture_claim(&fixture, "e").id, 0);
    EXPECT_I64(fixture_stats(&fixture, "e").waiting, 1);
    test_world_step(&fixture.own, -7201 * US_PER_S); /* it was a mistake */
    fixture_pass(&fixture, 61000);
    EXPECT(fixture_claim(&fixture, "e").id != 0);
    (void)fixture_put(&fixture, "e", "b", "");
    test_world_step(&fixture.own, 7201 * US_PER_S);
    fixture_pass(&fixture, 59999);
    EXPECT_I64(fixture_stats(&fixture, "e").waiting, 1);
    fixture_pass(&fixture, 60001);
    EXPECT_I64(fixture_stats(&fixture, "e").waiting, 0);
    fixture_close(&fixture);
}

TEST(a_pause_hands_nothing_out_and_outlives_a_restart)
{
    Fixture fixture;
    fixture_open(&fixture, PLAIN);
    (void)fixture_put(&fixture, "j", "a", "");
    EXPECT_STATUS(journal_pause(fixture.journals, SLICE("j"), 60000, &fixture.reason), STATUS_OK);
    EXPECT_I64(fixture_claim(&fixture, "j").id, 0);
    fixture_restart(&fixture, true);
    fixture_pass(&fixture, 59999);
    EXPECT_I64(fixture_claim(&fixture, "j").id, 0);
    fixture_pass(&fixture, 1);
    EXPECT(fixture_claim(&fixture, "j").id != 0);
    fixture_close(&fixture);
}

TEST(I11_the_dead_list_is_bounded_in_number_and_age)
{
    Fixture fixture;
    fixture_open(&fixture, "[journal j]\ntimeouts = 0\ndead_max = 3\ndead_days = 2\n");
    for (int i = 0; i < 5; i++) {
        (void)fixture_put(&fixture, "j", "", "");
        JournalStep step = {.token = fixture_claim(&fixture, "j").token, .error = SLICE("no")};
        EXPECT_STATUS(journal_fail(fixture.journals, &step, 1, &fixture.reason), STATUS_OK);
    }
    EXPECT_I64(fixture_stats(&fixture, "j").failed, 3);
    fixture_pass(&fixture, 2 * 86400 * INT64_C(1000));
    EXPECT_I64(fixture_stats(&fixture, "j").failed, 0);
    EXPECT_I64(fixture_stats(&fixture, "j").counters[JOURNAL_COUNT_DROPPED], 5);
    fixture_close(&fixture);
}

/* ---- Waiting ----------------------------------------------------------------------------------------------- */

static void post(JournalRequest *request)
{
    sem_post(request->context);
}

static void submit_wait(Fixture *fixture, JournalRequest *request, const Slice *name,
                        sem_t *answered, int64_t wait_ms)
{
    *request = (JournalRequest){.call = JOURNAL_CALL_CLAIM,
                                .claim = {.journals = name,
                                          .journal_count = 1,
                                          .max_priority = UINT32_MAX,
                                          .wait_ms = wait_ms},
                                .arena = arena_new(),
                                .finish = post,
                                .context = answered};
    sem_init(answered, 0, 0);
    journal_submit(fixture->journals, request);
}

static bool is_answered(Fixture *fixture, sem_t *answered)
{
    journals_tick(fixture->journals);
    return sem_trywait(answered) == 0;
}

TEST(I8_waiters_are_served_first_come_first_served_at_the_due_moment)
{
    Fixture fixture;
    JournalRequest requests[3];
    sem_t answered[3];
    const Slice name = SLICE("j");
    fixture_open(&fixture, PLAIN);
    for (size_t i = 0; i < 3; i++)
        submit_wait(&fixture, &requests[i], &name, &answered[i], 100000);
    (void)fixture_put_at(&fixture, "j", "later", fixture_now_ms(&fixture) + 50);
    fixture_pass(&fixture, 49);
    EXPECT(!is_answered(&fixture, &answered[0])); /* I6 */
    fixture_pass(&fixture, 1);
    EXPECT(is_answered(&fixture, &answered[0]) && requests[0].claims.count == 1);
    EXPECT(!is_answered(&fixture, &answered[1]));
    (void)fixture_put(&fixture, "j", "now", "");
    EXPECT(is_answered(&fixture, &answered[1]) && !is_answered(&fixture, &answered[2]));
    EXPECT_I64(fixture_stats(&fixture, "j").waiters, 1);
    for (size_t i = 0; i < 2; i++)
        EXPECT_STATUS(fixture_done(&fixture, &requests[i].claims.entries[0]), STATUS_OK);
    fixture_pass(&fixture, 100000);
    EXPECT(sem_trywait(&answered[2]) == 0 && requests[2].claims.count == 0);
    for (size_t i = 0; i < 3; i++)
        arena_free(requests[i].arena);
    fixture_close(&fixture);
}

TEST(a_waiter_can_be_cancelled_and_one_more_than_the_bound_is_refused)
{
    Fixture fixture;
    JournalRequest requests[2];
    sem_t answered[2];
    const Slice name = SLICE("j");
    fixture_open(&fixture, "[journal j]\nmax_waiters = 1\n");
    submit_wait(&fixture, &requests[0], &name, &answered[0], 100000);
    submit_wait(&fixture, &requests[1], &name, &answered[1], 100000);
    EXPECT(is_answered(&fixture, &answered[1]));
    EXPECT_STATUS(requests[1].status, STATUS_THROTTLED);
    journal_cancel(fixture.journals, &requests[0]);
    EXPECT(sem_trywait(&answered[0]) == 0 && requests[0].claims.count == 0);
    EXPECT_STATUS(requests[0].status, STATUS_OK);
    arena_free(requests[0].arena);
    arena_free(requests[1].arena);
    fixture_close(&fixture);
}

TEST(an_owner_that_ends_gives_back_uncounted_and_is_told_when_a_lease_is_almost_over)
{
    Fixture fixture;
    const Slice name = SLICE("j");
    JournalRequest request;
    sem_t answered;
    fixture_open(&fixture, PLAIN);
    (void)fixture_put(&fixture, "j", "a", "");
    JournalOwner *owner = journal_owner_new(fixture.journals);
    JournalClaim claim = {
        .journals = &name, .journal_count = 1, .max_priority = UINT32_MAX, .owner = owner};
    JournalClaims claims;
    EXPECT_STATUS(journal_claim(fixture.journals, &claim, fixture.arena, &claims, &fixture.reason),
                  STATUS_OK);
    request = (JournalRequest){.call = JOURNAL_CALL_CLAIM,
                               .claim = claim,
                               .arena = arena_new(),
                               .finish = post,
                               .context = &answered};
    request.claim.soon = true;
    request.claim.wait_ms = 60000;
    sem_init(&answered, 0, 0);
    journal_submit(fixture.journals, &request);
    fixture_pass(&fixture, 8999);
    EXPECT(!is_answered(&fixture, &answered));
    fixture_pass(&fixture, 1);
    EXPECT(is_answered(&fixture, &answered) && request.claims.soon && request.claims.count == 0);
    journal_owner_end(owner);
    JournalClaimed again = fixture_claim(&fixture, "j");
    EXPECT(again.id == claims.entries[0].id && again.timeouts == 0);
    arena_free(request.arena);
    fixture_close(&fixture);
}

static void ring(void *context, Slice journal)
{
    CHECK(slice_equal(journal, SLICE("j")));
    atomic_fetch_add((_Atomic unsigned *)context, 1);
}

TEST(a_listener_rings_once_and_again_after_an_empty_claim)
{
    Fixture fixture;
    const Slice name = SLICE("j");
    _Atomic unsigned rings = 0;
    JournalListener *listener;
    fixture_open(&fixture, PLAIN);
    EXPECT_STATUS(
        journal_listen(fixture.journals, &name, 1, ring, &rings, &listener, &fixture.reason),
        STATUS_OK);
    (void)fixture_put_at(&fixture, "j", "a", fixture_now_ms(&fixture) + 10);
    EXPECT_I64(atomic_load(&rings), 0);
    fixture_pass(&fixture, 10);
    EXPECT_I64(atomic_load(&rings), 1);
    (void)fixture_put(&fixture, "j", "b", "");
    journals_tick(fixture.journals);
    EXPECT_I64(atomic_load(&rings), 1);
    JournalClaim claim = {
        .journals = &name, .journal_count = 1, .max_priority = UINT32_MAX, .listener = listener};
    JournalClaims claims;
    for (int i = 0; i < 3; i++)
        EXPECT_STATUS(
            journal_claim(fixture.journals, &claim, fixture.arena, &claims, &fixture.reason),
            STATUS_OK);
    EXPECT_I64(claims.count, 0);
    (void)fixture_put(&fixture, "j", "c", "");
    journals_tick(fixture.journals);
    EXPECT_I64(atomic_load(&rings), 2);
    journal_listen_end(listener);
    fixture_close(&fixture);
}

/* ---- Bounds and declarations ------------------------------------------------------------------------------- */

TEST(bounds_of_a_put_are_kept_on_both_sides)
{
    Fixture fixture;
    static char big[JOURNAL_KEY_MAX + 1];
    JournalAnswer answer;
    fixture_open(
        &fixture,
        "[journal j]\nmax_data = 10\nmax_entries = 2\nfield = n u64 required\n[journal k]\n");
    JournalPut put = {.journal = SLICE("k"), .key = slice_of(big, JOURNAL_KEY_MAX)};
    EXPECT_STATUS(journal_put(fixture.journals, &put, &answer, &fixture.reason), STATUS_OK);
    put.key.size++;
    EXPECT_STATUS(journal_put(fixture.journals, &put, &answer, &fixture.reason), STATUS_TOO_LARGE);
    EXPECT(strcmp(fixture.reason.field, "key") == 0);
    EXPECT_STATUS(fixture_put(&fixture, "none", "", "").status, STATUS_NOT_FOUND);
    EXPECT_STATUS(fixture_put(&fixture, "j", "", "{}").status, STATUS_INVALID);
    EXPECT(strcmp(fixture.reason.field, "n") == 0);
    EXPECT_STATUS(fixture_put(&fixture, "j", "", "{\"n\": 1}").status, STATUS_OK);
    EXPECT_STATUS(fixture_put(&fixture, "j", "", "{\"n\":1234}").status, STATUS_OK);
    EXPECT_STATUS(fixture_put(&fixture, "j", "", "{\"n\":12345}").status, STATUS_TOO_LARGE);
    EXPECT_STATUS(fixture_put(&fixture, "j", "", "{\"n\": 1}").status, STATUS_THROTTLED);
    fixture_close(&fixture);
}

TEST(fields_of_tubes_are_checked_as_those_of_journals_are)
{
    Fixture fixture;
    JournalAnswer answer;
    fixture_open(&fixture, "[tubes]\nfield = n u64 required\n[journal j]\n");
    JournalPut put = {.journal = SLICE("fresh"), .data = SLICE("{}"), .on_use = true};
    EXPECT_STATUS(journal_put(fixture.journals, &put, &answer, &fixture.reason), STATUS_INVALID);
    EXPECT(strcmp(fixture.reason.field, "n") == 0);
    put.data = SLICE("no JSON");
    EXPECT_STATUS(journal_put(fixture.journals, &put, &answer, &fixture.reason), STATUS_INVALID);
    put.data = SLICE("{\"n\":7}");
    EXPECT_STATUS(journal_put(fixture.journals, &put, &answer, &fixture.reason), STATUS_OK);
    put.journal = SLICE("j"); /* declared: its own fields count, and it has none */
    put.data = SLICE("no JSON");
    EXPECT_STATUS(journal_put(fixture.journals, &put, &answer, &fixture.reason), STATUS_OK);
    put = (JournalPut){.journal = SLICE("none"), .data = SLICE("{}")};
    EXPECT_STATUS(journal_put(fixture.journals, &put, &answer, &fixture.reason), STATUS_NOT_FOUND);
    fixture_close(&fixture);
}

TEST(puts_waits_and_runs_are_counted)
{
    Fixture fixture;
    fixture_open(&fixture, "[journal j]\nlease_s = 60\n");
    (void)fixture_put(&fixture, "j", "k", "1");
    (void)fixture_put(&fixture, "j", "k", "2");
    fixture_pass(&fixture, 700);
    JournalClaimed claimed = fixture_claim(&fixture, "j");
    (void)fixture_put(&fixture, "j", "k", "3"); /* held */
    (void)fixture_put(&fixture, "j", "k", "4"); /* merged with that */
    (void)fixture_put_at(&fixture, "j", "", fixture_now_ms(&fixture) + 10000);
    JournalPut old = {.journal = SLICE("j"), .key = SLICE("k"), .insertion_ms = 1};
    JournalAnswer answer;
    EXPECT_STATUS(journal_put(fixture.journals, &old, &answer, &fixture.reason), STATUS_OK);
    EXPECT_I64(answer.outcome, JOURNAL_STALE);
    fixture_pass(&fixture, 3000);
    EXPECT_STATUS(fixture_done(&fixture, &claimed), STATUS_OK);
    claimed = fixture_claim(&fixture, "j"); /* due since it was put */
    JournalStats stats = fixture_stats(&fixture, "j");
    EXPECT_I64(journal_puts(&stats), 6);
    EXPECT_I64(stats.counters[JOURNAL_COUNT_HELD_MERGED], 1);
    EXPECT_I64(stats.wait.buckets[histogram_bucket(&JOURNAL_SPANS, 700)], 1);
    EXPECT_I64(stats.wait.sum, 3700);
    EXPECT_I64(stats.run.buckets[histogram_bucket(&JOURNAL_SPANS, 3000)], 1);
    EXPECT_I64(stats.run.sum, 3000);
    JournalsHealth health;
    journals_health(fixture.journals, &health);
    EXPECT_I64(health.group_count, 1);
    EXPECT(strcmp(health.groups[0].name, "main") == 0 && health.groups[0].live_bytes > 0);
    uint64_t commits = 0;
    for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++)
        commits += health.groups[0].commits.buckets[i];
    EXPECT(commits >= 6 && health.groups[0].sizes.sum >= 6);
    fixture_close(&fixture);
}

TEST(existing_entries_keep_the_rules_under_which_they_were_made)
{
    Fixture fixture;
    fixture_open(&fixture, "[journal j]\ntimeouts = 0\nlease_s = 1\n");
    (void)fixture_put(&fixture, "j", "", "");
    EXPECT_STATUS(journals_reload(fixture.journals,
                                  SLICE("[journal j]\ntimeouts = 9\nlease_s = 1\n"), "f",
                                  &fixture.reason),
                  STATUS_OK);
    fixture.declaration = "[journal j]\ntimeouts = 9\nlease_s = 1\n";
    fixture_restart(&fixture, true);
    (void)fixture_put(&fixture, "j", "", "");
    EXPECT(fixture_claim(&fixture, "j").id != 0 && fixture_claim(&fixture, "j").id != 0);
    fixture_pass(&fixture, 1000);
    JournalStats stats = fixture_stats(&fixture, "j");
    EXPECT(stats.failed == 1 && stats.waiting == 1);
    EXPECT_STATUS(journals_reload(fixture.journals, SLICE("nonsense"), "f", &fixture.reason),
                  STATUS_INVALID);
    fixture_close(&fixture);
}

TEST(tubes_appear_on_use_and_vanish_when_they_are_empty)
{
    Fixture fixture;
    fixture_open(&fixture, PLAIN);
    JournalPut put = {.journal = SLICE("fresh"), .on_use = true};
    JournalAnswer answer;
    Slice *names;
    size_t count;
    EXPECT_STATUS(journal_put(fixture.journals, &put, &answer, &fixture.reason), STATUS_OK);
    fixture_restart(&fixture, true);
    EXPECT_STATUS(journal_names(fixture.journals, fixture.arena, &names, &count, &fixture.reason),
                  STATUS_OK);
    EXPECT_I64(count, 3);
    JournalStep step = {.id = answer.id};
    EXPECT_STATUS(journal_remove(fixture.journals, &step, 1, &fixture.reason), STATUS_OK);
    EXPECT_STATUS(journal_names(fixture.journals, fixture.arena, &names, &count, &fixture.reason),
                  STATUS_OK);
    EXPECT(count == 2 && slice_equal(names[0], SLICE("j")) && slice_equal(names[1], SLICE("k")));
    put.on_use = false;
    EXPECT_STATUS(journal_put(fixture.journals, &put, &answer, &fixture.reason), STATUS_NOT_FOUND);
    fixture_restart(&fixture, true);
    EXPECT_I64(memory_log_count(fixture.kept, 'M'), 2);
    fixture_close(&fixture);
}

TEST(a_list_goes_on_where_the_page_before_ended)
{
    Fixture fixture;
    JournalList list = {.more = true};
    uint64_t after = 0;
    size_t seen = 0;
    fixture_open(&fixture, PLAIN);
    for (int i = 0; i < 25; i++)
        (void)fixture_put(&fixture, i % 5 == 0 ? "k" : "j", "", "");
    while (list.more) {
        EXPECT_STATUS(journal_list(fixture.journals, SLICE("j"), JOURNAL_WAITING, after, 7,
                                   fixture.arena, &list, &fixture.reason),
                      STATUS_OK);
        EXPECT(list.count <= 7);
        for (size_t i = 0; i < list.count; i++, seen++)
            EXPECT(list.entries[i].id > after && list.entries[i].id <= list.next);
        after = list.next;
    }
    EXPECT_I64(seen, 20);
    fixture_close(&fixture);
}
