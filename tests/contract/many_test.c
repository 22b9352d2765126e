/* many_test.c -- batches over several rows, many reads, many batches, lazy writes, and what a restart leaves. */
#include "contract.h"

static const Slice ROW = {"row", 3};
static const Slice C = {"c", 1};
static const Slice V = {"v", 1};

TEST(one_batch_touches_several_rows_and_tables)
{
    Store *store = contract_fresh();
    int64_t now = contract_now_us();
    RowChange changes[] = {
        {&CONTRACT_KEEP, SLICE("a"), put(C, SLICE("1"), 1)},
        {&CONTRACT_PLAIN, SLICE("a"), put(C, SLICE("2"), now)},
        {&CONTRACT_KEEP, SLICE("b"), put(C, SLICE("3"), 1)},
        {&CONTRACT_PLAIN, SLICE("b"), put_for(C, SLICE("4"), now, 100)},
        {&CONTRACT_PLAIN, SLICE("c"), erase(C, now)},
    };
    EXPECT_STATUS(store_write(store, &(Batch){changes, 5, false}), STATUS_OK);
    EXPECT_CELL(&CONTRACT_KEEP, SLICE("a"), C, SLICE("1"));
    EXPECT_CELL(&CONTRACT_PLAIN, SLICE("a"), C, SLICE("2"));
    EXPECT_CELL(&CONTRACT_KEEP, SLICE("b"), C, SLICE("3"));
    EXPECT_CELL(&CONTRACT_PLAIN, SLICE("b"), C, SLICE("4"));
    EXPECT_NO_CELL(&CONTRACT_PLAIN, SLICE("c"), C);
    contract_end();
}

TEST(one_bad_change_refuses_a_batch_over_several_rows)
{
    Store *store = contract_fresh();
    RowChange changes[] = {{&CONTRACT_KEEP, SLICE("a"), put(C, V, 1)},
                           {&CONTRACT_COND, SLICE("b"), put(C, V, 0)}};
    EXPECT_STATUS(store_write(store, &(Batch){changes, 2, false}), STATUS_INVALID);
    EXPECT_NO_CELL(&CONTRACT_KEEP, SLICE("a"), C);
    changes[1] = (RowChange){&CONTRACT_KEEP, contract_filler(STORE_ROW_MAX + 1, 'r'), put(C, V, 1)};
    EXPECT_STATUS(store_write(store, &(Batch){changes, 2, false}), STATUS_TOO_LARGE);
    EXPECT_NO_CELL(&CONTRACT_KEEP, SLICE("a"), C);
    contract_end();
}

/* As many rows as COUNT, the i-th with i % 5 cells; asked for with all that a query can have. */
TEST(slice_many_gives_the_pages_that_slice_gives)
{
    enum { COUNT = 60 };
    Store *store = contract_fresh();
    Query queries[COUNT];
    PageAnswer answers[COUNT];
    for (int i = 0; i < COUNT; i++) {
        Slice row = arena_print(contract_arena(), "%d", i);
        Change changes[5];
        for (int k = 0; k < i % 5; k++)
            changes[k] = put(arena_print(contract_arena(), "c%d", k), row, i + 1);
        EXPECT_STATUS(contract_write_row(&CONTRACT_KEEP, row, changes, (size_t)(i % 5)), STATUS_OK);
        queries[i] = (Query){.table = i % 11 == 0 ? &CONTRACT_PLAIN : &CONTRACT_KEEP,
                             .row = row,
                             .from = i % 3 == 0 ? SLICE("c1") : SLICE_EMPTY,
                             .to = i % 4 == 0 ? SLICE("c3") : SLICE_EMPTY,
                             .after = SLICE("c1"),
                             .resume = i % 7 == 0,
                             .reverse = i % 2 == 0,
                             .limit = 1 + (uint32_t)i % 3};
    }
    EXPECT_STATUS(store_slice_many(store, queries, COUNT, contract_arena(), answers), STATUS_OK);
    for (int i = 0; i < COUNT; i++) {
        Page page;
        EXPECT_STATUS(answers[i].status, STATUS_OK);
        EXPECT_STATUS(store_slice(store, &queries[i], contract_arena(), &page), STATUS_OK);
        EXPECT_I64(answers[i].page.count, page.count);
        EXPECT(answers[i].page.more == page.more);
        for (size_t k = 0; k < page.count; k++) {
            EXPECT_SLICE(answers[i].page.cells[k].column, page.cells[k].column);
            EXPECT_SLICE(answers[i].page.cells[k].value, page.cells[k].value);
            EXPECT_I64(answers[i].page.cells[k].timestamp, page.cells[k].timestamp);
        }
    }
    EXPECT_STATUS(store_slice_many(store, queries, 0, contract_arena(), answers), STATUS_OK);
    queries[COUNT - 1].limit = 0;
    EXPECT_STATUS(store_slice_many(store, queries, COUNT, contract_arena(), answers),
                  STATUS_INVALID);
    EXPECT_STATUS(store_slice_many(store, queries, STORE_MANY_MAX + 1, contract_arena(), answers),
                  STATUS_TOO_LARGE);
    contract_end();
}

