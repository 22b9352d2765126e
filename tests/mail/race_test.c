/* race_test.c -- workers of several instances on one store, and people who send meanwhile: each message is sent, and once. */
#include "mail/mail_private.h"
#include "mail_fixture.h"

enum { THREADS = 4, EACH = 100, WORKERS = 3 };

static Mail *workers[WORKERS];
static char once[THREADS * EACH][16];

static MailMessage numbered(int number)
{
    return (MailMessage){.to = SLICE("ann@example.org"),
                         .subject = SLICE("Hello"),
                         .text = SLICE("Hello.\n"),
                         .html = SLICE_EMPTY,
                         .kind = SLICE("test"),
                         .once = slice_from(once[number])};
}

static void send_some(int index, void *context)
{
    (void)context;
    for (int i = 0; i < EACH; i++) {
        MailMessage message = numbered(index * EACH + i);
        for (int k = 0; k < 2; k++) /* somebody presses the button twice */
            CHECK(mail_send(workers[(index + k) % WORKERS], &message, NULL) == STATUS_OK);
    }
}

TEST(several_workers_send_each_message_once)
{
    mail_fixture_begin();
    Clock clock =
        world_real()
            .clock; /* naps take their time; the moment stays the same, so that no lease runs out */
    fixture.world.clock.sleep_us = clock.sleep_us;
    for (int i = 0; i < THREADS * EACH; i++)
        snprintf(once[i], sizeof once[i], "once %d", i);
    for (int i = 0; i < WORKERS; i++) {
        workers[i] = mail_fixture_open(fixture.store);
        mail_start(workers[i]);
    }
    contract_threads(THREADS, send_some, NULL);
    for (int tries = 0; fixture.office.taken < THREADS * EACH && tries < 600; tries++)
        clock_sleep_us(clock, 100 * US_PER_MS);
    double sent = 0;
    for (int i = 0; i < WORKERS; i++) {
        mail_stop(workers[i]);
        mail_stop(workers[i]);
        sent += mail_fixture_metric(workers[i], "ostraka_mail_sent_total");
    }
    EXPECT_I64(fixture.office.taken, THREADS * EACH);
    EXPECT(sent == THREADS * EACH);
    for (int i = 0; i < THREADS * EACH; i++) {
        int count = 0;
        ARENA_SCOPE Arena *arena = arena_new();
        Slice id = id_text(mail_row_id(workers[0], slice_from(once[i])), arena);
        for (int k = 0; k < fixture.office.taken; k++)
            count += slice_equal(slice_from(fixture.office.ids[k]), id);
        EXPECT_I64(count, 1);
    }
    for (int i = 0; i < WORKERS; i++)
        mail_fixture_close(workers[i]);
    mail_fixture_end();
}
