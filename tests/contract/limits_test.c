/* limits_test.c -- what is exactly at a limit is taken and found again; one more is TOO_LARGE and nothing is done. */
#include "contract.h"

static const Slice ROW = {"row", 3};
static const Slice C = {"c", 1};
static const Slice V = {"v", 1};

/* Untouched out-parameters are part of the promise: ret_ stays as it was unless the answer is OK. */
static const Cell UNTOUCHED = {{"untouched", 9}, {"untouched", 9}, 42};

static void expect_untouched(const Cell *cell)
{
    EXPECT(memcmp(cell, &UNTOUCHED, sizeof UNTOUCHED) == 0);
}

static Status write_keep(Slice row, Slice column, Slice value)
{
    return contract_write(&CONTRACT_KEEP, row, put(column, value, 1));
}

TEST(a_row_key_has_1_to_1024_bytes)
{
    contract_fresh();
    Slice most = contract_filler(STORE_ROW_MAX, 'r'),
          over = contract_filler(STORE_ROW_MAX + 1, 'r');
    Cell cell = UNTOUCHED;
    Page page;
    EXPECT_STATUS(write_keep(most, C, V), STATUS_OK);
    EXPECT_CELL(&CONTRACT_KEEP, most, C, V);
    EXPECT_STATUS(write_keep(over, C, V), STATUS_TOO_LARGE);
    EXPECT_STATUS(contract_read(&CONTRACT_KEEP, over, C, &cell), STATUS_TOO_LARGE);
    EXPECT_STATUS(contract_slice(&CONTRACT_KEEP, over, 1, &page), STATUS_TOO_LARGE);
    EXPECT_STATUS(write_keep(SLICE_EMPTY, C, V), STATUS_INVALID);
    EXPECT_STATUS(contract_read(&CONTRACT_KEEP, SLICE_EMPTY, C, &cell), STATUS_INVALID);
    EXPECT_STATUS(contract_slice(&CONTRACT_KEEP, SLICE_EMPTY, 1, &page), STATUS_INVALID);
    EXPECT_STATUS(contract_update_one(&CONTRACT_COND, over, when_absent(C), put(C, V, 0), NULL),
                  STATUS_TOO_LARGE);
    EXPECT_STATUS(
        contract_update_one(&CONTRACT_COND, SLICE_EMPTY, when_absent(C), put(C, V, 0), NULL),
        STATUS_INVALID);
    EXPECT_STATUS(contract_update_one(&CONTRACT_COND, most, when_absent(C), put(C, V, 0), NULL),
                  STATUS_OK);
    EXPECT_CELL(&CONTRACT_COND, most, C, V);
    expect_untouched(&cell);
    contract_end();
}

TEST(a_column_has_0_to_4096_bytes)
{
    contract_fresh();
    Slice most = contract_filler(STORE_COLUMN_MAX, 'c');
    Slice over = contract_filler(STORE_COLUMN_MAX + 1, 'c');
    Cell cell = UNTOUCHED;
    EXPECT_STATUS(write_keep(ROW, most, V), STATUS_OK);
    EXPECT_CELL(&CONTRACT_KEEP, ROW, most, V);
    EXPECT_STATUS(write_keep(ROW, SLICE_EMPTY, SLICE("nameless")), STATUS_OK);
    EXPECT_CELL(&CONTRACT_KEEP, ROW, SLICE_EMPTY, SLICE("nameless"));
    EXPECT_STATUS(write_keep(ROW, over, V), STATUS_TOO_LARGE);
    EXPECT_STATUS(contract_read(&CONTRACT_KEEP, ROW, over, &cell), STATUS_TOO_LARGE);
    EXPECT_STATUS(contract_update_one(&CONTRACT_COND, ROW, when_absent(over), put(C, V, 0), NULL),
                  STATUS_TOO_LARGE);
    EXPECT_STATUS(contract_update_one(&CONTRACT_COND, ROW, when_absent(C), put(over, V, 0), NULL),
                  STATUS_TOO_LARGE);
    EXPECT_STATUS(
        contract_update_one(&CONTRACT_COND, ROW, when_absent(most), put(most, V, 0), NULL),
        STATUS_OK);
    EXPECT_CELL(&CONTRACT_COND, ROW, most, V);
    expect_untouched(&cell);
    contract_end();
}

