/* services.c -- services and their nodes, as those who run them make and change them. */
#include <inttypes.h>
#include <stdlib.h>

#include "nodes/nodes_private.h"

enum { DURATION_DEFAULT_S = 3600, DURATION_MAX_S = 30 * 86400 };

Nodes *nodes_new(const NodesOptions *options)
{
    Nodes *nodes = calloc(1, sizeof *nodes);
    CHECK(nodes != NULL);
    *nodes = (Nodes){options->store,
                     options->world,
                     options->vault,
                     options->instance,
                     sequence_new(options->store, options->world, "nodes", 1),
                     sequence_new(options->store, options->world, "node users", 1024),
                     turns_new()};
    return nodes;
}

void nodes_free(Nodes *nodes)
{
    if (nodes == NULL)
        return;
    turns_free(nodes->turns);
    sequence_free(nodes->node_ids);
    sequence_free(nodes->uids);
    free(nodes);
}

/* ---- Services -------------------------------------------------------------------------------------------------- */

NodeService node_service_default(Slice name)
{
    return (NodeService){.name = name,
                         .pattern = SLICE("{node}/1.5/{uid}"),
                         .secret = SLICE_EMPTY,
                         .choice = {NODE_ORDER_RATIO, NODE_POLICY_LEAST, 1, NODE_RATE_ALL / 10},
                         .new_users = true,
                         .gradual = true,
                         .duration_s = DURATION_DEFAULT_S};
}

NodeService service_of(Slice name, const ServiceHead *head)
{
    return (NodeService){.name = name,
                         .pattern = head->pattern,
                         .secret = head->secret,
                         .choice = {head->order, head->policy, head->top, head->rate},
                         .new_users = head->new_users,
                         .gradual = head->gradual,
                         .beats = head->beats,
                         .duration_s = head->duration_s};
}

static bool is_name(Slice name)
{
    if (name.size == 0 || name.size > NODE_SERVICE_MAX)
        return false;
    for (size_t i = 0; i < name.size; i++) {
        char c = name.data[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
              c == '.' || c == '_' || c == '-'))
            return false;
    }
    return true;
}

static Status check_service(const NodeService *service, Reason *reason)
{
    if (!is_name(service->name))
        return reason_set(reason, STATUS_INVALID, "name",
                          "has 1 to %d letters, digits, `.`, `_` and `-`", NODE_SERVICE_MAX);
    if (service->pattern.size == 0 || service->pattern.size > NODE_PATTERN_MAX)
        return reason_set(reason, STATUS_INVALID, "pattern", "has 1 to %d bytes", NODE_PATTERN_MAX);
    if (service->secret.size > NODE_SECRET_MAX)
        return reason_set(reason, STATUS_INVALID, "secret", "has at most %d bytes",
                          NODE_SECRET_MAX);
    if (service->choice.top < 1 || service->choice.top > NODE_TOP_MAX)
        return reason_set(reason, STATUS_INVALID, "top", "is a number from 1 to %d", NODE_TOP_MAX);
    if (service->choice.rate < 1 || service->choice.rate > NODE_RATE_ALL)
        return reason_set(reason, STATUS_INVALID, "rate", "is more than 0 and at most 1");
    if (service->duration_s < 1 || service->duration_s > DURATION_MAX_S)
        return reason_set(reason, STATUS_INVALID, "duration", "is 1 to %d seconds", DURATION_MAX_S);
    return STATUS_OK;
}

typedef struct ServiceEdit {
    const NodeService *service;
    bool is_new;
} ServiceEdit;

static Status apply_service(RecordEditing *editing, void *context, Reason *reason)
{
    const ServiceEdit *edit = context;
    const NodeService *service = edit->service;
    ServiceHead *head = editing->record;
    if (edit->is_new && editing->present)
        return reason_set(reason, STATUS_REFUSED, "name", "there is a service of this name");
    *head = (ServiceHead){.order = service->choice.order,
                          .policy = service->choice.policy,
                          .top = service->choice.top,
                          .rate = service->choice.rate,
                          .new_users = service->new_users,
                          .gradual = service->gradual,
                          .beats = service->beats,
                          .duration_s = service->duration_s,
                          .pattern = service->pattern,
                          .secret = service->secret};
    editing->write = true;
    return STATUS_OK;
}

static Status write_service(Nodes *nodes, const NodeService *service, bool is_new, Reason *reason)
{
    Records records = nodes_records(nodes);
    ServiceEdit edit = {service, is_new};
    TRY(check_service(service, reason));
    RecordEdit change = {
        .place = {&SERVICE_RECORD, &TABLE_NODE_SERVICES, service->name, SERVICE_HEAD},
        .must_exist = !is_new,
        .apply = apply_service,
        .context = &edit};
    Status status = record_edit(&records, &change, reason);
    if (status == STATUS_NOT_FOUND)
        return reason_set(reason, status, "service", "there is no such service");
    turns_forget(nodes->turns, service->name);
    return status;
}

Status nodes_service_add(Nodes *nodes, const NodeService *service, Reason *reason)
{
    return write_service(nodes, service, true, reason);
}

