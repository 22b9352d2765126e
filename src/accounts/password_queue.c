/* password_queue.c -- how many passwords are computed at once, and how many callers wait for their turn. See PasswordBounds in accounts.h. */
#include "accounts/accounts_private.h"

void password_queue_init(PasswordQueue *queue, uint32_t at_once, uint32_t waiting_most)
{
    queue->at_once = at_once;
    queue->waiting_most = waiting_most;
    CHECK(pthread_mutex_init(&queue->lock, NULL) == 0);
    CHECK(pthread_cond_init(&queue->left, NULL) == 0);
}

void password_queue_destroy(PasswordQueue *queue)
{
    CHECK(queue->running == 0 && queue->waiting == 0);
    CHECK(pthread_mutex_destroy(&queue->lock) == 0);
    CHECK(pthread_cond_destroy(&queue->left) == 0);
}

Status password_queue_enter(PasswordQueue *queue)
{
    Status status = STATUS_OK;
    if (queue->at_once == 0)
        return STATUS_OK;
    CHECK(pthread_mutex_lock(&queue->lock) == 0);
    if (queue->running >= queue->at_once && queue->waiting >= queue->waiting_most) {
        status = STATUS_THROTTLED;
    } else {
        queue->waiting++;
        while (queue->running >= queue->at_once)
            CHECK(pthread_cond_wait(&queue->left, &queue->lock) == 0);
        queue->waiting--;
        queue->running++;
    }
    CHECK(pthread_mutex_unlock(&queue->lock) == 0);
    return status;
}

void password_queue_leave(PasswordQueue *queue)
{
    if (queue->at_once == 0)
        return;
    CHECK(pthread_mutex_lock(&queue->lock) == 0);
    queue->running--;
    CHECK(pthread_cond_signal(&queue->left) == 0);
    CHECK(pthread_mutex_unlock(&queue->lock) == 0);
}

Status password_hash(Accounts *accounts, Slice password, Arena *arena, Slice *ret_hash)
{
    TRY(password_queue_enter(&accounts->password_queue));
    Status status = accounts->hasher.hash(accounts->hasher.self, password, arena, ret_hash);
    password_queue_leave(&accounts->password_queue);
    return status;
}

/* A wrong password and an account that is not there must take the same time, so there is always a hash to compute. */
Status password_check(Accounts *accounts, Slice password, Slice hash, bool *ret_fits)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Slice unused;
    bool fits = false;
    if (account_check_password(password, NULL) != STATUS_OK) {
        password = SLICE_EMPTY;
        hash = SLICE_EMPTY;
    }
    TRY(password_queue_enter(&accounts->password_queue));
    if (hash.size > 0)
        fits = accounts->hasher.check(accounts->hasher.self, password, hash);
    else
        (void)!accounts->hasher.hash(accounts->hasher.self, password, arena, &unused);
    password_queue_leave(&accounts->password_queue);
    *ret_fits = fits;
    return STATUS_OK;
}
