/* server.c -- see server.h. A thread for each connection, with sockets that block. */
#include "server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "store/cql/wire.h"

enum { CONNECTIONS_MAX = 64, LONG_ANSWER = CQL_ANSWER_MAX + 1024 * 1024 };

typedef struct Connection {
    Server *server;
    int fd;
    SSL *ssl;
    _Atomic bool open, listens; /* to events */
    pthread_t thread;
    pthread_mutex_t write_lock;
} Connection;

struct ServerInside {
    int listen_fd;
    pthread_t thread;
    SSL_CTX *tls;
    pthread_mutex_t lock;
    Connection connections[CONNECTIONS_MAX];
    int count;
};

/* ---- Bytes ------------------------------------------------------------------------------------------------- */

static bool read_all(Connection *connection, char *to, size_t size)
{
    while (size > 0) {
        ssize_t got = connection->ssl != NULL ? SSL_read(connection->ssl, to, (int)size)
                                              : recv(connection->fd, to, size, 0);
        if (got <= 0)
            return false;
        to += got;
        size -= (size_t)got;
    }
    return true;
}

static bool write_all(Connection *connection, Slice bytes)
{
    int piece = connection->server->cluster->piece;
    bool fine = true;
    pthread_mutex_lock(&connection->write_lock);
    while (bytes.size > 0 && fine) {
        size_t size = piece > 0 && (size_t)piece < bytes.size ? (size_t)piece : bytes.size;
        ssize_t sent = connection->ssl != NULL
                           ? SSL_write(connection->ssl, bytes.data, (int)size)
                           : send(connection->fd, bytes.data, size, MSG_NOSIGNAL);
        fine = sent > 0;
        if (fine)
            bytes = slice_after(bytes, (size_t)sent);
    }
    pthread_mutex_unlock(&connection->write_lock);
    return fine;
}

static size_t begin_answer(Buffer *out, int16_t stream, uint8_t opcode)
{
    size_t frame = wire_begin(out, (uint16_t)stream, (WireOpcode)opcode);
    out->data[frame] = (char)WIRE_ANSWER;
    return frame;
}

static void put_error(Buffer *out, int32_t code, const char *words)
{
    buffer_u32(out, (uint32_t)code);
    server_put_string(out, words);
}

static bool contains(Slice text, const char *word)
{
    return memmem(text.data, text.size, word, strlen(word)) != NULL;
}

/* Whether it was a question about the cluster. */
static bool answer_about_cluster(Connection *connection, int16_t stream, Slice query)
{
    const ScriptedCluster *cluster = connection->server->cluster;
    BUFFER_SCOPE Buffer out = {0};
    bool missing = contains(query, "system.peers_v2") && cluster->old_tables;
    size_t frame = begin_answer(&out, stream, missing ? WIRE_ERROR : WIRE_RESULT);
    if (missing)
        put_error(&out, WIRE_ERROR_INVALID, "unconfigured table peers_v2");
    else if (contains(query, "system.local"))
        server_put_local(&out, connection->server);
    else if (contains(query, "system.peers"))
        server_put_peers(&out, connection->server, cluster->old_tables);
    else if (contains(query, "system_schema.keyspaces"))
        server_put_keyspace(&out);
    else
        return false;
    wire_end(&out, frame);
    write_all(connection, buffer_slice(&out));
    return true;
}

/* ---- Calls ------------------------------------------------------------------------------------------------- */

static void put_row(Buffer *out, const Server *server)
{
    static const char *const NAMES[] = {"host"};
    server_put_columns(out, NAMES, 1);
    buffer_u32(out, 1);
    server_put_value(out, slice_from(server->address));
}

static bool answer_long(Connection *connection, int16_t stream)
{
    static const char NOTHING[64 * 1024];
    BUFFER_SCOPE Buffer out = {0};
    begin_answer(&out, stream, WIRE_RESULT);
    out.data[5] = LONG_ANSWER >> 24;
    out.data[6] = (char)(LONG_ANSWER >> 16);
    bool fine = write_all(connection, buffer_slice(&out));
    for (size_t sent = 0; fine && sent < LONG_ANSWER; sent += sizeof NOTHING)
        fine = write_all(connection, slice_of(NOTHING, sizeof NOTHING));
    return fine;
}

