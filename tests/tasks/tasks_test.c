/* tasks_test.c -- what the tasks do, each on something that was left to it. */
#include "instance.h"
#include "policies/answers.h"
#include "policies/policies_private.h"

static Tasks *tasks;

static void begin(void)
{
    ledger_fixture_begin();
    tasks = instance();
}

/* As if the process had died and another were there. */
static void begin_again(void)
{
    tasks_free(tasks);
    ledger_fixture_restart();
    tasks = instance();
}

static void end(void)
{
    tasks_free(tasks);
    ledger_fixture_end();
}

static void run(const char *name)
{
    Reason reason = {.rule = ""};
    Status status = tasks_run(tasks, slice_from(name), &reason);
    if (status != STATUS_OK)
        test_fail(__FILE__, __LINE__, "%s: %s, %s", name, status_name(status), reason.rule);
}

static uint64_t found(const char *name)
{
    TaskInfo *infos;
    size_t count = 0;
    uint64_t sum = 0;
    EXPECT_STATUS(tasks_list(tasks, fixture.arena, &infos, &count), STATUS_OK);
    for (size_t i = 0; i < count; i++)
        if (strcmp(infos[i].name, name) == 0)
            sum += infos[i].found;
    return sum;
}

/* ---- Votes that were left behind --------------------------------------------------------------------------------- */

TEST(what_waits_here_is_projected)
{
    begin();
    uint64_t ann = ledger_fixture_voter("ann");
    uint64_t policy = ledger_fixture_policy(ann, "Trams");
    EXPECT_I64(ledger_fixture_total(policy), 0);
    run("project");
    EXPECT_I64(ledger_fixture_total(policy), 100);
    end();
}

TEST(the_sweep_finds_what_a_dead_process_saved)
{
    begin();
    uint64_t ann = ledger_fixture_voter("ann");
    uint64_t policy = ledger_fixture_policy(ann, "Trams");
    begin_again();
    EXPECT_I64(ledger_fixture_total(policy), 0);
    test_world_pass(&fixture.own, 110 * 60 * US_PER_S);
    run("sweep");
    EXPECT_I64(ledger_fixture_total(policy), 100);
    EXPECT_I64(found("sweep"), 1);
    run("sweep");
    EXPECT_I64(found("sweep"), 0);
    end();
}

TEST(the_older_sweep_finds_what_is_days_old)
{
    begin();
    uint64_t ann = ledger_fixture_voter("ann");
    uint64_t policy = ledger_fixture_policy(ann, "Trams");
    begin_again();
    ledger_fixture_pass_days(39);
    run("sweep");
    EXPECT_I64(ledger_fixture_total(policy), 0);
    run("sweep-older");
    EXPECT_I64(ledger_fixture_total(policy), 100);
    end();
}

TEST(the_pass_finds_what_has_no_mark_any_more)
{
    begin();
    uint64_t ann = ledger_fixture_voter("ann");
    uint64_t policy = ledger_fixture_policy(ann, "Trams");
    begin_again();
    ledger_fixture_pass_days(41);
    run("sweep");
    run("sweep-older");
    EXPECT_I64(ledger_fixture_total(policy), 0);
    run("pass");
    EXPECT_I64(ledger_fixture_total(policy), 100);
    end();
}

static int64_t pass_begun_us(void)
{
    return instance_info(tasks, "pass", 0).begun_us;
}

TEST(at_start_marks_are_followed_from_where_they_were_last)
{
    begin();
    Reason reason;
    uint64_t ann = ledger_fixture_voter("ann");
    EXPECT_STATUS(tasks_catch_up(tasks, &reason), STATUS_OK);
    while (tasks_turn(tasks) == 0)
        ;
    uint64_t policy = ledger_fixture_policy(ann, "Trams");
    int64_t passed_us = pass_begun_us();
    EXPECT(passed_us > 0);
    begin_again();
    ledger_fixture_pass_days(5); /* nobody runs */
    EXPECT_I64(ledger_fixture_total(policy), 0);
    EXPECT_STATUS(tasks_catch_up(tasks, &reason), STATUS_OK);
    EXPECT_I64(ledger_fixture_total(policy), 100);
    EXPECT_I64(pass_begun_us(), passed_us); /* no need for that */
    end();
}

