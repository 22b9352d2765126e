/* expiry_test.c -- promise 6: expired cells are not returned, and the dead stay dead past the grace period. */
#include "contract.h"

static const Slice ROW = {"row", 3};
static const Slice C = {"c", 1};
static const int64_t DAY_US = S_PER_DAY * US_PER_S;

static Status write_plain(Change change)
{
    return contract_write(&CONTRACT_PLAIN, ROW, change);
}

/* Reads by every way there is must agree that the row holds `count` cells. */
static void expect_cells_everywhere(Store *store, const Table *table, size_t count)
{
    Page page;
    ScanPage scan;
    Cell cell;
    ReadAnswer answer;
    Status expected = count > 0 ? STATUS_OK : STATUS_NOT_FOUND;
    Read read = {table, ROW, C, table->kind == TABLE_PLAIN ? STORE_NORMAL : STORE_SERIAL};
    EXPECT_STATUS(store_read(store, &read, contract_arena(), &cell), expected);
    EXPECT_STATUS(store_read_many(store, &read, 1, contract_arena(), &answer), STATUS_OK);
    EXPECT_STATUS(answer.status, expected);
    EXPECT_STATUS(contract_slice(table, ROW, 10, &page), STATUS_OK);
    EXPECT_I64(page.count, count);
    EXPECT(!page.more);
    EXPECT_STATUS(store_scan(store, table, SLICE_EMPTY, 10, contract_arena(), &scan), STATUS_OK);
    EXPECT_I64(scan.count, count);
}

TEST(a_cell_is_there_until_it_expires_and_then_no_read_returns_it)
{
    Store *store = contract_fresh();
    EXPECT_STATUS(write_plain(put_for(C, SLICE("v"), contract_now_us(), 4)), STATUS_OK);
    expect_cells_everywhere(store, &CONTRACT_PLAIN, 1);
    contract_pass_s(2);
    expect_cells_everywhere(store, &CONTRACT_PLAIN, 1);
    contract_pass_s(3);
    expect_cells_everywhere(store, &CONTRACT_PLAIN, 0);
    store = contract_restart();
    expect_cells_everywhere(store, &CONTRACT_PLAIN, 0);
    contract_end();
}

TEST(a_conditional_cell_expires_too)
{
    Store *store = contract_fresh();
    EXPECT_STATUS(contract_update_one(&CONTRACT_COND, ROW, when_absent(C),
                                      put_for(C, SLICE("v"), 0, 4), NULL),
                  STATUS_OK);
    expect_cells_everywhere(store, &CONTRACT_COND, 1);
    contract_pass_s(5);
    expect_cells_everywhere(store, &CONTRACT_COND, 0);
    contract_end();
}

/* Life is counted from the write, not from the caller's timestamp. */
TEST(the_timestamp_has_no_part_in_the_time_of_death)
{
    contract_fresh();
    int64_t now = contract_now_us();
    EXPECT_STATUS(write_plain(put_for(C, SLICE("past"), now - 3600 * US_PER_S, 100)), STATUS_OK);
    EXPECT_CELL(&CONTRACT_PLAIN, ROW, C, SLICE("past"));
    Slice ahead = SLICE("ahead");
    EXPECT_STATUS(write_plain(put_for(ahead, SLICE("v"), now + 3600 * US_PER_S, 2)), STATUS_OK);
    contract_pass_s(4);
    EXPECT_NO_CELL(&CONTRACT_PLAIN, ROW, ahead);
    contract_end();
}

TEST(an_expired_cell_is_a_delete_with_the_same_timestamp)
{
    contract_fresh();
    int64_t now = contract_now_us();
    EXPECT_STATUS(write_plain(put_for(C, SLICE("a"), now, 2)), STATUS_OK);
    contract_pass_s(4);
    EXPECT_STATUS(write_plain(put(C, SLICE("z"), now)), STATUS_OK);
    EXPECT_NO_CELL(&CONTRACT_PLAIN, ROW, C);
    EXPECT_STATUS(write_plain(put(C, SLICE("z"), now - 1)), STATUS_OK);
    EXPECT_NO_CELL(&CONTRACT_PLAIN, ROW, C);
    EXPECT_STATUS(write_plain(put(C, SLICE("new"), now + 1)), STATUS_OK);
    EXPECT_CELL(&CONTRACT_PLAIN, ROW, C, SLICE("new"));
    contract_end();
}

