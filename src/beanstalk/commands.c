/* commands.c -- beanstalkd's words: what each asks of the journals, and how the answer is told. */
#include <stdlib.h>

#include "beanstalk/beanstalk_private.h"

#define FOR_EVER_MS ((int64_t)JOURNAL_WAIT_MAX_MS * 1000)

static Buffer *out_of(Session *session)
{
    return &session->connection.out;
}

/* ---- Statuses ---------------------------------------------------------------------------------------------- */

/* Perhaps done: beanstalkd's words cannot say so, so the connection ends. */
static void write_status(Session *session, Status status)
{
    static const char *const LINES[STATUS_COUNT] = {
        [STATUS_NOT_FOUND] = "NOT_FOUND",     [STATUS_INVALID] = "BAD_FORMAT",
        [STATUS_DENIED] = "NOT_FOUND",        [STATUS_TOO_LARGE] = "JOB_TOO_BIG",
        [STATUS_THROTTLED] = "OUT_OF_MEMORY", [STATUS_CONFLICT] = "OUT_OF_MEMORY"};
    session_write(session, LINES[status] == NULL ? "INTERNAL_ERROR" : LINES[status]);
    session->quits |= status == STATUS_UNKNOWN;
}

/* True: the answer is not OK, and is given. */
static bool failed(Session *session)
{
    if (session->request.status == STATUS_OK)
        return false;
    write_status(session, session->request.status);
    return true;
}

void command_bad_format(Session *session)
{
    const BeanstalkCommand *command = &session->command;
    const JournalDeclared *declared = tube_declared(session->server, tube_name(session->used));
    if (command->word == BEANSTALK_PUT && command->has_bytes && declared != NULL &&
        command->bytes > declared->rules.max_data)
        session_skip(session, command->bytes + 2, SLICE("JOB_TOO_BIG\r\n"));
    else
        session_write(session, "BAD_FORMAT");
}

/* ---- Putting ----------------------------------------------------------------------------------------------- */

static void put_begin(Session *session)
{
    const BeanstalkCommand *command = &session->command;
    Slice name = tube_name(session->used);
    const JournalDeclared *declared = tube_declared(session->server, name);
    session->server->producers += !session->producer;
    session->producer = true;
    if (declared == NULL || !tube_may(session, name, RIGHT_PUT))
        session_skip(session, command->bytes + 2, SLICE("NOT_FOUND\r\n"));
    else if (command->bytes > declared->rules.max_data)
        session_skip(session, command->bytes + 2, SLICE("JOB_TOO_BIG\r\n"));
    else
        session->state = SESSION_BODY;
}

void command_no_room(Session *session)
{
    Reason reason;
    if (beanstalk_is_own(session->command.word)) {
        own_refuse(session, reason_set(&reason, STATUS_THROTTLED, "body", "no memory for it now"),
                   &reason);
        return;
    }
    session_skip(session, session->command.bytes + 2, SLICE("OUT_OF_MEMORY\r\n"));
}

static void put_done(Session *session)
{
    const JournalAnswer *answer = &session->answer;
    if (failed(session))
        return;
    session->used->jobs +=
        answer->outcome == JOURNAL_CREATED || answer->outcome == JOURNAL_MADE_HELD;
    buffer_print(out_of(session), "INSERTED %llu\r\n", (unsigned long long)answer->id);
}

Slice command_key(Session *session, const JournalDeclared *declared, Slice data)
{
    return declared == NULL ? SLICE_EMPTY : declaration_key(declared, data, session->arena);
}

void command_put(Session *session, SessionStep *then)
{
    session->put.on_use = true;
    session->put.lazy = session->server->options.lazy;
    session->request = (JournalRequest){
        .call = JOURNAL_CALL_PUT, .puts = &session->put, .answers = &session->answer, .count = 1};
    session_submit(session, then);
}

