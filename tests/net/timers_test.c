/* timers_test.c -- the heap of moments. */
#include "net/timers.h"

#include "test.h"

enum { TIMERS = 500 };
static Timer timers_of_test[TIMERS];
static int64_t due_at[TIMERS];
static size_t due_count;

static void note(Timer *timer)
{
    due_at[due_count++] = timer->at_us;
}

TEST(timers_run_in_their_order_and_cleared_ones_never)
{
    Timers timers = {0};
    due_count = 0;
    for (size_t i = 0; i < TIMERS; i++) {
        timers_of_test[i] = (Timer){.due = note};
        timers_set(&timers, &timers_of_test[i], (int64_t)(i * 7919 % TIMERS));
    }
    for (size_t i = 0; i < TIMERS; i += 5)
        timers_clear(&timers, &timers_of_test[i]);
    for (size_t i = 1; i < TIMERS; i += 5)
        timers_set(&timers, &timers_of_test[i], (int64_t)(i * 104729 % TIMERS));
    timers_run(&timers, TIMERS / 2);
    for (size_t i = 0; i < due_count; i++)
        EXPECT(due_at[i] <= TIMERS / 2 && (i == 0 || due_at[i - 1] <= due_at[i]));
    EXPECT(timers_next_us(&timers) > TIMERS / 2);
    timers_run(&timers, TIMERS);
    EXPECT_I64(due_count, TIMERS - TIMERS / 5);
    EXPECT(timers_next_us(&timers) == INT64_MAX);
    timers_free(&timers);
}
