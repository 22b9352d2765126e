/* queue_test.c -- the promises of mail.h, on a real store, with a post office instead of a server. */
#include "mail/mail_private.h"
#include "mail_fixture.h"

static void queue(int number)
{
    MailMessage message = mail_fixture_message(number);
    EXPECT_STATUS(mail_send(fixture.mail, &message, NULL), STATUS_OK);
}

static MailEntry only(MailState state)
{
    MailEntry *entries;
    size_t count = 0;
    EXPECT_STATUS(mail_list(fixture.other, state, contract_arena(), &entries, &count), STATUS_OK);
    EXPECT_I64(count, 1);
    return entries[0];
}

/* ---- Sending ------------------------------------------------------------------------------------------------- */

TEST(a_message_is_sent_once_and_forgotten)
{
    mail_fixture_begin();
    queue(1);
    EXPECT_I64(mail_fixture_count(MAIL_WAITING), 1);
    mail_fixture_run(fixture.mail);
    EXPECT_I64(mail_fixture_taken(fixture.mail, 1), 1);
    EXPECT_I64(mail_fixture_count(MAIL_WAITING), 0);
    mail_fixture_run_for(fixture.mail, 3600);
    mail_fixture_run_for(fixture.other, 3600);
    EXPECT_I64(fixture.office.attempts, 1);
    EXPECT(mail_fixture_metric(fixture.mail, "ostraka_mail_queued_total") == 1);
    EXPECT(mail_fixture_metric(fixture.mail, "ostraka_mail_sent_total") == 1);
    EXPECT(mail_fixture_metric(fixture.mail, "ostraka_mail_waiting") == 0);
    mail_fixture_end();
}

TEST(the_same_once_is_the_same_message)
{
    mail_fixture_begin();
    queue(1);
    queue(1);
    mail_fixture_run(fixture.mail);
    queue(1);
    contract_pass_s(6 * S_PER_DAY);
    queue(1);
    mail_fixture_run(fixture.mail);
    EXPECT_I64(mail_fixture_taken(fixture.mail, 1), 1);
    EXPECT(mail_fixture_metric(fixture.mail, "ostraka_mail_queued_total") == 1);
    queue(2);
    mail_fixture_run(fixture.mail);
    EXPECT_I64(mail_fixture_taken(fixture.mail, 2), 1);
    mail_fixture_end();
}

TEST(a_message_with_a_wrong_field_is_not_queued)
{
    mail_fixture_begin();
    Reason reason;
    MailMessage message = mail_fixture_message(1);
    message.subject = SLICE("a\r\nBcc: everyone@example.org");
    EXPECT_STATUS(mail_send(fixture.mail, &message, &reason), STATUS_INVALID);
    EXPECT_SLICE(slice_from(reason.field), SLICE("subject"));
    EXPECT_I64(mail_fixture_count(MAIL_WAITING), 0);
    mail_fixture_end();
}

TEST(what_a_process_queued_its_successor_sends)
{
    mail_fixture_begin();
    for (int i = 0; i < 50; i++)
        queue(i);
    mail_fixture_restart();
    mail_fixture_run(fixture.other);
    for (int i = 0; i < 50; i++)
        EXPECT_I64(mail_fixture_taken(fixture.mail, i), 1);
    EXPECT_I64(mail_fixture_count(MAIL_WAITING), 0);
    mail_fixture_end();
}

TEST(another_instance_finds_what_is_left)
{
    mail_fixture_begin();
    mail_fixture_run(fixture.other); /* looks, finds nothing */
    queue(1);
    mail_fixture_run_for(fixture.other, 320);
    EXPECT_I64(mail_fixture_taken(fixture.mail, 1), 1);
    mail_fixture_run(fixture.mail); /* still remembers it, and finds it sent */
    EXPECT_I64(fixture.office.attempts, 1);
    EXPECT(mail_fixture_metric(fixture.mail, "ostraka_mail_waiting") == 0);
    mail_fixture_end();
}

