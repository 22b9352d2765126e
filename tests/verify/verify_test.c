/* verify_test.c -- every kind of row broken on purpose: named, healed where it can be, and clean afterwards. */
#include "access/closing.h"
#include "ledger_fixture.h"
#include "verify/verify.h"

enum { VOTERS = 6, POLICIES = 4 };

static uint64_t voters[VOTERS], policies[POLICIES];
static char words[4096]; /* all faults of the last run */

static void hear(void *self, const VerifyFault *fault)
{
    (void)self;
    size_t used = strlen(words);
    snprintf(words + used, sizeof words - used, "%s: %s\n", verify_kind_text(fault->kind),
             fault->words);
}

static Ranking *ranking; /* NULL in most tests */

static VerifyOptions options(void)
{
    return (VerifyOptions){.store = fixture.store,
                           .world = fixture.world,
                           .ranking = ranking,
                           .accounts = fixture.accounts,
                           .policies = fixture.policies,
                           .votes = fixture.votes,
                           .settle_s = 1,
                           .fault = hear};
}

static VerifyReport verify(void)
{
    VerifyReport report = {0};
    VerifyOptions with = options();
    words[0] = '\0';
    EXPECT_STATUS(verify_run(&with, &report), STATUS_OK);
    EXPECT_I64(report.busy, 0);
    return report;
}

static void expect_clean(void)
{
    VerifyReport report = verify();
    if (verify_faults(&report) > 0)
        test_fail(__FILE__, __LINE__, "not clean: %s", words);
}

static void expect_fault(VerifyKind kind)
{
    VerifyReport report = verify();
    if (report.faults[kind] == 0)
        test_fail(__FILE__, __LINE__, "%s has no fault: %s", verify_kind_text(kind), words);
}

static void heal(void)
{
    VerifyOptions with = options();
    VerifyReport report = verify();
    EXPECT_STATUS(verify_repair(&with, &report), STATUS_OK);
}

/* Four weeks of saves by six voters on four policies: additions, withdrawals, a merge, a retirement, a deletion, one who left. */
static void begin(void)
{
    ledger_fixture_begin();
    for (int i = 0; i < VOTERS; i++)
        voters[i] = ledger_fixture_voter(
            arena_text(fixture.arena, arena_print(fixture.arena, "voter%d", i)));
    ledger_fixture_pass_days(70);
    for (int i = 0; i < POLICIES; i++)
        policies[i] = ledger_fixture_policy(
            voters[i], arena_text(fixture.arena, arena_print(fixture.arena, "Policy %d", i)));
    for (int day = 0; day < 7; day++) {
        for (int i = 0; i < VOTERS; i++)
            ledger_fixture_save(voters[i], policies[(i + day) % POLICIES], 100 + (day * i) % 5);
        test_world_pass(&fixture.own, 26 * 3600 * US_PER_S);
        ledger_fixture_project();
    }
    Reason reason = {.rule = ""};
    EXPECT_STATUS(
        policies_merge(fixture.policies, policies[0], policies[1], 7, SLICE("the same"), &reason),
        STATUS_OK);
    ledger_fixture_save(voters[1], policies[1], 20);
    ledger_fixture_move(policies[2], POLICY_PENDING_DELETION);
    EXPECT_STATUS(votes_leave(fixture.votes, voters[5], &reason), STATUS_OK);
    EXPECT_STATUS(access_close_account(fixture.accounts, voters[5], &reason), STATUS_OK);
    ledger_fixture_project();
}

static uint32_t generation(void)
{
    return votes_generation(fixture.votes);
}

/* ---- Ways to break things ---------------------------------------------------------------------------------------- */

static void put_plain(const Table *table, Slice row, Slice column, Slice value, int64_t timestamp)
{
    RowChange change = {table, row, {.column = column, .value = value, .timestamp = timestamp}};
    EXPECT_STATUS(store_write(fixture.store, &(Batch){&change, 1, false}), STATUS_OK);
}

static Slice get(const Table *table, Slice row, Slice column)
{
    Cell cell = {.value = SLICE_EMPTY};
    Read read = {table, row, column, table->kind == TABLE_PLAIN ? STORE_NORMAL : STORE_SERIAL};
    EXPECT_STATUS(store_read(fixture.store, &read, fixture.arena, &cell), STATUS_OK);
    return cell.value;
}

