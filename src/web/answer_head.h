/* answer_head.h -- the head of an answer, as it goes out. */
#pragma once

#include "web/request_private.h"

/* "HTTP/1.1 200 OK", and the line with the date. */
void answer_head_begin(int code, Slice date_line, Buffer *out);
/* All that follows, with the empty line: what kind of thing the answer is, what browsers may do with it (the security headers, where the
 * answer has none of its own), its own headers and cookies. `size`: of the body, or ANSWER_OPEN when the end of the connection ends it. */
#define ANSWER_OPEN SIZE_MAX
void answer_head_rest(WebRequest *request, size_t size, Buffer *out);

/* "Date: …" with the end of its line, for this moment of the wall clock. */
enum { DATE_LINE_MAX = 48 };
size_t answer_date_line(int64_t now_us, char to[DATE_LINE_MAX]);
