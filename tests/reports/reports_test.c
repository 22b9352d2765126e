/* reports_test.c -- reports are kept and told, one moderator has one, and no fault leaves a report that nobody finds. */
#include "accounts_fixture.h"
#include "reports/reports_private.h"

static Policies *policies;
static Reports *reports; /* on the faulty store */
static Reports *honest;
static uint64_t ann, mod, other; /* accounts */

static Reports *open_on(Store *store)
{
    return reports_new(&(ReportsOptions){.store = store,
                                         .world = fixture.world,
                                         .vault = test_vault(),
                                         .accounts = fixture.honest,
                                         .policies = policies,
                                         .id_block = 1});
}

static void open_all(void)
{
    policies = policies_new(&(PoliciesOptions){
        .store = fixture.store, .world = fixture.world, .id_block = 1, .cache_s = 60});
    reports = open_on(&fixture.faulty.store);
    honest = open_on(fixture.store);
}

static void close_all(void)
{
    reports_free(reports);
    reports_free(honest);
    policies_free(policies);
    reports = honest = NULL;
    policies = NULL;
}

static void begin(void)
{
    close_all(); /* what a failed test left behind */
    fixture_begin();
    open_all();
    Reason reason = {0};
    EXPECT_STATUS(
        policies_ensure_categories(policies, POLICY_CATEGORIES, POLICY_CATEGORY_COUNT, &reason),
        STATUS_OK);
    ann = fixture_confirmed("ann");
    mod = fixture_confirmed("mod");
    other = fixture_confirmed("other");
}

static void end(void)
{
    close_all();
    fixture_end();
}

static uint64_t new_policy(void)
{
    uint64_t id = 0;
    Reason reason = {0};
    EXPECT_STATUS(policies_next_id(policies, &id), STATUS_OK);
    NewPolicy policy = {.id = id,
                        .text = {.name = SLICE("Clean rivers"),
                                 .description = SLICE("x"),
                                 .rationale = SLICE("y"),
                                 .category = 1},
                        .version = id_new(fixture.world.clock, fixture.world.random),
                        .time_us = contract_now_us()};
    EXPECT_STATUS(policies_create(policies, &policy, &reason), STATUS_OK);
    return id;
}

static NewReport about(uint64_t policy, uint64_t account)
{
    return (NewReport){.kind = REPORT_OF_POLICY,
                       .policy = policy,
                       .account = account,
                       .email = SLICE_EMPTY,
                       .words = SLICE("It is spam.\nReally.")};
}

static NewReport trouble(void)
{
    return (NewReport){.kind = REPORT_OF_TROUBLE,
                       .email = SLICE("ann@example.org"),
                       .words = SLICE("No letter came.")};
}

static uint64_t made(NewReport report)
{
    uint64_t id = 0;
    Reason reason = {0};
    contract_pass_s(1);
    EXPECT_STATUS(reports_make(honest, &report, &id, &reason), STATUS_OK);
    return id;
}

static Report read(uint64_t id)
{
    Report report = {.id = 0};
    EXPECT_STATUS(reports_read(honest, id, contract_arena(), &report), STATUS_OK);
    return report;
}

static Status move(uint64_t id, ReportState state, uint64_t moderator)
{
    Report after;
    ReportMove want = {state, moderator, report_is_closed(state) ? SLICE("because") : SLICE_EMPTY};
    contract_pass_s(1);
    return reports_move(honest, id, &want, contract_arena(), &after, NULL);
}

static ReportPage list(ReportState state)
{
    ReportPage page = {.count = 0};
    ReportQuery query = {.state = state, .limit = REPORTS_LIST_MAX};
    EXPECT_STATUS(reports_list(honest, &query, contract_arena(), &page), STATUS_OK);
    return page;
}

static bool is_listed(uint64_t id, ReportState state)
{
    ReportPage page = list(state);
    for (size_t i = 0; i < page.count; i++)
        if (page.reports[i].id == id)
            return true;
    return false;
}

static size_t letters(void)
{
    ReportLetter *due;
    size_t count;
    EXPECT_STATUS(reports_letters(honest, contract_arena(), &due, &count), STATUS_OK);
    return count;
}

static void tell_all(void)
{
    ReportLetter *due;
    size_t count;
    EXPECT_STATUS(reports_letters(honest, contract_arena(), &due, &count), STATUS_OK);
    for (size_t i = 0; i < count; i++)
        reports_told(honest, &due[i]);
}

/* ---- Making ------------------------------------------------------------------------------------------------------ */