static void put_conditional(const Table *table, Slice row, Slice column, Slice value)
{
    Condition condition = {.column = column, .value = get(table, row, column)};
    Change change = {.column = column, .value = value};
    Update update = {.table = table,
                     .row = row,
                     .conditions = &condition,
                     .condition_count = 1,
                     .changes = &change,
                     .change_count = 1};
    EXPECT_STATUS(store_update_if(fixture.store, &update, fixture.arena, NULL), STATUS_OK);
}

static Slice bucket_row(int voter, int policy)
{
    return ledger_count_row(fixture.arena, generation(), policies[policy],
                            ledger_shard(voters[voter]));
}

/* The bytes with the last one another. */
static Slice bent(Slice value)
{
    char *copy = arena_bytes(fixture.arena, value.size);
    memcpy(copy, value.data, value.size);
    copy[value.size - 1] ^= 1;
    return slice_of(copy, value.size);
}

/* Of the generation that is read, where rows have one. */
static ScanCell first_cell(const Table *table, Slice prefix)
{
    ScanPage page = {.count = 0};
    Slice begin = slice_of(ledger_mark_row(fixture.arena, generation(), 0).data, 4);
    if (table == &TABLE_POLICY_INDEX)
        begin = SLICE_EMPTY;
    EXPECT_STATUS(
        store_scan(fixture.store, table, SLICE_EMPTY, STORE_PAGE_MAX, fixture.arena, &page),
        STATUS_OK);
    for (size_t i = 0; i < page.count; i++)
        if (slice_starts_with(page.cells[i].row, begin) &&
            slice_starts_with(page.cells[i].cell.column, prefix))
            return page.cells[i];
    test_fail(__FILE__, __LINE__, "%s is empty", table->name);
}

static void break_sum(void)
{
    Sum sum;
    BUFFER_SCOPE Buffer value = {0};
    EXPECT_STATUS(ledger_get_sum(get(&TABLE_POLICY_VOTERS, bucket_row(0, 1), SLICE("sum")), &sum),
                  STATUS_OK);
    sum.count.total += 5;
    ledger_put_sum(&value, &sum);
    put_conditional(&TABLE_POLICY_VOTERS, bucket_row(0, 1), SLICE("sum"), buffer_slice(&value));
}

static void break_day(void)
{
    Sum sum;
    BUFFER_SCOPE Buffer value = {0};
    EXPECT_STATUS(ledger_get_sum(get(&TABLE_POLICY_VOTERS, bucket_row(0, 1), SLICE("sum")), &sum),
                  STATUS_OK);
    sum.count.days[3] += 5;
    ledger_put_sum(&value, &sum);
    put_conditional(&TABLE_POLICY_VOTERS, bucket_row(0, 1), SLICE("sum"), buffer_slice(&value));
}

static void break_voter_cell(void)
{
    Slice column = ledger_column(fixture.arena, 'v', voters[0]), row = bucket_row(0, 1);
    Taken taken;
    BUFFER_SCOPE Buffer value = {0};
    EXPECT_STATUS(ledger_get_taken(get(&TABLE_POLICY_VOTERS, row, column), &taken), STATUS_OK);
    taken.held++;
    ledger_put_taken(&value, &taken);
    put_conditional(&TABLE_POLICY_VOTERS, row, column, buffer_slice(&value));
}

static void break_bytes(void)
{
    put_conditional(&TABLE_POLICY_VOTERS, bucket_row(0, 1), SLICE("sum"), SLICE("nonsense"));
}

static void break_hour_cell(void)
{
    ScanCell cell = first_cell(&TABLE_POLICY_VOTERS, SLICE("h/"));
    put_conditional(&TABLE_POLICY_VOTERS, cell.row, cell.cell.column, bent(cell.cell.value));
}

static void break_total(void)
{
    ScanCell cell = first_cell(&TABLE_POLICY_TOTALS, SLICE_EMPTY);
    put_plain(&TABLE_POLICY_TOTALS, cell.row, cell.cell.column, bent(cell.cell.value),
              cell.cell.timestamp + 1);
}

static void invent_total(void)
{
    ScanCell cell = first_cell(&TABLE_POLICY_TOTALS, SLICE_EMPTY);
    put_plain(&TABLE_POLICY_TOTALS, ledger_totals_row(fixture.arena, generation(), 999999),
              cell.cell.column, cell.cell.value, 1);
}