TEST(more_messages_than_are_found_at_once)
{
    mail_fixture_begin();
    enum { COUNT = MAIL_SWEEP_MAX + 500 };
    for (int i = 0; i < COUNT; i++)
        queue(i);
    mail_fixture_run(fixture.other);
    mail_fixture_run_for(fixture.other, 320);
    EXPECT_I64(fixture.office.taken, COUNT);
    EXPECT_I64(mail_fixture_count(MAIL_WAITING), 0);
    mail_fixture_end();
}

TEST(a_journal_that_fails_holds_up_nothing)
{
    mail_fixture_begin();
    mail_fixture_run(fixture.mail);
    memory_log_fail(mail_fixture_kept(fixture.mail), 1, MEMORY_FAILS);
    memory_log_break(mail_fixture_kept(fixture.mail), true);
    fixture.office.mood = OFFICE_LATER;
    queue(1);
    mail_fixture_run_for(fixture.mail, 20);
    EXPECT_I64(fixture.office.attempts, 1);
    fixture.office.mood = OFFICE_TAKES;
    mail_fixture_run_for(fixture.mail, 120);
    EXPECT_I64(mail_fixture_taken(fixture.mail, 1), 1);
    queue(2);
    memory_log_break(mail_fixture_kept(fixture.mail), false);
    mail_fixture_run_for(fixture.mail, 20); /* it opens again by itself */
    queue(3);
    mail_fixture_run(fixture.mail);
    EXPECT_I64(mail_fixture_taken(fixture.mail, 2), 1);
    EXPECT_I64(mail_fixture_taken(fixture.mail, 3), 1);
    EXPECT_I64(fixture.office.attempts, 4);
    mail_fixture_end();
}

TEST(nobody_waits_behind_digests)
{
    mail_fixture_begin();
    mail_fixture_run(fixture.mail);
    ARENA_SCOPE Arena *arena = arena_new();
    for (int i = 1; i <= 10; i++) {
        MailMessage message = mail_fixture_message(i);
        message.kind = SLICE("digest");
        EXPECT_STATUS(mail_send(fixture.mail, &message, NULL), STATUS_OK);
    }
    queue(11);
    mail_fixture_run(fixture.mail);
    EXPECT_I64(fixture.office.taken, 11);
    EXPECT_SLICE(slice_from(fixture.office.ids[0]),
                 id_text(mail_row_id(fixture.mail, mail_fixture_message(11).once), arena));
    mail_fixture_end();
}

/* ---- Trying again -------------------------------------------------------------------------------------------- */

TEST(a_4xx_is_tried_again_later_and_later)
{
    mail_fixture_begin();
    fixture.office.mood = OFFICE_LATER;
    queue(1);
    mail_fixture_run(fixture.mail);
    MailEntry entry = only(MAIL_WAITING);
    int64_t pause_us = entry.due_us - contract_now_us();
    EXPECT(pause_us >= 45 * US_PER_S && pause_us <= 75 * US_PER_S);
    EXPECT_I64(entry.code, 451);
    EXPECT_I64(entry.attempts, 1);
    EXPECT_SLICE(entry.error, SLICE("451 later, ann@example.org"));
    mail_fixture_run_for(fixture.mail, 3600);
    EXPECT(fixture.office.attempts >= 5 && fixture.office.attempts <= 7);
    fixture.office.mood = OFFICE_TAKES;
    mail_fixture_run_for(fixture.mail, 2 * 3600);
    EXPECT_I64(mail_fixture_taken(fixture.mail, 1), 1);
    mail_fixture_end();
}

TEST(a_5xx_about_the_message_has_failed_at_once)
{
    mail_fixture_begin();
    fixture.office.mood = OFFICE_REFUSES;
    queue(1);
    mail_fixture_run_for(fixture.mail, 3600);
    EXPECT_I64(fixture.office.attempts, 1);
    EXPECT_I64(mail_fixture_count(MAIL_WAITING), 0);
    MailEntry entry = only(MAIL_FAILED);
    EXPECT_I64(entry.code, 550);
    EXPECT_SLICE(entry.to, SLICE("ann@example.org"));
    EXPECT_SLICE(entry.error, SLICE("550 no ann@example.org here"));
    EXPECT_SLICE(entry.kind, SLICE("test"));
    EXPECT(mail_fixture_metric(fixture.mail, "ostraka_mail_failed_total") == 1);
    mail_fixture_end();
}