TEST(a_report_is_kept_as_it_was_made)
{
    begin();
    uint64_t policy = new_policy(), id = made(about(policy, ann));
    Report report = read(id);
    EXPECT(report.kind == REPORT_OF_POLICY && report.state == REPORT_OPEN);
    EXPECT_I64(report.policy, policy);
    EXPECT_I64(report.account, ann);
    EXPECT_SLICE(report.words, SLICE("It is spam.\nReally."));
    EXPECT_I64(report.made_us, contract_now_us());
    EXPECT(is_listed(id, REPORT_OPEN));
    id = made(trouble());
    EXPECT_SLICE(read(id).email, SLICE("ann@example.org"));
    end();
}

TEST(words_and_email_are_sealed)
{
    begin();
    uint64_t id = made(trouble());
    Page page;
    EXPECT_STATUS(contract_slice(&TABLE_REPORTS, report_key(id, contract_arena()), 100, &page),
                  STATUS_OK);
    EXPECT(page.count >= 2);
    for (size_t i = 0; i < page.count; i++) {
        Slice value = page.cells[i].value;
        EXPECT(memmem(value.data, value.size, "example.org", 11) == NULL);
        EXPECT(memmem(value.data, value.size, "letter", 6) == NULL);
    }
    end();
}

static Status tried(NewReport report, Reason *ret_reason)
{
    uint64_t id = 99;
    *ret_reason = (Reason){0};
    Status status = reports_make(honest, &report, &id, ret_reason);
    EXPECT((status == STATUS_OK) == (id != 99));
    return status;
}

TEST(what_cannot_be_reported_is_told_by_field_and_rule)
{
    begin();
    Reason reason;
    uint64_t policy = new_policy();
    NewReport report = about(policy, ann);
    report.words = SLICE(" \n ");
    EXPECT_STATUS(tried(report, &reason), STATUS_INVALID);
    EXPECT_SLICE(slice_from(reason.field), SLICE("words"));
    report.words = contract_filler(REPORT_WORDS_MAX + 1, 'x');
    EXPECT_STATUS(tried(report, &reason), STATUS_INVALID);
    EXPECT_SLICE(slice_from(reason.field), SLICE("words"));
    report.words = contract_filler(REPORT_WORDS_MAX, 'x');
    EXPECT_STATUS(tried(report, &reason), STATUS_OK);
    NewReport no_address = trouble();
    no_address.email = SLICE_EMPTY;
    EXPECT_STATUS(tried(no_address, &reason), STATUS_INVALID);
    EXPECT_SLICE(slice_from(reason.field), SLICE("email"));
    no_address.email = SLICE("nowhere");
    EXPECT_STATUS(tried(no_address, &reason), STATUS_INVALID);
    EXPECT_STATUS(tried(about(policy + 1000, ann), &reason), STATUS_NOT_FOUND);
    EXPECT_I64(list(REPORT_OPEN).count, 1);
    end();
}

TEST(the_right_to_report_can_be_taken_away)
{
    begin();
    Reason reason;
    uint64_t policy = new_policy(), waiting = fixture_pending("newcomer");
    AccountRights rights = {.denied = 1u << RIGHT_REPORT};
    EXPECT_STATUS(accounts_set_rights(fixture.honest, ann, &rights, &reason), STATUS_OK);
    EXPECT_STATUS(tried(about(policy, ann), &reason), STATUS_DENIED);
    EXPECT_STATUS(tried(about(policy, waiting), &reason), STATUS_OK);
    EXPECT_STATUS(tried(about(policy, other), &reason), STATUS_OK);
    EXPECT_STATUS(tried(about(policy, 0), &reason), STATUS_OK);
    end();
}

TEST(one_open_report_of_one_person_about_one_policy)
{
    begin();
    Reason reason;
    uint64_t policy = new_policy(), id = made(about(policy, ann));
    EXPECT_STATUS(tried(about(policy, ann), &reason), STATUS_REFUSED);
    EXPECT_STATUS(tried(about(policy, other), &reason), STATUS_OK);
    EXPECT_STATUS(tried(about(new_policy(), ann), &reason), STATUS_OK);
    EXPECT_STATUS(move(id, REPORT_DISMISSED, mod), STATUS_OK);
    EXPECT_STATUS(tried(about(policy, ann), &reason), STATUS_OK);
    end();
}

/* ---- Moving ------------------------------------------------------------------------------------------------------ */

