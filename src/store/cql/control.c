/* control.c -- the connection by which we know who is in the cluster.
 *
 * One connection to any node: events are asked for on it, then the node's tables are read, from which hosts.c makes nodes and ring.c who holds
 * what. They are read again, a moment after an event so that many are one, and once a minute, since events can be lost with a
 * connection. When the connection ends or falls silent the next node is tried: those that are up, the others, the contacts. */
#include "store/cql/client_private.h"

#include <stdio.h>
#include <stdlib.h>

enum { SOON_US = 500 * 1000, MINUTE_US = 60 * 1000 * 1000, LEAVING_US = 10 * 1000 * 1000 };

static void refresh(Control *control);

/* ---- The tables -------------------------------------------------------------------------------------------- */

static void build_ring(CqlClient *client, const Peer *peers, size_t count,
                       const Replication *replication)
{
    RingNode nodes[CQL_HOSTS_MAX] = {0};
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < client->host_count; j++) {
            const Host *host = client->hosts[j];
            if (host != NULL && memcmp(host->id, peers[i].id.data, PEERS_ID) == 0)
                nodes[j] = (RingNode){.data_center = peers[i].data_center,
                                      .rack = peers[i].rack,
                                      .tokens = peers[i].tokens,
                                      .token_count = peers[i].token_count};
        }
    }
    ring_free(client->ring);
    client->ring = ring_new(nodes, client->host_count, replication);
}

/* CORRUPT: the answers are not what nodes say. */
static Status apply(Control *control)
{
    CqlClient *client = control->client;
    Arena *arena = control->arena;
    CqlRows rows[CONTROL_QUERY_COUNT] = {0};
    for (int i = 0; i < CONTROL_QUERY_COUNT; i++)
        if (control->asks[i].body.size > 0)
            TRY(wire_read_result(control->asks[i].body, arena, &rows[i]));
    size_t most = rows[CONTROL_QUERY_PEERS].count + 1;
    Peer *peers = arena_alloc(arena, most * sizeof *peers);
    TRY(peers_read_local(&rows[CONTROL_QUERY_LOCAL], &control->endpoint, arena, &peers[0]));
    size_t count = 1 + peers_read(&rows[CONTROL_QUERY_PEERS], client->port, arena, peers + 1);
    if (count > CQL_HOSTS_MAX)
        count = CQL_HOSTS_MAX;
    Replication replication = peers_read_replication(&rows[CONTROL_QUERY_KEYSPACE], arena);
    hosts_update(client, peers, count);
    build_ring(client, peers, count, &replication);
    cql_count(&client->counters.refreshes);
    return STATUS_OK;
}

static void all_answered(Control *control)
{
    CqlClient *client = control->client;
    if (apply(control) != STATUS_OK) {
        link_close(control->link, STATUS_INVALID, "its tables about the cluster make no sense");
        return;
    }
    control->attempt = 0;
    control->rounds = 0;
    timers_set(&client->loop.net.timers, &control->refresh,
               client->loop.net.now_us + (control->ask_again ? SOON_US : MINUTE_US));
    if (!client->is_opened && !timer_is_set(&client->settle))
        timers_set(&client->loop.net.timers, &client->settle,
                   client->loop.net.now_us + client->links.silence_us);
    client_check_settled(client);
}

/* ---- Asking ------------------------------------------------------------------------------------------------ */

static void ask(Control *control, int which, Slice text)
{
    static const WireQuery ONE = {.consistency = CQL_ONE};
    Ticket *ticket = &control->asks[which].ticket;
    wire_put_query(link_begin(control->link, ticket, WIRE_QUERY), text, &ONE);
    link_end_request(control->link, ticket);
    control->asked++;
}

static void ask_peers(Control *control)
{
    ask(control, CONTROL_QUERY_PEERS,
        control->old_peers ? SLICE(PEERS_OLD_QUERY) : SLICE(PEERS_NEW_QUERY));
}

