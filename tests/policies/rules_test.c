/* rules_test.c -- the moves of a policy, all of them and no others, and where a policy stands: policy_rules.h. */
#include "policies/policy_rules.h"
#include "test.h"

/* voting: from each state (row) to each state (column); + is a move, a is one only as an appeal. */
static const char *const ALLOWED[POLICY_STATE_COUNT] = {
    /*                    PENDING ACTIVE MERGING MERGED RETIRED P-DELETION DELETED VOID */
    [POLICY_PENDING] = ".+.....+", [POLICY_ACTIVE] = "..+.++..",
    [POLICY_MERGING] = ".+.+....", [POLICY_MERGED] = "........",
    [POLICY_RETIRED] = ".....+..", [POLICY_PENDING_DELETION] = ".a..a.+.",
    [POLICY_DELETED] = "........", [POLICY_VOID] = "........",
};

enum { LIST_MAX = POLICY_MOVES_MAX + 1 };

static PolicyMove list[LIST_MAX];

static PolicyFacts facts_of(const PolicyState *states, size_t count)
{
    for (size_t i = 0; i < count; i++)
        list[i] = (PolicyMove){.state = states[i], .time_us = 10 * (int64_t)(i + 1)};
    return (PolicyFacts){1, list, count};
}

TEST(every_move_of_the_table_and_no_other)
{
    for (int from = 0; from < POLICY_STATE_COUNT; from++)
        for (int to = 0; to < POLICY_STATE_COUNT; to++) {
            Reason reason = {.rule = ""};
            PolicyFacts facts = facts_of(&(PolicyState){(PolicyState)from}, 1);
            Status expected = ALLOWED[from][to] == '+' ? STATUS_OK : STATUS_REFUSED;
            Status status = policy_check_move(&facts, (PolicyState)to, &reason);
            if (status != expected)
                test_fail(__FILE__, __LINE__, "%s to %s is %s",
                          policy_state_text((PolicyState)from), policy_state_text((PolicyState)to),
                          status_name(status));
            EXPECT((status == STATUS_OK) == (reason.rule[0] == '\0'));
        }
}

TEST(an_appeal_leads_back_to_the_state_before_and_nowhere_else)
{
    for (int before = 0; before < POLICY_STATE_COUNT; before++)
        for (int to = 0; to < POLICY_STATE_COUNT; to++) {
            if (ALLOWED[before][POLICY_PENDING_DELETION] != '+')
                continue;
            PolicyFacts facts =
                facts_of((PolicyState[]){(PolicyState)before, POLICY_PENDING_DELETION}, 2);
            bool allowed = to == before || to == POLICY_DELETED;
            EXPECT_STATUS(policy_check_move(&facts, (PolicyState)to, NULL),
                          allowed ? STATUS_OK : STATUS_REFUSED);
        }
}

/* Merging and falling back, again and again; then what must always be possible is possible. */
TEST(detours_end_and_every_policy_can_still_be_deleted)
{
    static const PolicyState end[] = {POLICY_RETIRED, POLICY_PENDING_DELETION, POLICY_DELETED};
    PolicyFacts facts = facts_of(&(PolicyState){POLICY_ACTIVE}, 1);
    while (policy_check_move(&facts, POLICY_MERGING, NULL) == STATUS_OK) {
        list[facts.move_count++] = (PolicyMove){.state = POLICY_MERGING};
        EXPECT_STATUS(policy_check_move(&facts, POLICY_ACTIVE, NULL), STATUS_OK);
        EXPECT_STATUS(policy_check_move(&facts, POLICY_MERGED, NULL), STATUS_OK);
        list[facts.move_count++] = (PolicyMove){.state = POLICY_ACTIVE};
    }
    EXPECT(facts.move_count >= POLICY_MOVES_DETOUR);
    for (int i = 0; i < 3; i++) {
        EXPECT_STATUS(policy_check_move(&facts, end[i], NULL), STATUS_OK);
        list[facts.move_count++] = (PolicyMove){.state = end[i]};
    }
    EXPECT(facts.move_count <= POLICY_MOVES_MAX);
}

TEST(appeals_end_too)
{
    PolicyFacts facts = facts_of(&(PolicyState){POLICY_ACTIVE}, 1);
    for (;;) {
        EXPECT_STATUS(policy_check_move(&facts, POLICY_PENDING_DELETION, NULL), STATUS_OK);
        list[facts.move_count++] = (PolicyMove){.state = POLICY_PENDING_DELETION};
        EXPECT(facts.move_count < POLICY_MOVES_MAX);
        if (policy_check_move(&facts, POLICY_ACTIVE, NULL) != STATUS_OK)
            break;
        list[facts.move_count++] = (PolicyMove){.state = POLICY_ACTIVE};
    }
    EXPECT_STATUS(policy_check_move(&facts, POLICY_DELETED, NULL), STATUS_OK);
}

