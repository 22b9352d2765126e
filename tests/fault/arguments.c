/* arguments.c -- see arguments.h. */
#include "arguments.h"

bool argument_set(const Argument *arguments, size_t count, const char *word)
{
    Slice rest = slice_from(word), name;
    if (!slice_split(&rest, '=', &name))
        return false;
    for (size_t i = 0; i < count; i++) {
        const Argument *argument = &arguments[i];
        if (!slice_equal(name, slice_from(argument->name)))
            continue;
        if (argument->text == NULL)
            return slice_to_u64(rest, argument->number) == STATUS_OK;
        *argument->text = rest.data;
        return true;
    }
    return false;
}
