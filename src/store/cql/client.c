/* client.c -- opening and closing, handing calls over, and the loop of the I/O thread.
 *
 * A caller puts its calls into a queue. If nobody is at work on the client's state, it takes the lock and sends all that is in the queue itself:
 * that saves waking another thread for each call. If somebody is, that one sends it, since whoever leaves looks at the queue again. Then it
 * waits on a semaphore of its own. The I/O thread reads answers, watches the time, and writes what a socket did not take at once.
 * Requests are written from the caller's memory and answers are copied into the caller's arena, which the caller does not touch
 * until it is woken.
 *
 * With TLS only the I/O thread writes: OpenSSL cannot be told not to raise a signal when the other side is gone, and only that thread
 * has it blocked. */
#include "store/cql/client_private.h"
#include "store/cql/token.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/threads.h"

enum { IN_FLIGHT_MAX = 32000, LEAVE_US = 1000, ROUNDS_MAX = 16 };

/* ---- The queue --------------------------------------------------------------------------------------------- */

static void wake_if_asleep(CqlClient *client)
{
    pthread_mutex_lock(&client->queue_lock);
    bool asleep = client->asleep && client->queue.first != NULL;
    client->asleep &= !asleep;
    pthread_mutex_unlock(&client->queue_lock);
    if (asleep)
        net_loop_wake(&client->loop.net);
}

static Call *take_queue(CqlClient *client)
{
    pthread_mutex_lock(&client->queue_lock);
    Call *first = client->queue.first;
    client->queue = (CallList){NULL, NULL};
    pthread_mutex_unlock(&client->queue_lock);
    return first;
}

static bool queue_is_empty(CqlClient *client)
{
    pthread_mutex_lock(&client->queue_lock);
    bool empty = client->queue.first == NULL;
    pthread_mutex_unlock(&client->queue_lock);
    return empty;
}

/* Sends what was handed over. With the state's lock. */
static void start_queue(CqlClient *client)
{
    for (Call *call = take_queue(client), *next; call != NULL; call = next) {
        next = call->next;
        call->list = NULL;
        call_start(call);
    }
    if (client->room)
        calls_place_waiting(client);
}

/* Gives the lock back, and then wakes whose calls are answered: woken earlier they would find it taken. */
static void unlock_and_wake(CqlClient *client)
{
    Run *run = client->answered;
    client->answered = NULL;
    pthread_mutex_unlock(&client->lock);
    while (run != NULL) {
        Run *next = run->next;
        sem_post(&run->answered); /* from here on it is the caller's */
        run = next;
    }
}

/* A caller does the work of all who handed something over meanwhile, but not for ever. Something may now be due before the moment until
 * which the I/O thread means to sleep. */
static void serve_queue(CqlClient *client)
{
    for (int round = 0; round < ROUNDS_MAX && pthread_mutex_trylock(&client->lock) == 0; round++) {
        client->loop.net.now_us = clock_steady_us(client->loop.net.clock);
        start_queue(client);
        loop_flush(&client->loop);
        bool sooner = timers_next_us(&client->loop.net.timers) < client->sleep_until_us;
        if (sooner)
            client->sleep_until_us = INT64_MIN;
        unlock_and_wake(client);
        if (sooner)
            net_loop_wake(&client->loop.net);
        if (queue_is_empty(client))
            return;
    }
    /* Whoever has the lock looks at the queue again; only one who gave up on his own account must see to it that somebody does. */
    wake_if_asleep(client);
}

/* ---- The loop ---------------------------------------------------------------------------------------------- */

/* From now on somebody must wake us; false: there is work already. */
static bool fall_asleep(CqlClient *client)
{
    pthread_mutex_lock(&client->queue_lock);
    bool nothing = client->queue.first == NULL && !client->closing;
    client->asleep = nothing;
    pthread_mutex_unlock(&client->queue_lock);
    return nothing;
}

static void be_awake(CqlClient *client)
{
    pthread_mutex_lock(&client->queue_lock);
    client->asleep = false;
    pthread_mutex_unlock(&client->queue_lock);
}

/* Sockets first and timers later: a process that was stopped for a while must not take its own absence for the nodes' silence. With the
 * lock but while it sleeps. Links are freed here only, when no event that names one is left. */
