/* mime.h -- the encodings that mail asks for: lines of at most 78 bytes, ASCII only, ended by CRLF.
 *
 * Pure. What comes in is UTF-8 and bounded; what goes out can stand in a message as it is:
 *   1. No bytes but printable ASCII, space, tab and CRLF; never a CR or LF alone.
 *   2. No line of a body is longer than 76 bytes, or begins with a dot (which SMTP gives a meaning).
 *   3. Whatever the text is, decoding gives it back, with line ends as CRLF. */
#pragma once

#include "base/bytes.h"

/* A body as quoted-printable (RFC 2045). Line ends may be LF, CRLF or CR; a last line without one gets one. */
void mime_quoted_printable(Buffer *out, Slice text);
/* The value of an unstructured header, such as Subject: as it is when that is safe, else as encoded words (RFC 2047) on folded
 * lines. Without control characters. */
void mime_words(Buffer *out, Slice text);
/* The name before an address. The same, but more is encoded, since punctuation means something there. */
void mime_phrase(Buffer *out, Slice text);
/* Sat, 31 Jan 2026 12:00:00 +0000. Times outside of 1970 to 9999 become the nearest inside. */
void mime_date(Buffer *out, int64_t us);
