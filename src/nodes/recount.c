/* recount.c -- a node's users counted one by one, while the service goes on. */
#include "nodes/nodes_private.h"

static bool names_take(const UserSeen *user, uint64_t node, Slice take)
{
    bool named = user->head.state == NODE_USER_LIVE && user->head.node == node &&
                 slice_equal(id_slice(&user->head.take), take);
    for (size_t i = 0; i < user->owe_count && !named; i++)
        named = slice_equal(id_slice(&user->owes[i].take), take);
    return named;
}

/* Users of the node in one of the rows of its list. A slot that is owed counts until it is given back, which its cell on the node says. */
static Status count_listed(Nodes *nodes, uint64_t node, char shard, const Flight *flights,
                           size_t flight_count, NodeCount *count)
{
    ARENA_SCOPE Arena *arena = arena_new();
    ARENA_SCOPE Arena *one = arena_new();
    Page page;
    Query query = {.table = &TABLE_NODE_INDEX,
                   .row = node_index_row(node, slice_of(&shard, 1), arena),
                   .limit = 1000};
    do {
        TRY(store_slice(nodes->store, &query, arena, &page));
        for (size_t i = 0; i < page.count; i++) {
            UserSeen user;
            arena_reset(one);
            TRY(user_read(nodes, page.cells[i].column, one, &user));
            count->holders += user.head.state == NODE_USER_LIVE && user.head.node == node;
            for (size_t o = 0; o < user.owe_count; o++) {
                bool given = user.owes[o].node != node;
                for (size_t f = 0; f < flight_count && !given; f++)
                    given = !flights[f].taken && slice_equal(flights[f].id, user.owe_ids[o]);
                count->owed += !given;
            }
            query.after = page.cells[i].column;
        }
        query.resume = true;
    } while (page.more);
    return STATUS_OK;
}

Status nodes_recount(Nodes *nodes, Slice service, Slice url, NodeCount *ret_count, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    ServiceSeen seen;
    NodeSeen before, after;
    Flight *flights;
    size_t flight_count;
    NodeCount count = {0, 0, 0, 0, false};
    TRY(service_read(nodes, service, arena, &seen, reason));
    NodeSeen *node = service_node_by_url(&seen, url);
    if (node == NULL)
        return reason_set(reason, STATUS_NOT_FOUND, "node", "unknown node");
    TRY(node_flights(nodes, node->node, arena, &before, &flights, &flight_count));
    for (size_t i = 0; i < flight_count; i++) {
        UserSeen user;
        if (!flights[i].taken)
            continue;
        TRY(user_read(nodes, flights[i].flight.user, arena, &user));
        count.takes += !names_take(&user, node->node, flights[i].id);
    }
    for (char shard = 0; shard < NODE_SHARDS; shard++)
        TRY(count_listed(nodes, node->node, shard, flights, flight_count, &count));
    after = before;
    TRY(node_read(nodes, &after, arena));
    count.load = after.counters.load;
    count.exact = slice_equal(before.value, after.value);
    *ret_count = count;
    return STATUS_OK;
}
