/* fuzz.h -- what a fuzz target defines.
 *
 * A target takes any bytes and must return; a crash, a sanitizer's finding, a leak or a CHECK that does not hold is a
 * bug. Beside feeding a parser, a target checks an invariant: what was read can be written and read again. */
#pragma once

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
