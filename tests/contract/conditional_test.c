/* conditional_test.c -- update_if: all conditions hold and everything is done, or nothing is and the caller is told why. */
#include "contract.h"

static const Slice ROW = {"row", 3};
static const Slice A = {"a", 1};
static const Slice B = {"b", 1};
static const Slice C = {"c", 1};

static Update update_of(const Condition *conditions, size_t condition_count, const Change *changes,
                        size_t change_count)
{
    return (Update){.table = &CONTRACT_COND_D,
                    .row = ROW,
                    .conditions = conditions,
                    .condition_count = condition_count,
                    .changes = changes,
                    .change_count = change_count,
                    .proof = changes[0].column};
}

static Status send(Update update, Found *ret_found)
{
    return store_update_if(contract_store(), &update, contract_arena(), ret_found);
}

static Status set(Slice column, const char *value, Condition condition)
{
    return contract_update_one(&CONTRACT_COND_D, ROW, condition, put(column, slice_from(value), 0),
                               NULL);
}

TEST(absent_holds_only_when_nothing_is_there)
{
    contract_fresh();
    Found found = {true, SLICE("untouched")};
    EXPECT_STATUS(set(A, "1", when_absent(A)), STATUS_OK);
    EXPECT_CELL(&CONTRACT_COND_D, ROW, A, SLICE("1"));
    EXPECT_STATUS(
        contract_update_one(&CONTRACT_COND_D, ROW, when_absent(A), put(A, SLICE("2"), 0), &found),
        STATUS_CONFLICT);
    EXPECT(found.present);
    EXPECT_SLICE(found.value, SLICE("1"));
    EXPECT_CELL(&CONTRACT_COND_D, ROW, A, SLICE("1"));
    contract_end();
}

TEST(equal_holds_only_for_the_same_value)
{
    contract_fresh();
    Found found = {true, SLICE("untouched")};
    EXPECT_STATUS(contract_update_one(&CONTRACT_COND_D, ROW, when_equal(A, SLICE("1")),
                                      put(A, SLICE("2"), 0), &found),
                  STATUS_CONFLICT);
    EXPECT(!found.present);
    EXPECT_STATUS(set(A, "1", when_absent(A)), STATUS_OK);
    EXPECT_STATUS(contract_update_one(&CONTRACT_COND_D, ROW, when_equal(A, SLICE("11")),
                                      put(A, SLICE("2"), 0), &found),
                  STATUS_CONFLICT);
    EXPECT(found.present);
    EXPECT_SLICE(found.value, SLICE("1"));
    EXPECT_STATUS(set(A, "2", when_equal(A, SLICE("1"))), STATUS_OK);
    EXPECT_CELL(&CONTRACT_COND_D, ROW, A, SLICE("2"));
    contract_end();
}

/* Every combination of three conditions being true or false: one false is enough, and all three cells are told. */
TEST(one_false_condition_of_several_refuses_all)
{
    contract_fresh();
    EXPECT_STATUS(set(A, "a", when_absent(A)), STATUS_OK);
    EXPECT_STATUS(set(B, "b", when_absent(B)), STATUS_OK);
    for (int mask = 0; mask < 8; mask++) {
        Condition conditions[] = {mask & 1 ? when_equal(A, SLICE("wrong"))
                                           : when_equal(A, SLICE("a")),
                                  mask & 2 ? when_absent(B) : when_equal(B, SLICE("b")),
                                  mask & 4 ? when_equal(C, SLICE("c")) : when_absent(C)};
        Slice done = arena_print(contract_arena(), "done %d", mask);
        Change changes[] = {put(done, SLICE("x"), 0), put(SLICE("also"), done, 0)};
        Found found[3] = {{true, SLICE("?")}, {true, SLICE("?")}, {true, SLICE("?")}};
        EXPECT_STATUS(send(update_of(conditions, 3, changes, 2), found),
                      mask == 0 ? STATUS_OK : STATUS_CONFLICT);
        if (mask == 0)
            continue;
        EXPECT(found[0].present && found[1].present && !found[2].present);
        EXPECT_SLICE(found[0].value, SLICE("a"));
        EXPECT_SLICE(found[1].value, SLICE("b"));
        EXPECT_NO_CELL(&CONTRACT_COND_D, ROW, done);
        EXPECT_CELL(&CONTRACT_COND_D, ROW, SLICE("also"), SLICE("done 0"));
    }
    contract_end();
}

