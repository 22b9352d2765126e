/* rocks_error.h -- what a sentence of RocksDB means for the caller. */
#pragma once

#include "base/slice.h"

/* Turns RocksDB's error text, which it frees, into a status and a reason: CORRUPT when what is stored is damaged or gone, UNAVAILABLE when
 * the disk does not answer now. */
MUST_USE Status rocks_error(char *error, const char *path, Reason *reason);
