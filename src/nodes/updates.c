/* updates.c -- an update of one row, put together step by step in the arena. */
#include "nodes/nodes_private.h"

void step_begin(Step *step, const Table *table, Slice row, size_t room, Arena *arena)
{
    *step = (Step){.update = {.table = table, .row = row, .proof = SLICE_EMPTY},
                   .changes = ARENA_ARRAY(arena, room, Change),
                   .room = room,
                   .marks = ARENA_ARRAY(arena, room * 2, RowChange),
                   .arena = arena};
}

void step_when(Step *step, Slice column, Slice value)
{
    CHECK(step->update.condition_count < sizeof step->conditions / sizeof step->conditions[0]);
    step->conditions[step->update.condition_count++] = (Condition){column, value, value.size == 0};
}

static void add(Step *step, Change change)
{
    CHECK(step->update.change_count < step->room);
    step->changes[step->update.change_count++] = change;
}

void step_put(Step *step, Slice column, Slice value, int64_t ttl_s)
{
    add(step, (Change){.column = column, .value = value, .ttl_s = ttl_s});
}

void step_delete(Step *step, Slice column)
{
    add(step, (Change){.column = column, .value = SLICE_EMPTY, .is_delete = true});
}

void step_mark(Step *step, RowChange mark)
{
    CHECK(step->mark_count < step->room * 2);
    step->marks[step->mark_count++] = mark;
}

void step_receipt(Step *step, const Id *id)
{
    step->update.proof = store_receipt(id_slice(id), step->arena);
    step_put(step, step->update.proof, arena_copy(step->arena, id_slice(id)), STORE_RECEIPT_TTL_S);
}

void step_counters(Step *step, const Nodes *nodes, const NodeSeen *seen, NodeCounters *counters,
                   Slice *ret_value)
{
    counters->write = nodes_fresh_id(nodes);
    Slice value = record_encode(&NODE_COUNTERS_RECORD, counters, NULL, step->arena);
    step_when(step, NODE_COUNTERS, seen->value);
    step_put(step, NODE_COUNTERS, value, 0);
    step_receipt(step, &counters->write);
    if (ret_value != NULL)
        *ret_value = value;
}

void step_head(Step *step, const Nodes *nodes, const UserSeen *user, UserHead *head, Slice proof)
{
    head->write = nodes_fresh_id(nodes);
    VaultCell cell = record_cell(nodes->vault, &TABLE_NODE_USERS, user->row, USER_HEAD);
    step_when(step, USER_HEAD, user->value);
    step_put(step, USER_HEAD, record_encode(&USER_HEAD_RECORD, head, &cell, step->arena), 0);
    if (proof.size > 0)
        step->update.proof = proof;
    else
        step_receipt(step, &head->write);
}

const Update *step_done(Step *step)
{
    step->update.conditions = step->conditions;
    step->update.changes = step->changes;
    step->update.marks = (Batch){step->marks, step->mark_count, false};
    return &step->update;
}

Status step_run(Nodes *nodes, Step *step)
{
    return store_update(nodes->store, step_done(step), NODE_TRIES, step->arena, NULL);
}

/* The 8 bytes of the node and a byte more, or the user's row. */
static Slice node_and(uint64_t node, Slice rest, Arena *arena)
{
    char *bytes = arena_bytes(arena, NODE_ROW + rest.size);
    bytes_put_u64(bytes, node);
    memcpy(bytes + NODE_ROW, rest.data, rest.size);
    return slice_of(bytes, NODE_ROW + rest.size);
}

Slice node_shard(Slice user, Arena *arena)
{
    char *shard = arena_bytes(arena, 1);
    *shard = (char)((unsigned char)user.data[0] % NODE_SHARDS);
    return slice_of(shard, 1);
}

Slice node_mark_row(int64_t second, Slice shard, Arena *arena)
{
    char *row = arena_bytes(arena, NODE_ROW + 1);
    bytes_put_u64(row, (uint64_t)(second / NODE_MARK_S));
    row[NODE_ROW] = *shard.data;
    return slice_of(row, NODE_ROW + 1);
}

Slice node_index_row(uint64_t node, Slice shard, Arena *arena)
{
    return node_and(node, shard, arena);
}

void step_announce(Step *step, const Nodes *nodes, uint64_t node, Slice user, bool moves_in)
{
    Arena *arena = step->arena;
    int64_t now_us = clock_now_us(nodes->world.clock);
    Slice shard = node_shard(user, arena);
    step_mark(step, (RowChange){&TABLE_NODE_MARKS, node_mark_row(now_us / US_PER_S, shard, arena),
                                (Change){.column = node_and(node, user, arena),
                                         .value = SLICE_EMPTY,
                                         .timestamp = now_us,
                                         .ttl_s = NODE_MARK_DAYS * S_PER_DAY}});
    if (moves_in)
        step_mark(step,
                  (RowChange){&TABLE_NODE_INDEX, node_index_row(node, shard, arena),
                              (Change){.column = user, .value = SLICE_EMPTY, .timestamp = now_us}});
}
