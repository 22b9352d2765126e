/* services_test.c -- services and nodes, and which node users get. Cases of the conformance list have its numbers. */
#include "nodes_fixture.h"

TEST(a_service_is_there_once)
{
    nodes_begin();
    NodeService service = node_service_default(SYNC), bad = service;
    EXPECT_STATUS(nodes_service_add(fixture.nodes, &service, &fixture.reason), STATUS_REFUSED);
    bad.name = SLICE("sync 1.5");
    EXPECT_STATUS(nodes_service_add(fixture.nodes, &bad, &fixture.reason), STATUS_INVALID);
    EXPECT(strcmp(fixture.reason.field, "name") == 0);
    bad = service;
    bad.choice.top = 0;
    EXPECT_STATUS(nodes_service_set(fixture.nodes, &bad, &fixture.reason), STATUS_INVALID);
    service.choice.policy = NODE_POLICY_P2C;
    EXPECT_STATUS(nodes_service_set(fixture.nodes, &service, &fixture.reason), STATUS_OK);
    NodeService read;
    EXPECT_STATUS(nodes_service(fixture.nodes, SYNC, contract_arena(), &read, &fixture.reason),
                  STATUS_OK);
    EXPECT_I64(read.choice.policy, NODE_POLICY_P2C);
    nodes_end();
}

TEST(an_unknown_service_is_an_error_and_writes_nothing)
{
    nodes_begin();
    NodeCall call = {
        .email = user_email("ada"), .want = want_of(NODE_ACT_CREATE), .node = SLICE_EMPTY};
    NodeNew node = {node_url("a"), 10, 0, NODE_NO_NUMBER, false, false};
    nodes_call(fixture.nodes, SLICE("x-1.0"), &call, contract_arena());
    EXPECT_STATUS(call.status, STATUS_NOT_FOUND);
    EXPECT(strcmp(call.reason.field, "service") == 0);
    EXPECT_STATUS(nodes_add(fixture.nodes, SLICE("x-1.0"), &node, &fixture.reason),
                  STATUS_NOT_FOUND);
    EXPECT_STATUS(nodes_replace(fixture.nodes, SLICE("x-1.0"), user_email("ada"), &fixture.reason),
                  STATUS_NOT_FOUND);
    ScanPage page;
    EXPECT_STATUS(
        store_scan(contract_store(), &TABLE_NODE_USERS, SLICE_EMPTY, 10, contract_arena(), &page),
        STATUS_OK);
    EXPECT_I64(page.count, 0);
    nodes_end();
}

TEST(a_new_node_hands_out_a_part_of_its_capacity)
{
    nodes_begin();
    node_add("a", 95, 0, NODE_NO_NUMBER);
    node_add("b", 1, 0, NODE_NO_NUMBER);
    node_add("c", 100, 9, 5);
    EXPECT_NODE("a", 0, 10);
    EXPECT_NODE("b", 0, 1);
    EXPECT_NODE("c", 9, 5);
    node_add("c", 100, 0, 50); /* again: nothing changes (10) */
    EXPECT_NODE("c", 9, 5);
    nodes_end();
}

TEST(bad_nodes_name_the_field)
{
    nodes_begin();
    NodeNew bad[] = {{SLICE_EMPTY, 10, 0, NODE_NO_NUMBER, false, false},
                     {node_url("a"), 0, 0, NODE_NO_NUMBER, false, false},
                     {node_url("a"), NODE_CAPACITY_MAX + 1, 0, NODE_NO_NUMBER, false, false},
                     {node_url("a"), 10, 11, NODE_NO_NUMBER, false, false},
                     {node_url("a"), 10, 5, 6, false, false}};
    const char *const fields[] = {"url", "capacity", "capacity", "load", "available"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        EXPECT_STATUS(nodes_add(fixture.nodes, SYNC, &bad[i], &fixture.reason), STATUS_INVALID);
        EXPECT(strcmp(fixture.reason.field, fields[i]) == 0);
    }
    nodes_end();
}

TEST(the_emptiest_node_that_takes_users_is_taken)
{
    nodes_begin();
    bool yes = true;
    node_add("a", 100, 0, 100);
    node_add("b", 100, 0, 100);
    node_add("c", 100, 1, 99);
    node_add("d", 100, 2, 98);
    EXPECT_STATUS(nodes_change(fixture.nodes, SYNC, node_url("a"), &(NodeChange){.backoff = &yes},
                               &fixture.reason),
                  STATUS_OK);
    EXPECT_STATUS(nodes_change(fixture.nodes, SYNC, node_url("b"), &(NodeChange){.downed = &yes},
                               &fixture.reason),
                  STATUS_OK);
    EXPECT_SLICE(user_create("ada").url, node_url("c"));
    EXPECT_NODE("a", 0, 100);
    EXPECT_NODE("c", 2, 98);
    EXPECT_NODE("d", 2, 98);
    nodes_end();
}