TEST(one_cell_may_be_named_in_two_conditions)
{
    contract_fresh();
    EXPECT_STATUS(set(A, "a", when_absent(A)), STATUS_OK);
    Condition both[] = {when_equal(A, SLICE("a")), when_absent(A)};
    Condition same[] = {when_equal(A, SLICE("a")), when_equal(A, SLICE("a"))};
    Change change = put(B, SLICE("b"), 0);
    EXPECT_STATUS(send(update_of(both, 2, &change, 1), NULL), STATUS_CONFLICT);
    EXPECT_STATUS(send(update_of(same, 2, &change, 1), NULL), STATUS_OK);
    contract_end();
}

TEST(conditions_look_at_the_row_before_the_changes)
{
    contract_fresh();
    Condition condition = when_absent(A);
    Change changes[] = {put(A, SLICE("a"), 0), put(B, SLICE("b"), 0)};
    EXPECT_STATUS(send(update_of(&condition, 1, changes, 2), NULL), STATUS_OK);
    EXPECT_CELL(&CONTRACT_COND_D, ROW, A, SLICE("a"));
    EXPECT_CELL(&CONTRACT_COND_D, ROW, B, SLICE("b"));
    contract_end();
}

TEST(the_last_update_stands_without_timestamps)
{
    contract_fresh();
    EXPECT_STATUS(set(A, "z", when_absent(A)), STATUS_OK);
    EXPECT_STATUS(set(A, "a", when_equal(A, SLICE("z"))), STATUS_OK);
    EXPECT_CELL(&CONTRACT_COND_D, ROW, A, SLICE("a"));
    EXPECT_STATUS(set(A, "b", when_equal(A, SLICE("a"))), STATUS_OK);
    EXPECT_CELL(&CONTRACT_COND_D, ROW, A, SLICE("b"));
    contract_end();
}

/* Two machines' clocks differ, or the clock is set back: updates follow each other all the same. */
TEST(a_clock_that_steps_back_does_not_lose_an_update)
{
    contract_fresh();
    if (contract_has_clock()) {
        EXPECT_STATUS(set(A, "1", when_absent(A)), STATUS_OK);
        contract_set_now_us(contract_now_us() - 3600 * US_PER_S);
        EXPECT_STATUS(set(A, "0", when_equal(A, SLICE("1"))), STATUS_OK);
        EXPECT_CELL(&CONTRACT_COND_D, ROW, A, SLICE("0"));
        Change changes[] = {put(B, SLICE("b"), 0), erase(A, 0)};
        contract_set_now_us(contract_now_us() - 3600 * US_PER_S);
        EXPECT_STATUS(contract_update(&CONTRACT_COND_D, ROW, when_equal(A, SLICE("0")), changes, 2),
                      STATUS_OK);
        EXPECT_NO_CELL(&CONTRACT_COND_D, ROW, A);
    }
    contract_end();
}

TEST(a_delete_makes_a_cell_absent)
{
    contract_fresh();
    EXPECT_STATUS(set(A, "a", when_absent(A)), STATUS_OK);
    Condition condition = when_equal(A, SLICE("a"));
    Change changes[] = {put(B, SLICE("b"), 0), erase(A, 0)};
    EXPECT_STATUS(send(update_of(&condition, 1, changes, 2), NULL), STATUS_OK);
    EXPECT_NO_CELL(&CONTRACT_COND_D, ROW, A);
    EXPECT_STATUS(set(A, "0", when_absent(A)), STATUS_OK);
    EXPECT_CELL(&CONTRACT_COND_D, ROW, A, SLICE("0"));
    contract_end();
}

