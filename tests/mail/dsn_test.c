/* dsn_test.c -- reports of mail servers. */
#include "mail/dsn.h"

#include "test.h"

#define HEAD(boundary)                                                                     \
    "From: MAILER-DAEMON@mx.example\r\nTo: bounces@example.org\r\nSubject: "               \
    "Undelivered\r\nMIME-Version: 1.0\r\n"                                                 \
    "Content-Type: multipart/report; report-type=delivery-status;\r\n\tboundary=" boundary \
    "\r\n\r\nPreamble\r\n"
#define TEXT_PART                                                                                  \
    "--B1\r\nContent-Type: text/plain\r\n\r\nAction: failed\r\nStatus: 5.0.0\r\nFinal-Recipient: " \
    "rfc822; not@this.example\r\n\r\n"
#define STATUS_PART \
    "--B1\r\nContent-Type: message/delivery-status\r\n\r\nReporting-MTA: dns; mx.example\r\n\r\n"

static DsnReport read(const char *text, Arena *arena)
{
    DsnReport report = {.count = 99};
    EXPECT_STATUS(dsn_read(slice_from(text), arena, &report, NULL), STATUS_OK);
    return report;
}

TEST(the_recipients_that_failed_for_good)
{
    ARENA_SCOPE Arena *arena = arena_new();
    DsnReport report = read(
        HEAD("\"B1\"") TEXT_PART STATUS_PART
        "Final-Recipient: rfc822; ann@example.org\r\nAction: failed\r\nStatus: 5.1.1 (no "
        "such)\r\nDiagnostic-Code: smtp;\r\n  550 x\r\n\r\n"
        "Final-Recipient: rfc822;\r\n bob@example.org\r\naction: FAILED\r\nstatus: 5.2.1\r\n\r\n"
        "Final-Recipient: rfc822; later@example.org\r\nAction: delayed\r\nStatus: 4.2.0\r\n\r\n"
        "Final-Recipient: rfc822; soft@example.org\r\nAction: failed\r\nStatus: 4.4.7\r\n\r\n"
        "Final-Recipient: rfc822; elsewhere@x.example\r\nOriginal-Recipient: rfc822; "
        "carl@example.org\r\nAction: failed\r\nStatus: 5.1.1\r\n\r\n"
        "Final-Recipient: rfc822; <script>\r\nAction: failed\r\nStatus: 5.1.1\r\n\r\n"
        "--B1\r\nContent-Type: message/rfc822\r\n\r\nSubject: x\r\n\r\n--B1--\r\n",
        arena);
    EXPECT_I64(report.count, 3);
    EXPECT_SLICE(report.failed[0].address, SLICE("ann@example.org"));
    EXPECT_SLICE(report.failed[0].status, SLICE("5.1.1"));
    EXPECT_SLICE(report.failed[1].address, SLICE("bob@example.org"));
    EXPECT_SLICE(report.failed[2].address, SLICE("carl@example.org"));
}

TEST(line_ends_of_unix_no_quotes_and_a_cut_end)
{
    ARENA_SCOPE Arena *arena = arena_new();
    DsnReport report =
        read("Content-Type: Multipart/Report; BOUNDARY=B1\n\n--B1\nContent-Type: "
             "message/delivery-status\n\nX: y\n\n"
             "Final-Recipient: rfc822; ann@example.org\nAction: failed\nStatus: 5.1.1",
             arena);
    EXPECT_I64(report.count, 1);
    report = read(HEAD("B1") STATUS_PART, arena);
    EXPECT_I64(report.count, 0);
}

TEST(what_is_no_report_is_refused)
{
    static const char *const WRONG[] = {
        "",
        "\n",
        "Subject: hello\r\n\r\nFinal-Recipient: rfc822; a@b.example\r\nAction: failed\r\nStatus: "
        "5.1.1\r\n",
        "Content-Type: multipart/mixed; boundary=B1\r\n\r\n" STATUS_PART,
        "Content-Type: multipart/report\r\n\r\n" STATUS_PART,
        HEAD("B1") TEXT_PART,
        HEAD("B2") STATUS_PART};
    for (size_t i = 0; i < sizeof WRONG / sizeof WRONG[0]; i++) {
        ARENA_SCOPE Arena *arena = arena_new();
        DsnReport report;
        Reason reason = {0};
        EXPECT_STATUS(dsn_read(slice_from(WRONG[i]), arena, &report, &reason), STATUS_INVALID);
        EXPECT(reason.rule[0] != '\0');
    }
}
