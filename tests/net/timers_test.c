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

static Timers own;

static void set_next(Timer *timer)
{
    note(timer);
    if (due_count < 3)
        timers_set(&own, timer, timer->at_us + 1);
}

TEST(a_timer_may_set_itself_again_and_all_can_be_run_out)
{
    Timer first = {.due = set_next}, last = {.due = note};
    due_count = 0;
    timers_set(&own, &first, 10);
    timers_set(&own, &last, INT64_MAX);
    timers_run(&own, 11);
    EXPECT_I64(due_count, 2);
    EXPECT(timer_is_set(&first));
    timers_run(&own, INT64_MAX);
    EXPECT_I64(due_count, 4);
    EXPECT(!timer_is_set(&first) && !timer_is_set(&last));
    timers_run(&own, INT64_MAX); /* nothing is left */
    timers_free(&own);
}