static void ask_keyspace(Control *control)
{
    BUFFER_SCOPE Buffer text = {0};
    if (control->client->keyspace == NULL)
        return;
    buffer_text(&text, PEERS_KEYSPACE_QUERY "'");
    for (const char *c = control->client->keyspace; *c != '\0'; c++) {
        if (*c == '\'')
            buffer_u8(&text, '\'');
        buffer_u8(&text, (uint8_t)*c);
    }
    buffer_u8(&text, '\'');
    ask(control, CONTROL_QUERY_KEYSPACE, buffer_slice(&text));
}

static void refresh(Control *control)
{
    if (control->asked > 0 || control->link == NULL || !link_is_ready(control->link)) {
        control->ask_again = true;
        return;
    }
    control->ask_again = false;
    arena_reset(control->arena);
    for (int i = 0; i < CONTROL_QUERY_COUNT; i++)
        control->asks[i].body = SLICE_EMPTY;
    ask(control, CONTROL_QUERY_LOCAL, SLICE(PEERS_LOCAL_QUERY));
    ask_peers(control);
    ask_keyspace(control);
}

static void refresh_due(Timer *timer)
{
    refresh(OWNER_OF(timer, Control, refresh));
}

/* Cassandra 3 has no peers_v2 and says that the question is invalid. */
static bool wants_old_peers(const Control *control, const ControlQuery *asked,
                            const WireFrame *frame)
{
    WireError error;
    return asked == &control->asks[CONTROL_QUERY_PEERS] && !control->old_peers &&
           frame->opcode == WIRE_ERROR && wire_read_error(frame->body, &error) == STATUS_OK &&
           error.code == WIRE_ERROR_INVALID;
}

static void ask_done(Ticket *ticket, TicketEnd end, const WireFrame *frame)
{
    ControlQuery *asked = OWNER_OF(ticket, ControlQuery, ticket);
    Control *control = asked->control;
    control->asked--;
    if (end != TICKET_ANSWERED)
        return; /* the link has ended, or is about to */
    if (frame->opcode == WIRE_RESULT && !frame->too_large) {
        asked->body = arena_copy(control->arena, frame->body);
    } else if (wants_old_peers(control, asked, frame)) {
        control->old_peers = true;
        ask_peers(control);
    } else if (asked != &control->asks[CONTROL_QUERY_KEYSPACE]) {
        link_close(control->link, STATUS_UNAVAILABLE,
                   "it does not show its tables about the cluster");
        return;
    }
    if (control->asked == 0)
        all_answered(control);
}

/* ---- Events ------------------------------------------------------------------------------------------------ */

static void link_event(Link *link, Slice body)
{
    Control *control = link_context(link);
    CqlClient *client = control->client;
    WireEvent event;
    Endpoint endpoint;
    Host *host = NULL;
    if (wire_read_event(body, &event) != STATUS_OK || event.kind == WIRE_EVENT_OTHER)
        return;
    if (event.address.size > 0 && endpoint_from(event.address, event.port, &endpoint) == STATUS_OK)
        host = host_at(client, &endpoint);
    if (event.kind == WIRE_EVENT_UP && host != NULL)
        host_connect_soon(host);
    if (event.kind == WIRE_EVENT_DOWN) {
        /* Its connections tell the truth; but one that is about to stop is better left to finish what it has. */
        if (host != NULL)
            host->leaving_us = client->loop.net.now_us + LEAVING_US;
        return;
    }
    int64_t soon_us = client->loop.net.now_us + SOON_US;
    if (!timer_is_set(&control->refresh) || control->refresh.at_us > soon_us)
        timers_set(&client->loop.net.timers, &control->refresh, soon_us);
}

static void registration_done(Ticket *ticket, TicketEnd end, const WireFrame *frame)
{
    Control *control = OWNER_OF(ticket, Control, registration);
    if (end == TICKET_ANSWERED && frame->opcode != WIRE_READY)
        link_close(control->link, STATUS_INVALID, "it does not tell of events");
}

