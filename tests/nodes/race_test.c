/* race_test.c -- many at once: one record for a user, one slot for a record, never more than there are. */
#include <stdatomic.h>

#include "nodes_fixture.h"

typedef struct Crowd {
    int users; /* clients ask for so many users in turn */
    int each;  /* requests of a client */
    NodeAct act;
    _Atomic int ok, full, other;
    _Atomic uint64_t uid, different;
} Crowd;

static void ask(int index, void *context)
{
    Crowd *crowd = context;
    ARENA_SCOPE Arena *arena = arena_new();
    for (int i = 0; i < crowd->each; i++) {
        arena_reset(arena);
        int user = crowd->users == 0 ? 0 : (index * crowd->each + i) % crowd->users;
        NodeCall call = {.email = arena_print(arena, "u%d@%s.example", user, fixture.service),
                         .want = want_of(crowd->act),
                         .node = SLICE_EMPTY};
        nodes_call(fixture.nodes, SYNC, &call, arena);
        if (call.status == STATUS_OK) {
            uint64_t none = 0;
            atomic_fetch_add(&crowd->ok, 1);
            if (!atomic_compare_exchange_strong(&crowd->uid, &none, call.user.uid) &&
                none != call.user.uid)
                atomic_fetch_add(&crowd->different, 1);
        } else if (call.status == STATUS_UNAVAILABLE &&
                   strcmp(call.reason.field, "no-capacity") == 0) {
            atomic_fetch_add(&crowd->full, 1);
        } else {
            atomic_fetch_add(&crowd->other, 1);
        }
    }
}

TEST(fifty_first_requests_for_one_user_are_one_record)
{
    nodes_begin();
    node_add("a", 100, 0, 100);
    Crowd crowd = {.users = 1, .each = 1, .act = NODE_ACT_CREATE};
    contract_threads(50, ask, &crowd);
    EXPECT_I64(crowd.ok, 50);
    EXPECT_I64(crowd.different, 0);
    EXPECT_I64(node_info("a").view.load, 1);
    expect_settled();
    nodes_end();
}

TEST(fifty_gets_of_a_replaced_user_are_one_record)
{
    nodes_begin();
    node_add("a", 100, 0, 100);
    user_create("u0");
    user_replace("u0");
    Crowd crowd = {.users = 1, .each = 1, .act = NODE_ACT_GET};
    contract_threads(50, ask, &crowd);
    EXPECT_I64(crowd.ok, 50);
    EXPECT_I64(crowd.different, 0);
    EXPECT_I64(node_info("a").view.load, 1);
    expect_settled();
    nodes_end();
}

TEST(fifty_users_for_ten_slots_are_ten)
{
    nodes_begin();
    node_add("a", 6, 0, NODE_NO_NUMBER);
    node_add("b", 4, 0, NODE_NO_NUMBER);
    Crowd crowd = {.users = 50, .each = 1, .act = NODE_ACT_CREATE};
    contract_threads(50, ask, &crowd);
    EXPECT_I64(crowd.ok, 10);
    EXPECT_I64(crowd.full, 40);
    EXPECT_NODE("a", 6, 0);
    EXPECT_NODE("b", 4, 0);
    expect_settled();
    nodes_end();
}

TEST(loads_of_many_clients_on_twenty_nodes_add_up)
{
    nodes_begin();
    char name[8];
    uint64_t sum = 0;
    for (int i = 0; i < 20; i++) {
        snprintf(name, sizeof name, "n%d", i);
        node_add(name, 60, 0, NODE_NO_NUMBER);
    }
    Crowd crowd = {.users = 1000, .each = 25, .act = NODE_ACT_CREATE};
    contract_threads(40, ask, &crowd);
    EXPECT_I64(crowd.ok, 1000);
    EXPECT_I64(crowd.other, 0);
    EXPECT_STATUS(nodes_tidy(fixture.nodes), STATUS_OK);
    for (int i = 0; i < 20; i++) {
        snprintf(name, sizeof name, "n%d", i);
        NodeInfo info = node_info(name);
        EXPECT(info.view.load <= 60);
        sum += info.view.load;
    }
    EXPECT_I64(sum, 1000);
    expect_settled();
    nodes_end();
}
