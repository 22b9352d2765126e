/* multipart.c -- see multipart.h. A body is
 *     --BOUNDARY CRLF head lines CRLF CRLF content CRLF --BOUNDARY CRLF … CRLF --BOUNDARY-- */
#include "web/multipart.h"

#include <string.h>

#include "web/http_rules.h"

static const Slice CRLF = {"\r\n", 2};

bool multipart_is(Slice content_type)
{
    return http_media_type_is(content_type, SLICE("multipart/form-data"));
}

/* ---- Small grammars ------------------------------------------------------------------------------------------------- */

/* Where `needle` begins in `text`; its size when it is not there. */
static size_t find(Slice text, Slice needle)
{
    const char *found = memmem(text.data, text.size, needle.data, needle.size);
    return found == NULL ? text.size : (size_t)(found - text.data);
}

static bool cut_prefix(Slice *text, Slice prefix)
{
    if (!slice_starts_with(*text, prefix))
        return false;
    *text = slice_after(*text, prefix.size);
    return true;
}

/* The value of `; name=value` or `; name="value"` in a header's value. Quoted ones end at the next quote: browsers send quotes in names as
 * %22. */
static bool parameter(Slice value, const char *name, Slice *ret_value)
{
    while (value.size > 0) {
        value = slice_trim(slice_after(value, slice_find(value, ';')));
        (void)cut_prefix(&value, SLICE(";"));
        value = slice_trim(value);
        size_t equals = slice_find(value, '=');
        if (equals == value.size)
            return false;
        Slice own = slice_of(value.data, equals), rest = slice_after(value, equals + 1);
        bool is_quoted = cut_prefix(&rest, SLICE("\""));
        size_t end = slice_find(rest, is_quoted ? '"' : ';');
        if (is_quoted && end == rest.size)
            return false;
        *ret_value = slice_of(rest.data, end);
        value = slice_after(rest, end + is_quoted);
        if (slice_equal_ignoring_case(slice_trim(own), slice_from(name)))
            return true;
    }
    return false;
}

/* ---- Parts ------------------------------------------------------------------------------------------------------------ */

typedef struct MultipartPart {
    Slice name, content;
    bool is_file;
} MultipartPart;

typedef struct Parts {
    Slice rest;  /* behind a boundary */
    Slice limit; /* CRLF--BOUNDARY */
    size_t count;
} Parts;

static Status fault(Reason *reason, const char *rule)
{
    return reason_set(reason, STATUS_INVALID, "body", "%s", rule);
}

/* Of the lines of a part's head, the one that names it. */
static Status read_head(Slice head, MultipartPart *part, Reason *reason)
{
    Slice filename;
    while (head.size > 0) {
        size_t end = find(head, CRLF);
        Slice line = slice_of(head.data, end);
        size_t colon = slice_find(line, ':');
        head = slice_after(head, end < head.size ? end + CRLF.size : end);
        if (!slice_equal_ignoring_case(slice_of(line.data, colon), SLICE("Content-Disposition")))
            continue;
        Slice value = slice_after(line, colon < line.size ? colon + 1 : colon);
        part->is_file = parameter(value, "filename", &filename);
        if (parameter(value, "name", &part->name))
            return STATUS_OK;
    }
    return fault(reason, "each part of the form must have a name");
}

/* NOT_FOUND after the last. */
static Status next_part(Parts *parts, MultipartPart *ret_part, Reason *reason)
{
    MultipartPart part = {.name = SLICE_EMPTY};
    if (slice_equal(slice_of(parts->rest.data, parts->rest.size < 2 ? parts->rest.size : 2),
                    SLICE("--")))
        return STATUS_NOT_FOUND;
    if (++parts->count > MULTIPART_PARTS)
        return fault(reason, "the form has too many parts");
    if (!cut_prefix(&parts->rest, CRLF))
        return fault(reason, "the form is cut off, or its boundary is followed by something else");
    size_t head_end = find(parts->rest, SLICE("\r\n\r\n"));
    if (head_end == parts->rest.size || head_end > MULTIPART_HEAD)
        return fault(reason, "a part of the form has no end of its head");
    TRY(read_head(slice_of(parts->rest.data, head_end), &part, reason));
    Slice content = slice_after(parts->rest, head_end + 4);
    size_t size = find(content, parts->limit);
    if (size == content.size)
        return fault(reason, "the form is cut off");
    part.content = slice_of(content.data, size);
    if (!slice_is_utf8(part.content))
        return reason_set(reason, STATUS_INVALID, part.is_file ? "file" : "body",
                          "must be UTF-8 text; spreadsheets save it as \"CSV UTF-8\"");
    parts->rest = slice_after(content, size + parts->limit.size);
    *ret_part = part;
    return STATUS_OK;
}

/* ---- Writing ------------------------------------------------------------------------------------------------------------- */

static bool is_special(char byte)
{
    return byte == '%' || byte == '&' || byte == '+' || byte == '=';
}

static char *put_encoded(char *to, Slice text)
{
    static const char DIGITS[] = "0123456789ABCDEF";
    for (size_t i = 0; i < text.size; i++) {
        unsigned char byte = (unsigned char)text.data[i];
        if (!is_special(text.data[i])) {
            *to++ = text.data[i];
            continue;
        }
        *to++ = '%';
        *to++ = DIGITS[byte >> 4];
        *to++ = DIGITS[byte & 15];
    }
    return to;
}

/* A part's head is longer than the two bytes that a pair has beside its name and content. */
static size_t room_for(Slice body)
{
    size_t specials = 0;
    for (size_t i = 0; i < body.size; i++)
        specials += is_special(body.data[i]);
    return body.size + 2 * specials;
}

static Status begin(Slice content_type, Slice body, Arena *arena, Parts *ret_parts, Reason *reason)
{
    Slice boundary, rest = body;
    if (!parameter(content_type, "boundary", &boundary) || boundary.size == 0 ||
        boundary.size > MULTIPART_BOUNDARY)
        return reason_set(reason, STATUS_INVALID, "Content-Type",
                          "must name a boundary of 1 to %d characters", MULTIPART_BOUNDARY);
    Slice limit = arena_print(arena, "\r\n--%.*s", SLICE_ARG(boundary));
    if (!cut_prefix(&rest, slice_after(limit, CRLF.size)))
        return fault(reason, "must begin with the boundary that Content-Type names");
    *ret_parts = (Parts){.rest = rest, .limit = limit};
    return STATUS_OK;
}

Status multipart_form(Slice content_type, Slice body, Arena *arena, Slice *ret_form, Reason *reason)
{
    Parts parts;
    MultipartPart part;
    Status status;
    TRY(begin(content_type, body, arena, &parts, reason));
    char *form = arena_bytes(arena, room_for(body)), *end = form;
    while ((status = next_part(&parts, &part, reason)) == STATUS_OK) {
        if (part.is_file && part.content.size == 0)
            continue;
        if (end > form)
            *end++ = '&';
        end = put_encoded(end, part.name);
        *end++ = '=';
        end = put_encoded(end, part.content);
    }
    if (status != STATUS_NOT_FOUND)
        return status;
    *ret_form = slice_of(form, (size_t)(end - form));
    return STATUS_OK;
}
