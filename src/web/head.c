/* head.c -- see head.h. */
#include "web/head.h"

#include "web/http_rules.h"

static const struct {
    Slice name;
    bool one;
    const char *twice;
} HEADERS[] = {
#define X(name, header, one) {{header, sizeof(header) - 1}, one, header " must not be sent twice"},
    HEAD_LIST(X)
#undef X
};

void head_fail(HttpHead *head, const char *fault)
{
    if (head->fault == NULL)
        head->fault = fault;
}

static void keep(HttpHead *head, size_t which, Slice value, Arena *arena)
{
    if (!head->present[which]) {
        head->present[which] = true;
        head->values[which] = value;
    } else if (HEADERS[which].one) {
        head_fail(head, HEADERS[which].twice);
    } else if (++head->repeated > HEAD_REPEATED_MAX) {
        head_fail(head, "headers are repeated too often");
    } else {
        Slice first = head->values[which];
        head->values[which] = arena_print(arena, "%.*s,%.*s", SLICE_ARG(first), SLICE_ARG(value));
    }
}

static bool has_control_character(Slice value)
{
    for (size_t i = 0; i < value.size; i++)
        if (((unsigned char)value.data[i] < ' ' && value.data[i] != '\t') || value.data[i] == 0x7F)
            return true;
    return false;
}

void head_add(HttpHead *head, Slice name, Slice value, Arena *arena)
{
    if (has_control_character(value))
        head_fail(head, "a header holds a control character");
    for (size_t i = 0; i < HEAD_NAMES; i++) {
        if (!slice_equal_ignoring_case(name, HEADERS[i].name))
            continue;
        keep(head, i, slice_trim(value), arena);
        return;
    }
    if (!http_is_token(name))
        head_fail(head, "a header name has a character that is not allowed");
}

static const char *framing_fault(const HttpHead *head)
{
    bool has_encoding = head->present[HEAD_TRANSFER_ENCODING];
    uint64_t size;
    if (head->fault != NULL)
        return head->fault;
    if (!head->present[HEAD_HOST] && !head->is_http_1_0)
        return "an HTTP/1.1 request needs a Host header";
    if (head->present[HEAD_HOST] && !http_is_host(head->values[HEAD_HOST]))
        return "the Host header names no host";
    if (has_encoding && head->present[HEAD_CONTENT_LENGTH])
        return "Content-Length and Transfer-Encoding must not come together";
    if (has_encoding && head->is_http_1_0)
        return "HTTP/1.0 has no Transfer-Encoding";
    if (has_encoding &&
        !slice_equal_ignoring_case(head->values[HEAD_TRANSFER_ENCODING], SLICE("chunked")))
        return "the only Transfer-Encoding we take is chunked";
    if (head->present[HEAD_CONTENT_LENGTH] &&
        slice_to_u64(head->values[HEAD_CONTENT_LENGTH], &size) != STATUS_OK)
        return "Content-Length must be a number";
    return NULL;
}

Status head_judge(const HttpHead *head, Reason *reason)
{
    const char *fault = framing_fault(head);
    if (fault != NULL)
        return reason_set(reason, STATUS_INVALID, NULL, "%s", fault);
    return STATUS_OK;
}

bool head_body_size(const HttpHead *head, uint64_t *ret_size)
{
    return head->present[HEAD_CONTENT_LENGTH] &&
           slice_to_u64(head->values[HEAD_CONTENT_LENGTH], ret_size) == STATUS_OK;
}

bool head_has_body(const HttpHead *head)
{
    uint64_t size = 0;
    return head->present[HEAD_TRANSFER_ENCODING] || (head_body_size(head, &size) && size > 0);
}
