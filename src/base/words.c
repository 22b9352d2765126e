/* words.c -- see words.h. */
#include "base/words.h"

#include <stdio.h>

const char *word_of(const char *const *words, unsigned value)
{
    for (unsigned i = 0; i <= value; i++)
        CHECK(words[i] != NULL);
    return words[value];
}

Status word_find(const char *const *words, Slice word, const char *field, unsigned *ret_value,
                 Reason *reason)
{
    Reason all = {.rule = ""};
    for (unsigned i = 0; words[i] != NULL; i++)
        if (slice_equal(word, slice_from(words[i]))) {
            *ret_value = i;
            return STATUS_OK;
        }
    for (size_t i = 0, size = 0; words[i] != NULL && size < sizeof all.rule; i++) {
        const char *before = i == 0 ? "" : words[i + 1] == NULL ? " and " : ", ";
        size += (size_t)snprintf(all.rule + size, sizeof all.rule - size, "%s%s", before, words[i]);
    }
    return reason_set(reason, STATUS_INVALID, field, "is one of %s", all.rule);
}
