/* edit_views.h -- what the pages show on which a policy is proposed, edited and retired. */
#pragma once

#include "site/acts.h"
#include "site/policy_form.h"
#include "site/policy_views.h"

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

typedef struct TextEdit {
    Id seen; /* the version that it is a change of */
    const PolicyText *text;
} TextEdit;
/* The new text, noted where it is an editor's act and not the owner's; pages are told. As policies_edit. */
MUST_USE Status edit_save(WebRequest *request, const Policy *policy, const TextEdit *edit,
                          Reason *reason);

/* Field by field: what was not changed by the one takes the change of the other; what both changed is `mine`. Pure. */
void edit_combine(const PolicyText *base, const PolicyText *now, const PolicyText *mine,
                  PolicyText *ret_text);

/* ---- Retiring (retire.c) ------------------------------------------------------------------------------------------------- */

typedef struct RetireView {
    PolicyHead head;
    int64_t percent;
    int64_t held;  /* of the viewer, when they are the owner */
    int64_t price; /* of what they hold, so many are lost */
    Slice other, reason, token;
    PolicyChoice choice; /* policies that `other` may mean */
    FormFault fault;
    const Viewer *viewer;
} RetireView;

/* The move, noted where it is a moderator's act. As policies_move. */
MUST_USE Status retire_policy(WebRequest *request, const PolicyHead *head, PolicyMove *move,
                              Reason *reason);

/* ---- Proposing (new.c) --------------------------------------------------------------------------------------------------- */

enum { SIMILAR_MOST = 5 };

typedef enum NewStep { NEW_WRITE, NEW_PREVIEW, NEW_STALE, NEW_UNKNOWN } NewStep;

typedef struct NewView {
    NewStep step;
    PolicyForm form;
    PreviewView preview;
    int64_t cost, percent, balance, held;
    Slice seen, token;
    PolicyCard similar[SIMILAR_MOST];
    size_t similar_count;
    const Viewer *viewer;
} NewView;
