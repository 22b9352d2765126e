/* arguments.c -- see arguments.h. */
#include "arguments.h"

#include <stdio.h>

static bool take(const Argument *argument, Slice value)
{
    if (argument->text != NULL) {
        *argument->text = value.data;
        return true;
    }
    return slice_to_u64(value, argument->number) == STATUS_OK &&
           (argument->most == 0 || (*argument->number >= 1 && *argument->number <= argument->most));
}

static bool take_word(const Program *program, const char *word)
{
    Slice rest = slice_from(word), name;
    if (!slice_split(&rest, '=', &name))
        return false;
    for (size_t i = 0; i < program->argument_count; i++)
        if (slice_equal(name, slice_from(program->arguments[i].name)))
            return take(&program->arguments[i], rest);
    return false;
}

static bool has_all(const Verb *verb)
{
    for (size_t i = 0; i < VERB_NEEDS; i++)
        if (verb->needs[i] != NULL && *verb->needs[i] == NULL)
            return false;
    return true;
}

int program_run(const Program *program, int count, char **words)
{
    bool good = count > 1;
    for (int i = 2; i < count; i++)
        good &= take_word(program, words[i]);
    for (size_t i = 0; good && i < program->verb_count; i++)
        if (strcmp(words[1], program->verbs[i].name) == 0 && has_all(&program->verbs[i]))
            return program->verbs[i].run();
    fprintf(stderr, "usage: %s\n", program->usage);
    return 2;
}