static void break_hour(void)
{
    ScanCell cell = first_cell(&TABLE_HOUR_CHANGES, SLICE_EMPTY);
    put_plain(&TABLE_HOUR_CHANGES, cell.row, cell.cell.column, bent(cell.cell.value),
              cell.cell.timestamp + 1);
}

static void invent_hour(void)
{
    ScanCell cell = first_cell(&TABLE_HOUR_CHANGES, SLICE_EMPTY);
    put_plain(&TABLE_HOUR_CHANGES, cell.row, SLICE("\0\0\0\0\0\0\7\7\1"), cell.cell.value, 1);
}

static void break_history(void)
{
    ScanCell cell = first_cell(&TABLE_POLICY_HISTORY, SLICE_EMPTY);
    /* At the same seq the larger value wins. */
    char *larger = arena_bytes(fixture.arena, cell.cell.value.size);
    memset(larger, 0x7F, cell.cell.value.size);
    put_plain(&TABLE_POLICY_HISTORY, cell.row, cell.cell.column,
              slice_of(larger, cell.cell.value.size), cell.cell.timestamp);
}

static void invent_history(void)
{
    ScanCell cell = first_cell(&TABLE_POLICY_HISTORY, SLICE_EMPTY);
    put_plain(&TABLE_POLICY_HISTORY, cell.row, SLICE("0123456789abcdef"), cell.cell.value,
              cell.cell.timestamp);
}

/* Says of entries that they are projected, when they are not. */
static void skip_projection(void)
{
    static int64_t held = 90;
    ledger_fixture_save(voters[3], policies[3], held--);
    uint64_t seq = ledger_fixture_show(voters[3]).seq;
    put_plain(&TABLE_PROJECTED, ledger_projected_row(fixture.arena, generation(), voters[3]),
              SLICE("seq"), ledger_u64(fixture.arena, seq), (int64_t)seq);
}

static void project_too_far(void)
{
    put_plain(&TABLE_PROJECTED, ledger_projected_row(fixture.arena, generation(), voters[3]),
              SLICE("seq"), ledger_u64(fixture.arena, 1000), 1000);
}

static void forget_place(void)
{
    ScanCell cell = first_cell(&TABLE_POLICY_INDEX, SLICE_EMPTY);
    RowChange change = {&TABLE_POLICY_INDEX,
                        cell.row,
                        {.column = cell.cell.column,
                         .timestamp = clock_now_us(fixture.world.clock),
                         .is_delete = true}};
    EXPECT_STATUS(store_write(fixture.store, &(Batch){&change, 1, false}), STATUS_OK);
    test_world_pass(&fixture.own, US_PER_S); /* what is put back is newer */
}

static void invent_place(void)
{
    ScanCell cell = first_cell(&TABLE_POLICY_INDEX, SLICE_EMPTY);
    put_plain(&TABLE_POLICY_INDEX, cell.row, SLICE("zzz"), cell.cell.value,
              clock_now_us(fixture.world.clock));
    put_plain(&TABLE_POLICY_INDEX, cell.row, SLICE("zzzz"), SLICE("nobody"),
              clock_now_us(fixture.world.clock));
    test_world_pass(&fixture.own, US_PER_S);
}

