/* mail_rules_test.c -- what follows from how an attempt went. */
#include "mail/mail_rules.h"
#include "test.h"

static const MailTimes TIMES = {.since_us = 0, .now_us = 0, .first_s = 60, .luck = 0};

static MailNext next_for(bool about_message, int code, int64_t now_us)
{
    SmtpAnswer answer = {.about_message = about_message, .code = code};
    MailTimes times = TIMES;
    times.now_us = now_us;
    return mail_next(&answer, 1, &times);
}

TEST(a_message_that_was_taken_is_sent)
{
    SmtpAnswer answer = {.taken = true, .code = 250};
    EXPECT_I64(mail_next(&answer, 1, &TIMES).state, MAIL_SENT);
}

TEST(only_a_5xx_about_the_message_is_final)
{
    EXPECT_I64(next_for(true, 550, 0).state, MAIL_FAILED);
    EXPECT_I64(next_for(true, 554, 0).state, MAIL_FAILED);
    EXPECT_I64(next_for(false, 535, 0).state, MAIL_WAITING);
    EXPECT_I64(next_for(false, 554, 0).state, MAIL_WAITING);
    EXPECT_I64(next_for(true, 451, 0).state, MAIL_WAITING);
    EXPECT_I64(next_for(false, 0, 0).state, MAIL_WAITING);
}

TEST(pauses_grow_up_to_six_hours)
{
    int64_t before_us = 0;
    for (uint32_t attempts = 1; attempts <= 9; attempts++) {
        int64_t pause_us = mail_pause_us(attempts, 60, 1 << 15);
        EXPECT(pause_us > before_us && pause_us <= MAIL_PAUSE_MOST_S * US_PER_S);
        EXPECT(pause_us > (INT64_C(59) << (attempts - 1)) * US_PER_S);
        EXPECT(pause_us < (INT64_C(61) << (attempts - 1)) * US_PER_S);
        before_us = pause_us;
    }
    EXPECT_I64(mail_pause_us(30, 60, UINT64_MAX), MAIL_PAUSE_MOST_S * US_PER_S);
    EXPECT_I64(mail_pause_us(UINT32_MAX, 3600, UINT64_MAX), MAIL_PAUSE_MOST_S * US_PER_S);
}

TEST(luck_moves_a_pause_by_a_quarter)
{
    int64_t least_us = INT64_MAX, most_us = 0;
    for (uint64_t luck = 0; luck < 1 << 17; luck += 97) {
        int64_t pause_us = mail_pause_us(1, 60, luck);
        least_us = pause_us < least_us ? pause_us : least_us;
        most_us = pause_us > most_us ? pause_us : most_us;
    }
    EXPECT_I64(least_us, 45 * US_PER_S);
    EXPECT(most_us > 74 * US_PER_S && most_us <= 75 * US_PER_S);
}

TEST(after_two_days_it_has_failed_and_the_last_attempt_is_then)
{
    const int64_t end_us = MAIL_GIVE_UP_S * US_PER_S;
    MailNext last = next_for(false, 0, end_us - US_PER_S);
    EXPECT_I64(last.state, MAIL_WAITING);
    EXPECT_I64(last.due_us, end_us);
    EXPECT_I64(next_for(false, 0, end_us).state, MAIL_FAILED);
    EXPECT(!mail_is_stale(0, end_us) && mail_is_stale(0, end_us + 2 * MAIL_LATE_S * US_PER_S));
}

TEST(a_whole_life_has_few_attempts)
{
    MailTimes times = TIMES;
    SmtpAnswer answer = {.code = 0};
    MailNext next = {MAIL_WAITING, 0};
    uint32_t attempts = 0;
    while (next.state == MAIL_WAITING) {
        times.now_us = next.due_us;
        next = mail_next(&answer, ++attempts, &times);
        EXPECT(next.state != MAIL_WAITING || next.due_us > times.now_us);
    }
    EXPECT_I64(times.now_us, MAIL_GIVE_UP_S * US_PER_S);
    EXPECT(attempts >= 15 && attempts <= 20);
}

TEST(a_server_that_is_away_is_asked_less_and_less_often)
{
    EXPECT_I64(mail_rest_us(1, 60), 60 * US_PER_S);
    EXPECT_I64(mail_rest_us(2, 60), 120 * US_PER_S);
    EXPECT_I64(mail_rest_us(10, 60), MAIL_REST_MOST_S * US_PER_S);
}

TEST(a_lease_is_longer_than_all_deadlines_of_an_attempt)
{
    for (int64_t seconds = 1; seconds <= 600; seconds++)
        EXPECT(mail_lease_us(seconds) > 2 * seconds * US_PER_S + 2 * US_PER_S);
}

TEST(a_clock_that_was_set_back_holds_nothing_up)
{
    const int64_t now_us = INT64_C(1900000000) * US_PER_S;
    EXPECT(mail_is_due(now_us, now_us) && mail_is_due(now_us - 1, now_us));
    EXPECT(!mail_is_due(now_us + 1, now_us));
    EXPECT(!mail_is_due(now_us + MAIL_PAUSE_MOST_S * US_PER_S, now_us));
    EXPECT(!mail_is_due(now_us + mail_lease_us(600), now_us));
    EXPECT(mail_is_due(now_us + S_PER_DAY * US_PER_S, now_us));
}
