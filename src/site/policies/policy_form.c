/* policy_form.c -- see policy_form.h. */
#include "site/policies/policy_form.h"

static Status read_groups(WebRequest *request, const Form *form, GroupKind kind,
                          PolicyGroup **ret_groups, size_t *ret_count)
{
    uint64_t chosen = 0;
    size_t count;
    PolicyGroup *groups;
    TRY(policies_groups(site_of(request)->app->policies, kind, web_arena(request), &groups,
                        &count));
    (void)!slice_to_u64(form_typed(form, kind == GROUP_CATEGORY ? "category" : "party"), &chosen);
    *ret_groups = groups;
    *ret_count = 0;
    for (size_t i = 0; i < count; i++)
        if (groups[i].active || groups[i].id == chosen)
            groups[(*ret_count)++] = groups[i];
    return STATUS_OK;
}

/* A rule goes on from the name of its field: "has 3 to 120 characters". */
static void say_whole(FormFault *fault, Arena *arena)
{
    static const struct {
        const char *field, *label;
    } LABELS[] = {{"name", "The name"},
                  {"description", "The text of what it says"},
                  {"rationale", "The text of why"},
                  {"links", "The list of links"},
                  {"category", "The category"},
                  {"party", "The party"}};
    bool is_rest = slice_starts_with(fault->rule, SLICE("has ")) ||
                   slice_starts_with(fault->rule, SLICE("must "));
    for (size_t i = 0; is_rest && i < sizeof LABELS / sizeof LABELS[0]; i++)
        if (slice_equal(fault->field, slice_from(LABELS[i].field)))
            fault->rule = arena_print(arena, "%s %.*s", LABELS[i].label, SLICE_ARG(fault->rule));
}

Status policy_form_fill(WebRequest *request, Form *form, GroupChoices *ret_choices)
{
    for (FormFault *fault = &form->fault; fault != NULL && fault->is_set; fault = fault->next)
        say_whole(fault, web_arena(request));
    TRY(read_groups(request, form, GROUP_CATEGORY, &ret_choices->categories,
                    &ret_choices->category_count));
    return read_groups(request, form, GROUP_PARTY, &ret_choices->parties,
                       &ret_choices->party_count);
}

void policy_form_type(Form *form, const PolicyText *text, Arena *arena)
{
    form_type(form, "name", text->name);
    form_type(form, "description", text->description);
    form_type(form, "rationale", text->rationale);
    form_type(form, "links", policy_links_text(text, arena));
    form_type(form, "category", arena_print(arena, "%llu", (unsigned long long)text->category));
    form_type(form, "party", arena_print(arena, "%llu", (unsigned long long)text->party));
}
