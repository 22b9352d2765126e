/* put.h -- writing a value by its C type and its place: what templates compile to (tools/templates.py).
 *
 *     html_put(out, view->name)        between tags: escaped; numbers with thin spaces
 *     attribute_put(out, view->id)     inside a value in double quotes: escaped; numbers as plain digits
 *     url_put(out, address)            a whole address: our paths, http: and https: only, else "#"
 *     url_part_put(out, word)          a piece of an address: what is not unreserved is %-encoded
 * A type that is not listed for a place does not compile: so a Markup cannot slip into an attribute, and a struct that
 * somebody adds cannot be written before its escaping is decided. */
#pragma once

#include "web/html.h"

/* HTML that was made by a writer of ours (the Markdown renderer, the charts): the only text that is not escaped. */
typedef struct Markup {
    Slice html;
} Markup;

/* A moment, told from another: "3 hours ago", with the exact time in `datetime` and on hover. */
typedef struct Moment {
    int64_t us;
    int64_t now_us; /* 0: written as a date */
} Moment;

void html_put_text(Buffer *out, const char *text);
void html_put_markup(Buffer *out, Markup markup);
void html_put_moment(Buffer *out, Moment moment);
void html_put_unsigned(Buffer *out, uint64_t number);
void attribute_put_signed(Buffer *out, int64_t number);
void attribute_put_unsigned(Buffer *out, uint64_t number);
/* The moment as RFC 3339. */
void attribute_put_moment(Buffer *out, Moment moment);
void url_put_text(Buffer *out, const char *url);
void url_part_put_text(Buffer *out, const char *part);

/* clang-format off */
#define PUT_NUMBERS(put_signed, put_unsigned)                                             \
    short: put_signed, int: put_signed, long: put_signed, long long: put_signed,          \
    unsigned char: put_unsigned, unsigned short: put_unsigned, unsigned: put_unsigned,    \
    unsigned long: put_unsigned, unsigned long long: put_unsigned

#define html_put(out, value)                                                              \
    _Generic((value), Slice: html_text, char *: html_put_text, const char *: html_put_text, \
             Markup: html_put_markup, Moment: html_put_moment,                            \
             PUT_NUMBERS(html_number, html_put_unsigned))((out), (value))

#define attribute_put(out, value)                                                         \
    _Generic((value), Slice: html_text, char *: html_put_text, const char *: html_put_text, \
             Moment: attribute_put_moment,                                                \
             PUT_NUMBERS(attribute_put_signed, attribute_put_unsigned))((out), (value))

#define url_put(out, value)                                                               \
    _Generic((value), Slice: html_url, char *: url_put_text, const char *: url_put_text)((out), (value))

#define url_part_put(out, value)                                                          \
    _Generic((value), Slice: buffer_url_escaped, char *: url_part_put_text,               \
             const char *: url_part_put_text,                                             \
             PUT_NUMBERS(attribute_put_signed, attribute_put_unsigned))((out), (value))
/* clang-format on */
