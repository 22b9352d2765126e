/* params.c -- from what a request brought to values that keep their kind and bounds (route_values in route.h).
 *
 * One walk over the query and one over the form find the named ones; each text then goes through the check of its
 * kind. JSON brings its own types, so it has its own readers, with the same bounds and words. */
#include "web/http_rules.h"
#include "web/route.h"

/* In a text of `most` characters no more than this many bytes. */
static size_t bytes_of_characters(int64_t most)
{
    return (size_t)most * 4;
}

static int64_t character_count(Slice text)
{
    int64_t count = 0;
    for (size_t i = 0; i < text.size; i++)
        count += ((unsigned char)text.data[i] & 0xC0) != 0x80;
    return count;
}

/* C0 controls and DEL; line ends and tabs only where lines are allowed. */
static bool has_control_character(Slice text, bool lines_allowed)
{
    for (size_t i = 0; i < text.size; i++) {
        unsigned char c = (unsigned char)text.data[i];
        bool is_line_end = c == '\n' || c == '\t' || c == '\r';
        if ((c < ' ' && !(is_line_end && lines_allowed)) || c == 0x7F)
            return true;
    }
    return false;
}

/* Browsers send CRLF in text areas; one form is stored. */
static Slice with_plain_line_ends(Slice text, Arena *arena)
{
    if (slice_find(text, '\r') == text.size)
        return text;
    char *plain = arena_bytes(arena, text.size);
    size_t size = 0;
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] != '\r')
            plain[size++] = text.data[i];
        else if (i + 1 == text.size || text.data[i + 1] != '\n')
            plain[size++] = '\n';
    }
    return slice_of(plain, size);
}

static Status check_text(const WebParam *param, Slice text, Arena *arena, WebValue *value,
                         Reason *reason)
{
    if (has_control_character(text, param->kind == WEB_TEXT))
        return reason_set(reason, STATUS_INVALID, param->name, "must not hold control characters");
    if (param->kind == WEB_TEXT)
        text = with_plain_line_ends(text, arena);
    int64_t count = character_count(text);
    if (count < param->least || count > param->most)
        return reason_set(reason, STATUS_INVALID, param->name,
                          "must have %lld to %lld characters, and has %lld",
                          (long long)param->least, (long long)param->most, (long long)count);
    value->text = text;
    return STATUS_OK;
}

static Status check_number(const WebParam *param, Slice text, WebValue *value, Reason *reason)
{
    bool is_id = param->kind == WEB_ID;
    int64_t least = is_id ? 1 : param->least, most = is_id ? INT64_MAX : param->most, number;
    if (slice_to_i64(text, &number) != STATUS_OK || number < least || number > most)
        return reason_set(reason, STATUS_INVALID, param->name,
                          "must be a whole number from %lld to %lld", (long long)least,
                          (long long)most);
    value->number = number;
    return STATUS_OK;
}

/* "one of a, b, c", for the message; cut when it is long. */
static void list_words(const WebParam *param, char *to, size_t size)
{
    size_t used = 0;
    to[0] = '\0';
    for (size_t i = 0; param->words[i] != NULL && used + 1 < size; i++) {
        size_t length = strlen(param->words[i]);
        if (used + length + 3 > size)
            break;
        if (i > 0)
            used = (size_t)(stpcpy(to + used, ", ") - to);
        used = (size_t)(stpcpy(to + used, param->words[i]) - to);
    }
}

static Status check_word(const WebParam *param, Slice text, WebValue *value, Reason *reason)
{
    char words[240];
    for (size_t i = 0; param->words[i] != NULL; i++) {
        if (slice_equal(text, slice_from(param->words[i]))) {
            value->number = (int64_t)i;
            value->text = slice_from(param->words[i]);
            return STATUS_OK;
        }
    }
    list_words(param, words, sizeof words);
    return reason_set(reason, STATUS_INVALID, param->name, "must be one of %s", words);
}

static Status check_switch(const WebParam *param, Slice text, WebValue *value, Reason *reason)
{
    static const char *const words[] = {"off", "on", "false", "true", "0", "1"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (slice_equal(text, slice_from(words[i]))) {
            value->number = i % 2;
            return STATUS_OK;
        }
    }
    return reason_set(reason, STATUS_INVALID, param->name, "must be on or off");
}

static Status check_value(const WebParam *param, Slice text, Arena *arena, WebValue *ret_value,
                          Reason *reason)
{
    WebValue value = {.present = true};
    switch (param->kind) {
    case WEB_ID:
    case WEB_NUMBER:
        TRY(check_number(param, text, &value, reason));
        break;
    case WEB_LINE:
    case WEB_TEXT:
        TRY(check_text(param, text, arena, &value, reason));
        break;
    case WEB_WORD:
        TRY(check_word(param, text, &value, reason));
        break;
    case WEB_SWITCH:
        TRY(check_switch(param, text, &value, reason));
        break;
    }
    *ret_value = value;
    return STATUS_OK;
}

