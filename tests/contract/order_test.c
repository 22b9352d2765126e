/* order_test.c -- promise 1: the newest timestamp wins whatever the order of arrival, and each tie has a rule.
 *
 * A case is a handful of changes of one cell and what must stand in the end. Each case is played in every order of
 * arrival, in separate batches, with every write repeated, and all in one batch. */
#include "contract.h"

enum { CASE_MAX = 4 };

typedef struct Case {
    Change changes[CASE_MAX];
    size_t count;
    Slice winner;
    bool nothing; /* the cell must be absent */
} Case;

static const Slice COLUMN = {"cell", 4};

static void expect_outcome(const Table *table, Slice row, const Case *c)
{
    if (c->nothing)
        EXPECT_NO_CELL(table, row, COLUMN);
    else
        EXPECT_CELL(table, row, COLUMN, c->winner);
}

/* The `number`-th permutation of the case's changes. */
static void permute(const Case *c, size_t number, Change *ret_changes)
{
    memcpy(ret_changes, c->changes, c->count * sizeof(Change));
    for (size_t i = 0; i < c->count; i++) {
        size_t left = c->count - i, j = i + number % left;
        Change moved = ret_changes[j];
        number /= left;
        ret_changes[j] = ret_changes[i];
        ret_changes[i] = moved;
    }
}

static void play(const Table *table, const Case *c)
{
    size_t permutations = 1;
    for (size_t i = 2; i <= c->count; i++)
        permutations *= i;
    for (size_t p = 0; p < permutations; p++) {
        Change changes[CASE_MAX];
        Slice alone = arena_print(contract_arena(), "alone %zu", p);
        Slice repeated = arena_print(contract_arena(), "repeated %zu", p);
        Slice together = arena_print(contract_arena(), "together %zu", p);
        permute(c, p, changes);
        for (size_t i = 0; i < c->count; i++)
            EXPECT_STATUS(contract_write(table, alone, changes[i]), STATUS_OK);
        expect_outcome(table, alone, c);
        for (size_t i = 0; i < 2 * c->count; i++)
            EXPECT_STATUS(contract_write(table, repeated, changes[i % c->count]), STATUS_OK);
        expect_outcome(table, repeated, c);
        EXPECT_STATUS(contract_write_row(table, together, changes, c->count), STATUS_OK);
        expect_outcome(table, together, c);
    }
}

static Change cell(const char *value, int64_t timestamp)
{
    return put(COLUMN, slice_from(value), timestamp);
}

static Change brief(const char *value, int64_t timestamp, int64_t ttl_s)
{
    return put_for(COLUMN, slice_from(value), timestamp, ttl_s);
}

static Change gone(int64_t timestamp)
{
    return erase(COLUMN, timestamp);
}

TEST(the_newest_timestamp_wins_in_every_order_of_arrival)
{
    contract_fresh();
    Case c = {{cell("old", 10), cell("new", 30), cell("middle", 20), cell("oldest", -5)},
              4,
              SLICE("new"),
              false};
    play(&CONTRACT_KEEP, &c);
    contract_end();
}

TEST(every_64_bit_number_but_the_least_is_a_timestamp_where_nothing_dies)
{
    contract_fresh();
    Case c = {
        {cell("least", INT64_MIN + 1), cell("zero", 0), cell("less", -1), cell("most", INT64_MAX)},
        4,
        SLICE("most"),
        false};
    play(&CONTRACT_KEEP, &c);
    Cell found;
    EXPECT_STATUS(contract_write(&CONTRACT_KEEP, SLICE("low"), cell("least", INT64_MIN + 1)),
                  STATUS_OK);
    EXPECT_STATUS(contract_read(&CONTRACT_KEEP, SLICE("low"), COLUMN, &found), STATUS_OK);
    EXPECT_I64(found.timestamp, INT64_MIN + 1);
    EXPECT_STATUS(contract_write(&CONTRACT_KEEP, SLICE("low"), cell("none", INT64_MIN)),
                  STATUS_INVALID);
    contract_end();
}

TEST(a_read_returns_the_timestamp_that_was_written)
{
    contract_fresh();
    Cell found;
    EXPECT_STATUS(contract_write(&CONTRACT_KEEP, SLICE("row"), cell("v", -77)), STATUS_OK);
    EXPECT_STATUS(contract_read(&CONTRACT_KEEP, SLICE("row"), COLUMN, &found), STATUS_OK);
    EXPECT_I64(found.timestamp, -77);
    contract_end();
}

TEST(on_a_tie_the_larger_value_wins)
{
    contract_fresh();
    Case c = {{cell("b", 5), cell("a", 5), cell("ba", 5), cell("", 5)}, 4, SLICE("ba"), false};
    play(&CONTRACT_KEEP, &c);
    contract_end();
}

TEST(values_are_larger_by_unsigned_bytes)
{
    contract_fresh();
    Case c = {{cell("\x7f\x7f\x7f", 5), cell("\x80", 5), cell("zz", 5)}, 3, SLICE("\x80"), false};
    play(&CONTRACT_KEEP, &c);
    contract_end();
}

TEST(on_a_tie_a_delete_wins_over_everything)
{
    contract_fresh();
    int64_t now = contract_now_us();
    Case c = {{cell("z", now), gone(now), brief("zz", now, 1000), cell("older", now - 1)},
              4,
              SLICE_EMPTY,
              true};
    play(&CONTRACT_PLAIN, &c);
    contract_end();
}

