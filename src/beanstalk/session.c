/* session.c -- what a connection is doing: reading a line, reading a body, waiting for the journals.
 *
 * One command at a time: the next begins when the answer of the last is in the output. A request at the journals is answered by one of their threads,
 * which posts; a second one may be under way to cancel it, and then both have to be answered before the first is used again. */
#include "beanstalk/beanstalk_private.h"

#include <stdlib.h>

/* ---- Requests ---------------------------------------------------------------------------------------------- */

static void free_session(Session *session)
{
    tubes_leave(session);
    arena_free(session->arena);
    auth_forget(session);
    server_forget(session);
    free(session);
}

/* After the socket: what was reserved goes back, then nothing is left. */
static void release(Session *session)
{
    if (session->under_way > 0 || atomic_load(&session->is_rung))
        return;
    if (session->owner == NULL) {
        free_session(session);
        return;
    }
    session->request =
        (JournalRequest){.call = JOURNAL_CALL_OWNER_END, .claim.owner = session->owner};
    session->owner = NULL;
    session_submit(session, NULL);
}

/* An answer, and no other that is still to come. */
void session_go_on(Session *session)
{
    SessionStep *then = session->then;
    if (--session->under_way > 0)
        return;
    session->then = NULL;
    session->cancelling = false;
    if (session->closing) {
        if (then == own_claimed && session->request.claims.count > 0)
            own_give_back(session);
        else
            release(session);
        return;
    }
    then(session);
    session_run(session);
}

static void finished(NetPost *post)
{
    session_go_on(OWNER_OF(post, Session, finished));
}

static void cancelled(NetPost *post)
{
    session_go_on(OWNER_OF(post, Session, cancelled));
}

static void post_finished(JournalRequest *request)
{
    Session *session = request->context;
    net_loop_post(&session->server->loop, &session->finished);
}

static void post_cancelled(JournalRequest *request)
{
    Session *session = request->context;
    net_loop_post(&session->server->loop, &session->cancelled);
}

void session_submit(Session *session, SessionStep *then)
{
    session->request.finish = post_finished;
    session->request.context = session;
    session->request.arena = session->arena;
    session->then = then;
    session->under_way++;
    journal_submit(session->server->journals, &session->request);
}

void session_cancel(Session *session)
{
    if (session->request.call != JOURNAL_CALL_CLAIM || session->then == NULL || session->cancelling)
        return;
    session->cancelling = true;
    session->cancel = (JournalRequest){.call = JOURNAL_CALL_CANCEL,
                                       .cancelled = &session->request,
                                       .finish = post_cancelled,
                                       .context = session};
    session->under_way++;
    journal_submit(session->server->journals, &session->cancel);
}

/* ---- Answers ----------------------------------------------------------------------------------------------- */

void session_write(Session *session, const char *line)
{
    buffer_text(&session->connection.out, line);
    buffer_text(&session->connection.out, "\r\n");
}

void session_write_error(Session *session, Status status, const Reason *reason)
{
    beanstalk_write_error(&session->connection.out, status, reason);
    if (status == STATUS_UNKNOWN)
        session->quits = true;
}

void session_skip(Session *session, uint64_t size, Slice late)
{
    session->state = SESSION_SKIP_BODY;
    session->skip = size;
    session->late = arena_copy(session->arena, late);
}

/* ---- Input ------------------------------------------------------------------------------------------------- */

bool session_reads(const Session *session)
{
    return !session->closing && !session->quits && !session->starved && session->then == NULL &&
           connection_unsent(session) < OUT_MAX;
}

uint64_t session_announced(const Session *session)
{
    switch (session->state) {
    case SESSION_LINE:
        return connection_input(session).size;
    case SESSION_BODY:
        return session->command.bytes + 2;
    case SESSION_SKIP_BODY:
        return session->skip;
    case SESSION_SKIP_LINE:
        break;
    }
    return 1;
}

static bool skip_line(Session *session)
{
    Slice input = connection_input(session);
    const char *end = memmem(input.data, input.size, "\r\n", 2);
    if (end != NULL) {
        connection_used(session, (size_t)(end - input.data) + 2);
        session->state = SESSION_LINE;
        session_write(session, "BAD_FORMAT");
        return true;
    }
    bool half = input.size > 0 && input.data[input.size - 1] == '\r';
    connection_used(session, input.size - half);
    return false;
}

static bool skip_body(Session *session)
{
    size_t there = connection_input(session).size;
    size_t part = there < session->skip ? there : (size_t)session->skip;
    connection_used(session, part);
    session->skip -= part;
    if (session->skip > 0)
        return false;
    session->state = SESSION_LINE;
    buffer_bytes(&session->connection.out, session->late);
    return true;
}