TEST(full_nodes_are_an_error_and_change_nothing)
{
    nodes_begin();
    NodeUser user;
    EXPECT_STATUS(user_ask("ada", want_of(NODE_ACT_CREATE), NULL, &user), STATUS_UNAVAILABLE);
    EXPECT(strcmp(fixture.reason.field, "no-node-configured") == 0);
    node_add("a", 100, 100, 0);
    node_add("b", 90, 90, 0);
    EXPECT_STATUS(user_ask("ada", want_of(NODE_ACT_CREATE), NULL, &user), STATUS_UNAVAILABLE);
    EXPECT(strcmp(fixture.reason.field, "no-capacity") == 0);
    EXPECT_NODE("a", 100, 0);
    EXPECT_STATUS(user_ask("ada", want_of(NODE_ACT_GET), NULL, &user), STATUS_NOT_FOUND);
    nodes_end();
}

TEST(seven_users_on_two_nodes_that_release)
{
    nodes_begin();
    node_add("n1", 8, 4, 1);
    node_add("n2", 6, 4, 1);
    const char *const expected[] = {"n1", "n2", "n1", "n2", "n1", "n1"};
    for (int i = 0; i < 6; i++) {
        char name[8];
        snprintf(name, sizeof name, "u%d", i);
        EXPECT_SLICE(user_create(name).url, node_url(expected[i]));
        if (i < 4)
            EXPECT_I64(node_info(expected[i]).view.available, 0);
    }
    EXPECT_STATUS(user_ask("u6", want_of(NODE_ACT_CREATE), NULL, NULL), STATUS_UNAVAILABLE);
    EXPECT_NODE("n1", 8, 0);
    EXPECT_NODE("n2", 6, 0);
    nodes_end();
}

TEST(a_named_node_takes_a_slot_like_any_other)
{
    nodes_begin();
    NodeUser user;
    node_add("a", 10, 0, 10);
    node_add("b", 2, 1, 1);
    EXPECT_STATUS(user_ask("ada", want_of(NODE_ACT_CREATE), "b", &user), STATUS_OK);
    EXPECT_SLICE(user.url, node_url("b"));
    EXPECT_NODE("b", 2, 0);
    EXPECT_STATUS(user_ask("bob", want_of(NODE_ACT_CREATE), "b", &user), STATUS_UNAVAILABLE);
    EXPECT_STATUS(user_ask("bob", want_of(NODE_ACT_CREATE), "z", &user), STATUS_NOT_FOUND);
    EXPECT_STATUS(user_ask("bob", want_of(NODE_ACT_GET), NULL, &user), STATUS_NOT_FOUND);
    nodes_end();
}

TEST(a_node_goes_when_nobody_is_there_or_by_force)
{
    nodes_begin();
    node_add("a", 10, 0, 10);
    node_add("b", 10, 0, 0);
    uint64_t first = user_create("ada").uid;
    EXPECT_STATUS(nodes_remove(fixture.nodes, SYNC, node_url("a"), false, &fixture.reason),
                  STATUS_REFUSED);
    EXPECT_STATUS(nodes_remove(fixture.nodes, SYNC, node_url("a"), true, &fixture.reason),
                  STATUS_OK);
    EXPECT_STATUS(nodes_remove(fixture.nodes, SYNC, node_url("a"), true, &fixture.reason),
                  STATUS_NOT_FOUND);
    NodeUser user = user_get("ada");
    EXPECT(user.uid != first);
    EXPECT_SLICE(user.url, node_url("b"));
    expect_settled();
    node_add("a", 5, 0, 5); /* the URL is free again, and is another node */
    EXPECT_NODE("a", 0, 5);
    nodes_end();
}

TEST(a_capacity_below_the_load_gives_nothing_until_it_fell)
{
    nodes_begin();
    uint64_t two = 2, nothing = 0;
    node_add("a", 10, 5, 5);
    EXPECT_STATUS(nodes_change(fixture.nodes, SYNC, node_url("a"), &(NodeChange){.capacity = &two},
                               &fixture.reason),
                  STATUS_OK);
    EXPECT_NODE("a", 5, 0);
    EXPECT_STATUS(user_ask("ada", want_of(NODE_ACT_CREATE), NULL, NULL), STATUS_UNAVAILABLE);
    EXPECT_STATUS(nodes_change(fixture.nodes, SYNC, node_url("a"),
                               &(NodeChange){.capacity = &nothing}, &fixture.reason),
                  STATUS_INVALID);
    nodes_end();
}
