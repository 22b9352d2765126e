/* settle_test.c -- the rule for UNKNOWN (store_update): every branch of it on a store that lies, and then at random.
 *
 * The update under test takes the cell "head" from absent to "ours" and leaves the proof "log"; the rival takes it to
 * "theirs". Whatever is answered must stay true when all that was late has arrived: OK means the proof is there, CONFLICT and
 * UNAVAILABLE mean it is not and will not be. UNKNOWN is always allowed to be wrong about nothing. */
#include "scripted_store.h"

#include "contract.h"
#include "world.h"

static const Slice ROW = {"row", 3};
static const Slice HEAD = {"head", 4};
static const Slice SIDE = {"side", 4};
static const Slice LOG = {"log", 3};

static ScriptedStore scripted;
static Condition our_condition;
static Change our_changes[2];
static Update ours;
static Condition their_condition;
static Change their_changes[2];
static Update theirs;

static Update update_of(Condition *condition, Change *changes, Slice proof)
{
    return (Update){.table = &CONTRACT_COND_D,
                    .row = ROW,
                    .conditions = condition,
                    .condition_count = 1,
                    .changes = changes,
                    .change_count = 2,
                    .proof = proof};
}

static void begin(void)
{
    Store *real = contract_fresh(); /* before the arena is asked for */
    scripted_store_init(&scripted, real, contract_arena());
    our_condition = when_absent(HEAD);
    our_changes[0] = put(HEAD, SLICE("ours"), 0);
    our_changes[1] = put(LOG, SLICE("our proof"), 0);
    ours = update_of(&our_condition, our_changes, LOG);
    their_condition = when_absent(HEAD);
    their_changes[0] = put(HEAD, SLICE("theirs"), 0);
    their_changes[1] = put(SLICE("their log"), SLICE("x"), 0);
    theirs = update_of(&their_condition, their_changes, SLICE("their log"));
    scripted.rival = &theirs;
}

/* A rival that builds on our update instead of racing it. */
static void let_rival_follow(void)
{
    their_condition = when_equal(HEAD, SLICE("ours"));
}

static bool proof_is_there(void)
{
    Cell cell;
    return contract_read(&CONTRACT_COND_D, ROW, LOG, &cell) == STATUS_OK &&
           slice_equal(cell.value, SLICE("our proof"));
}

/* Runs the update, lets everything late arrive, and holds the answer against the truth. */
static Status settle(int tries, Found *ret_found)
{
    Status status = store_update(&scripted.store, &ours, tries, contract_arena(), ret_found);
    scripted_store_deliver(&scripted);
    if (status == STATUS_OK)
        EXPECT(proof_is_there());
    else if (status != STATUS_UNKNOWN)
        EXPECT(!proof_is_there());
    return status;
}

static void expect_settled(int tries, Status status, int attempts)
{
    EXPECT_STATUS(settle(tries, NULL), status);
    EXPECT_I64(scripted.attempts, attempts);
    contract_end();
}

TEST(an_answer_is_taken_as_it_is)
{
    begin();
    EXPECT_STATUS(settle(3, NULL), STATUS_OK);
    EXPECT_I64(scripted.attempts, 1);
    EXPECT_I64(scripted.serial_reads, 0);
    contract_end();
}

TEST(a_conflict_on_the_first_attempt_is_a_conflict)
{
    begin();
    Found found = {false, SLICE_EMPTY};
    scripted.steps[0] = (ScriptedStep){MEANWHILE_RIVAL, FATE_HONEST};
    EXPECT_STATUS(settle(3, &found), STATUS_CONFLICT);
    EXPECT_I64(scripted.attempts, 1);
    EXPECT_I64(scripted.serial_reads, 0);
    EXPECT(found.present);
    EXPECT_SLICE(found.value, SLICE("theirs"));
    contract_end();
}

TEST(unavailable_before_anything_arrived_is_unavailable)
{
    begin();
    scripted.steps[0].fate = FATE_REFUSED;
    expect_settled(3, STATUS_UNAVAILABLE, 1);
}

TEST(done_but_the_answer_was_lost_is_ok_by_the_proof)
{
    begin();
    scripted.steps[0].fate = FATE_DONE;
    expect_settled(3, STATUS_OK, 1);
}

TEST(one_try_is_enough_when_the_proof_is_there)
{
    begin();
    scripted.steps[0].fate = FATE_DONE;
    expect_settled(1, STATUS_OK, 1);
}

TEST(not_moved_is_sent_again)
{
    begin();
    scripted.steps[0].fate = FATE_LOST;
    expect_settled(3, STATUS_OK, 2);
}

