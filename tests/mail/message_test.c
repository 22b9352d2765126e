/* message_test.c -- what may be in a message, and what cannot come out of one. */
#include "mail/message.h"
#include "mail/mime.h"
#include "test.h"

static MailMessage good(void)
{
    return (MailMessage){.to = SLICE("ann@example.org"),
                         .subject = SLICE("Hello"),
                         .text = SLICE("One line.\n"),
                         .html = SLICE("<p>One line.</p>\n"),
                         .kind = SLICE("test"),
                         .once = SLICE("1")};
}

static const MessageHead HEAD = {.from = {{"Ostraka", 7}, {"site@example.org", 16}},
                                 .id = {"00ff", 4},
                                 .made_us = INT64_C(1769860800000000)};

static Slice filler(char byte, size_t size)
{
    static char bytes[MESSAGE_PART_BYTES + 2];
    CHECK(size <= sizeof bytes);
    memset(bytes, byte, size);
    return slice_of(bytes, size);
}

#define EXPECT_REFUSED(message, name)                             \
    do {                                                          \
        Reason reason_ = {.rule = ""};                            \
        EXPECT(message_check(&(message), &reason_) != STATUS_OK); \
        EXPECT_SLICE(slice_from(reason_.field), SLICE(name));     \
        EXPECT(reason_.rule[0] != '\0');                          \
    } while (0)

TEST(addresses_that_are_some)
{
    static const char *const ADDRESSES[] = {"a@b", "ann@example.org", "ann+tag@mail.example.org",
                                            "a.b-c_d!#$%&'*/=?^`{|}~@example.org",
                                            "j\xC3\xBCrgen@m\xC3\xBCller.example"};
    for (size_t i = 0; i < sizeof ADDRESSES / sizeof ADDRESSES[0]; i++)
        EXPECT_STATUS(message_check_address(slice_from(ADDRESSES[i]), "to", NULL), STATUS_OK);
}

TEST(addresses_that_are_none)
{
    static const char *const ADDRESSES[] = {
        "",      "@",      "a@",      "@b",      "ann",         "a b@c",  "a@b c",         "a@b@c",
        "<a@b>", "a@b>",   "a@b,c@d", "a@b;c@d", "\"a\"@b",     "a(b)@c", "a@[127.0.0.1]", ".a@b",
        "a.@b",  "a..b@c", "a@.b",    "a@b.",    "a@b\r\nX: y", "a\n@b",  "a@b\x7F",       "a\t@b",
        "a\\@b", "a:b@c",  "\xFF@b",  "a@b\xC3"};
    for (size_t i = 0; i < sizeof ADDRESSES / sizeof ADDRESSES[0]; i++) {
        Reason reason;
        if (message_check_address(slice_from(ADDRESSES[i]), "to", &reason) != STATUS_INVALID)
            test_fail(__FILE__, __LINE__, "\"%s\" was taken", ADDRESSES[i]);
        EXPECT_SLICE(slice_from(reason.field), SLICE("to"));
    }
    EXPECT_STATUS(message_check_address(slice_of("a@b\0c", 5), "to", NULL), STATUS_INVALID);
}

TEST(an_address_has_bounds)
{
    char address[300];
    memset(address, 'a', sizeof address);
    address[64] = '@';
    EXPECT_STATUS(message_check_address(slice_of(address, 254), "to", NULL), STATUS_OK);
    EXPECT_STATUS(message_check_address(slice_of(address, 255), "to", NULL), STATUS_INVALID);
    address[64] = 'a';
    address[65] = '@';
    EXPECT_STATUS(message_check_address(slice_of(address, 200), "to", NULL), STATUS_INVALID);
}

TEST(nothing_in_a_field_can_become_a_header)
{
    static const Slice BAD[] = {{"a\r\nBcc: b@c", 11}, {"a\nb", 3},  {"a\rb", 3},
                                {"a\0b", 3},           {"a\x1B", 2}, {"a\x7F", 2}};
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++) {
        MailMessage message = good();
        message.subject = BAD[i];
        EXPECT_REFUSED(message, "subject");
        message = good();
        message.to = BAD[i];
        EXPECT_REFUSED(message, "to");
        message = good();
        message.kind = BAD[i];
        EXPECT_REFUSED(message, "kind");
    }
}

