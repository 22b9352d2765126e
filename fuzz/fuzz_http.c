/* fuzz_http.c -- any bytes as the small things of HTTP: addresses, queries, negotiation, forwarded lists, heads.
 *
 * Whatever is taken keeps the promises of http_rules.h: text is UTF-8 without NUL, pieces lie within what was given,
 * what was decoded once and encoded again decodes to the same, a formatted address reads as itself. */
#include "fuzz.h"
#include "net/address.h"
#include "net/listen.h"
#include "web/head.h"
#include "web/http_rules.h"

static void check_inside(Slice part, Slice whole)
{
    if (part.size > 0)
        CHECK(part.data >= whole.data && part.data + part.size <= whole.data + whole.size);
}

static void feed_decoding(Slice text, Arena *arena)
{
    static const char digits[] = "0123456789ABCDEF";
    Slice decoded, again;
    if (http_decode(text, HTTP_DECODE_FORM, arena, &decoded) != STATUS_OK)
        return;
    CHECK(slice_is_utf8(decoded) && decoded.size <= text.size);
    char *encoded = arena_bytes(arena, decoded.size * 3);
    for (size_t i = 0; i < decoded.size; i++) {
        unsigned char byte = (unsigned char)decoded.data[i];
        encoded[3 * i] = '%';
        encoded[3 * i + 1] = digits[byte >> 4];
        encoded[3 * i + 2] = digits[byte & 15];
    }
    CHECK(http_decode(slice_of(encoded, decoded.size * 3), HTTP_DECODE_PATH, arena, &again) ==
          STATUS_OK);
    CHECK(slice_equal(again, decoded));
}

static void feed_target(Slice text)
{
    HttpTarget target;
    Slice name, value;
    if (http_parse_target(text, &target) != STATUS_OK)
        return;
    CHECK(target.path.size > 0 && target.path.data[0] == '/');
    for (Slice rest = target.query; http_next_pair(&rest, &name, &value);) {
        check_inside(name, text);
        check_inside(value, text);
    }
}

static void feed_negotiation(Slice text)
{
    const unsigned all = 1u << HTTP_BROTLI | 1u << HTTP_GZIP | 1u << HTTP_IDENTITY;
    int quality = http_quality(text, SLICE("gzip"));
    CHECK(quality >= -1 && quality <= 1000);
    CHECK(http_choose_encoding(text, 1u << HTTP_IDENTITY) == HTTP_IDENTITY);
    if (http_choose_encoding(text, all) == HTTP_GZIP)
        CHECK(quality > 0);
    if (http_prefers_json(text))
        CHECK(http_quality(text, SLICE("application/json")) > 0);
    (void)http_etag_matches(text, SLICE("\"x\""));
    (void)http_media_type_is(text, SLICE("application/json"));
}

static void feed_addresses(Slice text)
{
    char formatted[ADDRESS_TEXT];
    Address address, again;
    AddressRanges ranges;
    NetPlace place;
    Reason reason = {0};
    if (address_parse(text, &address) == STATUS_OK) {
        address_format(address, formatted);
        CHECK(address_parse(slice_from(formatted), &again) == STATUS_OK);
        CHECK(address_equal(address, again));
    }
    if (address_names_loopback(text))
        CHECK(http_is_host(text));
    if (address_ranges_parse(text, &ranges, &reason) == STATUS_OK)
        for (size_t i = 0; i < ranges.count; i++)
            CHECK(address_in_ranges(ranges.ranges[i].address, &ranges));
    else
        CHECK(reason.rule[0] != '\0');
    if (net_parse_place(text, &place, &reason) == STATUS_OK)
        CHECK(place.host[0] != '\0' && strlen(place.port) < sizeof place.port);
    CHECK(address_ranges_parse(SLICE("0.0.0.0/0, ::/0"), &ranges, NULL) == STATUS_OK);
    address_format(address_of_client(ranges.ranges[0].address, text, &ranges), formatted);
}

static void feed_cookies(Slice text)
{
    Slice value;
    HttpOrigin origin;
    if (http_cookie(text, SLICE("a"), &value)) {
        check_inside(value, text);
        CHECK(http_is_cookie_value(value) && slice_find(text, '=') < text.size);
    }
    if (http_parse_origin(text, &origin, NULL) == STATUS_OK) {
        check_inside(origin.text, text);
        CHECK(origin.text.data[origin.text.size - 1] != '/');
    }
    if (http_is_own_path(text))
        CHECK(text.data[0] == '/' && slice_find(text, '\n') == text.size);
}

/* Lines "name:value" as a head. */
static void feed_head(Slice text, Arena *arena)
{
    HttpHead head = {0};
    Slice line;
    uint64_t size;
    while (slice_split(&text, '\n', &line)) {
        size_t colon = slice_find(line, ':');
        head_add(&head, slice_of(line.data, colon), slice_after(line, colon + 1), arena);
    }
    if (head_judge(&head, NULL) != STATUS_OK)
        return;
    CHECK(head.present[HEAD_HOST]);
    CHECK(!(head.present[HEAD_CONTENT_LENGTH] && head.present[HEAD_TRANSFER_ENCODING]));
    CHECK(head.present[HEAD_CONTENT_LENGTH] == head_body_size(&head, &size));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Slice text = slice_of(data, size);
    feed_decoding(text, arena);
    feed_target(text);
    feed_negotiation(text);
    feed_addresses(text);
    feed_cookies(text);
    feed_head(text, arena);
    return 0;
}