TEST(read_many_answers_in_the_order_of_the_questions)
{
    Store *store = contract_fresh();
    enum { COUNT = 100 };
    Read reads[COUNT];
    ReadAnswer answers[COUNT];
    for (int i = 0; i < COUNT; i++) {
        Slice name = arena_print(contract_arena(), "%d", i);
        int asked = (i * 37) % COUNT;
        reads[asked] = (Read){&CONTRACT_KEEP, name, C, STORE_NORMAL};
        if (i % 3 != 0)
            EXPECT_STATUS(contract_write_lazy(&CONTRACT_KEEP, name, put(C, name, i)), STATUS_OK);
    }
    EXPECT_STATUS(store_read_many(store, reads, COUNT, contract_arena(), answers), STATUS_OK);
    for (int i = 0; i < COUNT; i++) {
        int asked = (i * 37) % COUNT;
        EXPECT_STATUS(answers[asked].status, i % 3 != 0 ? STATUS_OK : STATUS_NOT_FOUND);
        if (i % 3 == 0)
            continue;
        EXPECT_SLICE(answers[asked].cell.value, reads[asked].row);
        EXPECT_SLICE(answers[asked].cell.column, C);
        EXPECT_I64(answers[asked].cell.timestamp, i);
    }
    contract_end();
}

TEST(read_many_takes_tables_and_modes_as_they_come)
{
    Store *store = contract_fresh();
    int64_t now = contract_now_us();
    EXPECT_STATUS(contract_write(&CONTRACT_KEEP, ROW, put(C, SLICE("keep"), 1)), STATUS_OK);
    EXPECT_STATUS(contract_write(&CONTRACT_PLAIN, ROW, put_for(C, SLICE("brief"), now, 2)),
                  STATUS_OK);
    EXPECT_STATUS(
        contract_update_one(&CONTRACT_COND, ROW, when_absent(C), put(C, SLICE("cond"), 0), NULL),
        STATUS_OK);
    contract_pass_s(4);
    Read reads[] = {{&CONTRACT_COND, ROW, C, STORE_SERIAL},
                    {&CONTRACT_PLAIN, ROW, C, STORE_NORMAL},
                    {&CONTRACT_KEEP, ROW, C, STORE_NORMAL},
                    {&CONTRACT_KEEP, ROW, C, STORE_NORMAL}};
    ReadAnswer answers[4];
    EXPECT_STATUS(store_read_many(store, reads, 4, contract_arena(), answers), STATUS_OK);
    EXPECT_SLICE(answers[0].cell.value, SLICE("cond"));
    EXPECT_STATUS(answers[1].status, STATUS_NOT_FOUND);
    EXPECT_SLICE(answers[2].cell.value, SLICE("keep"));
    EXPECT_SLICE(answers[3].cell.value, SLICE("keep"));
    contract_end();
}

TEST(one_bad_question_refuses_read_many_as_a_whole)
{
    Store *store = contract_fresh();
    Read reads[] = {{&CONTRACT_KEEP, ROW, C, STORE_NORMAL}, {&CONTRACT_KEEP, ROW, C, STORE_SERIAL}};
    ReadAnswer answers[2] = {{.status = STATUS_COUNT}, {.status = STATUS_COUNT}};
    EXPECT_STATUS(store_read_many(store, reads, 2, contract_arena(), answers), STATUS_INVALID);
    EXPECT(answers[0].status == STATUS_COUNT && answers[1].status == STATUS_COUNT);
    contract_end();
}

