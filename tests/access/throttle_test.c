/* throttle_test.c -- tries are counted by rule and key, and a pause gives them back. */
#include "access/throttle.h"

#include "test.h"
#include "world.h"

static const Slice ANNA = {"anna", 4}, BEN = {"ben", 3};

static int allowed_now(Throttle *throttle, ThrottleRule rule, Slice key)
{
    int count = 0;
    while (count < 1000 && throttle_take(throttle, rule, key, NULL) == STATUS_OK)
        count++;
    return count;
}

TEST(ten_log_ins_at_once_then_one_each_ninety_seconds)
{
    TestWorld own;
    Throttle *throttle = throttle_new(test_world(&own, 1));
    Reason reason = {0};
    EXPECT(allowed_now(throttle, THROTTLE_LOGIN, ANNA) == 10);
    EXPECT(throttle_take(throttle, THROTTLE_LOGIN, ANNA, &reason) == STATUS_THROTTLED);
    EXPECT_SLICE(slice_from(reason.rule),
                 SLICE("Too many log-ins for this name; try again in 2 minutes"));
    test_world_pass(&own, 89 * US_PER_S);
    EXPECT(allowed_now(throttle, THROTTLE_LOGIN, ANNA) == 0);
    test_world_pass(&own, 1 * US_PER_S);
    EXPECT(allowed_now(throttle, THROTTLE_LOGIN, ANNA) == 1);
    test_world_pass(&own, 900 * US_PER_S);
    EXPECT(allowed_now(throttle, THROTTLE_LOGIN, ANNA) == 10);
    throttle_free(throttle);
}

TEST(keys_and_rules_do_not_disturb_each_other)
{
    TestWorld own;
    Throttle *throttle = throttle_new(test_world(&own, 2));
    EXPECT(allowed_now(throttle, THROTTLE_LOGIN, ANNA) == 10);
    EXPECT(allowed_now(throttle, THROTTLE_LOGIN, BEN) == 10);
    EXPECT(allowed_now(throttle, THROTTLE_MAIL_TO, ANNA) == 5);
    throttle_free(throttle);
}

TEST(a_success_forgets_the_tries_before_it)
{
    TestWorld own;
    Throttle *throttle = throttle_new(test_world(&own, 3));
    EXPECT(allowed_now(throttle, THROTTLE_LOGIN, ANNA) == 10);
    throttle_forget(throttle, THROTTLE_LOGIN, ANNA);
    EXPECT(allowed_now(throttle, THROTTLE_LOGIN, ANNA) == 10);
    throttle_free(throttle);
}

TEST(a_try_that_was_none_is_given_back)
{
    TestWorld own;
    Throttle *throttle = throttle_new(test_world(&own, 6));
    throttle_return(throttle, THROTTLE_LOGIN, ANNA); /* never tried: nothing happens */
    EXPECT(allowed_now(throttle, THROTTLE_LOGIN, ANNA) == 10);
    throttle_return(throttle, THROTTLE_LOGIN, ANNA);
    EXPECT(allowed_now(throttle, THROTTLE_LOGIN, ANNA) == 1);
    throttle_return(throttle, THROTTLE_LOGIN, BEN);
    EXPECT(allowed_now(throttle, THROTTLE_LOGIN, ANNA) == 0);
    throttle_free(throttle);
}

TEST(a_look_counts_nothing)
{
    TestWorld own;
    Reason reason = {0};
    Throttle *throttle = throttle_new(test_world(&own, 7));
    for (int i = 0; i < 20; i++)
        EXPECT(throttle_look(throttle, THROTTLE_LOGIN, 1, ANNA, NULL) == STATUS_OK);
    EXPECT(allowed_now(throttle, THROTTLE_LOGIN, ANNA) == 10);
    EXPECT(throttle_look(throttle, THROTTLE_LOGIN, 1, ANNA, &reason) == STATUS_THROTTLED);
    EXPECT_SLICE(slice_from(reason.rule),
                 SLICE("Too many log-ins for this name; try again in 2 minutes"));
    EXPECT(throttle_look(throttle, THROTTLE_LOGIN, 1, BEN, NULL) == STATUS_OK);
    test_world_pass(&own, 90 * US_PER_S);
    EXPECT(throttle_look(throttle, THROTTLE_LOGIN, 1, ANNA, NULL) == STATUS_OK);
    EXPECT(allowed_now(throttle, THROTTLE_LOGIN, ANNA) == 1);
    throttle_free(throttle);
}

TEST(the_wall_clock_does_not_matter)
{
    TestWorld own;
    Throttle *throttle = throttle_new(test_world(&own, 4));
    EXPECT(allowed_now(throttle, THROTTLE_LOGIN, ANNA) == 10);
    test_world_step(&own, 86400 * US_PER_S);
    EXPECT(allowed_now(throttle, THROTTLE_LOGIN, ANNA) == 0);
    throttle_free(throttle);
}

/* A million strangers later memory is the same, and whoever was throttled just now mostly still is. */
TEST(a_flood_of_keys_is_bounded)
{
    TestWorld own;
    Throttle *throttle = throttle_new(test_world(&own, 5));
    for (uint32_t i = 0; i < 1000000; i++) {
        (void)!throttle_take(throttle, THROTTLE_LOGIN, slice_of(&i, sizeof i), NULL);
        test_world_pass(&own, 10);
    }
    EXPECT(allowed_now(throttle, THROTTLE_LOGIN, ANNA) == 10);
    EXPECT(allowed_now(throttle, THROTTLE_LOGIN, ANNA) == 0);
    throttle_free(throttle);
}

TEST(a_key_that_stands_for_several_may_do_more)
{
    TestWorld own;
    Throttle *throttle = throttle_new(test_world(&own, 7));
    int count = 0;
    while (throttle_take_times(throttle, THROTTLE_LOGIN, 4, ANNA, NULL) == STATUS_OK)
        count++;
    EXPECT_I64(count, 40);
    throttle_return_times(throttle, THROTTLE_LOGIN, 4, ANNA);
    EXPECT_STATUS(throttle_take_times(throttle, THROTTLE_LOGIN, 4, ANNA, NULL), STATUS_OK);
    test_world_pass(&own, 90 * US_PER_S);
    for (count = 0; throttle_take_times(throttle, THROTTLE_LOGIN, 4, ANNA, NULL) == STATUS_OK;)
        count++;
    EXPECT_I64(count, 4);
    throttle_free(throttle);
}