TEST(it_is_sent_as_often_as_was_said_and_stays_unknown)
{
    begin();
    for (int i = 0; i < SCRIPTED_STEPS; i++)
        scripted.steps[i].fate = FATE_LOST;
    EXPECT_STATUS(settle(4, NULL), STATUS_UNKNOWN);
    EXPECT_I64(scripted.attempts, 4);
    EXPECT(!proof_is_there());
    contract_end();
}

TEST(moved_on_without_the_proof_is_a_conflict)
{
    begin();
    Found found = {false, SLICE_EMPTY};
    scripted.steps[0].fate = FATE_LOST;
    scripted.reads[0].before = MEANWHILE_RIVAL;
    EXPECT_STATUS(settle(3, &found), STATUS_CONFLICT);
    EXPECT_STATUS(scripted.rival_status, STATUS_OK);
    EXPECT_I64(scripted.attempts, 1);
    EXPECT(found.present);
    EXPECT_SLICE(found.value, SLICE("theirs"));
    contract_end();
}

TEST(done_and_then_changed_by_another_is_ok)
{
    begin();
    let_rival_follow();
    scripted.steps[0].fate = FATE_DONE;
    scripted.reads[0].before = MEANWHILE_RIVAL;
    EXPECT_STATUS(settle(3, NULL), STATUS_OK);
    EXPECT_STATUS(scripted.rival_status, STATUS_OK);
    EXPECT_CELL(&CONTRACT_COND_D, ROW, HEAD, SLICE("theirs"));
    contract_end();
}

/* The second attempt is refused because the first has arrived in the meantime: that is a success. */
TEST(a_conflict_with_oneself_is_ok)
{
    begin();
    scripted.steps[0].fate = FATE_LATE;
    scripted.steps[1].before = MEANWHILE_DELIVER;
    expect_settled(3, STATUS_OK, 2);
}

TEST(a_late_arrival_at_any_read_is_noticed)
{
    for (int moment = 0; moment < 6; moment++) {
        begin();
        scripted.steps[0].fate = FATE_LATE;
        scripted.reads[moment].before = MEANWHILE_DELIVER;
        EXPECT_STATUS(settle(3, NULL), STATUS_OK);
    }
    contract_end();
}

TEST(a_late_arrival_followed_by_another_writer_is_ok)
{
    for (int moment = 0; moment < 5; moment++) {
        begin();
        let_rival_follow();
        scripted.steps[0].fate = FATE_LATE;
        scripted.reads[moment].before = MEANWHILE_DELIVER;
        scripted.reads[moment + 1].before = MEANWHILE_RIVAL;
        EXPECT_STATUS(settle(3, NULL), STATUS_OK);
    }
    contract_end();
}

TEST(another_writer_at_any_read_is_a_conflict_or_comes_too_late)
{
    for (int moment = 0; moment < 6; moment++) {
        begin();
        scripted.steps[0].fate = FATE_LOST;
        scripted.reads[moment].before = MEANWHILE_RIVAL;
        Status status = settle(3, NULL);
        EXPECT(status == (scripted.rival_status == STATUS_OK ? STATUS_CONFLICT : STATUS_OK));
    }
    contract_end();
}

TEST(another_writer_before_the_repeat_is_a_conflict)
{
    begin();
    Found found = {false, SLICE_EMPTY};
    scripted.steps[0].fate = FATE_LOST;
    scripted.steps[1].before = MEANWHILE_RIVAL;
    EXPECT_STATUS(settle(3, &found), STATUS_CONFLICT);
    EXPECT_I64(scripted.attempts, 2);
    EXPECT_SLICE(found.value, SLICE("theirs"));
    contract_end();
}

TEST(without_answers_to_reads_it_stays_unknown)
{
    static const Status ANSWERS[] = {STATUS_UNAVAILABLE, STATUS_UNKNOWN, STATUS_CORRUPT};
    static const Fate FATES[] = {FATE_LOST, FATE_DONE, FATE_LATE};
    for (int i = 0; i < 9; i++) {
        begin();
        for (int k = 0; k < SCRIPTED_STEPS; k++)
            scripted.steps[k].fate = FATES[i % 3];
        for (int k = 0; k < SCRIPTED_READS; k++)
            scripted.reads[k].status = ANSWERS[i / 3];
        EXPECT_STATUS(settle(3, NULL), STATUS_UNKNOWN);
    }
    contract_end();
}

TEST(a_read_that_is_answered_later_settles_it)
{
    begin();
    scripted.steps[0].fate = FATE_DONE;
    scripted.reads[0].status = scripted.reads[1].status = STATUS_UNAVAILABLE;
    EXPECT_STATUS(settle(5, NULL), STATUS_OK);
    contract_end();
}

