/* shelves.c -- the trees of a book: which there are, and who stands where. */
#include <stdlib.h>

#include "ranking/book_inside.h"

enum { ALL, CATEGORY, PARTY };

static const size_t SHELVES[BOOK_KINDS] = {1, GROUPS_MOST + 1, GROUPS_MOST + 1};

void shelves_new(Book *book)
{
    for (int kind = 0; kind < BOOK_KINDS; kind++) {
        book->shelves[kind] = calloc(SHELVES[kind], sizeof(Shelf));
        CHECK(book->shelves[kind] != NULL);
    }
    book->windows = 1u | 1u << book->window_days;
}

void shelves_free(Book *book)
{
    for (int kind = 0; kind < BOOK_KINDS; kind++) {
        for (size_t i = 0; i < SHELVES[kind]; i++)
            for (int days = 0; days < BOOK_WINDOWS; days++)
                order_free(book->shelves[kind][i].orders[days]);
        free(book->shelves[kind]);
    }
}

static bool is_kept(const Book *book, uint32_t days)
{
    return days == 0 || days == book->window_days;
}

/* The number of the shelf of a kind to which a record belongs; false for none. */
static bool shelf_number(const Record *record, int kind, size_t *ret_number)
{
    uint64_t group = kind == CATEGORY ? record->category : record->party;
    if (kind != ALL && (group == 0 || group > GROUPS_MOST))
        return false;
    *ret_number = kind == ALL ? 0 : (size_t)group;
    return true;
}

Standing shelves_standing(const Book *book, const Record *record)
{
    Standing standing = {0};
    if (!record->listed || record->target != NULL)
        return standing;
    for (int kind = 0; kind < BOOK_KINDS; kind++) {
        size_t number = 0;
        if (shelf_number(record, kind, &number))
            standing.shelves[kind] = &book->shelves[kind][number];
    }
    for (uint32_t bits = book->windows; bits != 0; bits &= bits - 1) {
        uint32_t days = (uint32_t)__builtin_ctz(bits);
        standing.votes[days] = tally_window(&record->sum, book->today, days);
    }
    return standing;
}

static void move_in_window(Book *book, OrderKey before, OrderKey after, Shelf *from, Shelf *to,
                           uint32_t days)
{
    if (from != NULL && from->orders[days] != NULL)
        order_remove(from->orders[days], before);
    if (to == NULL)
        return;
    if (to->orders[days] == NULL && is_kept(book, days))
        to->orders[days] = order_new();
    if (to->orders[days] != NULL)
        order_add(to->orders[days], after);
}

void shelves_move(Book *book, uint64_t policy, const Standing *before, const Standing *after)
{
    for (int kind = 0; kind < BOOK_KINDS; kind++) {
        Shelf *from = before->shelves[kind], *to = after->shelves[kind];
        if (from != NULL)
            from->count--;
        if (to != NULL)
            to->count++;
        for (uint32_t bits = book->built ? book->windows : 0; bits != 0; bits &= bits - 1) {
            uint32_t days = (uint32_t)__builtin_ctz(bits);
            if (from != to || before->votes[days] != after->votes[days])
                move_in_window(book, (OrderKey){before->votes[days], policy},
                               (OrderKey){after->votes[days], policy}, from, to, days);
        }
    }
}

/* ---- Building ----------------------------------------------------------------------------------------------------- */

/* The keys of shelves that are about to become trees. */
typedef struct Fill {
    OrderKey *keys;
    size_t count;
} Fill;

static void fill_from(const Book *book, int kind, uint32_t days, Fill *fills)
{
    for (size_t i = 0; i < book->count; i++) {
        const Record *record = book->records[i];
        size_t number = 0;
        if (!record->listed || record->target != NULL || !shelf_number(record, kind, &number))
            continue;
        Fill *fill = &fills[number];
        if (fill->keys != NULL)
            fill->keys[fill->count++] =
                (OrderKey){tally_window(&record->sum, book->today, days), record->id};
    }
}

