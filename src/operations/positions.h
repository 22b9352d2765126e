/* positions.h -- where a list goes on, as text that stands in addresses: the store's bytes in hexadecimal digits. */
#pragma once

#include "base/arena.h"
#include "base/bytes.h"

Slice position_text(Slice position, Arena *arena);
/* NOT_FOUND: it is none. Empty is the beginning. */
MUST_USE Status position_from(Slice text, Arena *arena, Slice *ret_position);
