/* cluster.c -- see cluster.h. */
#include "cli/cluster.h"

#include "cli/arguments.h"
#include "store/cassandra/cassandra.h"

enum { PASSWORD_MAX = 1000, COPIES = 3 };

/* ---- Options ------------------------------------------------------------------------------------------------- */

static Status read_password(const Config *config, World world, Arena *arena,
                            const char **ret_password, Reason *reason)
{
    const char *path = config->cassandra_password_file;
    Reason why = {0};
    Slice password;
    if (path[0] == '\0') {
        *ret_password = NULL;
        return STATUS_OK;
    }
    if (disk_read_line(world.disk, path, PASSWORD_MAX, arena, &password, &why) != STATUS_OK)
        return reason_set(reason, STATUS_INVALID, "cassandra_password_file", "%s", why.rule);
    *ret_password = arena_text(arena, password);
    return STATUS_OK;
}

static Status options_of(const Config *config, World world, Arena *arena,
                         CassandraOptions *ret_options, Reason *reason)
{
    CassandraOptions options = {.user = config->cassandra_user,
                                .tls = config->cassandra_tls,
                                .ca_file = config->cassandra_ca_file,
                                .cert_file = config->cassandra_cert_file,
                                .key_file = config->cassandra_key_file,
                                .request_ms = config->cassandra_request_seconds * 1000,
                                .connections = (size_t)config->cassandra_connections,
                                .grace_s = config->grace_days * S_PER_DAY,
                                .periodic = config->cassandra_periodic,
                                .world = world,
                                .tables = TABLES};
    TRY(cassandra_address(slice_from(config->store), &options.address, reason));
    TRY(read_password(config, world, arena, &options.password, reason));
    bool has_user = options.address.user[0] != '\0' || options.user[0] != '\0';
    if (has_user != (options.password != NULL))
        return reason_set(reason, STATUS_INVALID, "cassandra_password_file",
                          "a user and cassandra_password_file belong together");
    *ret_options = options;
    return STATUS_OK;
}

Status cluster_open(const Config *config, World world, const OpenHow *how, Store **ret_store,
                    Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    CassandraOptions options;
    if (how->bulk)
        return reason_set(reason, STATUS_REFUSED, "store",
                          "a demo is made in a data directory, and not on a cluster");
    TRY(options_of(config, world, arena, &options, reason));
    options.say = (CassandraSay){how->say, how->self};
    return store_cassandra_open(&options, ret_store, reason);
}

/* ---- Commands ------------------------------------------------------------------------------------------------ */

static void say(void *self, const char *sentence)
{
    Context *context = self;
    Slice line = arena_print(context->arena, "ostraka: %s\n", sentence);
    context->output.write(context->output.self, 2, line);
}

static Status init(Context *context, CassandraOptions *ret_options, Reason *reason)
{
    int64_t copies;
    TRY(argument_number(context, "replication", 1, CASSANDRA_COPIES_MAX, COPIES, &copies, reason));
    TRY(options_of(context->config, context->world, context->arena, ret_options, reason));
    return store_cassandra_init(ret_options, (int)copies, reason);
}

int run_cluster_init(Context *context)
{
    Reason reason = {0};
    CassandraOptions options;
    Status status = init(context, &options, &reason);
    if (status != STATUS_OK)
        return command_fail(context, status, &reason);
    command_print(context, "keyspace %s is ready, with %zu tables\n", options.address.keyspace,
                  options.tables.count);
    return EXIT_DONE;
}

static void print_nodes(Context *context, Store *store)
{
    const CassandraNode *nodes;
    size_t count = store_cassandra_nodes(store, context->arena, &nodes);
    for (size_t i = 0; i < count; i++)
        command_print(context, "%-24s Cassandra %-12s %-16s %s\n", nodes[i].address,
                      nodes[i].version, nodes[i].data_center,
                      nodes[i].reachable ? "up" : "cannot be reached");
    command_print(context, "ok: %d %s of each row\n", store_cassandra_copies(store),
                  store_cassandra_copies(store) == 1 ? "copy" : "copies");
}

static void put_nodes(Context *context, Store *store)
{
    BUFFER_SCOPE Buffer out = {0};
    JsonWriter json = json_writer(&out);
    const CassandraNode *nodes;
    size_t count = store_cassandra_nodes(store, context->arena, &nodes);
    json_object_begin(&json);
    json_member_i64(&json, "copies", store_cassandra_copies(store));
    json_key(&json, "nodes");
    json_array_begin(&json);
    for (size_t i = 0; i < count; i++) {
        json_object_begin(&json);
        json_member_text(&json, "address", nodes[i].address);
        json_member_text(&json, "version", nodes[i].version);
        json_member_text(&json, "data_center", nodes[i].data_center);
        json_member_bool(&json, "reachable", nodes[i].reachable);
        json_object_end(&json);
    }
    json_array_end(&json);
    json_object_end(&json);
    command_json(context, &out);
}

int run_cluster_check(Context *context)
{
    Reason reason = {0};
    Store *store;
    OpenHow how = {.say = say, .self = context};
    Status status = cluster_open(context->config, context->world, &how, &store, &reason);
    if (status != STATUS_OK)
        return command_fail(context, status, &reason);
    if (context->parsed.json)
        put_nodes(context, store);
    else
        print_nodes(context, store);
    store_close(store);
    return EXIT_DONE;
}
