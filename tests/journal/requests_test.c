/* requests_test.c -- what doors for other programs ask of the engine: work that ends by its id, sums over all journals, bounded answers. */
#include <semaphore.h>

#include "journal_fixture.h"

#define ALONE "[journal j]\nlease_s = 10\n[journal k]\n[tubes]\n"

static void wake(JournalRequest *request)
{
    sem_post(request->context);
}

static Status submit(Fixture *fixture, JournalRequest *request)
{
    sem_t answered;
    sem_init(&answered, 0, 0);
    request->finish = wake;
    request->context = &answered;
    request->arena = fixture->arena;
    journal_submit(fixture->journals, request);
    while (sem_wait(&answered) != 0)
        ;
    sem_destroy(&answered);
    return request->status;
}

static Status step(Fixture *fixture, JournalCall call, JournalOwner *owner, uint64_t id)
{
    JournalStep one = {.id = id};
    JournalRequest request = {.call = call, .steps = &one, .count = 1, .claim.owner = owner};
    Status status = submit(fixture, &request);
    EXPECT_STATUS(one.status, status);
    return status;
}

static uint64_t claim_for(Fixture *fixture, JournalOwner *owner)
{
    Slice name = SLICE("j");
    JournalClaim claim = {
        .journals = &name, .journal_count = 1, .max_priority = UINT32_MAX, .owner = owner};
    JournalClaims claims;
    EXPECT_STATUS(journal_claim(fixture->journals, &claim, fixture->arena, &claims, NULL),
                  STATUS_OK);
    return claims.count == 0 ? 0 : claims.entries[0].id;
}

TEST(an_owner_ends_what_it_has_claimed_by_its_id)
{
    static const JournalCall ENDS[] = {JOURNAL_CALL_EXTEND, JOURNAL_CALL_DONE, JOURNAL_CALL_RELEASE,
                                       JOURNAL_CALL_FAIL, JOURNAL_CALL_BURY};
    Fixture fixture;
    fixture_open(&fixture, ALONE);
    JournalOwner *one = journal_owner_new(fixture.journals);
    JournalOwner *two = journal_owner_new(fixture.journals);
    for (size_t i = 0; i < 5; i++) {
        uint64_t id = fixture_put(&fixture, "j", "", "1").id;
        EXPECT_STATUS(step(&fixture, ENDS[i], one, id), STATUS_NOT_FOUND);
        EXPECT_I64(claim_for(&fixture, one), id);
        EXPECT_STATUS(step(&fixture, ENDS[i], two, id), STATUS_NOT_FOUND);
        EXPECT_STATUS(step(&fixture, ENDS[i], one, id), STATUS_OK);
        (void)!step(&fixture, JOURNAL_CALL_DELETE, one, id);
    }
    JournalStats stats = fixture_stats(&fixture, "j");
    EXPECT_I64(stats.waiting + stats.processing + stats.failed, 0);
    EXPECT_I64(stats.counters[JOURNAL_COUNT_DONE], 2);
    EXPECT_I64(stats.counters[JOURNAL_COUNT_REMOVED], 3);
    journal_owner_end(one);
    journal_owner_end(two);
    fixture_close(&fixture);
}

TEST(delete_takes_what_nobody_works_on)
{
    Fixture fixture;
    fixture_open(&fixture, ALONE);
    JournalOwner *owner = journal_owner_new(fixture.journals);
    uint64_t id = fixture_put(&fixture, "j", "a", "1").id;
    (void)fixture_claim(&fixture, "j"); /* of nobody's */
    uint64_t held = fixture_put(&fixture, "j", "a", "2").id;
    EXPECT_STATUS(step(&fixture, JOURNAL_CALL_DELETE, owner, id), STATUS_NOT_FOUND);
    EXPECT_STATUS(step(&fixture, JOURNAL_CALL_DELETE, NULL, id), STATUS_NOT_FOUND);
    EXPECT_STATUS(step(&fixture, JOURNAL_CALL_DELETE, NULL, held), STATUS_OK);
    fixture_pass(&fixture, 10000);
    EXPECT_STATUS(step(&fixture, JOURNAL_CALL_DELETE, NULL, id), STATUS_OK);
    EXPECT_STATUS(step(&fixture, JOURNAL_CALL_DELETE, NULL, id), STATUS_NOT_FOUND);
    uint64_t own = fixture_put(&fixture, "j", "a", "1").id;
    EXPECT_I64(claim_for(&fixture, owner), own);
    fixture_pass(&fixture, 10000);
    EXPECT_STATUS(step(&fixture, JOURNAL_CALL_EXTEND, owner, own), STATUS_NOT_FOUND);
    journal_owner_end(owner);
    fixture_close(&fixture);
}

