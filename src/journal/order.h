/* order.h -- the waiting entries of a journal in the order in which they are handed out.
 *
 * A heap by date for each priority in use, and over the priorities a tree in which each node knows the least date below it. So the
 * first that is due, and the moment at which the next will be, are found in O(log n) without ever moving an entry from "later" to
 * "now": a million entries that become due in one millisecond cost nothing. */
#pragma once

#include "journal/heap.h"

typedef struct OrderBand OrderBand;

typedef struct OrderKind {
    HeapKind heap; /* by date, then by id */
    uint32_t (*priority)(const void *item);
    int64_t (*date)(const void *item);
} OrderKind;

typedef struct Order {
    OrderBand *root;
    size_t count;
    uint64_t shape; /* where the tree's next random numbers come from */
} Order;

typedef struct OrderSurvey {
    size_t due;       /* of priorities with later ones, at most ORDER_SURVEY_MAX are counted */
    size_t looked;    /* at due ones */
    size_t due_below; /* of these, with a priority below what was asked */
    void *
        first_future; /* the soonest that is not due; NULL when there is none among what was looked at */
} OrderSurvey;

enum { ORDER_SURVEY_MAX = 100000 };

void journal_order_free(Order *order);
void journal_order_add(Order *order, const OrderKind *kind, void *item);
/* Before its date or priority changes. */
void journal_order_remove(Order *order, const OrderKind *kind, void *item);
/* The first of those whose date has come, with a priority of at most `most`. NULL when nothing is due. */
void *journal_order_due(const Order *order, int64_t now, uint32_t most);
/* The least date of all with a priority of at most `most`; INT64_MAX when there is none. */
int64_t journal_order_next(const Order *order, uint32_t most);
/* Looks at due items of priorities that also have later ones: for people, not for claims. */
OrderSurvey journal_order_survey(const Order *order, const OrderKind *kind, int64_t now,
                                 uint32_t below);
