/* leave.c -- users who leave a node: replaced, retired, or because their node is emptied. */
#include "nodes/nodes_private.h"

/* Whether the head changes at all. */
static bool leaves(const UserHead *head, uint64_t only_node, NodeUserState state)
{
    if (only_node != 0 && (head->node != only_node || head->state != NODE_USER_LIVE))
        return false;
    return head->state == NODE_USER_LIVE ||
           (head->state == NODE_USER_REPLACED && state == NODE_USER_RETIRED);
}

/* *ret_owed: the id of the slot that is owed then, zero for none. */
static Status leave_once(Nodes *nodes, const UserSeen *user, NodeUserState state, Id *ret_owed,
                         Arena *arena)
{
    Step step;
    UserHead head = user->head;
    bool has_slot = head.state == NODE_USER_LIVE;
    Slice proof = SLICE_EMPTY;
    *ret_owed = (Id){{0}};
    step_begin(&step, &TABLE_NODE_USERS, user->row, 4, arena);
    head.state = state;
    if (state == NODE_USER_RETIRED)
        head.generation = NODE_GENERATION_MAX;
    if (has_slot) {
        UserOwes owes = {head.node, head.take};
        head.replaced_ms = nodes_now_ms(nodes);
        UserReplaced replaced = {head.replaced_ms};
        *ret_owed = nodes_fresh_id(nodes);
        proof = node_column_u64("x/", head.uid, arena);
        step_put(&step, proof, record_encode(&USER_REPLACED_RECORD, &replaced, NULL, arena), 0);
        step_put(&step, node_column("o/", id_slice(ret_owed), arena),
                 record_encode(&USER_OWES_RECORD, &owes, NULL, arena), 0);
        step_announce(&step, nodes, head.node, user->row, false);
    }
    step_head(&step, nodes, user, &head, proof);
    return step_run(nodes, &step);
}

static Status leave_and_give_back(Nodes *nodes, Slice row, uint64_t only_node, NodeUserState state,
                                  Arena *arena, bool *ret_changed)
{
    UserSeen user;
    Id owed;
    TRY(user_read(nodes, row, arena, &user));
    *ret_changed = leaves(&user.head, only_node, state);
    if (user.head.state == NODE_USER_NONE || user.head.state == NODE_USER_DELETED)
        return STATUS_NOT_FOUND;
    if (!*ret_changed)
        return STATUS_OK;
    TRY(leave_once(nodes, &user, state, &owed, arena));
    if (id_is_zero(owed))
        return STATUS_OK;
    /* The user has left. What does not come back now is the sweep's. */
    UserOwes owes = {user.head.node, user.head.take};
    Status given = give_back(nodes, row, id_slice(&owed), &owes);
    (void)given;
    return STATUS_OK;
}

Status user_leave(Nodes *nodes, Slice row, uint64_t only_node, NodeUserState state,
                  bool *ret_changed)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Status status = STATUS_CONFLICT;
    for (int i = 0; record_again(&status, i, arena, NULL); i++)
        status = leave_and_give_back(nodes, row, only_node, state, arena, ret_changed);
    return status;
}

static Status no_such_user(Reason *reason)
{
    return reason_set(reason, STATUS_NOT_FOUND, "email", "there is no such user");
}

Status nodes_replace(Nodes *nodes, Slice service, Slice email, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Slice folded;
    bool changed;
    ServiceSeen seen;
    TRY(service_read(nodes, service, arena, &seen, reason));
    TRY(node_fold_email(email, arena, &folded, reason));
    Status status =
        user_leave(nodes, user_row(nodes, service, folded, arena), 0, NODE_USER_REPLACED, &changed);
    return status == STATUS_NOT_FOUND ? no_such_user(reason) : status;
}

Status nodes_retire(Nodes *nodes, Slice email, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Page page;
    Slice folded;
    bool changed, any = false;
    TRY(node_fold_email(email, arena, &folded, reason));
    Query query = {.table = &TABLE_NODE_PEOPLE,
                   .row = node_person_row(nodes, folded, arena),
                   .limit = STORE_PAGE_MAX};
    TRY(store_slice(nodes->store, &query, arena, &page));
    for (size_t i = 0; i < page.count; i++) {
        Slice row = user_row(nodes, page.cells[i].column, folded, arena);
        Status status = user_leave(nodes, row, 0, NODE_USER_RETIRED, &changed);
        if (status == STATUS_NOT_FOUND)
            continue;
        TRY(status);
        any = true;
    }
    return any ? STATUS_OK : no_such_user(reason);
}

/* ---- Emptying a node ------------------------------------------------------------------------------------------- */

static Status leave_listed(Nodes *nodes, uint64_t node, char shard, NodeEmptied *emptied)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Page page;
    Query query = {.table = &TABLE_NODE_INDEX,
                   .row = node_index_row(node, slice_of(&shard, 1), arena),
                   .limit = 1000};
    do {
        TRY(store_slice(nodes->store, &query, arena, &page));
        for (size_t i = 0; i < page.count; i++) {
            bool changed;
            Status status =
                user_leave(nodes, page.cells[i].column, node, NODE_USER_REPLACED, &changed);
            if (status != STATUS_NOT_FOUND)
                TRY(status);
            emptied->replaced += status == STATUS_OK && changed;
            query.after = page.cells[i].column;
        }
        query.resume = true;
    } while (page.more);
    return STATUS_OK;
}

static Status leave_named(Nodes *nodes, Slice service, uint64_t node, Slice email,
                          NodeEmptied *emptied, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Slice folded;
    bool changed = false;
    TRY(node_fold_email(email, arena, &folded, reason));
    Slice row = user_row(nodes, service, folded, arena);
    Status status = user_leave(nodes, row, node, NODE_USER_REPLACED, &changed);
    if (status != STATUS_NOT_FOUND)
        TRY(status);
    emptied->replaced += changed;
    emptied->other += !changed;
    return STATUS_OK;
}

/* No take that has not happened yet can happen: the counters are no longer what they were. */
static Status cordon(Nodes *nodes, Slice service, Slice url, NodeState state, Reason *reason)
{
    NodeChange change = {.state = &state};
    return MUTANT(node_cordon_skipped) ? STATUS_OK
                                       : nodes_change(nodes, service, url, &change, reason);
}

Status nodes_decommission(Nodes *nodes, Slice service, Slice url, const Slice *emails, size_t count,
                          bool stays, NodeEmptied *ret_emptied, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    ServiceSeen seen;
    NodeEmptied emptied = {0, 0};
    TRY(service_read(nodes, service, arena, &seen, reason));
    NodeSeen *node = service_node_by_url(&seen, url);
    if (node == NULL)
        return reason_set(reason, STATUS_NOT_FOUND, "node", "unknown node");
    if (emails != NULL) {
        for (size_t i = 0; i < count; i++)
            TRY(leave_named(nodes, service, node->node, emails[i], &emptied, reason));
    } else {
        TRY(cordon(nodes, service, url, NODE_STATE_CORDONED, reason));
        TRY(settle_node(nodes, node->node, SLICE_EMPTY));
        for (char shard = 0; shard < NODE_SHARDS; shard++)
            TRY(leave_listed(nodes, node->node, shard, &emptied));
        if (!stays)
            TRY(cordon(nodes, service, url, node->counters.state, reason));
    }
    *ret_emptied = emptied;
    return STATUS_OK;
}