TEST(taken_given_back_taken_and_closed)
{
    static const ReportState WAY[] = {REPORT_TAKEN, REPORT_OPEN, REPORT_TAKEN, REPORT_ACTED};
    begin();
    uint64_t id = made(about(new_policy(), ann));
    for (size_t i = 0; i < 4; i++) {
        EXPECT_STATUS(move(id, WAY[i], mod), STATUS_OK);
        for (int state = 0; state < REPORT_STATE_COUNT; state++)
            EXPECT(is_listed(id, (ReportState)state) == (state == (int)WAY[i]));
        EXPECT_I64(read(id).moderator, WAY[i] == REPORT_OPEN ? 0 : mod);
    }
    EXPECT_SLICE(read(id).reason, SLICE("because"));
    EXPECT_SLICE(read(id).words, SLICE("It is spam.\nReally."));
    end();
}

TEST(the_second_who_takes_is_told_who_has_it)
{
    begin();
    uint64_t id = made(about(new_policy(), ann));
    EXPECT_STATUS(move(id, REPORT_TAKEN, mod), STATUS_OK);
    Report stands = {.id = 0};
    Reason reason = {0};
    ReportMove take = {REPORT_TAKEN, other, SLICE_EMPTY};
    EXPECT_STATUS(reports_move(honest, id, &take, contract_arena(), &stands, &reason),
                  STATUS_CONFLICT);
    EXPECT_I64(stands.moderator, mod);
    EXPECT_STATUS(move(id, REPORT_DISMISSED, other), STATUS_CONFLICT);
    EXPECT_STATUS(move(id, REPORT_OPEN, other), STATUS_CONFLICT);
    contract_pass_s(REPORT_HELD_S);
    EXPECT_STATUS(move(id, REPORT_TAKEN, other), STATUS_OK);
    EXPECT_STATUS(move(id, REPORT_DISMISSED, mod), STATUS_CONFLICT);
    end();
}

TEST(closing_needs_a_reason)
{
    begin();
    uint64_t id = made(about(new_policy(), ann));
    Report report;
    Reason reason = {0};
    ReportMove close = {REPORT_DISMISSED, mod, SLICE_EMPTY};
    EXPECT_STATUS(reports_move(honest, id, &close, contract_arena(), &report, &reason),
                  STATUS_INVALID);
    EXPECT_SLICE(slice_from(reason.field), SLICE("reason"));
    close.reason = contract_filler(REPORT_REASON_MAX + 1, 'x');
    EXPECT_STATUS(reports_move(honest, id, &close, contract_arena(), &report, &reason),
                  STATUS_INVALID);
    EXPECT(read(id).state == REPORT_OPEN);
    end();
}

enum { THREADS = 8 };
typedef struct Race {
    uint64_t report;
    Status told[THREADS];
    uint64_t has[THREADS];
} Race;

static void take_one(int index, void *context)
{
    Race *race = context;
    ARENA_SCOPE Arena *arena = arena_new();
    Report stands = {.id = 0};
    ReportMove take = {REPORT_TAKEN, (uint64_t)(100 + index), SLICE_EMPTY};
    race->told[index] = reports_move(honest, race->report, &take, arena, &stands, NULL);
    race->has[index] = stands.moderator;
}

TEST(of_many_who_take_one_report_exactly_one_has_it)
{
    begin();
    for (int round = 0; round < 10; round++) {
        Race race = {.report = made(trouble())};
        int winners = 0;
        contract_threads(THREADS, take_one, &race);
        uint64_t has = read(race.report).moderator;
        for (int i = 0; i < THREADS; i++) {
            winners += race.told[i] == STATUS_OK;
            EXPECT(race.told[i] == STATUS_OK || race.told[i] == STATUS_CONFLICT);
            EXPECT_I64(race.has[i], has);
        }
        EXPECT_I64(winners, 1);
    }
    EXPECT_I64(list(REPORT_TAKEN).count, 10);
    EXPECT_I64(list(REPORT_OPEN).count, 0);
    end();
}

/* ---- Lists ------------------------------------------------------------------------------------------------------- */

TEST(the_oldest_waits_in_front_and_the_last_closed_comes_first)
{
    begin();
    uint64_t ids[5];
    for (int i = 0; i < 5; i++)
        ids[i] = made(trouble());
    ReportPage open = list(REPORT_OPEN);
    for (int i = 0; i < 5; i++)
        EXPECT_I64(open.reports[i].id, ids[i]);
    for (int i = 0; i < 5; i++)
        EXPECT_STATUS(move(ids[i], REPORT_DISMISSED, mod), STATUS_OK);
    ReportPage closed = list(REPORT_DISMISSED);
    for (int i = 0; i < 5; i++)
        EXPECT_I64(closed.reports[i].id, ids[4 - i]);
    end();
}

