/* rules_test.c -- which node is chosen and what becomes of a record, without a store. */
#include "nodes/node_rules.h"
#include "test.h"
#include "world.h"

static const NodeChoice LEAST = {NODE_ORDER_RATIO, NODE_POLICY_LEAST, 1, NODE_RATE_ALL / 10};

static NodeView node(uint64_t id, uint64_t capacity, uint64_t load, int64_t available)
{
    return (NodeView){
        .node = id, .tie = id, .capacity = capacity, .load = load, .available = available};
}

static Random luck(void)
{
    static TestWorld own;
    return test_world(&own, 7).random;
}

/* The id of the node that is taken, 0 for none. */
static uint64_t take(const NodeChoice *choice, NodeView *nodes, size_t count)
{
    size_t at = node_take(choice, luck(), nodes, count);
    return at == NODE_NONE ? 0 : nodes[at].node;
}

TEST(what_takes_no_users_is_never_chosen)
{
    NodeView nodes[] = {node(1, 100, 0, 100), node(2, 100, 0, 100), node(3, 100, 1, 99),
                        node(4, 100, 2, 98), node(5, 100, 100, 5)};
    nodes[0].backoff = true;
    nodes[1].downed = true;
    EXPECT_I64(take(&LEAST, nodes, 5), 3);
    EXPECT_I64(nodes[2].load, 2);
    EXPECT_I64(nodes[2].available, 98);
    EXPECT(!nodes[3].changed && !nodes[4].changed);
    nodes[2].silent = true;
    nodes[3].state = NODE_STATE_CORDONED;
    EXPECT_I64(take(&LEAST, nodes, 5), 0);
    EXPECT(strcmp(node_lack(nodes, 5), "no-capacity") == 0);
    EXPECT(strcmp(node_lack(nodes, 4), "no-healthy-node") == 0);
    EXPECT(strcmp(node_lack(nodes, 0), "no-node-configured") == 0);
}

TEST(an_empty_node_is_first_in_both_orders)
{
    NodeView nodes[] = {node(1, 100000, 1, 10), node(2, 2, 0, 2)};
    EXPECT(node_compare(NODE_ORDER_RATIO, &nodes[1], &nodes[0]) > 0 ||
           node_compare(NODE_ORDER_RATIO, &nodes[1], &nodes[0]) < 0);
    EXPECT(node_compare(NODE_ORDER_RATIO, &nodes[1], &nodes[0]) < 0);
    EXPECT(node_compare(NODE_ORDER_LOG, &nodes[1], &nodes[0]) < 0);
    nodes[1].load = 1;
    EXPECT(node_compare(NODE_ORDER_RATIO, &nodes[1], &nodes[0]) > 0);
    /* ln 1 is 0 whatever the capacity: a tie, and the smaller id is first. */
    EXPECT(node_compare(NODE_ORDER_LOG, &nodes[1], &nodes[0]) > 0);
    nodes[1].tie = 0;
    EXPECT(node_compare(NODE_ORDER_LOG, &nodes[1], &nodes[0]) < 0);
}

TEST(full_nodes_release_what_they_can_and_then_there_is_none)
{
    NodeView nodes[] = {node(1, 8, 4, 1), node(2, 6, 4, 1)};
    const uint64_t expected[] = {1, 2, 1, 2, 1, 1, 0};
    for (size_t i = 0; i < 7; i++) {
        EXPECT_I64(take(&LEAST, nodes, 2), expected[i]);
        if (i < 4)
            EXPECT_I64(nodes[expected[i] - 1].available, 0);
    }
    EXPECT_I64(nodes[0].load, 8);
    EXPECT_I64(nodes[1].load, 6);
}

TEST(a_release_is_a_part_of_the_capacity_and_never_more_than_is_free)
{
    NodeView few = node(1, 100, 97, 0), all = node(1, 10, 3, 0), tiny = node(1, 4, 0, 0);
    NodeChoice whole = LEAST;
    EXPECT_I64(take(&LEAST, &few, 1), 1);
    EXPECT_I64(few.available, 2);
    whole.rate = NODE_RATE_ALL;
    EXPECT_I64(take(&whole, &all, 1), 1);
    EXPECT_I64(all.load, 4);
    EXPECT_I64(all.available, 6);
    EXPECT_I64(take(&LEAST, &tiny, 1), 1);
    EXPECT_I64(tiny.available, 0);
    EXPECT_I64(node_first_available(95, NODE_RATE_ALL / 10), 10);
    EXPECT_I64(node_first_available(1, NODE_RATE_ALL / 10), 1);
}

