/* health.h -- what is told about the store's health, and to whom. */
#pragma once

#include "base/bytes.h"

/* The text without paths, which say where data lies and are nobody's business but the operator's: each word that holds a
 * slash becomes "(path)". Pure. */
void health_hide_paths(Slice text, Buffer *out);