TEST(after_two_days_a_message_has_failed)
{
    mail_fixture_begin();
    fixture.office.mood = OFFICE_LATER;
    queue(1);
    mail_fixture_run(fixture.mail);
    mail_fixture_run_for(fixture.mail, 2 * S_PER_DAY - 60);
    EXPECT_I64(mail_fixture_count(MAIL_WAITING), 1);
    mail_fixture_run_for(fixture.mail, 120);
    EXPECT_I64(mail_fixture_count(MAIL_WAITING), 0);
    EXPECT_I64(only(MAIL_FAILED).code, 451);
    EXPECT(fixture.office.attempts >= 15 && fixture.office.attempts <= 20);
    mail_fixture_end();
}

TEST(a_failed_message_gets_another_two_days_when_asked)
{
    mail_fixture_begin();
    fixture.office.mood = OFFICE_REFUSES;
    queue(1);
    mail_fixture_run(fixture.mail);
    Id id = only(MAIL_FAILED).id;
    contract_pass_s(20 * S_PER_DAY);
    fixture.office.mood = OFFICE_LATER;
    EXPECT_STATUS(mail_retry(fixture.mail, id), STATUS_OK);
    EXPECT_STATUS(mail_retry(fixture.mail, id), STATUS_CONFLICT);
    EXPECT_I64(mail_fixture_count(MAIL_FAILED), 0);
    mail_fixture_run(fixture.mail);
    EXPECT_I64(only(MAIL_WAITING).attempts, 1);
    fixture.office.mood = OFFICE_TAKES;
    mail_fixture_run_for(fixture.mail, 120);
    EXPECT_I64(mail_fixture_taken(fixture.mail, 1), 1);
    EXPECT_STATUS(mail_retry(fixture.mail, id), STATUS_CONFLICT);
    EXPECT_STATUS(mail_retry(fixture.mail, (Id){{1}}), STATUS_NOT_FOUND);
    mail_fixture_end();
}

TEST(while_the_server_is_away_one_message_tries)
{
    mail_fixture_begin();
    fixture.office.mood = OFFICE_IS_AWAY;
    for (int i = 0; i < 100; i++)
        queue(i);
    mail_fixture_run_for(fixture.mail, 600);
    EXPECT(fixture.office.attempts >= 2 && fixture.office.attempts <= 8);
    fixture.office.mood = OFFICE_TAKES;
    mail_fixture_run_for(fixture.mail, 1800);
    for (int i = 0; i < 100; i++)
        EXPECT_I64(mail_fixture_taken(fixture.mail, i), 1);
    mail_fixture_end();
}

TEST(one_bad_recipient_holds_up_nobody)
{
    mail_fixture_begin();
    fixture.office.mood = OFFICE_LATER;
    queue(1);
    mail_fixture_run(fixture.mail);
    fixture.office.mood = OFFICE_TAKES;
    queue(2);
    mail_fixture_run(fixture.mail);
    EXPECT_I64(mail_fixture_taken(fixture.mail, 2), 1);
    EXPECT_I64(mail_fixture_taken(fixture.mail, 1), 0);
    mail_fixture_end();
}

/* ---- At least once ------------------------------------------------------------------------------------------- */

TEST(an_answer_that_got_lost_sends_the_same_message_again)
{
    mail_fixture_begin();
    fixture.office.mood = OFFICE_LOSES_US;
    queue(1);
    mail_fixture_run(fixture.mail);
    EXPECT_I64(mail_fixture_count(MAIL_WAITING), 1);
    fixture.office.mood = OFFICE_TAKES;
    mail_fixture_run_for(fixture.mail, 600);
    EXPECT_I64(mail_fixture_taken(fixture.mail, 1), 2); /* with one Message-ID */
    EXPECT_I64(mail_fixture_count(MAIL_WAITING), 0);
    mail_fixture_end();
}

static void other_takes_a_turn(void)
{
    fixture.office.before = NULL;
    mail_fixture_run(fixture.other);
}

TEST(a_message_that_somebody_sends_is_left_alone)
{
    mail_fixture_begin();
    queue(1);
    fixture.office.before = other_takes_a_turn; /* in the middle of the attempt */
    mail_fixture_run(fixture.mail);
    EXPECT_I64(fixture.office.attempts, 1);
    EXPECT_I64(mail_fixture_taken(fixture.mail, 1), 1);
    mail_fixture_end();
}

