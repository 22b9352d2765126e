/* time_text.c -- see time_text.h. */
#include "base/time_text.h"

#include "base/world.h"

/* Takes `digits` digits off the front; -1 when they are not there. */
static int64_t take_number(Slice *rest, size_t digits)
{
    uint64_t number;
    if (rest->size < digits || slice_to_u64(slice_of(rest->data, digits), &number) != STATUS_OK)
        return -1;
    *rest = slice_after(*rest, digits);
    return (int64_t)number;
}

static bool take(Slice *rest, char c)
{
    if (rest->size == 0 || rest->data[0] != c)
        return false;
    *rest = slice_after(*rest, 1);
    return true;
}

/* Days since 1970 of a date in the Gregorian calendar: years begin in March, so that the leap day comes last. */
static int64_t days_of(int64_t year, int64_t month, int64_t day)
{
    if (month <= 2)
        year--;
    int64_t era = year / 400, of_era = year - era * 400;
    int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

/* The way back. Of an era of 400 years, each of the three kinds of leap day is taken out before dividing by 365. */
static void set_date(Utc *utc, int64_t day)
{
    day += 719468; /* to the first of March of the year 0 */
    int64_t era = day / 146097, of_era = day % 146097;
    int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * year + year / 4 - year / 100);
    int64_t month = (5 * of_year + 2) / 153; /* 0 is March */
    bool is_next_year = month >= 10;
    utc->year = (int)(era * 400 + year + is_next_year);
    utc->month = (int)(is_next_year ? month - 9 : month + 3);
    utc->day = (int)(of_year - (153 * month + 2) / 5 + 1);
}

Utc utc_of(int64_t us)
{
    int64_t seconds = (us < 0 ? 0 : us > TIME_MAX_US ? TIME_MAX_US : us) / US_PER_S;
    Utc utc = {.hour = (int)(seconds / 3600 % 24),
               .minute = (int)(seconds / 60 % 60),
               .second = (int)(seconds % 60)};
    set_date(&utc, seconds / 86400);
    return utc;
}

const char *month_name(int month)
{
    static const char *const NAMES[] = {"January",   "February", "March",    "April",
                                        "May",       "June",     "July",     "August",
                                        "September", "October",  "November", "December"};
    CHECK(month >= 1 && month <= 12);
    return NAMES[month - 1];
}

char *put_digits(char *to, int64_t number, int width)
{
    for (int i = width; i-- > 0; number /= 10)
        to[i] = (char)('0' + number % 10);
    return to + width;
}

void utc_text(Utc utc, char to[UTC_TEXT])
{
    const struct {
        int number, width;
        char after;
    } parts[] = {{utc.year, 4, '-'}, {utc.month, 2, '-'},  {utc.day, 2, 'T'},
                 {utc.hour, 2, ':'}, {utc.minute, 2, ':'}, {utc.second, 2, '\0'}};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        to = put_digits(to, parts[i].number, parts[i].width);
        *to++ = parts[i].after;
    }
}

static bool is_date(int64_t year, int64_t month, int64_t day)
{
    static const int64_t DAYS[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return year >= 1970 && month >= 1 && month <= 12 && day >= 1 &&
           day <= DAYS[month - 1] + (month == 2 && leap);
}

Status time_from_text(Slice text, int64_t *ret_us)
{
    uint64_t seconds;
    if (slice_to_u64(text, &seconds) == STATUS_OK && text.size > 4) {
        if (seconds > (uint64_t)(TIME_MAX_US / US_PER_S))
            return STATUS_INVALID;
        *ret_us = (int64_t)seconds * US_PER_S;
        return STATUS_OK;
    }
    Slice rest = text;
    int64_t year = take_number(&rest, 4);
    bool good = take(&rest, '-');
    int64_t month = take_number(&rest, 2);
    good = take(&rest, '-') && good;
    int64_t day = take_number(&rest, 2), hour = 0, minute = 0, second = 0;
    if (take(&rest, 'T')) {
        hour = take_number(&rest, 2);
        good = take(&rest, ':') && good;
        minute = take_number(&rest, 2);
        if (take(&rest, ':'))
            second = take_number(&rest, 2);
    }
    (void)take(&rest, 'Z');
    if (!good || rest.size > 0 || !is_date(year, month, day) || hour < 0 || hour > 23 ||
        minute < 0 || minute > 59 || second < 0 || second > 59)
        return STATUS_INVALID;
    *ret_us = (((days_of(year, month, day) * 24 + hour) * 60 + minute) * 60 + second) * US_PER_S;
    return STATUS_OK;
}
