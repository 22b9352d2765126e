/* suppress_test.c -- addresses that get only what they must: who gets there, what is not sent to them, and what is. */
#include "mail/suppress.h"

#include "mail/mail_rules.h"
#include "mail_fixture.h"

static MailMessage digest(int number)
{
    MailMessage message = mail_fixture_message(number);
    message.unsubscribe = SLICE("https://example.org/unsubscribe?token=x");
    return message;
}

static Status lookup(Slice address)
{
    Suppressed entry;
    return mail_suppressed(fixture.other, address, contract_arena(), &entry);
}

TEST(a_suppressed_address_gets_what_it_cannot_unsubscribe_from_and_nothing_else)
{
    mail_fixture_begin();
    MailMessage letter = mail_fixture_message(1), bulk = digest(2);
    Reason reason = {0};
    EXPECT_STATUS(mail_suppress(fixture.mail, bulk.to, SUPPRESS_OPERATOR, NULL), STATUS_OK);
    EXPECT_STATUS(mail_send(fixture.mail, &bulk, &reason), STATUS_REFUSED);
    EXPECT_SLICE(slice_from(reason.field), SLICE("to"));
    letter.to = bulk.to;
    EXPECT_STATUS(mail_send(fixture.mail, &letter, NULL), STATUS_OK);
    mail_fixture_run(fixture.mail);
    EXPECT_I64(fixture.office.taken, 1);
    EXPECT_STATUS(mail_allow(fixture.mail, bulk.to, NULL), STATUS_OK);
    EXPECT_STATUS(mail_send(fixture.mail, &bulk, NULL), STATUS_OK);
    mail_fixture_run(fixture.mail);
    EXPECT_I64(fixture.office.taken, 2);
    mail_fixture_end();
}

TEST(what_waits_is_not_sent_once_the_address_is_suppressed)
{
    mail_fixture_begin();
    MailMessage bulk = digest(1);
    EXPECT_STATUS(mail_send(fixture.mail, &bulk, NULL), STATUS_OK);
    EXPECT_STATUS(mail_suppress(fixture.other, bulk.to, SUPPRESS_COMPLAINT, NULL), STATUS_OK);
    mail_fixture_run(fixture.mail);
    EXPECT_I64(fixture.office.attempts, 0);
    EXPECT_I64(mail_fixture_count(MAIL_FAILED), 1);
    EXPECT_I64(mail_fixture_count(MAIL_WAITING), 0);
    mail_fixture_end();
}

TEST(a_refusal_for_good_suppresses_the_address)
{
    mail_fixture_begin();
    MailMessage letter = mail_fixture_message(1);
    EXPECT_STATUS(lookup(letter.to), STATUS_NOT_FOUND);
    EXPECT_STATUS(mail_send(fixture.mail, &letter, NULL), STATUS_OK);
    fixture.office.mood = OFFICE_LATER;
    mail_fixture_run(fixture.mail);
    EXPECT_STATUS(lookup(letter.to), STATUS_NOT_FOUND);
    fixture.office.mood = OFFICE_REFUSES;
    mail_fixture_run_for(fixture.mail, 3600);
    EXPECT_STATUS(lookup(letter.to), STATUS_OK);
    mail_fixture_end();
}

TEST(addresses_are_one_however_they_are_written_and_stand_nowhere)
{
    mail_fixture_begin();
    Suppressed *list;
    size_t count;
    EXPECT_STATUS(mail_suppress(fixture.mail, SLICE(" Ann@Example.ORG "), SUPPRESS_BOUNCED, NULL),
                  STATUS_OK);
    contract_pass_s(5);
    EXPECT_STATUS(mail_suppress(fixture.mail, SLICE("ann@example.org"), SUPPRESS_OPERATOR, NULL),
                  STATUS_OK);
    EXPECT_STATUS(mail_suppress(fixture.mail, SLICE("bob@example.org"), SUPPRESS_COMPLAINT, NULL),
                  STATUS_OK);
    EXPECT_STATUS(lookup(SLICE("ANN@example.org")), STATUS_OK);
    EXPECT_STATUS(lookup(SLICE("ann+x@example.org")), STATUS_NOT_FOUND);
    EXPECT_STATUS(mail_list_suppressed(fixture.other, contract_arena(), &list, &count), STATUS_OK);
    EXPECT_I64(count, 2);
    EXPECT_I64(list[0].why, SUPPRESS_COMPLAINT);
    EXPECT_I64(list[1].why, SUPPRESS_BOUNCED);
    EXPECT_I64(list[0].tag.size, SUPPRESS_TAG);
    EXPECT_STATUS(mail_suppress(fixture.mail, SLICE("nobody"), SUPPRESS_OPERATOR, NULL),
                  STATUS_INVALID);
    EXPECT_STATUS(mail_allow(fixture.mail, SLICE("ann@example.org"), NULL), STATUS_OK);
    EXPECT_STATUS(mail_allow(fixture.mail, SLICE("ann@example.org"), NULL), STATUS_OK);
    EXPECT_STATUS(lookup(SLICE("ann@example.org")), STATUS_NOT_FOUND);
    mail_fixture_end();
}

TEST(only_a_refusal_of_the_recipient_is_a_bounce)
{
    static const struct {
        int code;
        const char *words;
        bool about, is_bounce;
    } CASES[] = {
        {550, "550 5.1.1 nobody of that name", true, true},
        {550, "550-5.1.1 x", true, true},
        {550, "550 no such user", true, true},
        {550, "550 5.2.1 mailbox disabled", true, true},
        {553, "553 5.1.3 bad", true, true},
        {551, "551", true, true},
        {550, "550 5.7.1 spam", true, false},
        {550, "550 5.2.2 full", true, false},
        {552, "552 5.2.2 full", true, false},
        {554, "554 5.7.1 blocked", true, false},
        {450, "450 4.1.1 later", true, false},
        {550, "550 5.1.1 x", false, false},
        {530, "530 5.7.0 log in", true, false},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        SmtpAnswer answer = {.code = CASES[i].code, .about_message = CASES[i].about};
        memcpy(answer.words, CASES[i].words, strlen(CASES[i].words) + 1);
        if (mail_is_bounce(&answer) != CASES[i].is_bounce)
            test_fail(__FILE__, __LINE__, "%s", CASES[i].words);
    }
}