/* Which of the two is the engine's affair; that it is one of them, and that a delete and what is newer win over either, is not. */
TEST(of_an_expired_cell_and_one_that_lives_with_the_same_timestamp_either_stands)
{
    contract_fresh();
    int64_t now = contract_now_us();
    Cell cell = {.timestamp = now, .value = SLICE("z")};
    EXPECT_STATUS(write_plain(put_for(C, SLICE("a"), now, 2)), STATUS_OK);
    contract_pass_s(4);
    EXPECT_STATUS(write_plain(put_for(C, SLICE("z"), now, 1000)), STATUS_OK);
    Status status = contract_read(&CONTRACT_PLAIN, ROW, C, &cell);
    EXPECT(status == STATUS_OK || status == STATUS_NOT_FOUND);
    EXPECT_SLICE(cell.value, SLICE("z"));
    EXPECT_I64(cell.timestamp, now);
    EXPECT_STATUS(write_plain(put(C, SLICE("zz"), now)), STATUS_OK);
    EXPECT_STATUS(contract_read(&CONTRACT_PLAIN, ROW, C, &cell), status);
    EXPECT_SLICE(cell.value, SLICE("z"));
    EXPECT_STATUS(write_plain(erase(C, now)), STATUS_OK);
    EXPECT_NO_CELL(&CONTRACT_PLAIN, ROW, C);
    EXPECT_STATUS(write_plain(put(C, SLICE("new"), now + 1)), STATUS_OK);
    EXPECT_CELL(&CONTRACT_PLAIN, ROW, C, SLICE("new"));
    contract_end();
}

TEST(a_newer_write_renews_the_time_of_death)
{
    contract_fresh();
    int64_t now = contract_now_us();
    EXPECT_STATUS(write_plain(put_for(C, SLICE("a"), now, 4)), STATUS_OK);
    contract_pass_s(2);
    EXPECT_STATUS(write_plain(put_for(C, SLICE("b"), now + 1, 6)), STATUS_OK);
    contract_pass_s(4);
    EXPECT_CELL(&CONTRACT_PLAIN, ROW, C, SLICE("b"));
    contract_pass_s(4);
    EXPECT_NO_CELL(&CONTRACT_PLAIN, ROW, C);
    contract_end();
}

TEST(the_longest_life_is_lived)
{
    contract_fresh();
    EXPECT_STATUS(write_plain(put_for(C, SLICE("v"), contract_now_us(), STORE_TTL_MOST_S)),
                  STATUS_OK);
    EXPECT_CELL(&CONTRACT_PLAIN, ROW, C, SLICE("v"));
    if (contract_has_clock()) {
        contract_pass_s(STORE_TTL_MOST_S - 1);
        EXPECT_CELL(&CONTRACT_PLAIN, ROW, C, SLICE("v"));
        contract_pass_s(2);
        EXPECT_NO_CELL(&CONTRACT_PLAIN, ROW, C);
    }
    contract_end();
}

/* Nobody promises which, only that it is one of the two and that it dies (again) in time. */
TEST(when_the_clock_steps_back_the_expired_may_be_there_but_dies_again)
{
    contract_fresh();
    if (contract_has_clock()) {
        int64_t start = contract_now_us();
        Cell cell;
        EXPECT_STATUS(write_plain(put_for(C, SLICE("v"), start, 10)), STATUS_OK);
        contract_set_now_us(start + 20 * US_PER_S);
        EXPECT_NO_CELL(&CONTRACT_PLAIN, ROW, C);
        contract_set_now_us(start + 5 * US_PER_S);
        Status status = contract_read(&CONTRACT_PLAIN, ROW, C, &cell);
        EXPECT(status == STATUS_OK || status == STATUS_NOT_FOUND);
        EXPECT_STATUS(write_plain(put(C, SLICE("new"), start + 1)), STATUS_OK);
        EXPECT_CELL(&CONTRACT_PLAIN, ROW, C, SLICE("new"));
        contract_set_now_us(start + 20 * US_PER_S);
        EXPECT_CELL(&CONTRACT_PLAIN, ROW, C, SLICE("new"));
    }
    contract_end();
}