static void store_fails(void)
{
    fixture.office.before = NULL;
    faulty_plan(&fixture.faulty, 1, FAULT_REFUSED, FAULT_FOREVER);
    fixture.faulty.calls = 0;
}

TEST(who_dies_in_the_middle_is_succeeded_after_the_lease)
{
    mail_fixture_begin();
    fixture.office.mood = OFFICE_IS_AWAY;
    fixture.office.before = store_fails;
    queue(1);
    (void)mail_turn(fixture.mail);
    fixture.office.mood = OFFICE_TAKES;
    mail_fixture_run(fixture.other);
    EXPECT_I64(fixture.office.taken, 0);
    mail_fixture_run_for(fixture.other, 3 * fixture.config.smtp_seconds + 5 + 60);
    EXPECT_I64(mail_fixture_taken(fixture.mail, 1), 1);
    mail_fixture_end();
}

TEST(what_waited_while_nobody_was_there_has_failed_and_is_listed)
{
    mail_fixture_begin();
    queue(1);
    contract_pass_s(20 * S_PER_DAY);
    mail_fixture_restart();
    mail_fixture_run(fixture.mail);
    EXPECT_I64(fixture.office.attempts, 0);
    EXPECT_SLICE(only(MAIL_FAILED).error, SLICE("it waited for more than 2 days"));
    mail_fixture_end();
}

TEST(a_clock_that_was_a_day_ahead_holds_up_nothing)
{
    mail_fixture_begin();
    int64_t now_us = contract_now_us();
    contract_set_now_us(now_us + S_PER_DAY * US_PER_S);
    queue(1);
    contract_set_now_us(now_us);
    mail_fixture_run(fixture.mail);
    EXPECT_I64(mail_fixture_taken(fixture.mail, 1), 1);
    mail_fixture_end();
}

TEST(rows_expire)
{
    mail_fixture_begin();
    queue(1);
    mail_fixture_run(fixture.mail);
    fixture.office.mood = OFFICE_REFUSES;
    queue(2);
    mail_fixture_run(fixture.mail);
    contract_pass_s(40 * S_PER_DAY);
    ScanPage page;
    EXPECT_STATUS(
        store_scan(fixture.store, &TABLE_MAIL_QUEUE, SLICE_EMPTY, 100, contract_arena(), &page),
        STATUS_OK);
    EXPECT_I64(page.count, 0);
    EXPECT_STATUS(
        store_scan(fixture.store, &TABLE_MAIL_INDEX, SLICE_EMPTY, 100, contract_arena(), &page),
        STATUS_OK);
    EXPECT_I64(page.count, 0);
    mail_fixture_end();
}

static size_t cells_in(const Table *table)
{
    ScanPage page;
    EXPECT_STATUS(store_scan(fixture.store, table, SLICE_EMPTY, 100, contract_arena(), &page),
                  STATUS_OK);
    return page.count;
}

TEST(a_failed_letter_stays_as_long_as_was_set_when_it_failed_and_its_text_no_longer)
{
    mail_fixture_begin();
    fixture.office.mood = OFFICE_REFUSES;
    mail_keep_failed(fixture.mail, 3);
    queue(1);
    mail_fixture_run(fixture.mail);
    mail_keep_failed(fixture.mail, 60);
    queue(2);
    mail_fixture_run(fixture.mail);
    EXPECT_I64(mail_fixture_count(MAIL_FAILED), 2);
    contract_pass_s(3 * S_PER_DAY - 60);
    EXPECT_I64(mail_fixture_count(MAIL_FAILED), 2);
    contract_pass_s(120);
    EXPECT_I64(mail_fixture_count(MAIL_FAILED), 1);
    EXPECT_I64(cells_in(&TABLE_MAIL_QUEUE), 2); /* the head and the text of the other */
    contract_pass_s(56 * S_PER_DAY);
    MailEntry entry = only(MAIL_FAILED);
    EXPECT_SLICE(entry.subject,
                 mail_fixture_message(2).subject); /* also after what waits would be gone */
    fixture.office.mood = OFFICE_TAKES;
    EXPECT_STATUS(mail_retry(fixture.mail, entry.id), STATUS_OK);
    contract_pass_s(
        10 * S_PER_DAY); /* the text waits with it, and does not go when it would have gone */
    EXPECT_SLICE(only(MAIL_WAITING).subject, mail_fixture_message(2).subject);
    mail_fixture_end();
}

