/* slice.c -- comparing, cutting and reading slices. */
#include "base/slice.h"

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

bool slice_equal_ignoring_case(Slice a, Slice b)
{
    if (a.size != b.size)
        return false;
    for (size_t i = 0; i < a.size; i++)
        if (lower(a.data[i]) != lower(b.data[i]))
            return false;
    return true;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

Slice slice_trim(Slice slice)
{
    while (slice.size > 0 && is_space(slice.data[0]))
        slice = slice_after(slice, 1);
    while (slice.size > 0 && is_space(slice.data[slice.size - 1]))
        slice.size--;
    return slice;
}

size_t slice_find(Slice slice, char byte)
{
    const char *found = slice.size == 0 ? NULL : memchr(slice.data, byte, slice.size);
    return found == NULL ? slice.size : (size_t)(found - slice.data);
}

bool slice_split(Slice *rest, char separator, Slice *ret_part)
{
    if (rest->size == 0)
        return false;
    size_t end = slice_find(*rest, separator);
    *ret_part = slice_of(rest->data, end);
    *rest = slice_after(*rest, end + 1);
    return true;
}

/* The table in RFC 3629 narrows the second byte for E0, ED, F0 and F4; that is what rules out overlong forms, surrogates
 * and numbers above U+10FFFF. */
size_t slice_utf8_length(Slice slice)
{
    const unsigned char *text = (const unsigned char *)slice.data;
    unsigned char lead = slice.size == 0 ? 0 : text[0];
    if (lead < 0x80)
        return lead != 0;
    size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    if (lead < 0xC2 || lead > 0xF4 || length > slice.size)
        return 0;
    unsigned char low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    unsigned char high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
    if (text[1] < low || text[1] > high)
        return 0;
    for (size_t i = 2; i < length; i++)
        if ((text[i] & 0xC0) != 0x80)
            return 0;
    return length;
}

/* How many of the first bytes are ASCII and not NUL, in steps of eight: a longer text is mostly that. */
static size_t ascii_size(Slice slice)
{
    const uint64_t each = UINT64_C(0x0101010101010101), top = each << 7;
    size_t size = 0;
    for (; size + 8 <= slice.size; size += 8) {
        uint64_t bytes;
        memcpy(&bytes, slice.data + size, sizeof bytes);
        if ((((bytes - each) | bytes) & top) != 0)
            break;
    }
    return size;
}

bool slice_is_utf8(Slice slice)
{
    while (slice.size > 0) {
        size_t length = ascii_size(slice);
        if (length == 0)
            length = slice_utf8_length(slice);
        if (length == 0)
            return false;
        slice = slice_after(slice, length);
    }
    return true;
}

Status slice_to_u64(Slice slice, uint64_t *ret_number)
{
    uint64_t number = 0;
    if (slice.size == 0)
        return STATUS_INVALID;
    for (size_t i = 0; i < slice.size; i++) {
        char c = slice.data[i];
        if (c < '0' || c > '9' || __builtin_mul_overflow(number, (uint64_t)10, &number) ||
            __builtin_add_overflow(number, (uint64_t)(c - '0'), &number))
            return STATUS_INVALID;
    }
    *ret_number = number;
    return STATUS_OK;
}

Status slice_to_i64(Slice slice, int64_t *ret_number)
{
    bool negative = slice.size > 0 && slice.data[0] == '-';
    uint64_t magnitude;
    TRY(slice_to_u64(slice_after(slice, negative), &magnitude));
    if (magnitude > (uint64_t)INT64_MAX + negative)
        return STATUS_INVALID;
    *ret_number = negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
    return STATUS_OK;
}
