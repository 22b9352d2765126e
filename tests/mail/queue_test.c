/* queue_test.c -- the promises of mail.h, on a real store, with a post office instead of a server. */
#include "mail/inside.h"
#include "stage.h"

static void queue(int number)
{
    MailMessage message = stage_message(number);
    EXPECT_STATUS(mail_send(stage.mail, &message, NULL), STATUS_OK);
}

static MailEntry only(MailState state)
{
    MailEntry *entries;
    size_t count = 0;
    EXPECT_STATUS(mail_list(stage.other, state, contract_arena(), &entries, &count), STATUS_OK);
    EXPECT_I64(count, 1);
    return entries[0];
}

/* ---- Sending ------------------------------------------------------------------------------------------------- */

TEST(a_message_is_sent_once_and_forgotten)
{
    stage_begin();
    queue(1);
    EXPECT_I64(stage_count(MAIL_WAITING), 1);
    stage_run(stage.mail);
    EXPECT_I64(stage_taken(stage.mail, 1), 1);
    EXPECT_I64(stage_count(MAIL_WAITING), 0);
    stage_run_for(stage.mail, 3600);
    stage_run_for(stage.other, 3600);
    EXPECT_I64(stage.office.attempts, 1);
    EXPECT(stage_metric(stage.mail, "ostraka_mail_queued_total") == 1);
    EXPECT(stage_metric(stage.mail, "ostraka_mail_sent_total") == 1);
    EXPECT(stage_metric(stage.mail, "ostraka_mail_waiting") == 0);
    stage_end();
}

TEST(the_same_once_is_the_same_message)
{
    stage_begin();
    queue(1);
    queue(1);
    stage_run(stage.mail);
    queue(1);
    contract_pass_s(6 * S_PER_DAY);
    queue(1);
    stage_run(stage.mail);
    EXPECT_I64(stage_taken(stage.mail, 1), 1);
    EXPECT(stage_metric(stage.mail, "ostraka_mail_queued_total") == 1);
    queue(2);
    stage_run(stage.mail);
    EXPECT_I64(stage_taken(stage.mail, 2), 1);
    stage_end();
}

TEST(a_message_with_a_wrong_field_is_not_queued)
{
    stage_begin();
    Reason reason;
    MailMessage message = stage_message(1);
    message.subject = SLICE("a\r\nBcc: everyone@example.org");
    EXPECT_STATUS(mail_send(stage.mail, &message, &reason), STATUS_INVALID);
    EXPECT_SLICE(slice_from(reason.field), SLICE("subject"));
    EXPECT_I64(stage_count(MAIL_WAITING), 0);
    stage_end();
}

TEST(what_a_process_queued_its_successor_sends)
{
    stage_begin();
    for (int i = 0; i < 50; i++)
        queue(i);
    stage_restart();
    stage_run(stage.other);
    for (int i = 0; i < 50; i++)
        EXPECT_I64(stage_taken(stage.mail, i), 1);
    EXPECT_I64(stage_count(MAIL_WAITING), 0);
    stage_end();
}

TEST(another_instance_finds_what_is_left)
{
    stage_begin();
    stage_run(stage.other); /* looks, finds nothing */
    queue(1);
    stage_run_for(stage.other, 320);
    EXPECT_I64(stage_taken(stage.mail, 1), 1);
    stage_run(stage.mail); /* still remembers it, and finds it sent */
    EXPECT_I64(stage.office.attempts, 1);
    EXPECT(stage_metric(stage.mail, "ostraka_mail_waiting") == 0);
    stage_end();
}

TEST(more_messages_than_fit_into_memory)
{
    stage_begin();
    enum { COUNT = MAIL_WAITING_MOST + 500 };
    for (int i = 0; i < COUNT; i++)
        queue(i);
    stage_run(stage.mail);
    stage_run_for(stage.mail, 320);
    EXPECT_I64(stage.office.taken, COUNT);
    EXPECT_I64(stage_count(MAIL_WAITING), 0);
    stage_end();
}

