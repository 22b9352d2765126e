/* words.h -- the words of an enum, made once from its list.
 *
 *     #define REPORT_STATE_LIST(X) X(OPEN, "open", "waiting") X(TAKEN, "taken", "taken on") …
 *     const char *const REPORT_STATE_WORDS[] = WORDS(REPORT_STATE_LIST, WORD_2);
 *     static const char *const STATE_TEXTS[] = WORDS(REPORT_STATE_LIST, WORD_3);
 * The words stand in the order of the enum and end with NULL, as the tables of parameters want them (web/route.h). Pure. */
#pragma once

#include "base/slice.h"

#define WORDS(list, column) \
    {                       \
        list(column) NULL   \
    }
/* The second or third column of a list. */
#define WORD_2(name, ...)         WORD_FIRST_(__VA_ARGS__, )
#define WORD_3(name, second, ...) WORD_FIRST_(__VA_ARGS__, )
#define WORD_FIRST_(word, ...)    word,

/* The word of a value, which must be one of the enum's. */
const char *word_of(const char *const *words, unsigned value);
/* The value of a word. INVALID for `field`: "is one of a, b and c". An enum's pointer can be passed. */
MUST_USE Status word_find(const char *const *words, Slice word, const char *field,
                          unsigned *ret_value, Reason *reason);
