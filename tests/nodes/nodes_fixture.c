/* nodes_fixture.c -- see nodes_fixture.h. */
#include "nodes_fixture.h"

#include "world.h"

NodesFixture fixture;

static Nodes *open_nodes(void)
{
    NodesOptions options = {
        .store = &fixture.faulty.store, .world = contract_world(), .vault = test_vault()};
    return nodes_new(&options);
}

void nodes_fresh_service(void)
{
    snprintf(fixture.service, sizeof fixture.service, "sync-1.%d", 5 + fixture.services++);
    NodeService service = node_service_default(SYNC);
    EXPECT_STATUS(nodes_service_add(fixture.nodes, &service, &fixture.reason), STATUS_OK);
}

void nodes_begin(void)
{
    Store *store = contract_fresh_site();
    fixture = (NodesFixture){.reason = {.rule = ""}};
    faulty_init(&fixture.faulty, store, contract_arena());
    fixture.nodes = open_nodes();
    nodes_fresh_service();
}

void nodes_end(void)
{
    nodes_free(fixture.nodes);
    contract_end();
}

void nodes_restart(void)
{
    faulty_arrive(&fixture.faulty, 0); /* what is late comes when it is told to */
    nodes_free(fixture.nodes);
    fixture.nodes = open_nodes();
}

Slice node_url(const char *name)
{
    return arena_print(contract_arena(), "https://%s.example", name);
}

void node_add(const char *name, uint64_t capacity, uint64_t load, int64_t available)
{
    NodeNew node = {node_url(name), capacity, load, available, false, false};
    EXPECT_STATUS(nodes_add(fixture.nodes, SYNC, &node, &fixture.reason), STATUS_OK);
}

NodeInfo node_info(const char *name)
{
    NodeInfo *list;
    size_t count;
    EXPECT_STATUS(nodes_list(fixture.nodes, SYNC, contract_arena(), &list, &count, &fixture.reason),
                  STATUS_OK);
    for (size_t i = 0; i < count; i++)
        if (slice_equal(list[i].url, node_url(name)))
            return list[i];
    test_fail(__FILE__, __LINE__, "there is no node %s", name);
}

NodeWant want_of(NodeAct act)
{
    return (NodeWant){.act = act,
                      .generation = NODE_NO_NUMBER,
                      .keys_changed_at = NODE_NO_NUMBER,
                      .client_state = SLICE_EMPTY};
}

Slice user_email(const char *name)
{
    return arena_print(contract_arena(), "%s@%s.example", name, fixture.service);
}

Status user_ask(const char *name, NodeWant want, const char *node, NodeUser *ret_user)
{
    NodeCall call = {.email = user_email(name), .want = want, .node = SLICE_EMPTY};
    if (node != NULL)
        call.node = node_url(node);
    nodes_call(fixture.nodes, SYNC, &call, contract_arena());
    fixture.reason = call.reason;
    if (ret_user != NULL && call.status == STATUS_OK)
        *ret_user = call.user;
    return call.status;
}

NodeUser user_get(const char *name)
{
    NodeUser user = {0};
    EXPECT_STATUS(user_ask(name, want_of(NODE_ACT_GET), NULL, &user), STATUS_OK);
    return user;
}

NodeUser user_create(const char *name)
{
    NodeUser user = {0};
    EXPECT_STATUS(user_ask(name, want_of(NODE_ACT_CREATE), NULL, &user), STATUS_OK);
    return user;
}

NodeUser user_update(const char *name, const char *client_state, int64_t generation)
{
    NodeUser user = {0};
    NodeWant want = want_of(NODE_ACT_UPDATE);
    want.generation = generation;
    want.has_client_state = client_state != NULL;
    if (client_state != NULL)
        want.client_state = slice_from(client_state);
    EXPECT_STATUS(user_ask(name, want, NULL, &user), STATUS_OK);
    return user;
}

void user_replace(const char *name)
{
    EXPECT_STATUS(nodes_replace(fixture.nodes, SYNC, user_email(name), &fixture.reason), STATUS_OK);
}

void expect_settled(void)
{
    NodeInfo *list;
    size_t count;
    int64_t now_s = contract_now_us() / US_PER_S;
    EXPECT_STATUS(nodes_sweep(fixture.nodes, now_s - 7200, now_s), STATUS_OK);
    EXPECT_STATUS(nodes_list(fixture.nodes, SYNC, contract_arena(), &list, &count, &fixture.reason),
                  STATUS_OK);
    for (size_t i = 0; i < count; i++) {
        NodeCount counted;
        EXPECT_STATUS(nodes_recount(fixture.nodes, SYNC, list[i].url, &counted, &fixture.reason),
                      STATUS_OK);
        EXPECT(counted.exact);
        EXPECT_I64(counted.takes, 0);
        EXPECT_I64(counted.owed, 0);
        EXPECT_I64(counted.load, counted.holders);
        EXPECT(list[i].view.load <= list[i].view.capacity);
        EXPECT(list[i].view.available >= 0);
        EXPECT((uint64_t)list[i].view.available <= list[i].view.capacity - list[i].view.load);
    }
}