/* ---- Trying again -------------------------------------------------------------------------------------------- */

TEST(a_4xx_is_tried_again_later_and_later)
{
    stage_begin();
    stage.office.mood = OFFICE_LATER;
    queue(1);
    stage_run(stage.mail);
    MailEntry entry = only(MAIL_WAITING);
    int64_t pause_us = entry.due_us - contract_now_us();
    EXPECT(pause_us >= 45 * US_PER_S && pause_us <= 75 * US_PER_S);
    EXPECT_I64(entry.code, 451);
    EXPECT_I64(entry.attempts, 1);
    EXPECT_SLICE(entry.error, SLICE("451 later, ann@example.org"));
    stage_run_for(stage.mail, 3600);
    EXPECT(stage.office.attempts >= 5 && stage.office.attempts <= 7);
    stage.office.mood = OFFICE_TAKES;
    stage_run_for(stage.mail, 2 * 3600);
    EXPECT_I64(stage_taken(stage.mail, 1), 1);
    stage_end();
}

TEST(a_5xx_about_the_message_has_failed_at_once)
{
    stage_begin();
    stage.office.mood = OFFICE_REFUSES;
    queue(1);
    stage_run_for(stage.mail, 3600);
    EXPECT_I64(stage.office.attempts, 1);
    EXPECT_I64(stage_count(MAIL_WAITING), 0);
    MailEntry entry = only(MAIL_FAILED);
    EXPECT_I64(entry.code, 550);
    EXPECT_SLICE(entry.to, SLICE("ann@example.org"));
    EXPECT_SLICE(entry.error, SLICE("550 no ann@example.org here"));
    EXPECT_SLICE(entry.kind, SLICE("test"));
    EXPECT(stage_metric(stage.mail, "ostraka_mail_failed_total") == 1);
    stage_end();
}

TEST(after_two_days_a_message_has_failed)
{
    stage_begin();
    stage.office.mood = OFFICE_LATER;
    queue(1);
    stage_run(stage.mail);
    stage_run_for(stage.mail, 2 * S_PER_DAY - 60);
    EXPECT_I64(stage_count(MAIL_WAITING), 1);
    stage_run_for(stage.mail, 120);
    EXPECT_I64(stage_count(MAIL_WAITING), 0);
    EXPECT_I64(only(MAIL_FAILED).code, 451);
    EXPECT(stage.office.attempts >= 15 && stage.office.attempts <= 20);
    stage_end();
}

TEST(a_failed_message_gets_another_two_days_when_asked)
{
    stage_begin();
    stage.office.mood = OFFICE_REFUSES;
    queue(1);
    stage_run(stage.mail);
    Id id = only(MAIL_FAILED).id;
    contract_pass_s(20 * S_PER_DAY);
    stage.office.mood = OFFICE_LATER;
    EXPECT_STATUS(mail_retry(stage.mail, id), STATUS_OK);
    EXPECT_STATUS(mail_retry(stage.mail, id), STATUS_CONFLICT);
    EXPECT_I64(stage_count(MAIL_FAILED), 0);
    stage_run(stage.mail);
    EXPECT_I64(only(MAIL_WAITING).attempts, 1);
    stage.office.mood = OFFICE_TAKES;
    stage_run_for(stage.mail, 120);
    EXPECT_I64(stage_taken(stage.mail, 1), 1);
    EXPECT_STATUS(mail_retry(stage.mail, id), STATUS_CONFLICT);
    EXPECT_STATUS(mail_retry(stage.mail, (Id){{1}}), STATUS_NOT_FOUND);
    stage_end();
}

TEST(while_the_server_is_away_one_message_tries)
{
    stage_begin();
    stage.office.mood = OFFICE_IS_AWAY;
    for (int i = 0; i < 100; i++)
        queue(i);
    stage_run_for(stage.mail, 600);
    EXPECT(stage.office.attempts >= 2 && stage.office.attempts <= 8);
    stage.office.mood = OFFICE_TAKES;
    stage_run_for(stage.mail, 1800);
    for (int i = 0; i < 100; i++)
        EXPECT_I64(stage_taken(stage.mail, i), 1);
    stage_end();
}

