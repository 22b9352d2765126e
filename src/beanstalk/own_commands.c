/* own_commands.c -- our own words: docs/journal-protocol.md says what each means. */
#include <stdlib.h>

#include "beanstalk/beanstalk_private.h"

static Buffer *out_of(Session *session)
{
    return &session->connection.out;
}

static void write_failure(Session *session)
{
    session_write_error(session, session->request.status, &session->request.reason);
}

void own_refuse(Session *session, Status status, const Reason *reason)
{
    const BeanstalkCommand *command = &session->command;
    BUFFER_SCOPE Buffer late = {0};
    beanstalk_write_error(&late, status, reason);
    if (command->word == BEANSTALK_X_PUT && command->has_bytes) {
        session_skip(session, command->bytes + 2, buffer_slice(&late));
        return;
    }
    buffer_bytes(out_of(session), buffer_slice(&late));
    session->quits |= command->word == BEANSTALK_X_PUT; /* where its body ends is not known */
}

/* NOT_FOUND or DENIED, when it is not for this connection. */
static Status check_right(Session *session, const char *field, Slice name, TubeRight right,
                          Reason *reason)
{
    if (tube_declared(session->server, name) == NULL)
        return reason_set(reason, STATUS_NOT_FOUND, field, "there is no journal %.*s",
                          SLICE_ARG(name));
    if (!tube_may(session, name, right))
        return reason_set(reason, STATUS_DENIED, field, "%.*s is not for this connection",
                          SLICE_ARG(name));
    return STATUS_OK;
}

/* at=, delay=, or 0. */
static int64_t wanted_ms(const Session *session)
{
    const BeanstalkCommand *command = &session->command;
    uint64_t delay_ms = command->numbers[BEANSTALK_O_DELAY];
    if (delay_ms > 0)
        return server_now_ms(session->server) + (int64_t)delay_ms;
    return (int64_t)command->numbers[BEANSTALK_O_AT];
}

/* ---- x-auth ------------------------------------------------------------------------------------------------ */

static void auth_done(Session *session)
{
    Reason reason;
    Status status = session->auth.status;
    if (status == STATUS_OK) {
        session_write(session, "X-OK");
        return;
    }
    (void)reason_set(&reason, status, "token", "%s",
                     status == STATUS_LOGIN ? "is not a valid token" : status_text(status));
    session_write_error(session, status, &reason);
}

static void auth_begin(Session *session)
{
    Reason reason;
    if (session->server->options.auth == NULL) {
        own_refuse(session,
                   reason_set(&reason, STATUS_UNAVAILABLE, "token", "this server has no accounts"),
                   &reason);
        return;
    }
    auth_submit(session, false, auth_done);
}

/* ---- x-put ------------------------------------------------------------------------------------------------- */

static Slice put_name(const Session *session)
{
    return beanstalk_given(&session->command, BEANSTALK_O_TO)
               ? session->command.texts[BEANSTALK_O_TO]
               : tube_name(session->used);
}

static Status check_put(Session *session, Reason *reason)
{
    const BeanstalkCommand *command = &session->command;
    Slice name = put_name(session);
    TRY(check_right(session, "to", name, RIGHT_PUT, reason));
    uint64_t most = tube_declared(session->server, name)->rules.max_data;
    if (command->bytes - command->numbers[BEANSTALK_O_KEYLEN] > most)
        return reason_set(reason, STATUS_TOO_LARGE, "data", "at most %llu bytes",
                          (unsigned long long)most);
    return STATUS_OK;
}

static void put_begin(Session *session)
{
    Reason reason = {0};
    session->server->producers += !session->producer;
    session->producer = true;
    Status status = check_put(session, &reason);
    if (status == STATUS_OK)
        session->state = SESSION_BODY;
    else
        own_refuse(session, status, &reason);
}

static void put_done(Session *session)
{
    static const char *const OUTCOMES[] = {"created",     "merged", "held",
                                           "held_merged", "stale",  "ignored"};
    const JournalAnswer *answer = &session->answer;
    if (session->request.status != STATUS_OK) {
        write_failure(session);
        return;
    }
    if (answer->outcome == JOURNAL_CREATED || answer->outcome == JOURNAL_MADE_HELD)
        tube_get(session->server, put_name(session))->jobs++;
    buffer_print(out_of(session), "X-PUT %s %llu %lld\r\n", OUTCOMES[answer->outcome],
                 (unsigned long long)answer->id, (long long)answer->process_ms);
}