/* Any single read fails: the answer may become UNKNOWN, never a wrong yes or no (settle checks that). */
TEST(one_failed_read_makes_nothing_wrong)
{
    for (int moment = 0; moment < 4; moment++)
        for (int rival = 0; rival < 2; rival++)
            for (int fate = FATE_LOST; fate <= FATE_LATE; fate++) {
                begin();
                scripted.steps[0].fate = (Fate)fate;
                scripted.steps[1].fate = FATE_LOST;
                scripted.reads[moment].status = STATUS_UNAVAILABLE;
                if (rival)
                    scripted.reads[moment + 1].before = MEANWHILE_RIVAL;
                (void)!settle(2, NULL);
            }
    contract_end();
}

/* After an attempt that may have arrived, a later refusal says nothing about the first. */
TEST(unavailable_after_unknown_is_not_unavailable)
{
    begin();
    scripted.steps[0].fate = FATE_LATE;
    scripted.steps[1].fate = scripted.steps[2].fate = scripted.steps[3].fate = FATE_REFUSED;
    EXPECT_STATUS(settle(3, NULL), STATUS_UNKNOWN);
    EXPECT(proof_is_there());
    begin();
    scripted.steps[0].fate = FATE_DONE;
    scripted.reads[0].status = STATUS_UNAVAILABLE;
    scripted.steps[1].fate = FATE_REFUSED;
    Status status = settle(4, NULL);
    EXPECT(status == STATUS_OK || status == STATUS_UNKNOWN);
    contract_end();
}

TEST(a_proof_with_another_value_is_not_ours)
{
    begin();
    their_changes[1] = put(LOG, SLICE("their proof"), 0);
    theirs.proof = LOG;
    scripted.steps[0].fate = FATE_LOST;
    scripted.reads[0].before = MEANWHILE_RIVAL;
    EXPECT_STATUS(settle(3, NULL), STATUS_CONFLICT);
    contract_end();
}

TEST(one_of_several_conditions_that_moved_is_enough)
{
    begin();
    Condition both[] = {when_absent(HEAD), when_absent(SIDE)};
    Found found[2] = {{true, SLICE("?")}, {false, SLICE("?")}};
    ours.conditions = both;
    ours.condition_count = 2;
    their_condition = when_absent(SIDE);
    their_changes[0] = put(SIDE, SLICE("taken"), 0);
    scripted.steps[0].fate = FATE_LOST;
    scripted.reads[0].before = MEANWHILE_RIVAL;
    EXPECT_STATUS(settle(3, found), STATUS_CONFLICT);
    EXPECT(!found[0].present && found[1].present);
    EXPECT_SLICE(found[1].value, SLICE("taken"));
    contract_end();
}

TEST(a_bad_update_is_refused_before_anything_is_sent)
{
    begin();
    ours.proof = SLICE("elsewhere");
    EXPECT_STATUS(store_update(&scripted.store, &ours, 3, contract_arena(), NULL), STATUS_INVALID);
    EXPECT_I64(scripted.attempts, 0);
    contract_end();
}

TEST(found_is_untouched_unless_it_is_a_conflict)
{
    static const Fate FATES[] = {FATE_HONEST, FATE_LOST, FATE_DONE, FATE_REFUSED};
    for (int i = 0; i < 4; i++) {
        begin();
        Found found = {true, SLICE("untouched")};
        for (int k = 0; k < SCRIPTED_STEPS; k++)
            scripted.steps[k].fate = FATES[i];
        EXPECT(settle(2, &found) != STATUS_CONFLICT);
        EXPECT(found.present);
        EXPECT_SLICE(found.value, SLICE("untouched"));
    }
    contract_end();
}

/* ---- Several ------------------------------------------------------------------------------------------------ */

static bool proof_is_in(Slice row)
{
    Cell cell;
    return contract_read(&CONTRACT_COND_D, row, LOG, &cell) == STATUS_OK;
}