/* ---- Healed ------------------------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    void (*break_it)(void);
    VerifyKind kind;
} BREAKS[] = {
    {"a sum", break_sum, VERIFY_POLICY_VOTERS},
    {"the change of a day", break_day, VERIFY_POLICY_VOTERS},
    {"a voter's cell", break_voter_cell, VERIFY_POLICY_VOTERS},
    {"bytes", break_bytes, VERIFY_POLICY_VOTERS},
    {"an hour's cell", break_hour_cell, VERIFY_POLICY_VOTERS},
    {"a total", break_total, VERIFY_POLICY_TOTALS},
    {"a total of nothing", invent_total, VERIFY_POLICY_TOTALS},
    {"an hour", break_hour, VERIFY_HOUR_CHANGES},
    {"an hour of nothing", invent_hour, VERIFY_HOUR_CHANGES},
    {"a history", break_history, VERIFY_POLICY_HISTORY},
    {"a history of nothing", invent_history, VERIFY_POLICY_HISTORY},
    {"entries that are not there", skip_projection, VERIFY_POLICY_HISTORY},
    {"and their cells", skip_projection, VERIFY_POLICY_VOTERS},
    {"a seq that is too high", project_too_far, VERIFY_PROJECTED},
    {"a list that lacks one", forget_place, VERIFY_POLICY_INDEX},
    {"a list with one too many", invent_place, VERIFY_POLICY_INDEX},
};

TEST(a_healthy_site_has_no_faults)
{
    begin();
    VerifyReport report = verify();
    EXPECT_SLICE(slice_from(words), SLICE_EMPTY);
    EXPECT_I64(report.voters, VOTERS);
    EXPECT_I64(report.policies, POLICIES);
    EXPECT(report.entries > 30);
    ledger_fixture_restart();
    expect_clean();
    ledger_fixture_end();
}

TEST(every_broken_row_is_named_and_healed)
{
    begin();
    int64_t totals[POLICIES];
    for (size_t i = 0; i < sizeof BREAKS / sizeof BREAKS[0]; i++) {
        for (int k = 0; k < POLICIES; k++)
            totals[k] = ledger_fixture_total(policies[k]);
        BREAKS[i].break_it();
        VerifyReport report = verify();
        if (report.faults[BREAKS[i].kind] == 0)
            test_fail(__FILE__, __LINE__, "%s was not found: %s", BREAKS[i].name, words);
        heal();
        report = verify();
        if (verify_faults(&report) > 0)
            test_fail(__FILE__, __LINE__, "%s was not healed: %s", BREAKS[i].name, words);
        for (int k = 0; k < POLICIES && BREAKS[i].break_it != skip_projection; k++)
            EXPECT_I64(ledger_fixture_total(policies[k]), totals[k]);
    }
    EXPECT_I64(verify().old, generation()); /* one for each rebuild */
    EXPECT(generation() > 3);
    ledger_fixture_end();
}

/* ---- Behind ------------------------------------------------------------------------------------------------------- */

TEST(what_is_only_behind_is_no_fault)
{
    begin();
    ledger_fixture_save(voters[3], policies[3], 90);
    ledger_fixture_restart(); /* nobody waits for it any more */
    VerifyReport report = verify();
    EXPECT_I64(verify_faults(&report), 0);
    EXPECT(report.again > 0);
    EXPECT_I64(report.entries, verify().entries); /* what was looked at twice is counted once */
    ledger_fixture_end();
}

TEST(days_later_it_is_carried_on_too)
{
    begin();
    ledger_fixture_save(voters[3], policies[3], 90);
    ledger_fixture_restart();
    ledger_fixture_pass_days(60); /* its mark is gone */
    expect_clean();
    EXPECT_I64(ledger_fixture_show(voters[3]).lines[0].policy, policies[0]);
    ledger_fixture_end();
}

/* ---- What nothing heals ------------------------------------------------------------------------------------------- */

static void expect_unhealed(const char *needle)
{
    expect_fault(VERIFY_VOTERS);
    if (strstr(words, needle) == NULL)
        test_fail(__FILE__, __LINE__, "nothing about \"%s\": %s", needle, words);
    heal();
    expect_fault(VERIFY_VOTERS);
}

TEST(a_wrong_head_is_named)
{
    begin();
    Slice row = ledger_u64(fixture.arena, voters[2]);
    LedgerHead head;
    BUFFER_SCOPE Buffer value = {0};
    EXPECT_STATUS(ledger_get_head(get(&TABLE_VOTERS, row, SLICE("head")), &head), STATUS_OK);
    head.held += 3;
    ledger_put_head(&value, &head);
    put_conditional(&TABLE_VOTERS, row, SLICE("head"), buffer_slice(&value));
    expect_unhealed("another number is held");
    ledger_fixture_end();
}

TEST(a_wrong_line_is_named)
{
    begin();
    Slice row = ledger_u64(fixture.arena, voters[2]);
    VoteLine line = {policies[2], 77, 0};
    BUFFER_SCOPE Buffer value = {0};
    ledger_put_line(&value, &line, 1);
    put_conditional(&TABLE_VOTERS, row, ledger_column(fixture.arena, 's', policies[2]),
                    buffer_slice(&value));
    expect_unhealed("lines are not what the log says");
    ledger_fixture_end();
}