void own_body(Session *session, Slice body, bool ends)
{
    const BeanstalkCommand *command = &session->command;
    const uint64_t *numbers = command->numbers;
    Slice name = put_name(session), key = command->texts[BEANSTALK_O_KEY], data = body;
    Reason reason;
    Status status = STATUS_OK;
    if (!ends)
        status = reason_set(&reason, STATUS_INVALID, "body", "no CR LF follows it");
    else if (atomic_load(&session->server->draining))
        status = reason_set(&reason, STATUS_UNAVAILABLE, "draining", "this server takes no puts");
    if (status != STATUS_OK) {
        session_write_error(session, status, &reason);
        return;
    }
    if (beanstalk_given(command, BEANSTALK_O_KEYLEN)) {
        key = slice_of(body.data, numbers[BEANSTALK_O_KEYLEN]);
        data = slice_after(body, numbers[BEANSTALK_O_KEYLEN]);
    } else if (!beanstalk_given(command, BEANSTALK_O_KEY)) {
        key = command_key(session, tube_declared(session->server, name), data);
    }
    session->put = (JournalPut){.journal = name,
                                .key = key,
                                .data = data,
                                .insertion_ms = (int64_t)numbers[BEANSTALK_O_INSERTED],
                                .wanted_ms = wanted_ms(session),
                                .expiration_ms = (int64_t)numbers[BEANSTALK_O_EXPIRE],
                                .lease_ms = (int64_t)numbers[BEANSTALK_O_LEASE],
                                .priority = (uint32_t)numbers[BEANSTALK_O_PRI],
                                .has_priority = beanstalk_given(command, BEANSTALK_O_PRI)};
    command_put(session, put_done);
}

/* ---- x-claim ----------------------------------------------------------------------------------------------- */

static void write_entry(Buffer *to, const JournalClaimed *entry)
{
    char token[JOURNAL_TOKEN_TEXT + 1];
    journal_token_text(entry->token, token);
    buffer_print(to, "X-ENTRY %llu %s %.*s %u %u %lld %lld %lld %zu %zu\r\n",
                 (unsigned long long)entry->id, token, SLICE_ARG(entry->journal), entry->priority,
                 entry->timeouts, (long long)entry->insertion_ms, (long long)entry->process_ms,
                 (long long)entry->lease_ms, entry->key.size, entry->data.size);
    buffer_bytes(to, entry->key);
    buffer_bytes(to, entry->data);
    buffer_text(to, "\r\n");
}

void own_claimed(Session *session)
{
    const JournalClaims *claims = &session->request.claims;
    command_waits(session, false);
    if (session->request.status != STATUS_OK) {
        write_failure(session);
        return;
    }
    buffer_print(out_of(session), "X-CLAIMED %zu ", claims->count);
    beanstalk_write_date(out_of(session), claims->count > 0 ? JOURNAL_NEVER : claims->next_ms);
    buffer_text(out_of(session), "\r\n");
    for (size_t i = 0; i < claims->count; i++)
        write_entry(out_of(session), &claims->entries[i]);
}

void own_give_back(Session *session)
{
    JournalClaims claims = session->request.claims;
    JournalStep *steps = ARENA_ARRAY(session->arena, claims.count, JournalStep);
    for (size_t i = 0; i < claims.count; i++)
        steps[i].token = claims.entries[i].token;
    session->request =
        (JournalRequest){.call = JOURNAL_CALL_RELEASE, .steps = steps, .count = claims.count};
    session_submit(session, NULL);
}

