/* pool.c -- see pool.h. */
#include "web/pool.h"

#include <stdlib.h>

#include "web/server_internal.h"

struct Pool {
    PoolOptions options;
    pthread_t *threads;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    WebRequest *first, **last; /* those that wait, linked by `next` */
    unsigned waiting, running;
    bool ends;
};

/* NULL when it is time to end, and nothing is left. */
static WebRequest *next_request(Pool *pool)
{
    CHECK(pthread_mutex_lock(&pool->lock) == 0);
    while (pool->first == NULL && !pool->ends)
        CHECK(pthread_cond_wait(&pool->changed, &pool->lock) == 0);
    WebRequest *request = pool->first;
    if (request != NULL) {
        pool->first = request->next;
        if (pool->first == NULL)
            pool->last = &pool->first;
        pool->waiting--;
        pool->running++;
    }
    CHECK(pthread_mutex_unlock(&pool->lock) == 0);
    return request;
}

static void is_through(Pool *pool)
{
    CHECK(pthread_mutex_lock(&pool->lock) == 0);
    pool->running--;
    CHECK(pthread_mutex_unlock(&pool->lock) == 0);
}

static void *work(void *argument)
{
    Pool *pool = argument;
    for (WebRequest *request; (request = next_request(pool)) != NULL;) {
        struct MHD_Connection *mhd = request->mhd;
        answer_make(request);
        is_through(pool); /* before the client can hear of it, and come again */
        atomic_store(&request->is_made, true);
        MHD_resume_connection(mhd);
    }
    return NULL;
}

Pool *pool_start(const PoolOptions *options)
{
    Pool *pool = calloc(1, sizeof *pool);
    CHECK(pool != NULL);
    pool->options = *options;
    pool->last = &pool->first;
    pool->threads = calloc(options->threads, sizeof *pool->threads);
    CHECK(pool->threads != NULL && pthread_mutex_init(&pool->lock, NULL) == 0 &&
          pthread_cond_init(&pool->changed, NULL) == 0);
    for (unsigned i = 0; i < options->threads; i++) {
        CHECK(pthread_create(&pool->threads[i], NULL, work, pool) == 0);
        pthread_setname_np(pool->threads[i], options->name);
    }
    return pool;
}

void pool_stop(Pool *pool)
{
    CHECK(pthread_mutex_lock(&pool->lock) == 0);
    pool->ends = true;
    CHECK(pthread_cond_broadcast(&pool->changed) == 0);
    CHECK(pthread_mutex_unlock(&pool->lock) == 0);
    for (unsigned i = 0; i < pool->options.threads; i++)
        pthread_join(pool->threads[i], NULL);
}

void pool_free(Pool *pool)
{
    if (pool == NULL)
        return;
    CHECK(pool->first == NULL);
    pthread_mutex_destroy(&pool->lock);
    pthread_cond_destroy(&pool->changed);
    free(pool->threads);
    free(pool);
}

/* Suspended before it can be taken: a connection must not be resumed earlier. */
bool pool_take(Pool *pool, WebRequest *request, struct MHD_Connection *mhd)
{
    unsigned most = pool->options.threads + pool->options.queue;
    CHECK(pthread_mutex_lock(&pool->lock) == 0);
    bool has_room = !pool->ends && pool->running + pool->waiting < most;
    if (has_room) {
        MHD_suspend_connection(mhd);
        request->mhd = mhd;
        request->next = NULL;
        *pool->last = request;
        pool->last = &request->next;
        pool->waiting++;
    }
    CHECK(pthread_mutex_unlock(&pool->lock) == 0);
    if (has_room) /* the one who wakes finds the lock free */
        CHECK(pthread_cond_signal(&pool->changed) == 0);
    return has_room;
}
