/* slice_test.c -- part of a row: from, to, after, limit, reverse and more. */
#include "contract.h"

static const Slice ROW = {"row", 3};

/* The row under test has the columns "", a, b, bb, c, d; its neighbours have others. */
static const char *const COLUMNS[] = {"", "a", "b", "bb", "c", "d"};
enum { COLUMN_COUNT = sizeof COLUMNS / sizeof COLUMNS[0] };

static Store *open_with_row(void)
{
    Store *store = contract_fresh();
    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        Slice column = slice_from(COLUMNS[i]);
        EXPECT_STATUS(contract_write(&CONTRACT_KEEP, ROW, put(column, column, 1)), STATUS_OK);
    }
    EXPECT_STATUS(contract_write(&CONTRACT_KEEP, SLICE("rov"), put(SLICE("x"), SLICE("x"), 1)),
                  STATUS_OK);
    EXPECT_STATUS(contract_write(&CONTRACT_KEEP, SLICE("row0"), put(SLICE("b"), SLICE("x"), 1)),
                  STATUS_OK);
    EXPECT_STATUS(contract_write(&CONTRACT_KEEP, SLICE("rox"), put(SLICE("b"), SLICE("x"), 1)),
                  STATUS_OK);
    return store;
}

static Query whole_row(uint32_t limit)
{
    return (Query){.table = &CONTRACT_KEEP,
                   .row = ROW,
                   .from = SLICE_EMPTY,
                   .to = SLICE_EMPTY,
                   .after = SLICE_EMPTY,
                   .limit = limit};
}

/* Columns joined by commas, "+" when there is more: easy to compare and to read when it differs. */
static Slice describe(const Page *page)
{
    Slice text = SLICE_EMPTY;
    for (size_t i = 0; i < page->count; i++) {
        EXPECT_SLICE(page->cells[i].value, page->cells[i].column);
        text = arena_print(contract_arena(), "%.*s%s%.*s", SLICE_ARG(text), i > 0 ? "," : "",
                           SLICE_ARG(page->cells[i].column));
    }
    return page->more ? arena_print(contract_arena(), "%.*s+", SLICE_ARG(text)) : text;
}

static Slice ask(Store *store, const Query *query)
{
    Page page;
    EXPECT_STATUS(store_slice(store, query, contract_arena(), &page), STATUS_OK);
    return describe(&page);
}

typedef struct RangeCase {
    const char *from, *to, *after; /* after NULL: do not resume */
    bool reverse;
    uint32_t limit;
    const char *expected;
} RangeCase;

static const RangeCase RANGES[] = {
    {"", "", NULL, false, 10, ",a,b,bb,c,d"},
    {"", "", NULL, true, 10, "d,c,bb,b,a,"},
    {"b", "", NULL, false, 10, "b,bb,c,d"},
    {"b", "c", NULL, false, 10, "b,bb"},
    {"b", "c", NULL, true, 10, "bb,b"},
    {"b", "b", NULL, false, 10, ""},
    {"b", "b\x01", NULL, false, 10, "b"},
    {"ba", "cc", NULL, false, 10, "bb,c"},
    {"ba", "cc", NULL, true, 10, "c,bb"},
    {"c", "b", NULL, false, 10, ""},
    {"c", "b", NULL, true, 10, ""},
    {"", "a", NULL, false, 10, ""},
    {"e", "", NULL, false, 10, ""},
    {"e", "", NULL, true, 10, ""},
    {"\xff\xff", "", NULL, false, 10, ""},
    {"", "\xff\xff", NULL, true, 10, "d,c,bb,b,a,"},
    /* limits: `more` exactly when something follows */
    {"", "", NULL, false, 2, ",a+"},
    {"", "", NULL, false, 5, ",a,b,bb,c+"},
    {"", "", NULL, false, 6, ",a,b,bb,c,d"},
    {"", "", NULL, true, 1, "d+"},
    {"", "", NULL, true, 6, "d,c,bb,b,a,"},
    {"b", "c", NULL, false, 1, "b+"},
    {"b", "c", NULL, false, 2, "b,bb"},
    {"b", "c", NULL, true, 1, "bb+"},
    {"b", "c", NULL, true, 2, "bb,b"},
    /* after, in the direction of reading */
    {"", "", "", false, 10, "a,b,bb,c,d"},
    {"", "", "", true, 10, ""},
    {"", "", "b", false, 10, "bb,c,d"},
    {"", "", "b", true, 10, "a,"},
    {"", "", "ba", false, 10, "bb,c,d"},
    {"", "", "ba", true, 10, "b,a,"},
    {"", "", "d", false, 10, ""},
    {"", "", "d", true, 10, "c,bb,b,a,"},
    {"", "", "zzz", true, 10, "d,c,bb,b,a,"},
    {"b", "d", "a", false, 10, "b,bb,c"},
    {"b", "d", "d", true, 10, "c,bb,b"},
    {"b", "d", "zzz", true, 10, "c,bb,b"},
    {"b", "d", "zzz", false, 10, ""},
    {"b", "d", "", true, 10, ""},
    {"b", "d", "bb", false, 1, "c"},
    {"b", "d", "c", true, 1, "bb+"},
    {"b", "d", "b", true, 1, ""},
};