TEST(at_start_all_voters_come_first_when_the_last_pass_is_long_ago)
{
    begin();
    Reason reason;
    uint64_t ann = ledger_fixture_voter("ann");
    EXPECT_STATUS(tasks_catch_up(tasks, &reason), STATUS_OK);
    int64_t first_us = pass_begun_us();
    uint64_t policy = ledger_fixture_policy(ann, "Trams");
    begin_again();
    ledger_fixture_pass_days(60);
    EXPECT_STATUS(tasks_catch_up(tasks, &reason), STATUS_OK);
    EXPECT(pass_begun_us() > first_us);
    EXPECT_I64(ledger_fixture_total(policy), 100);
    end();
}

TEST(a_recount_sees_a_sum_that_is_wrong)
{
    begin();
    uint64_t ann = ledger_fixture_voter("ann");
    uint64_t policy = ledger_fixture_policy(ann, "Trams");
    run("project");
    run("recount");
    BUFFER_SCOPE Buffer value = {0};
    Sum wrong = {.ver = 7, .count = {.total = 4711}};
    ledger_put_sum(&value, &wrong);
    Slice row = ledger_count_row(fixture.arena, 0, policy, ledger_shard(ann));
    instance_damage(&TABLE_POLICY_VOTERS, row, SLICE("sum"), buffer_slice(&value));
    Reason reason = {.rule = ""};
    EXPECT_STATUS(tasks_run(tasks, SLICE("recount"), &reason), STATUS_CORRUPT);
    EXPECT(strstr(reason.rule, "4711") != NULL);
    end();
}

/* ---- Policies ---------------------------------------------------------------------------------------------------- */

static Slice name_of(uint64_t policy)
{
    Policy read = {.id = 0};
    EXPECT_STATUS(policies_fresh(fixture.policies, policy, fixture.arena, &read), STATUS_OK);
    return read.text.name;
}

TEST(a_deletion_ends_after_its_appeal_and_the_text_goes)
{
    begin();
    uint64_t ann = ledger_fixture_voter("ann");
    uint64_t policy = ledger_fixture_policy(ann, "Trams");
    ledger_fixture_move(policy, POLICY_PENDING_DELETION);
    ledger_fixture_pass_days(13);
    run("moves");
    EXPECT_I64(ledger_fixture_state(policy), POLICY_PENDING_DELETION);
    ledger_fixture_pass_days(1);
    test_world_pass(&fixture.own, US_PER_S);
    run("moves");
    EXPECT_I64(ledger_fixture_state(policy), POLICY_DELETED);
    EXPECT_I64(name_of(policy).size, 0);
    EXPECT_I64(found("moves"), 1);
    run("moves");
    EXPECT_I64(found("moves"), 0);
    end();
}

TEST(an_appeal_keeps_the_policy)
{
    begin();
    uint64_t ann = ledger_fixture_voter("ann");
    uint64_t policy = ledger_fixture_policy(ann, "Trams");
    ledger_fixture_move(policy, POLICY_PENDING_DELETION);
    ledger_fixture_pass_days(10);
    ledger_fixture_move(policy, POLICY_ACTIVE);
    ledger_fixture_pass_days(10);
    run("moves");
    EXPECT_I64(ledger_fixture_state(policy), POLICY_ACTIVE);
    EXPECT_SLICE(name_of(policy), SLICE("Trams"));
    end();
}