TEST(pages_go_on_where_the_last_one_ended)
{
    begin();
    for (int i = 0; i < 7; i++)
        made(trouble());
    ReportQuery query = {.state = REPORT_OPEN, .limit = 3};
    ReportPage page = {.more = true};
    size_t seen = 0;
    for (uint64_t last = 0; page.more; query.after = page.position) {
        EXPECT_STATUS(reports_list(honest, &query, contract_arena(), &page), STATUS_OK);
        for (size_t i = 0; i < page.count; i++, seen++) {
            EXPECT(page.reports[i].id > last);
            last = page.reports[i].id;
        }
    }
    EXPECT_I64(seen, 7);
    query.limit = REPORTS_LIST_MAX + 1;
    EXPECT_STATUS(reports_list(honest, &query, contract_arena(), &page), STATUS_INVALID);
    end();
}

TEST(reports_about_one_policy_stand_together)
{
    begin();
    uint64_t policy = new_policy(), elsewhere = new_policy();
    uint64_t first = made(about(policy, ann)), second = made(about(policy, other));
    made(about(elsewhere, ann));
    Report *group;
    size_t count;
    EXPECT_STATUS(move(first, REPORT_DISMISSED, mod), STATUS_OK);
    EXPECT_STATUS(reports_of_policy(honest, policy, contract_arena(), &group, &count), STATUS_OK);
    EXPECT_I64(count, 2);
    EXPECT_I64(group[0].id, second);
    EXPECT_I64(group[1].id, first);
    EXPECT(group[1].state == REPORT_DISMISSED);
    end();
}

TEST(a_closed_report_expires_and_an_open_one_does_not)
{
    begin();
    uint64_t policy = new_policy(), closed = made(about(policy, ann)),
             open = made(about(policy, other));
    EXPECT_STATUS(move(closed, REPORT_ACTED, mod), STATUS_OK);
    fixture_pass_days(REPORT_KEPT_DAYS - 1);
    EXPECT(is_listed(closed, REPORT_ACTED));
    fixture_pass_days(2);
    Report report;
    EXPECT_STATUS(reports_read(honest, closed, contract_arena(), &report), STATUS_NOT_FOUND);
    EXPECT_I64(list(REPORT_ACTED).count, 0);
    EXPECT(is_listed(open, REPORT_OPEN));
    end();
}

static size_t reindexed(void)
{
    Slice position = SLICE_EMPTY;
    size_t all = 0;
    for (bool more = true; more;) {
        size_t added = 0;
        EXPECT_STATUS(
            reports_reindex_page(honest, position, contract_arena(), &position, &more, &added),
            STATUS_OK);
        all += added;
    }
    return all;
}

TEST(lists_that_lost_a_mark_are_repaired)
{
    begin();
    uint64_t policy = new_policy(), id = made(about(policy, ann));
    EXPECT_I64(reindexed(), 0);
    Report report = read(id);
    ReportMark mark = {report.since_us, id};
    contract_pass_s(1);
    report_unmark(honest, state_row(REPORT_OPEN, contract_arena()),
                  mark_column(mark, contract_arena()));
    report_unmark(honest, policy_row(policy, contract_arena()), report_key(id, contract_arena()));
    EXPECT(!is_listed(id, REPORT_OPEN));
    contract_pass_s(1);
    EXPECT_I64(reindexed(), 2);
    EXPECT(is_listed(id, REPORT_OPEN));
    EXPECT_I64(reindexed(), 0);
    end();
}

/* ---- Letters ----------------------------------------------------------------------------------------------------- */

TEST(a_new_report_and_its_outcome_are_told_until_somebody_says_so)
{
    begin();
    uint64_t id = made(trouble());
    EXPECT_I64(letters(), 1);
    EXPECT_I64(letters(), 1);
    contract_pass_s(1);
    tell_all();
    EXPECT_I64(letters(), 0);
    EXPECT_STATUS(move(id, REPORT_TAKEN, mod), STATUS_OK);
    EXPECT_STATUS(move(id, REPORT_OPEN, mod), STATUS_OK);
    EXPECT_I64(letters(), 0); /* given back is not new */
    EXPECT_STATUS(move(id, REPORT_ACTED, mod), STATUS_OK);
    ReportLetter *due;
    size_t count;
    EXPECT_STATUS(reports_letters(honest, contract_arena(), &due, &count), STATUS_OK);
    EXPECT_I64(count, 1);
    EXPECT(due[0].kind == REPORT_LETTER_OUTCOME);
    EXPECT_SLICE(due[0].report.reason, SLICE("because"));
    end();
}