TEST(a_claim_that_does_not_wait_says_that_a_lease_is_about_to_end)
{
    Fixture fixture;
    Slice name = SLICE("j");
    fixture_open(&fixture, ALONE);
    JournalOwner *owner = journal_owner_new(fixture.journals);
    JournalClaim claim = {.journals = &name,
                          .journal_count = 1,
                          .max_priority = UINT32_MAX,
                          .owner = owner,
                          .soon = true};
    JournalClaims claims;
    (void)fixture_put(&fixture, "j", "", "1");
    for (int i = 0; i < 3; i++) {
        EXPECT_STATUS(journal_claim(fixture.journals, &claim, fixture.arena, &claims, NULL),
                      STATUS_OK);
        EXPECT_I64(claims.count, i == 0);
        EXPECT_I64(claims.soon, i == 2);
        fixture_pass(&fixture, i == 0 ? 8999 : 1);
    }
    journal_owner_end(owner);
    fixture_close(&fixture);
}

TEST(sums_and_names_are_of_all_journals)
{
    Fixture fixture;
    fixture_open(&fixture, ALONE);
    (void)fixture_put(&fixture, "j", "", "1");
    JournalPut put = {.journal = SLICE("gone"), .on_use = true};
    JournalAnswer answer;
    EXPECT_STATUS(journal_put(fixture.journals, &put, &answer, NULL), STATUS_OK);
    JournalRequest names = {.call = JOURNAL_CALL_NAMES};
    EXPECT_STATUS(submit(&fixture, &names), STATUS_OK);
    EXPECT_I64(names.name_count, 3);
    EXPECT_STATUS(step(&fixture, JOURNAL_CALL_DELETE, NULL, answer.id), STATUS_OK);
    EXPECT_STATUS(submit(&fixture, &names), STATUS_OK);
    EXPECT_I64(names.name_count, 2);
    JournalRequest stats = {.call = JOURNAL_CALL_STATS};
    for (int i = 0; i < 2; i++) {
        EXPECT_STATUS(submit(&fixture, &stats), STATUS_OK);
        EXPECT_I64(stats.stats.waiting, 1);
        EXPECT_I64(stats.stats.due, 1);
        EXPECT_I64(stats.stats.counters[JOURNAL_COUNT_CREATED], 2);
    }
    fixture_restart(&fixture, false);
    EXPECT_STATUS(submit(&fixture, &stats), STATUS_OK);
    EXPECT_I64(stats.stats.counters[JOURNAL_COUNT_CREATED], 0);
    fixture_close(&fixture);
}

TEST(due_entries_are_counted_however_many)
{
    enum { ROUNDS = 1 + ORDER_SURVEY_MAX / JOURNAL_MANY_MAX };
    static JournalPut puts[JOURNAL_MANY_MAX];
    static JournalAnswer answers[JOURNAL_MANY_MAX];
    Fixture fixture;
    fixture_open(&fixture, ALONE);
    for (size_t i = 0; i < JOURNAL_MANY_MAX; i++)
        puts[i] = (JournalPut){.journal = SLICE("j"), .has_priority = true, .priority = 1023};
    for (size_t i = 0; i < ROUNDS; i++)
        EXPECT_STATUS(
            journal_put_many(fixture.journals, puts, JOURNAL_MANY_MAX, answers, &fixture.reason),
            STATUS_OK);
    JournalStats stats = fixture_stats(&fixture, "j");
    EXPECT_I64(stats.due, ROUNDS * JOURNAL_MANY_MAX);
    EXPECT_I64(stats.urgent, ROUNDS * JOURNAL_MANY_MAX);
    EXPECT_I64(stats.first_priority, 1023);
    fixture_close(&fixture);
}