TEST(times_increase_whatever_the_clock_says)
{
    PolicyFacts none = {1, NULL, 0}, one = facts_of(&(PolicyState){POLICY_ACTIVE}, 1);
    EXPECT_I64(policy_move_time(&none, 5), 5);
    EXPECT_I64(policy_move_time(&one, 5), 11);
    EXPECT_I64(policy_move_time(&one, 10), 11);
    EXPECT_I64(policy_move_time(&one, 11), 11);
    EXPECT_I64(policy_move_time(&one, 500), 500);
}

TEST(only_active_and_merging_policies_are_in_lists)
{
    for (int state = 0; state < POLICY_STATE_COUNT; state++)
        EXPECT(policy_state_listed((PolicyState)state) ==
               (state == POLICY_ACTIVE || state == POLICY_MERGING));
}

/* ---- Standing --------------------------------------------------------------------------------------------------- */

enum { BOOK = POLICY_MERGE_DEPTH + 2 };

static PolicyMove moves[BOOK][4];
static PolicyFacts book_facts[BOOK];

static const PolicyFacts *find(void *self, uint64_t id)
{
    (void)self;
    return id >= 1 && id < BOOK && book_facts[id].move_count > 0 ? &book_facts[id] : NULL;
}

static const PolicyLookup BOOK_OF_TEST = {find, NULL};

static void begin_book(void)
{
    memset(book_facts, 0, sizeof book_facts);
}

static void moved(uint64_t id, PolicyState state, int64_t time_us, uint64_t other)
{
    PolicyFacts *facts = &book_facts[id];
    *facts = (PolicyFacts){id, moves[id], facts->move_count};
    moves[id][facts->move_count++] =
        (PolicyMove){.state = state, .time_us = time_us, .other = other};
}

static void expect_standing(uint64_t id, int64_t time_us, uint64_t root, PolicyState state,
                            PolicyState before)
{
    PolicyStanding standing;
    EXPECT(policy_standing(&BOOK_OF_TEST, id, time_us, &standing));
    EXPECT_I64(standing.root, root);
    EXPECT_I64(standing.state, state);
    EXPECT_I64(standing.before, before);
    EXPECT_I64(standing.move->state, before);
}

TEST(a_policy_stands_by_its_last_move_that_is_not_later)
{
    PolicyStanding standing;
    begin_book();
    moved(1, POLICY_PENDING, 10, 0);
    moved(1, POLICY_ACTIVE, 20, 0);
    moved(1, POLICY_RETIRED, 30, 0);
    EXPECT(!policy_standing(&BOOK_OF_TEST, 1, 9, &standing));
    expect_standing(1, 10, 1, POLICY_PENDING, POLICY_PENDING);
    expect_standing(1, 19, 1, POLICY_PENDING, POLICY_PENDING);
    expect_standing(1, 20, 1, POLICY_ACTIVE, POLICY_ACTIVE);
    expect_standing(1, 30, 1, POLICY_RETIRED, POLICY_RETIRED);
    EXPECT_I64(policy_standing_time(&BOOK_OF_TEST, 1), 30);
}

TEST(a_member_stands_where_its_root_stands)
{
    begin_book();
    moved(1, POLICY_ACTIVE, 10, 0);
    moved(1, POLICY_MERGING, 20, 2);
    moved(1, POLICY_MERGED, 30, 2);
    moved(2, POLICY_ACTIVE, 12, 0);
    moved(2, POLICY_MERGING, 40, 3);
    moved(2, POLICY_MERGED, 50, 3);
    moved(3, POLICY_ACTIVE, 14, 0);
    moved(3, POLICY_PENDING_DELETION, 60, 0);
    moved(3, POLICY_DELETED, 70, 0);
    expect_standing(1, 29, 1, POLICY_MERGING, POLICY_MERGING);
    expect_standing(1, 30, 2, POLICY_ACTIVE, POLICY_ACTIVE);
    expect_standing(1, 40, 2, POLICY_MERGING, POLICY_MERGING);
    expect_standing(1, 50, 3, POLICY_ACTIVE, POLICY_ACTIVE);
    expect_standing(1, 65, 3, POLICY_PENDING_DELETION, POLICY_ACTIVE);
    expect_standing(2, 70, 3, POLICY_DELETED, POLICY_DELETED);
    EXPECT_I64(policy_standing_time(&BOOK_OF_TEST, 1), 70);
}

TEST(a_way_that_is_broken_or_too_long_leads_nowhere)
{
    PolicyStanding standing;
    begin_book();
    moved(1, POLICY_MERGED, 10, 2);
    EXPECT(!policy_standing(&BOOK_OF_TEST, 1, 10, &standing));
    begin_book();
    for (uint64_t id = 1; id <= POLICY_MERGE_DEPTH; id++)
        moved(id, POLICY_MERGED, 10, id + 1);
    moved(POLICY_MERGE_DEPTH + 1, POLICY_ACTIVE, 10, 0);
    EXPECT(!policy_standing(&BOOK_OF_TEST, 1, 10, &standing));
    expect_standing(2, 10, POLICY_MERGE_DEPTH + 1, POLICY_ACTIVE, POLICY_ACTIVE);
}
