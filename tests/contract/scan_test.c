/* scan_test.c -- all rows of a table, in pages that can be resumed: anywhere, later, after a restart, while others write. */
#include "contract.h"

enum { ROWS = 7, COLUMNS = 3, CELLS = ROWS * COLUMNS };

static Slice row_name(int i)
{
    static const Slice names[ROWS] = {{"\0", 1},    {"a", 1},    {"a\0", 2},         {"aa", 2},
                                      {"b\xff", 2}, {"\xff", 1}, {"\xff\xff\xff", 3}};
    return names[i];
}

static Slice column_name(int i)
{
    static const Slice names[COLUMNS] = {{"", 0}, {"\0", 1}, {"\xff", 1}};
    return names[i];
}

static int64_t base_us;

static Status write_cell(const Table *table, int row, int column, const char *value)
{
    return contract_write(table, row_name(row),
                          put(column_name(column), slice_from(value), base_us));
}

static Store *open_filled(void)
{
    Store *store = contract_fresh();
    base_us = contract_now_us();
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++) {
            EXPECT_STATUS(write_cell(&CONTRACT_PLAIN, i, j, "v"), STATUS_OK);
            EXPECT_STATUS(write_cell(&CONTRACT_KEEP, i, j, "other table"), STATUS_OK);
        }
    return store;
}

/* What a scan over all its pages has brought: each cell at most once, a row's cells together and in order. */
typedef struct Seen {
    int times[ROWS][COLUMNS];
    int last_row, last_column;
    bool left[ROWS]; /* the scan has gone on to another row */
    int strangers;   /* rows that were not there at the beginning */
} Seen;

static void note(Seen *seen, const ScanCell *cell)
{
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++) {
            if (!slice_equal(cell->row, row_name(i)) ||
                !slice_equal(cell->cell.column, column_name(j)))
                continue;
            EXPECT(!seen->left[i]);
            EXPECT(seen->last_row != i || seen->last_column < j);
            if (seen->last_row != i && seen->last_row >= 0)
                seen->left[seen->last_row] = true;
            seen->last_row = i;
            seen->last_column = j;
            seen->times[i][j]++;
            return;
        }
    seen->strangers++;
}

static void expect_all(const Seen *seen)
{
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            EXPECT_I64(seen->times[i][j], 1);
}

static ScanPage next_page(Store *store, Slice position, uint32_t limit)
{
    ScanPage page;
    EXPECT_STATUS(store_scan(store, &CONTRACT_PLAIN, position, limit, contract_arena(), &page),
                  STATUS_OK);
    EXPECT(page.count <= limit);
    EXPECT(!page.more || page.count > 0);
    EXPECT(page.position.size <= 8192);
    return page;
}

static void note_page(Seen *seen, const ScanPage *page)
{
    for (size_t i = 0; i < page->count; i++)
        note(seen, &page->cells[i]);
}

TEST(pages_of_every_size_bring_every_cell_once)
{
    Store *store = open_filled();
    for (uint32_t limit = 1; limit <= CELLS + 1; limit++) {
        Seen seen = {.last_row = -1};
        ScanPage page = {.position = SLICE_EMPTY, .more = true};
        for (int pages = 0; page.more; pages++) {
            EXPECT(pages <= CELLS);
            page = next_page(store, page.position, limit);
            note_page(&seen, &page);
        }
        EXPECT_I64(seen.strangers, 0);
        expect_all(&seen);
    }
    contract_end();
}

TEST(a_scan_brings_values_and_timestamps)
{
    Store *store = contract_fresh();
    ScanPage page;
    EXPECT_STATUS(contract_write(&CONTRACT_KEEP, SLICE("row"), put(SLICE("c"), SLICE("v"), -3)),
                  STATUS_OK);
    EXPECT_STATUS(store_scan(store, &CONTRACT_KEEP, SLICE_EMPTY, 10, contract_arena(), &page),
                  STATUS_OK);
    EXPECT_I64(page.count, 1);
    EXPECT_SLICE(page.cells[0].row, SLICE("row"));
    EXPECT_SLICE(page.cells[0].cell.column, SLICE("c"));
    EXPECT_SLICE(page.cells[0].cell.value, SLICE("v"));
    EXPECT_I64(page.cells[0].cell.timestamp, -3);
    EXPECT(!page.more);
    contract_end();
}

TEST(an_empty_table_is_one_empty_page)
{
    Store *store = contract_fresh();
    ScanPage page;
    for (size_t i = 0; i < CONTRACT_TABLES.count; i++) {
        EXPECT_STATUS(
            store_scan(store, CONTRACT_TABLES.tables[i], SLICE_EMPTY, 10, contract_arena(), &page),
            STATUS_OK);
        EXPECT_I64(page.count, 0);
        EXPECT(!page.more);
    }
    contract_end();
}