TEST(write_many_applies_every_batch_by_its_timestamps)
{
    Store *store = contract_fresh();
    enum { COUNT = 50 };
    RowChange changes[COUNT][2];
    Batch batches[COUNT];
    Status statuses[COUNT];
    for (int i = 0; i < COUNT; i++) {
        int64_t timestamp = (i * 37) % COUNT;
        Slice value = arena_print(contract_arena(), "%02d", (int)timestamp);
        changes[i][0] = (RowChange){&CONTRACT_KEEP, ROW, put(C, value, timestamp)};
        changes[i][1] = (RowChange){&CONTRACT_KEEP, value, put(C, value, timestamp)};
        batches[i] = (Batch){changes[i], 2, i % 2 == 0};
        statuses[i] = STATUS_COUNT;
    }
    EXPECT_STATUS(store_write_many(store, batches, COUNT, statuses), STATUS_OK);
    for (int i = 0; i < COUNT; i++) {
        EXPECT_STATUS(statuses[i], STATUS_OK);
        EXPECT_CELL(&CONTRACT_KEEP, changes[i][1].row, C, changes[i][1].row);
    }
    EXPECT_CELL(&CONTRACT_KEEP, ROW, C, SLICE("49"));
    contract_end();
}

TEST(one_bad_batch_refuses_write_many_as_a_whole)
{
    Store *store = contract_fresh();
    RowChange good = {&CONTRACT_KEEP, ROW, put(C, V, 1)}, bad = {&CONTRACT_KEEP, ROW, erase(C, 1)};
    Batch batches[] = {{&good, 1, false}, {&bad, 1, false}};
    Status statuses[2] = {STATUS_COUNT, STATUS_COUNT};
    EXPECT_STATUS(store_write_many(store, batches, 2, statuses), STATUS_INVALID);
    EXPECT_NO_CELL(&CONTRACT_KEEP, ROW, C);
    EXPECT(statuses[0] == STATUS_COUNT && statuses[1] == STATUS_COUNT);
    contract_end();
}

static Update update_of(Slice row, const Condition *condition, const Change *change)
{
    return (Update){.table = &CONTRACT_COND,
                    .row = row,
                    .conditions = condition,
                    .condition_count = 1,
                    .changes = change,
                    .change_count = 1,
                    .lazy = true};
}

TEST(update_many_decides_each_update_by_itself)
{
    Store *store = contract_fresh();
    enum { COUNT = 60 };
    Condition conditions[COUNT];
    Change changes[COUNT];
    Update updates[COUNT];
    Status statuses[COUNT];
    for (int i = 0; i < COUNT; i++) {
        Slice row = arena_print(contract_arena(), "%02d", i);
        conditions[i] = i % 3 == 0 ? when_equal(C, SLICE("other")) : when_absent(C);
        changes[i] = put(C, row, 0);
        updates[i] = update_of(row, &conditions[i], &changes[i]);
        statuses[i] = STATUS_COUNT;
    }
    EXPECT_STATUS(store_update_many(store, updates, COUNT, contract_arena(), statuses), STATUS_OK);
    for (int i = 0; i < COUNT; i++) {
        EXPECT_STATUS(statuses[i], i % 3 == 0 ? STATUS_CONFLICT : STATUS_OK);
        if (i % 3 == 0)
            EXPECT_NO_CELL(&CONTRACT_COND, updates[i].row, C);
        else
            EXPECT_CELL(&CONTRACT_COND, updates[i].row, C, updates[i].row);
    }
    EXPECT_STATUS(store_update_many(store, updates, 0, contract_arena(), statuses), STATUS_OK);
    contract_end();
}