TEST(a_changed_entry_is_named)
{
    begin();
    Slice row = ledger_u64(fixture.arena, voters[2]);
    Slice column = ledger_column(fixture.arena, 'z', 2);
    Entry entry;
    BUFFER_SCOPE Buffer value = {0};
    EXPECT_STATUS(ledger_get_entry(column, get(&TABLE_VOTERS, row, column), fixture.arena, &entry),
                  STATUS_OK);
    entry.prev = id_new(fixture.world.clock, fixture.world.random);
    ledger_put_entry(&value, &entry);
    put_conditional(&TABLE_VOTERS, row, column, buffer_slice(&value));
    expect_unhealed("does not follow the entry before it");
    ledger_fixture_end();
}

TEST(a_row_that_cannot_be_read_is_written_anew_from_its_log)
{
    begin();
    Slice row = ledger_u64(fixture.arena, voters[2]);
    Slice head = get(&TABLE_VOTERS, row, SLICE("head"));
    Slice column = ledger_column(fixture.arena, 's', policies[2]);
    Slice line = get(&TABLE_VOTERS, row, column);
    put_conditional(&TABLE_VOTERS, row, SLICE("head"), SLICE("nonsense"));
    put_conditional(&TABLE_VOTERS, row, column, SLICE("nonsense"));
    expect_fault(VERIFY_VOTER_ROWS);
    heal();
    expect_clean();
    EXPECT_SLICE(get(&TABLE_VOTERS, row, SLICE("head")), head);
    EXPECT_SLICE(get(&TABLE_VOTERS, row, column), line);
    ledger_fixture_end();
}

/* What is derived is built anew beside it, as far as that voter's log can be read. */
TEST(a_log_that_cannot_be_read_is_named_and_keeps_nothing_else_from_being_healed)
{
    begin();
    Slice row = ledger_u64(fixture.arena, voters[2]);
    put_conditional(&TABLE_VOTERS, row, ledger_column(fixture.arena, 'z', 2), SLICE("nonsense"));
    Slice bucket = bucket_row(1, 1);
    put_conditional(&TABLE_POLICY_VOTERS, bucket, SLICE("sum"),
                    bent(get(&TABLE_POLICY_VOTERS, bucket, SLICE("sum"))));
    VerifyReport report = verify();
    EXPECT_I64(report.faults[VERIFY_VOTER_ROWS], 1);
    EXPECT(report.faults[VERIFY_POLICY_VOTERS] > 0);
    EXPECT_I64(report.damaged[0], voters[2]);
    VerifyOptions with = options();
    EXPECT_STATUS(verify_repair(&with, &report), STATUS_CORRUPT);
    expect_fault(VERIFY_VOTER_ROWS);
    ledger_fixture_end();
}

/* Past the rules, as a bug in them would do it. */
static void append_anyway(uint64_t id, uint64_t policy, int64_t held)
{
    Voter voter;
    VoteLine line = {policy, held, 0};
    EXPECT_STATUS(votes_read_voter(fixture.votes, id, NO_TOKEN, fixture.arena, &voter), STATUS_OK);
    int64_t before = 0;
    for (size_t i = 0; i < voter.line_count; i++)
        if (voter.lines[i].policy == policy)
            before = voter.lines[i].held;
    EntryChange change = {policy, before, held, 0};
    Entry entry = {.seq = voter.head.seq + 1,
                   .version = id_new(fixture.world.clock, fixture.world.random),
                   .prev = voter.head.version,
                   .time_us = voter.head.time_us + 1,
                   .changes = &change,
                   .change_count = 1};
    VotePlan plan = {.lines = &line, .count = 1};
    EXPECT_STATUS(votes_append(fixture.votes, &voter, &entry, &plan, fixture.arena), STATUS_OK);
    EXPECT_STATUS(votes_project(fixture.votes, &id, 1), STATUS_OK);
}

TEST(an_entry_that_overspends_is_named)
{
    begin();
    append_anyway(voters[3], policies[3], 1000000);
    expect_unhealed("spends more than the voter had");
    ledger_fixture_end();
}

TEST(a_withdrawal_that_cost_nothing_is_named)
{
    begin();
    append_anyway(voters[3], policies[3], 1);
    expect_unhealed("price of a withdrawal");
    ledger_fixture_end();
}

