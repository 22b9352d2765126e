/* rows.c -- the rows of services, nodes and users: their records, keys, and how they are read. */
#include "accounts/account_rules.h"
#include "nodes/nodes_private.h"

const Slice SERVICE_HEAD = {"head", 4}, NODE_COUNTERS = {"c", 1}, USER_HEAD = {"head", 4};

/* ---- Records -------------------------------------------------------------------------------------------------- */

static const RecordField SERVICE_FIELDS[] = {
    RECORD_WRITE_ID(ServiceHead, write),
    RECORD_ENUM(ServiceHead, order, NODE_ORDERS),
    RECORD_ENUM(ServiceHead, policy, NODE_POLICIES),
    RECORD_RANGE(ServiceHead, top, 4, 1, NODE_TOP_MAX),
    RECORD_RANGE(ServiceHead, rate, 4, 1, NODE_RATE_ALL),
    RECORD_BOOL(ServiceHead, new_users),
    RECORD_BOOL(ServiceHead, gradual),
    RECORD_BOOL(ServiceHead, beats),
    RECORD_I64(ServiceHead, duration_s),
    RECORD_TEXT16(ServiceHead, pattern),
    RECORD_REST(ServiceHead, secret, NODE_SECRET_MAX),
};
const Record SERVICE_RECORD = RECORD("node service", ServiceHead, 1, SERVICE_FIELDS);

static const RecordField ENTRY_FIELDS[] = {
    RECORD_WRITE_ID(NodeEntry, write),
    RECORD_I64(NodeEntry, added_ms),
    RECORD_I64(NodeEntry, removed_ms),
    RECORD_REST(NodeEntry, url, NODE_URL_MAX),
};
const Record NODE_ENTRY_RECORD = RECORD("node entry", NodeEntry, 1, ENTRY_FIELDS);

static const RecordField NAME_FIELDS[] = {RECORD_WRITE_ID(NodeName, write),
                                          RECORD_U64(NodeName, node)};
const Record NODE_NAME_RECORD = RECORD("node name", NodeName, 1, NAME_FIELDS);

static const RecordField COUNTERS_FIELDS[] = {
    RECORD_WRITE_ID(NodeCounters, write),
    RECORD_U64(NodeCounters, capacity),
    RECORD_U64(NodeCounters, load),
    RECORD_I64(NodeCounters, available),
    RECORD_ENUM(NodeCounters, state, NODE_STATES),
    RECORD_BOOL(NodeCounters, downed),
    RECORD_BOOL(NodeCounters, backoff),
    RECORD_U64(NodeCounters, takes),
    RECORD_U64(NodeCounters, returns),
};
const Record NODE_COUNTERS_RECORD = RECORD("node counters", NodeCounters, 1, COUNTERS_FIELDS);

static const RecordField FLIGHT_FIELDS[] = {RECORD_I64(NodeFlight, since_ms),
                                            RECORD_FIXED(NodeFlight, user, USER_ROW)};
const Record NODE_FLIGHT_RECORD = RECORD("node flight", NodeFlight, 1, FLIGHT_FIELDS);

static const RecordField EMAIL_FIELDS[] = {RECORD_REST(UserHead, email, NODE_EMAIL_MAX)};
static const Record USER_EMAIL =
    RECORD_PART("node user's e-mail", UserHead, 0, "node user", EMAIL_FIELDS);
static const RecordField USER_FIELDS[] = {
    RECORD_WRITE_ID(UserHead, write),
    RECORD_ENUM(UserHead, state, NODE_USER_STATES),
    RECORD_U64(UserHead, uid),
    RECORD_U64(UserHead, node),
    RECORD_ID(UserHead, take),
    RECORD_I64(UserHead, generation),
    RECORD_I64(UserHead, keys_changed_at),
    RECORD_I64(UserHead, created_ms),
    RECORD_I64(UserHead, first_seen_ms),
    RECORD_I64(UserHead, replaced_ms),
    RECORD_TEXT16(UserHead, client_state),
    RECORD_SEALED_IF_ANY(0, &USER_EMAIL),
};
const Record USER_HEAD_RECORD = RECORD("node user", UserHead, 1, USER_FIELDS);

static const RecordField RECORD_FIELDS[] = {
    RECORD_U64(UserRecord, node),
    RECORD_I64(UserRecord, generation),
    RECORD_I64(UserRecord, keys_changed_at),
    RECORD_I64(UserRecord, created_ms),
    RECORD_REST(UserRecord, client_state, NODE_CLIENT_STATE_MAX),
};
const Record USER_RECORD_RECORD = RECORD("node user's record", UserRecord, 1, RECORD_FIELDS);

static const RecordField REPLACED_FIELDS[] = {RECORD_I64(UserReplaced, replaced_ms)};
const Record USER_REPLACED_RECORD =
    RECORD("node user's replaced record", UserReplaced, 1, REPLACED_FIELDS);