TEST(of_two_updates_of_one_row_in_update_many_one_stands)
{
    Store *store = contract_fresh();
    Condition absent = when_absent(C);
    Change changes[] = {put(C, SLICE("1"), 0), put(C, SLICE("2"), 0)};
    Update updates[] = {update_of(ROW, &absent, &changes[0]), update_of(ROW, &absent, &changes[1])};
    Status statuses[2];
    EXPECT_STATUS(store_update_many(store, updates, 2, contract_arena(), statuses), STATUS_OK);
    int stands = statuses[0] == STATUS_OK ? 0 : 1;
    EXPECT_STATUS(statuses[stands], STATUS_OK);
    EXPECT_STATUS(statuses[1 - stands], STATUS_CONFLICT);
    EXPECT_CELL(&CONTRACT_COND, ROW, C, changes[stands].value);
    contract_end();
}

TEST(one_bad_update_refuses_update_many_as_a_whole)
{
    Store *store = contract_fresh();
    Condition absent = when_absent(C);
    Change good = put(C, V, 0), bad = put(C, V, 1);
    Update updates[] = {update_of(ROW, &absent, &good), update_of(SLICE("b"), &absent, &bad)};
    Status statuses[2] = {STATUS_COUNT, STATUS_COUNT};
    EXPECT_STATUS(store_update_many(store, updates, 2, contract_arena(), statuses), STATUS_INVALID);
    EXPECT_NO_CELL(&CONTRACT_COND, ROW, C);
    EXPECT(statuses[0] == STATUS_COUNT && statuses[1] == STATUS_COUNT);
    contract_end();
}

TEST(update_each_answers_each_update_and_leaves_the_proof_of_those_that_stand)
{
    Store *store = contract_fresh();
    enum { COUNT = 20 };
    Condition conditions[COUNT];
    Change changes[COUNT];
    Update updates[COUNT];
    Status statuses[COUNT];
    for (int i = 0; i < COUNT; i++) { /* each row twice: one of the two stands */
        Slice row = arena_print(contract_arena(), "%02d", i / 2);
        conditions[i] = when_absent(C);
        changes[i] = put(C, arena_print(contract_arena(), "%d", i), 0);
        updates[i] = update_of(row, &conditions[i], &changes[i]);
        updates[i].lazy = false;
        updates[i].proof = C;
    }
    EXPECT_STATUS(store_update_each(store, updates, COUNT, 3, contract_arena(), statuses),
                  STATUS_OK);
    for (int i = 0; i < COUNT; i += 2) {
        int stands = statuses[i] == STATUS_OK ? i : i + 1;
        EXPECT_STATUS(statuses[stands], STATUS_OK);
        EXPECT_STATUS(statuses[2 * i + 1 - stands], STATUS_CONFLICT);
        EXPECT_CELL(&CONTRACT_COND, updates[i].row, C, changes[stands].value);
    }
    EXPECT_STATUS(store_update_each(store, updates, 0, 3, contract_arena(), statuses), STATUS_OK);
    contract_end();
}

TEST(a_lazy_write_is_seen_at_once_by_every_read)
{
    Store *store = contract_fresh();
    Page page;
    ScanPage scan;
    ReadAnswer answer;
    Read read = {&CONTRACT_KEEP, ROW, C, STORE_NORMAL};
    EXPECT_STATUS(contract_write_lazy(&CONTRACT_KEEP, ROW, put(C, V, 1)), STATUS_OK);
    EXPECT_CELL(&CONTRACT_KEEP, ROW, C, V);
    EXPECT_STATUS(store_read_many(store, &read, 1, contract_arena(), &answer), STATUS_OK);
    EXPECT_STATUS(answer.status, STATUS_OK);
    EXPECT_STATUS(contract_slice(&CONTRACT_KEEP, ROW, 10, &page), STATUS_OK);
    EXPECT_I64(page.count, 1);
    EXPECT_STATUS(store_scan(store, &CONTRACT_KEEP, SLICE_EMPTY, 10, contract_arena(), &scan),
                  STATUS_OK);
    EXPECT_I64(scan.count, 1);
    contract_end();
}

