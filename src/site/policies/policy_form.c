/* policy_form.c -- see policy_form.h. */
#include "site/policies/policy_form.h"

void policy_form_read(const WebRequest *request, size_t first, PolicyForm *form)
{
    form->name = web_text(request, first + FORM_NAME);
    form->description = web_text(request, first + FORM_DESCRIPTION);
    form->rationale = web_text(request, first + FORM_RATIONALE);
    form->links = web_text(request, first + FORM_LINKS);
    form->category = (uint64_t)web_number(request, first + FORM_CATEGORY);
    form->party = (uint64_t)web_number(request, first + FORM_PARTY);
}

void policy_form_show(const PolicyText *text, Arena *arena, PolicyForm *form)
{
    form->name = text->name;
    form->description = text->description;
    form->rationale = text->rationale;
    form->links = policy_links_text(text, arena);
    form->category = text->category;
    form->party = text->party;
}

static size_t keep_choosable(PolicyGroup *groups, size_t count, uint64_t chosen)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (groups[i].active || groups[i].id == chosen)
            groups[kept++] = groups[i];
    return kept;
}

Status policy_form_groups(Site *site, Arena *arena, PolicyForm *form)
{
    Policies *policies = site->app->policies;
    TRY(policies_groups(policies, GROUP_CATEGORY, arena, &form->categories, &form->category_count));
    TRY(policies_groups(policies, GROUP_PARTY, arena, &form->parties, &form->party_count));
    form->category_count = keep_choosable(form->categories, form->category_count, form->category);
    form->party_count = keep_choosable(form->parties, form->party_count, form->party);
    return STATUS_OK;
}

FormFault policy_form_fault(const Reason *reason, Arena *arena)
{
    static const struct {
        const char *field, *label;
    } LABELS[] = {{"name", "The name"},
                  {"description", "The text of what it says"},
                  {"rationale", "The text of why"},
                  {"links", "The list of links"},
                  {"category", "The category"},
                  {"party", "The party"}};
    FormFault fault = form_fault(reason);
    bool is_rest = slice_starts_with(fault.rule, SLICE("has ")) ||
                   slice_starts_with(fault.rule, SLICE("must "));
    for (size_t i = 0; is_rest && i < sizeof LABELS / sizeof LABELS[0]; i++)
        if (slice_equal(fault.field, slice_from(LABELS[i].field)))
            fault.rule = arena_print(arena, "%s %s", LABELS[i].label, reason->rule);
    return fault;
}

static Status split_links(Slice lines, PolicyText *text, Reason *reason)
{
    for (Slice line; slice_split(&lines, '\n', &line);) {
        line = slice_trim(line);
        if (line.size == 0)
            continue;
        if (text->link_count == POLICY_LINKS_MAX)
            return reason_set(reason, STATUS_INVALID, "links", "has at most %d links",
                              POLICY_LINKS_MAX);
        text->links[text->link_count++] = line;
    }
    return STATUS_OK;
}

static PolicyText text_of(const PolicyForm *form)
{
    return (PolicyText){.name = slice_trim(form->name),
                        .description = slice_trim(form->description),
                        .rationale = slice_trim(form->rationale),
                        .category = form->category,
                        .party = form->party};
}

Status policy_form_text(const PolicyForm *form, PolicyText *ret_text)
{
    PolicyText text = text_of(form);
    TRY(split_links(form->links, &text, NULL));
    TRY(policy_check_text(&text, NULL));
    *ret_text = text;
    return STATUS_OK;
}

/* Something that keeps the rule, in place of what broke it. */
static void mend(PolicyText *text, Slice field)
{
    if (slice_equal(field, SLICE("name")))
        text->name = SLICE("Name");
    else if (slice_equal(field, SLICE("description")))
        text->description = SLICE_EMPTY;
    else if (slice_equal(field, SLICE("rationale")))
        text->rationale = SLICE_EMPTY;
    else if (slice_equal(field, SLICE("links")))
        text->link_count = 0;
    else
        text->category = 1;
}

/* The check stops at the first fault, so that one is mended and the rest looked at, until nothing is left. */
FormFault policy_form_faults(const PolicyForm *form, Arena *arena)
{
    FormFault faults = {.is_set = false};
    PolicyText text = text_of(form);
    Reason reason = {0};
    Status status = split_links(form->links, &text, &reason);
    if (status == STATUS_OK)
        status = policy_check_text(&text, &reason);
    for (int i = 0; i < POLICY_FORM_FIELDS && status != STATUS_OK; i++) {
        form_fault_add(&faults, policy_form_fault(&reason, arena), arena);
        mend(&text, slice_from(reason.field));
        status = policy_check_text(&text, &reason);
    }
    return faults;
}