TEST(a_deleted_text_that_was_left_goes)
{
    begin();
    uint64_t ann = ledger_fixture_voter("ann");
    uint64_t policy = ledger_fixture_policy(ann, "Trams");
    ledger_fixture_move(policy, POLICY_PENDING_DELETION);
    ledger_fixture_move(policy, POLICY_DELETED); /* and then the process died */
    EXPECT_SLICE(name_of(policy), SLICE("Trams"));
    run("moves");
    EXPECT_I64(name_of(policy).size, 0);
    end();
}

TEST(a_policy_that_cannot_be_read_stops_no_pass)
{
    begin();
    uint64_t ann = ledger_fixture_voter("ann");
    ledger_fixture_pass_days(7);
    uint64_t first = ledger_fixture_policy(ann, "Trams"),
             second = ledger_fixture_policy(ann, "Railways");
    ledger_fixture_move(second, POLICY_PENDING_DELETION);
    ledger_fixture_pass_days(15);
    instance_damage(&TABLE_POLICIES, ledger_u64(fixture.arena, first), SLICE("state"),
                    SLICE("nonsense"));
    static const char *const NAMES[] = {"moves", "lists"};
    for (size_t i = 0; i < 2; i++) {
        Reason reason = {.rule = ""};
        EXPECT_STATUS(tasks_run(tasks, slice_from(NAMES[i]), &reason), STATUS_CORRUPT);
        TaskInfo info = instance_info(tasks, NAMES[i], 0);
        EXPECT(!info.under_way && info.whole_us == 0 && info.ended_us > 0);
        EXPECT_I64(info.errors, i == 0 ? 1 : 2); /* the lists look at policies, and at themselves */
        EXPECT_SLICE(info.error,
                     SLICE("a policy cannot be read and was left out; `verify` names it"));
    }
    EXPECT_I64(ledger_fixture_state(second), POLICY_DELETED);
    end();
}

/* A policy that waits for the entry `version` at `seq` of the voter. */
static uint64_t pending(uint64_t voter, uint64_t seq, Id version)
{
    Reason reason = {.rule = ""};
    NewPolicy policy = {.text = {.name = SLICE("Boats"), .category = LEDGER_FIXTURE_CATEGORY},
                        .creator = voter,
                        .seq = seq,
                        .version = version,
                        .time_us = clock_now_us(fixture.world.clock)};
    EXPECT_STATUS(policies_next_id(fixture.policies, &policy.id), STATUS_OK);
    EXPECT_STATUS(policies_create(fixture.policies, &policy, &reason), STATUS_OK);
    return policy.id;
}

TEST(a_creation_whose_save_never_came_is_void_after_a_day)
{
    begin();
    uint64_t ann = ledger_fixture_voter("ann");
    uint64_t policy = pending(ann, 1, id_new(fixture.world.clock, fixture.world.random));
    run("moves");
    EXPECT_I64(ledger_fixture_state(policy), POLICY_PENDING);
    ledger_fixture_pass_days(1);
    run("moves");
    EXPECT_I64(ledger_fixture_state(policy), POLICY_VOID);
    EXPECT_I64(ledger_fixture_show(ann).seq, 1); /* the fence */
    run("moves");
    EXPECT_I64(name_of(policy).size, 0);
    end();
}

TEST(a_creation_whose_save_is_there_becomes_active)
{
    begin();
    uint64_t ann = ledger_fixture_voter("ann");
    ledger_fixture_policy(ann, "Trams");
    uint64_t policy = pending(ann, 1, ledger_fixture_show(ann).version);
    run("moves");
    EXPECT_I64(ledger_fixture_state(policy), POLICY_ACTIVE);
    end();
}

TEST(a_merge_that_was_left_half_done_is_ended)
{
    begin();
    uint64_t source = instance_half_merged();
    run("moves");
    EXPECT_I64(ledger_fixture_state(source), POLICY_MERGING); /* it may still be at work */
    test_world_pass(&fixture.own, 61 * US_PER_S);
    run("moves");
    EXPECT_I64(ledger_fixture_state(source), POLICY_MERGED);
    end();
}