TEST(lazy_writes_keep_the_order_of_timestamps)
{
    contract_fresh();
    EXPECT_STATUS(contract_write_lazy(&CONTRACT_KEEP, ROW, put(C, SLICE("new"), 2)), STATUS_OK);
    EXPECT_STATUS(contract_write(&CONTRACT_KEEP, ROW, put(C, SLICE("old"), 1)), STATUS_OK);
    EXPECT_CELL(&CONTRACT_KEEP, ROW, C, SLICE("new"));
    EXPECT_STATUS(contract_write_lazy(&CONTRACT_KEEP, ROW, put(C, SLICE("newest"), 3)), STATUS_OK);
    EXPECT_CELL(&CONTRACT_KEEP, ROW, C, SLICE("newest"));
    contract_end();
}

TEST(closing_makes_lazy_writes_durable)
{
    contract_fresh();
    EXPECT_STATUS(contract_write_lazy(&CONTRACT_KEEP, ROW, put(C, V, 1)), STATUS_OK);
    contract_restart();
    EXPECT_CELL(&CONTRACT_KEEP, ROW, C, V);
    contract_end();
}

TEST(everything_is_there_after_many_restarts)
{
    contract_fresh();
    int64_t now = contract_now_us();
    for (int i = 0; i < 10; i++) {
        Slice name = arena_print(contract_arena(), "%d", i);
        EXPECT_STATUS(contract_write(&CONTRACT_KEEP, ROW, put(name, name, i)), STATUS_OK);
        EXPECT_STATUS(contract_write(&CONTRACT_PLAIN, ROW, put(name, name, now + i)), STATUS_OK);
        EXPECT_STATUS(contract_write(&CONTRACT_PLAIN, ROW,
                                     erase(arena_print(contract_arena(), "%d", i - 1), now + i)),
                      STATUS_OK);
        EXPECT_STATUS(
            contract_update_one(&CONTRACT_COND, ROW, when_absent(name), put(name, name, 0), NULL),
            STATUS_OK);
        contract_restart();
        Page page;
        EXPECT_STATUS(contract_slice(&CONTRACT_KEEP, ROW, 100, &page), STATUS_OK);
        EXPECT_I64(page.count, i + 1);
        EXPECT_STATUS(contract_slice(&CONTRACT_PLAIN, ROW, 100, &page), STATUS_OK);
        EXPECT_I64(page.count, 1);
        EXPECT_STATUS(contract_slice(&CONTRACT_COND, ROW, 100, &page), STATUS_OK);
        EXPECT_I64(page.count, i + 1);
    }
    contract_end();
}

TEST(a_missing_cell_leaves_the_answer_untouched)
{
    contract_fresh();
    Cell cell = {SLICE("column"), SLICE("value"), 42};
    EXPECT_STATUS(contract_read(&CONTRACT_KEEP, ROW, C, &cell), STATUS_NOT_FOUND);
    EXPECT_SLICE(cell.column, SLICE("column"));
    EXPECT_SLICE(cell.value, SLICE("value"));
    EXPECT_I64(cell.timestamp, 42);
    contract_end();
}

TEST(an_open_store_says_it_is_writable)
{
    Store *store = contract_fresh();
    StoreHealth health;
    store_health(store, &health);
    EXPECT(health.writable);
    EXPECT_SLICE(slice_from(health.reason), SLICE_EMPTY);
    EXPECT(health.engine != NULL && health.engine[0] != '\0');
    contract_end();
}

typedef struct Visits {
    int count, bad;
} Visits;

/* Names and helps go out as they are: they must be fit for the Prometheus text. */
static void visit(void *context, const char *name, const char *help, bool counter, double value)
{
    Visits *visits = context;
    size_t good = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_");
    bool bad = name[0] == '\0' || name[good] != '\0' || help[0] == '\0' ||
               strchr(help, '\n') != NULL || (counter && value < 0);
    visits->count++;
    visits->bad += bad;
    if (bad)
        printf("# bad metric: %s: %s: %g\n", name, help, value);
}

TEST(metrics_have_names_and_words)
{
    Store *store = contract_fresh();
    Visits visits = {0};
    EXPECT_STATUS(contract_write(&CONTRACT_KEEP, ROW, put(C, V, 1)), STATUS_OK);
    store_metrics(store, visit, &visits);
    EXPECT(visits.count > 0);
    EXPECT_I64(visits.bad, 0);
    contract_end();
}
