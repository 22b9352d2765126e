/* pool.c -- see pool.h. */
#include "web/pool.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "web/loop.h"
#include "web/server_private.h"

enum { YIELDING_PRIORITY = 5, NETWORKS = 4096 };
static const int64_t LATELY_US = 10 * US_PER_S;

/* Perhaps several that share an entry. */
typedef struct Network {
    int64_t served_us; /* when a request of it was last taken */
    unsigned held;     /* places */
} Network;

struct Pool {
    PoolOptions options;
    pthread_t *threads;
    Shares *places;    /* of those that wait and those that run */
    Network *networks; /* that take turns; NULL: the first who came is the next */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    WebRequest *first, **last; /* those that wait, linked by `next` */
    unsigned idle, busy;       /* threads */
    bool is_called;            /* one of them is waking up, and will look */
    bool ends;
};

/* ---- Whose turn it is (all of it locked) ---- */

/* The widest one. NULL: an address that takes no turns, because it stands for many people. */
static Network *network_of(const Pool *pool, const WebRequest *request)
{
    AddressNetwork networks[ADDRESS_NETWORKS];
    uint64_t hash = UINT64_C(14695981039346656037);
    if (pool->networks == NULL || address_is_exempt(request->client, pool->options.exempt))
        return NULL;
    Address network = networks[address_networks(request->client, networks) - 1].address;
    for (size_t i = 0; i < sizeof network.bytes; i++)
        hash = (hash ^ network.bytes[i]) * UINT64_C(1099511628211);
    return &pool->networks[hash % NETWORKS];
}

static int64_t served_us(const Pool *pool, const WebRequest *request)
{
    const Network *network = network_of(pool, request);
    return network != NULL ? network->served_us : 0;
}

static int64_t now_us(const WebRequest *request)
{
    return clock_steady_us(request->server->options.world.clock);
}

/* The first of those whose network was served longest ago. The last thread that is free is for networks that were not served lately: whoever asks
 * all the time holds all others, so that somebody else waits for nobody. NULL: there is none now. */
static WebRequest **next_of(Pool *pool)
{
    WebRequest **best = &pool->first;
    if (pool->first == NULL)
        return NULL;
    for (WebRequest **at = &pool->first; pool->networks != NULL && *at != NULL; at = &(*at)->next)
        if (served_us(pool, *at) < served_us(pool, *best))
            best = at;
    int64_t served = served_us(pool, *best);
    bool is_last_thread = pool->options.threads > 1 && pool->busy + 1 == pool->options.threads;
    bool was_lately = served != 0 && now_us(*best) - served < LATELY_US;
    return was_lately && is_last_thread && !pool->ends ? NULL : best;
}

static bool is_before(Network one, Network other)
{
    return one.held != other.held ? one.held < other.held : one.served_us < other.served_us;
}

/* The last who waits of the network that holds most places, and among these was served most lately; but only of one that is better off than that of `request`
 * will be with one place more. NULL: there is none. */
static WebRequest **displaced_by(Pool *pool, const WebRequest *request)
{
    const Network *own = network_of(pool, request), *found = NULL;
    WebRequest **worst = NULL;
    Network most = own != NULL ? *own : (Network){0};
    most.held++;
    for (WebRequest **at = &pool->first; own != NULL && *at != NULL; at = &(*at)->next) {
        const Network *network = network_of(pool, *at);
        if (network == NULL || (network != found && !is_before(most, *network)))
            continue;
        worst = at;
        found = network;
        most = *found;
    }
    return worst;
}

/* ---- Those that wait ---- */