TEST(the_bounds_of_a_slice_are_columns_too)
{
    Store *store = contract_fresh();
    Slice over = contract_filler(STORE_COLUMN_MAX + 1, 'c');
    Page page = {NULL, 7, true};
    Query query = {.table = &CONTRACT_KEEP, .row = ROW, .limit = 1};
    query.from = query.to = query.after = SLICE_EMPTY;
    query.from = over;
    EXPECT_STATUS(store_slice(store, &query, contract_arena(), &page), STATUS_TOO_LARGE);
    query.from = SLICE_EMPTY, query.to = over;
    EXPECT_STATUS(store_slice(store, &query, contract_arena(), &page), STATUS_TOO_LARGE);
    query.to = SLICE_EMPTY, query.after = over, query.resume = true;
    EXPECT_STATUS(store_slice(store, &query, contract_arena(), &page), STATUS_TOO_LARGE);
    EXPECT(page.count == 7 && page.cells == NULL);
    contract_end();
}

TEST(a_value_has_0_to_1_mib)
{
    contract_fresh();
    Slice most = contract_filler(STORE_VALUE_MAX, 'v');
    Slice over = contract_filler(STORE_VALUE_MAX + 1, 'v');
    EXPECT_STATUS(write_keep(ROW, C, most), STATUS_OK);
    EXPECT_CELL(&CONTRACT_KEEP, ROW, C, most);
    EXPECT_STATUS(write_keep(ROW, SLICE("empty"), SLICE_EMPTY), STATUS_OK);
    EXPECT_CELL(&CONTRACT_KEEP, ROW, SLICE("empty"), SLICE_EMPTY);
    EXPECT_STATUS(write_keep(ROW, SLICE("over"), over), STATUS_TOO_LARGE);
    EXPECT_NO_CELL(&CONTRACT_KEEP, ROW, SLICE("over"));
    contract_restart();
    EXPECT_CELL(&CONTRACT_KEEP, ROW, C, most);
    EXPECT_CELL(&CONTRACT_KEEP, ROW, SLICE("empty"), SLICE_EMPTY);
    contract_end();
}

TEST(a_batch_has_at_most_4_mib_of_rows_columns_and_values)
{
    contract_fresh();
    enum { PARTS = 5 };
    size_t names = PARTS * (ROW.size + 1), rest = STORE_BATCH_MAX - names;
    Change changes[PARTS];
    for (size_t i = 0; i < PARTS; i++) {
        size_t size = i < PARTS - 1 ? rest / PARTS : rest - (PARTS - 1) * (rest / PARTS);
        Slice column = arena_print(contract_arena(), "%zu", i);
        changes[i] = put(column, contract_filler(size, 'v'), 1);
    }
    EXPECT_STATUS(contract_write_row(&CONTRACT_KEEP, ROW, changes, PARTS), STATUS_OK);
    for (size_t i = 0; i < PARTS; i++)
        EXPECT_CELL(&CONTRACT_KEEP, ROW, changes[i].column, changes[i].value);
    changes[0].value = contract_filler(changes[0].value.size + 1, 'w');
    EXPECT_STATUS(contract_write_row(&CONTRACT_KEEP, ROW, changes, PARTS), STATUS_TOO_LARGE);
    EXPECT_CELL(&CONTRACT_KEEP, ROW, SLICE("0"), contract_filler(changes[0].value.size - 1, 'v'));
    contract_end();
}

/* Row, condition and change together; the value is what is left of 1 MiB. */
TEST(an_update_has_at_most_1_mib_with_its_conditions)
{
    contract_fresh();
    Slice expected = SLICE("expected"), head = SLICE("head");
    size_t rest = STORE_UPDATE_MAX - ROW.size - head.size - expected.size - C.size;
    EXPECT_STATUS(
        contract_update_one(&CONTRACT_COND, ROW, when_absent(head), put(head, expected, 0), NULL),
        STATUS_OK);
    Slice most = contract_filler(rest, 'v'), over = contract_filler(rest + 1, 'w');
    EXPECT_STATUS(
        contract_update_one(&CONTRACT_COND, ROW, when_equal(head, expected), put(C, over, 0), NULL),
        STATUS_TOO_LARGE);
    EXPECT_NO_CELL(&CONTRACT_COND, ROW, C);
    EXPECT_STATUS(
        contract_update_one(&CONTRACT_COND, ROW, when_equal(head, expected), put(C, most, 0), NULL),
        STATUS_OK);
    EXPECT_CELL(&CONTRACT_COND, ROW, C, most);
    contract_end();
}

