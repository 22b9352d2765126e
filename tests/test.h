/* test.h -- a small runner: a test is a function, found by itself, whose name says the rule.
 *
 *     TEST(two_tabs_one_stands) { EXPECT(saved == 1); }
 * A file of tests is a program; it prints TAP (`ok 1 - two_tabs_one_stands`), which `./dev test` adds up.
 * `program NAME…` runs only the tests whose names contain one of the words. A failed EXPECT ends its test and the
 * program goes on with the next; a crash ends the program and counts as a failure. */
#pragma once

#include <inttypes.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/slice.h"

typedef struct Test {
    const char *name;
    void (*run)(void);
    struct Test *next;
} Test;

void test_register(Test *test);
_Noreturn void test_fail(const char *file, int line, const char *format, ...) PRINTF_LIKE(3, 4);
/* A new empty directory, removed when the program ends well. */
const char *test_directory(void);
/* Whether `run` ends in a failed CHECK; it runs in a process of its own, whose stderr goes nowhere. */
bool test_is_bug(void (*run)(void));

#define TEST(name)                                                 \
    static void test_##name(void);                                 \
    __attribute__((constructor)) static void register_##name(void) \
    {                                                              \
        static Test test = {#name, test_##name, NULL};             \
        test_register(&test);                                      \
    }                                                              \
    static void test_##name(void)

#define EXPECT(condition)                                    \
    do {                                                     \
        if (!(condition))                                    \
            test_fail(__FILE__, __LINE__, "%s", #condition); \
    } while (0)

#define EXPECT_I64(actual, expected)                                                       \
    do {                                                                                   \
        int64_t actual_ = (int64_t)(actual), expected_ = (int64_t)(expected);              \
        if (actual_ != expected_)                                                          \
            test_fail(__FILE__, __LINE__, "%s is %" PRId64 ", expected %" PRId64, #actual, \
                      actual_, expected_);                                                 \
    } while (0)

#define EXPECT_STATUS(actual, expected)                                                           \
    do {                                                                                          \
        Status actual_ = (actual);                                                                \
        if (actual_ != (expected))                                                                \
            test_fail(__FILE__, __LINE__, "%s is %s, expected %s", #actual, status_name(actual_), \
                      status_name(expected));                                                     \
    } while (0)

#define EXPECT_SLICE(actual, expected)                                                  \
    do {                                                                                \
        Slice actual_ = (actual), expected_ = (expected);                               \
        if (!slice_equal(actual_, expected_))                                           \
            test_fail(__FILE__, __LINE__, "%s is \"%.*s\", expected \"%.*s\"", #actual, \
                      SLICE_ARG(actual_), SLICE_ARG(expected_));                        \
    } while (0)
