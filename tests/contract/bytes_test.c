/* bytes_test.c -- rows, columns and values are bytes: every byte is allowed, order is by unsigned bytes, and no name is
 * ever taken for another. */
#include "contract.h"

static const Slice ROW = {"row", 3};
static const Slice V = {"v", 1};

/* Names that a careless key encoding would mix up: prefixes of each other, NULs, 0xff, separators. In byte order. */
static const Slice AWKWARD[] = {
    {"\0", 1},     {"\0\0", 2},     {"\0\0\0", 3},   {"\0\x01", 2},
    {"\0\xff", 2}, {"\x01", 1},     {"\x01\0", 2},   {"/", 1},
    {"a", 1},      {"a\0", 2},      {"a\0b", 3},     {"a\0c", 3},
    {"ab", 2},     {"ab\0", 3},     {"abc", 3},      {"b", 1},
    {"\x7f", 1},   {"\x80", 1},     {"\xfe", 1},     {"\xff", 1},
    {"\xff\0", 2}, {"\xff\xfe", 2}, {"\xff\xff", 2}, {"\xff\xff\xff", 3},
};
enum { AWKWARD_COUNT = sizeof AWKWARD / sizeof AWKWARD[0] };

TEST(every_byte_value_is_a_column_and_they_come_in_order)
{
    contract_fresh();
    char names[256];
    Change changes[256];
    for (int i = 0; i < 256; i++) {
        names[i] = (char)i;
        int place = (i * 101) & 255; /* written in a mixed order */
        changes[place] = put(slice_of(&names[i], 1), slice_of(&names[i], 1), 1);
    }
    EXPECT_STATUS(contract_write_row(&CONTRACT_KEEP, ROW, changes, 256), STATUS_OK);
    contract_restart();
    Page page;
    EXPECT_STATUS(contract_slice(&CONTRACT_KEEP, ROW, 1000, &page), STATUS_OK);
    EXPECT_I64(page.count, 256);
    for (int i = 0; i < 256; i++) {
        EXPECT_SLICE(page.cells[i].column, slice_of(&names[i], 1));
        EXPECT_SLICE(page.cells[i].value, slice_of(&names[i], 1));
    }
    contract_end();
}

TEST(awkward_columns_keep_apart_and_in_order)
{
    contract_fresh();
    Page page;
    for (size_t i = AWKWARD_COUNT; i-- > 0;)
        EXPECT_STATUS(contract_write(&CONTRACT_KEEP, ROW, put(AWKWARD[i], AWKWARD[i], 1)),
                      STATUS_OK);
    EXPECT_STATUS(contract_write(&CONTRACT_KEEP, ROW, put(SLICE_EMPTY, SLICE("empty"), 1)),
                  STATUS_OK);
    EXPECT_STATUS(contract_slice(&CONTRACT_KEEP, ROW, 1000, &page), STATUS_OK);
    EXPECT_I64(page.count, AWKWARD_COUNT + 1);
    EXPECT_SLICE(page.cells[0].value, SLICE("empty"));
    for (size_t i = 0; i < AWKWARD_COUNT; i++) {
        EXPECT_SLICE(page.cells[i + 1].column, AWKWARD[i]);
        EXPECT_CELL(&CONTRACT_KEEP, ROW, AWKWARD[i], AWKWARD[i]);
    }
    contract_end();
}

TEST(awkward_rows_keep_apart)
{
    contract_fresh();
    Page page;
    for (size_t i = 0; i < AWKWARD_COUNT; i++)
        for (size_t j = 0; j < 3; j++)
            EXPECT_STATUS(
                contract_write(&CONTRACT_KEEP, AWKWARD[i], put(AWKWARD[j], AWKWARD[i], 1)),
                STATUS_OK);
    for (size_t i = 0; i < AWKWARD_COUNT; i++) {
        EXPECT_STATUS(contract_slice(&CONTRACT_KEEP, AWKWARD[i], 1000, &page), STATUS_OK);
        EXPECT_I64(page.count, 3);
        for (size_t j = 0; j < 3; j++)
            EXPECT_SLICE(page.cells[j].value, AWKWARD[i]);
    }
    contract_end();
}

