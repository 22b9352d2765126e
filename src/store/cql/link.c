/* link.c -- requests, answers and silence on a connection; see link.h. The socket itself is in link_io.c. */
#include "store/cql/link_private.h"

#include <stdio.h>
#include <stdlib.h>

enum { IDLE_US = 10 * 1000 * 1000, OUT_MAX = 4 * 1024 * 1024 };

/* In the slot of a request whose answer nobody waits for. */
static Ticket orphan;

/* ---- Opening and ending ------------------------------------------------------------------------------------ */

static void is_due(Timer *timer);
static void startup_done(Ticket *ticket, TicketEnd end, const WireFrame *frame);
static void probe_done(Ticket *ticket, TicketEnd end, const WireFrame *frame);

Link *link_open(const LinkSettings *settings, const LinkTarget *target, const LinkOwner *owner,
                void *context)
{
    Link *link = calloc(1, sizeof *link);
    CHECK(link != NULL);
    *link = (Link){.settings = settings,
                   .owner = owner,
                   .context = context,
                   .loop = settings->loop,
                   .timer = {.due = is_due},
                   .startup = {.done = startup_done},
                   .probe = {.done = probe_done}};
    snprintf(link->tls_name, sizeof link->tls_name, "%s", target->name);
    link->slot_count = link->free_count = link->settings->in_flight + LINK_OWN_STREAMS;
    link->slots = calloc(link->slot_count, sizeof(Ticket *));
    link->free_streams = malloc(link->slot_count * sizeof *link->free_streams);
    CHECK(link->slots != NULL && link->free_streams != NULL && link->slot_count <= INT16_MAX);
    for (size_t i = 0; i < link->slot_count; i++)
        link->free_streams[i] = (uint16_t)(link->slot_count - 1 - i);
    bool begun = link_io_open(link, target);
    timers_set(&link->loop->net.timers, &link->timer,
               link->loop->net.now_us + (begun ? settings->connect_us : 0));
    return link;
}

void *link_context(const Link *link)
{
    return link->context;
}

static void free_stream(Link *link, uint16_t stream)
{
    link->slots[stream] = NULL;
    link->free_streams[link->free_count++] = stream;
}

/* The owner hears of it first, so that what is sent again goes elsewhere. */
void link_close(Link *link, Status status, const char *words)
{
    if (link->state == LINK_ENDED)
        return;
    link->state = LINK_ENDED;
    timers_clear(&link->loop->net.timers, &link->timer);
    link_io_close(link);
    link->next_ended = link->loop->ended;
    link->loop->ended = link;
    link->owner->ended(link, status, words);
    for (size_t i = 0; i < link->slot_count; i++) {
        Ticket *ticket = link->slots[i];
        link->slots[i] = NULL;
        if (ticket == NULL || ticket == &orphan)
            continue;
        ticket->link = NULL;
        ticket->done(ticket, ticket->end <= link->offered ? TICKET_LOST : TICKET_NOT_SENT, NULL);
    }
}

void loop_bury(Loop *loop)
{
    while (loop->ended != NULL) {
        Link *link = loop->ended;
        loop->ended = link->next_ended;
        buffer_free(&link->out);
        buffer_free(&link->in);
        free(link->slots);
        free(link->free_streams);
        free(link);
    }
}

void link_mark_dirty(Link *link)
{
    if (link->dirty)
        return;
    link->dirty = true;
    link->next_dirty = link->loop->dirty;
    link->loop->dirty = link;
}

void loop_flush(Loop *loop)
{
    while (loop->dirty != NULL) {
        Link *link = loop->dirty;
        loop->dirty = link->next_dirty;
        link->dirty = false;
        link_io_flush(link);
    }
}

/* ---- Requests ---------------------------------------------------------------------------------------------- */

bool link_is_ready(const Link *link)
{
    return link->state == LINK_READY;
}

bool link_is_silent(const Link *link)
{
    return link->silent;
}

bool link_is_usable(const Link *link)
{
    return link->state == LINK_READY && !link->silent && !link->doubted;
}

bool link_has_room(const Link *link)
{
    return link_is_usable(link) && link->free_count > LINK_OWN_STREAMS &&
           link->out.size - link->out_at < OUT_MAX;
}

