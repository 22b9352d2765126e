/* fiber.h -- a function that can be left in the middle and gone on with later.
 *
 * The simulator's clients are fibers: each runs until it waits, then another goes on.
 *   1. Only one runs at a time: fiber_resume returns when the fiber has yielded or ended.
 *   2. A fiber is a coroutine with a stack of its own (ucontext), with a page behind its end that may not be touched; or, when
 *      asked for, a thread that holds a baton: slower, and understood by the sanitizers.
 *   3. What runs and in which order is the same either way. */
#pragma once

#include "base/slice.h"

typedef struct Fiber Fiber;

enum { FIBER_STACK = 256 * 1024 };

/* Whether this build needs threads, because a sanitizer follows the stacks. */
bool fiber_needs_threads(void);
/* Does not run yet. */
Fiber *fiber_new(void (*run)(void *context), void *context, bool thread);
/* Runs it on from where it yielded. Not for one that has ended. */
void fiber_resume(Fiber *fiber);
/* Called by the fiber itself. */
void fiber_yield(Fiber *fiber);
bool fiber_ended(const Fiber *fiber);
/* Only when it has ended, or never ran. */
void fiber_free(Fiber *fiber);
