/* gate.c -- how many passwords are computed at once, and how many callers wait for their turn. See PasswordBounds in accounts.h. */
#include "accounts/inside.h"

void gate_init(PasswordGate *gate, uint32_t at_once, uint32_t queue)
{
    gate->at_once = at_once;
    gate->queue = queue;
    CHECK(pthread_mutex_init(&gate->lock, NULL) == 0);
    CHECK(pthread_cond_init(&gate->left, NULL) == 0);
}

void gate_destroy(PasswordGate *gate)
{
    CHECK(gate->running == 0 && gate->waiting == 0);
    CHECK(pthread_mutex_destroy(&gate->lock) == 0);
    CHECK(pthread_cond_destroy(&gate->left) == 0);
}

Status gate_enter(PasswordGate *gate)
{
    Status status = STATUS_OK;
    if (gate->at_once == 0)
        return STATUS_OK;
    CHECK(pthread_mutex_lock(&gate->lock) == 0);
    if (gate->running >= gate->at_once && gate->waiting >= gate->queue) {
        status = STATUS_THROTTLED;
    } else {
        gate->waiting++;
        while (gate->running >= gate->at_once)
            CHECK(pthread_cond_wait(&gate->left, &gate->lock) == 0);
        gate->waiting--;
        gate->running++;
    }
    CHECK(pthread_mutex_unlock(&gate->lock) == 0);
    return status;
}

void gate_leave(PasswordGate *gate)
{
    if (gate->at_once == 0)
        return;
    CHECK(pthread_mutex_lock(&gate->lock) == 0);
    gate->running--;
    CHECK(pthread_cond_signal(&gate->left) == 0);
    CHECK(pthread_mutex_unlock(&gate->lock) == 0);
}