TEST(every_field_has_its_bound)
{
    MailMessage message = good();
    EXPECT_STATUS(message_check(&message, NULL), STATUS_OK);
    message.subject = filler('s', MESSAGE_SUBJECT_BYTES);
    EXPECT_STATUS(message_check(&message, NULL), STATUS_OK);
    message.subject = filler('s', MESSAGE_SUBJECT_BYTES + 1);
    EXPECT_REFUSED(message, "subject");
    message.subject = SLICE_EMPTY;
    EXPECT_REFUSED(message, "subject");
    message = good();
    message.text = filler('t', MESSAGE_PART_BYTES + 1);
    EXPECT_REFUSED(message, "text");
    message.text = SLICE_EMPTY;
    EXPECT_REFUSED(message, "text");
    message = good();
    message.html = filler('h', MESSAGE_PART_BYTES + 1);
    EXPECT_REFUSED(message, "html");
    message.html = SLICE("\xC0\x80");
    EXPECT_REFUSED(message, "html");
    message = good();
    message.once = filler('o', MESSAGE_ONCE_BYTES + 1);
    EXPECT_REFUSED(message, "once");
    message.once = SLICE_EMPTY;
    EXPECT_REFUSED(message, "once");
}

TEST(a_mailbox_with_and_without_a_name)
{
    Mailbox mailbox;
    EXPECT_STATUS(mailbox_parse(SLICE(" Ostraka <a@b.c> "), "mail_from", &mailbox, NULL),
                  STATUS_OK);
    EXPECT_SLICE(mailbox.name, SLICE("Ostraka"));
    EXPECT_SLICE(mailbox.address, SLICE("a@b.c"));
    EXPECT_STATUS(mailbox_parse(SLICE("a@b.c"), "mail_from", &mailbox, NULL), STATUS_OK);
    EXPECT_SLICE(mailbox.name, SLICE_EMPTY);
    static const char *const BAD[] = {"",         "Ostraka", "Ostraka <>", "Ostraka <a@b", "a@b>",
                                      "x\n<a@b>", "a@b <",   "<a@b> c",    "a@b\r\n"};
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++) {
        Reason reason;
        if (mailbox_parse(slice_from(BAD[i]), "mail_from", &mailbox, &reason) != STATUS_INVALID)
            test_fail(__FILE__, __LINE__, "\"%s\" was taken", BAD[i]);
        EXPECT_SLICE(slice_from(reason.field), SLICE("mail_from"));
    }
}

#define EXPECT_BODY(text, expected)                         \
    do {                                                    \
        BUFFER_SCOPE Buffer out_ = {0};                     \
        mime_quoted_printable(&out_, SLICE(text));          \
        EXPECT_SLICE(buffer_slice(&out_), SLICE(expected)); \
    } while (0)

TEST(bodies_as_quoted_printable)
{
    EXPECT_BODY("a\n", "a\r\n");
    EXPECT_BODY("a", "a\r\n");
    EXPECT_BODY("a\r\nb\rc\n", "a\r\nb\r\nc\r\n");
    EXPECT_BODY("\n\n", "\r\n\r\n");
    EXPECT_BODY("1 = 1", "1 =3D 1\r\n");
    EXPECT_BODY("blank \nand tab\t\n", "blank=20\r\nand tab=09\r\n");
    EXPECT_BODY(".\n..\n a.\n", "=2E\r\n=2E.\r\n a.\r\n");
    EXPECT_BODY("\xC3\xA9\n", "=C3=A9\r\n");
    EXPECT_BODY("\x01\n", "=01\r\n");
}

TEST(long_lines_are_broken_softly_and_a_dot_never_begins_one)
{
    BUFFER_SCOPE Buffer out = {0};
    Slice line;
    mime_quoted_printable(&out, filler('.', 1000));
    Slice rest = buffer_slice(&out);
    while (slice_split(&rest, '\n', &line)) {
        EXPECT(line.size <= 77 && line.data[line.size - 1] == '\r');
        EXPECT(line.data[0] != '.');
    }
}

