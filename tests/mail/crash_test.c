/* crash_test.c -- a fault at every call of the store, in every way: nothing that was promised is lost, and nothing gets stuck. */
#include "mail_fixture.h"

enum { SWEEP_S = 301 }; /* after so long everybody looks again for what others left */

static int run_number;

static const int LASTS[] = {FAULT_ONCE, FAULT_OUTAGE, FAULT_FOREVER};

/* What an honest instance does with what is there, over the whole life of a message. */
static void live_on(void)
{
    fixture.faulty.at = 0;
    faulty_deliver(&fixture.faulty);
    mail_fixture_run_for(fixture.other, 1200);
}

/* What a run can leave is hours old at most, so the days of which a sweep asks are enough; try_all asks for all days at its end. */
static void expect_nothing_waits(void)
{
    EXPECT_I64(mail_fixture_count_recent(MAIL_WAITING), 0);
}

/* Told OK: it is sent. Told UNKNOWN: perhaps. Anything else: never. */
static bool queue_with_fault(int n, FaultFate fate, int lasts)
{
    MailMessage message = mail_fixture_message(++run_number);
    fixture.faulty.calls = 0;
    faulty_plan(&fixture.faulty, n, fate, lasts);
    Status told = mail_send(fixture.mail, &message, NULL);
    bool struck = faulty_struck(&fixture.faulty);
    live_on();
    int taken = mail_fixture_taken(fixture.mail, run_number);
    EXPECT(taken <= 1);
    if (told == STATUS_OK)
        EXPECT_I64(taken, 1);
    else if (told != STATUS_UNKNOWN)
        EXPECT_I64(taken, 0);
    if (told != STATUS_OK) { /* the same again is safe */
        EXPECT_STATUS(mail_send(fixture.mail, &message, NULL), STATUS_OK);
        live_on();
        EXPECT_I64(mail_fixture_taken(fixture.mail, run_number), 1);
    }
    expect_nothing_waits();
    return struck;
}

/* A fault while it is being sent: at least once, and twice only when the note of it was lost. */
static bool send_with_fault(int n, FaultFate fate, int lasts)
{
    MailMessage message = mail_fixture_message(++run_number);
    EXPECT_STATUS(mail_send(fixture.mail, &message, NULL), STATUS_OK);
    fixture.faulty.calls = 0;
    faulty_plan(&fixture.faulty, n, fate, lasts);
    mail_fixture_run(fixture.mail);
    bool struck = faulty_struck(&fixture.faulty);
    live_on();
    mail_fixture_run_for(fixture.mail, 600);
    int taken = mail_fixture_taken(fixture.mail, run_number);
    EXPECT(taken >= 1 && taken <= 2);
    expect_nothing_waits();
    EXPECT_I64(mail_fixture_count(MAIL_FAILED), 0);
    return struck;
}

/* Somebody else queued it and waits; a fault while this one finds it by its sweep, and sends it. */
static bool find_with_fault(int n, FaultFate fate, int lasts)
{
    MailMessage message = mail_fixture_message(++run_number);
    EXPECT_STATUS(mail_send(fixture.other, &message, NULL), STATUS_OK);
    contract_pass_s(SWEEP_S);
    fixture.faulty.calls = 0;
    faulty_plan(&fixture.faulty, n, fate, lasts);
    mail_fixture_run(fixture.mail);
    bool struck = faulty_struck(&fixture.faulty);
    live_on();
    mail_fixture_run_for(fixture.mail, 600);
    int taken = mail_fixture_taken(fixture.mail, run_number);
    EXPECT(taken >= 1 && taken <= 2);
    expect_nothing_waits();
    EXPECT_I64(mail_fixture_count(MAIL_FAILED), 0);
    return struck;
}

/* Queued and refused, with a fault on the way: it is listed as failed in the end, and once. */
static bool refuse(int n, FaultFate fate, int lasts, Id *ret_id)
{
    MailMessage message = mail_fixture_message(++run_number);
    mail_fixture_run(fixture.mail); /* its sweep is through: find_with_fault is about that */
    EXPECT_STATUS(mail_send(fixture.mail, &message, NULL), STATUS_OK);
    fixture.office.mood = OFFICE_REFUSES;
    fixture.faulty.calls = 0;
    faulty_plan(&fixture.faulty, n, fate, lasts);
    mail_fixture_run(fixture.mail);
    bool struck = faulty_struck(&fixture.faulty);
    live_on();
    expect_nothing_waits();
    EXPECT_I64(mail_fixture_count(MAIL_FAILED), 1);
    MailEntry *entries;
    size_t count;
    EXPECT_STATUS(mail_list(fixture.other, MAIL_FAILED, contract_arena(), &entries, &count),
                  STATUS_OK);
    fixture.office.mood = OFFICE_TAKES;
    *ret_id = entries[0].id;
    return struck;
}

