/* policy_form.h -- the form in which people write a policy: what was typed, and the text that it makes. Used to propose and to edit.
 *
 * Fields keep what was typed until it is right; bounds of the route are generous, so that the page and not a bare refusal tells what
 * is wrong. Links stand in one field, a line for each. */
#pragma once

#include "operations/policy_text.h"
#include "site/site_private.h"

typedef struct PolicyForm {
    Slice name, description, rationale, links;
    uint64_t category, party; /* 0: none chosen */
    FormFault fault;
    PolicyGroup *categories, *parties;
    size_t category_count, party_count;
} PolicyForm;

/* Rows of a route's parameters, in the order of PolicyFormField. */
typedef enum PolicyFormField {
    FORM_NAME,
    FORM_DESCRIPTION,
    FORM_RATIONALE,
    FORM_LINKS,
    FORM_CATEGORY,
    FORM_PARTY,
    POLICY_FORM_FIELDS
} PolicyFormField;

/* clang-format off */
#define POLICY_FORM_PARAMS                                                                              \
    {"name", WEB_FORM, WEB_LINE, .fallback = "", .most = 2000, .help = "What it is called: 3 to 120 characters."}, \
    {"description", WEB_FORM, WEB_TEXT, .fallback = "", .most = 100000, .help = "What it says (Markdown)."}, \
    {"rationale", WEB_FORM, WEB_TEXT, .fallback = "", .most = 100000, .help = "Why (Markdown)."},       \
    {"links", WEB_FORM, WEB_TEXT, .fallback = "", .most = 50000, .help = "At most 10 addresses, one a line."}, \
    {"category", WEB_FORM, WEB_NUMBER, .fallback = "0", .most = INT64_MAX, .help = "Its category."},    \
    {"party", WEB_FORM, WEB_NUMBER, .fallback = "0", .most = INT64_MAX, .help = "Its party; 0: none."}
/* clang-format on */
/* Room for the longest texts with every byte as %XX, and for what else a form holds. */
enum { POLICY_FORM_BYTES = 1 << 20 };

/* The rows begin at `first`. */
void policy_form_read(const WebRequest *request, size_t first, PolicyForm *form);
/* What stands, to begin with. */
void policy_form_show(const PolicyText *text, Arena *arena, PolicyForm *form);
/* What can be chosen: active ones, and those that the form has. */
MUST_USE Status policy_form_groups(Site *site, Arena *arena, PolicyForm *form);
/* Trims, splits the links, and checks; INVALID: policy_form_faults tells all that is wrong. */
MUST_USE Status policy_form_text(const PolicyForm *form, PolicyText *ret_text);
FormFault policy_form_faults(const PolicyForm *form, Arena *arena);
/* A fault as a whole sentence, with the field's name where the rule goes on from it ("has 3 to 120 characters"). */
FormFault policy_form_fault(const Reason *reason, Arena *arena);