TEST(a_kick_goes_on_with_what_it_began)
{
    Fixture fixture;
    fixture_open(&fixture, ALONE);
    JournalOwner *owner = journal_owner_new(fixture.journals);
    uint64_t failed = fixture_put(&fixture, "j", "", "1").id;
    EXPECT_I64(claim_for(&fixture, owner), failed);
    EXPECT_STATUS(step(&fixture, JOURNAL_CALL_BURY, owner, failed), STATUS_OK);
    (void)fixture_put_at(&fixture, "j", "later", fixture_now_ms(&fixture) + 60000);
    JournalRequest kick = {.call = JOURNAL_CALL_KICK_SOME, .journal = SLICE("j"), .id = 10};
    EXPECT_STATUS(submit(&fixture, &kick), STATUS_OK);
    EXPECT_I64(kick.kicked, 1);
    EXPECT_I64(kick.state, JOURNAL_FAILED);
    EXPECT_STATUS(submit(&fixture, &kick), STATUS_OK);
    EXPECT_I64(kick.kicked, 0);
    kick.state = 0;
    EXPECT_STATUS(submit(&fixture, &kick), STATUS_OK);
    EXPECT_I64(kick.kicked, 1);
    EXPECT_I64(kick.state, JOURNAL_WAITING);
    journal_owner_end(owner);
    fixture_close(&fixture);
}

TEST(a_claim_has_a_bound_in_bytes_but_gives_one)
{
    Fixture fixture;
    Slice name = SLICE("j");
    fixture_open(&fixture, ALONE);
    JournalClaim claim = {.journals = &name,
                          .journal_count = 1,
                          .count = 9,
                          .max_priority = UINT32_MAX,
                          .most_bytes = 6};
    JournalClaims claims;
    static const size_t EXPECTED[] = {1, 2, 1, 0};
    (void)fixture_put(&fixture, "j", "", "1234567");
    for (int i = 0; i < 3; i++)
        (void)fixture_put(&fixture, "j", "", "123");
    for (size_t i = 0; i < 4; i++) {
        EXPECT_STATUS(journal_claim(fixture.journals, &claim, fixture.arena, &claims, NULL),
                      STATUS_OK);
        EXPECT_I64(claims.count, EXPECTED[i]);
    }
    fixture_close(&fixture);
}

TEST(a_name_can_be_paused_before_it_is_used)
{
    Fixture fixture;
    fixture_open(&fixture, ALONE);
    JournalRequest pause = {.call = JOURNAL_CALL_PAUSE, .journal = SLICE("new"), .ms = 1000};
    EXPECT_STATUS(submit(&fixture, &pause), STATUS_NOT_FOUND);
    pause.on_use = true;
    EXPECT_STATUS(submit(&fixture, &pause), STATUS_OK);
    EXPECT_I64(fixture_stats(&fixture, "new").pause_left_ms, 1000);
    fixture_close(&fixture);
}

TEST(a_claim_that_waits_is_cancelled_without_waiting)
{
    Fixture fixture;
    Slice name = SLICE("j");
    sem_t answered;
    fixture_open(&fixture, ALONE);
    sem_init(&answered, 0, 0);
    JournalRequest claim = {.call = JOURNAL_CALL_CLAIM,
                            .claim = {.journals = &name, .journal_count = 1, .wait_ms = 60000},
                            .arena = fixture.arena,
                            .finish = wake,
                            .context = &answered};
    JournalRequest cancel = {.call = JOURNAL_CALL_CANCEL, .cancelled = &claim};
    journal_submit(fixture.journals, &claim);
    EXPECT_STATUS(submit(&fixture, &cancel), STATUS_OK);
    EXPECT_I64(sem_trywait(&answered), 0);
    EXPECT_I64(claim.claims.count, 0);
    EXPECT_STATUS(submit(&fixture, &cancel), STATUS_OK); /* too late is fine */
    sem_destroy(&answered);
    fixture_close(&fixture);
}

TEST(the_declaration_can_be_read_by_others)
{
    Fixture fixture;
    Slice text = SLICE_EMPTY;
    fixture_open(&fixture, ALONE);
    uint64_t first = journals_declaration(fixture.journals, 0, fixture.arena, &text);
    EXPECT_SLICE(text, SLICE(ALONE));
    text = SLICE_EMPTY;
    EXPECT_I64(journals_declaration(fixture.journals, first, fixture.arena, &text), first);
    EXPECT_I64(text.size, 0);
    EXPECT_STATUS(journals_reload(fixture.journals, SLICE("[journal j]\n"), "x", NULL), STATUS_OK);
    EXPECT_I64(journals_declaration(fixture.journals, first, fixture.arena, &text), first + 1);
    EXPECT_SLICE(text, SLICE("[journal j]\n"));
    fixture_close(&fixture);
}
