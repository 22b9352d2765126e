/* journal_put.c -- POST /api/v1/journals/{journal}/entries: an entry, or a list of them. A list cannot be said by a table of inputs, so the body
 * is read here; what is judged and done is in operations/journal_put.c. */
#include "operations/journals.h"
#include "site/api/api.h"
#include "web/http_rules.h"

enum {
    P_JOURNAL,
    STRANGERS_BODY = 256 * 1024,
    VALUES_A_PUT = 16,
    TIME_TEXT_MAX = 40,
    YEARS_MS = 31622400
};

static const char *const MEMBERS[] = {"key",        "key64",       "data",     "data64",
                                      "priority",   "delay_ms",    "lease_ms", "process_at",
                                      "expires_at", "inserted_at", NULL};

typedef struct PutReading {
    WebRequest *request;
    int64_t now_ms;
    Slice journal, once; /* of an Idempotency-Key; or empty */
} PutReading;

static bool is_absent(Status *status)
{
    bool absent = *status == STATUS_NOT_FOUND;
    if (absent)
        *status = STATUS_OK;
    return absent;
}

/* "name" as text, or "name64" as base64, or neither. */
static Status read_bytes(const PutReading *reading, const Json *entry, const char *name,
                         const char *name64, Slice *ret_bytes)
{
    Reason *reason = web_reason(reading->request);
    Slice base64;
    Status status = json_get_string(entry, name, SIZE_MAX, ret_bytes, reason);
    bool has_text = !is_absent(&status);
    TRY(status);
    status = json_get_string(entry, name64, SIZE_MAX, &base64, reason);
    if (is_absent(&status))
        return STATUS_OK;
    TRY(status);
    if (has_text)
        return reason_set(reason, STATUS_INVALID, name64, "is not for one that has %s, too", name);
    return journal_from_base64(base64, name64, web_arena(reading->request), ret_bytes, reason);
}

/* Milliseconds since 1970, or a text. */
static Status read_moment(const PutReading *reading, const Json *entry, const char *name,
                          int64_t *ret_ms)
{
    Reason *reason = web_reason(reading->request);
    Slice text;
    Status status = json_get_i64(entry, name, 0, INT64_MAX, ret_ms, reason);
    if (status == STATUS_OK || is_absent(&status))
        return STATUS_OK;
    status = json_get_string(entry, name, TIME_TEXT_MAX, &text, reason);
    if (status != STATUS_OK)
        return reason_set(reason, STATUS_INVALID, name,
                          "must be a time, or milliseconds since 1970");
    return journal_moment_from(text, name, ret_ms, reason);
}

static Status read_priority(const PutReading *reading, const Json *entry, JournalPut *put)
{
    Reason *reason = web_reason(reading->request);
    Slice word;
    int64_t number;
    Status status = json_get_i64(entry, "priority", 0, UINT32_MAX, &number, reason);
    if (is_absent(&status))
        return STATUS_OK;
    put->has_priority = true;
    put->priority = (uint32_t)number;
    if (status == STATUS_OK)
        return STATUS_OK;
    if (json_get_string(entry, "priority", TIME_TEXT_MAX, &word, reason) != STATUS_OK)
        word = SLICE_EMPTY;
    return journal_priority_from(word, "priority", &put->priority, reason);
}

static Status read_optional(const Json *entry, const char *name, int64_t most, int64_t *ret_number,
                            Reason *reason)
{
    Status status = json_get_i64(entry, name, 0, most, ret_number, reason);
    (void)is_absent(&status);
    return status;
}

static Status read_put(const PutReading *reading, const Json *entry, size_t index,
                       JournalPut *ret_put)
{
    Reason *reason = web_reason(reading->request);
    JournalPut put = {.journal = reading->journal, .key = SLICE_EMPTY, .data = SLICE_EMPTY};
    int64_t delay_ms = 0;
    TRY(json_only(entry, MEMBERS, reason));
    TRY(read_bytes(reading, entry, "key", "key64", &put.key));
    TRY(read_bytes(reading, entry, "data", "data64", &put.data));
    TRY(read_priority(reading, entry, &put));
    TRY(read_moment(reading, entry, "process_at", &put.wanted_ms));
    TRY(read_moment(reading, entry, "expires_at", &put.expiration_ms));
    TRY(read_moment(reading, entry, "inserted_at", &put.insertion_ms));
    TRY(read_optional(entry, "delay_ms", YEARS_MS * INT64_C(1000), &delay_ms, reason));
    TRY(read_optional(entry, "lease_ms", S_PER_DAY * 1000, &put.lease_ms, reason));
    if (delay_ms > 0 && put.wanted_ms > 0)
        return reason_set(reason, STATUS_INVALID, "delay_ms",
                          "is not for one that has process_at, too");
    if (delay_ms > 0)
        put.wanted_ms = reading->now_ms + delay_ms;
    if (put.key.size == 0 && reading->once.size > 0)
        put.key = arena_print(web_arena(reading->request), "once:%.*s:%zu",
                              SLICE_ARG(reading->once), index);
    *ret_put = put;
    return STATUS_OK;
}

static bool is_list(Slice body)
{
    Slice text = slice_trim(body);
    return text.size > 0 && text.data[0] == '[';
}