/* ---- Secrets ------------------------------------------------------------------------------------------------- */

static void expect_nowhere(const Table *table, Slice word)
{
    ScanPage page;
    EXPECT_STATUS(store_scan(fixture.store, table, SLICE_EMPTY, 1000, contract_arena(), &page),
                  STATUS_OK);
    EXPECT(page.count > 0);
    for (size_t i = 0; i < page.count; i++) {
        Slice row = page.cells[i].row, value = page.cells[i].cell.value;
        EXPECT(memmem(row.data, row.size, word.data, word.size) == NULL);
        EXPECT(memmem(value.data, value.size, word.data, word.size) == NULL);
    }
}

TEST(the_store_holds_no_address_no_text_and_no_secret)
{
    mail_fixture_begin();
    fixture.office.mood = OFFICE_LATER;
    MailMessage message = mail_fixture_message(1);
    message.once = SLICE("the secret of a link");
    EXPECT_STATUS(mail_send(fixture.mail, &message, NULL), STATUS_OK);
    mail_fixture_run(fixture.mail);
    static const char *const WORDS[] = {"ann",       "example.org", "Number",
                                        "Some text", "secret",      "451 later"};
    for (size_t i = 0; i < sizeof WORDS / sizeof WORDS[0]; i++) {
        expect_nowhere(&TABLE_MAIL_QUEUE, slice_from(WORDS[i]));
        expect_nowhere(&TABLE_MAIL_INDEX, slice_from(WORDS[i]));
    }
    mail_fixture_end();
}

TEST(a_text_that_cannot_be_opened_has_failed_and_stops_nothing)
{
    mail_fixture_begin();
    queue(1);
    Vault *own = fixture.vault;
    fixture.vault = vault_for_tests(2);
    Mail *stranger = mail_fixture_open(fixture.store);
    mail_fixture_run(stranger);
    EXPECT_I64(fixture.office.attempts, 0);
    EXPECT_I64(mail_fixture_count(MAIL_FAILED), 1);
    mail_close(stranger);
    vault_free(fixture.vault);
    fixture.vault = own;
    mail_fixture_end();
}

/* ---- Without a server ---------------------------------------------------------------------------------------- */

static void no_server(void)
{
    fixture.config.smtp_url = "";
}

static void demo(void)
{
    fixture.config.smtp_url = "";
    fixture.config.mail_outbox = true;
}

TEST(without_a_server_nothing_is_queued_and_one_is_told)
{
    mail_fixture_begin_with(no_server);
    Reason reason;
    MailMessage message = mail_fixture_message(1);
    EXPECT(!mail_can_send(fixture.mail) && !mail_has_outbox(fixture.mail));
    EXPECT_STATUS(mail_send(fixture.mail, &message, &reason), STATUS_REFUSED);
    EXPECT_SLICE(slice_from(reason.field), SLICE("smtp_url"));
    EXPECT_I64(mail_fixture_count(MAIL_WAITING), 0);
    mail_fixture_end();
}

TEST(a_demo_keeps_the_newest_hundred)
{
    mail_fixture_begin_with(demo);
    MailEntry *entries;
    size_t count = 0;
    EXPECT(mail_can_send(fixture.mail) && mail_has_outbox(fixture.mail));
    for (int i = 0; i < 120; i++) {
        contract_pass_s(1);
        queue(i);
    }
    mail_fixture_run_for(fixture.mail, 600);
    EXPECT_I64(fixture.office.attempts, 0);
    EXPECT_STATUS(mail_outbox(fixture.other, contract_arena(), &entries, &count), STATUS_OK);
    EXPECT_I64(count, MAIL_OUTBOX_MAX);
    EXPECT_SLICE(entries[0].subject, SLICE("Number 119"));
    EXPECT_SLICE(entries[0].text, SLICE("Some text.\n"));
    EXPECT_SLICE(entries[0].html, SLICE("<p>Some text.</p>\n"));
    EXPECT_SLICE(entries[99].subject, SLICE("Number 20"));
    mail_fixture_end();
}