/* A batch of one row with `count` cells named 00000, 00001 … */
static Status write_numbered(const Table *table, Slice row, size_t count)
{
    Change *changes = ARENA_ARRAY(contract_arena(), count, Change);
    for (size_t i = 0; i < count; i++)
        changes[i] = put(arena_print(contract_arena(), "%05zu", i), V, 1);
    return contract_write_row(table, row, changes, count);
}

TEST(a_page_has_1_to_10000_cells)
{
    Store *store = contract_fresh();
    Page page = {NULL, 7, true};
    ScanPage scan = {.count = 7};
    EXPECT_STATUS(write_numbered(&CONTRACT_KEEP, ROW, STORE_PAGE_MAX + 1), STATUS_OK);
    EXPECT_STATUS(contract_slice(&CONTRACT_KEEP, ROW, 0, &page), STATUS_INVALID);
    EXPECT_STATUS(contract_slice(&CONTRACT_KEEP, ROW, STORE_PAGE_MAX + 1, &page), STATUS_TOO_LARGE);
    EXPECT_I64(page.count, 7);
    EXPECT_STATUS(contract_slice(&CONTRACT_KEEP, ROW, STORE_PAGE_MAX, &page), STATUS_OK);
    EXPECT_I64(page.count, STORE_PAGE_MAX);
    EXPECT(page.more);
    EXPECT_STATUS(store_scan(store, &CONTRACT_KEEP, SLICE_EMPTY, 0, contract_arena(), &scan),
                  STATUS_INVALID);
    EXPECT_STATUS(
        store_scan(store, &CONTRACT_KEEP, SLICE_EMPTY, STORE_PAGE_MAX + 1, contract_arena(), &scan),
        STATUS_TOO_LARGE);
    EXPECT_I64(scan.count, 7);
    EXPECT_STATUS(
        store_scan(store, &CONTRACT_KEEP, SLICE_EMPTY, STORE_PAGE_MAX, contract_arena(), &scan),
        STATUS_OK);
    EXPECT_I64(scan.count, STORE_PAGE_MAX);
    EXPECT(scan.more);
    contract_end();
}

TEST(a_batch_has_at_most_20000_changes)
{
    contract_fresh();
    Cell cell = UNTOUCHED;
    EXPECT_STATUS(write_numbered(&CONTRACT_KEEP, SLICE("over"), STORE_BATCH_CHANGES_MAX + 1),
                  STATUS_TOO_LARGE);
    EXPECT_STATUS(contract_read(&CONTRACT_KEEP, SLICE("over"), SLICE("00000"), &cell),
                  STATUS_NOT_FOUND);
    EXPECT_STATUS(write_numbered(&CONTRACT_KEEP, ROW, STORE_BATCH_CHANGES_MAX), STATUS_OK);
    EXPECT_CELL(&CONTRACT_KEEP, ROW, SLICE("00000"), V);
    EXPECT_CELL(&CONTRACT_KEEP, ROW, SLICE("19999"), V);
    expect_untouched(&cell);
    contract_end();
}

TEST(at_most_10000_reads_in_one_call)
{
    Store *store = contract_fresh();
    size_t count = STORE_MANY_MAX + 1;
    Read *reads = ARENA_ARRAY(contract_arena(), count, Read);
    ReadAnswer *answers = ARENA_ARRAY(contract_arena(), count, ReadAnswer);
    EXPECT_STATUS(write_keep(ROW, C, V), STATUS_OK);
    for (size_t i = 0; i < count; i++)
        reads[i] = (Read){&CONTRACT_KEEP, ROW, C, STORE_NORMAL};
    EXPECT_STATUS(store_read_many(store, reads, count, contract_arena(), answers),
                  STATUS_TOO_LARGE);
    EXPECT(answers[0].cell.value.data == NULL);
    EXPECT_STATUS(store_read_many(store, reads, count - 1, contract_arena(), answers), STATUS_OK);
    EXPECT_STATUS(answers[count - 2].status, STATUS_OK);
    EXPECT_SLICE(answers[count - 2].cell.value, V);
    EXPECT_STATUS(store_read_many(store, reads, 0, contract_arena(), answers), STATUS_OK);
    contract_end();
}

