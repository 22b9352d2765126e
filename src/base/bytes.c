/* bytes.c -- see bytes.h. Buffers double, so writing n bytes costs O(n) however small the steps. */
#include "base/bytes.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void buffer_free(Buffer *buffer)
{
    free(buffer->data);
    *buffer = (Buffer){0};
}

void buffer_clear(Buffer *buffer)
{
    buffer->size = 0;
}

void buffer_grow(Buffer *buffer, size_t size)
{
    size_t needed, capacity = buffer->capacity < 256 ? 256 : buffer->capacity;
    CHECK(!__builtin_add_overflow(buffer->size, size, &needed) && needed <= SIZE_MAX / 2);
    while (capacity < needed)
        capacity *= 2;
    buffer->data = realloc(buffer->data, capacity);
    CHECK(buffer->data != NULL);
    buffer->capacity = capacity;
}

void buffer_u16(Buffer *buffer, uint16_t number)
{
    bytes_put_u16(buffer_reserve(buffer, 2), number);
    buffer->size += 2;
}

void buffer_u32(Buffer *buffer, uint32_t number)
{
    buffer_u16(buffer, (uint16_t)(number >> 16));
    buffer_u16(buffer, (uint16_t)number);
}

void buffer_u64(Buffer *buffer, uint64_t number)
{
    bytes_put_u64(buffer_reserve(buffer, 8), number);
    buffer->size += 8;
}

void buffer_i64(Buffer *buffer, int64_t number)
{
    buffer_u64(buffer, (uint64_t)number);
}

void buffer_text(Buffer *buffer, const char *text)
{
    buffer_bytes(buffer, slice_from(text));
}

void buffer_print(Buffer *buffer, const char *format, ...)
{
    va_list measured, written;
    va_start(measured, format);
    va_copy(written, measured);
    int size = vsnprintf(NULL, 0, format, measured);
    va_end(measured);
    CHECK(size >= 0);
    vsnprintf(buffer_reserve(buffer, (size_t)size + 1), (size_t)size + 1, format, written);
    va_end(written);
    buffer->size += (size_t)size;
}

void buffer_decimal(Buffer *buffer, int64_t number)
{
    char digits[20];
    size_t at = sizeof digits;
    uint64_t rest = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
    do {
        digits[--at] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest > 0);
    if (number < 0)
        buffer_u8(buffer, '-');
    buffer_bytes(buffer, slice_of(digits + at, sizeof digits - at));
}

void buffer_url_escaped(Buffer *buffer, Slice text)
{
    for (size_t i = 0; i < text.size; i++) {
        unsigned char c = (unsigned char)text.data[i];
        bool is_unreserved = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                             (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_' || c == '~';
        if (is_unreserved)
            buffer_u8(buffer, c);
        else
            buffer_print(buffer, "%%%02X", c);
    }
}

Slice reader_bytes(Reader *reader, size_t size)
{
    if (reader->failed || size > reader->rest.size) {
        reader->failed = true;
        return SLICE_EMPTY;
    }
    Slice bytes = slice_of(reader->rest.data, size);
    reader->rest = slice_after(reader->rest, size);
    return bytes;
}

static uint64_t number_of(Reader *reader, size_t size)
{
    Slice bytes = reader_bytes(reader, size);
    uint64_t number = 0;
    for (size_t i = 0; i < bytes.size; i++)
        number = number << 8 | (unsigned char)bytes.data[i];
    return number;
}

uint8_t reader_u8(Reader *reader)
{
    return (uint8_t)number_of(reader, 1);
}

uint16_t reader_u16(Reader *reader)
{
    return (uint16_t)number_of(reader, 2);
}

uint32_t reader_u32(Reader *reader)
{
    return (uint32_t)number_of(reader, 4);
}

uint64_t reader_u64(Reader *reader)
{
    return number_of(reader, 8);
}

int64_t reader_i64(Reader *reader)
{
    return (int64_t)number_of(reader, 8);
}

Slice reader_rest(Reader *reader)
{
    return reader_bytes(reader, reader->rest.size);
}
