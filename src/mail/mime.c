/* mime.c -- see mime.h. */
#include "mail/mime.h"

#include <sodium.h>
#include <time.h>

enum {
    MIME_LINE_MAX = 76, /* of a quoted-printable body, with the = of a soft line end */
    WORD_BYTES = 39,    /* 52 characters of base64: with "Subject: " and the marks still below 76 */
    PLAIN_MAX = 60,     /* a header that stays as it is fits on its line */
};

/* ---- Bodies ------------------------------------------------------------------------------------------------ */

static bool is_blank(char byte)
{
    return byte == ' ' || byte == '\t';
}

static bool is_printable(char byte)
{
    return byte >= ' ' && byte <= '~';
}

/* Blanks at the end of a line get lost on the way, and a dot at its beginning could end the message. */
static bool must_encode(Slice line, size_t at, size_t column)
{
    char byte = line.data[at];
    if (is_blank(byte))
        return at + 1 == line.size;
    return !is_printable(byte) || byte == '=' || (byte == '.' && column == 0);
}

static void put_line(Buffer *out, Slice line)
{
    static const char HEX[] = "0123456789ABCDEF";
    size_t column = 0;
    for (size_t i = 0; i < line.size; i++) {
        size_t wide = must_encode(line, i, column) ? 3 : 1;
        if (column + wide > MIME_LINE_MAX - 1) {
            buffer_text(out, "=\r\n");
            column = 0;
            wide = must_encode(line, i, column) ? 3 : 1;
        }
        unsigned char byte = (unsigned char)line.data[i];
        if (wide == 3)
            buffer_bytes(out, slice_of((char[]){'=', HEX[byte >> 4], HEX[byte & 15]}, 3));
        else
            buffer_u8(out, byte);
        column += wide;
    }
    buffer_text(out, "\r\n");
}

/* Up to the next line end, which is taken off too. */
static Slice next_line(Slice *rest)
{
    size_t end = 0;
    while (end < rest->size && rest->data[end] != '\n' && rest->data[end] != '\r')
        end++;
    Slice line = slice_of(rest->data, end);
    bool both = end + 1 < rest->size && rest->data[end] == '\r' && rest->data[end + 1] == '\n';
    *rest = slice_after(*rest, end + (both ? 2 : 1));
    return line;
}

void mime_quoted_printable(Buffer *out, Slice text)
{
    while (text.size > 0)
        put_line(out, next_line(&text));
}

/* ---- Headers ----------------------------------------------------------------------------------------------- */

/* As many whole characters as fit into an encoded word. */
static Slice next_word(Slice *rest)
{
    size_t size = 0, next;
    while (size < rest->size && (next = slice_utf8_length(slice_after(*rest, size))) > 0 &&
           size + next <= WORD_BYTES)
        size += next;
    CHECK(size > 0 && "headers are UTF-8");
    Slice word = slice_of(rest->data, size);
    *rest = slice_after(*rest, size);
    return word;
}

static void put_encoded(Buffer *out, Slice text)
{
    const char *before = "";
    while (text.size > 0) {
        char base64[2 * WORD_BYTES];
        Slice word = next_word(&text);
        sodium_bin2base64(base64, sizeof base64, (const unsigned char *)word.data, word.size,
                          sodium_base64_VARIANT_ORIGINAL);
        buffer_print(out, "%s=?UTF-8?B?%s?=", before, base64);
        before = "\r\n ";
    }
}

/* Letters, digits and single marks of `more`, on one line, with no blank that a reader would drop. */
static bool can_stay(Slice text, const char *more)
{
    if (text.size == 0)
        return true;
    if (text.size > PLAIN_MAX || text.data[0] == ' ' || text.data[text.size - 1] == ' ')
        return false;
    for (size_t i = 0; i < text.size; i++) {
        char c = text.data[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (c == '\0' || (!letter && strchr(more, c) == NULL))
            return false;
        if (c == ' ' && text.data[i - 1] == ' ')
            return false;
    }
    return true;
}

static void put_header(Buffer *out, Slice text, const char *more)
{
    if (can_stay(text, more))
        buffer_bytes(out, text);
    else
        put_encoded(out, text);
}

/* Without "=" nothing can look like an encoded word. */
void mime_words(Buffer *out, Slice text)
{
    put_header(out, text, " !\"#$%&'()*+,-./:;<>?@[\\]^_`{|}~");
}

void mime_phrase(Buffer *out, Slice text)
{
    put_header(out, text, " -_");
}

void mime_date(Buffer *out, int64_t us)
{
    static const char *const DAYS[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    static const char *const MONTHS[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                         "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    const int64_t last_s = INT64_C(253402300799);
    int64_t seconds = us / 1000000;
    time_t at = (time_t)(seconds < 0 ? 0 : (seconds > last_s ? last_s : seconds));
    struct tm utc;
    CHECK(gmtime_r(&at, &utc) != NULL);
    buffer_print(out, "%s, %02d %s %04d %02d:%02d:%02d +0000", DAYS[utc.tm_wday], utc.tm_mday,
                 MONTHS[utc.tm_mon], utc.tm_year + 1900, utc.tm_hour, utc.tm_min, utc.tm_sec);
}
