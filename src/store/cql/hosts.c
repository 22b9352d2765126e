/* hosts.c -- the nodes of the cluster and our connections to them.
 *
 * A node is known by its host_id, which stays when its address changes. One that the cluster's tables no longer list is forgotten when it
 * has no connection either: the table of a node that has just started is not complete, and closing what works would make open writes
 * unknown. A connection that ends is opened again after a pause that grows to some seconds; the news that a node is up ends
 * the pause. */
#include "store/cql/client_private.h"

#include <stdio.h>
#include <stdlib.h>

enum { PAUSE_FIRST_US = 50 * 1000, PAUSE_DOUBLINGS = 7 }; /* 50 ms … 6.4 s */

int64_t host_pause_us(CqlClient *client, unsigned failures)
{
    int64_t most_us = (int64_t)PAUSE_FIRST_US
                      << (failures < PAUSE_DOUBLINGS ? failures : PAUSE_DOUBLINGS);
    return most_us / 2 + (int64_t)(random_u64(client->world.random) % (uint64_t)(most_us / 2));
}

/* ---- State ------------------------------------------------------------------------------------------------- */

bool host_is_usable(const Host *host)
{
    return host->up;
}

Link *host_link(const Host *host)
{
    Link *best = NULL;
    for (size_t i = 0; i < host->client->connections; i++) {
        Link *link = host->links[i];
        if (link != NULL && link_has_room(link) &&
            (best == NULL || link_load(link) < link_load(best)))
            best = link;
    }
    return best;
}

Host *host_at(CqlClient *client, const Endpoint *endpoint)
{
    for (size_t i = 0; i < client->host_count; i++)
        if (client->hosts[i] != NULL && endpoint_equal(&client->hosts[i]->endpoint, endpoint))
            return client->hosts[i];
    return NULL;
}

static size_t connection_count(const Host *host)
{
    size_t count = 0;
    for (size_t i = 0; i < host->client->connections; i++)
        count += host->links[i] != NULL;
    return count;
}

/* After anything happened to a connection. */
static void review(Host *host)
{
    CqlClient *client = host->client;
    bool up = false;
    for (size_t i = 0; i < client->connections; i++)
        up |= host->links[i] != NULL && link_is_usable(host->links[i]);
    if (up != host->up) {
        pthread_mutex_lock(&client->hosts_lock);
        host->up = up;
        pthread_mutex_unlock(&client->hosts_lock);
    }
    client->room = true;
}

/* ---- Connections ------------------------------------------------------------------------------------------- */

static void link_ready(Link *link)
{
    Host *host = link_context(link);
    host->failures = 0;
    host->settled = true;
    host->leaving_us = 0;
    review(host);
    client_check_settled(host->client);
}

/* One connection may hang alone, or the whole node may: the others have to say something before they are used again. */
static void link_turned(Link *link)
{
    Host *host = link_context(link);
    if (link_is_silent(link)) {
        cql_count(&host->client->counters.silences);
        for (size_t i = 0; i < host->client->connections; i++)
            if (host->links[i] != NULL && host->links[i] != link)
                link_doubt(host->links[i]);
    }
    review(host);
}

static void link_ended(Link *link, Status status, const char *words)
{
    Host *host = link_context(link);
    CqlClient *client = host->client;
    (void)words;
    for (size_t i = 0; i < client->connections; i++)
        if (host->links[i] == link)
            host->links[i] = NULL;
    host->settled = true;
    if (status == STATUS_LOGIN) /* asking again soon would only lock the account */
        host->failures = PAUSE_DOUBLINGS;
    if (!timer_is_set(&host->retry)) {
        timers_set(&client->loop.net.timers, &host->retry,
                   client->loop.net.now_us + host_pause_us(client, host->failures));
        host->failures++;
    }
    review(host);
    client_check_settled(client);
}

static const LinkOwner OWNER = {link_ready, NULL, link_turned, link_ended};

static void open_missing(Host *host)
{
    CqlClient *client = host->client;
    LinkTarget target = {.endpoint = host->endpoint, .name = host->name};
    for (size_t i = 0; i < client->connections; i++)
        if (host->links[i] == NULL) {
            host->links[i] = link_open(&client->links, &target, &OWNER, host);
            cql_count(&client->counters.connects);
        }
}

static void retry_due(Timer *timer)
{
    Host *host = OWNER_OF(timer, Host, retry);
    if (!host->listed && connection_count(host) == 0)
        host_remove(host);
    else
        open_missing(host);
}

