/* smtp.c -- see smtp.h. */
#include "mail/smtp.h"

#include <curl/curl.h>
#include <pthread.h>

enum { CHATTER_MAX = 64 * 1024 }; /* what a server may say in all */

/* ---- Settings ---------------------------------------------------------------------------------------------- */

/* 127.x.y.z in figures: a name may begin with 127 and be anywhere. */
static bool is_loopback_number(Slice host)
{
    for (size_t i = 0; i < host.size; i++)
        if (host.data[i] != '.' && (host.data[i] < '0' || host.data[i] > '9'))
            return false;
    return slice_starts_with(host, SLICE("127."));
}

bool smtp_is_loopback(Slice host)
{
    return slice_equal_ignoring_case(host, SLICE("localhost")) ||
           slice_equal(host, SLICE("[::1]")) || is_loopback_number(host);
}

/* What the address says; texts in the arena, NULL for what is not there. */
typedef struct Parts {
    const char *scheme, *host, *port;
    bool has_more; /* user, path, question or fragment */
} Parts;

static const char *part_of(CURLU *url, CURLUPart part, Arena *arena)
{
    char *text = NULL;
    if (curl_url_get(url, part, &text, 0) != CURLUE_OK)
        return NULL;
    const char *copy = arena_text(arena, slice_from(text));
    curl_free(text);
    return copy;
}

static Status parts_of(Slice text, Arena *arena, Parts *ret_parts)
{
    CURLU *url = curl_url();
    CHECK(url != NULL);
    CURLUcode code = curl_url_set(url, CURLUPART_URL, arena_text(arena, text), 0);
    if (code == CURLUE_OK) {
        const char *path = part_of(url, CURLUPART_PATH, arena);
        *ret_parts = (Parts){.scheme = part_of(url, CURLUPART_SCHEME, arena),
                             .host = part_of(url, CURLUPART_HOST, arena),
                             .port = part_of(url, CURLUPART_PORT, arena),
                             .has_more = part_of(url, CURLUPART_USER, arena) != NULL ||
                                         part_of(url, CURLUPART_QUERY, arena) != NULL ||
                                         part_of(url, CURLUPART_FRAGMENT, arena) != NULL ||
                                         (path != NULL && strcmp(path, "/") != 0)};
    }
    curl_url_cleanup(url);
    return code == CURLUE_OK ? STATUS_OK : STATUS_INVALID;
}

/* auto: TLS, but to this machine. */
static Status wants_tls(Slice tls, bool is_local, bool *ret_wants, Reason *reason)
{
    static const struct {
        Slice word;
        bool local, remote;
    } WORDS[] = {
        {{"auto", 4}, false, true}, {{"required", 8}, true, true}, {{"off", 3}, false, false}};
    for (size_t i = 0; i < sizeof WORDS / sizeof WORDS[0]; i++)
        if (slice_equal(tls, WORDS[i].word)) {
            *ret_wants = is_local ? WORDS[i].local : WORDS[i].remote;
            return STATUS_OK;
        }
    return reason_set(reason, STATUS_INVALID, "smtp_tls", "must be auto, required or off");
}

/* Our name goes where libcurl takes it from: the path. */
static const char *url_of(const Parts *parts, Slice name, Arena *arena)
{
    return arena_print(arena, "%s://%s%s%s/%.*s%c", parts->scheme, parts->host,
                       parts->port != NULL ? ":" : "", parts->port != NULL ? parts->port : "",
                       SLICE_ARG(name), '\0')
        .data;
}

static const char *text_or_null(Slice text, Arena *arena)
{
    return text.size > 0 ? arena_text(arena, text) : NULL;
}

Status smtp_server_from(const SmtpSettings *settings, Arena *arena, SmtpServer *ret_server,
                        Reason *reason)
{
    Parts parts = {0};
    bool starts_tls = false;
    if (parts_of(settings->url, arena, &parts) != STATUS_OK)
        parts = (Parts){0};
    bool known = parts.scheme != NULL &&
                 (strcmp(parts.scheme, "smtp") == 0 || strcmp(parts.scheme, "smtps") == 0);
    if (!known || parts.host == NULL || parts.has_more)
        return reason_set(reason, STATUS_INVALID, "smtp_url",
                          "must be smtp://host:port or smtps://host:port; the log-in has settings "
                          "of its own");
    bool is_local = smtp_is_loopback(slice_from(parts.host)),
         is_tls = strcmp(parts.scheme, "smtps") == 0;
    TRY(wants_tls(settings->tls, is_local, &starts_tls, reason));
    if (settings->user.size > 0 && !is_tls && !starts_tls && !is_local)
        return reason_set(reason, STATUS_INVALID, "smtp_tls",
                          "a password is not sent in the clear; use auto or required");
    if ((settings->user.size > 0) != (settings->password.size > 0))
        return reason_set(reason, STATUS_INVALID, "smtp_user",
                          "smtp_user and smtp_password_file belong together");
    *ret_server = (SmtpServer){.url = url_of(&parts, settings->name, arena),
                               .user = text_or_null(settings->user, arena),
                               .password = text_or_null(settings->password, arena),
                               .ca_file = text_or_null(settings->ca_file, arena),
                               .starts_tls = starts_tls && !is_tls,
                               .seconds = settings->seconds};
    return STATUS_OK;
}

/* ---- One message ------------------------------------------------------------------------------------------- */

