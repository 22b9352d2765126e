/* nodes_fixture.h -- a service `sync-1.5` on the engine under test, and short forms of what its users ask for. */
#pragma once

#include "contract.h"
#include "faulty.h"
#include "nodes/nodes.h"

/* The service of the test. */
#define SYNC slice_from(fixture.service)

typedef struct NodesFixture {
    Faulty faulty;
    Nodes *nodes;
    char service[NODE_SERVICE_MAX + 1];
    int services;  /* that there were so far */
    Reason reason; /* of what was refused last */
} NodesFixture;
extern NodesFixture fixture;

/* An empty store with the service and no nodes: order ratio, least, a tenth at a time. */
void nodes_begin(void);
void nodes_end(void);
/* From now on another service, without nodes and users, on the same store. */
void nodes_fresh_service(void);
/* Another process on the same data: nothing of what was kept in memory is left. */
void nodes_restart(void);

/* URLs are made of a name: https://NAME.example. */
Slice node_url(const char *name);
void node_add(const char *name, uint64_t capacity, uint64_t load, int64_t available);
NodeInfo node_info(const char *name);
#define EXPECT_NODE(name, expected_load, expected_available)  \
    do {                                                      \
        NodeInfo info_ = node_info(name);                     \
        EXPECT_I64(info_.view.load, expected_load);           \
        EXPECT_I64(info_.view.available, expected_available); \
    } while (0)

NodeWant want_of(NodeAct act);
/* The call's status; ret_user (may be NULL) is its user. */
MUST_USE Status user_ask(const char *name, NodeWant want, const char *node, NodeUser *ret_user);
NodeUser user_get(const char *name);
NodeUser user_create(const char *name);
/* With a client state and a generation that rises with it. */
NodeUser user_update(const char *name, const char *client_state, int64_t generation);
void user_replace(const char *name);
Slice user_email(const char *name);

/* Settles all that is in flight, and counts every node: load = users + nothing else, and nothing is left over. */
void expect_settled(void);
