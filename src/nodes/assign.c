/* assign.c -- a turn: what several users of a service ask for, in one update for each node that gives slots and one for each user. */
#include "nodes/nodes_private.h"

/* A call on its way through a turn. */
typedef struct Serving {
    NodeCall *call;
    Arena *arena; /* of who called */
    UserSeen user;
    NodePlan plan;
    const NodeSeen *node; /* of the record, as far as it is known */
    Id take;              /* of a slot that was taken for it */
    bool has_slot;
    Id owed; /* of the slot that it leaves, zero for none */
    UserHead head;
} Serving;

typedef struct Turn {
    Nodes *nodes;
    Slice name;
    ServiceSeen *service;
    Arena *kept;  /* of the service: what is seen of it lives there */
    Arena *arena; /* of the turn */
    SettledTakes *settled;
    Serving *servings;
    size_t count;
} Turn;

static void ends(Serving *serving, Status status, const char *field, const char *rule)
{
    serving->call->status = reason_set(&serving->call->reason, status, field, "%s", rule);
}

static bool is_open(const Serving *serving)
{
    return serving->call->status == STATUS_OK;
}

/* ---- What to do ------------------------------------------------------------------------------------------------- */

static void judge(Turn *turn, Serving *serving)
{
    NodeCall *call = serving->call;
    const UserSeen *user = &serving->user;
    NodeSeen *named = call->node.size > 0 ? service_node_by_url(turn->service, call->node) : NULL;
    NodeKnown known = {.state = user->head.state,
                       .generation = user->head.generation,
                       .keys_changed_at = user->head.keys_changed_at,
                       .client_state = user->head.client_state};
    NodeWant want = call->want;
    if (call->node.size > 0 && named == NULL) {
        ends(serving, STATUS_NOT_FOUND, "node", "unknown node");
        return;
    }
    serving->node = service_node(turn->service, user->head.node);
    known.node_gone = user->head.state == NODE_USER_LIVE && serving->node == NULL;
    known.there = named != NULL && named == serving->node;
    for (size_t i = 0; i < user->state_count; i++)
        known.seen |= slice_equal(user->states[i], want.client_state) &&
                      !slice_equal(user->states[i], known.client_state);
    want.named = named != NULL;
    want.new_users = turn->service->head.new_users;
    call->status = node_judge(&known, &want, &serving->plan, &call->reason);
    if (call->status == STATUS_OK && serving->plan.slot)
        serving->node = named; /* or NULL: to be chosen */
}

/* ---- Slots ------------------------------------------------------------------------------------------------------ */

/* Chooses for all that still need one. */
static size_t choose_all(Turn *turn, NodeView *views, size_t *chosen)
{
    ServiceSeen *service = turn->service;
    NodeChoice choice = {service->head.order, service->head.policy, service->head.top,
                         service->head.rate};
    size_t waiting = 0;
    for (size_t i = 0; i < service->count; i++)
        node_view(turn->nodes, &service->nodes[i], &views[i]);
    for (size_t i = 0; i < turn->count; i++) {
        Serving *serving = &turn->servings[i];
        chosen[i] = NODE_NONE;
        if (!is_open(serving) || !serving->plan.slot || serving->has_slot)
            continue;
        if (serving->call->node.size == 0)
            chosen[i] = node_take(&choice, turn->nodes->world.random, views, service->count);
        else if (node_take_named(&views[serving->node - service->nodes], serving->call->force))
            chosen[i] = (size_t)(serving->node - service->nodes);
        if (chosen[i] == NODE_NONE)
            ends(serving, STATUS_UNAVAILABLE,
                 serving->call->node.size > 0 ? "no-capacity" : node_lack(views, service->count),
                 "no node of the service has a free slot");
        else
            waiting++;
    }
    return waiting;
}

