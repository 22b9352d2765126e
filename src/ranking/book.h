/* book.h -- the ranking in memory: policies, what they count, and the trees in which they stand. No store, no clock, no lock.
 *
 * A record stands for a policy: its own count, and the sum of that and of all policies that were merged into it. A record that leads
 * to another adds its sum to that one's, and so on up to the root. Only a root that is listed stands in trees: in those of
 * all policies, of its category and of its party (a *shelf* each), one tree for each window in use.
 *   1. Whatever is changed, the trees that exist are right when the call returns.
 *   2. Kept windows (all time and the default) have trees from book_build on; others when book_build_order made them,
 *      at most BOOK_EXTRAS, of which the one that was used longest ago gives way.
 *   3. Facts of a policy are taken only if they are not older than those that are known (moves and revisions are numbered). */
#pragma once

#include "ranking/order.h"
#include "ranking/ranking.h"

enum {
    BOOK_WINDOWS = 32, /* 0: all time; N: the last N days */
    BOOK_KINDS = 3,    /* all, by category, by party */
    BOOK_EXTRAS = 64,
    BOOK_IDLE_S = 3600,
};

/* A total, and the days of it that a window can still see: NULL when nothing changed on them. */
typedef struct Tally {
    int64_t total;
    Count *recent; /* only the days count */
} Tally;

/* How a policy stood from a time on. */
typedef struct Step {
    int64_t time_us;
    uint64_t target; /* it was merged into, or 0 */
    bool listed;
} Step;

typedef struct Shelf {
    uint64_t count; /* of policies that stand in it */
    Order *orders[BOOK_WINDOWS];
    _Atomic int64_t used_us[BOOK_WINDOWS]; /* steady time of the last question */
} Shelf;

typedef struct Record {
    uint64_t id;
    size_t number; /* its place in book_at */
    uint64_t category, party;
    size_t move_count;
    uint32_t revision;
    bool listed;
    bool counted;          /* its count was read from the store, not only added up from news */
    struct Record *target; /* merged into; NULL: it is a root */
    Tally sum;
    Tally *own;  /* NULL: nothing was merged into it, and its own is the sum */
    Step *steps; /* oldest first */
    size_t step_count;
} Record;

typedef struct Book Book;

Book *book_new(uint32_t window_days, uint32_t today);
/* For another user of the same book; each user frees it. */
Book *book_share(Book *book);
void book_free(Book *book);

/* NULL when it is not known. */
Record *book_find(const Book *book, uint64_t policy);
/* Makes one that is not listed, when it is not known. */
Record *book_record(Book *book, uint64_t policy);
/* All records, in the order in which they came to be known. They never go away. */
size_t book_count(const Book *book);
Record *book_at(const Book *book, size_t number);
/* When the first policy was made; INT64_MAX without any. */
int64_t book_first_us(const Book *book);

void book_set_policy(Book *book, const Policy *policy);
/* The policy's own count, without members. */
void book_set_count(Book *book, uint64_t policy, const Count *count);
void book_add_count(Book *book, uint64_t policy, const Count *part);
void book_change(Book *book, uint64_t policy, int64_t time_us, int64_t change);

/* Makes the trees of the kept windows, and calls all counts known. Until then nothing stands in trees. */
void book_build(Book *book);
uint32_t book_today(const Book *book);
/* Windows end with this day from now on. */
void book_turn(Book *book, uint32_t today);

/* The votes of a record in a window, by the book's today. */
int64_t book_votes(const Book *book, const Record *record, uint32_t days);
/* Where the query's tree stands; its category or party is at most GROUPS_MOST. */
Shelf *book_shelf(const Book *book, const RankQuery *query);
bool book_on_shelf(const Book *book, const Record *record, const RankQuery *query);
void book_build_order(Book *book, const RankQuery *query, int64_t steady_us);
/* Drops trees of other windows than the kept that nobody has used for BOOK_IDLE_S. */
void book_drop_idle(Book *book, int64_t steady_us);
