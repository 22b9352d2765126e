/* time_text_test.c -- moments in parts, as text, and back. */
#include "base/time_text.h"

#include <time.h>

#include "base/world.h"
#include "test.h"

#define LAST_S INT64_C(253402300799)

static void expect_as_the_library_says(int64_t seconds)
{
    time_t moment = (time_t)seconds;
    struct tm expected;
    char text[UTC_TEXT], other[UTC_TEXT];
    int64_t read_us;
    Utc utc = utc_of(seconds * US_PER_S + US_PER_S - 1);
    EXPECT(gmtime_r(&moment, &expected) != NULL);
    strftime(other, sizeof other, "%Y-%m-%dT%H:%M:%S", &expected);
    utc_text(utc, text);
    EXPECT_SLICE(slice_from(text), slice_from(other));
    strftime(other, sizeof other, "%B", &expected);
    EXPECT_SLICE(slice_from(month_name(utc.month)), slice_from(other));
    EXPECT_STATUS(time_from_text(slice_from(text), &read_us), STATUS_OK);
    EXPECT_I64(read_us, seconds * US_PER_S);
}

TEST(every_day_of_four_centuries_is_the_one_of_the_calendar)
{
    for (int64_t day = 0; day < 146097 + 366; day++)
        expect_as_the_library_says(day * 86400 + day % 86400);
    for (int64_t seconds = LAST_S; seconds > LAST_S - 3 * 86400; seconds -= 3599)
        expect_as_the_library_says(seconds);
}

TEST(what_is_outside_becomes_the_nearest_inside)
{
    char text[UTC_TEXT];
    utc_text(utc_of(-1), text);
    EXPECT_SLICE(slice_from(text), SLICE("1970-01-01T00:00:00"));
    utc_text(utc_of(INT64_MIN), text);
    EXPECT_SLICE(slice_from(text), SLICE("1970-01-01T00:00:00"));
    utc_text(utc_of(INT64_MAX), text);
    EXPECT_SLICE(slice_from(text), SLICE("9999-12-31T23:59:59"));
}

TEST(moments_are_read_as_people_write_them)
{
    static const struct {
        const char *text;
        int64_t seconds; /* -1: refused */
    } cases[] = {{"1970-01-01", 0},
                 {"2026-01-31", 1769817600},
                 {"2026-01-31T12:00", 1769860800},
                 {"2026-01-31T12:00:01Z", 1769860801},
                 {"1769860800", 1769860800},
                 {"253402300799", LAST_S},
                 {"253402300800", -1},
                 {"2026-02-29", -1},
                 {"2028-02-29", 1835395200},
                 {"2026-13-01", -1},
                 {"2026-01-31T24:00", -1},
                 {"1969-12-31", -1},
                 {"2026-01-31 12:00", -1},
                 {"", -1}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int64_t us = -1;
        Status status = time_from_text(slice_from(cases[i].text), &us);
        EXPECT_STATUS(status, cases[i].seconds < 0 ? STATUS_INVALID : STATUS_OK);
        EXPECT(status != STATUS_OK || us == cases[i].seconds * US_PER_S);
    }
}