static Status decode_and_check(const WebParam *param, Slice encoded, Arena *arena,
                               WebValue *ret_value, Reason *reason)
{
    Slice text;
    HttpDecode how = param->from == WEB_PATH ? HTTP_DECODE_PATH : HTTP_DECODE_FORM;
    if (http_decode(encoded, how, arena, &text) != STATUS_OK)
        return reason_set(reason, STATUS_INVALID, param->name,
                          "must be UTF-8 text without NUL, with %% only before two hex digits");
    return check_value(param, text, arena, ret_value, reason);
}

/* Names are compared after decoding, because "%6eame" is "name". */
static Status read_pairs(const WebRoute *route, WebFrom from, Slice rest, Arena *arena,
                         WebValue *values, Reason *reason)
{
    Slice encoded_name, name, encoded;
    while (http_next_pair(&rest, &encoded_name, &encoded)) {
        if (http_decode(encoded_name, HTTP_DECODE_FORM, arena, &name) != STATUS_OK)
            return reason_set(reason, STATUS_INVALID, NULL, "a parameter's name is not UTF-8 text");
        for (size_t i = 0; i < route_param_count(route); i++) {
            const WebParam *param = &route->params[i];
            if (param->from != from || !slice_equal(name, slice_from(param->name)))
                continue;
            if (values[i].present)
                return reason_set(reason, STATUS_INVALID, param->name, "must not come twice");
            if (encoded.size == 0 && (param->optional || param->fallback != NULL))
                continue; /* a field left empty in a form */
            TRY(decode_and_check(param, encoded, arena, &values[i], reason));
        }
    }
    return STATUS_OK;
}

/* NOT_FOUND when the member is absent. */
static Status read_json(const WebParam *param, const WebInput *input, Arena *arena,
                        WebValue *ret_value, Reason *reason)
{
    WebValue value = {.present = true};
    bool is_on;
    Slice text;
    switch (param->kind) {
    case WEB_ID:
        TRY(json_get_i64(input->json, param->name, 1, INT64_MAX, &value.number, reason));
        break;
    case WEB_NUMBER:
        TRY(json_get_i64(input->json, param->name, param->least, param->most, &value.number,
                         reason));
        break;
    case WEB_LINE:
    case WEB_TEXT:
        TRY(json_get_string(input->json, param->name, bytes_of_characters(param->most) * 2, &text,
                            reason));
        TRY(check_text(param, text, arena, &value, reason));
        break;
    case WEB_WORD:
        TRY(json_get_string(input->json, param->name, 1024, &text, reason));
        TRY(check_word(param, text, &value, reason));
        break;
    case WEB_SWITCH:
        TRY(json_get_bool(input->json, param->name, &is_on, reason));
        value.number = is_on;
        break;
    }
    *ret_value = value;
    return STATUS_OK;
}

static Status read_json_members(const WebRoute *route, const WebInput *input, Arena *arena,
                                WebValue *values, Reason *reason)
{
    const char *known[WEB_PARAMS_MAX + 1] = {NULL};
    size_t known_count = 0;
    for (size_t i = 0; i < route_param_count(route); i++) {
        const WebParam *param = &route->params[i];
        if (param->from != WEB_JSON)
            continue;
        known[known_count++] = param->name;
        Status status = read_json(param, input, arena, &values[i], reason);
        if (status != STATUS_NOT_FOUND)
            TRY(status);
    }
    return json_only(input->json, known, reason);
}

static Status fill_absent(const WebRoute *route, Arena *arena, WebValue *values, Reason *reason)
{
    for (size_t i = 0; i < route_param_count(route); i++) {
        const WebParam *param = &route->params[i];
        if (values[i].present)
            continue;
        if (param->fallback != NULL)
            TRY(check_value(param, slice_from(param->fallback), arena, &values[i], reason));
        else if (!param->optional)
            return reason_set(reason, STATUS_INVALID, param->name, "is missing");
    }
    return STATUS_OK;
}

Status route_values(const WebRoute *route, const WebInput *input, Arena *arena,
                    WebValue *ret_values, Reason *reason)
{
    WebValue values[WEB_PARAMS_MAX] = {0};
    size_t count = route_param_count(route);
    for (size_t i = 0; i < count && route->params[i].from == WEB_PATH; i++)
        TRY(decode_and_check(&route->params[i], input->captures[i], arena, &values[i], reason));
    TRY(read_pairs(route, WEB_QUERY, input->query, arena, values, reason));
    TRY(read_pairs(route, WEB_FORM, input->form, arena, values, reason));
    if (input->json != NULL && route_takes(route, WEB_JSON))
        TRY(read_json_members(route, input, arena, values, reason));
    TRY(fill_absent(route, arena, values, reason));
    memcpy(ret_values, values, count * sizeof values[0]);
    return STATUS_OK;
}
