/* listening.c -- x-listen: a line between two answers when something becomes due.
 *
 * The journals ring from a thread of theirs, once until the next claim that finds nothing; the ring is posted, the figures are asked for, the line is written. A
 * ring that comes before that is over is a second hint at the same thing. */
#include "beanstalk/beanstalk_private.h"

static void rung_out(Session *session)
{
    atomic_store(&session->is_rung, false);
    session_freed_if_idle(session);
}

static void write_ready(NetPost *post)
{
    Session *session = OWNER_OF(post, Session, ring_answered);
    const JournalRequest *request = &session->ring_request;
    Buffer *out = &session->connection.out;
    if (session->closing || session->listener == NULL || request->status != STATUS_OK) {
        rung_out(session);
        return;
    }
    const JournalStats *stats = &request->stats;
    buffer_print(out, "X-READY %.*s %llu ", SLICE_ARG(request->journal),
                 (unsigned long long)stats->due);
    if (stats->due > 0)
        buffer_print(out, "%u ", stats->first_priority);
    else
        buffer_text(out, "- ");
    beanstalk_write_date(out, stats->next_ms);
    buffer_text(out, "\r\n");
    rung_out(session);
    (void)connection_settle(session);
}

static void answered(JournalRequest *request)
{
    Session *session = request->context;
    net_loop_post(&session->server->loop, &session->ring_answered);
}

static void ask(NetPost *post)
{
    Session *session = OWNER_OF(post, Session, rung);
    if (session->closing) {
        rung_out(session);
        return;
    }
    session->ring_request =
        (JournalRequest){.call = JOURNAL_CALL_STATS,
                         .journal = slice_of(session->rung_name, session->rung_size),
                         .finish = answered,
                         .context = session};
    journal_submit(session->server->journals, &session->ring_request);
}

static void ring(void *context, Slice journal)
{
    Session *session = context;
    if (atomic_exchange(&session->is_rung, true))
        return;
    memcpy(session->rung_name, journal.data, journal.size);
    session->rung_size = journal.size;
    session->rung.run = ask;
    session->ring_answered.run = write_ready;
    net_loop_post(&session->server->loop, &session->rung);
}

void listening_end(Session *session)
{
    if (session->listener != NULL)
        journal_listen_end(session->listener);
    session->listener = NULL;
}

/* The old one is kept when the new one is refused. */
Status listening_begin(Session *session, const Slice *names, size_t count, Reason *reason)
{
    JournalListener *listener = NULL;
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < i; j++)
            if (slice_equal(names[i], names[j]))
                return reason_set(reason, STATUS_INVALID, "names", "%.*s is named twice",
                                  SLICE_ARG(names[i]));
    if (count > 0)
        TRY(journal_listen(session->server->journals, names, count, ring, session, &listener,
                           reason));
    listening_end(session);
    session->listener = listener;
    return STATUS_OK;
}