TEST(a_named_node_needs_a_slot_and_force_never_overrides_the_capacity)
{
    NodeView free_one = node(1, 10, 3, 1), none = node(1, 10, 3, 0), full = node(1, 10, 10, 3);
    EXPECT(node_take_named(&free_one, false));
    EXPECT(!node_take_named(&none, false));
    EXPECT(node_take_named(&none, true));
    EXPECT_I64(none.available, 0);
    EXPECT_I64(none.load, 4);
    EXPECT(!node_take_named(&full, true));
    EXPECT_I64(full.load, 10);
}

/* Against a plain statement of each policy, over many random services. */
TEST(every_choice_is_eligible_and_within_its_policy)
{
    TestWorld own;
    Random random = test_world(&own, 11).random;
    for (int round = 0; round < 20000; round++) {
        NodeView nodes[12];
        size_t count = 1 + random_u64(random) % 12, better = 0;
        for (size_t i = 0; i < count; i++) {
            nodes[i] = node(i + 1, 1 + random_u64(random) % 50, random_u64(random) % 50,
                            (int64_t)(random_u64(random) % 20) + 1);
            nodes[i].downed = random_u64(random) % 5 == 0;
            nodes[i].state =
                random_u64(random) % 6 == 0 ? NODE_STATE_DRAINING : NODE_STATE_ELIGIBLE;
        }
        NodeChoice choice = {random_u64(random) % NODE_ORDERS, random_u64(random) % NODE_POLICIES,
                             1 + (uint32_t)(random_u64(random) % 5), NODE_RATE_ALL / 10};
        NodeView before[12];
        memcpy(before, nodes, sizeof nodes);
        size_t at = node_take(&choice, random, nodes, count), eligible = 0;
        for (size_t i = 0; i < count; i++)
            eligible += node_is_eligible(&before[i]);
        EXPECT((at == NODE_NONE) == (eligible == 0));
        if (at == NODE_NONE)
            continue;
        EXPECT(node_is_eligible(&before[at]));
        for (size_t i = 0; i < count; i++)
            better += node_is_eligible(&before[i]) &&
                      node_compare(choice.order, &before[i], &before[at]) < 0;
        if (choice.policy == NODE_POLICY_LEAST)
            EXPECT_I64(better, 0);
        if (choice.policy == NODE_POLICY_TOP_N)
            EXPECT(better < choice.top);
        if (choice.policy == NODE_POLICY_P2C && eligible > 1)
            EXPECT(better < eligible - 1); /* never the last of all */
    }
}

TEST(two_choices_spread_a_burst_on_old_counters)
{
    NodeChoice choice = {NODE_ORDER_RATIO, NODE_POLICY_P2C, 1, NODE_RATE_ALL / 10};
    Random random = luck();
    int taken[20] = {0};
    for (int i = 0; i < 200; i++) {
        NodeView nodes[20];
        for (size_t n = 0; n < 20; n++)
            nodes[n] = node(n + 1, 1000, 10, 900);
        taken[node_take(&choice, random, nodes, 20)]++;
    }
    for (int n = 0; n < 20; n++)
        EXPECT(taken[n] <= 50);
}

/* ---- Records ----------------------------------------------------------------------------------------------------- */

static const NodeKnown LIVE = {NODE_USER_LIVE, 12, 1200, {"aaaa", 4}, false, false, false};

static NodeWant visit(int64_t generation, int64_t keys, const char *state)
{
    return (NodeWant){.act = NODE_ACT_VISIT,
                      .generation = generation,
                      .keys_changed_at = keys,
                      .client_state = slice_from(state),
                      .has_client_state = true,
                      .new_users = true};
}

static const char *refused(const NodeKnown *known, NodeWant want)
{
    static Reason reason;
    NodePlan plan;
    EXPECT_STATUS(node_judge(known, &want, &plan, &reason), STATUS_REFUSED);
    return reason.field;
}