TEST(the_lists_are_corrected)
{
    begin();
    uint64_t ann = ledger_fixture_voter("ann");
    uint64_t policy = ledger_fixture_policy(ann, "Trams");
    ScanPage page;
    EXPECT_STATUS(
        store_scan(fixture.store, &TABLE_POLICY_INDEX, SLICE_EMPTY, 100, fixture.arena, &page),
        STATUS_OK);
    EXPECT(page.count > 0);
    size_t before = page.count;
    for (size_t i = 0; i < before; i++) {
        RowChange change = {&TABLE_POLICY_INDEX,
                            page.cells[i].row,
                            {.column = page.cells[i].cell.column,
                             .timestamp = clock_now_us(fixture.world.clock) + 1,
                             .is_delete = true}};
        EXPECT_STATUS(store_write(fixture.store, &(Batch){&change, 1, false}), STATUS_OK);
    }
    test_world_pass(&fixture.own, US_PER_S);
    run("lists");
    PolicyPage browsed = {.count = 0};
    PolicyQuery query = {.order = POLICIES_BY_NAME, .position = SLICE_EMPTY, .limit = 10};
    EXPECT_STATUS(policies_browse(fixture.policies, &query, fixture.arena, &browsed), STATUS_OK);
    EXPECT_I64(browsed.count, 1);
    EXPECT_I64(browsed.policies[0].id, policy);
    end();
}

/* ---- Accounts ---------------------------------------------------------------------------------------------------- */

TEST(names_of_unconfirmed_registrations_are_freed)
{
    begin();
    Registration person = {
        .name = SLICE("cid"), .email = SLICE("cid@example.org"), .without_password = true};
    Reason reason = {.rule = ""};
    uint64_t id = 0;
    Account account = {.id = 0};
    EXPECT_STATUS(accounts_register(fixture.accounts, &person, &id, &reason), STATUS_OK);
    ledger_fixture_pass_days(6);
    run("names");
    EXPECT_STATUS(accounts_read(fixture.accounts, id, fixture.arena, &account), STATUS_OK);
    EXPECT_I64(account.state, ACCOUNT_PENDING);
    ledger_fixture_pass_days(2);
    run("names");
    EXPECT_STATUS(accounts_read(fixture.accounts, id, fixture.arena, &account), STATUS_OK);
    EXPECT_I64(account.state, ACCOUNT_VOID);
    uint64_t again = 0;
    EXPECT_STATUS(accounts_register(fixture.accounts, &person, &again, &reason), STATUS_OK);
    end();
}

/* ---- Rankings ---------------------------------------------------------------------------------------------------- */

static int64_t shown(Ranking *ranking, uint64_t policy)
{
    RankPlace place = {.self = {.total = -1}};
    EXPECT_STATUS(ranking_place(ranking, &(RankQuery){0}, policy, &place), STATUS_OK);
    return place.self.total;
}

TEST(rankings_hear_of_others_and_of_another_generation)
{
    begin();
    uint64_t ann = ledger_fixture_voter("ann");
    ledger_fixture_pass_days(21);
    uint64_t policy = ledger_fixture_policy(ann, "Trams");
    ledger_fixture_project();
    Ranking *ranking = ranking_new(&(RankingOptions){.store = fixture.store,
                                                     .world = fixture.world,
                                                     .policies = fixture.policies,
                                                     .window_days = 3});
    EXPECT_STATUS(ranking_load(ranking, fixture.votes), STATUS_OK);
    tasks->options.ranking = ranking;
    EXPECT_I64(shown(ranking, policy), 100);
    ledger_fixture_save(ann, policy, 120);
    ledger_fixture_project();
    EXPECT_I64(shown(ranking, policy), 100);
    run("rankings");
    EXPECT_I64(shown(ranking, policy), 120);

    EXPECT_STATUS(votes_rebuild(fixture.votes, &(RebuildOptions){.settle_s = 1}), STATUS_OK);
    run("rankings");
    EXPECT_I64(found("rankings"), 1); /* loaded anew */
    EXPECT_I64(shown(ranking, policy), 120);
    run("rankings");
    EXPECT_I64(found("rankings"), 0);

    ledger_fixture_pass_days(3);
    run("checkpoint");
    EXPECT_I64(found("checkpoint"), 3);
    run("checkpoint");
    EXPECT_I64(found("checkpoint"), 0);
    ledger_fixture_move(policy, POLICY_PENDING_DELETION);
    ledger_fixture_pass_days(15);
    run("moves");
    RankPlace place;
    EXPECT_STATUS(ranking_place(ranking, &(RankQuery){0}, policy, &place), STATUS_NOT_FOUND);
    ranking_free(ranking);
    end();
}

