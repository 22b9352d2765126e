/* http_rules.c -- see http_rules.h. Every reader cuts pieces off a slice; none keeps state of its own. */
#include "web/http_rules.h"

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

/* The byte that the escape at `at` stands for, or -1. */
static int escaped_byte(Slice text, size_t at)
{
    if (text.size - at < 3)
        return -1;
    int high = hex_digit(text.data[at + 1]), low = hex_digit(text.data[at + 2]);
    return high < 0 || low < 0 ? -1 : high * 16 + low;
}

static bool is_plain(Slice text, HttpDecode how)
{
    return slice_find(text, '%') == text.size &&
           (how == HTTP_DECODE_PATH || slice_find(text, '+') == text.size);
}

Status http_decode(Slice text, HttpDecode how, Arena *arena, Slice *ret_text)
{
    if (!is_plain(text, how)) {
        char *decoded = arena_bytes(arena, text.size);
        size_t size = 0;
        for (size_t at = 0; at < text.size; at++) {
            int byte = (unsigned char)text.data[at];
            if (byte == '%') {
                byte = escaped_byte(text, at);
                if (byte < 0)
                    return STATUS_INVALID;
                at += 2;
            } else if (byte == '+' && how == HTTP_DECODE_FORM) {
                byte = ' ';
            }
            decoded[size++] = (char)byte;
        }
        text = slice_of(decoded, size);
    }
    if (!slice_is_utf8(text))
        return STATUS_INVALID;
    *ret_text = text;
    return STATUS_OK;
}

bool http_next_pair(Slice *rest, Slice *ret_name, Slice *ret_value)
{
    Slice pair;
    do {
        if (!slice_split(rest, '&', &pair))
            return false;
    } while (pair.size == 0);
    size_t equals = slice_find(pair, '=');
    *ret_name = slice_of(pair.data, equals);
    *ret_value = slice_after(pair, equals + 1);
    return true;
}

/* Cuts "http://host" of the absolute form off; origin form stays as it is. */
static Slice cut_origin(Slice target, Slice *ret_host)
{
    static const Slice schemes[] = {{"http://", 7}, {"https://", 8}};
    *ret_host = SLICE_EMPTY;
    for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++) {
        if (target.size < schemes[i].size ||
            !slice_equal_ignoring_case(slice_of(target.data, schemes[i].size), schemes[i]))
            continue;
        Slice rest = slice_after(target, schemes[i].size);
        *ret_host = slice_of(rest.data, slice_find(rest, '/'));
        rest = slice_after(rest, ret_host->size);
        return ret_host->size == 0 ? SLICE_EMPTY : rest.size > 0 ? rest : SLICE("/");
    }
    return target;
}

Status http_parse_target(Slice target, HttpTarget *ret_target)
{
    Slice host;
    target = cut_origin(target, &host);
    if (target.size == 0 || target.data[0] != '/')
        return STATUS_INVALID;
    for (size_t at = 0; at < target.size; at++) {
        unsigned char c = (unsigned char)target.data[at];
        if (c <= ' ' || c == 0x7F || c == '#' || (c == '%' && escaped_byte(target, at) <= 0))
            return STATUS_INVALID;
    }
    size_t end = slice_find(target, '?');
    *ret_target = (HttpTarget){slice_of(target.data, end), slice_after(target, end + 1), host};
    return STATUS_OK;
}

bool http_is_token(Slice text)
{
    static const char others[] = "!#$%&'*+-.^_`|~";
    for (size_t i = 0; i < text.size; i++) {
        char c = text.data[i];
        bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (!is_letter && !(c >= '0' && c <= '9') && (c == '\0' || strchr(others, c) == NULL))
            return false;
    }
    return text.size > 0;
}

bool http_is_host(Slice text)
{
    for (size_t i = 0; i < text.size; i++) {
        char c = text.data[i];
        bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (!is_letter && !(c >= '0' && c <= '9') && (c == '\0' || strchr(".-_:[]", c) == NULL))
            return false;
    }
    return text.size > 0 && text.size <= 255;
}

bool http_is_own_path(Slice text)
{
    for (size_t i = 0; i < text.size; i++)
        if ((unsigned char)text.data[i] <= ' ' || text.data[i] == 0x7F)
            return false;
    return text.size > 0 && text.data[0] == '/' &&
           (text.size == 1 || (text.data[1] != '/' && text.data[1] != '\\'));
}

Status http_parse_origin(Slice text, HttpOrigin *ret_origin, Reason *reason)
{
    bool is_secure = slice_starts_with(text, SLICE("https://"));
    size_t scheme = is_secure ? 8 : 7;
    if (text.size > scheme && text.data[text.size - 1] == '/')
        text.size--;
    if ((!is_secure && !slice_starts_with(text, SLICE("http://"))) ||
        !http_is_host(slice_after(text, scheme)))
        return reason_set(reason, STATUS_INVALID, "public_url",
                          "must be http:// or https:// and a host, perhaps a port, without a path");
    *ret_origin = (HttpOrigin){text, is_secure};
    return STATUS_OK;
}

