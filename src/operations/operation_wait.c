/* operation_wait.c -- a door that does wait for an answer that takes its time: a thread of its own for each (control.h).
 *
 * All that wait are in a list, so that an end of the process ends the waiting. */
#include <pthread.h>
#include <stdlib.h>

#include "operations/operation_wait.h"

enum { WAITS_MAX = 48 }; /* leaves the rest of CONTROL_CLIENTS to other commands */

typedef struct Wait {
    struct Wait *next;
    OperationLater *later;
    OperationWaits *waits;
    bool is_ready;
} Wait;

struct OperationWaits {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    Wait *first;
    size_t count;
    bool drains;
};

OperationWaits *operation_waits_new(void)
{
    OperationWaits *waits = calloc(1, sizeof *waits);
    CHECK(waits != NULL && pthread_mutex_init(&waits->lock, NULL) == 0 &&
          pthread_cond_init(&waits->changed, NULL) == 0);
    return waits;
}

void operation_waits_free(OperationWaits *waits)
{
    CHECK(waits->first == NULL);
    pthread_mutex_destroy(&waits->lock);
    pthread_cond_destroy(&waits->changed);
    free(waits);
}

static void ready(void *self)
{
    Wait *wait = self;
    OperationWaits *waits = wait->waits;
    pthread_mutex_lock(&waits->lock);
    wait->is_ready = true;
    pthread_cond_broadcast(&waits->changed);
    pthread_mutex_unlock(&waits->lock);
}

static bool enter(OperationWaits *waits, Wait *wait)
{
    pthread_mutex_lock(&waits->lock);
    bool has_room = waits->count < WAITS_MAX;
    if (has_room) {
        wait->next = waits->first;
        waits->first = wait;
        waits->count++;
    }
    pthread_mutex_unlock(&waits->lock);
    return has_room;
}

/* With the lock. */
static void leave(OperationWaits *waits, Wait *wait)
{
    Wait **link = &waits->first;
    while (*link != wait)
        link = &(*link)->next;
    *link = wait->next;
    waits->count--;
    pthread_cond_broadcast(&waits->changed);
}

Status operation_wait(Operations *ops, OperationLater *later, void *ret_answer, Reason *reason)
{
    OperationWaits *waits = ops->waits;
    Wait wait = {.later = later, .waits = waits};
    if (!enter(waits, &wait))
        return reason_set(reason, STATUS_THROTTLED, "", "too many commands wait at this moment");
    later->ready = ready;
    later->self = &wait;
    later->start(later->work);
    pthread_mutex_lock(&waits->lock);
    bool cancelled = false;
    while (!wait.is_ready) {
        if (waits->drains && !cancelled) {
            cancelled = true;
            pthread_mutex_unlock(&waits->lock);
            later->cancel(later->work);
            pthread_mutex_lock(&waits->lock);
        } else {
            pthread_cond_wait(&waits->changed, &waits->lock);
        }
    }
    leave(waits, &wait);
    pthread_mutex_unlock(&waits->lock);
    return later->end(later->work, false, ret_answer, reason);
}

void operations_refuse_puts(Operations *ops)
{
    atomic_store(&ops->refuses_puts, true);
}

void operations_drain(Operations *ops)
{
    if (ops == NULL)
        return;
    pthread_mutex_lock(&ops->waits->lock);
    ops->waits->drains = true;
    pthread_cond_broadcast(&ops->waits->changed);
    pthread_mutex_unlock(&ops->waits->lock);
}