TEST(one_bad_recipient_holds_up_nobody)
{
    stage_begin();
    stage.office.mood = OFFICE_LATER;
    queue(1);
    stage_run(stage.mail);
    stage.office.mood = OFFICE_TAKES;
    queue(2);
    stage_run(stage.mail);
    EXPECT_I64(stage_taken(stage.mail, 2), 1);
    EXPECT_I64(stage_taken(stage.mail, 1), 0);
    stage_end();
}

/* ---- At least once ------------------------------------------------------------------------------------------- */

TEST(an_answer_that_got_lost_sends_the_same_message_again)
{
    stage_begin();
    stage.office.mood = OFFICE_LOSES_US;
    queue(1);
    stage_run(stage.mail);
    EXPECT_I64(stage_count(MAIL_WAITING), 1);
    stage.office.mood = OFFICE_TAKES;
    stage_run_for(stage.mail, 600);
    EXPECT_I64(stage_taken(stage.mail, 1), 2); /* with one Message-ID */
    EXPECT_I64(stage_count(MAIL_WAITING), 0);
    stage_end();
}

static void other_takes_a_turn(void)
{
    stage.office.before = NULL;
    stage_run(stage.other);
}

TEST(a_message_that_somebody_sends_is_left_alone)
{
    stage_begin();
    queue(1);
    stage.office.before = other_takes_a_turn; /* in the middle of the attempt */
    stage_run(stage.mail);
    EXPECT_I64(stage.office.attempts, 1);
    EXPECT_I64(stage_taken(stage.mail, 1), 1);
    stage_end();
}

static void store_fails(void)
{
    stage.office.before = NULL;
    faulty_plan(&stage.faulty, 1, FAULT_REFUSED, FAULT_FOREVER);
    stage.faulty.calls = 0;
}

TEST(who_dies_in_the_middle_is_succeeded_after_the_lease)
{
    stage_begin();
    stage.office.mood = OFFICE_IS_AWAY;
    stage.office.before = store_fails;
    queue(1);
    (void)mail_turn(stage.mail);
    stage.office.mood = OFFICE_TAKES;
    stage_run(stage.other);
    EXPECT_I64(stage.office.taken, 0);
    stage_run_for(stage.other, 3 * stage.config.smtp_seconds + 5 + 60);
    EXPECT_I64(stage_taken(stage.mail, 1), 1);
    stage_end();
}

TEST(what_waited_while_nobody_was_there_has_failed_and_is_listed)
{
    stage_begin();
    queue(1);
    contract_pass_s(20 * S_PER_DAY);
    stage_restart();
    stage_run(stage.mail);
    EXPECT_I64(stage.office.attempts, 0);
    EXPECT_SLICE(only(MAIL_FAILED).error, SLICE("it waited for more than 2 days"));
    stage_end();
}

TEST(a_clock_that_was_a_day_ahead_holds_up_nothing)
{
    stage_begin();
    int64_t now_us = contract_now_us();
    contract_set_now_us(now_us + S_PER_DAY * US_PER_S);
    queue(1);
    contract_set_now_us(now_us);
    stage_run(stage.mail);
    EXPECT_I64(stage_taken(stage.mail, 1), 1);
    stage_end();
}

TEST(rows_expire)
{
    stage_begin();
    queue(1);
    stage_run(stage.mail);
    stage.office.mood = OFFICE_REFUSES;
    queue(2);
    stage_run(stage.mail);
    contract_pass_s(40 * S_PER_DAY);
    ScanPage page;
    EXPECT_STATUS(
        store_scan(stage.store, &TABLE_MAIL_QUEUE, SLICE_EMPTY, 100, contract_arena(), &page),
        STATUS_OK);
    EXPECT_I64(page.count, 0);
    EXPECT_STATUS(
        store_scan(stage.store, &TABLE_MAIL_INDEX, SLICE_EMPTY, 100, contract_arena(), &page),
        STATUS_OK);
    EXPECT_I64(page.count, 0);
    stage_end();
}

