/* pool.c -- see pool.h. */
#include "web/pool.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "web/loop.h"
#include "web/server_private.h"

enum { YIELDING_PRIORITY = 5 };

struct Pool {
    PoolOptions options;
    pthread_t *threads;
    Shares *places; /* of those that wait and those that run */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    WebRequest *first, **last; /* those that wait, linked by `next` */
    unsigned idle;             /* threads */
    bool is_called;            /* one of them is waking up, and will look */
    bool ends;
};

/* Locked: whether to call a thread for what waits. Not when one is on its way, who looks whether to call another: each that wakes up costs. */
static bool must_call(Pool *pool)
{
    bool must = pool->first != NULL && pool->idle > 0 && !pool->is_called;
    pool->is_called |= must;
    return must;
}

/* Unlocks, and then calls: the one who wakes finds the lock free. */
static void unlock_and_call(Pool *pool)
{
    bool must = must_call(pool);
    CHECK(pthread_mutex_unlock(&pool->lock) == 0);
    if (must)
        CHECK(pthread_cond_signal(&pool->changed) == 0);
}

static WebRequest *pop(Pool *pool)
{
    WebRequest *request = pool->first;
    pool->first = request->next;
    if (pool->first == NULL)
        pool->last = &pool->first;
    return request;
}

/* The next request, and with it those that follow and share its WebRoute.batch. */
static size_t take(Pool *pool, WebRequest **requests)
{
    size_t count = 0;
    requests[count++] = pop(pool);
    WebBatch *batch = requests[0]->match.route->batch;
    while (batch != NULL && count < pool->options.batch && pool->first != NULL &&
           pool->first->match.route->batch == batch)
        requests[count++] = pop(pool);
    return count;
}

/* 0 when it is time to end, and nothing is left. */
static size_t next_requests(Pool *pool, WebRequest **requests)
{
    size_t count = 0;
    CHECK(pthread_mutex_lock(&pool->lock) == 0);
    while (pool->first == NULL && !pool->ends) {
        pool->idle++;
        CHECK(pthread_cond_wait(&pool->changed, &pool->lock) == 0);
        pool->idle--;
        pool->is_called = false;
    }
    if (pool->first != NULL)
        count = take(pool, requests);
    unlock_and_call(pool);
    return count;
}

static void *work(void *argument)
{
    Pool *pool = argument;
    WebRequest *requests[WEB_BATCH_MAX];
    if (pool->options.yields) /* on Linux it is of the thread; not to be allowed does no harm */
        (void)setpriority(PRIO_PROCESS, (id_t)gettid(), YIELDING_PRIORITY);
    for (size_t count; (count = next_requests(pool, requests)) > 0;) {
        answers_begin(requests, count);
        for (size_t i = 0; i < count; i++) {
            Channel *channel = requests[i]->channel;
            answer_end(requests[i]);
            shares_give(pool->places, requests[i]->client,
                        1); /* before the client can hear of it, and come again */
            if (request_is_later(requests[i]))
                exchange_start_later(requests[i]);
            else
                loop_give(channel->loop, channel);
        }
    }
    return NULL;
}

Pool *pool_start(const PoolOptions *options)
{
    Pool *pool = calloc(1, sizeof *pool);
    CHECK(pool != NULL);
    pool->options = *options;
    if (pool->options.batch > WEB_BATCH_MAX)
        pool->options.batch = WEB_BATCH_MAX;
    pool->last = &pool->first;
    pool->places = shares_new((int64_t)options->threads + options->queue, options->per_address,
                              options->exempt);
    pool->threads = calloc(options->threads, sizeof *pool->threads);
    CHECK(pool->threads != NULL && pthread_mutex_init(&pool->lock, NULL) == 0 &&
          pthread_cond_init(&pool->changed, NULL) == 0);
    for (unsigned i = 0; i < options->threads; i++)
        pool->threads[i] = thread_start(options->kind, work, pool);
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
    shares_free(pool->places);
    free(pool->threads);
    free(pool);
}

SharesAnswer pool_take(Pool *pool, WebRequest *request)
{
    SharesAnswer answer = shares_take(pool->places, request->client, 1);
    if (answer != SHARES_TAKEN)
        return answer;
    CHECK(pthread_mutex_lock(&pool->lock) == 0);
    bool ends = pool->ends;
    if (!ends) {
        request->next = NULL;
        *pool->last = request;
        pool->last = &request->next;
    }
    unlock_and_call(pool);
    if (!ends)
        return SHARES_TAKEN;
    shares_give(pool->places, request->client, 1);
    return SHARES_FULL;
}