size_t link_load(const Link *link)
{
    return link->slot_count - link->free_count;
}

Buffer *link_begin(Link *link, Ticket *ticket, WireOpcode opcode)
{
    int64_t check_us = link->loop->net.now_us + link->settings->silence_us / 2;
    CHECK(link->state != LINK_ENDED && link->free_count > 0 && ticket->link == NULL);
    if (link_load(link) == 0) {
        link->owed_us = link->loop->net.now_us;
        /* While nothing is owed the timer sleeps long; it must not sleep over this. */
        if (link->state == LINK_READY && !link->silent && link->timer.at_us > check_us)
            timers_set(&link->loop->net.timers, &link->timer, check_us);
    }
    ticket->link = link;
    ticket->stream = link->free_streams[--link->free_count];
    link->slots[ticket->stream] = ticket;
    link->frame = wire_begin(&link->out, ticket->stream, opcode);
    return &link->out;
}

void link_end_request(Link *link, Ticket *ticket)
{
    wire_end(&link->out, link->frame);
    ticket->end = link->taken + (link->out.size - link->out_at);
    link_mark_dirty(link);
}

void link_abandon(Ticket *ticket)
{
    Link *link = ticket->link;
    if (link == NULL)
        return;
    ticket->link = NULL;
    link->slots[ticket->stream] = &orphan;
    link->orphans++;
    if (link->orphans > link->slot_count / 2 && !link->silent)
        link_close(link, STATUS_UNAVAILABLE, "too many requests were never answered");
}

/* ---- Answers ----------------------------------------------------------------------------------------------- */

void link_take(Link *link, WireFrame *frame)
{
    if (frame->version != WIRE_ANSWER) {
        /* An older server refuses our version in its own. */
        char words[CQL_WORDS];
        snprintf(words, sizeof words, "it speaks protocol v%u, and v4 is needed",
                 frame->version & 0x7fu);
        link_close(link, STATUS_INVALID, words);
        return;
    }
    if (wire_read_body(frame, &frame->body) != STATUS_OK && !frame->too_large) {
        link_close(link, STATUS_INVALID, "an answer breaks the protocol");
        return;
    }
    if (frame->stream < 0) {
        if (frame->opcode != WIRE_EVENT)
            link_close(link, STATUS_INVALID, "it sent something that is no event and no answer");
        else if (link->owner->event != NULL && !frame->too_large)
            link->owner->event(link, frame->body);
        return;
    }
    Ticket *ticket = (size_t)frame->stream < link->slot_count ? link->slots[frame->stream] : NULL;
    if (ticket == NULL) {
        link_close(link, STATUS_INVALID, "it answered what nobody asked");
        return;
    }
    free_stream(link, (uint16_t)frame->stream);
    if (ticket == &orphan) {
        link->orphans--;
        return;
    }
    ticket->link = NULL;
    ticket->done(ticket, TICKET_ANSWERED, frame);
}

/* ---- Starting up ------------------------------------------------------------------------------------------- */

void link_connected(Link *link)
{
    link->state = LINK_STARTING;
    wire_put_startup(link_begin(link, &link->startup, WIRE_STARTUP));
    link_end_request(link, &link->startup);
}

static void start_error(Link *link, const WireFrame *frame)
{
    WireError error;
    char words[CQL_WORDS];
    if (wire_read_error(frame->body, &error) != STATUS_OK) {
        link_close(link, STATUS_INVALID, "an error breaks the protocol");
        return;
    }
    Status status = error.code == WIRE_ERROR_LOGIN      ? STATUS_LOGIN
                    : error.code == WIRE_ERROR_PROTOCOL ? STATUS_INVALID
                                                        : STATUS_UNAVAILABLE;
    wire_show_words(error.words, words, sizeof words);
    link_close(link, status, words);
}

static void log_in(Link *link)
{
    if (!link->settings->has_login) {
        link_close(link, STATUS_LOGIN, "it asks for a user and a password");
        return;
    }
    wire_put_login(link_begin(link, &link->startup, WIRE_AUTH_RESPONSE), link->settings->user,
                   link->settings->password);
    link_end_request(link, &link->startup);
}

static void become_ready(Link *link)
{
    link->state = LINK_READY;
    timers_set(&link->loop->net.timers, &link->timer,
               link->loop->net.now_us + link->settings->silence_us / 2);
    link->owner->ready(link);
}