static size_t cells_in(const Table *table)
{
    ScanPage page;
    EXPECT_STATUS(store_scan(stage.store, table, SLICE_EMPTY, 100, contract_arena(), &page),
                  STATUS_OK);
    return page.count;
}

TEST(a_failed_letter_stays_as_long_as_was_set_when_it_failed_and_its_text_no_longer)
{
    stage_begin();
    stage.office.mood = OFFICE_REFUSES;
    mail_keep_failed(stage.mail, 3);
    queue(1);
    stage_run(stage.mail);
    mail_keep_failed(stage.mail, 60);
    queue(2);
    stage_run(stage.mail);
    EXPECT_I64(stage_count(MAIL_FAILED), 2);
    contract_pass_s(3 * S_PER_DAY - 60);
    EXPECT_I64(stage_count(MAIL_FAILED), 2);
    contract_pass_s(120);
    EXPECT_I64(stage_count(MAIL_FAILED), 1);
    EXPECT_I64(cells_in(&TABLE_MAIL_QUEUE), 2); /* the head and the text of the other */
    contract_pass_s(56 * S_PER_DAY);
    MailEntry entry = only(MAIL_FAILED);
    EXPECT_SLICE(entry.subject, stage_message(2).subject); /* also after what waits would be gone */
    stage.office.mood = OFFICE_TAKES;
    EXPECT_STATUS(mail_retry(stage.mail, entry.id), STATUS_OK);
    contract_pass_s(
        10 * S_PER_DAY); /* the text waits with it, and does not go when it would have gone */
    EXPECT_SLICE(only(MAIL_WAITING).subject, stage_message(2).subject);
    stage_end();
}

/* ---- Secrets ------------------------------------------------------------------------------------------------- */

static void expect_nowhere(const Table *table, Slice word)
{
    ScanPage page;
    EXPECT_STATUS(store_scan(stage.store, table, SLICE_EMPTY, 1000, contract_arena(), &page),
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
    stage_begin();
    stage.office.mood = OFFICE_LATER;
    MailMessage message = stage_message(1);
    message.once = SLICE("the secret of a link");
    EXPECT_STATUS(mail_send(stage.mail, &message, NULL), STATUS_OK);
    stage_run(stage.mail);
    static const char *const WORDS[] = {"ann",       "example.org", "Number",
                                        "Some text", "secret",      "451 later"};
    for (size_t i = 0; i < sizeof WORDS / sizeof WORDS[0]; i++) {
        expect_nowhere(&TABLE_MAIL_QUEUE, slice_from(WORDS[i]));
        expect_nowhere(&TABLE_MAIL_INDEX, slice_from(WORDS[i]));
    }
    stage_end();
}

TEST(a_text_that_cannot_be_opened_has_failed_and_stops_nothing)
{
    stage_begin();
    queue(1);
    Vault *own = stage.vault;
    stage.vault = vault_for_tests(2);
    Mail *stranger = stage_open(stage.store);
    stage_run(stranger);
    EXPECT_I64(stage.office.attempts, 0);
    EXPECT_I64(stage_count(MAIL_FAILED), 1);
    mail_close(stranger);
    vault_free(stage.vault);
    stage.vault = own;
    stage_end();
}

/* ---- Without a server ---------------------------------------------------------------------------------------- */

static void no_server(void)
{
    stage.config.smtp_url = "";
}

static void demo(void)
{
    stage.config.smtp_url = "";
    stage.config.mail_outbox = true;
}

TEST(without_a_server_nothing_is_queued_and_one_is_told)
{
    stage_begin_with(no_server);
    Reason reason;
    MailMessage message = stage_message(1);
    EXPECT(!mail_can_send(stage.mail) && !mail_has_outbox(stage.mail));
    EXPECT_STATUS(mail_send(stage.mail, &message, &reason), STATUS_REFUSED);
    EXPECT_SLICE(slice_from(reason.field), SLICE("smtp_url"));
    EXPECT_I64(stage_count(MAIL_WAITING), 0);
    stage_end();
}

TEST(a_demo_keeps_the_newest_hundred)
{
    stage_begin_with(demo);
    MailEntry *entries;
    size_t count = 0;
    EXPECT(mail_can_send(stage.mail) && mail_has_outbox(stage.mail));
    for (int i = 0; i < 120; i++) {
        contract_pass_s(1);
        queue(i);
    }
    stage_run_for(stage.mail, 600);
    EXPECT_I64(stage.office.attempts, 0);
    EXPECT_STATUS(mail_outbox(stage.other, contract_arena(), &entries, &count), STATUS_OK);
    EXPECT_I64(count, MAIL_OUTBOX_MOST);
    EXPECT_SLICE(entries[0].subject, SLICE("Number 119"));
    EXPECT_SLICE(entries[0].text, SLICE("Some text.\n"));
    EXPECT_SLICE(entries[0].html, SLICE("<p>Some text.</p>\n"));
    EXPECT_SLICE(entries[99].subject, SLICE("Number 20"));
    stage_end();
}

/* The field that mail_open names as wrong, or "". */
static Slice wrong_setting(void)
{
    Mail *mail = NULL;
    Reason reason = {.field = ""};
    MailOptions options = {
        .store = stage.store, .world = stage.world, .vault = stage.vault, .config = &stage.config};
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
    stage_begin_with(demo);
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        stage.config.listen = CASES[i].listen;
        stage.config.public_url = CASES[i].public_url;
        stage.config.trusted_proxies = CASES[i].proxies;
        EXPECT_SLICE(wrong_setting(), CASES[i].may ? SLICE_EMPTY : SLICE("mail_outbox"));
    }
    stage_end();
}

