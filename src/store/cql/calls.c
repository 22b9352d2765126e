/* calls.c -- where a call goes, and what becomes of it.
 *
 * A call is placed on a connection of a node that holds its row; it waits when all that could take it are full, and pauses when none is
 * there. An answer ends it, or an error sends it on to the next node, as outcome.h says: only what surely changed nothing is sent
 * again. When every node was tried it pauses and tries all again, as long as its time lasts: a node that restarts, or
 * that has not heard yet that another is back, is better in a moment. */
#include "store/cql/client_private.h"
#include "store/cql/outcome.h"

#include <stdio.h>

enum {
    SPARED_US = 1000 * 1000
}; /* for a node that says it has too much to do, or is shutting down */
enum { PAUSE_US = 50 * 1000, PAUSE_DOUBLINGS = 3, PREPARE_AGAIN_MAX = 8 }; /* 50 … 400 ms */

/* ---- Lists ------------------------------------------------------------------------------------------------- */

void call_list_add(CallList *list, Call *call)
{
    CHECK(call->list == NULL);
    call->list = list;
    call->next = NULL;
    call->previous = list->last;
    if (list->last != NULL)
        list->last->next = call;
    else
        list->first = call;
    list->last = call;
}

void call_list_remove(Call *call)
{
    CallList *list = call->list;
    if (list == NULL)
        return;
    if (call->previous != NULL)
        call->previous->next = call->next;
    else
        list->first = call->next;
    if (call->next != NULL)
        call->next->previous = call->previous;
    else
        list->last = call->previous;
    call->list = NULL;
}

/* ---- Ending ------------------------------------------------------------------------------------------------ */

/* What went wrong, with the node that it went wrong at. */
static void keep_words(Call *call, int32_t code, Slice words)
{
    char *text = call->answer->words;
    int named = 0;
    if (call->host != NULL)
        named = snprintf(text, CQL_WORDS, "%s: ", call->host->address);
    wire_show_words(words, text + named, (size_t)(CQL_WORDS - named));
    call->answer->error = code;
}

static void end(Call *call, Status status)
{
    CqlClient *client = call->client;
    Run *run = call->run;
    if (status == STATUS_UNKNOWN)
        cql_count(&client->counters.unknown);
    if (status == STATUS_UNAVAILABLE)
        cql_count(&client->counters.unavailable);
    call_list_remove(call);
    timers_clear(&client->loop.net.timers, &call->timer);
    call->answer->status = status;
    client->active--;
    atomic_fetch_sub_explicit(&client->in_flight, 1, memory_order_relaxed);
    if (--run->left > 0)
        return;
    run->next = client->answered;
    client->answered = run;
}

void call_finish(Call *call, Status status, int32_t code, Slice words)
{
    keep_words(call, code, words);
    end(call, status);
}

/* ---- Which node -------------------------------------------------------------------------------------------- */

typedef struct Search {
    const Call *call;
    bool leaving; /* also those that are about to go */
    bool full;    /* one would do if it had room */
} Search;

static bool is_tried(const Call *call, const Host *host)
{
    return (call->tried[host->index / 64] >> (host->index % 64) & 1) != 0;
}

static Link *try_host(Search *search, const Host *host)
{
    const Call *call = search->call;
    const char *only = call->asked->only;
    if (host == NULL || is_tried(call, host) || !host_is_usable(host) ||
        (only != NULL && strcmp(only, host->address) != 0) ||
        (!search->leaving && host->leaving_us > call->client->loop.net.now_us))
        return NULL;
    Link *link = host_link(host);
    search->full |= link == NULL;
    return link;
}

static Link *search_hosts(Search *search, RingReplicas replicas, unsigned turn)
{
    const Call *call = search->call;
    CqlClient *client = call->client;
    Link *link = NULL;
    if (call->pinned)
        return try_host(search, call->host);
    for (size_t i = 0; i < replicas.count && link == NULL; i++)
        link = try_host(search, client->hosts[replicas.nodes[(turn + i) % replicas.count]]);
    for (size_t i = 0; i < client->host_count && link == NULL; i++)
        link = try_host(search, client->hosts[(turn + i) % client->host_count]);
    return link;
}

/* Those that hold the row come first: conditional calls in the order of the ring, so that writers of one row meet at one node
 * instead of getting into each other's way from several; others in turn. */