/* ---- The connection ---------------------------------------------------------------------------------------- */

static void link_ready(Link *link)
{
    Control *control = link_context(link);
    wire_put_register(link_begin(link, &control->registration, WIRE_REGISTER));
    link_end_request(link, &control->registration);
    refresh(control);
}

static void link_turned(Link *link)
{
    if (link_is_silent(link))
        link_close(link, STATUS_UNAVAILABLE, "it fell silent");
}

/* What stops everybody is told before what may pass. */
static void keep_worst(Control *control, Status status, const char *words)
{
    if (control->worst != STATUS_OK && control->worst != STATUS_UNAVAILABLE &&
        status == STATUS_UNAVAILABLE)
        return;
    char address[ENDPOINT_TEXT];
    endpoint_text(&control->endpoint, 0, address);
    control->worst = status;
    if (strncmp(address, control->name, strlen(control->name)) == 0)
        snprintf(control->words, sizeof control->words, "%s: %s", address, words);
    else
        snprintf(control->words, sizeof control->words, "%s (%s): %s", control->name, address,
                 words);
}

static void link_ended(Link *link, Status status, const char *words)
{
    Control *control = link_context(link);
    control->link = NULL;
    keep_worst(control, status, words);
    timers_clear(&control->client->loop.net.timers, &control->refresh);
    timers_set(&control->client->loop.net.timers, &control->retry,
               control->client->loop.net.now_us);
}

static const LinkOwner OWNER = {link_ready, link_event, link_turned, link_ended};

/* The n-th of: hosts that are up, the others, the contacts. False: there are not so many. */
static bool candidate(Control *control, size_t n)
{
    const CqlClient *client = control->client;
    for (int up = 1; up >= 0; up--)
        for (size_t i = 0; i < client->host_count; i++) {
            const Host *host = client->hosts[i];
            if (host == NULL || host->up != up || n-- > 0)
                continue;
            control->endpoint = host->endpoint;
            snprintf(control->name, sizeof control->name, "%s", host->name);
            return true;
        }
    if (n >= client->seed_count)
        return false;
    control->endpoint = client->seeds[n].endpoint;
    snprintf(control->name, sizeof control->name, "%s", client->seeds[n].name);
    return true;
}

static void retry_due(Timer *timer)
{
    Control *control = OWNER_OF(timer, Control, retry);
    CqlClient *client = control->client;
    if (!candidate(control, control->attempt)) {
        if (client->is_opened)
            seeds_find_again(client); /* all may have moved, and only their names be the same */
        client_opened(client, control->worst);
        control->attempt = 0;
        control->worst = STATUS_OK;
        timers_set(&client->loop.net.timers, timer,
                   client->loop.net.now_us + host_pause_us(client, control->rounds++));
        return;
    }
    control->attempt++;
    LinkTarget target = {.endpoint = control->endpoint, .name = control->name};
    control->link = link_open(&client->links, &target, &OWNER, control);
}

void cql_control_start(CqlClient *client)
{
    Control *control = &client->control;
    *control = (Control){.client = client,
                         .retry = {.due = retry_due},
                         .refresh = {.due = refresh_due},
                         .registration = {.done = registration_done},
                         .arena = arena_new()};
    for (int i = 0; i < CONTROL_QUERY_COUNT; i++)
        control->asks[i] = (ControlQuery){.ticket = {.done = ask_done}, .control = control};
    retry_due(&control->retry);
}

void cql_control_end(CqlClient *client)
{
    Control *control = &client->control;
    if (control->link != NULL)
        link_close(control->link, STATUS_UNAVAILABLE, "the client closes");
    timers_clear(&client->loop.net.timers, &control->retry);
    timers_clear(&client->loop.net.timers, &control->refresh);
    arena_free(control->arena);
}