bool http_is_cookie_value(Slice text)
{
    for (size_t i = 0; i < text.size; i++) {
        char c = text.data[i];
        if (c <= ' ' || c >= 0x7F || c == '"' || c == ',' || c == ';' || c == '\\')
            return false;
    }
    return true;
}

bool http_cookie(Slice cookies, Slice name, Slice *ret_value)
{
    Slice pair;
    while (slice_split(&cookies, ';', &pair)) {
        pair = slice_trim(pair);
        size_t equals = slice_find(pair, '=');
        Slice value = slice_after(pair, equals + 1);
        if (equals == pair.size || !slice_equal(slice_of(pair.data, equals), name))
            continue;
        if (value.size >= 2 && value.data[0] == '"' && value.data[value.size - 1] == '"')
            value = slice_of(value.data + 1, value.size - 2);
        if (!http_is_cookie_value(value))
            continue;
        *ret_value = value;
        return true;
    }
    return false;
}

/* "0.35" is 350; -1 unless it is 0 to 1 with up to three decimals. */
static int thousandths(Slice text)
{
    if (text.size == 0 || text.size > 5 || (text.data[0] != '0' && text.data[0] != '1') ||
        (text.size > 1 && text.data[1] != '.'))
        return -1;
    int value = (text.data[0] - '0') * 1000;
    for (size_t i = 2, unit = 100; i < text.size; i++, unit /= 10) {
        if (text.data[i] < '0' || text.data[i] > '9')
            return -1;
        value += (text.data[i] - '0') * (int)unit;
    }
    return value <= 1000 ? value : -1;
}

/* Takes `gzip;level=1;q=0.5` apart; the quality is 1000 unless it says otherwise, -1 when it is malformed. */
static int element_quality(Slice element, Slice *ret_name)
{
    Slice part;
    int quality = 1000;
    if (!slice_split(&element, ';', &part))
        return -1;
    *ret_name = slice_trim(part);
    while (slice_split(&element, ';', &part)) {
        part = slice_trim(part);
        if (part.size >= 2 && (part.data[0] == 'q' || part.data[0] == 'Q') && part.data[1] == '=')
            quality = thousandths(slice_after(part, 2));
    }
    return quality;
}

int http_quality(Slice list, Slice name)
{
    Slice element, found;
    int named = -1, any = -1;
    while (slice_split(&list, ',', &element)) {
        int quality = element_quality(element, &found);
        if (quality < 0)
            continue;
        if (slice_equal_ignoring_case(found, name) && quality > named)
            named = quality;
        else if (slice_equal(found, SLICE("*")))
            any = quality;
    }
    return named >= 0 ? named : any;
}

const char *http_encoding_name(HttpEncoding encoding)
{
    static const char *const names[HTTP_ENCODINGS] = {"br", "gzip", NULL};
    return names[encoding];
}

HttpEncoding http_choose_encoding(Slice accept_encoding, unsigned available)
{
    HttpEncoding best = HTTP_IDENTITY;
    int best_quality = http_quality(accept_encoding, SLICE("identity"));
    if (best_quality < 0)
        best_quality = 1; /* not named: acceptable, but anything that is named comes first */
    for (int encoding = HTTP_IDENTITY - 1; encoding >= 0; encoding--) {
        if ((available & 1u << encoding) == 0)
            continue;
        const char *name = http_encoding_name((HttpEncoding)encoding);
        int quality = http_quality(accept_encoding, slice_from(name));
        if (quality > 0 && quality >= best_quality) {
            best = (HttpEncoding)encoding;
            best_quality = quality;
        }
    }
    return best;
}

bool http_prefers_json(Slice accept)
{
    int json = http_quality(accept, SLICE("application/json"));
    int html = http_quality(accept, SLICE("text/html"));
    return json > 0 && json > html;
}

bool http_media_type_is(Slice content_type, Slice media_type)
{
    Slice name = slice_trim(slice_of(content_type.data, slice_find(content_type, ';')));
    return slice_equal_ignoring_case(name, media_type);
}

static Slice without_weakness(Slice etag)
{
    return slice_starts_with(etag, SLICE("W/")) ? slice_after(etag, 2) : etag;
}

bool http_etag_matches(Slice if_none_match, Slice etag)
{
    Slice candidate;
    etag = without_weakness(etag);
    while (slice_split(&if_none_match, ',', &candidate)) {
        candidate = without_weakness(slice_trim(candidate));
        if (slice_equal(candidate, etag) || slice_equal(candidate, SLICE("*")))
            return true;
    }
    return false;
}