static void turn(CqlClient *client)
{
    int64_t until_us = client->sleep_until_us = timers_next_us(&client->loop.net.timers);
    unlock_and_wake(client);
    net_loop_wait(&client->loop.net, fall_asleep(client) ? until_us : 0);
    be_awake(client);
    pthread_mutex_lock(&client->lock);
    net_loop_serve(&client->loop.net);
    start_queue(client);
    loop_flush(&client->loop);
    loop_bury(&client->loop);
}

static void end_all(CqlClient *client)
{
    timers_clear(&client->loop.net.timers, &client->settle);
    cql_control_end(client);
    for (size_t i = 0; i < client->host_count; i++)
        if (client->hosts[i] != NULL)
            host_remove(client->hosts[i]);
    loop_flush(&client->loop);
    loop_bury(&client->loop);
    ring_free(client->ring);
}

static bool may_end(CqlClient *client)
{
    pthread_mutex_lock(&client->queue_lock);
    bool closing = client->closing && client->queue.first == NULL;
    pthread_mutex_unlock(&client->queue_lock);
    return closing && client->active == 0;
}

static void *run_loop(void *context)
{
    CqlClient *client = context;
    pthread_mutex_lock(&client->lock);
    client->loop.net.now_us = clock_steady_us(client->loop.net.clock);
    cql_control_start(client);
    while (!may_end(client))
        turn(client);
    end_all(client);
    unlock_and_wake(client);
    return NULL;
}

/* ---- Opening ----------------------------------------------------------------------------------------------- */

void client_opened(CqlClient *client, Status status)
{
    if (client->is_opened)
        return;
    client->is_opened = true;
    client->open_status = status;
    memcpy(client->open_words, client->control.words, sizeof client->open_words);
    timers_clear(&client->loop.net.timers, &client->settle);
    sem_post(&client->opened);
}

void client_check_settled(CqlClient *client)
{
    if (client->is_opened || client->ring == NULL)
        return;
    for (size_t i = 0; i < client->host_count; i++)
        if (client->hosts[i] != NULL && !client->hosts[i]->settled)
            return;
    client_opened(client, STATUS_OK);
}

static void settle_due(Timer *timer)
{
    client_opened(OWNER_OF(timer, CqlClient, settle), STATUS_OK);
}

static char *copy_or_null(const char *text)
{
    char *copy = text != NULL ? strdup(text) : NULL;
    CHECK(text == NULL || copy != NULL);
    return copy;
}

static int64_t ms_or(int64_t ms, int64_t otherwise_ms)
{
    return (ms > 0 ? ms : otherwise_ms) * US_PER_MS;
}

static CqlClient *client_new(const CqlOptions *options)
{
    size_t in_flight = options->in_flight > 0 ? options->in_flight : CQL_IN_FLIGHT;
    CqlClient *client = calloc(1, sizeof *client);
    CHECK(client != NULL);
    client->world = options->world;
    client->keyspace = copy_or_null(options->keyspace);
    client->user = copy_or_null(options->user);
    client->password = copy_or_null(options->password != NULL ? options->password : "");
    client->connections = options->connections > 0 ? options->connections : 1;
    client->request_us = ms_or(options->request_ms, CQL_REQUEST_MS);
    client->settle.due = settle_due;
    net_loop_open(&client->loop.net, options->world.clock);
    client->links =
        (LinkSettings){.loop = &client->loop,
                       .user = slice_from(client->user != NULL ? client->user : ""),
                       .password = slice_from(client->password),
                       .has_login = client->user != NULL,
                       .connect_us = ms_or(options->connect_ms, CQL_CONNECT_MS),
                       .silence_us = ms_or(options->silence_ms, CQL_SILENCE_MS),
                       .in_flight = in_flight < IN_FLIGHT_MAX ? in_flight : IN_FLIGHT_MAX};
    pthread_mutex_init(&client->lock, NULL);
    pthread_mutex_init(&client->hosts_lock, NULL);
    pthread_mutex_init(&client->queue_lock, NULL);
    pthread_mutex_init(&client->statements_lock, NULL);
    sem_init(&client->opened, 0, 0);
    return client;
}

static void wipe(char *secret)
{
    if (secret != NULL)
        explicit_bzero(secret, strlen(secret));
    free(secret);
}