/* What had expired may return with the old time; what was deleted may not. */
TEST(a_delete_of_an_expired_cell_holds_when_the_clock_steps_back)
{
    contract_fresh();
    if (contract_has_clock()) {
        int64_t start = contract_now_us();
        EXPECT_STATUS(write_plain(put_for(C, SLICE("v"), start, 10)), STATUS_OK);
        contract_set_now_us(start + 20 * US_PER_S);
        EXPECT_STATUS(write_plain(erase(C, start)), STATUS_OK);
        contract_set_now_us(start + 5 * US_PER_S);
        EXPECT_NO_CELL(&CONTRACT_PLAIN, ROW, C);
    }
    contract_end();
}

TEST(a_timestamp_older_than_grace_is_refused)
{
    contract_fresh();
    int64_t oldest = contract_now_us() - CONTRACT_GRACE_S * US_PER_S;
    EXPECT_STATUS(write_plain(put(C, SLICE("v"), oldest - US_PER_S)), STATUS_INVALID);
    EXPECT_STATUS(write_plain(erase(C, oldest - US_PER_S)), STATUS_INVALID);
    EXPECT_STATUS(write_plain(put(C, SLICE("v"), 0)), STATUS_INVALID);
    EXPECT_STATUS(write_plain(put(C, SLICE("v"), INT64_MIN)), STATUS_INVALID);
    EXPECT_NO_CELL(&CONTRACT_PLAIN, ROW, C);
    if (contract_has_clock()) {
        EXPECT_STATUS(write_plain(put(C, SLICE("v"), oldest - 1)), STATUS_INVALID);
        EXPECT_STATUS(write_plain(put(C, SLICE("v"), oldest)), STATUS_OK);
        EXPECT_CELL(&CONTRACT_PLAIN, ROW, C, SLICE("v"));
    }
    EXPECT_STATUS(write_plain(put(SLICE("d"), SLICE("v"), oldest + 60 * US_PER_S)), STATUS_OK);
    contract_end();
}

TEST(a_timestamp_more_than_a_day_ahead_is_refused)
{
    contract_fresh();
    int64_t latest = contract_now_us() + STORE_AHEAD_MOST_S * US_PER_S;
    EXPECT_STATUS(write_plain(put(C, SLICE("v"), latest + 60 * US_PER_S)), STATUS_INVALID);
    EXPECT_STATUS(write_plain(put(C, SLICE("v"), INT64_MAX)), STATUS_INVALID);
    if (contract_has_clock())
        EXPECT_STATUS(write_plain(put(C, SLICE("v"), latest + 1)), STATUS_INVALID);
    EXPECT_NO_CELL(&CONTRACT_PLAIN, ROW, C);
    EXPECT_STATUS(write_plain(put(C, SLICE("v"), latest)), STATUS_OK);
    EXPECT_CELL(&CONTRACT_PLAIN, ROW, C, SLICE("v"));
    contract_end();
}

TEST(grace_does_not_bind_tables_that_keep_everything)
{
    contract_fresh();
    EXPECT_STATUS(contract_write(&CONTRACT_KEEP, ROW, put(C, SLICE("v"), 1)), STATUS_OK);
    EXPECT_CELL(&CONTRACT_KEEP, ROW, C, SLICE("v"));
    contract_end();
}

TEST(one_refused_change_refuses_the_whole_batch)
{
    contract_fresh();
    int64_t now = contract_now_us();
    Change changes[] = {put(SLICE("good"), SLICE("v"), now), put(SLICE("bad"), SLICE("v"), 1)};
    EXPECT_STATUS(contract_write_row(&CONTRACT_PLAIN, ROW, changes, 2), STATUS_INVALID);
    EXPECT_NO_CELL(&CONTRACT_PLAIN, ROW, SLICE("good"));
    contract_end();
}

/* Enough writing and restarting that the engine gets to forget; then the old values try to come back. */
static void make_work(int rounds)
{
    Slice filler = contract_filler(100 * 1024, 'f');
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < 12; i++) {
            Slice row = arena_print(contract_arena(), "filler %d", i);
            EXPECT_STATUS(
                contract_write(&CONTRACT_PLAIN, row, put(C, filler, contract_now_us() + round)),
                STATUS_OK);
        }
        contract_restart();
    }
}