typedef struct Talk {
    const SmtpJob *job;
    SmtpAnswer *answer;
    Slice rest;    /* not yet handed over */
    bool has_body; /* libcurl asked for it: the server was willing */
    size_t heard;
    char error[CURL_ERROR_SIZE];
} Talk;

static size_t hand_over(char *to, size_t size, size_t count, void *self)
{
    Talk *talk = self;
    size_t most = size * count, part = talk->rest.size < most ? talk->rest.size : most;
    talk->has_body = true;
    memcpy(to, talk->rest.data, part);
    talk->rest = slice_after(talk->rest, part);
    return part;
}

static bool is_no(char first)
{
    return first == '4' || first == '5';
}

/* Keeps the last line, as far as it can be shown; a refusal is not forgotten for the farewell after it. A server that talks without end is hung up
 * on. */
static size_t listen_to(char *line, size_t size, size_t count, void *self)
{
    Talk *talk = self;
    char *words = talk->answer->words;
    size_t bytes = size * count, kept = 0;
    talk->heard += bytes;
    if (bytes > 0 && (is_no(line[0]) || !is_no(words[0]))) {
        for (size_t i = 0; i < bytes && kept + 1 < SMTP_WORDS; i++)
            if (line[i] >= ' ' && line[i] <= '~')
                words[kept++] = line[i];
        words[kept] = '\0';
    }
    return talk->heard > CHATTER_MAX ? 0 : bytes;
}

static int look_up(void *self, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
    const Talk *talk = self;
    (void)a, (void)b, (void)c, (void)d;
    return atomic_load(talk->job->ends) ? 1 : 0;
}

#define SET(option, value) CHECK(curl_easy_setopt(curl, option, value) == CURLE_OK)

/* libcurl says SEND_ERROR when MAIL, RCPT or DATA was refused, and WEIRD_SERVER_REPLY when the greeting or the message itself was. Codes that
 * speak of log-in and encryption are about us. */
static bool is_about_message(CURLcode result, const Talk *talk, int code)
{
    bool about_us = code == 530 || code == 534 || code == 535 || code == 538;
    bool at_message =
        result == CURLE_SEND_ERROR || (result == CURLE_WEIRD_SERVER_REPLY && talk->has_body);
    return at_message && code >= 400 && !about_us;
}

static void conclude(CURL *curl, CURLcode result, Talk *talk)
{
    SmtpAnswer *answer = talk->answer;
    long code = 0;
    (void)curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &code);
    answer->taken = result == CURLE_OK;
    answer->code = (int)code;
    answer->about_message = !answer->taken && is_about_message(result, talk, answer->code);
    answer->words_are_ours = !answer->taken && answer->code < 400;
    if (!answer->words_are_ours)
        return;
    const char *error = talk->error[0] != '\0' ? talk->error : curl_easy_strerror(result);
    size_t kept = 0;
    for (; *error != '\0' && kept + 1 < SMTP_WORDS; error++)
        if (*error >= ' ' && *error <= '~')
            answer->words[kept++] = *error;
    answer->words[kept] = '\0';
}

static void start_library(void)
{
    CHECK(curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK);
}

static void smtp_send(void *self, const SmtpJob *job, SmtpAnswer *ret_answer)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    const SmtpServer *server = self;
    *ret_answer = (SmtpAnswer){.code = 0};
    Talk talk = {.job = job, .answer = ret_answer, .rest = job->content};
    CHECK(pthread_once(&once, start_library) == 0);
    CURL *curl = curl_easy_init();
    struct curl_slist *recipients = curl_slist_append(NULL, job->to);
    CHECK(curl != NULL && recipients != NULL);
    long seconds = (long)server->seconds;
    SET(CURLOPT_PROTOCOLS_STR, "smtp,smtps");
    SET(CURLOPT_PROXY, "");
    SET(CURLOPT_NOSIGNAL, 1L);
    SET(CURLOPT_FORBID_REUSE, 1L);
    SET(CURLOPT_TIMEOUT, seconds);
    SET(CURLOPT_CONNECTTIMEOUT, seconds);
    SET(CURLOPT_SERVER_RESPONSE_TIMEOUT, seconds);
    SET(CURLOPT_NOPROGRESS, 0L);
    SET(CURLOPT_XFERINFOFUNCTION, look_up);
    SET(CURLOPT_XFERINFODATA, &talk);
    SET(CURLOPT_ERRORBUFFER, talk.error);
    SET(CURLOPT_URL, server->url);
    if (server->starts_tls)
        SET(CURLOPT_USE_SSL, (long)CURLUSESSL_ALL);
    if (server->ca_file != NULL)
        SET(CURLOPT_CAINFO, server->ca_file);
    if (server->user != NULL) {
        SET(CURLOPT_USERNAME, server->user);
        SET(CURLOPT_PASSWORD, server->password);
    }
    SET(CURLOPT_MAIL_FROM, talk.job->from);
    SET(CURLOPT_MAIL_RCPT, recipients);
    SET(CURLOPT_UPLOAD, 1L);
    SET(CURLOPT_INFILESIZE_LARGE, (curl_off_t)talk.job->content.size);
    SET(CURLOPT_READFUNCTION, hand_over);
    SET(CURLOPT_READDATA, &talk);
    SET(CURLOPT_HEADERFUNCTION, listen_to);
    SET(CURLOPT_HEADERDATA, &talk);
    conclude(curl, curl_easy_perform(curl), &talk);
    curl_easy_cleanup(curl);
    curl_slist_free_all(recipients);
}

MailTransport smtp_transport(SmtpServer *server)
{
    return (MailTransport){smtp_send, server};
}