static const RecordField OWES_FIELDS[] = {RECORD_U64(UserOwes, node), RECORD_ID(UserOwes, take)};
const Record USER_OWES_RECORD = RECORD("node user's return", UserOwes, 1, OWES_FIELDS);

/* ---- Keys ------------------------------------------------------------------------------------------------------ */

Slice node_row(uint64_t node, Arena *arena)
{
    char *row = arena_bytes(arena, NODE_ROW);
    bytes_put_u64(row, node);
    return slice_of(row, NODE_ROW);
}

Slice node_column(const char *prefix, Slice rest, Arena *arena)
{
    size_t size = strlen(prefix);
    char *column = arena_bytes(arena, size + rest.size);
    memcpy(column, prefix, size);
    memcpy(column + size, rest.data, rest.size);
    return slice_of(column, size + rest.size);
}

Slice node_column_u64(const char *prefix, uint64_t number, Arena *arena)
{
    return node_column(prefix, node_row(number, arena), arena);
}

Slice user_row(const Nodes *nodes, Slice service, Slice folded, Arena *arena)
{
    Slice text = arena_print(arena, "%.*s%c%.*s", SLICE_ARG(service), '\0', SLICE_ARG(folded));
    return slice_of(vault_hash(nodes->vault, "node user", text, arena).data, USER_ROW);
}

Slice node_person_row(const Nodes *nodes, Slice folded, Arena *arena)
{
    return slice_of(vault_hash(nodes->vault, "node person", folded, arena).data, USER_ROW);
}

Status node_fold_email(Slice email, Arena *arena, Slice *ret_folded, Reason *reason)
{
    return account_fold_email(slice_trim(email), arena, ret_folded, reason);
}

/* ---- Services -------------------------------------------------------------------------------------------------- */

static Status no_such_service(Reason *reason)
{
    return reason_set(reason, STATUS_NOT_FOUND, "service", "there is no such service");
}

static bool cut(Slice *column, const char *prefix)
{
    if (!slice_starts_with(*column, slice_from(prefix)))
        return false;
    *column = slice_after(*column, strlen(prefix));
    return true;
}

/* Head and entries; the counters are still to be read. */
static Status read_entries(const Page *page, ServiceSeen *service)
{
    bool found = false;
    for (size_t i = 0; i < page->count; i++) {
        Slice column = page->cells[i].column, value = page->cells[i].value;
        NodeEntry entry;
        if (slice_equal(column, SERVICE_HEAD)) {
            TRY(record_decode(&SERVICE_RECORD, value, NULL, NULL, &service->head));
            service->value = value;
            found = true;
        } else if (cut(&column, "n/") && column.size == NODE_ROW) {
            TRY(record_decode(&NODE_ENTRY_RECORD, value, NULL, NULL, &entry));
            if (entry.removed_ms == NODE_NO_NUMBER)
                service->nodes[service->count++] = (NodeSeen){bytes_get_u64(column.data), entry.url,
                                                              entry.added_ms, .value = SLICE_EMPTY};
        }
    }
    return found ? STATUS_OK : STATUS_NOT_FOUND;
}

static Status read_counters(Nodes *nodes, ServiceSeen *service, Arena *arena)
{
    Read *reads = ARENA_ARRAY(arena, service->count, Read);
    ReadAnswer *answers = ARENA_ARRAY(arena, service->count, ReadAnswer);
    for (size_t i = 0; i < service->count; i++)
        reads[i] = (Read){&TABLE_NODES, node_row(service->nodes[i].node, arena), NODE_COUNTERS,
                          STORE_SERIAL};
    TRY(store_read_many(nodes->store, reads, service->count, arena, answers));
    for (size_t i = 0; i < service->count; i++) {
        if (answers[i].status == STATUS_NOT_FOUND) /* being added */
            continue;
        TRY(answers[i].status);
        service->nodes[i].value = answers[i].cell.value;
        TRY(record_decode(&NODE_COUNTERS_RECORD, answers[i].cell.value, NULL, NULL,
                          &service->nodes[i].counters));
    }
    return STATUS_OK;
}

Status service_read(Nodes *nodes, Slice name, Arena *arena, ServiceSeen *ret_service,
                    Reason *reason)
{
    Page page;
    ServiceSeen service = {.value = SLICE_EMPTY};
    if (name.size == 0 || name.size > NODE_SERVICE_MAX)
        return no_such_service(reason);
    Query query = {.table = &TABLE_NODE_SERVICES,
                   .row = name,
                   .from = SERVICE_HEAD,
                   .to = SLICE("o"),
                   .limit = 2 * NODES_PER_SERVICE_MAX + 1,
                   .mode = STORE_SERIAL};
    TRY(store_slice(nodes->store, &query, arena, &page));
    service.nodes = ARENA_ARRAY(arena, page.count, NodeSeen);
    Status status = read_entries(&page, &service);
    if (status == STATUS_NOT_FOUND)
        return no_such_service(reason);
    TRY(status);
    TRY(read_counters(nodes, &service, arena));
    *ret_service = service;
    return STATUS_OK;
}