static Status read_puts(const PutReading *reading, const Json *body, bool many,
                        JournalPut **ret_puts, JournalPutAnswer **ret_answers, size_t *ret_count)
{
    Arena *arena = web_arena(reading->request);
    Reason *reason = web_reason(reading->request);
    size_t count = many ? json_count(body) : 1;
    if (count == 0 || count > JOURNAL_MANY_MAX)
        return reason_set(reason, STATUS_INVALID, "entries", "1 to %d in one request",
                          JOURNAL_MANY_MAX);
    *ret_puts = ARENA_ARRAY(arena, count, JournalPut);
    *ret_answers = ARENA_ARRAY(arena, count, JournalPutAnswer);
    for (size_t i = 0; i < count; i++) {
        Status status = read_put(reading, many ? json_at(body, i) : body, i, &(*ret_puts)[i]);
        (*ret_puts)[i].journal = reading->journal;
        if (!many)
            TRY(status);
        (*ret_answers)[i] = status == STATUS_OK ? (JournalPutAnswer){.process = SLICE_EMPTY}
                                                : journal_put_refused(status, reason, arena);
        (void)reason_set(reason, STATUS_OK, "", "%s", "");
    }
    *ret_count = count;
    return STATUS_OK;
}

static Status answer(WebRequest *request, const JournalPutAnswer *answers, size_t count, bool many)
{
    bool all = true;
    for (size_t i = 0; i < count; i++)
        all &= answers[i].status == STATUS_OK;
    web_code(request, all ? 201 : 200);
    if (!many)
        return api_answer(request, &SCHEMA_JOURNAL_PUT, &answers[0]);
    JsonWriter json = web_write_json(request);
    web_private(request);
    json_array_begin(&json);
    for (size_t i = 0; i < count; i++)
        schema_write(&json, &SCHEMA_JOURNAL_PUT, &answers[i], web_arena(request));
    json_array_end(&json);
    return STATUS_OK;
}

/* The key of an entry that has none is made of the header, so that the same request again merges with what it has put while that waits; and when the
 * request is known to have been done nothing is put at all. */
static Status read_once(PutReading *reading, bool *ret_is_done)
{
    WebRequest *request = reading->request;
    Id id;
    *ret_is_done = false;
    if (web_head(request, HEAD_IDEMPOTENCY_KEY).size == 0)
        return STATUS_OK;
    if (!site_viewer(request)->known)
        return reason_set(web_reason(request), STATUS_INVALID, "Idempotency-Key",
                          "is for those who are logged in or have a token");
    TRY(api_key(request, &id));
    reading->once = id_text(id, web_arena(request));
    return api_key_is_used(request, ret_is_done);
}

/* Before the body: it may be large, and most who could send one have no right to. */
static Status admits_put(WebRequest *request)
{
    Slice journal;
    TRY(web_path_text(request, P_JOURNAL, &journal));
    /* A page of another site cannot send this type without being asked for leave. */
    if (!http_media_type_is(web_head(request, HEAD_CONTENT_TYPE), SLICE("application/json")))
        return reason_set(web_reason(request), STATUS_INVALID, "Content-Type",
                          "must be application/json");
    if (actor_id(site_actor(request)) == 0)
        TRY(web_limit_body(request, STRANGERS_BODY));
    return journal_admit(site_of(request)->ops, site_actor(request), journal, JOURNAL_RIGHT_PUT,
                         web_reason(request));
}

static Status put_entries(WebRequest *request)
{
    static const JournalPutAnswer REPEATED = {
        .outcome = "repeated", .process = {"", 0}, .field = {"", 0}, .error = {"", 0}};
    Site *site = site_of(request);
    JSON_SCOPE Json *body = NULL;
    PutReading reading = {.request = request,
                          .journal = web_text(request, P_JOURNAL),
                          .once = SLICE_EMPTY,
                          .now_ms = clock_now_us(site->app->world.clock) / US_PER_MS};
    JournalPut *puts;
    JournalPutAnswer *answers;
    size_t count = 0;
    bool many = is_list(web_body(request)), is_done;
    TRY(read_once(&reading, &is_done));
    TRY(json_parse(web_body(request),
                   (JsonBounds){web_body(request).size, JOURNAL_MANY_MAX * VALUES_A_PUT}, &body,
                   web_reason(request)));
    TRY(read_puts(&reading, body, many, &puts, &answers, &count));
    for (size_t i = 0; i < count && is_done; i++)
        if (answers[i].status == STATUS_OK)
            answers[i] = REPEATED;
    Status status = is_done ? STATUS_OK
                            : journal_put_all(site->ops, site_actor(request), puts, count,
                                              web_arena(request), answers, web_reason(request));
    if (status == STATUS_OK && !is_done)
        api_key_used(request);
    TRY(status);
    return answer(request, answers, count, many);
}

static const WebRoute ROUTES[] = {
    {WEB_POST, API_PATH "journals/{journal}/entries", put_entries, .by_program = true,
     .body_bytes = WEB_BODY_DEFAULT, .admits = admits_put, .threads = WEB_SAVE,
     .answers = "JournalPut", .answers_lists = true, .tag = "journals",
     .help =
         "Put an entry, or a list of up to 1,000: {key or key64, data or data64, priority, "
         "process_at or delay_ms, expires_at, lease_ms, inserted_at}, each of which can be left "
         "out; times are texts, or milliseconds since 1970. 201; 200 for a list of which not "
         "all were put.",
     .params = {[P_JOURNAL] = {"journal", WEB_PATH, WEB_LINE, .least = 1, .most = JOURNAL_NAME_MAX,
                               .help = "The journal."}}},
};
ROUTE_TABLE(JOURNAL_PUT, ROUTES);