void command_body(Session *session, Slice body, bool ends)
{
    const BeanstalkCommand *command = &session->command;
    BeanstalkServer *server = session->server;
    Slice name = tube_name(session->used);
    if (beanstalk_is_own(command->word)) {
        own_body(session, body, ends);
        return;
    }
    if (!ends || atomic_load(&server->draining)) {
        session_write(session, ends ? "DRAINING" : "EXPECTED_CRLF");
        return;
    }
    session->put = (JournalPut){
        .journal = name,
        .key = command->has_key ? command->key
                                : command_key(session, tube_declared(server, name), body),
        .data = body,
        .wanted_ms =
            command->delay_s == 0 ? 0 : server_now_ms(server) + command->delay_s * INT64_C(1000),
        .lease_ms = (command->ttr_s == 0 ? 1 : command->ttr_s) * INT64_C(1000),
        .priority = command->priority,
        .has_priority = true};
    command_put(session, put_done);
}

/* ---- Reserving --------------------------------------------------------------------------------------------- */

void command_waits(Session *session, bool waits)
{
    if (session->waits == waits)
        return;
    session->waits = waits;
    session->server->waiting += waits ? 1 : (size_t)-1;
    for (size_t i = 0; i < session->watched_count; i++)
        session->watched[i]->waiting += waits ? 1 : (size_t)-1;
}

static void begin_work(Session *session)
{
    session->server->workers += !session->worker;
    session->worker = true;
    if (session->owner == NULL)
        session->owner = journal_owner_new(session->server->journals);
}

size_t command_watched(Session *session, Slice **ret_names)
{
    Slice *names = ARENA_ARRAY(session->arena, session->watched_count, Slice);
    size_t count = 0;
    for (size_t i = 0; i < session->watched_count; i++)
        if (tube_may(session, tube_name(session->watched[i]), RIGHT_CLAIM))
            names[count++] = tube_name(session->watched[i]);
    *ret_names = names;
    return count;
}

static void reserve_done(Session *session)
{
    const JournalClaims *claims = &session->request.claims;
    command_waits(session, false);
    if (failed(session))
        return;
    if (claims->count > 0)
        beanstalk_write_job(out_of(session), "RESERVED", claims->entries[0].id,
                            claims->entries[0].data);
    else
        session_write(session, claims->soon ? "DEADLINE_SOON" : "TIMED_OUT");
}

static void reserve(Session *session, int64_t wait_ms)
{
    Slice *names;
    size_t count = command_watched(session, &names);
    begin_work(session);
    if (count == 0) {
        session_write(session, "NOT_FOUND");
        return;
    }
    session->request =
        (JournalRequest){.call = JOURNAL_CALL_CLAIM,
                         .claim = {.journals = names,
                                   .journal_count = count,
                                   .max_priority = UINT32_MAX,
                                   .wait_ms = session->connection.hangup ? 0 : wait_ms,
                                   .owner = session->owner,
                                   .soon = true,
                                   .on_use = true}};
    command_waits(session, true);
    session_submit(session, reserve_done);
}

static void reserve_begin(Session *session)
{
    reserve(session, FOR_EVER_MS);
}

static void reserve_with_timeout_begin(Session *session)
{
    reserve(session, session->command.seconds * INT64_C(1000));
}

/* ---- By id ------------------------------------------------------------------------------------------------- */

static void get(Session *session, SessionStep *then)
{
    session->request = (JournalRequest){.call = JOURNAL_CALL_GET, .id = session->command.id};
    session_submit(session, then);
}

/* What was got, unless it is of a journal that is not for this connection. */
static bool may_see(Session *session)
{
    if (session->request.status == STATUS_OK &&
        !tube_may(session, session->request.view.journal, RIGHT_CLAIM))
        session->request.status = STATUS_NOT_FOUND;
    return !failed(session);
}

static void reserve_job_done(Session *session)
{
    if (!failed(session))
        beanstalk_write_job(out_of(session), "RESERVED", session->request.claimed.id,
                            session->request.claimed.data);
}

static void reserve_job(Session *session)
{
    begin_work(session);
    session->request = (JournalRequest){
        .call = JOURNAL_CALL_CLAIM_ID, .id = session->command.id, .claim.owner = session->owner};
    session_submit(session, reserve_job_done);
}

static void step(Session *session, JournalCall call, JournalStep one, SessionStep *then)
{
    session->step = one;
    session->step.id = session->command.id;
    session->request = (JournalRequest){
        .call = call, .steps = &session->step, .count = 1, .claim.owner = session->owner};
    session_submit(session, then);
}