static void claim_begin(Session *session)
{
    const BeanstalkCommand *command = &session->command;
    const uint64_t *numbers = command->numbers;
    Slice *names = command->names;
    size_t count = command->name_count;
    Reason reason = {0};
    Status status = STATUS_OK;
    session->server->workers += !session->worker;
    session->worker = true;
    for (size_t i = 0; i < count && status == STATUS_OK; i++)
        status = check_right(session, "from", names[i], RIGHT_CLAIM, &reason);
    if (count == 0) {
        count = command_watched(session, &names);
        if (count == 0)
            status = reason_set(&reason, STATUS_DENIED, "from",
                                "none that is watched is for this connection");
    }
    if (status != STATUS_OK) {
        own_refuse(session, status, &reason);
        return;
    }
    session->request = (JournalRequest){
        .call = JOURNAL_CALL_CLAIM,
        .claim = {.journals = names,
                  .journal_count = count,
                  .count = (uint32_t)numbers[BEANSTALK_O_N],
                  .max_priority = beanstalk_given(command, BEANSTALK_O_MAX)
                                      ? (uint32_t)numbers[BEANSTALK_O_MAX]
                                      : UINT32_MAX,
                  .lease_ms = (int64_t)numbers[BEANSTALK_O_LEASE],
                  .wait_ms = session->connection.hangup ? 0 : (int64_t)numbers[BEANSTALK_O_WAIT],
                  .most_bytes = CLAIM_BYTES_MAX,
                  .on_use = true,
                  .listener = session->listener}};
    command_waits(session, command->name_count == 0);
    session_submit(session, own_claimed);
}

/* ---- x-extend, x-done, x-release, x-fail, x-bury ----------------------------------------------------------- */

static void steps_done(Session *session)
{
    const JournalRequest *request = &session->request;
    buffer_text(out_of(session), "X-DID");
    for (size_t i = 0; i < request->count; i++) {
        Status status = request->steps[i].status;
        buffer_u8(out_of(session), ' ');
        if (status == STATUS_CONFLICT)
            buffer_text(out_of(session), "LOST");
        else
            beanstalk_write_status(out_of(session), status);
        session->quits |= status == STATUS_UNKNOWN;
    }
    buffer_text(out_of(session), "\r\n");
}

static void steps_begin(Session *session)
{
    static const JournalCall CALLS[BEANSTALK_WORDS] = {[BEANSTALK_X_EXTEND] = JOURNAL_CALL_EXTEND,
                                                       [BEANSTALK_X_DONE] = JOURNAL_CALL_DONE,
                                                       [BEANSTALK_X_RELEASE] = JOURNAL_CALL_RELEASE,
                                                       [BEANSTALK_X_FAIL] = JOURNAL_CALL_FAIL,
                                                       [BEANSTALK_X_BURY] = JOURNAL_CALL_BURY};
    const BeanstalkCommand *command = &session->command;
    bool extends = command->word == BEANSTALK_X_EXTEND;
    JournalStep *steps = ARENA_ARRAY(session->arena, command->token_count, JournalStep);
    for (size_t i = 0; i < command->token_count; i++)
        steps[i] = (JournalStep){.token = command->tokens[i],
                                 .ms = extends ? (int64_t)command->numbers[BEANSTALK_O_LEASE]
                                               : wanted_ms(session),
                                 .priority = (uint32_t)command->numbers[BEANSTALK_O_PRI],
                                 .has_priority = beanstalk_given(command, BEANSTALK_O_PRI),
                                 .error = command->texts[BEANSTALK_O_ERROR]};
    session->request = (JournalRequest){
        .call = CALLS[command->word], .steps = steps, .count = command->token_count};
    session_submit(session, steps_done);
}

/* ---- x-listen ---------------------------------------------------------------------------------------------- */

static void listen_begin(Session *session)
{
    const BeanstalkCommand *command = &session->command;
    Reason reason = {0};
    Status status = STATUS_OK;
    for (size_t i = 0; i < command->name_count && status == STATUS_OK; i++)
        status = check_right(session, "names", command->names[i], RIGHT_CLAIM, &reason);
    if (status == STATUS_OK)
        status = listening_begin(session, command->names, command->name_count, &reason);
    if (status == STATUS_OK)
        buffer_print(out_of(session), "X-LISTENING %zu\r\n", command->name_count);
    else
        own_refuse(session, status, &reason);
}

void own_begin(Session *session)
{
    static SessionStep *const BEGINS[BEANSTALK_WORDS] = {
        [BEANSTALK_X_AUTH] = auth_begin,     [BEANSTALK_X_PUT] = put_begin,
        [BEANSTALK_X_CLAIM] = claim_begin,   [BEANSTALK_X_EXTEND] = steps_begin,
        [BEANSTALK_X_DONE] = steps_begin,    [BEANSTALK_X_RELEASE] = steps_begin,
        [BEANSTALK_X_FAIL] = steps_begin,    [BEANSTALK_X_BURY] = steps_begin,
        [BEANSTALK_X_LISTEN] = listen_begin,
    };
    BEGINS[session->command.word](session);
}
