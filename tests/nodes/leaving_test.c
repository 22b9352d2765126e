/* leaving_test.c -- users who are replaced or retired, and nodes that are emptied. */
#include "nodes_fixture.h"

TEST(a_node_that_is_emptied_loses_all_its_users_and_no_other_does)
{
    nodes_begin();
    NodeEmptied emptied;
    node_add("a", 10, 0, 10);
    node_add("b", 10, 0, 10);
    uint64_t before[6];
    char name[8];
    for (int i = 0; i < 6; i++) {
        snprintf(name, sizeof name, "u%d", i);
        before[i] = user_create(name).uid;
    }
    EXPECT_NODE("a", 3, 7);
    EXPECT_STATUS(nodes_decommission(fixture.nodes, SYNC, node_url("a"), NULL, 0, true, &emptied,
                                     &fixture.reason),
                  STATUS_OK);
    EXPECT_I64(emptied.replaced, 3);
    EXPECT_NODE("a", 0, 10);
    EXPECT_STATUS(nodes_decommission(fixture.nodes, SYNC, node_url("a"), NULL, 0, true, &emptied,
                                     &fixture.reason),
                  STATUS_OK);
    EXPECT_I64(emptied.replaced, 0);
    for (int i = 0; i < 6; i++) {
        snprintf(name, sizeof name, "u%d", i);
        NodeUser user = user_get(name);
        EXPECT_SLICE(user.url, node_url("b"));
        EXPECT((user.uid == before[i]) == (i % 2 == 1));
    }
    EXPECT_NODE("b", 6, 4);
    expect_settled();
    EXPECT_STATUS(nodes_decommission(fixture.nodes, SYNC, node_url("z"), NULL, 0, true, &emptied,
                                     &fixture.reason),
                  STATUS_NOT_FOUND);
    nodes_end();
}

TEST(of_a_list_only_those_who_are_there_leave)
{
    nodes_begin();
    NodeEmptied emptied;
    node_add("a", 10, 0, 10);
    const char *const names[] = {"u1", "u2", "u3", "u4", "u5"};
    uint64_t before[5];
    for (int i = 0; i < 5; i++)
        before[i] = user_create(names[i]).uid;
    Slice list[] = {user_email("u1"), user_email("u3"), user_email("stranger")};
    EXPECT_STATUS(nodes_decommission(fixture.nodes, SYNC, node_url("a"), list, 3, false, &emptied,
                                     &fixture.reason),
                  STATUS_OK);
    EXPECT_I64(emptied.replaced, 2);
    EXPECT_I64(emptied.other, 1);
    EXPECT_STATUS(nodes_decommission(fixture.nodes, SYNC, node_url("a"), list, 0, false, &emptied,
                                     &fixture.reason),
                  STATUS_OK);
    EXPECT_I64(emptied.replaced, 0);
    for (int i = 0; i < 5; i++)
        EXPECT((user_get(names[i]).uid == before[i]) == (i != 0 && i != 2));
    expect_settled();
    nodes_end();
}

TEST(replaced_twice_keeps_its_time)
{
    nodes_begin();
    node_add("a", 10, 0, 10);
    user_create("ada");
    user_replace("ada");
    user_replace("ada");
    EXPECT_NODE("a", 0, 10);
    EXPECT_STATUS(nodes_replace(fixture.nodes, SYNC, user_email("bob"), &fixture.reason),
                  STATUS_NOT_FOUND);
    nodes_end();
}

TEST(who_is_retired_is_so_in_every_service_and_gives_the_slot_back)
{
    nodes_begin();
    node_add("a", 10, 0, 10);
    uint64_t uid = user_create("ada").uid;
    EXPECT_STATUS(nodes_retire(fixture.nodes, user_email("ada"), &fixture.reason), STATUS_OK);
    EXPECT_NODE("a", 0, 10);
    NodeUser user = user_get("ada");
    EXPECT_I64(user.uid, uid);
    EXPECT(user.generation == NODE_GENERATION_MAX && user.state == NODE_USER_RETIRED);
    int64_t replaced_ms = user.replaced_ms;
    EXPECT(replaced_ms != NODE_NO_NUMBER);
    EXPECT_STATUS(nodes_retire(fixture.nodes, user_email("ada"), &fixture.reason), STATUS_OK);
    EXPECT_I64(user_get("ada").replaced_ms, replaced_ms);
    EXPECT_STATUS(user_ask("ada", want_of(NODE_ACT_VISIT), NULL, NULL), STATUS_REFUSED);
    EXPECT(strcmp(fixture.reason.field, "retired") == 0);
    EXPECT_NODE("a", 0, 10);
    EXPECT_STATUS(nodes_retire(fixture.nodes, user_email("bob"), &fixture.reason),
                  STATUS_NOT_FOUND);
    expect_settled();
    nodes_end();
}

TEST(who_was_replaced_can_be_retired_and_does_not_come_back)
{
    nodes_begin();
    NodeEmptied emptied;
    node_add("a", 10, 0, 10);
    user_create("ada");
    EXPECT_STATUS(nodes_decommission(fixture.nodes, SYNC, node_url("a"), NULL, 0, false, &emptied,
                                     &fixture.reason),
                  STATUS_OK);
    EXPECT_STATUS(nodes_retire(fixture.nodes, user_email("ada"), &fixture.reason), STATUS_OK);
    EXPECT(user_get("ada").state == NODE_USER_RETIRED);
    EXPECT_STATUS(nodes_remove(fixture.nodes, SYNC, node_url("a"), false, &fixture.reason),
                  STATUS_OK);
    EXPECT_STATUS(user_ask("ada", want_of(NODE_ACT_VISIT), NULL, NULL), STATUS_REFUSED);
    EXPECT(strcmp(fixture.reason.field, "retired") == 0);
    nodes_end();
}
