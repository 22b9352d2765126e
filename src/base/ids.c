/* ids.c -- see ids.h. */
#include "base/ids.h"

Id id_new(Clock clock, Random random)
{
    Id id;
    uint64_t ms = (uint64_t)(clock_now_us(clock) / US_PER_MS);
    random_fill(random, id.bytes, sizeof id.bytes);
    for (int i = 0; i < 6; i++)
        id.bytes[i] = (unsigned char)(ms >> (40 - 8 * i));
    return id;
}

bool id_equal(Id a, Id b)
{
    return memcmp(a.bytes, b.bytes, sizeof a.bytes) == 0;
}

bool id_is_zero(Id id)
{
    return id_equal(id, (Id){{0}});
}

Slice id_text(Id id, Arena *arena)
{
    static const char DIGITS[] = "0123456789abcdef";
    char *text = arena_bytes(arena, ID_TEXT);
    for (size_t i = 0; i < ID_BYTES; i++) {
        text[2 * i] = DIGITS[id.bytes[i] >> 4];
        text[2 * i + 1] = DIGITS[id.bytes[i] & 15];
    }
    return slice_of(text, ID_TEXT);
}

static int digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

Status id_from_text(Slice text, Id *ret_id)
{
    Id id;
    if (text.size != ID_TEXT)
        return STATUS_INVALID;
    for (size_t i = 0; i < ID_BYTES; i++) {
        int high = digit_of(text.data[2 * i]), low = digit_of(text.data[2 * i + 1]);
        if (high < 0 || low < 0)
            return STATUS_INVALID;
        id.bytes[i] = (unsigned char)(high << 4 | low);
    }
    *ret_id = id;
    return STATUS_OK;
}

Status id_from_bytes(Slice bytes, Id *ret_id)
{
    if (bytes.size != ID_BYTES)
        return STATUS_INVALID;
    memcpy(ret_id->bytes, bytes.data, ID_BYTES);
    return STATUS_OK;
}
