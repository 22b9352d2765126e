/* texts.h -- what a site says of itself in its own words: the pages on privacy and on terms.
 *
 * A text is Markdown. Until somebody who runs the site writes one, the page shows a text of ours that says what this software keeps; it is
 * told as such. Every version stays and can be seen by who may edit.
 *   1. A new version is one conditional update on the number of the last one that the writer saw: of two writers one is told.
 *   2. A version never changes. Going back to an older one, or to ours, is a new version.
 *   3. UNKNOWN is passed on; the same call again with the same number seen tells CONFLICT when it was done.
 * All calls may come from any thread. */
#pragma once

#include "base/ids.h"
#include "base/words.h"
#include "store/store.h"

/*    kind, word in addresses, title of the page */
#define TEXT_KIND_LIST(X) X(PRIVACY, "privacy", "Privacy") X(TERMS, "terms", "Terms")
typedef enum TextKind {
#define X(name, word, title) TEXT_##name,
    TEXT_KIND_LIST(X)
#undef X
        TEXT_KINDS
} TextKind;

enum {
    TEXT_BYTES = 60000,
    TEXT_REVISIONS_MAX = 10000,
    TEXT_REVISIONS_LISTED = 50,
};

extern const char *const TEXT_KIND_WORDS[];
const char *text_kind_word(TextKind kind);
const char *text_kind_title(TextKind kind);
/* Ours. */
Slice text_at_first(TextKind kind);

typedef struct SiteText {
    uint32_t revision; /* 1 for the first; 0: nobody wrote one, and `text` is ours */
    int64_t time_us;
    uint64_t editor; /* 0: an operator */
    Slice text;
} SiteText;

MUST_USE Status texts_read(Store *store, TextKind kind, Arena *arena, SiteText *ret_text);
/* One of the past. NOT_FOUND: there is none of that number. */
MUST_USE Status texts_read_revision(Store *store, TextKind kind, uint32_t revision, Arena *arena,
                                    SiteText *ret_text);
/* The newest first, without their words. */
MUST_USE Status texts_revisions(Store *store, TextKind kind, Arena *arena, SiteText **ret_texts,
                                size_t *ret_count);

typedef struct NewText {
    TextKind kind;
    Slice text;    /* 1 … TEXT_BYTES bytes of UTF-8 */
    uint32_t seen; /* the revision that it replaces */
    uint64_t editor;
} NewText;
/* INVALID, field `words`, names the rule. CONFLICT: another revision stands than the one that was seen. */
MUST_USE Status texts_write(Store *store, World world, const NewText *want, Reason *reason);

/* What is stored, for the fuzzer of all records. */
extern const struct Record TEXT_HEAD_RECORD, TEXT_RECORD;
