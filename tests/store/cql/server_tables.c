/* server_tables.c -- rows as bytes, and what a node's tables say about the cluster; see server.h. */
#include "server.h"

#include <arpa/inet.h>
#include <stdio.h>

void server_put_string(Buffer *out, const char *text)
{
    buffer_u16(out, (uint16_t)strlen(text));
    buffer_text(out, text);
}

void server_put_value(Buffer *out, Slice value)
{
    buffer_u32(out, (uint32_t)value.size);
    buffer_bytes(out, value);
}

/* RESULT rows with columns of blobs, up to where the values follow. */
void server_put_columns(Buffer *out, const char *const *names, uint32_t count)
{
    buffer_u32(out, 2);
    buffer_u32(out, 1);
    buffer_u32(out, count);
    server_put_string(out, "system");
    server_put_string(out, "table");
    for (uint32_t i = 0; i < count; i++) {
        server_put_string(out, names[i]);
        buffer_u16(out, 3);
    }
}

static void put_tokens(Buffer *out, int place)
{
    char token[32];
    BUFFER_SCOPE Buffer set = {0};
    /* A quarter of the ring each, in the order of the places. */
    int64_t at = INT64_MIN / 2 + (int64_t)place * (INT64_MAX / 2);
    snprintf(token, sizeof token, "%lld", (long long)at);
    buffer_u32(&set, 1);
    server_put_value(&set, slice_from(token));
    server_put_value(out, buffer_slice(&set));
}

static void put_node(Buffer *out, const Server *server)
{
    char id[16] = {0};
    id[15] = (char)(server->place + 1);
    server_put_value(out, slice_of(id, sizeof id));
    server_put_value(out, SLICE("dc1"));
    server_put_value(out, SLICE("rack1"));
    server_put_value(out, slice_from(server->cluster->version));
    put_tokens(out, server->place);
}

void server_put_local(Buffer *out, const Server *server)
{
    static const char *const NAMES[] = {"host_id", "data_center", "rack", "release_version",
                                        "tokens"};
    server_put_columns(out, NAMES, 5);
    buffer_u32(out, 1);
    put_node(out, server);
}

void server_put_peers(Buffer *out, const Server *server, bool old)
{
    static const char *const NAMES[] = {"host_id",         "data_center", "rack",
                                        "release_version", "tokens",      "native_address",
                                        "native_port"};
    static const char *const OLD[] = {"host_id",         "data_center", "rack",
                                      "release_version", "tokens",      "rpc_address"};
    const ScriptedCluster *cluster = server->cluster;
    int listed = cluster->listed;
    server_put_columns(out, old ? OLD : NAMES, old ? 6 : 7);
    buffer_u32(out, (uint32_t)(server->place < listed ? listed - 1 : listed));
    for (int i = 0; i < listed; i++) {
        if (i == server->place)
            continue;
        char port[4] = {0, 0, (char)(cluster->port >> 8), (char)cluster->port};
        uint32_t bytes = inet_addr(cluster->servers[i]->address);
        put_node(out, cluster->servers[i]);
        server_put_value(out, slice_of(&bytes, sizeof bytes));
        if (!old)
            server_put_value(out, slice_of(port, sizeof port));
    }
}

void server_put_keyspace(Buffer *out)
{
    static const char *const NAMES[] = {"replication"};
    BUFFER_SCOPE Buffer map = {0};
    buffer_u32(&map, 2);
    server_put_value(&map, SLICE("class"));
    server_put_value(&map, SLICE("org.apache.cassandra.locator.SimpleStrategy"));
    server_put_value(&map, SLICE("replication_factor"));
    server_put_value(&map, SLICE("2"));
    server_put_columns(out, NAMES, 1);
    buffer_u32(out, 1);
    server_put_value(out, buffer_slice(&map));
}
