/* agents.h -- the programs by which people come, in words: "Firefox on Windows" for what a browser says of itself. Pure.
 *
 * Browsers name each other in their User-Agent; the rows of the table stand in an order in which the first that fits is right. What no row knows is shown
 * as it came. */
#pragma once

#include "base/arena.h"

Slice agent_words(Slice agent, Arena *arena);