/* Tried again by hand, it is sent: nothing of a fault that is over is in its way. */
static bool refuse_with_fault(int n, FaultFate fate, int lasts)
{
    Id id;
    bool struck = refuse(n, fate, lasts, &id);
    EXPECT_STATUS(mail_retry(fixture.mail, id), STATUS_OK);
    /* Another finds it by a sweep; the one that was asked still believes that it waits. */
    mail_fixture_run_for(fixture.other, 400);
    EXPECT_I64(mail_fixture_taken(fixture.mail, run_number), 1);
    EXPECT_I64(mail_fixture_count(MAIL_FAILED), 0);
    return struck;
}

/* A fault while it fails and another while it is tried again: it is failed or waiting, and in one list. */
static bool retry_with_fault(int n, FaultFate fate, int lasts)
{
    Id id;
    (void)refuse(n, fate, lasts, &id);
    fixture.faulty.calls = 0;
    faulty_plan(&fixture.faulty, n, fate, lasts);
    (void)!mail_retry(fixture.mail, id);
    bool struck = faulty_struck(&fixture.faulty);
    fixture.faulty.at = 0;
    faulty_deliver(&fixture.faulty);
    EXPECT_I64(mail_fixture_count(MAIL_FAILED) + mail_fixture_count_recent(MAIL_WAITING), 1);
    if (mail_fixture_count(MAIL_FAILED) == 1)
        EXPECT_STATUS(mail_retry(fixture.mail, id), STATUS_OK);
    live_on();
    EXPECT_I64(mail_fixture_taken(fixture.mail, run_number), 1);
    EXPECT_I64(mail_fixture_count(MAIL_FAILED), 0);
    return struck;
}

static void try_all(bool (*run)(int n, FaultFate fate, int lasts))
{
    int runs = 0;
    mail_fixture_begin();
    mail_fixture_run(fixture.mail); /* the long look at the start is through */
    for (int fate = 0; fate < FAULT_FATES; fate++)
        for (int k = 0; k < 3; k++)
            for (int n = 1, more = 1; more; n++, runs++) {
                more = run(n, (FaultFate)fate, LASTS[k]);
                if (n > 300)
                    test_fail(__FILE__, __LINE__, "never gets through");
            }
    EXPECT_I64(mail_fixture_count(MAIL_WAITING), 0);
    printf("# %d runs\n", runs);
    EXPECT(runs > 20);
    mail_fixture_end();
}

TEST(a_fault_while_queueing_tells_the_truth)
{
    try_all(queue_with_fault);
}

TEST(a_fault_while_sending_loses_nothing)
{
    try_all(send_with_fault);
}

/* How many calls a sweep takes that finds nothing. */
static int count_sweep(void)
{
    contract_pass_s(SWEEP_S);
    fixture.faulty.calls = 0;
    mail_fixture_run(fixture.mail);
    return fixture.faulty.calls;
}

/* A sweep asks hour after hour and gives up at the first that does not answer, so of these the first, the last and one between them stand for
 * all; what comes after them is tried call by call, and since only that writes, only that has more than one fate. */
TEST(a_fault_while_a_sweep_finds_it_loses_nothing)
{
    mail_fixture_begin();
    mail_fixture_run(fixture.mail);
    int hours = count_sweep(), runs = 0;
    EXPECT(hours > 10);
    for (int fate = 0; fate < FAULT_FATES; fate++)
        for (int k = 0; k < 3; k++)
            for (int n = fate == 0 ? 1 : hours + 1, more = 1; more; runs++) {
                more = find_with_fault(n, (FaultFate)fate, LASTS[k]);
                EXPECT(more || n > hours + 2);
                n = n == 1 ? hours / 2 : n < hours ? hours : n + 1;
                if (n > hours + 300)
                    test_fail(__FILE__, __LINE__, "never gets through");
            }
    EXPECT_I64(mail_fixture_count(MAIL_WAITING), 0);
    printf("# %d runs\n", runs);
    mail_fixture_end();
}

TEST(a_fault_while_failing_loses_nothing)
{
    try_all(refuse_with_fault);
}

TEST(a_fault_while_trying_again_loses_nothing)
{
    try_all(retry_with_fault);
}