TEST(at_most_10000_batches_in_one_call)
{
    Store *store = contract_fresh();
    size_t count = STORE_MANY_MAX + 1;
    RowChange *changes = ARENA_ARRAY(contract_arena(), count, RowChange);
    Batch *batches = ARENA_ARRAY(contract_arena(), count, Batch);
    Status *statuses = ARENA_ARRAY(contract_arena(), count, Status);
    for (size_t i = 0; i < count; i++) {
        Slice column = arena_print(contract_arena(), "%zu", i);
        changes[i] = (RowChange){&CONTRACT_KEEP, ROW, put(column, V, 1)};
        batches[i] = (Batch){&changes[i], 1, false};
    }
    EXPECT_STATUS(store_write_many(store, batches, count, statuses), STATUS_TOO_LARGE);
    EXPECT_NO_CELL(&CONTRACT_KEEP, ROW, SLICE("0"));
    EXPECT_STATUS(store_write_many(store, batches, count - 1, statuses), STATUS_OK);
    for (size_t i = 0; i < count - 1; i++)
        EXPECT_STATUS(statuses[i], STATUS_OK);
    EXPECT_CELL(&CONTRACT_KEEP, ROW, SLICE("9999"), V);
    EXPECT_STATUS(store_write_many(store, batches, 0, statuses), STATUS_OK);
    contract_end();
}

TEST(a_life_has_1_second_to_20_years)
{
    contract_fresh();
    int64_t now = contract_now_us();
    struct {
        int64_t ttl_s;
        Status status;
    } cases[] = {{1, STATUS_OK},
                 {STORE_TTL_MOST_S, STATUS_OK},
                 {(int64_t)STORE_TTL_MOST_S + 1, STATUS_TOO_LARGE},
                 {INT64_MAX, STATUS_TOO_LARGE},
                 {-1, STATUS_INVALID},
                 {INT64_MIN, STATUS_INVALID}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        Slice row = arena_print(contract_arena(), "%zu", i);
        Cell cell;
        EXPECT_STATUS(contract_write(&CONTRACT_PLAIN, row, put_for(C, V, now, cases[i].ttl_s)),
                      cases[i].status);
        EXPECT_STATUS(contract_read(&CONTRACT_PLAIN, row, C, &cell),
                      cases[i].status == STATUS_OK ? STATUS_OK : STATUS_NOT_FOUND);
        EXPECT_STATUS(contract_update_one(&CONTRACT_COND, row, when_absent(C),
                                          put_for(C, V, 0, cases[i].ttl_s), NULL),
                      cases[i].status);
    }
    contract_end();
}

/* ---- Rules of the tables ----------------------------------------------------------------------------------- */

TEST(each_table_is_written_one_way_only)
{
    contract_fresh();
    int64_t now = contract_now_us();
    EXPECT_STATUS(contract_write(&CONTRACT_COND, ROW, put(C, V, 0)), STATUS_INVALID);
    EXPECT_STATUS(contract_write(&CONTRACT_COND, ROW, put(C, V, now)), STATUS_INVALID);
    EXPECT_STATUS(contract_update_one(&CONTRACT_KEEP, ROW, when_absent(C), put(C, V, 0), NULL),
                  STATUS_INVALID);
    EXPECT_STATUS(contract_update_one(&CONTRACT_PLAIN, ROW, when_absent(C), put(C, V, now), NULL),
                  STATUS_INVALID);
    EXPECT_NO_CELL(&CONTRACT_COND, ROW, C);
    EXPECT_NO_CELL(&CONTRACT_KEEP, ROW, C);
    contract_end();
}

TEST(deletes_and_expiry_only_where_the_table_says_so)
{
    contract_fresh();
    EXPECT_STATUS(write_keep(ROW, C, V), STATUS_OK);
    EXPECT_STATUS(contract_write(&CONTRACT_KEEP, ROW, erase(C, 2)), STATUS_INVALID);
    EXPECT_STATUS(contract_write(&CONTRACT_KEEP, ROW, put_for(C, V, 2, 10)), STATUS_INVALID);
    EXPECT_CELL(&CONTRACT_KEEP, ROW, C, V);
    Change changes[] = {put(SLICE("proof"), V, 0), erase(C, 0)};
    EXPECT_STATUS(contract_update(&CONTRACT_COND, ROW, when_absent(C), changes, 2), STATUS_INVALID);
    EXPECT_NO_CELL(&CONTRACT_COND, ROW, SLICE("proof"));
    EXPECT_STATUS(contract_update(&CONTRACT_COND_D, ROW, when_absent(C), changes, 2), STATUS_OK);
    contract_end();
}

