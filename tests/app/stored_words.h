/* stored_words.h -- whether words stand anywhere in a store: in the key of a row, in a column, in a value, or sealed in a value.
 *
 * Nothing is known of tables and records here: in every cell whatever opens for a purpose of PURPOSES (stored_words.c) is opened. Letters are compared
 * without their case, as lists fold names. */
#pragma once

#include "base/bytes.h"
#include "base/vault.h"
#include "store/store.h"

/* Where the words were found first: "table column" in the arena, the column as far as it can be printed; empty: nowhere. */
MUST_USE Status stored_words_find(Store *store, const Vault *vault, Slice words, Arena *arena,
                                  Slice *ret_where);