TEST(of_several_each_is_settled_by_itself)
{
    enum { COUNT = 6 };
    static const Slice ROWS[COUNT] = {{"a", 1}, {"b", 1}, {"c", 1}, {"d", 1}, {"e", 1}, {"f", 1}};
    static const Fate FATES[COUNT] = {FATE_HONEST,  FATE_LOST, FATE_DONE,
                                      FATE_REFUSED, FATE_LATE, FATE_HONEST};
    static const Status DUE[COUNT] = {STATUS_OK,          STATUS_OK, STATUS_OK,
                                      STATUS_UNAVAILABLE, STATUS_OK, STATUS_CONFLICT};
    Update updates[COUNT];
    Status statuses[COUNT];
    begin();
    Condition missed = when_equal(HEAD, SLICE("another"));
    for (size_t i = 0; i < COUNT; i++) {
        updates[i] = ours;
        updates[i].row = ROWS[i];
        scripted.steps[i].fate = FATES[i];
    }
    updates[5].conditions = &missed;
    EXPECT_STATUS(store_update_each(&scripted.store, updates, COUNT, 3, contract_arena(), statuses),
                  STATUS_OK);
    scripted_store_deliver(&scripted);
    for (size_t i = 0; i < COUNT; i++) {
        EXPECT_STATUS(statuses[i], DUE[i]);
        EXPECT(proof_is_in(ROWS[i]) == (DUE[i] == STATUS_OK));
    }
    EXPECT_I64(scripted.attempts, COUNT + 2); /* what was lost, and what was late, once more */
    contract_end();
}

TEST(one_bad_update_of_several_refuses_all_before_anything_is_sent)
{
    begin();
    Update updates[] = {ours, ours};
    Status statuses[2];
    updates[0].row = SLICE("another");
    updates[1].proof = SLICE_EMPTY;
    EXPECT_STATUS(store_update_each(&scripted.store, updates, 2, 3, contract_arena(), statuses),
                  STATUS_INVALID);
    EXPECT_I64(scripted.attempts, 0);
    contract_end();
}

/* ---- At random --------------------------------------------------------------------------------------------- */

enum { SCRIPTS = 1500 };

static void random_script(Random luck, int number)
{
    Slice row = arena_print(contract_arena(), "script %d", number);
    Store *real = scripted.real;
    scripted_store_init(&scripted, real, contract_arena());
    scripted.rival = &theirs;
    ours.row = theirs.row = row;
    their_condition =
        random_u64(luck) % 2 == 0 ? when_absent(HEAD) : when_equal(HEAD, SLICE("ours"));
    for (int i = 0; i < SCRIPTED_STEPS; i++)
        scripted.steps[i] =
            (ScriptedStep){(Meanwhile)(random_u64(luck) % 3), (Fate)(random_u64(luck) % 5)};
    for (int i = 0; i < SCRIPTED_READS; i++) {
        bool fails = random_u64(luck) % 5 == 0, happens = random_u64(luck) % 3 == 0;
        scripted.reads[i] =
            (ScriptedRead){happens ? (Meanwhile)(random_u64(luck) % 3) : MEANWHILE_NOTHING,
                           fails ? STATUS_UNAVAILABLE : STATUS_OK};
    }
}

TEST(no_script_of_lies_makes_a_wrong_answer)
{
    TestWorld own;
    const char *text = getenv("OSTRAKA_SEED");
    uint64_t seed = random_u64(world_real().random) >> 32;
    if (text != NULL)
        EXPECT_STATUS(slice_to_u64(slice_from(text), &seed), STATUS_OK);
    Random luck = test_world(&own, seed).random;
    int answers[STATUS_COUNT] = {0};
    printf("# seed %" PRIu64 "; OSTRAKA_SEED=%" PRIu64 " replays it\n", seed, seed);
    begin();
    for (int i = 0; i < SCRIPTS; i++) {
        Cell cell;
        random_script(luck, i);
        int tries = 1 + (int)(random_u64(luck) % 4);
        Status status;
        if (random_u64(luck) % 2 == 0)
            status = store_update(&scripted.store, &ours, tries, contract_arena(), NULL);
        else
            EXPECT_STATUS(
                store_update_each(&scripted.store, &ours, 1, tries, contract_arena(), &status),
                STATUS_OK);
        scripted_store_deliver(&scripted);
        bool done = contract_read(&CONTRACT_COND_D, ours.row, LOG, &cell) == STATUS_OK;
        answers[status]++;
        if ((status == STATUS_OK && !done) ||
            (status != STATUS_OK && status != STATUS_UNKNOWN && done))
            test_fail(__FILE__, __LINE__, "seed %" PRIu64 ", script %d: %s, and done is %d", seed,
                      i, status_name(status), done);
    }
    printf("# %d ok, %d conflict, %d unknown, %d unavailable\n", answers[STATUS_OK],
           answers[STATUS_CONFLICT], answers[STATUS_UNKNOWN], answers[STATUS_UNAVAILABLE]);
    EXPECT(answers[STATUS_OK] > 0 && answers[STATUS_CONFLICT] > 0 && answers[STATUS_UNKNOWN] > 0);
    contract_end();
}