TEST(conditional_changes_have_no_timestamp)
{
    contract_fresh();
    EXPECT_STATUS(contract_update_one(&CONTRACT_COND, ROW, when_absent(C), put(C, V, 1), NULL),
                  STATUS_INVALID);
    EXPECT_STATUS(contract_update_one(&CONTRACT_COND, ROW, when_absent(C),
                                      put(C, V, contract_now_us()), NULL),
                  STATUS_INVALID);
    EXPECT_STATUS(contract_update_one(&CONTRACT_COND, ROW, when_absent(C), put(C, V, 0), NULL),
                  STATUS_OK);
    Cell cell;
    EXPECT_STATUS(contract_read(&CONTRACT_COND, ROW, C, &cell), STATUS_OK);
    EXPECT_I64(cell.timestamp, 0);
    contract_end();
}

TEST(plain_tables_take_normal_reads_only)
{
    Store *store = contract_fresh();
    Read read = {&CONTRACT_KEEP, ROW, C, STORE_SERIAL};
    Query query = {.table = &CONTRACT_KEEP, .row = ROW, .limit = 1, .mode = STORE_SERIAL};
    query.from = query.to = query.after = SLICE_EMPTY;
    Cell cell = UNTOUCHED;
    Page page;
    ReadAnswer answer;
    EXPECT_STATUS(store_read(store, &read, contract_arena(), &cell), STATUS_INVALID);
    EXPECT_STATUS(store_read_many(store, &read, 1, contract_arena(), &answer), STATUS_INVALID);
    EXPECT_STATUS(store_slice(store, &query, contract_arena(), &page), STATUS_INVALID);
    expect_untouched(&cell);
    contract_end();
}

TEST(a_serial_slice_is_not_continued)
{
    Store *store = contract_fresh();
    Query query = {.table = &CONTRACT_COND, .row = ROW, .limit = 1, .mode = STORE_SERIAL};
    Page page;
    query.from = query.to = query.after = SLICE_EMPTY;
    EXPECT_STATUS(store_slice(store, &query, contract_arena(), &page), STATUS_OK);
    query.resume = true;
    EXPECT_STATUS(store_slice(store, &query, contract_arena(), &page), STATUS_INVALID);
    contract_end();
}

TEST(an_update_needs_a_condition_a_change_and_a_proof_among_its_puts)
{
    Store *store = contract_fresh();
    Condition condition = when_absent(C);
    Change changes[] = {put(C, V, 0), erase(SLICE("gone"), 0)};
    Update good = {.table = &CONTRACT_COND_D,
                   .row = ROW,
                   .conditions = &condition,
                   .condition_count = 1,
                   .changes = changes,
                   .change_count = 2,
                   .proof = C};
    Update update = good;
    update.condition_count = 0;
    EXPECT_STATUS(store_update_if(store, &update, contract_arena(), NULL), STATUS_INVALID);
    update = good, update.change_count = 0;
    EXPECT_STATUS(store_update_if(store, &update, contract_arena(), NULL), STATUS_INVALID);
    update = good, update.proof = SLICE("elsewhere");
    EXPECT_STATUS(store_update_if(store, &update, contract_arena(), NULL), STATUS_INVALID);
    update = good, update.proof = SLICE("gone");
    EXPECT_STATUS(store_update_if(store, &update, contract_arena(), NULL), STATUS_INVALID);
    EXPECT_STATUS(store_update(store, &update, 3, contract_arena(), NULL), STATUS_INVALID);
    EXPECT_NO_CELL(&CONTRACT_COND_D, ROW, C);
    EXPECT_STATUS(store_update_if(store, &good, contract_arena(), NULL), STATUS_OK);
    contract_end();
}

TEST(marks_are_plain_changes_and_bound_like_a_batch)
{
    Store *store = contract_fresh();
    Condition condition = when_absent(C);
    Change change = put(C, V, 0);
    RowChange mark = {&CONTRACT_COND, SLICE("mark"), put(C, V, 0)};
    Update update = {.table = &CONTRACT_COND,
                     .row = ROW,
                     .conditions = &condition,
                     .condition_count = 1,
                     .changes = &change,
                     .change_count = 1,
                     .proof = C,
                     .marks = {&mark, 1, false}};
    EXPECT_STATUS(store_update_if(store, &update, contract_arena(), NULL), STATUS_INVALID);
    mark = (RowChange){&CONTRACT_KEEP, contract_filler(STORE_ROW_MAX + 1, 'm'), put(C, V, 1)};
    EXPECT_STATUS(store_update_if(store, &update, contract_arena(), NULL), STATUS_TOO_LARGE);
    EXPECT_NO_CELL(&CONTRACT_COND, ROW, C);
    contract_end();
}
