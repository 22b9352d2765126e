/* slice.h -- a view of bytes that somebody else owns.
 *
 * Strings, keys and values are slices: a pointer and a size, not ended by NUL, possibly holding NUL. A slice
 * never owns; how long its bytes live is said by whoever hands it out (usually: as long as the arena). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/status.h"

typedef struct Slice {
    const char *data;
    size_t size;
} Slice;

/* For printf: printf("%.*s", SLICE_ARG(name)). */
#define SLICE_ARG(slice) (int)(slice).size, (slice).data
/* A string literal as a slice; also usable in static tables. */
#define SLICE(literal) ((Slice){"" literal "", sizeof(literal) - 1})
#define SLICE_EMPTY    ((Slice){"", 0})

static inline Slice slice_of(const void *data, size_t size)
{
    return (Slice){data, size};
}

static inline Slice slice_from(const char *text)
{
    return (Slice){text, strlen(text)};
}

static inline bool slice_equal(Slice a, Slice b)
{
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

/* Byte order, shorter first when one is the beginning of the other: the order of columns in a row. */
static inline int slice_compare(Slice a, Slice b)
{
    size_t shorter = a.size < b.size ? a.size : b.size;
    int order = shorter == 0 ? 0 : memcmp(a.data, b.data, shorter);
    if (order != 0)
        return order;
    return a.size < b.size ? -1 : a.size > b.size;
}

static inline bool slice_starts_with(Slice slice, Slice prefix)
{
    return slice.size >= prefix.size && slice_equal((Slice){slice.data, prefix.size}, prefix);
}

/* The part from `start` on; empty when start is past the end. */
static inline Slice slice_after(Slice slice, size_t start)
{
    if (start > slice.size)
        start = slice.size;
    if (start == 0) /* also for a slice without data: NULL + 0 is undefined */
        return slice;
    return (Slice){slice.data + start, slice.size - start};
}

/* ASCII letters only, for header names and the like. */
bool slice_equal_ignoring_case(Slice a, Slice b);
/* Without spaces, tabs and line ends on both sides. */
Slice slice_trim(Slice slice);
/* Where `byte` is first, or slice.size. */
size_t slice_find(Slice slice, char byte);
/* Cuts the next part off `rest`, up to `separator` or the end; false when nothing is left. */
bool slice_split(Slice *rest, char separator, Slice *ret_part);
/* No NUL, no overlong forms, no surrogates, nothing above U+10FFFF. */
bool slice_is_utf8(Slice slice);
/* The bytes of the UTF-8 character at the beginning by the same rules, 0 when there is none. */
size_t slice_utf8_length(Slice slice);

/* Decimal numbers, the whole slice, no sign but '-' for the signed one, no spaces; INVALID otherwise. */
MUST_USE Status slice_to_u64(Slice slice, uint64_t *ret_number);
MUST_USE Status slice_to_i64(Slice slice, int64_t *ret_number);