static void delete_done(Session *session)
{
    if (failed(session))
        return;
    tube_get(session->server, session->request.deleted_from)->deletes++;
    session_write(session, "DELETED");
}

static void delete_job(Session *session)
{
    step(session, JOURNAL_CALL_DELETE, (JournalStep){0}, delete_done);
}

static void kick_job_done(Session *session)
{
    if (!failed(session))
        session_write(session, "KICKED");
}

static void kick_job(Session *session)
{
    step(session, JOURNAL_CALL_KICK, (JournalStep){0}, kick_job_done);
}

/* These may name any job: where not every journal is for this connection, its journal is looked at first. */
static SessionStep *by_id(BeanstalkWord word)
{
    return word == BEANSTALK_RESERVE_JOB ? reserve_job
           : word == BEANSTALK_DELETE    ? delete_job
                                         : kick_job;
}

static void seen(Session *session)
{
    if (may_see(session))
        by_id(session->command.word)(session);
}

static void by_id_begin(Session *session)
{
    if (tube_may_all(session))
        by_id(session->command.word)(session);
    else
        get(session, seen);
}

static void release_done(Session *session)
{
    static const char *const LINES[BEANSTALK_WORDS] = {[BEANSTALK_RELEASE] = "RELEASED",
                                                       [BEANSTALK_BURY] = "BURIED",
                                                       [BEANSTALK_TOUCH] = "TOUCHED"};
    if (!failed(session))
        session_write(session, LINES[session->command.word]);
}

/* release, bury, touch: of what this connection has reserved. */
static void release_begin(Session *session)
{
    const BeanstalkCommand *command = &session->command;
    JournalStep one = {.priority = command->priority, .has_priority = true};
    if (session->owner == NULL) {
        session_write(session, "NOT_FOUND");
        return;
    }
    if (command->word == BEANSTALK_RELEASE && command->delay_s > 0)
        one.ms = server_now_ms(session->server) + command->delay_s * INT64_C(1000);
    step(session,
         command->word == BEANSTALK_RELEASE ? JOURNAL_CALL_RELEASE
         : command->word == BEANSTALK_BURY  ? JOURNAL_CALL_BURY
                                            : JOURNAL_CALL_EXTEND,
         one, release_done);
}

static void peek_done(Session *session)
{
    if (may_see(session))
        beanstalk_write_job(out_of(session), "FOUND", session->request.view.id,
                            session->request.view.data);
}

static void peek_begin(Session *session)
{
    get(session, peek_done);
}

static void peek_tube_begin(Session *session)
{
    BeanstalkWord word = session->command.word;
    session->request =
        (JournalRequest){.call = JOURNAL_CALL_PEEK,
                         .journal = tube_name(session->used),
                         .which = word == BEANSTALK_PEEK_READY     ? JOURNAL_PEEK_READY
                                  : word == BEANSTALK_PEEK_DELAYED ? JOURNAL_PEEK_DELAYED
                                                                   : JOURNAL_PEEK_FAILED};
    session_submit(session, peek_done);
}

/* ---- Kicking many ------------------------------------------------------------------------------------------ */

static void write_kicked(Session *session)
{
    buffer_print(out_of(session), "KICKED %llu\r\n", (unsigned long long)session->kicked);
}

static void kick_more(Session *session);

/* The journals kick so many at once; what was begun with goes on. */
static void kick_done(Session *session)
{
    JournalRequest *request = &session->request;
    if (request->status != STATUS_OK && request->status != STATUS_NOT_FOUND) {
        (void)failed(session);
        return;
    }
    session->kicked += request->kicked;
    if (request->kicked == JOURNAL_MANY_MAX && session->kicked < session->command.count)
        kick_more(session);
    else
        write_kicked(session);
}

static void kick_more(Session *session)
{
    uint64_t left = session->command.count - session->kicked;
    session->request = (JournalRequest){.call = JOURNAL_CALL_KICK_SOME,
                                        .journal = tube_name(session->used),
                                        .state = session->request.state,
                                        .id = left < JOURNAL_MANY_MAX ? left : JOURNAL_MANY_MAX};
    session_submit(session, kick_done);
}

