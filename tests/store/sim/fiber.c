/* fiber.c -- see fiber.h. */
#include "store/sim/fiber.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define NEEDS_THREADS true
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define NEEDS_THREADS true
#endif
#ifndef NEEDS_THREADS
#define NEEDS_THREADS false
#endif

struct Fiber {
    void (*run)(void *context);
    void *context;
    bool thread, started, ended;
    /* As a coroutine: */
    ucontext_t inside, outside;
    char *memory; /* the guard page, then the stack */
    size_t memory_size;
    /* As a thread: whoever waits for its semaphore does not have the baton. */
    pthread_t id;
    sem_t go_in, go_out;
};

bool fiber_needs_threads(void)
{
    return NEEDS_THREADS;
}

static void wait_for(sem_t *baton)
{
    while (sem_wait(baton) != 0)
        CHECK(errno == EINTR);
}

static void *thread_main(void *argument)
{
    Fiber *fiber = argument;
    wait_for(&fiber->go_in);
    fiber->run(fiber->context);
    fiber->ended = true;
    sem_post(&fiber->go_out);
    return NULL;
}

/* makecontext cannot pass a pointer, so the first resume leaves it here. */
static _Thread_local Fiber *starting;

static void coroutine_main(void)
{
    Fiber *fiber = starting;
    fiber->run(fiber->context);
    fiber->ended = true;
    swapcontext(&fiber->inside, &fiber->outside);
}

static void make_coroutine(Fiber *fiber)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    fiber->memory_size = page + FIBER_STACK;
    fiber->memory = mmap(NULL, fiber->memory_size, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    CHECK(fiber->memory != MAP_FAILED);
    CHECK(mprotect(fiber->memory, page, PROT_NONE) == 0);
    CHECK(getcontext(&fiber->inside) == 0);
    fiber->inside.uc_stack.ss_sp = fiber->memory + page;
    fiber->inside.uc_stack.ss_size = FIBER_STACK;
    fiber->inside.uc_link = NULL;
    makecontext(&fiber->inside, coroutine_main, 0);
}

Fiber *fiber_new(void (*run)(void *context), void *context, bool thread)
{
    Fiber *fiber = calloc(1, sizeof *fiber);
    CHECK(fiber != NULL);
    fiber->run = run;
    fiber->context = context;
    fiber->thread = thread || NEEDS_THREADS;
    if (!fiber->thread)
        make_coroutine(fiber);
    return fiber;
}

static void start_thread(Fiber *fiber)
{
    CHECK(sem_init(&fiber->go_in, 0, 0) == 0 && sem_init(&fiber->go_out, 0, 0) == 0);
    CHECK(pthread_create(&fiber->id, NULL, thread_main, fiber) == 0);
}

void fiber_resume(Fiber *fiber)
{
    CHECK(!fiber->ended);
    bool first = !fiber->started;
    fiber->started = true;
    if (!fiber->thread) {
        starting = fiber;
        CHECK(swapcontext(&fiber->outside, &fiber->inside) == 0);
        return;
    }
    if (first)
        start_thread(fiber);
    sem_post(&fiber->go_in);
    wait_for(&fiber->go_out);
}

void fiber_yield(Fiber *fiber)
{
    if (!fiber->thread) {
        CHECK(swapcontext(&fiber->inside, &fiber->outside) == 0);
        return;
    }
    sem_post(&fiber->go_out);
    wait_for(&fiber->go_in);
}

bool fiber_ended(const Fiber *fiber)
{
    return fiber->ended;
}

void fiber_free(Fiber *fiber)
{
    CHECK(fiber->ended || !fiber->started);
    if (fiber->thread && fiber->started) {
        CHECK(pthread_join(fiber->id, NULL) == 0);
        sem_destroy(&fiber->go_in);
        sem_destroy(&fiber->go_out);
    }
    if (fiber->memory != NULL)
        munmap(fiber->memory, fiber->memory_size);
    free(fiber);
}
