/* ids.h -- 128-bit ids that are unique without agreement and sort by the time they were made.
 *
 * Layout: 48 bits of milliseconds, 80 random bits. Used for versions, tokens and requests. They date and name
 * things; nothing is ever decided by comparing two of them. (Short ids for policies and people are handed out
 * in blocks from the store, elsewhere.) */
#pragma once

#include "base/world.h"

enum { ID_BYTES = 16, ID_TEXT = 32 };

typedef struct Id {
    unsigned char bytes[ID_BYTES];
} Id;

Id id_new(Clock clock, Random random);
bool id_equal(Id a, Id b);
bool id_is_zero(Id id);

static inline Slice id_slice(const Id *id)
{
    return (Slice){(const char *)id->bytes, ID_BYTES};
}

/* 32 lower-case hexadecimal digits. */
Slice id_text(Id id, Arena *arena);
/* INVALID unless it is exactly what id_text prints. */
MUST_USE Status id_from_text(Slice text, Id *ret_id);
/* INVALID unless it has exactly 16 bytes. */
MUST_USE Status id_from_bytes(Slice bytes, Id *ret_id);