/* ---- All together ------------------------------------------------------------------------------------------------ */

TEST(two_instances_at_once_count_nothing_twice)
{
    enum { VOTERS = 20, SAVES = 30 };
    begin();
    uint64_t voters[VOTERS], policy = 0;
    for (int i = 0; i < VOTERS; i++)
        voters[i] = ledger_fixture_voter(
            arena_text(fixture.arena, arena_print(fixture.arena, "voter%d", i)));
    ledger_fixture_pass_days(21);
    policy = ledger_fixture_policy(voters[0], "Trams");
    Votes *other_votes = ledger_fixture_instance();
    TasksOptions options = tasks->options;
    options.votes = other_votes;
    Tasks *other = tasks_new(&options);
    tasks_start(tasks);
    tasks_start(other);
    for (int i = 0; i < SAVES; i++)
        for (int k = 0; k < VOTERS; k++) {
            ledger_fixture_save(voters[k], policy, 120 + i);
            if (k % 7 == 0)
                test_world_pass(&fixture.own, 61 * US_PER_S);
        }
    tasks_stop(tasks);
    tasks_stop(other);
    run("pass");
    EXPECT_I64(ledger_fixture_total(policy), VOTERS * (120 + SAVES - 1));
    Recount recount = {0};
    EXPECT_STATUS(votes_recount(fixture.votes, policy, &recount), STATUS_OK);
    EXPECT_I64(recount.cells, recount.sums);
    EXPECT_I64(recount.voters, VOTERS);
    tasks_free(other);
    votes_free(other_votes);
    end();
}

/* ---- Official answers -------------------------------------------------------------------------------------------- */

typedef struct Teller {
    int told;
    uint64_t policy;
    Status status;
} Teller;

static Status tell(void *self, uint64_t policy, Reason *reason)
{
    Teller *teller = self;
    (void)reason;
    teller->told++;
    teller->policy = policy;
    return teller->status;
}

static void hear(void *self, uint64_t policy, uint64_t account)
{
    (void)account;
    *(uint64_t *)self = policy;
}

TEST(who_listens_hears_of_a_policy_that_a_task_moved)
{
    begin();
    uint64_t heard = 0, policy = ledger_fixture_policy(ledger_fixture_voter("ann"), "Trams");
    tasks->options.listener = (LeavingListener){hear, &heard};
    ledger_fixture_move(policy, POLICY_PENDING_DELETION);
    run("moves");
    EXPECT_I64(heard, 0);
    ledger_fixture_pass_days(15);
    run("moves");
    EXPECT_I64(heard, policy);
    end();
}

static Tasks *answering(Ranking *ranking, Teller *teller)
{
    return tasks_new(&(TasksOptions){.store = fixture.store,
                                     .world = fixture.world,
                                     .accounts = fixture.accounts,
                                     .policies = fixture.policies,
                                     .votes = fixture.votes,
                                     .ranking = ranking,
                                     .creation_grace_s = S_PER_DAY,
                                     .address = "here",
                                     .answer_teller = {tell, teller}});
}

