/* slow.c -- see slow.h. */
#include "web/slow.h"

#include <stdlib.h>

#include "web/server_internal.h"

struct Slow {
    unsigned thread_count, queue;
    pthread_t *threads;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    WebRequest *first, **last; /* those that wait, linked by `next` */
    unsigned waiting, running;
    bool ends;
};

/* NULL when it is time to end, and nothing is left. */
static WebRequest *next_request(Slow *slow)
{
    CHECK(pthread_mutex_lock(&slow->lock) == 0);
    while (slow->first == NULL && !slow->ends)
        CHECK(pthread_cond_wait(&slow->changed, &slow->lock) == 0);
    WebRequest *request = slow->first;
    if (request != NULL) {
        slow->first = request->next;
        if (slow->first == NULL)
            slow->last = &slow->first;
        slow->waiting--;
        slow->running++;
    }
    CHECK(pthread_mutex_unlock(&slow->lock) == 0);
    return request;
}

static void is_through(Slow *slow)
{
    CHECK(pthread_mutex_lock(&slow->lock) == 0);
    slow->running--;
    CHECK(pthread_mutex_unlock(&slow->lock) == 0);
}

static void *work(void *argument)
{
    Slow *slow = argument;
    for (WebRequest *request; (request = next_request(slow)) != NULL;) {
        struct MHD_Connection *mhd = request->mhd;
        answer_make(request);
        is_through(slow); /* before the client can hear of it, and come again */
        atomic_store(&request->is_made, true);
        MHD_resume_connection(mhd);
    }
    return NULL;
}

Slow *slow_start(unsigned threads, unsigned queue)
{
    Slow *slow = calloc(1, sizeof *slow);
    CHECK(slow != NULL);
    slow->thread_count = threads;
    slow->queue = queue;
    slow->last = &slow->first;
    slow->threads = calloc(threads, sizeof *slow->threads);
    CHECK(slow->threads != NULL && pthread_mutex_init(&slow->lock, NULL) == 0 &&
          pthread_cond_init(&slow->changed, NULL) == 0);
    for (unsigned i = 0; i < threads; i++) {
        CHECK(pthread_create(&slow->threads[i], NULL, work, slow) == 0);
        pthread_setname_np(slow->threads[i], "web-slow");
    }
    return slow;
}

void slow_stop(Slow *slow)
{
    CHECK(pthread_mutex_lock(&slow->lock) == 0);
    slow->ends = true;
    CHECK(pthread_cond_broadcast(&slow->changed) == 0);
    CHECK(pthread_mutex_unlock(&slow->lock) == 0);
    for (unsigned i = 0; i < slow->thread_count; i++)
        pthread_join(slow->threads[i], NULL);
}

void slow_free(Slow *slow)
{
    if (slow == NULL)
        return;
    CHECK(slow->first == NULL);
    pthread_mutex_destroy(&slow->lock);
    pthread_cond_destroy(&slow->changed);
    free(slow->threads);
    free(slow);
}

/* Suspended before it can be taken: a connection must not be resumed earlier. */
bool slow_take(Slow *slow, WebRequest *request, struct MHD_Connection *mhd)
{
    CHECK(pthread_mutex_lock(&slow->lock) == 0);
    bool has_room = !slow->ends && slow->running + slow->waiting < slow->thread_count + slow->queue;
    if (has_room) {
        MHD_suspend_connection(mhd);
        request->mhd = mhd;
        request->next = NULL;
        *slow->last = request;
        slow->last = &request->next;
        slow->waiting++;
        CHECK(pthread_cond_signal(&slow->changed) == 0);
    }
    CHECK(pthread_mutex_unlock(&slow->lock) == 0);
    return has_room;
}