/* Locked: whether to call a thread for what waits. Not when one is on its way, who looks whether to call another: each that wakes up costs. */
static bool must_call(Pool *pool)
{
    bool must = pool->idle > 0 && !pool->is_called && next_of(pool) != NULL;
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

static WebRequest *unlink_one(Pool *pool, WebRequest **at)
{
    WebRequest *request = *at;
    *at = request->next;
    if (*at == NULL)
        pool->last = at;
    return request;
}

/* The next request, and with it those that follow and share its WebRoute.batch. */
static size_t take(Pool *pool, WebRequest **next, WebRequest **requests)
{
    size_t count = 0;
    Network *network = network_of(pool, *next);
    if (network != NULL)
        network->served_us = now_us(*next);
    requests[count++] = unlink_one(pool, next);
    WebBatch *batch = requests[0]->match.route->batch;
    while (batch != NULL && count < pool->options.batch && *next != NULL &&
           (*next)->match.route->batch == batch)
        requests[count++] = unlink_one(pool, next);
    pool->busy++;
    return count;
}

/* 0 when it is time to end, and nothing is left. `was_busy`: this thread has just answered some. */
static size_t next_requests(Pool *pool, bool was_busy, WebRequest **requests)
{
    size_t count = 0;
    WebRequest **next;
    CHECK(pthread_mutex_lock(&pool->lock) == 0);
    pool->busy -= was_busy;
    while ((next = next_of(pool)) == NULL && !pool->ends) {
        pool->idle++;
        CHECK(pthread_cond_wait(&pool->changed, &pool->lock) == 0);
        pool->idle--;
        pool->is_called = false;
    }
    if (next != NULL)
        count = take(pool, next, requests);
    unlock_and_call(pool);
    return count;
}

static void leave(Pool *pool, const WebRequest *request)
{
    CHECK(pthread_mutex_lock(&pool->lock) == 0);
    Network *network = network_of(pool, request);
    if (network != NULL)
        network->held--;
    CHECK(pthread_mutex_unlock(&pool->lock) == 0);
    shares_give(pool->places, request->client, 1);
}

static void *work(void *argument)
{
    Pool *pool = argument;
    WebRequest *requests[WEB_BATCH_MAX];
    if (pool->options.yields) /* on Linux it is of the thread; not to be allowed does no harm */
        (void)setpriority(PRIO_PROCESS, (id_t)gettid(), YIELDING_PRIORITY);
    for (size_t count = 0; (count = next_requests(pool, count > 0, requests)) > 0;) {
        answers_begin(requests, count);
        for (size_t i = 0; i < count; i++) {
            Channel *channel = requests[i]->channel;
            answer_end(requests[i]);
            leave(pool, requests[i]); /* before the client can hear of it, and come again */
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
    if (options->per_address > 0)
        CHECK((pool->networks = calloc(NETWORKS, sizeof *pool->networks)) != NULL);
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
    free(pool->networks);
    free(pool->threads);
    free(pool);
}

static SharesAnswer take_place(Pool *pool, WebRequest *request, WebRequest **ret_displaced)
{
    SharesAnswer answer = shares_take(pool->places, request->client, 1);
    if (answer != SHARES_FULL)
        return answer;
    CHECK(pthread_mutex_lock(&pool->lock) == 0);
    WebRequest **at = displaced_by(pool, request);
    *ret_displaced = at != NULL ? unlink_one(pool, at) : NULL;
    Network *network = at != NULL ? network_of(pool, *ret_displaced) : NULL;
    if (network != NULL)
        network->held--;
    CHECK(pthread_mutex_unlock(&pool->lock) == 0);
    if (*ret_displaced == NULL)
        return SHARES_FULL;
    shares_give(pool->places, (*ret_displaced)->client, 1);
    return shares_take(pool->places, request->client, 1);
}

SharesAnswer pool_take(Pool *pool, WebRequest *request, WebRequest **ret_displaced)
{
    *ret_displaced = NULL;
    SharesAnswer answer = take_place(pool, request, ret_displaced);
    if (answer != SHARES_TAKEN)
        return answer;
    CHECK(pthread_mutex_lock(&pool->lock) == 0);
    bool ends = pool->ends;
    if (!ends) {
        Network *network = network_of(pool, request);
        if (network != NULL)
            network->held++;
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