TEST(nobody_is_told_who_cannot_be)
{
    begin();
    uint64_t id = made(about(new_policy(), 0)); /* a visitor without an address */
    contract_pass_s(1);
    tell_all();
    EXPECT_STATUS(move(id, REPORT_DISMISSED, mod), STATUS_OK);
    EXPECT_I64(letters(), 0);
    end();
}

/* ---- Faults ------------------------------------------------------------------------------------------------------ */

static const int LASTS[] = {FAULT_ONCE, FAULT_OUTAGE, FAULT_FOREVER};

static void recover(void)
{
    fixture.faulty.at = 0;
    faulty_deliver(&fixture.faulty);
}

/* Told OK: there, listed, and to be told. Told anything but UNKNOWN: not there. */
static bool make_with_fault(int n, FaultFate fate, int lasts)
{
    NewReport report = trouble();
    uint64_t id = 0;
    size_t before = list(REPORT_OPEN).count;
    contract_pass_s(1);
    fixture.faulty.calls = 0;
    faulty_plan(&fixture.faulty, n, fate, lasts);
    Status told = reports_make(reports, &report, &id, NULL);
    bool struck = faulty_struck(&fixture.faulty);
    recover();
    size_t after = list(REPORT_OPEN).count;
    EXPECT(after - before <= 1);
    if (told == STATUS_OK)
        EXPECT(is_listed(id, REPORT_OPEN));
    else if (told != STATUS_UNKNOWN)
        EXPECT_I64(after, before);
    EXPECT_I64(letters(), after - before);
    contract_pass_s(1);
    tell_all();
    return struck;
}

TEST(a_fault_at_every_call_of_making)
{
    begin();
    for (int fate = 0; fate < FAULT_FATES; fate++)
        for (int lasts = 0; lasts < 3; lasts++)
            for (int n = 1; make_with_fault(n, (FaultFate)fate, LASTS[lasts]); n++)
                EXPECT(n < 1000);
    EXPECT_I64(reindexed(), 0);
    end();
}

/* Told OK: taken by who was told so. Told UNKNOWN: the same again finds out. In the end it is in exactly one list. */
static bool take_with_fault(uint64_t id, int n, FaultFate fate, int lasts)
{
    Report stands;
    ReportMove take = {REPORT_TAKEN, mod, SLICE_EMPTY};
    contract_pass_s(1);
    fixture.faulty.calls = 0;
    faulty_plan(&fixture.faulty, n, fate, lasts);
    Status told = reports_move(reports, id, &take, contract_arena(), &stands, NULL);
    bool struck = faulty_struck(&fixture.faulty);
    recover();
    ReportState state = read(id).state;
    if (told == STATUS_OK)
        EXPECT(state == REPORT_TAKEN);
    else if (told != STATUS_UNKNOWN)
        EXPECT(state == REPORT_OPEN);
    EXPECT(is_listed(id, REPORT_OPEN) + is_listed(id, REPORT_TAKEN) == 1);
    EXPECT_STATUS(reports_move(reports, id, &take, contract_arena(), &stands, NULL), STATUS_OK);
    EXPECT_I64(read(id).moderator, mod);
    EXPECT(is_listed(id, REPORT_TAKEN) && !is_listed(id, REPORT_OPEN));
    EXPECT_STATUS(move(id, REPORT_OPEN, mod), STATUS_OK);
    return struck;
}

TEST(a_fault_at_every_call_of_taking)
{
    begin();
    uint64_t id = made(trouble());
    for (int fate = 0; fate < FAULT_FATES; fate++)
        for (int lasts = 0; lasts < 3; lasts++)
            for (int n = 1; take_with_fault(id, n, (FaultFate)fate, LASTS[lasts]); n++)
                EXPECT(n < 1000);
    /* Marks that were left are taken away by who reads the list, when they are old. */
    contract_pass_s(3600);
    EXPECT_I64(list(REPORT_TAKEN).count, 0);
    contract_pass_s(1);
    Page page;
    EXPECT_STATUS(
        contract_slice(&TABLE_REPORT_INDEX, state_row(REPORT_TAKEN, contract_arena()), 1000, &page),
        STATUS_OK);
    EXPECT_I64(page.count, 0);
    end();
}

TEST(a_restart_forgets_nothing)
{
    begin();
    uint64_t id = made(trouble());
    EXPECT_STATUS(move(id, REPORT_TAKEN, mod), STATUS_OK);
    close_all();
    fixture_restart();
    open_all();
    EXPECT(is_listed(id, REPORT_TAKEN));
    EXPECT_I64(read(id).moderator, mod);
    EXPECT_I64(letters(), 1);
    end();
}