static void client_free(CqlClient *client)
{
    net_loop_close(&client->loop.net);
    for (size_t i = 0; i < client->statement_count; i++)
        free(client->statements[i]);
    pthread_mutex_destroy(&client->lock);
    pthread_mutex_destroy(&client->hosts_lock);
    pthread_mutex_destroy(&client->queue_lock);
    pthread_mutex_destroy(&client->statements_lock);
    sem_destroy(&client->opened);
    tls_free(client->tls);
    seeds_free(client);
    free(client->keyspace);
    free(client->user);
    wipe(client->password);
    free(client);
}

/* It takes no signals (threads.h): a write of OpenSSL to a closed socket must not raise one. */
static void start_thread(CqlClient *client)
{
    client->thread = thread_start(THREAD_CQL, run_loop, client);
    while (sem_wait(&client->opened) != 0)
        CHECK(errno == EINTR);
}

Status cql_open(const CqlOptions *options, CqlClient **ret_client, Reason *reason)
{
    CqlClient *client = client_new(options);
    Status status = seeds_find(client, options, reason);
    if (status == STATUS_OK && options->tls.on) {
        status = tls_new(&options->tls, &client->tls, reason);
        client->links.tls = client->tls;
    }
    if (status != STATUS_OK) {
        client_free(client);
        return status;
    }
    start_thread(client);
    status = client->open_status;
    if (status != STATUS_OK) {
        reason_set(reason, status, "", "%s", client->open_words);
        cql_close(client);
        return status;
    }
    *ret_client = client;
    return STATUS_OK;
}

/* ---- Handing over ------------------------------------------------------------------------------------------ */

void cql_close(CqlClient *client)
{
    if (client == NULL)
        return;
    pthread_mutex_lock(&client->queue_lock);
    client->closing = true;
    pthread_mutex_unlock(&client->queue_lock);
    net_loop_wake(&client->loop.net);
    CHECK(pthread_join(client->thread, NULL) == 0);
    /* All is answered; who was answered last may not have left cql_run yet. */
    while (atomic_load(&client->callers) > 0)
        clock_sleep_us(client->world.clock, LEAVE_US);
    client_free(client);
}

static void hand_over(CqlClient *client, Call *calls, size_t count)
{
    pthread_mutex_lock(&client->queue_lock);
    for (size_t i = 0; i < count; i++)
        if (calls[i].run != NULL)
            call_list_add(&client->queue, &calls[i]);
    pthread_mutex_unlock(&client->queue_lock);
    if (client->tls == NULL)
        serve_queue(client);
    else
        wake_if_asleep(client);
}

static bool fits(const CqlCall *call)
{
    for (size_t i = 0; i < call->part_count; i++)
        if (call->parts[i].count > WIRE_PARTS_MAX)
            return false;
    return call->part_count <= WIRE_PARTS_MAX && wire_call_size(call) <= WIRE_REQUEST_MAX;
}

/* The rows, read by the thread that wanted them. */
static void read_answer(Call *call, Arena *arena)
{
    CqlAnswer *answer = call->answer;
    if (answer->status != STATUS_OK ||
        wire_read_result(call->body, arena, &answer->rows) == STATUS_OK)
        return;
    answer->status = call->asked->kind == CQL_READ ? STATUS_CORRUPT : STATUS_UNKNOWN;
    snprintf(answer->words, sizeof answer->words, "a result breaks the protocol");
}

void cql_run(CqlClient *client, const CqlCall *calls, size_t count, Arena *arena,
             CqlAnswer *ret_answers)
{
    Run run = {.arena = arena};
    Call *own = ARENA_ARRAY(arena, count, Call);
    for (size_t i = 0; i < count; i++) {
        ret_answers[i] =
            (CqlAnswer){.status = STATUS_TOO_LARGE, .words = "the request is too large"};
        own[i] = (Call){.client = client, .asked = &calls[i], .answer = &ret_answers[i]};
        if (!fits(&calls[i]))
            continue;
        ret_answers[i].words[0] = '\0';
        own[i].token = calls[i].routing_key.size > 0 ? token_of(calls[i].routing_key) : 0;
        own[i].run = &run;
        run.left++;
    }
    if (run.left == 0)
        return;
    sem_init(&run.answered, 0, 0);
    atomic_fetch_add(&client->callers, 1);
    hand_over(client, own, count);
    while (sem_wait(&run.answered) != 0)
        CHECK(errno == EINTR);
    atomic_fetch_sub(&client->callers, 1);
    sem_destroy(&run.answered);
    for (size_t i = 0; i < count; i++)
        read_answer(&own[i], arena);
}
