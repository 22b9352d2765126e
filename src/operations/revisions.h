/* revisions.h -- the revisions of a policy's text as every door shows them. NOT_FOUND where the text is hidden from the viewer. */
#pragma once

#include "draw/diff.h"
#include "draw/markdown.h"
#include "operations/policy_head.h"

enum { REVISIONS_PAGE = 20, REVISION_FIELDS = 6 };

/* A field of the text that differs between two revisions. */
typedef struct FieldChange {
    const char *label;
    Slice before, after;
    Diff diff; /* shortened */
} FieldChange;

typedef struct TextChange {
    FieldChange fields[REVISION_FIELDS];
    size_t count;
} TextChange;

typedef struct RevisionEntry {
    uint32_t revision;
    int64_t time_us;
    PersonName editor;
    Slice name;
    const char *changed[REVISION_FIELDS]; /* labels of what it changed */
    size_t changed_count;
} RevisionEntry;

typedef struct RevisionsView {
    PolicyHead head;
    RevisionEntry *entries; /* the newest first */
    size_t count;
    Slice next; /* the address of the next page, for programs */
} RevisionsView;

/* Revisions before `before` (0: from the newest). */
MUST_USE Status revisions_view(Operations *ops, uint64_t id, uint32_t before, const Actor *viewer,
                               Arena *arena, RevisionsView *ret_view);

typedef struct RevisionView {
    PolicyHead head;
    PolicyRevision revision;
    PersonName editor;
    Markup description, rationale;
    bool has_other;
    PolicyRevision other; /* the older one that it is compared with */
    TextChange change;
} RevisionView;

typedef struct RevisionQuery {
    uint64_t policy;
    uint32_t revision;
    uint32_t against; /* 0: the one before it */
} RevisionQuery;
MUST_USE Status revision_view(Operations *ops, const RevisionQuery *want, const Actor *viewer,
                              Arena *arena, RevisionView *ret_view);
/* What changed between two texts, field by field. Groups are told by their names. */
MUST_USE Status text_change(Operations *ops, const PolicyText *before, const PolicyText *after,
                            Arena *arena, TextChange *ret_change);