void host_connect_soon(Host *host)
{
    CqlClient *client = host->client;
    host->leaving_us = 0;
    host->failures = 0;
    if (connection_count(host) < client->connections)
        timers_set(&client->loop.net.timers, &host->retry, client->loop.net.now_us);
}

/* ---- Coming and going -------------------------------------------------------------------------------------- */

static void keep_word(char to[HOST_WORD], Slice word)
{
    size_t size = word.size < HOST_WORD - 1 ? word.size : HOST_WORD - 1;
    memcpy(to, word.data, size);
    to[size] = '\0';
}

/* A contact's name is what its certificate has; nodes that we know from the tables only have their address. */
static void name_host(Host *host)
{
    const CqlClient *client = host->client;
    endpoint_text(&host->endpoint, endpoint_port(&host->endpoint), host->name);
    for (size_t i = 0; i < client->seed_count; i++)
        if (endpoint_equal(&client->seeds[i].endpoint, &host->endpoint))
            snprintf(host->name, sizeof host->name, "%s", client->seeds[i].name);
}

/* Under hosts_lock. */
static void describe(Host *host, const Peer *peer)
{
    keep_word(host->version, peer->version);
    keep_word(host->data_center, peer->data_center);
    keep_word(host->rack, peer->rack);
    endpoint_text(&host->endpoint, host->client->port, host->address);
    host->used = host->listed = true;
}

static Host *host_new(CqlClient *client, const Peer *peer)
{
    size_t place = 0;
    while (place < client->host_count && client->hosts[place] != NULL)
        place++;
    if (place == CQL_HOSTS_MAX)
        return NULL;
    Host *host = calloc(1, sizeof *host);
    CHECK(host != NULL);
    *host = (Host){.client = client,
                   .index = (uint16_t)place,
                   .endpoint = peer->endpoint,
                   .retry = {.due = retry_due},
                   .links = calloc(client->connections, sizeof(Link *))};
    CHECK(host->links != NULL);
    memcpy(host->id, peer->id.data, PEERS_ID);
    name_host(host);
    pthread_mutex_lock(&client->hosts_lock);
    describe(host, peer);
    client->hosts[place] = host;
    if (place == client->host_count)
        client->host_count++;
    pthread_mutex_unlock(&client->hosts_lock);
    open_missing(host);
    return host;
}

void host_remove(Host *host)
{
    CqlClient *client = host->client;
    host->listed = false;
    for (size_t i = 0; i < client->connections; i++)
        if (host->links[i] != NULL)
            link_close(host->links[i], STATUS_UNAVAILABLE, "the node has left the cluster");
    timers_clear(&client->loop.net.timers, &host->retry);
    pthread_mutex_lock(&client->hosts_lock);
    client->hosts[host->index] = NULL;
    pthread_mutex_unlock(&client->hosts_lock);
    CHECK(host->unprepared.first == NULL);
    prepared_free(host);
    free(host->links);
    free(host);
}

/* The same node at another address: it moved. As long as the old one works there is no hurry: a table may name
 * an address that only other nodes reach. */
static void move_host(Host *host, const Peer *peer)
{
    if (host->up || endpoint_equal(&host->endpoint, &peer->endpoint))
        return;
    for (size_t i = 0; i < host->client->connections; i++)
        if (host->links[i] != NULL)
            link_close(host->links[i], STATUS_UNAVAILABLE, "the node has moved");
    host->endpoint = peer->endpoint;
    name_host(host);
    host_connect_soon(host);
}

static Host *host_known(CqlClient *client, Slice id)
{
    for (size_t i = 0; i < client->host_count; i++)
        if (client->hosts[i] != NULL && memcmp(client->hosts[i]->id, id.data, PEERS_ID) == 0)
            return client->hosts[i];
    return NULL;
}

static void update_host(CqlClient *client, const Peer *peer)
{
    Host *host = host_known(client, peer->id);
    if (host == NULL) {
        (void)host_new(client, peer);
        return;
    }
    move_host(host, peer);
    pthread_mutex_lock(&client->hosts_lock);
    describe(host, peer);
    pthread_mutex_unlock(&client->hosts_lock);
}

void hosts_update(CqlClient *client, const Peer *peers, size_t count)
{
    pthread_mutex_lock(&client->hosts_lock);
    for (size_t i = 0; i < client->host_count; i++)
        if (client->hosts[i] != NULL)
            client->hosts[i]->listed = false;
    pthread_mutex_unlock(&client->hosts_lock);
    for (size_t i = 0; i < count; i++)
        update_host(client, &peers[i]);
    for (size_t i = 0; i < client->host_count; i++) {
        Host *host = client->hosts[i];
        if (host != NULL && !host->listed && !host->up)
            host_remove(host);
    }
}