static void startup_done(Ticket *ticket, TicketEnd end, const WireFrame *frame)
{
    Link *link = OWNER_OF(ticket, Link, startup);
    if (end != TICKET_ANSWERED)
        return; /* the link has ended, and told why */
    switch (frame->opcode) {
    case WIRE_READY:
    case WIRE_AUTH_SUCCESS:
        become_ready(link);
        return;
    case WIRE_AUTHENTICATE:
        log_in(link);
        return;
    case WIRE_ERROR:
        start_error(link, frame);
        return;
    case WIRE_AUTH_CHALLENGE:
        link_close(link, STATUS_INVALID, "it asks for a log-in other than user and password");
        return;
    default:
        link_close(link, STATUS_INVALID, "it answered the greeting with something unknown");
    }
}

/* ---- Silence ----------------------------------------------------------------------------------------------- */

static void probe_done(Ticket *ticket, TicketEnd end, const WireFrame *frame)
{
    (void)ticket, (void)end, (void)frame; /* that it spoke at all is what counts */
}

static void probe(Link *link)
{
    if (link->state != LINK_READY || link->probe.link != NULL || link->free_count == 0)
        return;
    link_begin(link, &link->probe, WIRE_OPTIONS);
    link_end_request(link, &link->probe);
}

void link_doubt(Link *link)
{
    if (!link_is_usable(link))
        return;
    link->doubted = true;
    probe(link);
}

/* What is written may still leave when the node wakes up: none of it can be called unsent. */
static void fall_silent(Link *link)
{
    link->silent = true;
    timers_set(&link->loop->net.timers, &link->timer,
               link->loop->net.now_us + link->settings->connect_us);
    link->owner->turned(link);
    for (size_t i = 0; i < link->slot_count && link->state != LINK_ENDED; i++) {
        Ticket *ticket = link->slots[i];
        if (ticket == NULL || ticket == &orphan)
            continue;
        link_abandon(ticket);
        ticket->done(ticket, TICKET_LOST, NULL);
    }
}

void link_hear(Link *link)
{
    link->heard_us = link->loop->net.now_us;
    if (!link->silent && !link->doubted)
        return;
    link->silent = link->doubted = false;
    timers_set(&link->loop->net.timers, &link->timer,
               link->loop->net.now_us + link->settings->silence_us / 2);
    link->owner->turned(link);
}

/* A large request on a slow network takes its time, and the question stands behind it: as long as bytes leave, the node lives. */
static bool still_moves(Link *link)
{
    size_t backlog = link_io_backlog(link);
    bool moves = backlog < link->backlog;
    link->backlog = backlog;
    return moves;
}

static void watch(Link *link)
{
    int64_t now_us = link->loop->net.now_us, silence_us = link->settings->silence_us;
    int64_t since_us = link->heard_us > link->owed_us ? link->heard_us : link->owed_us;
    int64_t next_us = since_us + silence_us / 2;
    if (link_load(link) == 0) {
        if (now_us - link->heard_us >= IDLE_US)
            probe(link);
        next_us = now_us + (link_load(link) == 0 ? IDLE_US : silence_us / 2);
    } else if (now_us - since_us >= silence_us && link->probe.link != NULL) {
        if (!still_moves(link)) {
            fall_silent(link);
            return;
        }
        link->owed_us = now_us;
        next_us = now_us + silence_us / 2;
    } else if (now_us - since_us >= silence_us / 2) {
        probe(link);
        link->backlog = link_io_backlog(link);
        next_us = now_us + silence_us / 2;
    }
    timers_set(&link->loop->net.timers, &link->timer, next_us);
}

static void is_due(Timer *timer)
{
    Link *link = OWNER_OF(timer, Link, timer);
    char words[CQL_WORDS];
    if (link->state == LINK_READY && !link->silent) {
        watch(link);
        return;
    }
    if (link->failed != 0)
        snprintf(words, sizeof words, "%s", strerrordesc_np(link->failed));
    else
        snprintf(words, sizeof words, "no answer within %lld ms",
                 (long long)(link->settings->connect_us / US_PER_MS));
    link_close(link, STATUS_UNAVAILABLE, words);
}