TEST(a_position_is_good_after_a_restart)
{
    Store *store = open_filled();
    Seen seen = {.last_row = -1};
    ScanPage page = {.position = SLICE_EMPTY, .more = true};
    while (page.more) {
        page = next_page(store, page.position, 4);
        note_page(&seen, &page);
        store = contract_restart();
    }
    expect_all(&seen);
    contract_end();
}

/* The cell at the position is deleted, its neighbours change, new rows appear: what was there all the time comes. */
TEST(a_scan_misses_nothing_that_was_there_all_the_time)
{
    for (int stop = 1; stop < CELLS; stop++) {
        Store *store = open_filled();
        Seen seen = {.last_row = -1};
        ScanPage page = next_page(store, SLICE_EMPTY, (uint32_t)stop);
        note_page(&seen, &page);
        const ScanCell *last = &page.cells[page.count - 1];
        EXPECT_STATUS(contract_write(&CONTRACT_PLAIN, last->row, erase(last->cell.column, base_us)),
                      STATUS_OK);
        for (int i = 0; i < ROWS; i++) {
            Slice row = arena_print(contract_arena(), "new %d", i);
            EXPECT_STATUS(
                contract_write_lazy(&CONTRACT_PLAIN, row, put(SLICE("c"), SLICE("v"), base_us)),
                STATUS_OK);
        }
        while (page.more) {
            page = next_page(store, page.position, 4);
            note_page(&seen, &page);
        }
        expect_all(&seen);
        EXPECT(seen.strangers <= ROWS);
    }
    contract_end();
}

TEST(deleted_and_expired_cells_are_not_scanned)
{
    Store *store = open_filled();
    for (int i = 0; i < ROWS; i++)
        EXPECT_STATUS(contract_write(&CONTRACT_PLAIN, row_name(i), erase(column_name(0), base_us)),
                      STATUS_OK);
    for (int i = 0; i < ROWS; i++)
        EXPECT_STATUS(contract_write(&CONTRACT_PLAIN, row_name(i),
                                     put_for(column_name(2), SLICE("brief"), base_us + 1, 2)),
                      STATUS_OK);
    contract_pass_s(4);
    Seen seen = {.last_row = -1};
    ScanPage page = {.position = SLICE_EMPTY, .more = true};
    while (page.more) {
        page = next_page(store, page.position, 2);
        note_page(&seen, &page);
    }
    for (int i = 0; i < ROWS; i++) {
        EXPECT_I64(seen.times[i][0], 0);
        EXPECT_I64(seen.times[i][1], 1);
        EXPECT_I64(seen.times[i][2], 0);
    }
    contract_end();
}

TEST(a_table_where_all_is_dead_ends)
{
    Store *store = open_filled();
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            EXPECT_STATUS(
                contract_write(&CONTRACT_PLAIN, row_name(i), erase(column_name(j), base_us)),
                STATUS_OK);
    ScanPage page;
    EXPECT_STATUS(store_scan(store, &CONTRACT_PLAIN, SLICE_EMPTY, 10, contract_arena(), &page),
                  STATUS_OK);
    EXPECT_I64(page.count, 0);
    EXPECT(!page.more);
    contract_end();
}

TEST(the_longest_names_give_a_position_that_fits)
{
    Store *store = contract_fresh();
    Slice row = contract_filler(STORE_ROW_MAX, '\xff');
    Slice column = contract_filler(STORE_COLUMN_MAX, '\xff');
    ScanPage page;
    EXPECT_STATUS(contract_write(&CONTRACT_KEEP, SLICE("a"), put(column, SLICE("v"), 1)),
                  STATUS_OK);
    EXPECT_STATUS(contract_write(&CONTRACT_KEEP, row, put(SLICE("a"), SLICE("v"), 1)), STATUS_OK);
    EXPECT_STATUS(contract_write(&CONTRACT_KEEP, row, put(column, SLICE("v"), 1)), STATUS_OK);
    size_t seen = 0;
    page = (ScanPage){.position = SLICE_EMPTY, .more = true};
    while (page.more) {
        EXPECT_STATUS(store_scan(store, &CONTRACT_KEEP, page.position, 1, contract_arena(), &page),
                      STATUS_OK);
        EXPECT(page.position.size <= 8192);
        seen += page.count;
        EXPECT(seen <= 3);
    }
    EXPECT_I64(seen, 3);
    contract_end();
}

