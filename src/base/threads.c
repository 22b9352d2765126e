/* threads.c -- see threads.h. */
#include "base/threads.h"

#include <signal.h>

#include "base/status.h"

const ThreadRow THREADS[THREAD_KINDS] = {
#define X(name, word, where, waits_for, ends_by) {word, where, waits_for, ends_by},
    THREAD_LIST(X)
#undef X
};

pthread_t thread_start(ThreadKind kind, void *(*run)(void *self), void *self)
{
    pthread_t thread;
    static const int OWN_FAULTS[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP};
    sigset_t others, before;
    sigfillset(&others);
    for (size_t i = 0; i < sizeof OWN_FAULTS / sizeof OWN_FAULTS[0]; i++)
        sigdelset(&others, OWN_FAULTS[i]);
    CHECK(pthread_sigmask(SIG_SETMASK, &others, &before) == 0);
    CHECK(pthread_create(&thread, NULL, run, self) == 0);
    (void)pthread_setname_np(thread, THREADS[kind].name); /* it may have ended already */
    CHECK(pthread_sigmask(SIG_SETMASK, &before, NULL) == 0);
    return thread;
}