/* The trees of one window for the shelves from `first` to `last` of a kind, in one pass over all records. */
static void build_trees(Book *book, int kind, size_t first, size_t last, uint32_t days)
{
    Fill *fills = calloc(SHELVES[kind], sizeof *fills);
    CHECK(fills != NULL);
    for (size_t i = first; i <= last; i++)
        if (book->shelves[kind][i].count > 0) {
            fills[i].keys = malloc(book->shelves[kind][i].count * sizeof(OrderKey));
            CHECK(fills[i].keys != NULL);
        }
    fill_from(book, kind, days, fills);
    for (size_t i = first; i <= last; i++)
        if (fills[i].keys != NULL) {
            CHECK(fills[i].count == book->shelves[kind][i].count);
            book->shelves[kind][i].orders[days] = order_build(fills[i].keys, fills[i].count);
            free(fills[i].keys);
        }
    free(fills);
}

void book_build(Book *book)
{
    CHECK(!book->built);
    for (size_t i = 0; i < book->count; i++) {
        book->records[i]->counted = true;
        tally_trim(&book->records[i]->sum, book->today); /* most policies have rested for long */
    }
    for (int kind = 0; kind < BOOK_KINDS; kind++) {
        build_trees(book, kind, 0, SHELVES[kind] - 1, 0);
        build_trees(book, kind, 0, SHELVES[kind] - 1, book->window_days);
    }
    book->built = true;
}

/* ---- Windows that come and go --------------------------------------------------------------------------------------- */

static void drop_extra(Book *book, size_t at)
{
    Extra extra = book->extras[at];
    order_free(extra.shelf->orders[extra.days]);
    extra.shelf->orders[extra.days] = NULL;
    book->extras[at] = book->extras[--book->extra_count];
    book->windows = 1u | 1u << book->window_days;
    for (size_t i = 0; i < book->extra_count; i++)
        book->windows |= 1u << book->extras[i].days;
}

static int64_t used_us(const Extra *extra)
{
    return extra->shelf->used_us[extra->days];
}

void book_drop_idle(Book *book, int64_t steady_us)
{
    for (size_t i = book->extra_count; i-- > 0;)
        if (used_us(&book->extras[i]) <= steady_us - BOOK_IDLE_S * US_PER_S)
            drop_extra(book, i);
}

static void drop_oldest(Book *book)
{
    size_t oldest = 0;
    for (size_t i = 1; i < book->extra_count; i++)
        if (used_us(&book->extras[i]) < used_us(&book->extras[oldest]))
            oldest = i;
    drop_extra(book, oldest);
}

static int kind_of(const RankQuery *query)
{
    return query->category != 0 ? CATEGORY : query->party != 0 ? PARTY : ALL;
}

static size_t number_of(const RankQuery *query)
{
    return (size_t)(query->category != 0 ? query->category : query->party);
}

Shelf *book_shelf(const Book *book, const RankQuery *query)
{
    CHECK(number_of(query) <= GROUPS_MOST);
    return &book->shelves[kind_of(query)][number_of(query)];
}

bool book_on_shelf(const Book *book, const Record *record, const RankQuery *query)
{
    return shelves_standing(book, record).shelves[kind_of(query)] == book_shelf(book, query);
}

void book_build_order(Book *book, const RankQuery *query, int64_t steady_us)
{
    Shelf *shelf = book_shelf(book, query);
    if (shelf->orders[query->days] != NULL || shelf->count == 0)
        return;
    CHECK(book->built && !is_kept(book, query->days));
    book_drop_idle(book, steady_us);
    if (book->extra_count == BOOK_EXTRAS)
        drop_oldest(book);
    build_trees(book, kind_of(query), number_of(query), number_of(query), query->days);
    shelf->used_us[query->days] = steady_us;
    book->extras[book->extra_count++] = (Extra){shelf, query->days};
    book->windows |= 1u << query->days;
}
