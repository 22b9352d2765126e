/* policy_browse.h -- all policies, a page at a time, as every door shows them: by name, by date, by votes; of a category or party; those
 * whose name begins with something. The operation is in policy_browse.c. */
#pragma once

#include "base/words.h"
#include "operations/operation.h"
#include "operations/policy_summary.h"

enum { BROWSE_ROWS = 50, BROWSE_POSITION_MAX = 1024 };

/*    order, word in addresses, words for people */
#define BROWSE_ORDER_LIST(X)        \
    X(NAME, "name", "By name")      \
    X(DATE, "date", "Newest first") \
    X(RANK, "rank", "By votes")
typedef enum BrowseOrder {
#define X(name, word, text) BROWSE_BY_##name,
    BROWSE_ORDER_LIST(X)
#undef X
        BROWSE_ORDERS
} BrowseOrder;
extern const char *const BROWSE_WORDS[]; /* ended by NULL */

typedef struct BrowseQuery {
    unsigned order;           /* BrowseOrder */
    uint64_t category, party; /* 0: all */
    Slice name;               /* the beginning of the name; then the order is by name */
    Slice position;           /* as a page gave it; empty: from the beginning */
    int64_t offset;           /* by rank */
} BrowseQuery;

typedef struct BrowseList {
    BrowseQuery want;         /* the order is by name when a name was given */
    PolicySummary *summaries; /* rank and total are those of all votes */
    size_t count;
    Slice next; /* the address of the next page, for programs; empty: there is none */
} BrowseList;

/* INVALID: `from` is not a position that a page gave, or `party` together with a category where that cannot be. */
MUST_USE Status browse_list(Operations *ops, const BrowseQuery *want, Arena *arena,
                            BrowseList *ret_list, Reason *reason);
/* "?order=date&category=3": the same list in another order, or further down. */
Slice browse_address(const BrowseQuery *want, BrowseOrder order, Slice position, int64_t offset,
                     Arena *arena);