static void kick_begin(Session *session)
{
    session->kicked = 0;
    session->request.state = 0;
    if (!tube_may(session, tube_name(session->used), RIGHT_CLAIM))
        session_write(session, "NOT_FOUND");
    else if (session->command.count == 0)
        write_kicked(session);
    else
        kick_more(session);
}

/* ---- Tubes ------------------------------------------------------------------------------------------------- */

static void write_watching(Session *session)
{
    buffer_print(out_of(session), "WATCHING %zu\r\n", session->watched_count);
}

static void refer(Session *session)
{
    Tube *tube = tube_get(session->server, session->command.tube);
    if (session->command.word == BEANSTALK_USE) {
        tube_use(session, tube);
        buffer_print(out_of(session), "USING %.*s\r\n", SLICE_ARG(tube_name(tube)));
    } else if (tube_watch(session, tube)) {
        write_watching(session);
    } else {
        session_write(session, "OUT_OF_MEMORY");
    }
}

static void looked_up(Session *session)
{
    if (session->request.status == STATUS_NOT_FOUND)
        tube_forget_counts(tube_get(session->server, session->command.tube));
    refer(session);
}

/* Whether the counts of a name that nobody refers to are still those of a tube, the journals know. */
static void refer_begin(Session *session)
{
    Slice name = session->command.tube;
    bool put = session->command.word == BEANSTALK_USE && tube_may(session, name, RIGHT_PUT);
    const Tube *tube = tube_find(session->server, name);
    if (!put && !tube_may(session, name, RIGHT_CLAIM)) {
        session_write(session, "NOT_FOUND");
    } else if (tube == NULL || !tube_is_idle(tube)) {
        refer(session);
    } else {
        session->request = (JournalRequest){.call = JOURNAL_CALL_STATS, .journal = name};
        session_submit(session, looked_up);
    }
}

static void ignore_begin(Session *session)
{
    if (tube_ignore(session, session->command.tube))
        write_watching(session);
    else
        session_write(session, "NOT_IGNORED");
}

static bool is_referred(const Session *session, Slice name)
{
    const Tube *tube = tube_find(session->server, name);
    return slice_equal(name, SLICE("default")) || (tube != NULL && !tube_is_idle(tube));
}

static void pause_done(Session *session)
{
    if (failed(session))
        return;
    Tube *tube = tube_get(session->server, session->command.tube);
    tube->pauses++;
    tube->pause_s = session->command.seconds;
    session_write(session, "PAUSED");
}

/* A pause of nothing is one all the same, so that those who wait are looked at. */
static void pause_begin(Session *session)
{
    Slice name = session->command.tube;
    if (!tube_may(session, name, RIGHT_CLAIM)) {
        session_write(session, "NOT_FOUND");
        return;
    }
    int64_t ms = session->command.seconds * INT64_C(1000);
    session->request = (JournalRequest){.call = JOURNAL_CALL_PAUSE,
                                        .journal = name,
                                        .ms = ms == 0 ? 1 : ms,
                                        .on_use = is_referred(session, name)};
    session_submit(session, pause_done);
}

/* ---- Lists and figures ------------------------------------------------------------------------------------- */

/* `default` first, the others in byte order. */
static int by_name(const void *a, const void *b)
{
    const Slice *left = a, *right = b, first = SLICE("default");
    bool is_left = slice_equal(*left, first), is_right = slice_equal(*right, first);
    return is_left != is_right ? (is_left ? -1 : 1) : slice_compare(*left, *right);
}

/* Journals that are there, names that connections refer to, and `default`; each once. */
static size_t all_names(Session *session, Slice **ret_names)
{
    const BeanstalkServer *server = session->server;
    const JournalRequest *request = &session->request;
    size_t most = request->name_count + server->tubes.count + 1, count = request->name_count,
           kept = 0;
    Slice *names = ARENA_ARRAY(session->arena, most, Slice);
    if (count > 0)
        memcpy(names, request->names, count * sizeof *names);
    for (size_t i = 0; i < server->tubes.capacity; i++) {
        const Tube *tube = server->tubes.slots[i];
        if (tube != NULL && !tube_is_idle(tube))
            names[count++] = tube_name(tube);
    }
    names[count++] = SLICE("default");
    qsort(names, count, sizeof *names, by_name);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || !slice_equal(names[i], names[kept - 1]))
            names[kept++] = names[i];
    *ret_names = names;
    return kept;
}