static AnswerState answer_state(uint64_t policy)
{
    AnswerState state = {.is_due = true};
    EXPECT_STATUS(answers_read(fixture.policies, policy, fixture.arena, &state), STATUS_OK);
    return state;
}

TEST(an_answer_becomes_due_once_and_those_who_answer_are_told)
{
    ledger_fixture_begin();
    Teller teller = {.status = STATUS_OK};
    Ranking *ranking = ranking_new(&(RankingOptions){.store = fixture.store,
                                                     .world = fixture.world,
                                                     .policies = fixture.policies,
                                                     .window_days = 3});
    tasks = answering(ranking, &teller);
    uint64_t ann = ledger_fixture_voter("ann"), bob = ledger_fixture_voter("bob");
    uint64_t trams = ledger_fixture_policy(ann, "Trams"),
             bikes = ledger_fixture_policy(bob, "Bikes");
    ledger_fixture_pass_days(30);
    ledger_fixture_save(ann, trams, 150);
    ledger_fixture_project();
    EXPECT_STATUS(ranking_load(ranking, fixture.votes), STATUS_OK);
    run("answers"); /* without a threshold nothing is ever due */
    EXPECT(!answer_state(trams).is_due);
    EXPECT_STATUS(settings_set(accounts_settings(fixture.accounts), SLICE("answer_threshold"),
                               SLICE("150"), 0, NULL),
                  STATUS_OK);
    test_world_pass(&fixture.own, 3600 * US_PER_S);
    /* A teller that fails is asked again, and the note that it is due stands. */
    teller.status = STATUS_UNAVAILABLE;
    EXPECT_STATUS(tasks_run(tasks, SLICE("answers"), &(Reason){0}), STATUS_UNAVAILABLE);
    EXPECT(answer_state(trams).is_due && !answer_state(trams).is_told);
    EXPECT_I64(answer_state(trams).due_votes, 150);
    EXPECT(!answer_state(bikes).is_due);
    teller = (Teller){.status = STATUS_OK};
    run("answers");
    EXPECT_I64(teller.told, 1);
    EXPECT_I64(teller.policy, trams);
    EXPECT(answer_state(trams).is_told);
    /* Not again, by whichever instance. */
    Tasks *other = answering(ranking, &teller);
    run("answers");
    EXPECT_STATUS(tasks_run(other, SLICE("answers"), &(Reason){0}), STATUS_OK);
    EXPECT_I64(teller.told, 1);
    tasks_free(other);
    /* One that has its answer already needs nobody. */
    AnswerRequest want = {.outcome = OUTCOME_ACCEPTED, .text = SLICE("Yes."), .author = ann};
    EXPECT_STATUS(answers_give(fixture.policies, bikes, &want, NULL), STATUS_OK);
    ledger_fixture_save(bob, bikes, 200);
    ledger_fixture_project();
    EXPECT_STATUS(ranking_load(ranking, fixture.votes), STATUS_OK);
    run("answers");
    EXPECT(answer_state(bikes).is_due);
    EXPECT_I64(teller.told, 1);
    tasks_free(tasks);
    ranking_free(ranking);
    ledger_fixture_end();
}

/* ---- E-mails that a crash left out ------------------------------------------------------------------------------- */

static void hide(uint64_t policy)
{
    PolicyMove move = {.state = POLICY_PENDING_DELETION, .reason = SLICE("Spam.")};
    EXPECT_STATUS(policies_move(fixture.policies, policy, POLICY_ACTIVE, &move, &(Reason){0}),
                  STATUS_OK);
}

