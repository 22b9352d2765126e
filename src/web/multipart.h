/* multipart.h -- a form with a file, rewritten as one without.
 *
 * A browser sends a form that has a file in it as multipart/form-data (RFC 7578), also without scripts. Here it becomes the same fields as
 * application/x-www-form-urlencoded, so that whatever reads forms (parameters and their bounds, a form's token) reads these. A file is the
 * text that it holds; what it is called is dropped, and so is a file that nobody chose. Pure. Promises:
 *   1. Any bytes may come in; none is read past their end. INVALID names the rule.
 *   2. The result has, in their order, exactly the names and contents that came; decoded (http_decode) they are the same bytes.
 *      Contents are UTF-8 without NUL.
 *   3. At most MULTIPART_PARTS fields; the memory is the body's size, and two bytes more for each % & + = in it.
 * Not promised: nested parts, transfer encodings and character sets other than UTF-8, which no browser sends. */
#pragma once

#include "base/arena.h"

enum { MULTIPART_PARTS = 64, MULTIPART_HEAD = 4096, MULTIPART_BOUNDARY = 70 };

bool multipart_is(Slice content_type);
MUST_USE Status multipart_form(Slice content_type, Slice body, Arena *arena, Slice *ret_form,
                               Reason *reason);
