/* arguments.h -- the words `name=value` with which test programs are started. */
#pragma once

#include "base/slice.h"

typedef struct Argument {
    const char *name;
    const char **text; /* or NULL: then it is a number */
    uint64_t *number;
} Argument;

/* False for a name that is not among them, and for a number that is none. */
bool argument_set(const Argument *arguments, size_t count, const char *word);