/* The update of one node, for all that chose it; what was settled since goes with it. */
static const Update *take_update(Turn *turn, size_t at, const NodeView *view, const size_t *chosen,
                                 NodeCounters *counters, Slice *ret_value)
{
    Step *step = ARENA_NEW(turn->arena, Step);
    NodeSeen *seen = &turn->service->nodes[at];
    *counters = seen->counters;
    counters->load = view->load;
    counters->available = view->available;
    step_begin(step, &TABLE_NODES, node_row(seen->node, turn->arena),
               turn->count + NODE_SETTLED_MAX + 2, turn->arena);
    for (size_t i = 0; i < turn->count; i++) {
        Serving *serving = &turn->servings[i];
        if (chosen[i] != at)
            continue;
        NodeFlight flight = {nodes_now_ms(turn->nodes), serving->user.row};
        serving->take = nodes_fresh_id(turn->nodes);
        counters->takes++;
        step_put(step, node_column("g/", id_slice(&serving->take), turn->arena),
                 record_encode(&NODE_FLIGHT_RECORD, &flight, NULL, turn->arena), 0);
        step_announce(step, turn->nodes, seen->node, serving->user.row, true);
    }
    settled_ride(turn->settled, seen->node, step);
    step_counters(step, turn->nodes, seen, counters, ret_value);
    return step_done(step);
}

/* The takes of one node took place, or not. */
static void end_take(Turn *turn, size_t at, Status status, const size_t *chosen,
                     const NodeCounters *counters, Slice value)
{
    NodeSeen *seen = &turn->service->nodes[at];
    if (status == STATUS_OK) {
        seen->counters = *counters;
        seen->value = arena_copy(turn->kept, value);
        settled_done(turn->settled, seen->node);
    } else if (status == STATUS_CONFLICT) {
        status = node_read(turn->nodes, seen, turn->kept);
        if (status == STATUS_NOT_FOUND)
            seen->value = SLICE_EMPTY; /* removed: nobody chooses it any more */
        if (status == STATUS_OK || status == STATUS_NOT_FOUND)
            status = STATUS_CONFLICT;
    } else {
        seen->value = SLICE_EMPTY; /* what stands there is not known: read again */
    }
    for (size_t i = 0; i < turn->count; i++) {
        Serving *serving = &turn->servings[i];
        if (chosen[i] != at || status == STATUS_CONFLICT)
            continue;
        serving->has_slot = status == STATUS_OK;
        serving->node = seen;
        if (status != STATUS_OK)
            ends(serving, status, status == STATUS_UNKNOWN ? "unknown" : "busy",
                 "the node could not be written");
    }
}

static void take_round(Turn *turn, const NodeView *views, const size_t *chosen)
{
    size_t count = turn->service->count, updates = 0;
    Update *all = ARENA_ARRAY(turn->arena, count, Update);
    Status *statuses = ARENA_ARRAY(turn->arena, count, Status);
    size_t *of = ARENA_ARRAY(turn->arena, count, size_t);
    NodeCounters *counters = ARENA_ARRAY(turn->arena, count, NodeCounters);
    Slice *values = ARENA_ARRAY(turn->arena, count, Slice);
    for (size_t i = 0; i < count; i++) {
        if (!views[i].changed)
            continue;
        all[updates] =
            *take_update(turn, i, &views[i], chosen, &counters[updates], &values[updates]);
        of[updates++] = i;
    }
    Status status =
        store_update_each(turn->nodes->store, all, updates, NODE_TRIES, turn->arena, statuses);
    for (size_t i = 0; i < updates; i++)
        end_take(turn, of[i], status == STATUS_OK ? statuses[i] : status, chosen, &counters[i],
                 values[i]);
}

static void take_slots(Turn *turn)
{
    NodeView *views = ARENA_ARRAY(turn->arena, turn->service->count, NodeView);
    size_t *chosen = ARENA_ARRAY(turn->arena, turn->count, size_t);
    for (int round = 0; round < NODE_ROUNDS; round++) {
        if (choose_all(turn, views, chosen) == 0)
            return;
        take_round(turn, views, chosen);
    }
    for (size_t i = 0; i < turn->count; i++)
        if (is_open(&turn->servings[i]) && turn->servings[i].plan.slot &&
            !turn->servings[i].has_slot)
            ends(&turn->servings[i], STATUS_UNAVAILABLE, "busy", "others take slots all the time");
}