/* Row "a" column "bc", row "ab" column "c" and row "abc" column "" hold the same bytes. */
TEST(where_the_row_ends_and_the_column_begins_matters)
{
    contract_fresh();
    const char text[] = "abcdef";
    for (size_t cut = 1; cut <= 6; cut++) {
        Slice value = arena_print(contract_arena(), "%zu", cut);
        Change change = put(slice_of(text + cut, 6 - cut), value, 1);
        EXPECT_STATUS(contract_write(&CONTRACT_KEEP, slice_of(text, cut), change), STATUS_OK);
    }
    for (size_t cut = 1; cut <= 6; cut++) {
        Page page;
        EXPECT_STATUS(contract_slice(&CONTRACT_KEEP, slice_of(text, cut), 10, &page), STATUS_OK);
        EXPECT_I64(page.count, 1);
        EXPECT_SLICE(page.cells[0].value, arena_print(contract_arena(), "%zu", cut));
    }
    contract_end();
}

TEST(the_same_row_of_two_tables_is_two_rows)
{
    contract_fresh();
    EXPECT_STATUS(contract_write(&CONTRACT_KEEP, ROW, put(V, SLICE("keep"), 1)), STATUS_OK);
    EXPECT_NO_CELL(&CONTRACT_PLAIN, ROW, V);
    EXPECT_STATUS(contract_write(&CONTRACT_PLAIN, ROW, put(V, SLICE("plain"), contract_now_us())),
                  STATUS_OK);
    EXPECT_STATUS(
        contract_update_one(&CONTRACT_COND, ROW, when_absent(V), put(V, SLICE("cond"), 0), NULL),
        STATUS_OK);
    EXPECT_CELL(&CONTRACT_KEEP, ROW, V, SLICE("keep"));
    EXPECT_CELL(&CONTRACT_PLAIN, ROW, V, SLICE("plain"));
    EXPECT_CELL(&CONTRACT_COND, ROW, V, SLICE("cond"));
    contract_end();
}

TEST(a_value_of_all_bytes_comes_back_as_it_was)
{
    contract_fresh();
    char bytes[512];
    for (int i = 0; i < 512; i++)
        bytes[i] = (char)(i < 256 ? i : 511 - i);
    Slice value = slice_of(bytes, sizeof bytes);
    EXPECT_STATUS(contract_write(&CONTRACT_KEEP, ROW, put(V, value, 1)), STATUS_OK);
    EXPECT_STATUS(contract_update_one(&CONTRACT_COND, ROW, when_absent(V), put(V, value, 0), NULL),
                  STATUS_OK);
    EXPECT_CELL(&CONTRACT_KEEP, ROW, V, value);
    EXPECT_CELL(&CONTRACT_COND, ROW, V, value);
    contract_restart();
    EXPECT_CELL(&CONTRACT_KEEP, ROW, V, value);
    EXPECT_CELL(&CONTRACT_COND, ROW, V, value);
    contract_end();
}

TEST(conditions_compare_bytes_and_not_text)
{
    contract_fresh();
    Slice value = slice_of("a\0b", 3), cut = slice_of("a", 1), other = slice_of("a\0c", 3);
    EXPECT_STATUS(contract_update_one(&CONTRACT_COND, ROW, when_absent(V), put(V, value, 0), NULL),
                  STATUS_OK);
    EXPECT_STATUS(
        contract_update_one(&CONTRACT_COND, ROW, when_equal(V, cut), put(V, cut, 0), NULL),
        STATUS_CONFLICT);
    EXPECT_STATUS(
        contract_update_one(&CONTRACT_COND, ROW, when_equal(V, other), put(V, cut, 0), NULL),
        STATUS_CONFLICT);
    EXPECT_STATUS(
        contract_update_one(&CONTRACT_COND, ROW, when_equal(V, value), put(V, cut, 0), NULL),
        STATUS_OK);
    contract_end();
}

TEST(an_empty_value_is_not_an_absent_cell)
{
    contract_fresh();
    EXPECT_STATUS(
        contract_update_one(&CONTRACT_COND, ROW, when_equal(V, SLICE_EMPTY), put(V, V, 0), NULL),
        STATUS_CONFLICT);
    EXPECT_STATUS(
        contract_update_one(&CONTRACT_COND, ROW, when_absent(V), put(V, SLICE_EMPTY, 0), NULL),
        STATUS_OK);
    EXPECT_STATUS(contract_update_one(&CONTRACT_COND, ROW, when_absent(V), put(V, V, 0), NULL),
                  STATUS_CONFLICT);
    EXPECT_STATUS(
        contract_update_one(&CONTRACT_COND, ROW, when_equal(V, SLICE_EMPTY), put(V, V, 0), NULL),
        STATUS_OK);
    contract_end();
}
