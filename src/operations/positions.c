/* positions.c -- see positions.h. */
#include "operations/positions.h"

Slice position_text(Slice position, Arena *arena)
{
    BUFFER_SCOPE Buffer text = {0};
    for (size_t i = 0; i < position.size; i++)
        buffer_print(&text, "%02x", (unsigned char)position.data[i]);
    return arena_copy(arena, buffer_slice(&text));
}

static int digit_of(char at)
{
    if (at >= '0' && at <= '9')
        return at - '0';
    return at >= 'a' && at <= 'f' ? at - 'a' + 10 : -1;
}

Status position_from(Slice text, Arena *arena, Slice *ret_position)
{
    char *bytes = arena_bytes(arena, text.size / 2);
    if (text.size % 2 != 0)
        return STATUS_NOT_FOUND;
    for (size_t i = 0; i < text.size / 2; i++) {
        int high = digit_of(text.data[2 * i]), low = digit_of(text.data[2 * i + 1]);
        if (high < 0 || low < 0)
            return STATUS_NOT_FOUND;
        bytes[i] = (char)(high << 4 | low);
    }
    *ret_position = slice_of(bytes, text.size / 2);
    return STATUS_OK;
}