static NodePlan planned(const NodeKnown *known, NodeWant want)
{
    NodePlan plan;
    Reason reason;
    EXPECT_STATUS(node_judge(known, &want, &plan, &reason), STATUS_OK);
    return plan;
}

TEST(a_generation_never_falls_and_none_stores_nothing)
{
    EXPECT(strcmp(refused(&LIVE, visit(10, 1200, "aaaa")), "invalid-generation") == 0);
    EXPECT(planned(&LIVE, visit(12, 1200, "aaaa")).step == NODE_STEP_ANSWER);
    EXPECT_I64(planned(&LIVE, visit(1300, 1200, "aaaa")).generation, 1300);
    NodePlan none = planned(&LIVE, visit(0, NODE_NO_NUMBER, "aaaa"));
    EXPECT(none.step == NODE_STEP_ANSWER);
    EXPECT_I64(none.generation, 12);
}

TEST(a_new_client_state_needs_newer_numbers_and_is_told_first)
{
    NodeKnown seen = LIVE;
    seen.seen = true;
    EXPECT(strcmp(refused(&LIVE, visit(12, 1300, "bbbb")), "invalid-client-state") == 0);
    EXPECT(strcmp(refused(&LIVE, visit(1300, 1200, "bbbb")), "invalid-client-state") == 0);
    EXPECT(strcmp(refused(&LIVE, visit(3, 1200, "bbbb")), "invalid-client-state") == 0);
    EXPECT(strcmp(refused(&LIVE, visit(1300, 1300, "")), "invalid-client-state") == 0);
    EXPECT(strcmp(refused(&seen, visit(1300, 1300, "bbbb")), "invalid-client-state") == 0);
    NodePlan plan = planned(&LIVE, visit(1300, 1300, "bbbb"));
    EXPECT(plan.step == NODE_STEP_RECORD && !plan.slot);
    EXPECT_SLICE(plan.client_state, SLICE("bbbb"));
    plan = planned(&LIVE, visit(NODE_NO_NUMBER, 1300, "bbbb"));
    EXPECT_I64(plan.generation, 1300);
}

TEST(keys_are_not_older_and_not_ahead_of_the_generation)
{
    NodeKnown known = {NODE_USER_LIVE, 1232, 1234, {"aaaa", 4}, false, false, false};
    EXPECT(strcmp(refused(&known, visit(1235, 1236, "aaaa")), "invalid-keysChangedAt") == 0);
    EXPECT(strcmp(refused(&known, visit(1235, 1233, "aaaa")), "invalid-keysChangedAt") == 0);
    EXPECT_I64(planned(&known, visit(1233, 1234, "aaaa")).generation, 1233);
    EXPECT_I64(planned(&known, visit(NODE_NO_NUMBER, 1235, "aaaa")).generation, 1235);
    EXPECT_I64(planned(&known, visit(1236, 1235, "aaaa")).keys_changed_at, 1235);
}

TEST(who_is_retired_is_answered_and_never_served)
{
    NodeKnown retired = LIVE;
    retired.state = NODE_USER_RETIRED;
    EXPECT(strcmp(refused(&retired, visit(NODE_NO_NUMBER, NODE_NO_NUMBER, "aaaa")), "retired") ==
           0);
    NodeWant get = {
        .act = NODE_ACT_GET, .generation = NODE_NO_NUMBER, .keys_changed_at = NODE_NO_NUMBER};
    NodePlan plan = planned(&retired, get);
    EXPECT(plan.step == NODE_STEP_ANSWER);
    EXPECT(plan.generation == NODE_GENERATION_MAX);
}

TEST(new_users_may_be_off_and_replaced_ones_come_back_all_the_same)
{
    NodeKnown nobody = {.state = NODE_USER_NONE, .client_state = SLICE_EMPTY}, replaced = LIVE;
    NodeWant want = visit(12, 1200, "aaaa");
    want.new_users = false;
    EXPECT(strcmp(refused(&nobody, want), "new-users-disabled") == 0);
    replaced.state = NODE_USER_REPLACED;
    NodePlan plan = planned(&replaced, want);
    EXPECT(plan.step == NODE_STEP_RECORD && plan.slot);
    EXPECT_I64(plan.generation, 12);
}
