/* auth.c -- the thread that looks tokens up: that may take reads from a store, for which the loop does not wait. */
#include <stdlib.h>

#include "base/threads.h"
#include "beanstalk/beanstalk_private.h"

struct Auth {
    BeanstalkServer *server;
    pthread_t thread;
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t more;
    struct AuthRequest *first, **last;
    bool stopping;
};

static struct AuthRequest *take(struct Auth *auth)
{
    pthread_mutex_lock(&auth->lock);
    while (auth->first == NULL && !auth->stopping)
        pthread_cond_wait(&auth->more, &auth->lock);
    struct AuthRequest *request = auth->first;
    if (request != NULL) {
        auth->first = request->next;
        if (auth->first == NULL)
            auth->last = &auth->first;
    }
    pthread_mutex_unlock(&auth->lock);
    return request;
}

static void *work(void *argument)
{
    struct Auth *auth = argument;
    const BeanstalkOptions *options = &auth->server->options;
    struct AuthRequest *request;
    while ((request = take(auth)) != NULL) {
        request->status = options->auth(options->self, request->secret, &request->grants);
        net_loop_post(&auth->server->loop, &request->done);
    }
    return NULL;
}

void auth_start(BeanstalkServer *server)
{
    if (server->options.auth == NULL)
        return;
    struct Auth *auth = calloc(1, sizeof *auth);
    CHECK(auth != NULL);
    auth->server = server;
    auth->last = &auth->first;
    pthread_mutex_init(&auth->lock, NULL);
    pthread_cond_init(&auth->more, NULL);
    auth->thread = thread_start(THREAD_BEANSTALK_AUTH, work, auth);
    server->auth = auth;
}

void auth_stop(BeanstalkServer *server)
{
    struct Auth *auth = server->auth;
    if (auth == NULL)
        return;
    pthread_mutex_lock(&auth->lock);
    auth->stopping = true;
    pthread_cond_signal(&auth->more);
    pthread_mutex_unlock(&auth->lock);
    pthread_join(auth->thread, NULL);
    pthread_mutex_destroy(&auth->lock);
    pthread_cond_destroy(&auth->more);
    free(auth);
}

void auth_forget(Session *session)
{
    const BeanstalkOptions *options = &session->server->options;
    if (session->grants != NULL)
        options->forget(options->self, session->grants);
    session->grants = NULL;
}

/* A token that is none any more leaves nothing. One that cannot be looked up now leaves what was known, and is asked for again later. */
static void looked_up(NetPost *post)
{
    Session *session = OWNER_OF(post, Session, auth.done);
    struct AuthRequest *request = &session->auth;
    bool is_good = request->status == STATUS_OK;
    if (is_good || (request->again && request->status == STATUS_LOGIN)) {
        auth_forget(session);
        session->grants = is_good ? request->grants : NULL;
    }
    if (is_good && !request->again) {
        memcpy(session->secret, request->secret.data, request->secret.size);
        session->secret_size = request->secret.size;
    }
    session->granted_us = session->server->loop.now_us;
    session->judged = 0;
    session_go_on(session);
}

void auth_submit(Session *session, bool again, SessionStep *then)
{
    struct Auth *auth = session->server->auth;
    struct AuthRequest *request = &session->auth;
    *request = (struct AuthRequest){.done.run = looked_up, .again = again};
    request->secret =
        again ? slice_of(session->secret, session->secret_size) : session->command.secret;
    session->then = then;
    session->under_way++;
    pthread_mutex_lock(&auth->lock);
    *auth->last = request;
    auth->last = &request->next;
    pthread_cond_signal(&auth->more);
    pthread_mutex_unlock(&auth->lock);
}

bool auth_is_old(const Session *session)
{
    return session->grants != NULL &&
           session->server->loop.now_us - session->granted_us > GRANTS_S * US_PER_S;
}
