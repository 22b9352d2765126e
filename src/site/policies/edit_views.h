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
    PolicyHead head;
    PolicyForm form;
    Slice seen; /* the version that the form is a change of */
    bool has_preview, is_conflict;
    PreviewView preview;
    TextChange change; /* what saving would change */
    EditConflict conflict;
    const Viewer *viewer;
} EditView;

/* Field by field: what was not changed by the one takes the change of the other; what both changed is `mine`. Pure. */
void edit_combine(const PolicyText *base, const PolicyText *now, const PolicyText *mine,
                  PolicyText *ret_text);

/* ---- Proposing (new.c) --------------------------------------------------------------------------------------------------- */

enum { SIMILAR_MAX = 5 };

typedef enum NewStep { NEW_WRITE, NEW_PREVIEW, NEW_STALE, NEW_UNKNOWN } NewStep;

typedef struct NewView {
    NewStep step;
    PolicyForm form;
    PreviewView preview;
    int64_t cost, percent, balance, held;
    Slice seen, token;
    PolicySummary similar[SIMILAR_MAX];
    size_t similar_count;
    const Viewer *viewer;
} NewView;
