/* policy_form.h -- the fields in which people write a policy, to propose it or to edit it. Links are in one field, a line for each. */
#pragma once

#include "operations/policy_text.h"
#include "site/forms.h"

/* What can be chosen: active groups, and those that were chosen. */
typedef struct GroupChoices {
    PolicyGroup *categories, *parties;
    size_t category_count, party_count;
} GroupChoices;

/* For FormPage.fill: reads the choices, and makes each fault a whole sentence. */
MUST_USE Status policy_form_fill(WebRequest *request, Form *form, GroupChoices *ret_choices);
/* Begins the form with a text. */
void policy_form_type(Form *form, const PolicyText *text, Arena *arena);