static void put_act(Buffer *out, Connection *connection, int16_t stream, Act act)
{
    static const char ID[] = "statement";
    Server *server = connection->server;
    bool error = act == ACT_ERROR || act == ACT_FORGET;
    size_t frame = begin_answer(out, act == ACT_STRANGE_STREAM ? (int16_t)(stream + 1) : stream,
                                error                       ? WIRE_ERROR
                                : act == ACT_STRANGE_OPCODE ? 0x42
                                                            : WIRE_RESULT);
    if (act == ACT_WARN) {
        out->data[frame + 1] = 0x08;
        buffer_u16(out, 1);
        server_put_string(out, "this is a warning");
    }
    if (act == ACT_ERROR) {
        put_error(out, server->error, "as told");
    } else if (act == ACT_FORGET) {
        put_error(out, WIRE_ERROR_UNPREPARED, "never heard of it");
        server_put_string(out, ID);
        server->act = ACT_ANSWER;
    } else if (act == ACT_NONSENSE) {
        buffer_u32(out, 99);
    } else {
        put_row(out, server);
    }
    wire_end(out, frame);
    if (act == ACT_ENDLESS)
        memset(out->data + frame + 5, 0x7f, 4);
}

/* False: the connection ends. */
static bool do_call(Connection *connection, int16_t stream)
{
    Server *server = connection->server;
    BUFFER_SCOPE Buffer out = {0};
    Act act = (Act)server->act;
    server->executed++;
    if (act == ACT_CLOSE)
        return false;
    if (act == ACT_KEEP)
        return true;
    if (act == ACT_LONG)
        return answer_long(connection, stream);
    put_act(&out, connection, stream, act);
    if (act == ACT_CLOSE_MIDWAY) {
        write_all(connection, slice_of(out.data, out.size / 2));
        return false;
    }
    return write_all(connection, buffer_slice(&out));
}

/* ---- Conversation ------------------------------------------------------------------------------------------ */

static bool simple(Connection *connection, int16_t stream, uint8_t opcode)
{
    BUFFER_SCOPE Buffer out = {0};
    size_t frame = begin_answer(&out, stream, opcode);
    if (opcode == WIRE_AUTHENTICATE)
        server_put_string(&out, "org.apache.cassandra.auth.PasswordAuthenticator");
    if (opcode == WIRE_ERROR)
        put_error(&out, WIRE_ERROR_LOGIN, "Provided username and/or password are incorrect");
    if (opcode == WIRE_SUPPORTED)
        buffer_u16(&out, 0);
    if (opcode == WIRE_RESULT) { /* prepared */
        buffer_u32(&out, 4);
        server_put_string(&out, "statement");
    }
    if (opcode == WIRE_AUTH_SUCCESS)
        buffer_u32(&out, UINT32_MAX);
    wire_end(&out, frame);
    return write_all(connection, buffer_slice(&out));
}

static bool refuse_table(Connection *connection, int16_t stream)
{
    BUFFER_SCOPE Buffer out = {0};
    size_t frame = begin_answer(&out, stream, WIRE_ERROR);
    put_error(&out, WIRE_ERROR_INVALID, "unconfigured table");
    wire_end(&out, frame);
    return write_all(connection, buffer_slice(&out));
}

static bool refuse_version(Connection *connection, int16_t stream)
{
    BUFFER_SCOPE Buffer out = {0};
    size_t frame = begin_answer(&out, stream, WIRE_ERROR);
    out.data[frame] = (char)0x83;
    put_error(&out, WIRE_ERROR_PROTOCOL, "Invalid or unsupported protocol version: 4");
    wire_end(&out, frame);
    return write_all(connection, buffer_slice(&out));
}

static bool is_right_login(const ScriptedCluster *cluster, Slice body)
{
    Slice login = slice_after(body, 4), right = slice_from(cluster->login);
    bool same = login.size == right.size;
    for (size_t i = 0; same && i < right.size; i++)
        same = login.data[i] == (right.data[i] == '/' ? '\0' : right.data[i]);
    return same;
}