/* The field that mail_open names as wrong, or "". */
static Slice wrong_setting(void)
{
    Mail *mail = NULL;
    Reason reason = {.field = ""};
    MailOptions options = {.store = fixture.store,
                           .world = fixture.world,
                           .vault = fixture.vault,
                           .config = &fixture.config};
    Status status = mail_open(&options, &mail, &reason);
    EXPECT(status == STATUS_OK || (status == STATUS_INVALID && reason.rule[0] != '\0'));
    mail_close(mail);
    return arena_copy(contract_arena(), slice_from(reason.field));
}

TEST(an_outbox_is_for_loopback_only)
{
    static const struct {
        const char *listen, *public_url, *proxies;
        bool may;
    } CASES[] = {
        {"127.0.0.1:8080", "", "", true},
        {"localhost:8080", "http://localhost:8080", "", true},
        {"[::1]:8080", "http://[::1]:8080/", "", true},
        {"0.0.0.0:8080", "", "", false},
        {"[::]:8080", "", "", false},
        {"192.0.2.1:8080", "", "", false},
        {"127.example.org:8080", "", "", false},
        {"127.0.0.1:8080", "https://vote.example.org", "", false},
        {"127.0.0.1:8080", "http://127.0.0.1.example.org/", "", false},
        {"127.0.0.1:8080", "", "127.0.0.1", false},
    };
    mail_fixture_begin_with(demo);
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        fixture.config.listen = CASES[i].listen;
        fixture.config.public_url = CASES[i].public_url;
        fixture.config.trusted_proxies = CASES[i].proxies;
        EXPECT_SLICE(wrong_setting(), CASES[i].may ? SLICE_EMPTY : SLICE("mail_outbox"));
    }
    mail_fixture_end();
}

TEST(wrong_settings_are_named)
{
    mail_fixture_begin();
    fixture.config.mail_from = "";
    EXPECT_SLICE(wrong_setting(), SLICE("mail_from"));
    fixture.config.mail_from = "a@b";
    fixture.config.smtp_password_file = "/nowhere/at/all";
    EXPECT_SLICE(wrong_setting(), SLICE("smtp_password_file"));
    fixture.config.smtp_password_file = "";
    fixture.config.smtp_url = "http://127.0.0.1";
    EXPECT_SLICE(wrong_setting(), SLICE("smtp_url"));
    fixture.config.smtp_url = "smtp://127.0.0.1";
    EXPECT_SLICE(wrong_setting(), SLICE_EMPTY);
    mail_fixture_end();
}

/* ---- By hand ------------------------------------------------------------------------------------------------- */

TEST(an_operator_tries_at_once_and_sees_what_came_of_it)
{
    mail_fixture_begin();
    MailMessage message = mail_fixture_message(1);
    MailEntry entry;
    EXPECT_STATUS(mail_try(fixture.mail, &message, contract_arena(), &entry, NULL), STATUS_OK);
    EXPECT_I64(entry.state, MAIL_SENT);
    EXPECT_STATUS(mail_try(fixture.mail, &message, contract_arena(), &entry, NULL),
                  STATUS_CONFLICT);
    fixture.office.mood = OFFICE_REFUSES;
    message = mail_fixture_message(2);
    EXPECT_STATUS(mail_try(fixture.mail, &message, contract_arena(), &entry, NULL), STATUS_OK);
    EXPECT_I64(entry.state, MAIL_FAILED);
    EXPECT_SLICE(entry.error, SLICE("550 no ann@example.org here"));
    fixture.office.mood = OFFICE_IS_AWAY;
    message = mail_fixture_message(3);
    EXPECT_STATUS(mail_try(fixture.mail, &message, contract_arena(), &entry, NULL), STATUS_OK);
    EXPECT_I64(entry.state, MAIL_WAITING);
    fixture.office.mood = OFFICE_TAKES;
    mail_fixture_run_for(fixture.mail, 120);
    EXPECT_I64(mail_fixture_taken(fixture.mail, 3), 1);
    mail_fixture_end();
}
