/* settle.c -- what becomes of slots that are out: a take is used or comes back, a slot that is owed is given back once. The order of reading is what makes it
 * exact: the node first, the user then (nodes.h). */
#include "nodes/nodes_private.h"

static Status read_cell(Nodes *nodes, const Table *table, Slice row, Slice column, Arena *arena,
                        Slice *ret_value)
{
    Cell cell;
    Read read = {table, row, column, STORE_SERIAL};
    Status status = store_read(nodes->store, &read, arena, &cell);
    if (status == STATUS_NOT_FOUND) {
        *ret_value = SLICE_EMPTY;
        return STATUS_OK;
    }
    TRY(status);
    *ret_value = cell.value;
    return STATUS_OK;
}

/* Deletes one cell that has this value, with a receipt. CONFLICT: somebody else did. */
static Status delete_cell(Nodes *nodes, const Table *table, Slice row, Slice column, Slice value,
                          Arena *arena)
{
    Step step;
    Id id = nodes_fresh_id(nodes);
    step_begin(&step, table, row, 2, arena);
    step_when(&step, column, value);
    step_delete(&step, column);
    step_receipt(&step, &id);
    return step_run(nodes, &step);
}

static bool ids_equal(Slice bytes, Id id)
{
    return slice_equal(bytes, id_slice(&id));
}

/* A slot comes back to the counters. */
static NodeCounters with_slot_back(const NodeCounters *before)
{
    NodeCounters after = *before;
    after.load -= after.load > 0;
    after.returns++;
    int64_t room = after.capacity > after.load ? (int64_t)(after.capacity - after.load) : 0;
    if (after.available < room)
        after.available++;
    return after;
}

/* ---- Takes ----------------------------------------------------------------------------------------------------- */

static bool is_used(const UserSeen *user, Slice take)
{
    if (user->head.state == NODE_USER_LIVE && ids_equal(take, user->head.take))
        return true;
    for (size_t i = 0; i < user->owe_count; i++)
        if (ids_equal(take, user->owes[i].take))
            return true;
    return false;
}

/* No record that names a take from before can land any more: the head is no longer what it was. */
static Status fence(Nodes *nodes, const UserSeen *user, Arena *arena)
{
    Step step;
    UserHead head = user->head;
    if (MUTANT(node_take_not_fenced))
        return STATUS_OK;
    step_begin(&step, &TABLE_NODE_USERS, user->row, 2, arena);
    step_head(&step, nodes, user, &head, SLICE_EMPTY);
    return step_run(nodes, &step);
}

static Status settle_once(Nodes *nodes, uint64_t node, Slice take, Slice user, Arena *arena)
{
    Step step;
    UserSeen who;
    NodeSeen seen = {.node = node};
    Slice cell, column = node_column("g/", take, arena);
    if (MUTANT(node_user_read_first))
        TRY(user_read(nodes, user, arena, &who));
    Status status = node_read(nodes, &seen, arena);
    if (status == STATUS_NOT_FOUND) /* the node was removed, and all its slots with it */
        return STATUS_OK;
    TRY(status);
    Slice row = node_row(node, arena);
    TRY(read_cell(nodes, &TABLE_NODES, row, column, arena, &cell));
    if (cell.size == 0)
        return STATUS_OK;
    if (!MUTANT(node_user_read_first))
        TRY(user_read(nodes, user, arena, &who));
    if (is_used(&who, take)) {
        status = delete_cell(nodes, &TABLE_NODES, row, column, cell, arena);
        return status == STATUS_CONFLICT ? STATUS_OK : status;
    }
    TRY(fence(nodes, &who, arena));
    NodeCounters after = with_slot_back(&seen.counters);
    step_begin(&step, &TABLE_NODES, row, 3, arena);
    step_counters(&step, nodes, &seen, &after, NULL);
    step_when(&step, column, cell);
    step_delete(&step, column);
    return step_run(nodes, &step);
}

Status settle_take(Nodes *nodes, uint64_t node, Slice take, Slice user)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Status status = STATUS_CONFLICT;
    for (int i = 0; record_again(&status, i, arena, NULL); i++)
        status = settle_once(nodes, node, take, user, arena);
    return status;
}

/* ---- Returns --------------------------------------------------------------------------------------------------- */

/* The user owes nothing any more; then the node's cell is not needed either. */
static Status forget(Nodes *nodes, uint64_t node, Slice user, Slice owed, Slice o, Arena *arena)
{
    Slice row = node_row(node, arena), column = node_column("d/", owed, arena), d;
    if (o.size > 0) {
        Status status =
            delete_cell(nodes, &TABLE_NODE_USERS, user, node_column("o/", owed, arena), o, arena);
        if (status != STATUS_OK && status != STATUS_CONFLICT)
            return status;
    }
    TRY(read_cell(nodes, &TABLE_NODES, row, column, arena, &d));
    if (d.size == 0)
        return STATUS_OK;
    Status status = delete_cell(nodes, &TABLE_NODES, row, column, d, arena);
    return status == STATUS_CONFLICT ? STATUS_OK : status;
}