TEST(on_a_tie_a_cell_that_expires_wins_over_one_that_does_not)
{
    contract_fresh();
    int64_t now = contract_now_us();
    Case c = {{cell("z", now), brief("a", now, 1000), cell("y", now)}, 3, SLICE("a"), false};
    play(&CONTRACT_PLAIN, &c);
    contract_end();
}

TEST(on_a_tie_the_later_expiry_wins)
{
    contract_fresh();
    int64_t now = contract_now_us();
    Case c = {{brief("z", now, 1000), brief("a", now, 3000), brief("m", now, 2000)},
              3,
              SLICE("a"),
              false};
    play(&CONTRACT_PLAIN, &c);
    contract_end();
}

/* Only where the clock stands still do two writes surely expire at the same moment. */
TEST(on_a_tie_of_expiry_the_larger_value_wins)
{
    contract_fresh();
    int64_t now = contract_now_us();
    Case c = {{brief("b", now, 1000), brief("c", now, 1000), brief("a", now, 1000)},
              3,
              SLICE("c"),
              false};
    if (contract_has_clock())
        play(&CONTRACT_PLAIN, &c);
    contract_end();
}

TEST(a_newer_put_stands_over_an_older_delete)
{
    contract_fresh();
    int64_t now = contract_now_us();
    Case c = {{gone(now), cell("back", now + 1), cell("before", now - 1)}, 3, SLICE("back"), false};
    play(&CONTRACT_PLAIN, &c);
    contract_end();
}

TEST(a_newer_delete_stands_over_older_puts_that_come_later)
{
    contract_fresh();
    int64_t now = contract_now_us();
    Case c = {{gone(now + 2), cell("a", now + 1), brief("b", now, 1000)}, 3, SLICE_EMPTY, true};
    play(&CONTRACT_PLAIN, &c);
    contract_end();
}

TEST(a_newer_put_without_expiry_lives_on)
{
    contract_fresh();
    int64_t now = contract_now_us();
    Case c = {{brief("brief", now, 2), cell("stays", now + 1)}, 2, SLICE("stays"), false};
    play(&CONTRACT_PLAIN, &c);
    contract_pass_s(4);
    expect_outcome(&CONTRACT_PLAIN, SLICE("alone 0"), &c);
    expect_outcome(&CONTRACT_PLAIN, SLICE("alone 1"), &c);
    contract_end();
}

/* When the winner dies, the loser does not come back: it lost for good. */
TEST(a_newer_put_that_expires_takes_the_older_one_with_it)
{
    contract_fresh();
    int64_t now = contract_now_us();
    Case c = {{brief("brief", now + 1, 3), cell("older", now)}, 2, SLICE("brief"), false};
    play(&CONTRACT_PLAIN, &c);
    contract_pass_s(5);
    EXPECT_NO_CELL(&CONTRACT_PLAIN, SLICE("alone 0"), COLUMN);
    EXPECT_NO_CELL(&CONTRACT_PLAIN, SLICE("alone 1"), COLUMN);
    EXPECT_NO_CELL(&CONTRACT_PLAIN, SLICE("together 0"), COLUMN);
    contract_end();
}

TEST(order_is_by_cell_and_not_by_row)
{
    contract_fresh();
    Slice row = SLICE("row");
    Change first[] = {put(SLICE("a"), SLICE("a10"), 10), put(SLICE("b"), SLICE("b10"), 10)};
    Change second[] = {put(SLICE("a"), SLICE("a5"), 5), put(SLICE("b"), SLICE("b15"), 15)};
    EXPECT_STATUS(contract_write_row(&CONTRACT_KEEP, row, first, 2), STATUS_OK);
    EXPECT_STATUS(contract_write_row(&CONTRACT_KEEP, row, second, 2), STATUS_OK);
    EXPECT_CELL(&CONTRACT_KEEP, row, SLICE("a"), SLICE("a10"));
    EXPECT_CELL(&CONTRACT_KEEP, row, SLICE("b"), SLICE("b15"));
    contract_end();
}

TEST(the_winner_is_the_same_after_a_restart)
{
    contract_fresh();
    int64_t now = contract_now_us();
    Case dead = {{cell("z", now), gone(now)}, 2, SLICE_EMPTY, true};
    play(&CONTRACT_PLAIN, &dead);
    contract_restart();
    expect_outcome(&CONTRACT_PLAIN, SLICE("alone 0"), &dead);
    EXPECT_STATUS(contract_write(&CONTRACT_PLAIN, SLICE("alone 0"), cell("z", now)), STATUS_OK);
    expect_outcome(&CONTRACT_PLAIN, SLICE("alone 0"), &dead);
    contract_fresh();
    now = contract_now_us();
    Case alive = {{cell("z", now), brief("a", now, 1000)}, 2, SLICE("a"), false};
    play(&CONTRACT_PLAIN, &alive);
    contract_restart();
    EXPECT_STATUS(contract_write(&CONTRACT_PLAIN, SLICE("alone 1"), cell("zz", now)), STATUS_OK);
    expect_outcome(&CONTRACT_PLAIN, SLICE("alone 1"), &alive);
    contract_end();
}

TEST(a_cell_that_is_only_repeated_is_there_in_every_order_of_arrival)
{
    contract_fresh();
    int64_t now = contract_now_us();
    Case c = {{cell("same", now), cell("same", now - 5), brief("same", now - 9, 1000),
               brief("same", now + 7, 2000)},
              4,
              SLICE("same"),
              false};
    play(&CONTRACT_REPEAT, &c);
    contract_end();
}