static bool react(Connection *connection, const WireFrame *frame)
{
    Server *server = connection->server;
    const ScriptedCluster *cluster = server->cluster;
    switch (frame->opcode) {
    case WIRE_STARTUP:
        server->greeted++;
        if (cluster->speaks_v3)
            return refuse_version(connection, frame->stream);
        return simple(connection, frame->stream,
                      cluster->login != NULL ? WIRE_AUTHENTICATE : WIRE_READY);
    case WIRE_AUTH_RESPONSE:
        return simple(connection, frame->stream,
                      is_right_login(cluster, frame->body) ? WIRE_AUTH_SUCCESS : WIRE_ERROR);
    case WIRE_REGISTER:
        connection->listens = true;
        return simple(connection, frame->stream, WIRE_READY);
    case WIRE_OPTIONS:
        server->probed++;
        return simple(connection, frame->stream, WIRE_SUPPORTED);
    case WIRE_PREPARE:
        server->prepared++;
        if (server->ignorant)
            return refuse_table(connection, frame->stream);
        return simple(connection, frame->stream, WIRE_RESULT);
    default:
        return answer_about_cluster(connection, frame->stream, frame->body) ||
               do_call(connection, frame->stream);
    }
}

/* Frozen it does not even read on: what was sent to it stays with the sender. */
static bool handle_frame(Connection *connection)
{
    char head[WIRE_HEAD];
    BUFFER_SCOPE Buffer body = {0};
    if (!read_all(connection, head, sizeof head))
        return false;
    head[0] = (char)(head[0] | 0x80); /* to be read as an answer is */
    WireFrame frame;
    if (wire_read_head(slice_of(head, sizeof head), &frame) != STATUS_OK)
        return false; /* a greeting of TLS, where none is spoken */
    while (connection->server->act == ACT_FREEZE && connection->open)
        usleep(2000);
    if (!connection->open ||
        !read_all(connection, buffer_reserve(&body, frame.length + 1), frame.length))
        return false;
    frame.body = slice_of(body.data, frame.length);
    return react(connection, &frame);
}

static void *talk(void *context)
{
    Connection *connection = context;
    Server *server = connection->server;
    server->connections++;
    if (connection->ssl == NULL || SSL_accept(connection->ssl) == 1)
        while (connection->open && handle_frame(connection))
            continue;
    pthread_mutex_lock(&server->inside->lock);
    connection->open = false;
    pthread_mutex_unlock(&server->inside->lock);
    shutdown(connection->fd, SHUT_RDWR);
    server->connections--;
    return NULL;
}

static void *welcome(void *context)
{
    Server *server = context;
    struct ServerInside *inside = server->inside;
    int fd, on = 1;
    while ((fd = accept(inside->listen_fd, NULL, NULL)) >= 0) {
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        pthread_mutex_lock(&inside->lock);
        CHECK(inside->count < CONNECTIONS_MAX);
        Connection *connection = &inside->connections[inside->count++];
        *connection = (Connection){.server = server, .fd = fd, .open = true};
        pthread_mutex_init(&connection->write_lock, NULL);
        if (inside->tls != NULL) {
            connection->ssl = SSL_new(inside->tls);
            SSL_set_fd(connection->ssl, fd);
        }
        CHECK(pthread_create(&connection->thread, NULL, talk, connection) == 0);
        pthread_mutex_unlock(&inside->lock);
    }
    return NULL;
}

/* ---- Coming and going -------------------------------------------------------------------------------------- */

static int listen_at(const char *address, uint16_t port)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(port)};
    int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1, small = 64 * 1024;
    at.sin_addr.s_addr = inet_addr(address);
    CHECK(fd >= 0);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    CHECK(bind(fd, (struct sockaddr *)&at, sizeof at) == 0 && listen(fd, 64) == 0);
    return fd;
}

static uint16_t port_of(int fd)
{
    struct sockaddr_in at;
    socklen_t size = sizeof at;
    CHECK(getsockname(fd, (struct sockaddr *)&at, &size) == 0);
    return ntohs(at.sin_port);
}

