/* users_test.c -- records of users: first ones, key changes, and new ones after they were replaced. */
#include "nodes_fixture.h"

TEST(who_is_unknown_is_nobody_until_created)
{
    nodes_begin();
    node_add("a", 10, 0, 10);
    EXPECT_STATUS(user_ask("ada", want_of(NODE_ACT_GET), NULL, NULL), STATUS_NOT_FOUND);
    EXPECT_STATUS(user_ask("ada", want_of(NODE_ACT_UPDATE), NULL, NULL), STATUS_NOT_FOUND);
    NodeUser created = user_create("ada"), found = user_get("ada");
    EXPECT_I64(found.uid, created.uid);
    EXPECT_SLICE(found.url, node_url("a"));
    EXPECT_I64(user_create("ada").uid, created.uid); /* two first requests get the same one */
    EXPECT_NODE("a", 1, 9);
    EXPECT_I64(user_get("ADA").uid, created.uid);
    expect_settled();
    nodes_end();
}

TEST(what_was_created_with_is_what_is_found)
{
    nodes_begin();
    node_add("a", 10, 0, 10);
    NodeWant want = want_of(NODE_ACT_CREATE);
    want.generation = 42;
    want.keys_changed_at = 12;
    want.client_state = SLICE("aaa");
    want.has_client_state = true;
    EXPECT_STATUS(user_ask("ada", want, NULL, NULL), STATUS_OK);
    NodeUser user = user_get("ada");
    EXPECT_I64(user.generation, 42);
    EXPECT_I64(user.keys_changed_at, 12);
    EXPECT_SLICE(user.client_state, SLICE("aaa"));
    EXPECT_I64(user.old_count, 0);
    EXPECT_I64(user.replaced_ms, NODE_NO_NUMBER);
    nodes_end();
}

TEST(one_address_has_a_record_in_each_service)
{
    nodes_begin();
    NodeService other = node_service_default(SLICE("queue-1.0"));
    NodeNew node = {node_url("q"), 10, 0, 10, false, false};
    NodeCall call = {
        .email = user_email("ada"), .want = want_of(NODE_ACT_CREATE), .node = SLICE_EMPTY};
    node_add("a", 10, 0, 10);
    EXPECT_STATUS(nodes_service_add(fixture.nodes, &other, &fixture.reason), STATUS_OK);
    EXPECT_STATUS(nodes_add(fixture.nodes, other.name, &node, &fixture.reason), STATUS_OK);
    uint64_t first = user_create("ada").uid;
    nodes_call(fixture.nodes, other.name, &call, contract_arena());
    EXPECT_STATUS(call.status, STATUS_OK);
    EXPECT(call.user.uid != first);
    EXPECT_SLICE(call.user.url, node_url("q"));
    nodes_end();
}

TEST(numbers_rise_in_place_and_never_fall)
{
    nodes_begin();
    node_add("a", 10, 0, 10);
    uint64_t uid = user_create("ada").uid;
    EXPECT_I64(user_update("ada", NULL, 42).generation, 42);
    EXPECT_I64(user_update("ada", NULL, 17).generation, 42);
    NodeUser user = user_get("ada");
    EXPECT_I64(user.uid, uid);
    EXPECT_I64(user.generation, 42);
    nodes_end();
}

TEST(a_new_client_state_is_a_new_record_in_the_same_slot)
{
    nodes_begin();
    node_add("a", 10, 0, 10);
    node_add("b", 100, 0, 100);
    NodeUser first = user_create("ada"), second = user_update("ada", "aaa", 0);
    EXPECT(second.uid != first.uid);
    EXPECT_SLICE(second.url, first.url);
    EXPECT_I64(second.old_count, 1);
    EXPECT_SLICE(second.old_states[0], SLICE_EMPTY);
    EXPECT_I64(second.first_seen_ms, first.created_ms);
    EXPECT_NODE("a", 1, 9);
    NodeWant again = want_of(NODE_ACT_UPDATE);
    again.has_client_state = true;
    again.client_state = SLICE("aaa");
    EXPECT_STATUS(user_ask("ada", again, NULL, NULL), STATUS_REFUSED);
    again.client_state = SLICE_EMPTY;
    EXPECT_STATUS(user_ask("ada", again, NULL, NULL), STATUS_REFUSED);
    EXPECT_I64(user_get("ada").uid, second.uid);
    expect_settled();
    nodes_end();
}

TEST(no_state_that_was_seen_is_forgotten)
{
    nodes_begin();
    node_add("a", 10, 0, 10);
    user_create("ada");
    for (int i = 0; i < 25; i++) {
        char state[8];
        snprintf(state, sizeof state, "s%d", i);
        user_update("ada", state, i + 1);
    }
    user_replace("ada");
    NodeUser user = user_get("ada");
    EXPECT_SLICE(user.client_state, SLICE("s24"));
    EXPECT_I64(user.old_count, 25);
    NodeWant first = want_of(NODE_ACT_VISIT);
    first.has_client_state = true;
    first.client_state = SLICE("s0");
    first.generation = first.keys_changed_at = 1000;
    EXPECT_STATUS(user_ask("ada", first, NULL, NULL), STATUS_REFUSED);
    EXPECT(strcmp(fixture.reason.field, "invalid-client-state") == 0);
    EXPECT_NODE("a", 1, 9);
    expect_settled();
    nodes_end();
}