static Link *find_link(const Call *call, bool *ret_full)
{
    CqlClient *client = call->client;
    RingReplicas replicas = {NULL, 0};
    unsigned turn = call->asked->kind == CQL_CONDITIONAL ? 0 : client->turn;
    if (call->asked->routing_key.size > 0 && client->ring != NULL)
        replicas = ring_replicas(client->ring, call->token);
    Search search = {.call = call};
    Link *link = search_hosts(&search, replicas, turn);
    if (link == NULL) {
        search.leaving = true;
        link = search_hosts(&search, replicas, turn);
    }
    *ret_full = search.full;
    client->turn += !call->pinned;
    return link;
}

/* ---- Sending ----------------------------------------------------------------------------------------------- */

static void send_call(Call *call, Link *link)
{
    const CqlCall *asked = call->asked;
    const WireQuery ask = {.consistency = asked->consistency,
                           .conditional = asked->kind == CQL_CONDITIONAL,
                           .page_size = asked->page_size};
    if (asked->part_count == 0) {
        wire_put_query(link_begin(link, &call->ticket, WIRE_QUERY), slice_from(asked->text), &ask);
    } else if (asked->part_count == 1) {
        wire_put_execute(link_begin(link, &call->ticket, WIRE_EXECUTE),
                         prepared_id(call->host, asked->parts->statement), asked->parts, &ask);
    } else {
        Buffer *out = link_begin(link, &call->ticket, WIRE_BATCH);
        wire_put_batch(out, asked->part_count);
        for (size_t i = 0; i < asked->part_count; i++)
            wire_put_batch_part(out, prepared_id(call->host, asked->parts[i].statement),
                                &asked->parts[i]);
        wire_put_batch_end(out, &ask);
    }
    link_end_request(link, &call->ticket);
    cql_count(&call->client->counters.requests);
    if (asked->kind == CQL_CONDITIONAL)
        cql_count(&call->client->counters.conditional);
}

/* The caller is told before the deadline. A call for a certain node is a question about that node, and that it is not there is an
 * answer. */
static int64_t patience(const Call *call)
{
    int64_t now_us = call->client->loop.net.now_us, left_us = call->deadline_us - now_us;
    return now_us + (call->asked->only != NULL ? left_us / 4 : left_us - left_us / 10);
}

/* Nobody is there to take it. It pauses and tries all nodes again, as long as its patience lasts; ever more rarely, since whoever is
 * left has enough to do. */
static void pause_call(Call *call)
{
    CqlClient *client = call->client;
    int64_t now_us = client->loop.net.now_us;
    if (call->patience_us == 0)
        call->patience_us = patience(call);
    if (call->refused) { /* by all who are there */
        end(call, STATUS_INVALID);
        return;
    }
    if (now_us >= call->patience_us) {
        if (call->answer->words[0] == '\0')
            snprintf(call->answer->words, CQL_WORDS, "no node can be reached");
        end(call, STATUS_UNAVAILABLE);
        return;
    }
    memset(call->tried, 0, sizeof call->tried);
    int64_t next_us = now_us + ((int64_t)PAUSE_US << call->pauses);
    if (call->pauses < PAUSE_DOUBLINGS)
        call->pauses++;
    timers_set(&client->loop.net.timers, &call->timer,
               next_us < call->patience_us ? next_us : call->patience_us);
}

bool call_place(Call *call)
{
    bool full = false;
    Link *link = find_link(call, &full);
    if (link == NULL && call->pinned) {
        call->pinned = false;
        link = find_link(call, &full);
    }
    /* While it waits, a node may be forgotten: it must not hang on one. */
    call->host = link != NULL ? link_context(link) : NULL;
    if (link == NULL && full)
        call_list_add(&call->client->waiting, call);
    else if (link == NULL)
        pause_call(call);
    else if (prepared_all(call, link))
        send_call(call, link);
    return link != NULL || !full;
}

void calls_place_waiting(CqlClient *client)
{
    CallList list = client->waiting;
    client->waiting = (CallList){NULL, NULL};
    client->room = false;
    bool full = false;
    for (Call *call = list.first, *next; call != NULL; call = next) {
        next = call->next;
        call->list = NULL;
        bool choosy = call->asked->only != NULL;
        if (full)
            call_list_add(&client->waiting, call);
        else /* one that must go to a certain node says nothing about the others */
            full = !call_place(call) && !choosy;
    }
}

/* ---- What came of it --------------------------------------------------------------------------------------- */