void server_start(Server *server)
{
    struct ServerInside *inside = calloc(1, sizeof *inside);
    CHECK(inside != NULL);
    server->inside = inside;
    pthread_mutex_init(&inside->lock, NULL);
    inside->listen_fd = listen_at(server->address, server->cluster->port);
    if (server->cluster->port == 0)
        server->cluster->port = port_of(inside->listen_fd);
    if (server->cluster->certificate != NULL) {
        inside->tls = SSL_CTX_new(TLS_server_method());
        CHECK(SSL_CTX_use_certificate_chain_file(inside->tls, server->cluster->certificate) == 1);
        CHECK(SSL_CTX_use_PrivateKey_file(inside->tls, server->cluster->certificate,
                                          SSL_FILETYPE_PEM) == 1);
    }
    CHECK(pthread_create(&inside->thread, NULL, welcome, server) == 0);
}

void server_stop(Server *server)
{
    struct ServerInside *inside = server->inside;
    if (inside == NULL)
        return;
    shutdown(inside->listen_fd, SHUT_RDWR);
    pthread_join(inside->thread, NULL);
    close(inside->listen_fd);
    for (int i = 0; i < inside->count; i++) {
        Connection *connection = &inside->connections[i];
        struct linger now = {.l_onoff = 1, .l_linger = 0};
        pthread_mutex_lock(&inside->lock);
        connection->open = false;
        pthread_mutex_unlock(&inside->lock);
        setsockopt(connection->fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
        shutdown(connection->fd, SHUT_RDWR);
        pthread_join(connection->thread, NULL);
        SSL_free(connection->ssl);
        close(connection->fd);
        pthread_mutex_destroy(&connection->write_lock);
    }
    SSL_CTX_free(inside->tls);
    pthread_mutex_destroy(&inside->lock);
    free(inside);
    server->inside = NULL;
}

void scripted_cluster_start(ScriptedCluster *cluster, int servers)
{
    static const char *const ADDRESSES[] = {"127.0.0.21", "127.0.0.22", "127.0.0.23", "127.0.0.24"};
    CHECK(servers <= SCRIPTED_CLUSTER_MAX);
    signal(SIGPIPE, SIG_IGN); /* OpenSSL writes without asking for errors instead */
    if (cluster->version == NULL)
        cluster->version = "5.0.8";
    for (int i = 0; i < servers; i++) {
        Server *server = calloc(1, sizeof *server);
        CHECK(server != NULL);
        server->cluster = cluster;
        server->address = i == 0 && cluster->first != NULL ? cluster->first : ADDRESSES[i];
        server->place = i;
        cluster->servers[i] = server;
        server_start(server);
    }
    if (cluster->listed == 0)
        cluster->listed = servers;
}

void scripted_cluster_stop(ScriptedCluster *cluster)
{
    for (int i = 0; i < SCRIPTED_CLUSTER_MAX && cluster->servers[i] != NULL; i++) {
        server_stop(cluster->servers[i]);
        free(cluster->servers[i]);
    }
}

void scripted_cluster_tell(ScriptedCluster *cluster)
{
    BUFFER_SCOPE Buffer out = {0};
    size_t frame = begin_answer(&out, -1, WIRE_EVENT);
    server_put_string(&out, "TOPOLOGY_CHANGE");
    server_put_string(&out, "NEW_NODE");
    buffer_u8(&out, 4);
    buffer_u32(&out, 0x7f000001);
    buffer_u32(&out, 9042);
    wire_end(&out, frame);
    for (int i = 0; i < SCRIPTED_CLUSTER_MAX && cluster->servers[i] != NULL; i++) {
        struct ServerInside *inside = cluster->servers[i]->inside;
        if (inside == NULL)
            continue;
        pthread_mutex_lock(&inside->lock);
        for (int j = 0; j < inside->count; j++)
            if (inside->connections[j].open && inside->connections[j].listens)
                write_all(&inside->connections[j], buffer_slice(&out));
        pthread_mutex_unlock(&inside->lock);
    }
}
