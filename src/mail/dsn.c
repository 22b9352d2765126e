/* dsn.c -- see dsn.h. */
#include "mail/dsn.h"

enum { BOUNDARY_MAX = 70 };

/* The next line without its end; false when nothing is left. */
static bool next_line(Slice *rest, Slice *ret_line)
{
    if (!slice_split(rest, '\n', ret_line))
        return false;
    if (ret_line->size > 0 && ret_line->data[ret_line->size - 1] == '\r')
        ret_line->size--;
    return true;
}

static bool is_folded(Slice rest)
{
    return rest.size > 0 && (rest.data[0] == ' ' || rest.data[0] == '\t');
}

/* A field with all its lines, joined; false at an empty line or the end. */
static bool next_field(Slice *rest, Arena *arena, Slice *ret_name, Slice *ret_value)
{
    Slice line, more;
    if (!next_line(rest, &line) || line.size == 0)
        return false;
    size_t colon = slice_find(line, ':');
    *ret_name = slice_trim(slice_of(line.data, colon));
    *ret_value = slice_trim(slice_after(line, colon + 1));
    while (is_folded(*rest) && next_line(rest, &more)) {
        more = slice_trim(more);
        *ret_value = arena_print(arena, "%.*s %.*s", SLICE_ARG(*ret_value), SLICE_ARG(more));
    }
    return true;
}

static bool starts_ignoring_case(Slice text, Slice prefix)
{
    return text.size >= prefix.size &&
           slice_equal_ignoring_case(slice_of(text.data, prefix.size), prefix);
}

/* Reads a head up to its empty line; the value of Content-Type, or empty. */
static Slice read_head(Slice *rest, Arena *arena)
{
    Slice name, value, type = SLICE_EMPTY;
    while (next_field(rest, arena, &name, &value))
        if (slice_equal_ignoring_case(name, SLICE("Content-Type")) && type.size == 0)
            type = value;
    return type;
}

/* boundary=… of multipart/report, with quotes or without; empty when there is none. */
static Slice boundary_of(Slice type)
{
    Slice part;
    while (slice_split(&type, ';', &part)) {
        part = slice_trim(part);
        if (!starts_ignoring_case(part, SLICE("boundary=")))
            continue;
        Slice value = slice_after(part, strlen("boundary="));
        if (value.size >= 2 && value.data[0] == '"' && value.data[value.size - 1] == '"')
            value = slice_of(value.data + 1, value.size - 2);
        return value.size <= BOUNDARY_MAX ? value : SLICE_EMPTY;
    }
    return SLICE_EMPTY;
}

static bool is_boundary(Slice line, Slice boundary)
{
    return line.size >= boundary.size + 2 && slice_starts_with(line, SLICE("--")) &&
           slice_starts_with(slice_after(line, 2), boundary);
}

/* What stands up to the next boundary, which is taken off. */
static Slice take_part(Slice *rest, Slice boundary)
{
    const char *begin = rest->data;
    Slice before = *rest, line;
    while (next_line(rest, &line)) {
        if (is_boundary(line, boundary))
            return slice_of(begin, (size_t)(before.data - begin));
        before = *rest;
    }
    return slice_of(begin, (size_t)(rest->data - begin));
}

/* "rfc822; somebody@example.org" */
static Slice address_of(Slice value)
{
    size_t at = slice_find(value, ';');
    return at < value.size ? slice_trim(slice_after(value, at + 1)) : SLICE_EMPTY;
}

/* One group: what became of one recipient. The address that we wrote to comes before the one that it led to. */
static void take_group(Slice *rest, Arena *arena, DsnReport *report)
{
    Slice name, value, action = SLICE_EMPTY, original = SLICE_EMPTY;
    DsnRecipient recipient = {SLICE_EMPTY, SLICE_EMPTY};
    while (next_field(rest, arena, &name, &value)) {
        if (slice_equal_ignoring_case(name, SLICE("Final-Recipient")))
            recipient.address = address_of(value);
        else if (slice_equal_ignoring_case(name, SLICE("Original-Recipient")))
            original = address_of(value);
        else if (slice_equal_ignoring_case(name, SLICE("Action")))
            action = value;
        else if (slice_equal_ignoring_case(name, SLICE("Status")))
            recipient.status = slice_of(value.data, slice_find(value, ' '));
    }
    if (original.size > 0)
        recipient.address = original;
    if (slice_equal_ignoring_case(action, SLICE("failed")) &&
        slice_starts_with(recipient.status, SLICE("5.")) && report->count < DSN_RECIPIENTS_MAX &&
        message_check_address(recipient.address, "to", NULL) == STATUS_OK)
        report->failed[report->count++] = recipient;
}

Status dsn_read(Slice message, Arena *arena, DsnReport *ret_report, Reason *reason)
{
    Slice rest = message, type = read_head(&rest, arena), boundary = boundary_of(type);
    if (!starts_ignoring_case(type, SLICE("multipart/report")) || boundary.size == 0)
        return reason_set(reason, STATUS_INVALID, "message",
                          "is no report of a mail server (multipart/report)");
    (void)take_part(&rest, boundary);
    while (rest.size > 0) {
        Slice part = take_part(&rest, boundary);
        if (!starts_ignoring_case(read_head(&part, arena), SLICE("message/delivery-status")))
            continue;
        ret_report->count = 0;
        while (part.size > 0)
            take_group(&part, arena, ret_report);
        return STATUS_OK;
    }
    return reason_set(reason, STATUS_INVALID, "message",
                      "has no part message/delivery-status, which says what failed");
}