TEST(an_expired_cell_is_absent_for_conditions)
{
    contract_fresh();
    Found found = {true, SLICE("?")};
    Change brief = put_for(A, SLICE("brief"), 0, 2);
    EXPECT_STATUS(contract_update_one(&CONTRACT_COND_D, ROW, when_absent(A), brief, NULL),
                  STATUS_OK);
    EXPECT_STATUS(
        contract_update_one(&CONTRACT_COND_D, ROW, when_absent(A), put(A, SLICE("x"), 0), &found),
        STATUS_CONFLICT);
    EXPECT_SLICE(found.value, SLICE("brief"));
    contract_pass_s(4);
    EXPECT_STATUS(contract_update_one(&CONTRACT_COND_D, ROW, when_equal(A, SLICE("brief")),
                                      put(A, SLICE("x"), 0), &found),
                  STATUS_CONFLICT);
    EXPECT(!found.present);
    EXPECT_STATUS(set(A, "again", when_absent(A)), STATUS_OK);
    EXPECT_CELL(&CONTRACT_COND_D, ROW, A, SLICE("again"));
    contract_pass_s(4);
    EXPECT_CELL(&CONTRACT_COND_D, ROW, A, SLICE("again"));
    contract_end();
}

TEST(an_update_is_on_one_row_only)
{
    contract_fresh();
    EXPECT_STATUS(set(A, "a", when_absent(A)), STATUS_OK);
    EXPECT_STATUS(contract_update_one(&CONTRACT_COND_D, SLICE("other"), when_absent(A),
                                      put(A, SLICE("o"), 0), NULL),
                  STATUS_OK);
    EXPECT_CELL(&CONTRACT_COND_D, ROW, A, SLICE("a"));
    EXPECT_NO_CELL(&CONTRACT_COND, ROW, A);
    contract_end();
}

TEST(an_update_survives_a_restart)
{
    contract_fresh();
    EXPECT_STATUS(set(A, "a", when_absent(A)), STATUS_OK);
    contract_restart();
    EXPECT_STATUS(set(A, "b", when_absent(A)), STATUS_CONFLICT);
    EXPECT_STATUS(set(A, "b", when_equal(A, SLICE("a"))), STATUS_OK);
    contract_restart();
    EXPECT_CELL(&CONTRACT_COND_D, ROW, A, SLICE("b"));
    contract_end();
}

/* ---- Marks ------------------------------------------------------------------------------------------------- */

static Status update_with_marks(Store *store, Condition condition, const RowChange *marks,
                                size_t mark_count)
{
    Change change = put(A, SLICE("a"), 0);
    Update u = {.table = &CONTRACT_COND_D,
                .row = ROW,
                .conditions = &condition,
                .condition_count = 1,
                .changes = &change,
                .change_count = 1,
                .proof = A,
                .marks = {marks, mark_count, false}};
    return store_update_if(store, &u, contract_arena(), NULL);
}

TEST(marks_are_there_when_the_update_is)
{
    Store *store = contract_fresh();
    int64_t now = contract_now_us();
    RowChange marks[] = {{&CONTRACT_KEEP, SLICE("todo"), put(A, SLICE("m"), 1)},
                         {&CONTRACT_PLAIN, SLICE("todo"), put_for(A, SLICE("n"), now, 100)}};
    EXPECT_STATUS(update_with_marks(store, when_absent(A), marks, 2), STATUS_OK);
    EXPECT_CELL(&CONTRACT_KEEP, SLICE("todo"), A, SLICE("m"));
    EXPECT_CELL(&CONTRACT_PLAIN, SLICE("todo"), A, SLICE("n"));
    contract_restart();
    EXPECT_CELL(&CONTRACT_KEEP, SLICE("todo"), A, SLICE("m"));
    EXPECT_CELL(&CONTRACT_COND_D, ROW, A, SLICE("a"));
    contract_end();
}