static Status give_back_once(Nodes *nodes, Slice user, Slice owed, const UserOwes *owes,
                             Arena *arena)
{
    Step step;
    NodeSeen seen = {.node = owes->node};
    Slice row = node_row(owes->node, arena), column = node_column("d/", owed, arena), d, o;
    Slice owed_column = node_column("o/", owed, arena);
    if (MUTANT(node_user_read_first))
        TRY(read_cell(nodes, &TABLE_NODE_USERS, user, owed_column, arena, &o));
    Status status = node_read(nodes, &seen, arena);
    bool gone = status == STATUS_NOT_FOUND;
    if (!gone)
        TRY(status);
    TRY(read_cell(nodes, &TABLE_NODES, row, column, arena, &d));
    if (!MUTANT(node_user_read_first))
        TRY(read_cell(nodes, &TABLE_NODE_USERS, user, owed_column, arena, &o));
    if (o.size > 0 && d.size == 0 && !gone) {
        NodeCounters after = with_slot_back(&seen.counters);
        NodeFlight flight = {nodes_now_ms(nodes), user};
        step_begin(&step, &TABLE_NODES, row, 4, arena);
        step_counters(&step, nodes, &seen, &after, NULL);
        if (!MUTANT(node_return_leaves_no_cell))
            step_put(&step, column, record_encode(&NODE_FLIGHT_RECORD, &flight, NULL, arena), 0);
        step_delete(&step, node_column("g/", id_slice(&owes->take), arena));
        TRY(step_run(nodes, &step));
    }
    return forget(nodes, owes->node, user, owed, o, arena);
}

Status give_back(Nodes *nodes, Slice user, Slice owed, const UserOwes *owes)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Status status = STATUS_CONFLICT;
    for (int i = 0; record_again(&status, i, arena, NULL); i++)
        status = give_back_once(nodes, user, owed, owes, arena);
    return status;
}

/* ---- What is in flight ----------------------------------------------------------------------------------------- */

/* A page of the row, from the counters on; those are the first cell. */
Status node_flights(Nodes *nodes, uint64_t node, Arena *arena, NodeSeen *ret_seen,
                    Flight **ret_flights, size_t *ret_count)
{
    Page page;
    NodeSeen seen = {.node = node, .value = SLICE_EMPTY};
    Query query = {.table = &TABLE_NODES,
                   .row = node_row(node, arena),
                   .from = NODE_COUNTERS,
                   .to = SLICE("h"),
                   .limit = STORE_PAGE_MAX,
                   .mode = STORE_SERIAL};
    TRY(store_slice(nodes->store, &query, arena, &page));
    Flight *flights = ARENA_ARRAY(arena, page.count + 1, Flight);
    size_t count = 0;
    for (size_t i = 0; i < page.count; i++) {
        const Cell *cell = &page.cells[i];
        if (slice_equal(cell->column, NODE_COUNTERS)) {
            TRY(record_decode(&NODE_COUNTERS_RECORD, cell->value, NULL, NULL, &seen.counters));
            seen.value = cell->value;
        } else if (cell->column.size == NODE_FLIGHT_COLUMN) {
            Flight *flight = &flights[count++];
            TRY(record_decode(&NODE_FLIGHT_RECORD, cell->value, NULL, NULL, &flight->flight));
            flight->taken = cell->column.data[0] == 'g';
            flight->id = slice_after(cell->column, 2);
        }
    }
    *ret_seen = seen;
    *ret_flights = flights;
    *ret_count = count;
    return seen.value.size > 0 ? STATUS_OK : STATUS_NOT_FOUND;
}

static Status settle_flight(Nodes *nodes, uint64_t node, const Flight *flight)
{
    UserOwes owes = {.node = node};
    if (flight->taken)
        return settle_take(nodes, node, flight->id, flight->flight.user);
    /* Only `forget` is left to do: the cell says that the slot came back. */
    return give_back(nodes, flight->flight.user, flight->id, &owes);
}

Status settle_node(Nodes *nodes, uint64_t node, Slice user)
{
    ARENA_SCOPE Arena *arena = arena_new();
    NodeSeen seen;
    Flight *flights;
    size_t count;
    Status status = node_flights(nodes, node, arena, &seen, &flights, &count);
    if (status == STATUS_NOT_FOUND)
        return STATUS_OK;
    TRY(status);
    for (size_t i = 0; i < count; i++)
        if (user.size == 0 || slice_equal(flights[i].flight.user, user))
            TRY(settle_flight(nodes, node, &flights[i]));
    return STATUS_OK;
}

Status settle_user(Nodes *nodes, uint64_t node, Slice user)
{
    ARENA_SCOPE Arena *arena = arena_new();
    UserSeen seen;
    TRY(settle_node(nodes, node, user));
    TRY(user_read(nodes, user, arena, &seen));
    for (size_t i = 0; i < seen.owe_count; i++)
        TRY(give_back(nodes, user, seen.owe_ids[i], &seen.owes[i]));
    return STATUS_OK;
}

/* ---- The sweep ------------------------------------------------------------------------------------------------- */

static Status sweep_row(Nodes *nodes, int64_t second, char shard)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Page page;
    Query query = {.table = &TABLE_NODE_MARKS,
                   .row = node_mark_row(second, slice_of(&shard, 1), arena),
                   .limit = 1000};
    do {
        TRY(store_slice(nodes->store, &query, arena, &page));
        for (size_t i = 0; i < page.count; i++) {
            Slice column = page.cells[i].column;
            if (column.size != NODE_ROW + USER_ROW)
                return STATUS_CORRUPT;
            TRY(settle_user(nodes, bytes_get_u64(column.data), slice_after(column, NODE_ROW)));
            query.after = column;
        }
        query.resume = true;
    } while (page.more);
    return STATUS_OK;
}

Status nodes_sweep(Nodes *nodes, int64_t first_s, int64_t last_s)
{
    for (int64_t s = first_s / NODE_MARK_S * NODE_MARK_S; s <= last_s; s += NODE_MARK_S)
        for (char shard = 0; shard < NODE_SHARDS; shard++)
            TRY(sweep_row(nodes, s, shard));
    return STATUS_OK;
}