TEST(a_row_that_is_none_is_named)
{
    begin();
    put_plain(&TABLE_PROJECTED, SLICE("abc"), SLICE("seq"), SLICE("x"), 1);
    expect_fault(VERIFY_PROJECTED);
    ledger_fixture_end();
}

TEST(a_policy_without_its_creation_is_named)
{
    begin();
    Reason reason = {.rule = ""};
    NewPolicy policy = {.text = {.name = SLICE("Boats"), .category = LEDGER_FIXTURE_CATEGORY},
                        .creator = voters[0],
                        .seq = 1,
                        .version = id_new(fixture.world.clock, fixture.world.random),
                        .time_us = clock_now_us(fixture.world.clock)};
    EXPECT_STATUS(policies_next_id(fixture.policies, &policy.id), STATUS_OK);
    EXPECT_STATUS(policies_create(fixture.policies, &policy, &reason), STATUS_OK);
    expect_clean(); /* pending: it may wait */
    ledger_fixture_move(policy.id, POLICY_ACTIVE);
    expect_fault(VERIFY_POLICIES);
    ledger_fixture_end();
}

/* ---- Rankings ----------------------------------------------------------------------------------------------------- */

static void break_checkpoint(void)
{
    ScanPage page = {.count = 0};
    EXPECT_STATUS(store_scan(fixture.store, &TABLE_RANK_CHECKPOINTS, SLICE_EMPTY, STORE_PAGE_MAX,
                             fixture.arena, &page),
                  STATUS_OK);
    for (size_t i = page.count; i-- > 0;)
        if (page.cells[i].row.size == 8) { /* a page of a day */
            put_plain(&TABLE_RANK_CHECKPOINTS, page.cells[i].row, page.cells[i].cell.column,
                      bent(page.cells[i].cell.value), page.cells[i].cell.timestamp + 1);
            return;
        }
    test_fail(__FILE__, __LINE__, "there is no checkpoint");
}

/* And what else is wrong is still found. */
TEST(a_policy_that_cannot_be_read_is_named)
{
    begin();
    put_conditional(&TABLE_POLICIES, ledger_u64(fixture.arena, policies[3]), SLICE("state"),
                    SLICE("nonsense"));
    Slice row = bucket_row(1, 1);
    put_conditional(&TABLE_POLICY_VOTERS, row, SLICE("sum"),
                    bent(get(&TABLE_POLICY_VOTERS, row, SLICE("sum"))));
    ranking = ranking_new(&(RankingOptions){.store = fixture.store,
                                            .world = fixture.world,
                                            .policies = fixture.policies,
                                            .window_days = 7});
    EXPECT_STATUS(ranking_load(ranking, fixture.votes), STATUS_OK);
    VerifyReport report = verify();
    EXPECT(report.faults[VERIFY_POLICIES] == 1 && report.faults[VERIFY_POLICY_VOTERS] > 0);
    EXPECT(strstr(words, "its row cannot be read") != NULL);
    ranking_free(ranking);
    ranking = NULL;
    ledger_fixture_end();
}

TEST(a_ranking_that_was_left_behind_is_named_and_loaded)
{
    begin();
    ranking = ranking_new(&(RankingOptions){.store = fixture.store,
                                            .world = fixture.world,
                                            .policies = fixture.policies,
                                            .window_days = 3});
    EXPECT_STATUS(ranking_load(ranking, fixture.votes), STATUS_OK);
    expect_clean();
    uint32_t written = 0;
    EXPECT_STATUS(ranking_checkpoint_due(ranking, 100, &written), STATUS_OK);
    EXPECT(written > 3);
    expect_clean();
    break_checkpoint();
    expect_fault(VERIFY_RANK_CHECKPOINTS);
    heal();
    expect_clean();
    EXPECT_STATUS(ranking_checkpoint_due(ranking, 100, &written), STATUS_OK);
    EXPECT(written > 3);
    expect_clean();
    ledger_fixture_save(voters[3], policies[3], 90); /* by a handle that tells it nothing */
    ledger_fixture_project();
    expect_fault(VERIFY_RANKING);
    heal();
    expect_clean();
    ledger_fixture_move(policies[3], POLICY_RETIRED);
    expect_fault(VERIFY_RANKING);
    heal();
    expect_clean();
    ranking_free(ranking);
    ranking = NULL;
    ledger_fixture_end();
}