NodeSeen *service_node(const ServiceSeen *service, uint64_t node)
{
    for (size_t i = 0; i < service->count; i++)
        if (service->nodes[i].node == node)
            return &service->nodes[i];
    return NULL;
}

NodeSeen *service_node_by_url(const ServiceSeen *service, Slice url)
{
    for (size_t i = 0; i < service->count; i++)
        if (slice_equal(service->nodes[i].url, url))
            return &service->nodes[i];
    return NULL;
}

Status node_read(Nodes *nodes, NodeSeen *seen, Arena *arena)
{
    Records records = nodes_records(nodes);
    RecordPlace place = {&NODE_COUNTERS_RECORD, &TABLE_NODES, node_row(seen->node, arena),
                         NODE_COUNTERS};
    return record_read(&records, &place, STORE_SERIAL, arena, &seen->counters, &seen->value);
}

void node_view(const Nodes *nodes, const NodeSeen *seen, NodeView *ret_view)
{
    const NodeCounters *counters = &seen->counters;
    /* Equal nodes in the order of their ids; of a shared store each instance begins at another one. */
    uint64_t tie = nodes->instance == 0
                       ? seen->node
                       : (seen->node ^ nodes->instance) * UINT64_C(0x9e3779b97f4a7c15);
    *ret_view = (NodeView){.node = seen->node,
                           .tie = tie,
                           .capacity = counters->capacity,
                           .load = counters->load,
                           .available = counters->available,
                           .state = counters->state,
                           .downed = counters->downed,
                           .backoff = counters->backoff,
                           .silent = seen->value.size == 0};
}

/* ---- Users ----------------------------------------------------------------------------------------------------- */

static Query user_query(Slice row)
{
    return (Query){.table = &TABLE_NODE_USERS,
                   .row = row,
                   .from = USER_HEAD,
                   .to = SLICE("t"),
                   .limit = STORE_PAGE_MAX,
                   .mode = STORE_SERIAL};
}

static Status user_of(Nodes *nodes, Slice row, const Page *page, Arena *arena, UserSeen *ret_user)
{
    UserSeen user = {.row = row, .value = SLICE_EMPTY};
    user.states = ARENA_ARRAY(arena, page->count, Slice);
    user.owes = ARENA_ARRAY(arena, page->count, UserOwes);
    user.owe_ids = ARENA_ARRAY(arena, page->count, Slice);
    VaultCell cell = record_cell(nodes->vault, &TABLE_NODE_USERS, row, USER_HEAD);
    record_clear(&USER_HEAD_RECORD, &user.head);
    for (size_t i = 0; i < page->count; i++) {
        Slice column = page->cells[i].column, value = page->cells[i].value;
        if (slice_equal(column, USER_HEAD)) {
            TRY(record_decode(&USER_HEAD_RECORD, value, &cell, arena, &user.head));
            user.value = value;
        } else if (cut(&column, "o/")) {
            TRY(record_decode(&USER_OWES_RECORD, value, NULL, NULL, &user.owes[user.owe_count]));
            user.owe_ids[user.owe_count++] = column;
        } else if (cut(&column, "s/")) {
            user.states[user.state_count++] = column;
        }
    }
    *ret_user = user;
    return page->more ? STATUS_CORRUPT : STATUS_OK;
}

Status user_read(Nodes *nodes, Slice row, Arena *arena, UserSeen *ret_user)
{
    Page page;
    Query query = user_query(row);
    TRY(store_slice(nodes->store, &query, arena, &page));
    return user_of(nodes, row, &page, arena, ret_user);
}

Status user_read_many(Nodes *nodes, const Slice *rows, size_t count, Arena *arena,
                      UserSeen *ret_users, Status *ret_statuses)
{
    Query *queries = ARENA_ARRAY(arena, count, Query);
    PageAnswer *answers = ARENA_ARRAY(arena, count, PageAnswer);
    for (size_t i = 0; i < count; i++)
        queries[i] = user_query(rows[i]);
    TRY(store_slice_many(nodes->store, queries, count, arena, answers));
    for (size_t i = 0; i < count; i++) {
        ret_statuses[i] = answers[i].status;
        if (ret_statuses[i] == STATUS_OK)
            ret_statuses[i] = user_of(nodes, rows[i], &answers[i].page, arena, &ret_users[i]);
    }
    return STATUS_OK;
}
