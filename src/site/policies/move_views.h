/* move_views.h -- what the pages show on which a policy is deleted, restored, retired or merged, or its deletion appealed against. What is
 * done is in operations/policy_moves.h. */
#pragma once

#include "operations/policy_moves.h"
#include "site/forms.h"

enum { POLICY_CHOICES = 10 };

/* Policies that may be meant by what was typed. */
typedef struct PolicyChoices {
    PolicySummary summaries[POLICY_CHOICES];
    size_t count;
} PolicyChoices;
/* Where the form's field `other` has a fault: those whose name begins like it, but for `except` (choose_policy.c). */
MUST_USE Status policy_choices(WebRequest *request, const Form *form, uint64_t except,
                               PolicyChoices *ret_choices);
/* The policy that the address names; on a first showing REFUSED where it cannot be acted upon so. */
MUST_USE Status move_page_head(WebRequest *request, const Form *form, AuditKind kind,
                               PolicyHead *ret_head);
/* FormPage.leads: to the policy of the answer. */
Slice move_page_leads(WebRequest *request, const void *sent, const void *answer);

typedef struct DeletePage {
    Form form;
    PolicyHead head;
    int64_t total;
    int64_t appeal_days;
    int64_t final_us; /* restoring: when the deletion becomes final */
} DeletePage;

typedef struct AppealPage {
    Form form;
    PolicyHead head;
} AppealPage;

typedef struct RetirePage {
    Form form;
    PolicyHead head;
    int64_t percent;
    int64_t held;  /* of the viewer, when they are the owner */
    int64_t price; /* how many of these they lose */
    PolicyChoices choices;
} RetirePage;

typedef struct MergePage {
    Form form;
    PolicyHead head;
    bool has_other; /* the next is filled; otherwise the other policy is asked for */
    MergeView merge;
    PolicyChoices choices;
} MergePage;