#define EXPECT_WORDS(write, text, expected)                 \
    do {                                                    \
        BUFFER_SCOPE Buffer out_ = {0};                     \
        write(&out_, SLICE(text));                          \
        EXPECT_SLICE(buffer_slice(&out_), SLICE(expected)); \
    } while (0)

TEST(headers_stay_as_they_are_only_when_that_is_safe)
{
    EXPECT_WORDS(mime_words, "Hello, you (there)!", "Hello, you (there)!");
    EXPECT_WORDS(mime_words, "=?UTF-8?B?QQ==?=", "=?UTF-8?B?PT9VVEYtOD9CP1FRPT0/PQ==?=");
    EXPECT_WORDS(mime_words, " a", "=?UTF-8?B?IGE=?=");
    EXPECT_WORDS(mime_words, "a  b", "=?UTF-8?B?YSAgYg==?=");
    EXPECT_WORDS(mime_words, "\xC3\xA9", "=?UTF-8?B?w6k=?=");
    EXPECT_WORDS(mime_phrase, "Ostraka of Athens", "Ostraka of Athens");
    EXPECT_WORDS(mime_phrase, "a, b", "=?UTF-8?B?YSwgYg==?=");
}

TEST(long_headers_are_folded_between_characters)
{
    BUFFER_SCOPE Buffer text = {0};
    BUFFER_SCOPE Buffer out = {0};
    Slice line;
    for (int i = 0; i < 100; i++)
        buffer_text(&text, "\xE2\x82\xAC");
    mime_words(&out, buffer_slice(&text));
    for (Slice rest = buffer_slice(&out); slice_split(&rest, '\n', &line);) {
        EXPECT(line.size + strlen("Subject: ") <= 77);
        EXPECT(slice_starts_with(line, SLICE("=?UTF-8?B?")) ||
               slice_starts_with(line, SLICE(" =?UTF-8?B?4oK")));
    }
}

TEST(dates)
{
    BUFFER_SCOPE Buffer out = {0};
    mime_date(&out, INT64_C(1769860800000000));
    buffer_text(&out, "|");
    mime_date(&out, -5);
    buffer_text(&out, "|");
    mime_date(&out, INT64_MAX);
    EXPECT_SLICE(buffer_slice(&out),
                 SLICE("Sat, 31 Jan 2026 12:00:00 +0000|Thu, 01 Jan 1970 00:00:00 +0000|"
                       "Fri, 31 Dec 9999 23:59:59 +0000"));
}

TEST(the_whole_message)
{
    BUFFER_SCOPE Buffer out = {0};
    MailMessage message = good();
    message_write(&out, &message, &HEAD);
    EXPECT_SLICE(buffer_slice(&out),
                 SLICE("From: Ostraka\r\n <site@example.org>\r\n"
                       "To: <ann@example.org>\r\n"
                       "Subject: Hello\r\n"
                       "Date: Sat, 31 Jan 2026 12:00:00 +0000\r\n"
                       "Message-ID: <00ff@example.org>\r\n"
                       "Auto-Submitted: auto-generated\r\n"
                       "MIME-Version: 1.0\r\n"
                       "Content-Type: multipart/alternative;\r\n boundary=\"=_00ff\"\r\n\r\n"
                       "--=_00ff\r\n"
                       "Content-Type: text/plain; charset=utf-8\r\n"
                       "Content-Transfer-Encoding: quoted-printable\r\n\r\n"
                       "One line.\r\n"
                       "\r\n--=_00ff\r\n"
                       "Content-Type: text/html; charset=utf-8\r\n"
                       "Content-Transfer-Encoding: quoted-printable\r\n\r\n"
                       "<p>One line.</p>\r\n"
                       "\r\n--=_00ff--\r\n"));
}

TEST(text_alone_needs_no_parts)
{
    BUFFER_SCOPE Buffer out = {0};
    MailMessage message = good();
    message.html = SLICE_EMPTY;
    message_write(&out, &message, &HEAD);
    Slice whole = buffer_slice(&out), end = SLICE("quoted-printable\r\n\r\nOne line.\r\n");
    EXPECT_SLICE(slice_after(whole, whole.size - end.size), end);
    EXPECT(memmem(whole.data, whole.size, "multipart", 9) == NULL);
}
