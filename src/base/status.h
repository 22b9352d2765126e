/* status.h -- the one result type: what the caller can do next.
 *
 * Every function that can fail in a way the program expects returns a Status. The list is grouped by what
 * the caller can do, not by what went wrong inside:
 *   1. INVALID, LOGIN, DENIED, TOO_LARGE, REFUSED: the request must change before it can succeed.
 *   2. THROTTLED, CONFLICT, UNAVAILABLE: nothing was done; the same request may succeed later.
 *   3. UNKNOWN: perhaps done, perhaps done later. It is never turned into a yes or a no by guessing.
 *   4. CORRUPT: stored data breaks an invariant. Stop and tell an operator.
 * A bug is not a status: it is a CHECK, which stays on in production.
 *
 * Out-parameters are named ret_... and stay untouched unless the result is STATUS_OK, except where a header
 * says otherwise. Reason carries the words for a person: which field, which rule. */
#pragma once

#include <stdint.h>

#define MUST_USE                 __attribute__((warn_unused_result))
#define PRINTF_LIKE(text, first) __attribute__((format(printf, text, first)))

/*    name, name in logs and JSON, HTTP code, what it means to a person */
#define STATUS_LIST(X)                                                \
    X(OK, ok, 200, "done")                                            \
    X(NOT_FOUND, not_found, 404, "no such thing")                     \
    X(INVALID, invalid, 400, "the request itself is wrong")           \
    X(LOGIN, login, 401, "log in first")                              \
    X(DENIED, denied, 403, "you may not")                             \
    X(TOO_LARGE, too_large, 413, "over a stated bound")               \
    X(REFUSED, refused, 422, "a rule of the site says no")            \
    X(THROTTLED, throttled, 429, "too often, later")                  \
    X(CONFLICT, conflict, 409, "someone else was first")              \
    X(UNAVAILABLE, unavailable, 503, "not done, try again")           \
    X(UNKNOWN, unknown, 503, "perhaps done, repeat the same request") \
    X(CORRUPT, corrupt, 500, "stored data breaks an invariant")

typedef enum Status {
#define X(name, label, http, text) STATUS_##name,
    STATUS_LIST(X)
#undef X
        STATUS_COUNT
} Status;

/* "not_found", the name for logs and JSON. */
const char *status_name(Status status);
/* 404 */
int status_http(Status status);
/* "no such thing" */
const char *status_text(Status status);

/* The only macro with hidden control flow: returns from the calling function unless the call is OK. */
#define TRY(call)                     \
    do {                              \
        Status try_status_ = (call);  \
        if (try_status_ != STATUS_OK) \
            return try_status_;       \
    } while (0)

/* Why a request failed, in words for a person. `field` names the input that breaks the rule, or is empty.
 * A value type without ownership; long texts are cut at the end. */
typedef struct Reason {
    char field[64];
    char rule[320];
} Reason;

/* Fills `reason` (which may be NULL) and returns `status`, so that a check is one line:
 *     return reason_set(reason, STATUS_INVALID, "name", "at most %d characters", NAME_MAX);
 * `field` may be NULL or empty. */
Status reason_set(Reason *reason, Status status, const char *field, const char *format, ...)
    PRINTF_LIKE(4, 5);

/* A bug: prints the expression and its place to stderr and aborts. Not compiled out, ever. */
#define CHECK(condition)                                  \
    do {                                                  \
        if (__builtin_expect(!(condition), 0))            \
            check_failed(#condition, __FILE__, __LINE__); \
    } while (0)

_Noreturn void check_failed(const char *condition, const char *file, int line);