TEST(policies_that_changed_lately_are_asked_for_their_e_mails_again)
{
    ledger_fixture_begin();
    Teller teller = {.status = STATUS_OK};
    tasks = tasks_new(&(TasksOptions){.store = fixture.store,
                                      .world = fixture.world,
                                      .accounts = fixture.accounts,
                                      .policies = fixture.policies,
                                      .votes = fixture.votes,
                                      .creation_grace_s = S_PER_DAY,
                                      .address = "here",
                                      .hidden_teller = {tell, &teller}});
    uint64_t trams = ledger_fixture_policy(ledger_fixture_voter("ann"), "Trams");
    test_world_pass(&fixture.own, 7 * S_PER_DAY * US_PER_S);
    run("letters");
    run("letters-older");
    EXPECT_I64(teller.told, 0); /* it was created too long ago */
    hide(trams);
    run("letters");
    EXPECT_I64(teller.told, 1);
    EXPECT_I64(teller.policy, trams);
    /* What could not be queued is asked for again, and what is older only by the other task. */
    teller.status = STATUS_UNAVAILABLE;
    EXPECT_STATUS(tasks_run(tasks, SLICE("letters"), &(Reason){0}), STATUS_UNAVAILABLE);
    teller = (Teller){.status = STATUS_OK};
    test_world_pass(&fixture.own, 3 * 3600 * US_PER_S);
    run("letters");
    EXPECT_I64(teller.told, 0);
    run("letters-older");
    EXPECT_I64(teller.told, 1);
    test_world_pass(&fixture.own, 6 * S_PER_DAY * US_PER_S);
    run("letters-older");
    EXPECT_I64(teller.told, 1);
    tasks_free(tasks);
    ledger_fixture_end();
}

/* ---- Letters ------------------------------------------------------------------------------------------------------ */

typedef struct Told {
    int times;
    int64_t period;
    Status answer;
} Told;

static Status tell_digest(void *self, const DigestRequest *want, const DigestPeriod *period,
                          Reason *reason)
{
    Told *told = self;
    (void)want, (void)reason;
    told->times++;
    told->period = period->number;
    return told->answer;
}

TEST(a_letter_is_asked_for_once_a_period_and_again_when_it_failed)
{
    begin();
    Told told = {.answer = STATUS_OK};
    Reason reason = {.rule = ""};
    uint64_t alice = ledger_fixture_voter("digested");
    Tasks *own = tasks_new(&(TasksOptions){.store = fixture.store,
                                           .world = fixture.world,
                                           .accounts = fixture.accounts,
                                           .policies = fixture.policies,
                                           .votes = fixture.votes,
                                           .creation_grace_s = S_PER_DAY,
                                           .address = "there",
                                           .digest_teller = {tell_digest, &told}});
    EXPECT_STATUS(tasks_run(own, SLICE("digests"), &reason), STATUS_OK);
    EXPECT_I64(told.times, 0);
    EXPECT_STATUS(digests_set(fixture.accounts, alice, DIGEST_DAILY), STATUS_OK);
    EXPECT_STATUS(tasks_run(own, SLICE("digests"), &reason), STATUS_OK);
    EXPECT_I64(told.times, 0); /* no period has ended since */
    ledger_fixture_pass_days(1);
    told.answer = STATUS_UNAVAILABLE;
    EXPECT_STATUS(tasks_run(own, SLICE("digests"), &reason), STATUS_UNAVAILABLE);
    told.answer = STATUS_OK;
    EXPECT_STATUS(tasks_run(own, SLICE("digests"), &reason), STATUS_OK);
    EXPECT_STATUS(tasks_run(own, SLICE("digests"), &reason), STATUS_OK);
    EXPECT_I64(told.times, 2);
    int64_t first = told.period;
    ledger_fixture_pass_days(1);
    EXPECT_STATUS(tasks_run(own, SLICE("digests"), &reason), STATUS_OK);
    EXPECT_I64(told.times, 3);
    EXPECT_I64(told.period, first + 1);
    EXPECT_STATUS(digests_set(fixture.accounts, alice, DIGEST_NEVER), STATUS_OK);
    ledger_fixture_pass_days(1);
    EXPECT_STATUS(tasks_run(own, SLICE("digests"), &reason), STATUS_OK);
    EXPECT_I64(told.times, 3);
    tasks_free(own);
    end();
}