TEST(ranges_limits_and_directions)
{
    Store *store = open_with_row();
    for (size_t i = 0; i < sizeof RANGES / sizeof RANGES[0]; i++) {
        const RangeCase *c = &RANGES[i];
        Query query = whole_row(c->limit);
        query.from = slice_from(c->from);
        query.to = slice_from(c->to);
        query.reverse = c->reverse;
        query.resume = c->after != NULL;
        query.after = slice_from(c->after != NULL ? c->after : "");
        Slice got = ask(store, &query);
        if (!slice_equal(got, slice_from(c->expected)))
            test_fail(__FILE__, __LINE__, "case %zu: \"%.*s\", expected \"%s\"", i, SLICE_ARG(got),
                      c->expected);
    }
    contract_end();
}

TEST(after_counts_only_with_resume)
{
    Store *store = open_with_row();
    Query query = whole_row(10);
    query.after = SLICE("c");
    EXPECT_SLICE(ask(store, &query), SLICE(",a,b,bb,c,d"));
    contract_end();
}

TEST(a_row_that_was_never_written_is_an_empty_page)
{
    contract_fresh();
    Page page;
    EXPECT_STATUS(contract_slice(&CONTRACT_KEEP, SLICE("nobody"), 10, &page), STATUS_OK);
    EXPECT_I64(page.count, 0);
    EXPECT(!page.more);
    contract_end();
}

static void expect_paged(Store *store, Query query, const char *expected)
{
    Slice joined = SLICE_EMPTY;
    for (int pages = 0;; pages++) {
        Page page;
        EXPECT(pages <= COLUMN_COUNT);
        EXPECT_STATUS(store_slice(store, &query, contract_arena(), &page), STATUS_OK);
        EXPECT(page.count <= query.limit);
        for (size_t i = 0; i < page.count; i++)
            joined = arena_print(contract_arena(), "%.*s%.*s,", SLICE_ARG(joined),
                                 SLICE_ARG(page.cells[i].column));
        if (!page.more)
            break;
        EXPECT(page.count > 0);
        query.resume = true;
        query.after = page.cells[page.count - 1].column;
    }
    EXPECT_SLICE(joined, slice_from(expected));
}

TEST(pages_of_every_size_give_the_whole_row_in_both_directions)
{
    Store *store = open_with_row();
    for (uint32_t limit = 1; limit <= 7; limit++) {
        Query query = whole_row(limit);
        expect_paged(store, query, ",a,b,bb,c,d,");
        query.reverse = true;
        expect_paged(store, query, "d,c,bb,b,a,,");
        query.from = SLICE("a"), query.to = SLICE("d");
        expect_paged(store, query, "c,bb,b,a,");
        query.reverse = false;
        expect_paged(store, query, "a,b,bb,c,");
    }
    contract_end();
}

