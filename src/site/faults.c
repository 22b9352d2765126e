/* faults.c -- what was wrong with a form, all of it at once. See site_private.h. */
#include "site/site_private.h"

const FormFault *form_fault_at(const FormFault *faults, const char *field)
{
    if (!faults->is_set)
        return NULL;
    while (faults != NULL && !slice_equal(faults->field, slice_from(field)))
        faults = faults->next;
    return faults;
}

void form_fault_add(FormFault *faults, FormFault fault, Arena *arena)
{
    FormFault *last = faults;
    FormFault copy = {true, arena_copy(arena, fault.field), arena_copy(arena, fault.rule), NULL};
    if (!faults->is_set) {
        *faults = copy;
        return;
    }
    while (last->next != NULL)
        last = last->next;
    last->next = ARENA_NEW(arena, FormFault);
    *last->next = copy;
}