TEST(wrong_settings_are_named)
{
    stage_begin();
    stage.config.mail_from = "";
    EXPECT_SLICE(wrong_setting(), SLICE("mail_from"));
    stage.config.mail_from = "a@b";
    stage.config.smtp_password_file = "/nowhere/at/all";
    EXPECT_SLICE(wrong_setting(), SLICE("smtp_password_file"));
    stage.config.smtp_password_file = "";
    stage.config.smtp_url = "http://127.0.0.1";
    EXPECT_SLICE(wrong_setting(), SLICE("smtp_url"));
    stage.config.smtp_url = "smtp://127.0.0.1";
    EXPECT_SLICE(wrong_setting(), SLICE_EMPTY);
    stage_end();
}

/* ---- By hand ------------------------------------------------------------------------------------------------- */

TEST(an_operator_tries_at_once_and_sees_what_came_of_it)
{
    stage_begin();
    MailMessage message = stage_message(1);
    MailEntry entry;
    EXPECT_STATUS(mail_try(stage.mail, &message, contract_arena(), &entry, NULL), STATUS_OK);
    EXPECT_I64(entry.state, MAIL_SENT);
    EXPECT_STATUS(mail_try(stage.mail, &message, contract_arena(), &entry, NULL), STATUS_CONFLICT);
    stage.office.mood = OFFICE_REFUSES;
    message = stage_message(2);
    EXPECT_STATUS(mail_try(stage.mail, &message, contract_arena(), &entry, NULL), STATUS_OK);
    EXPECT_I64(entry.state, MAIL_FAILED);
    EXPECT_SLICE(entry.error, SLICE("550 no ann@example.org here"));
    stage.office.mood = OFFICE_IS_AWAY;
    message = stage_message(3);
    EXPECT_STATUS(mail_try(stage.mail, &message, contract_arena(), &entry, NULL), STATUS_OK);
    EXPECT_I64(entry.state, MAIL_WAITING);
    stage.office.mood = OFFICE_TAKES;
    stage_run_for(stage.mail, 120);
    EXPECT_I64(stage_taken(stage.mail, 3), 1);
    stage_end();
}