void call_try_next(Call *call, int32_t code, Slice words)
{
    keep_words(call, code, words);
    call->tried[call->host->index / 64] |= UINT64_C(1) << (call->host->index % 64);
    call->pinned = false;
    cql_count(&call->client->counters.repeated);
    call_place(call);
}

/* The node has forgotten a statement, and so has executed nothing. */
static void prepare_again(Call *call, const WireError *error)
{
    prepared_forget(call->host, error->unknown_id);
    cql_count(&call->client->counters.unprepared);
    if (++call->prepared_again > PREPARE_AGAIN_MAX) {
        call_finish(call, STATUS_UNAVAILABLE, error->code, error->words);
        return;
    }
    call->pinned = true;
    call_place(call);
}

static void take_error(Call *call, const WireFrame *frame)
{
    WireError error;
    if (wire_read_error(frame->body, &error) != STATUS_OK) {
        Outcome lost = outcome_of_loss(call->asked->kind);
        call_finish(call, lost.next == OUTCOME_ANSWER ? lost.status : STATUS_CORRUPT, 0,
                    SLICE("an error breaks the protocol"));
        return;
    }
    Outcome outcome = outcome_of_error(call->asked->kind, error.code);
    if (error.code == WIRE_ERROR_OVERLOADED || error.code == WIRE_ERROR_STARTING)
        call->host->leaving_us = call->client->loop.net.now_us + SPARED_US;
    if (outcome.next == OUTCOME_PREPARE)
        prepare_again(call, &error);
    else if (outcome.next == OUTCOME_REPEAT)
        call_try_next(call, error.code, error.words);
    else
        call_finish(call, outcome.status, error.code, error.words);
}

static void call_done(Ticket *ticket, TicketEnd ended, const WireFrame *frame)
{
    Call *call = OWNER_OF(ticket, Call, ticket);
    call->client->room = true;
    if (ended == TICKET_ANSWERED) {
        /* The caller reads the rows: the I/O thread has better things to do. */
        bool writes = call->asked->kind != CQL_READ;
        if (frame->too_large)
            call_finish(call, writes ? STATUS_UNKNOWN : STATUS_TOO_LARGE, 0,
                        SLICE("the answer is too large"));
        else if (frame->opcode == WIRE_ERROR)
            take_error(call, frame);
        else if (frame->opcode != WIRE_RESULT)
            call_finish(call, writes ? STATUS_UNKNOWN : STATUS_CORRUPT, 0,
                        SLICE("an answer that is no result"));
        else {
            call->body = arena_copy(call->run->arena, frame->body);
            call->answer->words[0] = '\0';
            call->answer->error = 0;
            end(call, STATUS_OK);
        }
    } else if (ended == TICKET_NOT_SENT) {
        call->pinned = false;
        call_place(call);
    } else {
        Outcome outcome = outcome_of_loss(call->asked->kind);
        Slice words = SLICE("the connection was lost before the answer");
        if (outcome.next == OUTCOME_REPEAT)
            call_try_next(call, 0, words);
        else
            call_finish(call, outcome.status, 0, words);
    }
}

/* ---- Time -------------------------------------------------------------------------------------------------- */

static void call_due(Timer *timer)
{
    Call *call = OWNER_OF(timer, Call, timer);
    CqlClient *client = call->client;
    if (client->loop.net.now_us < call->deadline_us) {
        timers_set(&client->loop.net.timers, timer, call->deadline_us);
        call_place(call);
        return;
    }
    bool sent = call->ticket.link != NULL;
    link_abandon(&call->ticket);
    Status status = outcome_at_deadline(call->asked->kind, sent);
    if (sent || call->answer->words[0] == '\0')
        call_finish(call, status, 0,
                    sent ? SLICE("no answer in time") : SLICE("no node took it in time"));
    else
        end(call, status);
}

void call_start(Call *call)
{
    CqlClient *client = call->client;
    int64_t given_us =
        call->asked->request_ms > 0 ? call->asked->request_ms * US_PER_MS : client->request_us;
    call->ticket.done = call_done;
    call->timer.due = call_due;
    call->deadline_us = client->loop.net.now_us + given_us;
    client->active++;
    atomic_fetch_add_explicit(&client->in_flight, 1, memory_order_relaxed);
    timers_set(&client->loop.net.timers, &call->timer, call->deadline_us);
    call_place(call);
}
