/* errors.h -- what a failed request looks like, from one place.
 *
 * A person gets a page: what happened, what did not happen, what to do. A program gets
 *     {"error":{"status":"invalid","field":"days","rule":"must be a whole number from 1 to 365"}}
 * with the same HTTP code; the field and the rule are there when there are any. */
#pragma once

#include "web/request.h"

/* Codes beyond those of Status that the server itself answers. */
enum {
    ERROR_METHOD = 405,
    ERROR_PRECONDITION = 412,
    ERROR_TARGET_LONG = 414,
    ERROR_HOST = 421,
    ERROR_HEAD_LARGE = 431,
    ERROR_METHOD_UNKNOWN = 501,
    ERROR_FIELD = 9422,       /* 422: of a route for programs, whose reason names a field */
    ERROR_STOPPING = 9503,    /* 503, with its own words */
    ERROR_MAINTENANCE = 9504, /* 503, the message is in the reason */
};

typedef struct ErrorWords {
    int code; /* one of the above, or 0 for the words of a Status */
    Status status;
    int http;
    const char *name; /* for programs */
    const char *title;
    const char *happened;
    const char *to_do;
} ErrorWords;

/* The words for `code`, or, when it is 0, for `status`. */
const ErrorWords *error_words(int code, Status status);

/* Whether a rule, or a message that somebody wrote, ends as a sentence does; else the page adds a full stop. */
bool error_rule_ends(Slice rule);

/* Replaces whatever the answer held. */
void error_answer(WebRequest *request, const ErrorWords *words);