Status nodes_service_set(Nodes *nodes, const NodeService *service, Reason *reason)
{
    return write_service(nodes, service, false, reason);
}

Status nodes_service(Nodes *nodes, Slice name, Arena *arena, NodeService *ret_service,
                     Reason *reason)
{
    ServiceSeen seen;
    TRY(service_read(nodes, name, arena, &seen, reason));
    *ret_service = service_of(arena_copy(arena, name), &seen.head);
    return STATUS_OK;
}

/* ---- Nodes ------------------------------------------------------------------------------------------------------ */

static Slice url_column(const Nodes *nodes, Slice url, Arena *arena)
{
    return node_column("u/", vault_hash(nodes->vault, "node url", url, arena), arena);
}

/* The name of the URL and the entry, in the service's row. *ret_node: the node that has it, also when it was there before. */
static Status claim_url(Nodes *nodes, Slice service, const NodeNew *node, Arena *arena,
                        uint64_t *ret_node)
{
    Step step;
    NodeName name;
    Slice before;
    Records records = nodes_records(nodes);
    RecordPlace place = {&NODE_NAME_RECORD, &TABLE_NODE_SERVICES, service,
                         url_column(nodes, node->url, arena)};
    TRY(record_find(&records, &place, STORE_SERIAL, arena, &name, &before));
    *ret_node = name.node;
    if (name.node != 0)
        return STATUS_OK;
    TRY(sequence_next(nodes->node_ids, &name.node));
    name.write = nodes_fresh_id(nodes);
    NodeEntry entry = {name.write, nodes_now_ms(nodes), NODE_NO_NUMBER, node->url};
    step_begin(&step, &TABLE_NODE_SERVICES, service, 3, arena);
    step_when(&step, place.column, before);
    step_put(&step, place.column, record_encode(&NODE_NAME_RECORD, &name, NULL, arena), 0);
    step_put(&step, node_column_u64("n/", name.node, arena),
             record_encode(&NODE_ENTRY_RECORD, &entry, NULL, arena), 0);
    step_receipt(&step, &name.write);
    *ret_node = name.node;
    return step_run(nodes, &step);
}

static Status check_node(const NodeNew *node, Reason *reason)
{
    if (node->url.size == 0 || node->url.size > NODE_URL_MAX || !slice_is_utf8(node->url))
        return reason_set(reason, STATUS_INVALID, "url", "has 1 to %d bytes", NODE_URL_MAX);
    if (node->capacity < 1 || node->capacity > NODE_CAPACITY_MAX)
        return reason_set(reason, STATUS_INVALID, "capacity", "is a number from 1 to %" PRIu64,
                          NODE_CAPACITY_MAX);
    if (node->load > node->capacity)
        return reason_set(reason, STATUS_INVALID, "load", "is at most the capacity");
    if (node->available < NODE_NO_NUMBER ||
        node->available > (int64_t)(node->capacity - node->load))
        return reason_set(reason, STATUS_INVALID, "available",
                          "is at most the capacity without the load");
    return STATUS_OK;
}

/* The counters, where a crash or nobody has left them out. */
static Status begin_counters(Nodes *nodes, const ServiceSeen *service, const NodeNew *node,
                             uint64_t id, Arena *arena)
{
    Step step;
    NodeSeen seen = {.node = id, .value = SLICE_EMPTY};
    int64_t free_slots = (int64_t)(node->capacity - node->load);
    int64_t first = service->head.gradual ? node_first_available(node->capacity, service->head.rate)
                                          : (int64_t)node->capacity;
    NodeCounters counters = {.capacity = node->capacity,
                             .load = node->load,
                             .available = first < free_slots ? first : free_slots,
                             .downed = node->downed,
                             .backoff = node->backoff};
    if (node->available != NODE_NO_NUMBER)
        counters.available = node->available;
    step_begin(&step, &TABLE_NODES, node_row(id, arena), 2, arena);
    step_counters(&step, nodes, &seen, &counters, NULL);
    Status status = step_run(nodes, &step);
    return status == STATUS_CONFLICT ? STATUS_OK : status; /* they are there */
}

Status nodes_add(Nodes *nodes, Slice service, const NodeNew *node, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    ServiceSeen seen;
    uint64_t id = 0;
    TRY(check_node(node, reason));
    TRY(service_read(nodes, service, arena, &seen, reason));
    if (seen.count >= NODES_PER_SERVICE_MAX)
        return reason_set(reason, STATUS_REFUSED, "node", "a service has at most %d nodes",
                          NODES_PER_SERVICE_MAX);
    Status status = STATUS_CONFLICT;
    for (int i = 0; record_again(&status, i, NULL, reason); i++)
        status = claim_url(nodes, service, node, arena, &id);
    TRY(status);
    TRY(begin_counters(nodes, &seen, node, id, arena));
    turns_forget(nodes->turns, service);
    return STATUS_OK;
}

