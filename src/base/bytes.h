/* bytes.h -- building and taking apart byte strings, always within bounds.
 *
 * Buffer grows as it is written and frees itself at the end of its scope. Reader walks over a slice; the first
 * read past the end makes it `failed`, from then on it returns zeros, and one check at the end is enough:
 *     Reader reader = reader_of(value);
 *     int64_t time = reader_i64(&reader);
 *     Slice name = reader_bytes(&reader, reader_u16(&reader));
 *     if (!reader_done(&reader)) return STATUS_CORRUPT;
 * Numbers are big-endian, so that unsigned ones sort as bytes. */
#pragma once

#include "base/slice.h"

typedef struct Buffer {
    char *data;
    size_t size;
    size_t capacity;
} Buffer;

#define BUFFER_SCOPE __attribute__((cleanup(buffer_free)))
void buffer_free(Buffer *buffer);
/* Empties without giving the memory back. */
void buffer_clear(Buffer *buffer);
/* The slow path of buffer_reserve. */
void buffer_grow(Buffer *buffer, size_t size);

/* Room for `size` more bytes; returns where they go. Add them with `buffer->size += n`. (Pages are written in many small
 * steps, so this and the next two are inline: measured on a page of 4 KiB.) */
static inline char *buffer_reserve(Buffer *buffer, size_t size)
{
    if (buffer->data == NULL || size > buffer->capacity - buffer->size)
        buffer_grow(buffer, size);
    return buffer->data + buffer->size;
}

static inline void buffer_u8(Buffer *buffer, uint8_t number)
{
    *buffer_reserve(buffer, 1) = (char)number;
    buffer->size += 1;
}

static inline void buffer_bytes(Buffer *buffer, Slice bytes)
{
    if (bytes.size == 0)
        return;
    memcpy(buffer_reserve(buffer, bytes.size), bytes.data, bytes.size);
    buffer->size += bytes.size;
}

static inline Slice buffer_slice(const Buffer *buffer)
{
    return (Slice){buffer->data != NULL ? buffer->data : "", buffer->size};
}

void buffer_u16(Buffer *buffer, uint16_t number);
void buffer_u32(Buffer *buffer, uint32_t number);
void buffer_u64(Buffer *buffer, uint64_t number);
void buffer_i64(Buffer *buffer, int64_t number);
void buffer_text(Buffer *buffer, const char *text);
void buffer_print(Buffer *buffer, const char *format, ...) PRINTF_LIKE(2, 3);
/* Decimal digits, without the cost of printf: pages are full of numbers. */
void buffer_decimal(Buffer *buffer, int64_t number);
/* As a piece of an address or a form (RFC 3986): all but letters, digits and -._~ as %XX. */
void buffer_url_escaped(Buffer *buffer, Slice text);

typedef struct Reader {
    Slice rest;
    bool failed;
} Reader;

static inline Reader reader_of(Slice slice)
{
    return (Reader){.rest = slice};
}

uint8_t reader_u8(Reader *reader);
uint16_t reader_u16(Reader *reader);
uint32_t reader_u32(Reader *reader);
uint64_t reader_u64(Reader *reader);
int64_t reader_i64(Reader *reader);
/* A view of the next `size` bytes, empty when there are fewer. */
Slice reader_bytes(Reader *reader, size_t size);
Slice reader_rest(Reader *reader);

/* Nothing failed and nothing is left over. */
static inline bool reader_done(const Reader *reader)
{
    return !reader->failed && reader->rest.size == 0;
}

/* The same number layout for code that has its own memory (keys in the engines' inner loops). */
static inline void bytes_put_u16(char *to, uint16_t number)
{
    uint16_t big = __builtin_bswap16(number);
    memcpy(to, &big, sizeof big);
}

static inline void bytes_put_u64(char *to, uint64_t number)
{
    uint64_t big = __builtin_bswap64(number);
    memcpy(to, &big, sizeof big);
}

static inline uint16_t bytes_get_u16(const char *from)
{
    uint16_t big;
    memcpy(&big, from, sizeof big);
    return __builtin_bswap16(big);
}

static inline uint64_t bytes_get_u64(const char *from)
{
    uint64_t big;
    memcpy(&big, from, sizeof big);
    return __builtin_bswap64(big);
}

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "numbers are swapped on the way out");