TEST(marks_lose_against_newer_cells)
{
    Store *store = contract_fresh();
    RowChange mark = {&CONTRACT_KEEP, SLICE("todo"), put(A, SLICE("m"), 1)};
    EXPECT_STATUS(contract_write(&CONTRACT_KEEP, SLICE("todo"), put(A, SLICE("newer"), 2)),
                  STATUS_OK);
    EXPECT_STATUS(update_with_marks(store, when_absent(A), &mark, 1), STATUS_OK);
    EXPECT_CELL(&CONTRACT_KEEP, SLICE("todo"), A, SLICE("newer"));
    contract_end();
}

/* They may be there without the update; then they are as they were given. */
TEST(marks_of_a_refused_update_do_no_harm)
{
    Store *store = contract_fresh();
    Cell cell;
    RowChange mark = {&CONTRACT_KEEP, SLICE("todo"), put(A, SLICE("m"), 1)};
    EXPECT_STATUS(update_with_marks(store, when_equal(A, SLICE("no")), &mark, 1), STATUS_CONFLICT);
    EXPECT_NO_CELL(&CONTRACT_COND_D, ROW, A);
    Status status = contract_read(&CONTRACT_KEEP, SLICE("todo"), A, &cell);
    EXPECT(status == STATUS_NOT_FOUND || slice_equal(cell.value, SLICE("m")));
    contract_end();
}

/* ---- store_update on an engine that answers ------------------------------------------------------------------ */

TEST(store_update_is_an_update_and_tells_a_conflict)
{
    Store *store = contract_fresh();
    Condition condition = when_absent(A);
    Change changes[2] = {put(A, SLICE("a"), 0)};
    Slice receipt = store_receipt(SLICE("0123456789abcdef"), contract_arena());
    Found found = {false, SLICE("?")};
    EXPECT_SLICE(receipt, SLICE("~/0123456789abcdef"));
    changes[1] = put_for(receipt, SLICE("id"), 0, STORE_RECEIPT_TTL_S);
    Update u = {.table = &CONTRACT_COND,
                .row = ROW,
                .conditions = &condition,
                .condition_count = 1,
                .changes = changes,
                .change_count = 2,
                .proof = receipt};
    EXPECT_STATUS(store_update(store, &u, 3, contract_arena(), &found), STATUS_OK);
    EXPECT_SLICE(found.value, SLICE("?"));
    EXPECT_STATUS(store_update(store, &u, 3, contract_arena(), &found), STATUS_CONFLICT);
    EXPECT(found.present);
    EXPECT_SLICE(found.value, SLICE("a"));
    EXPECT_STATUS(store_update(store, &u, 1, contract_arena(), NULL), STATUS_CONFLICT);
    contract_end();
}

TEST(store_replace_goes_from_what_was_read_to_another_value_and_leaves_a_receipt)
{
    Store *store = contract_fresh();
    Cell cell;
    Replacement first = {.table = &CONTRACT_COND,
                         .row = ROW,
                         .column = A,
                         .before = SLICE_EMPTY,
                         .value = SLICE("first"),
                         .id = {{1}}};
    Replacement second = first;
    second.before = SLICE("first");
    second.value = SLICE("second");
    second.id = (Id){{2}};
    EXPECT_STATUS(store_replace(store, &second, 3, contract_arena()), STATUS_CONFLICT);
    EXPECT_STATUS(store_replace(store, &first, 3, contract_arena()), STATUS_OK);
    EXPECT_STATUS(store_replace(store, &first, 3, contract_arena()), STATUS_CONFLICT);
    EXPECT_STATUS(store_replace(store, &second, 3, contract_arena()), STATUS_OK);
    EXPECT_STATUS(contract_read(&CONTRACT_COND, ROW, A, &cell), STATUS_OK);
    EXPECT_SLICE(cell.value, SLICE("second"));
    for (uint8_t i = 1; i <= 3; i++) {
        Id id = {{i}};
        Slice receipt = store_receipt(id_slice(&id), contract_arena());
        EXPECT_STATUS(contract_read(&CONTRACT_COND, ROW, receipt, &cell),
                      i < 3 ? STATUS_OK : STATUS_NOT_FOUND);
    }
    contract_end();
}