TEST(who_was_replaced_comes_back_with_the_same_numbers)
{
    nodes_begin();
    node_add("a", 10, 0, 10);
    NodeWant want = want_of(NODE_ACT_CREATE);
    NodeUser first, second;
    want.generation = 42;
    want.keys_changed_at = 12;
    want.client_state = SLICE("aaa");
    want.has_client_state = true;
    EXPECT_STATUS(user_ask("ada", want, NULL, &first), STATUS_OK);
    user_replace("ada");
    EXPECT_NODE("a", 0, 10);
    second = user_get("ada");
    EXPECT(second.uid != first.uid);
    EXPECT_I64(second.generation, 42);
    EXPECT_I64(second.keys_changed_at, 12);
    EXPECT_SLICE(second.client_state, SLICE("aaa"));
    EXPECT_I64(second.old_count, 0);
    EXPECT_I64(second.replaced_ms, NODE_NO_NUMBER);
    EXPECT_NODE("a", 1, 9);
    user_replace("ada");
    EXPECT_STATUS(user_ask("ada", want_of(NODE_ACT_UPDATE), NULL, NULL),
                  STATUS_OK); /* touches nothing */
    EXPECT_NODE("a", 0, 10);
    expect_settled();
    nodes_end();
}

TEST(no_new_users_and_old_ones_all_the_same)
{
    nodes_begin();
    NodeService closed = node_service_default(SYNC);
    node_add("a", 10, 0, 10);
    user_create("ada");
    user_replace("ada");
    closed.new_users = false;
    EXPECT_STATUS(nodes_service_set(fixture.nodes, &closed, &fixture.reason), STATUS_OK);
    EXPECT_STATUS(user_ask("bob", want_of(NODE_ACT_VISIT), NULL, NULL), STATUS_REFUSED);
    EXPECT_STATUS(user_ask("ada", want_of(NODE_ACT_VISIT), NULL, NULL), STATUS_OK);
    EXPECT_NODE("a", 1, 9);
    nodes_end();
}

TEST(users_stay_where_they_are_when_all_nodes_are_full_or_down)
{
    nodes_begin();
    bool yes = true;
    node_add("a", 1, 0, 1);
    uint64_t uid = user_create("ada").uid;
    EXPECT_I64(user_get("ada").uid, uid);
    EXPECT_STATUS(nodes_change(fixture.nodes, SYNC, node_url("a"), &(NodeChange){.downed = &yes},
                               &fixture.reason),
                  STATUS_OK);
    EXPECT_I64(user_get("ada").uid, uid);
    EXPECT_STATUS(user_ask("bob", want_of(NODE_ACT_CREATE), NULL, NULL), STATUS_UNAVAILABLE);
    EXPECT(strcmp(fixture.reason.field, "no-healthy-node") == 0);
    nodes_end();
}

TEST(a_move_takes_the_new_slot_and_gives_back_the_old)
{
    nodes_begin();
    NodeUser user;
    node_add("a", 10, 0, 10);
    node_add("b", 1, 1, 0);
    uint64_t first = user_create("ada").uid;
    EXPECT_STATUS(user_ask("ada", want_of(NODE_ACT_MOVE), "b", NULL), STATUS_UNAVAILABLE);
    EXPECT_I64(user_get("ada").uid, first);
    node_add("c", 5, 0, 5);
    EXPECT_STATUS(user_ask("ada", want_of(NODE_ACT_MOVE), "c", &user), STATUS_OK);
    EXPECT(user.uid != first);
    EXPECT_NODE("a", 0, 10);
    EXPECT_NODE("c", 1, 4);
    EXPECT_STATUS(user_ask("ada", want_of(NODE_ACT_MOVE), "c", &user), STATUS_OK); /* is there */
    EXPECT_NODE("c", 1, 4);
    EXPECT_STATUS(user_ask("bob", want_of(NODE_ACT_MOVE), "c", NULL), STATUS_NOT_FOUND);
    nodes_end();
}

TEST(bad_addresses_and_long_states_are_refused_by_name)
{
    nodes_begin();
    node_add("a", 10, 0, 10);
    NodeCall call = {
        .email = SLICE("nobody"), .want = want_of(NODE_ACT_CREATE), .node = SLICE_EMPTY};
    nodes_call(fixture.nodes, SYNC, &call, contract_arena());
    EXPECT_STATUS(call.status, STATUS_INVALID);
    EXPECT(strcmp(call.reason.field, "email") == 0);
    call.email = user_email("ada");
    call.want.has_client_state = true;
    call.want.client_state = contract_filler(NODE_CLIENT_STATE_MAX + 1, 'a');
    nodes_call(fixture.nodes, SYNC, &call, contract_arena());
    EXPECT_STATUS(call.status, STATUS_INVALID);
    EXPECT(strcmp(call.reason.field, "client_state") == 0);
    EXPECT_NODE("a", 0, 10);
    nodes_end();
}
