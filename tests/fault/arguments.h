/* arguments.h -- test programs that are started as `program verb name=value …`. */
#pragma once

#include "base/slice.h"

/* A text, or a number. */
typedef struct Argument {
    const char *name;
    const char **text;
    uint64_t *number;
    uint64_t most; /* of a number that must be at least 1; 0: any number will do */
} Argument;

enum { VERB_NEEDS = 2 };

typedef struct Verb {
    const char *name;
    int (*run)(void);               /* its exit status */
    const char **needs[VERB_NEEDS]; /* texts that must have been given */
} Verb;

typedef struct Program {
    const Argument *arguments;
    size_t argument_count;
    const Verb *verbs;
    size_t verb_count;
    const char *usage;
} Program;

/* Takes the arguments, runs the verb, returns its exit status; 2 after telling the usage. */
int program_run(const Program *program, int count, char **words);
