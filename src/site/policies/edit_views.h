/* edit_views.h -- what the pages show on which a policy is proposed and edited. */
#pragma once

#include "site/policies/policy_form.h"
#include "site/policies/policy_views.h"

/* A text as it will look. */
typedef struct PreviewView {
    Slice name, category_name, party_name;
    Markup description, rationale;
    PolicyText text;
} PreviewView;
MUST_USE Status preview_view(Site *site, const PolicyText *text, Arena *arena,
                             PreviewView *ret_view);

/* ---- Editing (edit.c) ---------------------------------------------------------------------------------------------------- */

/* Somebody else saved first. Three texts: what this editor began from, what stands now, what they wanted. */
typedef struct EditConflict {
    bool has_base;           /* what they began from is still known */
    TextChange theirs, mine; /* since then; without it, `mine` is against what stands */
    Slice editor;
    int64_t time_us;
    const char *both[REVISION_FIELDS]; /* labels of fields that both changed */
    size_t both_count;
} EditConflict;

typedef struct EditView {
    Form form;
    PolicyHead head;
    GroupChoices choices;
    PreviewView preview; /* of a preview: */
    TextChange change;   /* what saving would change */
    EditConflict conflict;
} EditView;

/* Field by field: what was not changed by the one takes the change of the other; what both changed is `mine`. Pure. */
void edit_combine(const PolicyText *base, const PolicyText *now, const PolicyText *mine,
                  PolicyText *ret_text);

/* ---- Proposing (new.c) --------------------------------------------------------------------------------------------------- */

enum { SIMILAR_MAX = 5 };

typedef struct NewView {
    Form form;
    GroupChoices choices;
    bool looks;    /* it is shown as it will be, with its cost: */
    bool is_stale; /* votes were saved elsewhere meanwhile, so its sums were old */
    PreviewView preview;
    int64_t cost, percent, balance, held;
    PolicySummary similar[SIMILAR_MAX];
    size_t similar_count;
} NewView;
