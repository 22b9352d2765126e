/* put.c -- see put.h. */
#include "web/put.h"

void html_put_text(Buffer *out, const char *text)
{
    html_text(out, slice_from(text));
}

void html_put_markup(Buffer *out, Markup markup)
{
    buffer_bytes(out, markup.html);
}

void html_put_unsigned(Buffer *out, uint64_t number)
{
    html_number(out, number > INT64_MAX ? INT64_MAX : (int64_t)number);
}

void attribute_put_signed(Buffer *out, int64_t number)
{
    buffer_decimal(out, number);
}

void attribute_put_unsigned(Buffer *out, uint64_t number)
{
    buffer_print(out, "%llu", (unsigned long long)number);
}

void attribute_put_moment(Buffer *out, Moment moment)
{
    html_rfc3339(out, moment.us);
}

/* "just now" up to a minute, "3 hours ago" and "in 2 days" up to a month, then the date. */
static void put_distance(Buffer *out, Moment moment)
{
    int64_t ago_s = (moment.now_us - moment.us) / 1000000;
    int64_t distance_s = ago_s < 0 ? -ago_s : ago_s;
    if (moment.now_us == 0 || distance_s > 31 * 86400) {
        html_date(out, moment.us);
    } else if (distance_s < 60) {
        buffer_text(out, ago_s < 0 ? "in a moment" : "just now");
    } else {
        if (ago_s < 0)
            buffer_text(out, "in ");
        html_duration(out, distance_s);
        if (ago_s > 0)
            buffer_text(out, " ago");
    }
}

void html_put_moment(Buffer *out, Moment moment)
{
    HTML(out, "<time datetime=\"");
    attribute_put_moment(out, moment);
    HTML(out, "\" title=\"");
    html_exact(out, moment.us);
    HTML(out, "\">");
    put_distance(out, moment);
    HTML(out, "</time>");
}

void url_put_text(Buffer *out, const char *url)
{
    html_url(out, slice_from(url));
}

void url_part_put_text(Buffer *out, const char *part)
{
    buffer_url_escaped(out, slice_from(part));
}