static Status resurrect(int64_t timestamp)
{
    return write_plain(put(C, SLICE("zombie"), timestamp));
}

TEST(nothing_comes_back_from_the_dead_after_grace)
{
    contract_fresh();
    if (contract_has_clock()) {
        int64_t start = contract_now_us();
        EXPECT_STATUS(write_plain(put(C, SLICE("v"), start - 10)), STATUS_OK);
        make_work(2);
        EXPECT_STATUS(write_plain(erase(C, start)), STATUS_OK);
        make_work(3);
        contract_set_now_us(start + CONTRACT_GRACE_S * US_PER_S);
        make_work(3);
        EXPECT_NO_CELL(&CONTRACT_PLAIN, ROW, C);
        EXPECT_STATUS(resurrect(start), STATUS_OK);
        EXPECT_NO_CELL(&CONTRACT_PLAIN, ROW, C);
        contract_set_now_us(start + CONTRACT_GRACE_S * US_PER_S + DAY_US);
        make_work(6);
        EXPECT_NO_CELL(&CONTRACT_PLAIN, ROW, C);
        EXPECT_STATUS(resurrect(start), STATUS_INVALID);
        EXPECT_NO_CELL(&CONTRACT_PLAIN, ROW, C);
        EXPECT_STATUS(write_plain(put(C, SLICE("new"), contract_now_us())), STATUS_OK);
        EXPECT_CELL(&CONTRACT_PLAIN, ROW, C, SLICE("new"));
    }
    contract_end();
}

/* The delete is a day ahead, so for a day longer there are timestamps that are older than it and yet are taken. */
TEST(a_delete_that_is_ahead_is_remembered_until_older_timestamps_are_refused)
{
    contract_fresh();
    if (contract_has_clock()) {
        int64_t start = contract_now_us(), ahead = start + DAY_US;
        EXPECT_STATUS(write_plain(erase(C, ahead)), STATUS_OK);
        make_work(2);
        contract_set_now_us(start + CONTRACT_GRACE_S * US_PER_S + DAY_US / 2);
        make_work(6);
        EXPECT_STATUS(resurrect(ahead - 1), STATUS_OK);
        EXPECT_NO_CELL(&CONTRACT_PLAIN, ROW, C);
    }
    contract_end();
}

/* The same for a cell whose timestamp is ahead and which expires soon. */
TEST(an_expired_cell_that_is_ahead_is_remembered_too)
{
    contract_fresh();
    if (contract_has_clock()) {
        int64_t start = contract_now_us(), ahead = start + DAY_US;
        EXPECT_STATUS(write_plain(put_for(C, SLICE("v"), ahead, 10)), STATUS_OK);
        make_work(2);
        contract_set_now_us(start + CONTRACT_GRACE_S * US_PER_S + DAY_US / 2);
        make_work(6);
        EXPECT_STATUS(resurrect(ahead - 1), STATUS_OK);
        EXPECT_NO_CELL(&CONTRACT_PLAIN, ROW, C);
    }
    contract_end();
}

/* A cell that lived longer than grace: once expired, its old timestamp cannot be beaten by one that is older. */
TEST(a_long_life_ends_without_leaving_room_for_older_values)
{
    contract_fresh();
    if (contract_has_clock()) {
        int64_t start = contract_now_us(), life = 2 * CONTRACT_GRACE_S;
        EXPECT_STATUS(write_plain(put_for(C, SLICE("v"), start, life)), STATUS_OK);
        make_work(2);
        contract_set_now_us(start + life * US_PER_S - US_PER_S);
        EXPECT_CELL(&CONTRACT_PLAIN, ROW, C, SLICE("v"));
        contract_set_now_us(start + life * US_PER_S + US_PER_S);
        make_work(6);
        EXPECT_NO_CELL(&CONTRACT_PLAIN, ROW, C);
        EXPECT_STATUS(resurrect(start - 1), STATUS_INVALID);
        EXPECT_NO_CELL(&CONTRACT_PLAIN, ROW, C);
    }
    contract_end();
}
