/* diff.h -- what changed between two texts, in lines and in words: pure.
 *
 * First by lines; then, where lines were replaced by others, by words, so that a changed comma is a changed comma and not a changed
 * paragraph. (Both by Myers' greedy search for the shortest way.)
 *   1. What is the same and what was removed, put together, is the text before; the same and the added is the text after.
 *   2. Cuts are between characters (UTF-8), and between words where there are words.
 *   3. Bounded: the search gives up after DIFF_STEPS differences, and what it was asked about is then shown as replaced
 *      whole (`is_coarse`). Time is at most about characters x DIFF_STEPS steps.
 * Not promised: that it is the shortest difference. Words that only share blanks with what replaced them are shown as one change,
 * because people read it so. */
#pragma once

#include "base/arena.h"

enum { DIFF_STEPS = 1000 };

typedef enum DiffKind {
    DIFF_SAME,
    DIFF_REMOVED,
    DIFF_ADDED,
    DIFF_SKIPPED /* the same, and left out by diff_shorten */
} DiffKind;

typedef struct DiffPart {
    DiffKind kind;
    Slice text;   /* of SKIPPED: what was left out */
    size_t lines; /* of SKIPPED: how many */
} DiffPart;

typedef struct Diff {
    DiffPart *parts;
    size_t count;
    bool is_same;
    bool is_coarse; /* somewhere the search gave up */
} Diff;

/* The parts point into the texts. */
Diff diff_texts(Slice before, Slice after, Arena *arena);
/* Leaves out lines that are the same, but for `around` of them on each side of a change. */
Diff diff_shorten(const Diff *diff, size_t around, Arena *arena);
