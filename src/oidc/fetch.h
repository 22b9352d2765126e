/* fetch.h -- one request to another server by HTTP, bounded in time and size, by libcurl.
 *
 * No redirects, no proxy, no cookies, no configuration but what is passed; https, or http to this machine (oidc_is_safe_url). Blocks for at most
 * FETCH_S: only for threads that may wait. */
#pragma once

#include "base/arena.h"

enum { FETCH_S = 5 };

typedef struct FetchJob {
    Slice url;
    Slice form;           /* POST, application/x-www-form-urlencoded; empty: GET */
    Slice user, password; /* HTTP Basic; empty user: none */
    Slice ca_file;        /* empty: the system's */
    size_t most;          /* bytes of the answer */
} FetchJob;

/* UNAVAILABLE with words of ours: the server is not there, too slow, says too much, or answers with another code than 200. */
MUST_USE Status fetch(const FetchJob *job, Arena *arena, Slice *ret_body, Reason *reason);