TEST(a_position_that_no_scan_of_the_table_gave_is_refused)
{
    Store *store = open_filled();
    ScanPage page = next_page(store, SLICE_EMPTY, 4), untouched = {.count = 77};
    Slice good = page.position;
    static const char *const BAD[] = {"x", "position", "\xff\xff\xff\xff\xff\xff\xff\xff", " "};
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++)
        EXPECT_STATUS(
            store_scan(store, &CONTRACT_PLAIN, slice_from(BAD[i]), 4, contract_arena(), &untouched),
            STATUS_INVALID);
    for (size_t i = 0; i < CONTRACT_TABLES.count; i++)
        if (CONTRACT_TABLES.tables[i] != &CONTRACT_PLAIN)
            EXPECT_STATUS(
                store_scan(store, CONTRACT_TABLES.tables[i], good, 4, contract_arena(), &untouched),
                STATUS_INVALID);
    Slice one = slice_of(good.data, 1);
    EXPECT_STATUS(store_scan(store, &CONTRACT_PLAIN, one, 4, contract_arena(), &untouched),
                  STATUS_INVALID);
    Status over = store_scan(store, &CONTRACT_PLAIN, contract_filler(8193, 'p'), 4,
                             contract_arena(), &untouched);
    EXPECT(over == STATUS_TOO_LARGE || over == STATUS_INVALID);
    EXPECT_I64(untouched.count, 77);
    contract_end();
}

TEST(a_scan_page_ends_at_4_mib)
{
    Store *store = contract_fresh();
    enum { BIG = 10 };
    for (int i = 0; i < BIG; i++) {
        Slice row = arena_print(contract_arena(), "%d", i / 2);
        Slice column = arena_print(contract_arena(), "%d", i);
        EXPECT_STATUS(contract_write(&CONTRACT_KEEP, row,
                                     put(column, contract_filler(STORE_VALUE_MAX, 'v'), 1)),
                      STATUS_OK);
    }
    ScanPage page = {.position = SLICE_EMPTY, .more = true};
    size_t seen = 0;
    while (page.more) {
        EXPECT_STATUS(
            store_scan(store, &CONTRACT_KEEP, page.position, 1000, contract_arena(), &page),
            STATUS_OK);
        EXPECT(page.count >= 1 && page.count <= 5);
        seen += page.count;
    }
    EXPECT_I64(seen, BIG);
    contract_end();
}

TEST(conditional_tables_are_scanned_too)
{
    Store *store = contract_fresh();
    ScanPage page;
    for (int i = 0; i < ROWS; i++)
        EXPECT_STATUS(contract_update_one(&CONTRACT_COND, row_name(i), when_absent(SLICE("c")),
                                          put(SLICE("c"), SLICE("v"), 0), NULL),
                      STATUS_OK);
    EXPECT_STATUS(store_scan(store, &CONTRACT_COND, SLICE_EMPTY, 100, contract_arena(), &page),
                  STATUS_OK);
    EXPECT_I64(page.count, ROWS);
    EXPECT_I64(page.cells[0].cell.timestamp, 0);
    contract_end();
}

/* A conditional delete leaves nothing behind, not even at the place where the scan stopped. */
TEST(a_scan_goes_on_where_the_cell_of_its_position_is_gone)
{
    for (uint32_t stop = 1; stop < ROWS; stop++) {
        Store *store = contract_fresh();
        ScanPage page;
        size_t seen = stop;
        for (int i = 0; i < ROWS; i++)
            EXPECT_STATUS(contract_update_one(&CONTRACT_COND_D, row_name(i),
                                              when_absent(SLICE("c")),
                                              put(SLICE("c"), SLICE("v"), 0), NULL),
                          STATUS_OK);
        EXPECT_STATUS(
            store_scan(store, &CONTRACT_COND_D, SLICE_EMPTY, stop, contract_arena(), &page),
            STATUS_OK);
        EXPECT_I64(page.count, stop);
        Change changes[] = {put(SLICE("a"), SLICE("before c"), 0), erase(SLICE("c"), 0)};
        EXPECT_STATUS(contract_update(&CONTRACT_COND_D, page.cells[stop - 1].row,
                                      when_equal(SLICE("c"), SLICE("v")), changes, 2),
                      STATUS_OK);
        while (page.more) {
            EXPECT_STATUS(
                store_scan(store, &CONTRACT_COND_D, page.position, 2, contract_arena(), &page),
                STATUS_OK);
            for (size_t i = 0; i < page.count; i++)
                seen += slice_equal(page.cells[i].cell.column, SLICE("c"));
        }
        EXPECT_I64(seen, ROWS);
    }
    contract_end();
}