/* The dead neither come, nor count against the limit, nor make `more` true. */
TEST(dead_cells_do_not_count)
{
    Store *store = contract_fresh();
    int64_t now = contract_now_us();
    Page page;
    for (int i = 0; i < 100; i++) {
        Slice column = arena_print(contract_arena(), "%02d", i);
        Change change = i % 10 == 5  ? put(column, column, now)
                        : i % 2 == 0 ? erase(column, now)
                                     : put_for(column, column, now, 2);
        EXPECT_STATUS(contract_write_lazy(&CONTRACT_PLAIN, ROW, change), STATUS_OK);
    }
    contract_pass_s(4);
    Query query = whole_row(10);
    query.table = &CONTRACT_PLAIN;
    EXPECT_SLICE(ask(store, &query), SLICE("05,15,25,35,45,55,65,75,85,95"));
    query.reverse = true;
    EXPECT_SLICE(ask(store, &query), SLICE("95,85,75,65,55,45,35,25,15,05"));
    query.limit = 3;
    EXPECT_SLICE(ask(store, &query), SLICE("95,85,75+"));
    EXPECT_STATUS(contract_slice(&CONTRACT_PLAIN, ROW, 9, &page), STATUS_OK);
    EXPECT(page.more);
    contract_end();
}

TEST(a_page_ends_at_4_mib_and_goes_on_after)
{
    Store *store = contract_fresh();
    enum { CELLS = 11 };
    for (int i = 0; i < CELLS; i++) {
        Change change = put(arena_print(contract_arena(), "%02d", i),
                            contract_filler((size_t)(STORE_VALUE_MAX - i), (char)('a' + i)), 1);
        EXPECT_STATUS(contract_write(&CONTRACT_KEEP, ROW, change), STATUS_OK);
    }
    for (int reverse = 0; reverse < 2; reverse++) {
        Query query = whole_row(1000);
        Page page = {.more = true};
        int seen = 0;
        for (query.reverse = reverse; page.more; query.resume = true) {
            size_t bytes = 0;
            EXPECT_STATUS(store_slice(store, &query, contract_arena(), &page), STATUS_OK);
            EXPECT(page.count > 0);
            for (size_t i = 0; i < page.count; i++, seen++) {
                int which = reverse ? CELLS - 1 - seen : seen;
                EXPECT_I64(page.cells[i].value.size, STORE_VALUE_MAX - which);
                EXPECT_I64(page.cells[i].value.data[77], 'a' + which);
                bytes += page.cells[i].value.size;
            }
            EXPECT(bytes <= STORE_PAGE_BYTES + STORE_VALUE_MAX);
            query.after = page.cells[page.count - 1].column;
        }
        EXPECT_I64(seen, CELLS);
    }
    contract_end();
}

TEST(conditional_tables_are_sliced_in_both_modes)
{
    Store *store = contract_fresh();
    Change changes[] = {put(SLICE("b"), SLICE("b"), 0), put(SLICE("a"), SLICE("a"), 0),
                        put(SLICE("c"), SLICE("c"), 0)};
    EXPECT_STATUS(contract_update(&CONTRACT_COND, ROW, when_absent(SLICE("a")), changes, 3),
                  STATUS_OK);
    Query query = whole_row(2);
    query.table = &CONTRACT_COND;
    query.mode = STORE_SERIAL;
    EXPECT_SLICE(ask(store, &query), SLICE("a,b+"));
    query.mode = STORE_NORMAL, query.resume = true, query.after = SLICE("b");
    EXPECT_SLICE(ask(store, &query), SLICE("c"));
    contract_end();
}

/* What was returned belongs to the caller's arena and does not change under it. */
TEST(a_page_stays_as_it_was_when_the_row_changes)
{
    Store *store = open_with_row();
    Query query = whole_row(10);
    Page page;
    EXPECT_STATUS(store_slice(store, &query, contract_arena(), &page), STATUS_OK);
    for (size_t i = 0; i < COLUMN_COUNT; i++)
        EXPECT_STATUS(
            contract_write(&CONTRACT_KEEP, ROW, put(slice_from(COLUMNS[i]), SLICE("changed"), 2)),
            STATUS_OK);
    contract_restart();
    EXPECT_SLICE(describe(&page), SLICE(",a,b,bb,c,d"));
    contract_end();
}