Status nodes_list(Nodes *nodes, Slice service, Arena *arena, NodeInfo **ret_list, size_t *ret_count,
                  Reason *reason)
{
    ServiceSeen seen;
    TRY(service_read(nodes, service, arena, &seen, reason));
    NodeInfo *list = ARENA_ARRAY(arena, seen.count, NodeInfo);
    for (size_t i = 0; i < seen.count; i++) {
        const NodeSeen *node = &seen.nodes[i];
        list[i] = (NodeInfo){.url = node->url,
                             .takes = node->counters.takes,
                             .returns = node->counters.returns,
                             .added_ms = node->added_ms};
        node_view(nodes, node, &list[i].view);
    }
    *ret_list = list;
    *ret_count = seen.count;
    return STATUS_OK;
}

static Status find_node(Nodes *nodes, Slice service, Slice url, Arena *arena, NodeSeen *ret_node,
                        Reason *reason)
{
    ServiceSeen seen;
    TRY(service_read(nodes, service, arena, &seen, reason));
    NodeSeen *node = service_node_by_url(&seen, url);
    if (node == NULL || node->value.size == 0)
        return reason_set(reason, STATUS_NOT_FOUND, "node", "unknown node");
    *ret_node = *node;
    return STATUS_OK;
}

static Status change_once(Nodes *nodes, Slice service, Slice url, const NodeChange *change,
                          Arena *arena, Reason *reason)
{
    Step step;
    NodeSeen node;
    TRY(find_node(nodes, service, url, arena, &node, reason));
    NodeCounters counters = node.counters;
    if (change->capacity != NULL)
        counters.capacity = *change->capacity;
    if (change->downed != NULL)
        counters.downed = *change->downed;
    if (change->backoff != NULL)
        counters.backoff = *change->backoff;
    if (change->state != NULL)
        counters.state = *change->state;
    int64_t room =
        counters.capacity > counters.load ? (int64_t)(counters.capacity - counters.load) : 0;
    if (counters.available > room)
        counters.available = room;
    step_begin(&step, &TABLE_NODES, node_row(node.node, arena), 2, arena);
    step_counters(&step, nodes, &node, &counters, NULL);
    return step_run(nodes, &step);
}

Status nodes_change(Nodes *nodes, Slice service, Slice url, const NodeChange *change,
                    Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Status status = STATUS_CONFLICT;
    if (change->capacity != NULL &&
        (*change->capacity < 1 || *change->capacity > NODE_CAPACITY_MAX))
        return reason_set(reason, STATUS_INVALID, "capacity", "is a number from 1 to %" PRIu64,
                          NODE_CAPACITY_MAX);
    for (int i = 0; record_again(&status, i, arena, reason); i++)
        status = change_once(nodes, service, url, change, arena, reason);
    turns_forget(nodes->turns, service);
    return status;
}

/* The counters go first: from then on nobody takes a slot there. Whatever a crash leaves then, a repeat does the rest. */
static Status remove_once(Nodes *nodes, Slice service, Slice url, bool force, Arena *arena,
                          Reason *reason)
{
    Step step;
    NodeName name;
    Slice before;
    ServiceSeen seen;
    Records records = nodes_records(nodes);
    TRY(service_read(nodes, service, arena, &seen, reason));
    NodeSeen *node = service_node_by_url(&seen, url);
    if (node == NULL)
        return reason_set(reason, STATUS_NOT_FOUND, "node", "unknown node");
    if (node->counters.load > 0 && !force)
        return reason_set(reason, STATUS_REFUSED, "node",
                          "%" PRIu64 " slots are out; drain it first", node->counters.load);
    if (node->value.size > 0) {
        Id id = nodes_fresh_id(nodes);
        step_begin(&step, &TABLE_NODES, node_row(node->node, arena), 2, arena);
        step_when(&step, NODE_COUNTERS, node->value);
        step_delete(&step, NODE_COUNTERS);
        step_receipt(&step, &id);
        TRY(step_run(nodes, &step));
    }
    RecordPlace place = {&NODE_NAME_RECORD, &TABLE_NODE_SERVICES, service,
                         url_column(nodes, url, arena)};
    TRY(record_read(&records, &place, STORE_SERIAL, arena, &name, &before));
    name = (NodeName){nodes_fresh_id(nodes), 0};
    NodeEntry entry = {name.write, node->added_ms, nodes_now_ms(nodes), url};
    step_begin(&step, &TABLE_NODE_SERVICES, service, 3, arena);
    step_when(&step, place.column, before);
    step_put(&step, place.column, record_encode(&NODE_NAME_RECORD, &name, NULL, arena), 0);
    step_put(&step, node_column_u64("n/", node->node, arena),
             record_encode(&NODE_ENTRY_RECORD, &entry, NULL, arena), 0);
    step_receipt(&step, &name.write);
    return step_run(nodes, &step);
}

Status nodes_remove(Nodes *nodes, Slice service, Slice url, bool force, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Status status = STATUS_CONFLICT;
    for (int i = 0; record_again(&status, i, arena, reason); i++)
        status = remove_once(nodes, service, url, force, arena, reason);
    turns_forget(nodes->turns, service);
    return status;
}
