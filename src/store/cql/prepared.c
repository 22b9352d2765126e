/* prepared.c -- which statements a node knows, and by what id.
 *
 * A statement is prepared on a node when a call first needs it there; the calls wait meanwhile, and one question is asked for all of
 * them. Nothing of a call is sent before all of its statements are known, so whatever goes wrong here is surely not executed. */
#include "store/cql/client_private.h"
#include "store/cql/outcome.h"

#include <stdlib.h>

/* A question that is under way; frees itself when it ends. */
typedef struct Preparation {
    Ticket ticket;
    Host *host;
    const CqlStatement *statement;
} Preparation;

static Prepared *entry_of(Host *host, const CqlStatement *statement)
{
    if (statement->index >= host->prepared_count) {
        size_t count = statement->index + 16;
        host->prepared = realloc(host->prepared, count * sizeof *host->prepared);
        CHECK(host->prepared != NULL);
        memset(host->prepared + host->prepared_count, 0,
               (count - host->prepared_count) * sizeof *host->prepared);
        host->prepared_count = count;
    }
    return &host->prepared[statement->index];
}

Slice prepared_id(const Host *host, const CqlStatement *statement)
{
    const Prepared *entry = &host->prepared[statement->index];
    return slice_of(entry->id, entry->size);
}

void prepared_forget(Host *host, Slice id)
{
    for (size_t i = 0; i < host->prepared_count; i++) {
        Prepared *entry = &host->prepared[i];
        if (entry->state == PREPARED_KNOWN && slice_equal(slice_of(entry->id, entry->size), id))
            entry->state = PREPARED_NOT;
    }
}

void prepared_free(Host *host)
{
    free(host->prepared);
    host->prepared = NULL;
    host->prepared_count = 0;
}

static bool uses(const Call *call, const CqlStatement *statement)
{
    for (size_t i = 0; i < call->asked->part_count; i++)
        if (call->asked->parts[i].statement == statement)
            return true;
    return false;
}

/* The node refuses the statement: so it does for all that wait for it. One that was away while a table was made does not know it for
 * some moments; the statement cannot be only if every node says so. */
static void refuse_all(Host *host, const CqlStatement *statement, const WireError *error)
{
    Outcome outcome = outcome_of_error(CQL_READ, error->code);
    bool invalid = error->code == WIRE_ERROR_INVALID;
    for (Call *call = host->unprepared.first, *next; call != NULL; call = next) {
        next = call->next;
        if (!uses(call, statement))
            continue;
        call_list_remove(call);
        call->refused |= invalid;
        if (outcome.next == OUTCOME_ANSWER && !invalid)
            call_finish(call, outcome.status, error->code, error->words);
        else
            call_try_next(call, error->code, error->words);
    }
}

static void take_answer(Preparation *preparation, const WireFrame *frame)
{
    Host *host = preparation->host;
    Prepared *entry = entry_of(host, preparation->statement);
    WireError error = {.words = SLICE("the answer to PREPARE breaks the protocol")};
    Slice id;
    if (frame->opcode == WIRE_RESULT && !frame->too_large &&
        wire_read_prepared(frame->body, &id) == STATUS_OK && id.size <= PREPARED_ID_MAX) {
        memcpy(entry->id, id.data, id.size);
        entry->size = (uint8_t)id.size;
        entry->state = PREPARED_KNOWN;
        cql_count(&host->client->counters.prepared);
        return;
    }
    if (frame->opcode == WIRE_ERROR && wire_read_error(frame->body, &error) != STATUS_OK)
        error = (WireError){.words = SLICE("an error breaks the protocol")};
    refuse_all(host, preparation->statement, &error);
}

static void preparation_done(Ticket *ticket, TicketEnd end, const WireFrame *frame)
{
    Preparation *preparation = OWNER_OF(ticket, Preparation, ticket);
    Host *host = preparation->host;
    host->client->room = true;
    entry_of(host, preparation->statement)->state = PREPARED_NOT;
    if (end == TICKET_ANSWERED)
        take_answer(preparation, frame);
    free(preparation);
    /* Everybody looks again: some can go now, others wait for another statement, or look for another node. */
    CallList list = host->unprepared;
    host->unprepared = (CallList){NULL, NULL};
    for (Call *call = list.first, *next; call != NULL; call = next) {
        next = call->next;
        call->list = NULL;
        call_place(call);
    }
}

bool prepared_all(Call *call, Link *link)
{
    Host *host = call->host;
    bool all = true;
    for (size_t i = 0; i < call->asked->part_count; i++) {
        const CqlStatement *statement = call->asked->parts[i].statement;
        Prepared *entry = entry_of(host, statement);
        /* Each question takes a stream; without one the call comes back here after an answer. */
        if (entry->state == PREPARED_NOT && link_has_room(link)) {
            Preparation *preparation = calloc(1, sizeof *preparation);
            CHECK(preparation != NULL);
            *preparation = (Preparation){
                .ticket = {.done = preparation_done}, .host = host, .statement = statement};
            wire_put_prepare(link_begin(link, &preparation->ticket, WIRE_PREPARE), statement->text);
            link_end_request(link, &preparation->ticket);
            entry_of(host, statement)->state = PREPARED_ASKED;
        }
        all &= entry_of(host, statement)->state == PREPARED_KNOWN;
    }
    if (all)
        return true;
    call->pinned = true;
    call_list_add(&host->unprepared, call);
    return false;
}
