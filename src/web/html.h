/* html.h -- writing HTML so that nothing a person wrote can become markup.
 *
 * Markup comes only from string literals (HTML refuses anything else at compile time); every value goes through
 * the writer of its type, which escapes for the place it stands in:
 *     HTML(out, "<a href=\"");
 *     html_url(out, address);
 *     HTML(out, "\">");
 *     html_text(out, name);
 *     HTML(out, "</a>");
 * Attribute values always stand in double quotes. */
#pragma once

#include "base/bytes.h"

/* A literal, as it is. */
#define HTML(out, literal) buffer_bytes((out), SLICE(literal))

/* Between tags, or in an attribute in double quotes: & < > " ' are escaped. Bytes that are not UTF-8 do not get this
 * far: input is checked at the door. */
void html_text(Buffer *out, Slice text);
/* The value of href, src or action: a path of ours, http: or https:. Anything else ("javascript:…") becomes "#". */
void html_url(Buffer *out, Slice url);
/* With thin spaces between groups of three digits: 12 345. */
void html_number(Buffer *out, int64_t number);
/* "31 January 2026", "31 January 2026, 12:00 UTC" and "2026-01-31T12:00:00Z". */
void html_date(Buffer *out, int64_t us);
void html_exact(Buffer *out, int64_t us);
void html_rfc3339(Buffer *out, int64_t us);
/* <time datetime="2026-01-31T12:00:00Z">31 January 2026, 12:00 UTC</time> */
void html_time(Buffer *out, int64_t us);
/* "3 days", "2 hours", "5 minutes", "12 seconds". */
void html_duration(Buffer *out, int64_t seconds);