/* ---- Records ---------------------------------------------------------------------------------------------------- */

/* The record that was the user's is over. A slot that it leaves is owed; that of a node that is gone went with it, but is owed all the same. */
static void leave_old(Turn *turn, Serving *serving, Step *step)
{
    const UserHead *old = &serving->user.head;
    UserReplaced replaced = {serving->head.created_ms};
    UserOwes owes = {old->node, old->take};
    if (old->state != NODE_USER_LIVE)
        return;
    step_put(step, node_column_u64("x/", old->uid, turn->arena),
             record_encode(&USER_REPLACED_RECORD, &replaced, NULL, turn->arena), 0);
    if (!serving->plan.slot)
        return;
    serving->owed = nodes_fresh_id(turn->nodes);
    step_put(step, node_column("o/", id_slice(&serving->owed), turn->arena),
             record_encode(&USER_OWES_RECORD, &owes, NULL, turn->arena), 0);
    step_announce(step, turn->nodes, old->node, serving->user.row, false);
}

static Status new_record(Turn *turn, Serving *serving, Step *step)
{
    Nodes *nodes = turn->nodes;
    const UserHead *old = &serving->user.head;
    UserHead *head = &serving->head;
    bool first = old->state == NODE_USER_NONE || old->state == NODE_USER_DELETED;
    TRY(sequence_next(nodes->uids, &head->uid));
    head->state = NODE_USER_LIVE;
    head->created_ms = nodes_now_ms(nodes);
    head->replaced_ms = NODE_NO_NUMBER;
    head->client_state = serving->plan.client_state;
    if (first) {
        head->first_seen_ms = head->created_ms;
        Slice email = slice_trim(serving->call->email), folded;
        TRY(node_fold_email(email, turn->arena, &folded, NULL));
        head->email = folded;
        step_mark(step, (RowChange){&TABLE_NODE_PEOPLE, node_person_row(nodes, folded, turn->arena),
                                    (Change){.column = turn->name,
                                             .value = SLICE_EMPTY,
                                             .timestamp = clock_now_us(nodes->world.clock)}});
    }
    if (serving->plan.slot) {
        head->node = serving->node->node;
        head->take = serving->take;
    }
    UserRecord record = {head->node, head->generation, head->keys_changed_at, head->created_ms,
                         head->client_state};
    leave_old(turn, serving, step);
    step_put(step, node_column("s/", head->client_state, turn->arena), SLICE_EMPTY, 0);
    step_put(step, node_column_u64("r/", head->uid, turn->arena),
             record_encode(&USER_RECORD_RECORD, &record, NULL, turn->arena), 0);
    return STATUS_OK;
}

static void begin_write(Turn *turn, Serving *serving, Step *step)
{
    bool record = serving->plan.step == NODE_STEP_RECORD;
    serving->head = serving->user.head;
    serving->head.generation = serving->plan.generation;
    serving->head.keys_changed_at = serving->plan.keys_changed_at;
    step_begin(step, &TABLE_NODE_USERS, serving->user.row, 6, turn->arena);
    if (record) {
        Status status = new_record(turn, serving, step);
        if (status != STATUS_OK) {
            ends(serving, status == STATUS_UNKNOWN ? STATUS_UNAVAILABLE : status, "busy",
                 "no uid could be had");
            return;
        }
    }
    step_head(step, turn->nodes, &serving->user, &serving->head,
              record ? node_column_u64("r/", serving->head.uid, turn->arena) : SLICE_EMPTY);
}

