/* framing.c -- see framing.h. */
#include "web/framing.h"

#include "web/http_rules.h"

/* ---- Heads ---- */

size_t framing_head_size(Slice bytes, size_t looked)
{
    static const char end[] = "\r\n\r\n";
    enum { END = sizeof end - 1 };
    size_t from = looked < END ? 0 : looked - (END - 1);
    if (bytes.size < from + END)
        return 0;
    const char *found = memmem(bytes.data + from, bytes.size - from, end, END);
    return found == NULL ? 0 : (size_t)(found - bytes.data) + END;
}

/* Cuts the next line off, without its end. False: it does not end with CR LF. */
static bool next_line(Slice *rest, Slice *ret_line)
{
    size_t size = slice_find(*rest, '\n');
    if (size == rest->size || size == 0 || rest->data[size - 1] != '\r')
        return false;
    *ret_line = slice_of(rest->data, size - 1);
    *rest = slice_after(*rest, size + 1);
    return true;
}

static bool is_text(char byte)
{
    return ((unsigned char)byte >= ' ' && byte != 0x7F) || byte == '\t';
}

static bool is_all_text(Slice text)
{
    size_t i = 0;
    while (i < text.size && is_text(text.data[i]))
        i++;
    return i == text.size;
}

static bool read_line(Slice text, FramingLine *ret_line, HttpHead *head)
{
    size_t method = slice_find(text, ' ');
    Slice rest = slice_after(text, method + 1);
    size_t target = slice_find(rest, ' ');
    Slice version = slice_after(rest, target + 1);
    head->is_http_1_0 = slice_equal(version, SLICE("HTTP/1.0"));
    if (!http_is_token(slice_of(text.data, method)) || target == 0 || !is_all_text(text) ||
        (!head->is_http_1_0 && !slice_equal(version, SLICE("HTTP/1.1"))))
        return false;
    *ret_line = (FramingLine){slice_of(text.data, method), slice_of(rest.data, target)};
    return true;
}

static const char *read_header(Slice line, HttpHead *head, Arena *arena)
{
    size_t name = slice_find(line, ':');
    if (name == line.size)
        return "a header has no colon";
    head_add(head, slice_of(line.data, name), slice_after(line, name + 1), arena);
    return NULL;
}

FramingLine framing_read_head(Slice bytes, HttpHead *head, Arena *arena)
{
    const char *fault = NULL;
    FramingLine first = {SLICE_EMPTY, SLICE_EMPTY};
    Slice line;
    if (!next_line(&bytes, &line) || !read_line(line, &first, head))
        fault = "the first line must be a method, an address and HTTP/1.1";
    while (fault == NULL) {
        if (!next_line(&bytes, &line))
            fault = "a line of the head does not end with CR LF";
        else if (line.size == 0)
            break;
        else
            fault = read_header(line, head, arena);
    }
    if (fault != NULL)
        head_fail(head, fault);
    return first;
}

/* ---- Chunks ---- */

enum {
    DIGITS_MAX = 8,
    BESIDE_MAX = 8192, /* of one body: extensions, and headers behind it */
};

enum {
    SIZE,      /* digits */
    EXTENSION, /* behind them, to the end of the line */
    SIZE_LF,
    DATA,
    DATA_CR,
    DATA_LF,
    TRAILER, /* the first byte of a line behind the last chunk */
    TRAILER_REST,
    TRAILER_LF,
    END_LF,
    DONE
};

static int hex_of(char byte)
{
    if (byte >= '0' && byte <= '9')
        return byte - '0';
    if ((byte | 0x20) >= 'a' && (byte | 0x20) <= 'f')
        return (byte | 0x20) - 'a' + 10;
    return -1;
}

/* The line with the size: the next state, or -1. */
static int step_size(FramingChunks *chunks, char byte)
{
    int value = hex_of(byte);
    if (value >= 0 && chunks->digits < DIGITS_MAX) {
        chunks->digits++;
        chunks->left = chunks->left << 4 | (uint64_t)value;
        return SIZE;
    }
    if (chunks->digits == 0 || value >= 0)
        return -1;
    if (byte == '\r')
        return SIZE_LF;
    return byte == ';' ? EXTENSION : -1;
}

static int step(FramingChunks *chunks, char byte)
{
    switch (chunks->state) {
    case SIZE:
        return step_size(chunks, byte);
    case EXTENSION:
        chunks->beside++;
        return byte == '\r' ? SIZE_LF : is_text(byte) ? EXTENSION : -1;
    case SIZE_LF:
        chunks->digits = 0;
        return byte != '\n' ? -1 : chunks->left > 0 ? DATA : TRAILER;
    case DATA_CR:
        return byte == '\r' ? DATA_LF : -1;
    case DATA_LF:
        return byte == '\n' ? SIZE : -1;
    case TRAILER:
        chunks->beside++;
        return byte == '\r' ? END_LF : is_text(byte) ? TRAILER_REST : -1;
    case TRAILER_REST:
        chunks->beside++;
        return byte == '\r' ? TRAILER_LF : is_text(byte) ? TRAILER_REST : -1;
    case TRAILER_LF:
        return byte == '\n' ? TRAILER : -1;
    case END_LF:
        return byte == '\n' ? DONE : -1;
    default:
        return -1;
    }
}

static size_t take_data(FramingChunks *chunks, Slice bytes, Buffer *body)
{
    size_t size = bytes.size < chunks->left ? bytes.size : (size_t)chunks->left;
    buffer_bytes(body, slice_of(bytes.data, size));
    chunks->left -= size;
    if (chunks->left == 0)
        chunks->state = DATA_CR;
    return size;
}

FramingStep framing_read_chunks(FramingChunks *chunks, Slice bytes, uint64_t most, Buffer *body,
                                size_t *ret_used)
{
    size_t used = 0;
    *ret_used = 0;
    while (used < bytes.size && chunks->state != DONE) {
        if (chunks->state == DATA) {
            used += take_data(chunks, slice_after(bytes, used), body);
            continue;
        }
        int next = step(chunks, bytes.data[used++]);
        if (next < 0 || chunks->beside > BESIDE_MAX)
            return FRAMING_BROKEN;
        if (next == DATA && (body->size > most || chunks->left > most - body->size))
            return FRAMING_TOO_LARGE;
        chunks->state = next;
    }
    *ret_used = used;
    return chunks->state == DONE ? FRAMING_DONE : FRAMING_MORE;
}
