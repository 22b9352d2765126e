/* status_test.c -- statuses, reasons, checks. */
#include "base/status.h"

#include "test.h"

TEST(names_are_small_letters_for_logs_and_json)
{
    EXPECT_SLICE(slice_from(status_name(STATUS_OK)), SLICE("ok"));
    EXPECT_SLICE(slice_from(status_name(STATUS_NOT_FOUND)), SLICE("not_found"));
    for (int i = 0; i < STATUS_COUNT; i++)
        for (const char *c = status_name((Status)i); *c != '\0'; c++)
            EXPECT((*c >= 'a' && *c <= 'z') || *c == '_');
}

TEST(every_status_has_an_http_code_and_words)
{
    for (int i = 0; i < STATUS_COUNT; i++) {
        EXPECT(status_http((Status)i) >= 200 && status_http((Status)i) < 600);
        EXPECT(status_text((Status)i)[0] != '\0');
    }
    EXPECT_I64(status_http(STATUS_NOT_FOUND), 404);
    EXPECT_I64(status_http(STATUS_UNKNOWN), 503);
}

TEST(a_reason_holds_the_field_and_the_rule_and_hands_the_status_on)
{
    Reason reason;
    EXPECT_STATUS(reason_set(&reason, STATUS_REFUSED, "votes", "at most %d", 7), STATUS_REFUSED);
    EXPECT_SLICE(slice_from(reason.field), SLICE("votes"));
    EXPECT_SLICE(slice_from(reason.rule), SLICE("at most 7"));
}

TEST(a_reason_may_be_missing_and_so_may_its_field)
{
    Reason reason;
    EXPECT_STATUS(reason_set(NULL, STATUS_DENIED, "x", "y"), STATUS_DENIED);
    EXPECT_STATUS(reason_set(&reason, STATUS_DENIED, NULL, "no"), STATUS_DENIED);
    EXPECT_SLICE(slice_from(reason.field), SLICE(""));
}

TEST(a_long_reason_is_cut_at_the_end)
{
    Reason reason;
    char text[1000];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    EXPECT_STATUS(reason_set(&reason, STATUS_INVALID, text, "%s", text), STATUS_INVALID);
    EXPECT_I64(strlen(reason.field), sizeof reason.field - 1);
    EXPECT_I64(strlen(reason.rule), sizeof reason.rule - 1);
}

static Status try_status(Status status)
{
    TRY(status);
    return STATUS_CORRUPT;
}

TEST(try_returns_what_is_not_ok_and_goes_on_otherwise)
{
    EXPECT_STATUS(try_status(STATUS_CONFLICT), STATUS_CONFLICT);
    EXPECT_STATUS(try_status(STATUS_OK), STATUS_CORRUPT);
}

static void check_false(void)
{
    CHECK(1 + 1 == 3);
}

static void check_true(void)
{
    CHECK(1 + 1 == 2);
}

static void name_of_no_status(void)
{
    status_name(STATUS_COUNT);
}

TEST(a_check_that_does_not_hold_ends_the_process)
{
    EXPECT(test_is_bug(check_false));
    EXPECT(!test_is_bug(check_true));
    EXPECT(test_is_bug(name_of_no_status));
}