static void list_done(Session *session)
{
    Slice *names;
    size_t count = all_names(session, &names);
    stats_write_names(names, count, out_of(session));
}

static void list_names(Session *session, SessionStep *then)
{
    session->request = (JournalRequest){.call = JOURNAL_CALL_NAMES};
    session_submit(session, then);
}

static void list_begin(Session *session)
{
    list_names(session, list_done);
}

static void list_used_begin(Session *session)
{
    buffer_print(out_of(session), "USING %.*s\r\n", SLICE_ARG(tube_name(session->used)));
}

static void list_watched_begin(Session *session)
{
    Slice *names = ARENA_ARRAY(session->arena, session->watched_count, Slice);
    for (size_t i = 0; i < session->watched_count; i++)
        names[i] = tube_name(session->watched[i]);
    stats_write_names(names, session->watched_count, out_of(session));
}

static void stats_done(Session *session)
{
    Slice *names;
    size_t count = all_names(session, &names);
    stats_write(session->server, &session->stats, count, out_of(session));
}

static void stats_counted(Session *session)
{
    if (failed(session))
        return;
    session->stats = session->request.stats;
    list_names(session, stats_done);
}

static void stats_begin(Session *session)
{
    session->request = (JournalRequest){.call = JOURNAL_CALL_STATS};
    session_submit(session, stats_counted);
}

static void stats_tube_done(Session *session)
{
    JournalRequest *request = &session->request;
    Slice name = session->command.tube;
    if (request->status == STATUS_NOT_FOUND && is_referred(session, name))
        request->status = STATUS_OK;
    if (!failed(session))
        stats_write_tube(tube_find(session->server, name), name, &request->stats, out_of(session));
}

static void stats_tube_begin(Session *session)
{
    session->request =
        (JournalRequest){.call = JOURNAL_CALL_STATS, .journal = session->command.tube};
    session_submit(session, stats_tube_done);
}

static void stats_job_done(Session *session)
{
    if (may_see(session))
        stats_write_job(&session->request.view, server_now_ms(session->server), out_of(session));
}

static void stats_job_begin(Session *session)
{
    get(session, stats_job_done);
}

static void quit_begin(Session *session)
{
    session->quits = true;
}

/* ---- All ---------------------------------------------------------------------------------------------------- */

void command_begin(Session *session)
{
    static SessionStep *const BEGINS[BEANSTALK_WORDS] = {
        [BEANSTALK_PUT] = put_begin,
        [BEANSTALK_PEEK] = peek_begin,
        [BEANSTALK_PEEK_READY] = peek_tube_begin,
        [BEANSTALK_PEEK_DELAYED] = peek_tube_begin,
        [BEANSTALK_PEEK_BURIED] = peek_tube_begin,
        [BEANSTALK_RESERVE] = reserve_begin,
        [BEANSTALK_RESERVE_WITH_TIMEOUT] = reserve_with_timeout_begin,
        [BEANSTALK_RESERVE_JOB] = by_id_begin,
        [BEANSTALK_DELETE] = by_id_begin,
        [BEANSTALK_KICK_JOB] = by_id_begin,
        [BEANSTALK_RELEASE] = release_begin,
        [BEANSTALK_BURY] = release_begin,
        [BEANSTALK_TOUCH] = release_begin,
        [BEANSTALK_KICK] = kick_begin,
        [BEANSTALK_STATS] = stats_begin,
        [BEANSTALK_STATS_JOB] = stats_job_begin,
        [BEANSTALK_STATS_TUBE] = stats_tube_begin,
        [BEANSTALK_USE] = refer_begin,
        [BEANSTALK_WATCH] = refer_begin,
        [BEANSTALK_IGNORE] = ignore_begin,
        [BEANSTALK_LIST_TUBES] = list_begin,
        [BEANSTALK_LIST_TUBE_USED] = list_used_begin,
        [BEANSTALK_LIST_TUBES_WATCHED] = list_watched_begin,
        [BEANSTALK_QUIT] = quit_begin,
        [BEANSTALK_PAUSE_TUBE] = pause_begin,
    };
    BEGINS[session->command.word](session);
}
