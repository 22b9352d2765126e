/* journal_fixture.c -- see journal_fixture.h. */
#include "journal_fixture.h"

static void count_alert(void *context, const JournalAlert *alert)
{
    Fixture *fixture = context;
    CHECK(alert->id > 0);
    atomic_fetch_add(&fixture->alerts, 1);
}

static void open_journals(Fixture *fixture)
{
    JournalsOptions options = {.declaration = slice_from(fixture->declaration),
                               .world = fixture->world,
                               .cache_bytes = 4096,
                               .reopen_s = 5,
                               .still = true,
                               .alert = count_alert,
                               .context = fixture,
                               .log = memory_log_open(fixture->kept)};
    Status status = journals_open(&options, &fixture->journals, &fixture->reason);
    if (status != STATUS_OK)
        test_fail(__FILE__, __LINE__, "does not open: %s", fixture->reason.rule);
}

void fixture_open(Fixture *fixture, const char *declaration)
{
    *fixture =
        (Fixture){.kept = memory_log_new(), .arena = arena_new(), .declaration = declaration};
    fixture->world = test_world(&fixture->own, 1);
    open_journals(fixture);
}

void fixture_restart(Fixture *fixture, bool cut)
{
    journals_close(fixture->journals);
    if (cut)
        memory_log_cut(fixture->kept);
    open_journals(fixture);
}

void fixture_close(Fixture *fixture)
{
    const char *wrong = journals_check(fixture->journals);
    if (wrong != NULL)
        test_fail(__FILE__, __LINE__, "%s", wrong);
    journals_close(fixture->journals);
    memory_log_free(fixture->kept);
    arena_free(fixture->arena);
}

void fixture_pass(Fixture *fixture, int64_t ms)
{
    test_world_pass(&fixture->own, ms * US_PER_MS);
    journals_tick(fixture->journals);
}

int64_t fixture_now_ms(Fixture *fixture)
{
    return atomic_load(&fixture->own.now_us) / US_PER_MS;
}

JournalAnswer fixture_put(Fixture *fixture, const char *journal, const char *key, const char *data)
{
    JournalAnswer answer = {0};
    JournalPut put = {
        .journal = slice_from(journal), .key = slice_from(key), .data = slice_from(data)};
    (void)!journal_put(fixture->journals, &put, &answer, &fixture->reason);
    return answer;
}

JournalAnswer fixture_put_at(Fixture *fixture, const char *journal, const char *key,
                             int64_t wanted_ms)
{
    JournalAnswer answer = {0};
    JournalPut put = {
        .journal = slice_from(journal), .key = slice_from(key), .wanted_ms = wanted_ms};
    (void)!journal_put(fixture->journals, &put, &answer, &fixture->reason);
    return answer;
}

JournalClaimed fixture_claim(Fixture *fixture, const char *journal)
{
    Slice name = slice_from(journal);
    JournalClaim claim = {.journals = &name, .journal_count = 1, .max_priority = UINT32_MAX};
    JournalClaims claims = {0};
    EXPECT_STATUS(
        journal_claim(fixture->journals, &claim, fixture->arena, &claims, &fixture->reason),
        STATUS_OK);
    return claims.count == 0 ? (JournalClaimed){0} : claims.entries[0];
}

Status fixture_done(Fixture *fixture, const JournalClaimed *claimed)
{
    JournalStep step = {.token = claimed->token};
    return journal_done(fixture->journals, &step, 1, &fixture->reason);
}

JournalStats fixture_stats(Fixture *fixture, const char *journal)
{
    JournalStats stats = {0};
    EXPECT_STATUS(journal_stats(fixture->journals, slice_from(journal), &stats, &fixture->reason),
                  STATUS_OK);
    return stats;
}
