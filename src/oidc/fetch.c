/* fetch.c -- see fetch.h. */
#include "oidc/fetch.h"

#include <curl/curl.h>
#include <pthread.h>

#include "base/bytes.h"
#include "oidc/oidc_rules.h"

typedef struct Heard {
    Buffer body;
    size_t most;
} Heard;

/* Less than was given ends the transfer. */
static size_t listen_to(char *data, size_t size, size_t count, void *self)
{
    Heard *heard = self;
    size_t bytes = size * count;
    if (bytes > heard->most - heard->body.size)
        return 0;
    buffer_bytes(&heard->body, slice_of(data, bytes));
    return bytes;
}

#define SET(option, value) CHECK(curl_easy_setopt(curl, option, value) == CURLE_OK)

static Status conclude(CURL *curl, CURLcode result, const Heard *heard, Arena *arena,
                       Slice *ret_body, Reason *reason)
{
    long code = 0;
    (void)curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &code);
    if (result == CURLE_WRITE_ERROR)
        return reason_set(reason, STATUS_UNAVAILABLE, "", "its answer is too long");
    if (result != CURLE_OK)
        return reason_set(reason, STATUS_UNAVAILABLE, "", "%s", curl_easy_strerror(result));
    if (code != 200)
        return reason_set(reason, STATUS_UNAVAILABLE, "", "it answered with %ld", code);
    *ret_body = arena_copy(arena, buffer_slice(&heard->body));
    return STATUS_OK;
}

static void start_library(void)
{
    CHECK(curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK);
}

Status fetch(const FetchJob *job, Arena *arena, Slice *ret_body, Reason *reason)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    Heard heard = {.most = job->most};
    CHECK(oidc_is_safe_url(job->url));
    CHECK(pthread_once(&once, start_library) == 0);
    CURL *curl = curl_easy_init();
    struct curl_slist *headers = curl_slist_append(NULL, "Accept: application/json");
    CHECK(curl != NULL && headers != NULL);
    SET(CURLOPT_URL, arena_text(arena, job->url));
    SET(CURLOPT_PROTOCOLS_STR, oidc_is_loopback_url(job->url) ? "http" : "https");
    SET(CURLOPT_FOLLOWLOCATION, 0L);
    SET(CURLOPT_PROXY, "");
    SET(CURLOPT_NOSIGNAL, 1L);
    SET(CURLOPT_FORBID_REUSE, 1L);
    SET(CURLOPT_TIMEOUT, (long)FETCH_S);
    SET(CURLOPT_CONNECTTIMEOUT, (long)FETCH_S);
    SET(CURLOPT_WRITEFUNCTION, listen_to);
    SET(CURLOPT_WRITEDATA, &heard);
    if (job->ca_file.size > 0)
        SET(CURLOPT_CAINFO, arena_text(arena, job->ca_file));
    SET(CURLOPT_HTTPHEADER, headers);
    if (job->form.size > 0) {
        SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)job->form.size);
        SET(CURLOPT_COPYPOSTFIELDS, job->form.data);
    }
    if (job->user.size > 0) {
        SET(CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
        SET(CURLOPT_USERNAME, arena_text(arena, job->user));
        SET(CURLOPT_PASSWORD, arena_text(arena, job->password));
    }
    Status status = conclude(curl, curl_easy_perform(curl), &heard, arena, ret_body, reason);
    curl_easy_cleanup(curl);
    curl_slist_free_all(headers);
    buffer_free(&heard.body);
    return status;
}