/* What was begun and is not needed comes back now, or by the sweep. */
static void end_write(Turn *turn, Serving *serving, Status status)
{
    Nodes *nodes = turn->nodes;
    Slice user = serving->user.row;
    if (status != STATUS_OK) {
        if (serving->has_slot && status != STATUS_UNKNOWN) {
            Status settled =
                settle_take(nodes, serving->node->node, id_slice(&serving->take), user);
            (void)settled;
            serving->node = NULL;
        }
        ends(serving, status, status == STATUS_UNKNOWN ? "unknown" : "busy",
             "the user's record could not be written");
        return;
    }
    if (serving->has_slot)
        settled_add(turn->settled, serving->node->node, serving->take);
    if (!id_is_zero(serving->owed)) {
        UserOwes owes = {serving->user.head.node, serving->user.head.take};
        Status given = give_back(nodes, user, id_slice(&serving->owed), &owes);
        (void)given;
    }
}

static void write_users(Turn *turn)
{
    Update *all = ARENA_ARRAY(turn->arena, turn->count, Update);
    Status *statuses = ARENA_ARRAY(turn->arena, turn->count, Status);
    Serving **of = ARENA_ARRAY(turn->arena, turn->count, Serving *);
    size_t updates = 0;
    for (size_t i = 0; i < turn->count; i++) {
        Serving *serving = &turn->servings[i];
        Step *step = ARENA_NEW(turn->arena, Step);
        if (!is_open(serving) || serving->plan.step == NODE_STEP_ANSWER)
            continue;
        begin_write(turn, serving, step);
        if (!is_open(serving)) {
            end_write(turn, serving, serving->call->status);
            continue;
        }
        all[updates] = *step_done(step);
        of[updates++] = serving;
    }
    Status status =
        store_update_each(turn->nodes->store, all, updates, NODE_TRIES, turn->arena, statuses);
    for (size_t i = 0; i < updates; i++)
        end_write(turn, of[i], status == STATUS_OK ? statuses[i] : status);
}

/* ---- Answers ---------------------------------------------------------------------------------------------------- */

void node_answer(const UserSeen *user, const UserHead *head, Slice url, Arena *arena,
                 NodeUser *ret_user)
{
    Slice *old = ARENA_ARRAY(arena, user->state_count + 1, Slice);
    size_t count = 0;
    for (size_t i = 0; i < user->state_count; i++)
        if (!slice_equal(user->states[i], head->client_state))
            old[count++] = arena_copy(arena, user->states[i]);
    *ret_user = (NodeUser){.uid = head->uid,
                           .url = arena_copy(arena, url),
                           .generation = head->generation,
                           .keys_changed_at = head->keys_changed_at,
                           .client_state = arena_copy(arena, head->client_state),
                           .old_states = old,
                           .old_count = count,
                           .created_ms = head->created_ms,
                           .first_seen_ms = head->first_seen_ms,
                           .replaced_ms = head->replaced_ms,
                           .state = head->state};
}

void assign_once(const Assignment *assignment, NodeCall *const *calls, const Slice *rows,
                 Arena *const *arenas, size_t count)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Turn turn = {assignment->nodes,
                 assignment->name,
                 assignment->service,
                 assignment->kept,
                 arena,
                 assignment->settled,
                 ARENA_ARRAY(arena, count, Serving),
                 count};
    UserSeen *users = ARENA_ARRAY(arena, count, UserSeen);
    Status *statuses = ARENA_ARRAY(arena, count, Status);
    Status status = user_read_many(turn.nodes, rows, count, arena, users, statuses);
    for (size_t i = 0; i < count; i++) {
        Serving *serving = &turn.servings[i];
        *serving = (Serving){.call = calls[i], .arena = arenas[i], .user = users[i]};
        calls[i]->status = status == STATUS_OK ? statuses[i] : status;
        if (is_open(serving))
            judge(&turn, serving);
        else
            ends(serving, calls[i]->status, "busy", "the user's row could not be read");
    }
    take_slots(&turn);
    write_users(&turn);
    for (size_t i = 0; i < count; i++) {
        Serving *serving = &turn.servings[i];
        if (is_open(serving))
            node_answer(&serving->user,
                        serving->plan.step == NODE_STEP_ANSWER ? &serving->user.head
                                                               : &serving->head,
                        serving->node != NULL ? serving->node->url : SLICE_EMPTY, serving->arena,
                        &serving->call->user);
    }
}
