/* crash_test.c -- a fault at every call of the store: what was told holds, and after the sweep every slot is accounted for. */
#include "nodes_fixture.h"

typedef struct Story {
    const char *name;
    void (*prepare)(void);
    Status (*run)(void);
} Story;

static void two_nodes(void)
{
    node_add("a", 4, 0, 4);
    node_add("b", 4, 0, 4);
}

static void one_user(void)
{
    two_nodes();
    user_create("ada");
}

static void one_replaced(void)
{
    one_user();
    user_replace("ada");
}

static Status create(void)
{
    return user_ask("ada", want_of(NODE_ACT_CREATE), NULL, NULL);
}

static Status get(void)
{
    return user_ask("ada", want_of(NODE_ACT_GET), NULL, NULL);
}

static Status new_key(void)
{
    NodeWant want = want_of(NODE_ACT_UPDATE);
    want.has_client_state = true;
    want.client_state = SLICE("bbb");
    return user_ask("ada", want, NULL, NULL);
}

static Status move(void)
{
    return user_ask("ada", want_of(NODE_ACT_MOVE), "b", NULL);
}

static Status replace(void)
{
    return nodes_replace(fixture.nodes, SYNC, user_email("ada"), &fixture.reason);
}

static Status retire(void)
{
    return nodes_retire(fixture.nodes, user_email("ada"), &fixture.reason);
}

static Status empty(void)
{
    NodeEmptied emptied;
    return nodes_decommission(fixture.nodes, SYNC, node_url("a"), NULL, 0, true, &emptied,
                              &fixture.reason);
}

static const Story STORIES[] = {
    {"create", two_nodes, create},     {"get again", one_replaced, get},
    {"new key", one_user, new_key},    {"move", one_user, move},
    {"replace", one_user, replace},    {"retire", one_user, retire},
    {"decommission", one_user, empty},
};

/* Whatever the fault left: the sweep settles it, before or after what comes late and before or after repeats. */
static void finish(const Story *story, bool sweep_first)
{
    nodes_restart();
    if (sweep_first) {
        expect_settled();
        faulty_deliver(&fixture.faulty);
        expect_settled();
    }
    for (int i = 0; i < 3; i++) {
        Status again = story->run();
        EXPECT(again == STATUS_OK || again == STATUS_REFUSED);
    }
    EXPECT_STATUS(get(), STATUS_OK);
    expect_settled();
    faulty_deliver(&fixture.faulty);
    expect_settled();
}

static void strike(const Story *story, FaultFate fate, int lasts)
{
    bool struck = true;
    for (int run = 2; struck; run++) {
        int at = run / 2; /* each call twice */
        nodes_fresh_service();
        story->prepare();
        faulty_plan(&fixture.faulty, at, fate, lasts);
        Status told = story->run();
        struck = faulty_struck(&fixture.faulty);
        if (!struck)
            EXPECT_STATUS(told, STATUS_OK);
        finish(story, run % 2 == 0);
        EXPECT(at < 200);
    }
}

static void strike_all(FaultFate fate, int lasts)
{
    for (size_t i = 0; i < sizeof STORIES / sizeof STORIES[0]; i++) {
        printf("# %s\n", STORIES[i].name);
        nodes_begin();
        strike(&STORIES[i], fate, lasts);
        nodes_end();
    }
}

TEST(an_answer_that_is_lost_leaks_no_slot)
{
    strike_all(FAULT_DONE, FAULT_ONCE);
}

TEST(a_refused_call_leaks_no_slot)
{
    strike_all(FAULT_REFUSED, FAULT_ONCE);
}

TEST(a_write_that_comes_late_leaks_no_slot)
{
    strike_all(FAULT_LATE, FAULT_OUTAGE);
}

TEST(a_process_that_dies_at_any_call_leaks_no_slot)
{
    strike_all(FAULT_LOST, FAULT_FOREVER);
    strike_all(FAULT_DONE, FAULT_FOREVER);
}
