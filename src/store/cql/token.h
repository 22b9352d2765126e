/* token.h -- where a partition key is on the ring: Murmur3 as Cassandra computes it. Pure.
 *
 * It is the first half of Murmur3_x64_128 with seed 0, but for the bytes of the tail, which Cassandra takes as signed numbers; and
 * the smallest number is not a token and becomes the largest. */
#pragma once

#include "base/slice.h"

int64_t token_of(Slice key);
