/* slug.h -- readable addresses. */
#pragma once

#include "base/arena.h"

/* "/policies/123-clean-rivers": the id decides, the words are for people. */
Slice policy_address(uint64_t id, Slice name, Arena *arena);
/* The same under another path: "/categories/3-environment". */
Slice slug_address(const char *path, uint64_t id, Slice name, Arena *arena);
/* "clean-rivers": letters and digits of any script in lower case, without accents, joined by '-'; at most 60 bytes. */
Slice slug_of(Slice name, Arena *arena);