void session_begin_line(Session *session)
{
    Reason reason = {0};
    BeanstalkCommand *command = &session->command;
    arena_reset(session->arena);
    BeanstalkVerdict verdict = beanstalk_parse(session->line, session->arena, command, &reason);
    switch (verdict) {
    case BEANSTALK_UNKNOWN:
        session_write(session, "UNKNOWN_COMMAND");
        break;
    case BEANSTALK_BAD_FORMAT:
        command_bad_format(session);
        break;
    case BEANSTALK_REFUSED:
        own_refuse(session, STATUS_INVALID, &reason);
        break;
    case BEANSTALK_GOOD:
        session->server->words[command->word]++;
        if (beanstalk_is_own(command->word))
            own_begin(session);
        else
            command_begin(session);
        break;
    }
}

static bool take_line(Session *session)
{
    bool is_long;
    Slice input = connection_input(session);
    size_t size = beanstalk_line(input, &is_long);
    if (is_long)
        session->state = SESSION_SKIP_LINE;
    if (size == 0)
        return is_long;
    if (session->server->memory > session->server->options.memory) {
        connection_starve(session, true);
        return false;
    }
    session->connection.read_by_us = 0;
    connection_used(session, size);
    session->line = slice_of(input.data, size - 2);
    if (auth_is_old(session))
        auth_submit(session, true, session_begin_line);
    else
        session_begin_line(session);
    return true;
}

/* More memory than all together may have: what has come is dropped, and so is what comes. */
static bool has_room_for_body(Session *session)
{
    size_t there = connection_input(session).size;
    if (there <= READ_AHEAD || session->server->memory <= session->server->options.memory)
        return true;
    command_no_room(session);
    return false;
}

static bool take_body(Session *session)
{
    Slice input = connection_input(session);
    size_t size = session->command.bytes + 2;
    if (input.size < size)
        return !has_room_for_body(session);
    session->state = SESSION_LINE;
    connection_used(session, size); /* the bytes stay where they are until the next read */
    Slice body = slice_of(input.data, size - 2);
    bool ends = memcmp(input.data + size - 2, "\r\n", 2) == 0;
    session->connection.read_by_us = 0;
    command_body(session, body, ends);
    return true;
}

/* False: more bytes are needed. */
static bool step(Session *session)
{
    switch (session->state) {
    case SESSION_LINE:
        return take_line(session);
    case SESSION_BODY:
        return take_body(session);
    case SESSION_SKIP_LINE:
        return skip_line(session);
    case SESSION_SKIP_BODY:
        return skip_body(session);
    }
    return false;
}

/* What is in memory is used to its end first: the socket tells nothing of it again. What is left then waits for the
 * socket, the journals, memory, or the client to take its answers. */
static void run_some(Session *session, int *reads)
{
    enum { READS_MAX = 16 }; /* others are waiting, too */
    while (session_reads(session)) {
        if (step(session))
            continue;
        if (!session_reads(session) || *reads == READS_MAX)
            return;
        ++*reads;
        size_t wanted = session->state == SESSION_BODY ? session->command.bytes + 2 : 0;
        bool more = connection_read(session, wanted);
        if (more || (session->state == SESSION_BODY && step(session))) /* reading takes memory */
            continue;
        session->quits = session->connection.eof;
        return;
    }
}

/* When the answers were too many to go on, and the client takes them at once, there is nothing to wait for. */
void session_run(Session *session)
{
    int reads = 0;
    bool is_full;
    do {
        run_some(session, &reads);
        is_full = connection_unsent(session) >= OUT_MAX;
    } while (connection_settle(session) && is_full && session_reads(session));
}

/* ---- Begin and end ----------------------------------------------------------------------------------------- */

Session *session_new(BeanstalkServer *server)
{
    Session *session = calloc(1, sizeof *session);
    CHECK(session != NULL);
    session->server = server;
    session->arena = arena_new();
    session->finished.run = finished;
    session->cancelled.run = cancelled;
    session->connection.fd = -1;
    Tube *tube = tube_get(server, SLICE("default"));
    tube_use(session, tube);
    CHECK(tube_watch(session, tube));
    return session;
}

void session_end(Session *session)
{
    if (session->closing)
        return;
    session->closing = true;
    connection_starve(session, false);
    connection_close(session);
    listening_end(session);
    session_cancel(session);
    command_waits(session, false);
    release(session);
}

void session_stop(Session *session)
{
    if (session->closing)
        return;
    session->quits = true;
    session_cancel(session);
    (void)connection_settle(session);
}

void session_freed_if_idle(Session *session)
{
    if (session->closing)
        release(session);
}
