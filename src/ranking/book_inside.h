/* book_inside.h -- what book.c (records and counts) and shelves.c (trees) share. */
#pragma once

#include "ranking/map.h"
#include "ranking/tally.h"

/* A tree that somebody asked for, of another window than the kept. */
typedef struct Extra {
    Shelf *shelf;
    uint32_t days;
} Extra;

struct Book {
    _Atomic int users;
    uint32_t today;
    uint32_t window_days;
    bool built;
    Record **records;
    size_t count, room;
    Map numbers; /* policy -> number + 1 */
    int64_t first_us;
    Shelf *shelves[BOOK_KINDS]; /* of all: one; of categories and of parties: by id */
    uint32_t windows;           /* bit N: some shelf has a tree for the last N days */
    Extra extras[BOOK_EXTRAS];
    size_t extra_count;
};

/* Where a record stands, to be compared with where it stood before a change. */
typedef struct Standing {
    Shelf *shelves[BOOK_KINDS]; /* NULL: not in one of this kind */
    int64_t votes[BOOK_WINDOWS];
} Standing;

void shelves_new(Book *book);
void shelves_free(Book *book);
Standing shelves_standing(const Book *book, const Record *record);
/* Moves a policy within the trees and between shelves. */
void shelves_move(Book *book, uint64_t policy, const Standing *before, const Standing *after);
