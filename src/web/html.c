/* html.c -- see html.h. */
#include "web/html.h"

#include "base/time_text.h"
#include "web/http_rules.h"

static const Slice ESCAPES[256] = {
    ['&'] = {"&amp;", 5},  ['<'] = {"&lt;", 4},   ['>'] = {"&gt;", 4},
    ['"'] = {"&quot;", 6}, ['\''] = {"&#39;", 5},
};

/* Runs between escapes are copied in one piece: most texts hold none. */
void html_text(Buffer *out, Slice text)
{
    size_t start = 0;
    for (size_t i = 0; i < text.size; i++) {
        const Slice *escape = &ESCAPES[(unsigned char)text.data[i]];
        if (escape->size == 0)
            continue;
        buffer_bytes(out, slice_of(text.data + start, i - start));
        buffer_bytes(out, *escape);
        start = i + 1;
    }
    buffer_bytes(out, slice_after(text, start));
}

static bool is_safe_url(Slice url)
{
    if (!slice_starts_with(url, SLICE("http://")) && !slice_starts_with(url, SLICE("https://")))
        return http_is_own_path(url);
    for (size_t i = 0; i < url.size; i++)
        if ((unsigned char)url.data[i] <= ' ' || url.data[i] == 0x7F)
            return false;
    return true;
}

void html_url(Buffer *out, Slice url)
{
    html_text(out, is_safe_url(url) ? url : SLICE("#"));
}

void html_number(Buffer *out, int64_t number)
{
    char digits[20];
    size_t count = 0;
    uint64_t rest = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
    do {
        digits[count++] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest > 0);
    if (number < 0)
        buffer_bytes(out, SLICE("\u2212"));
    while (count-- > 0) {
        buffer_u8(out, (uint8_t)digits[count]);
        if (count > 0 && count % 3 == 0)
            buffer_bytes(out, SLICE("\u202f"));
    }
}

void html_date(Buffer *out, int64_t us)
{
    Utc utc = utc_of(us);
    buffer_decimal(out, utc.day);
    buffer_u8(out, ' ');
    buffer_text(out, month_name(utc.month));
    buffer_u8(out, ' ');
    buffer_decimal(out, utc.year);
}

void html_exact(Buffer *out, int64_t us)
{
    Utc utc = utc_of(us);
    char clock[] = ", 00:00 UTC";
    put_digits(clock + 2, utc.hour, 2);
    put_digits(clock + 5, utc.minute, 2);
    html_date(out, us);
    buffer_text(out, clock);
}

void html_rfc3339(Buffer *out, int64_t us)
{
    char text[UTC_TEXT];
    utc_text(utc_of(us), text);
    buffer_bytes(out, slice_of(text, UTC_TEXT - 1));
    buffer_u8(out, 'Z');
}

void html_time(Buffer *out, int64_t us)
{
    HTML(out, "<time datetime=\"");
    html_rfc3339(out, us);
    HTML(out, "\">");
    html_exact(out, us);
    HTML(out, "</time>");
}

void html_duration(Buffer *out, int64_t seconds)
{
    static const struct {
        int64_t seconds;
        const char *name;
    } units[] = {{86400, "day"}, {3600, "hour"}, {60, "minute"}, {1, "second"}};
    size_t unit = 0;
    while (seconds < units[unit].seconds && unit < 3)
        unit++;
    int64_t count = seconds / units[unit].seconds;
    html_number(out, count);
    HTML(out, "\u00a0");
    buffer_text(out, units[unit].name);
    if (count != 1)
        buffer_u8(out, 's');
}
