/* fuzz_multipart.c -- any bytes as the type and the body of a form with files.
 *
 * Whatever is taken keeps the promises of multipart.h: as many pairs as parts at most, and what is written from them as parts again is read
 * as the same pairs. */
#include "base/bytes.h"
#include "fuzz.h"
#include "web/http_rules.h"
#include "web/multipart.h"

/* One part for each pair, with a boundary that is in none. False when a name cannot stand in quotes, or the boundary is there. */
static bool write_again(Slice form, Arena *arena, Buffer *out)
{
    Slice name, value, text;
    while (http_next_pair(&form, &name, &value)) {
        if (http_decode(name, HTTP_DECODE_FORM, arena, &name) != STATUS_OK ||
            http_decode(value, HTTP_DECODE_FORM, arena, &text) != STATUS_OK)
            return false; /* what is no text is refused behind us */
        if (slice_find(name, '"') < name.size || slice_find(name, '\r') < name.size)
            return false;
        buffer_print(out, "--again\r\nContent-Disposition: form-data; name=\"%.*s\"\r\n\r\n",
                     SLICE_ARG(name));
        buffer_bytes(out, text);
        buffer_text(out, "\r\n");
        if (memmem(text.data, text.size, "--again", 7) != NULL)
            return false;
    }
    buffer_text(out, "--again--\r\n");
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ARENA_SCOPE Arena *arena = arena_new();
    BUFFER_SCOPE Buffer out = {0};
    Slice input = slice_of((const char *)data, size), form, again;
    size_t line = slice_find(input, '\n');
    Slice type = slice_of(input.data, line),
          body = slice_after(input, line < size ? line + 1 : line);
    Reason reason = {0};
    (void)multipart_is(type);
    if (multipart_form(type, body, arena, &form, &reason) != STATUS_OK)
        return 0;
    CHECK(form.size <= 3 * body.size);
    if (!write_again(form, arena, &out))
        return 0;
    if (multipart_form(SLICE("multipart/form-data; boundary=again"), buffer_slice(&out), arena,
                       &again, &reason) == STATUS_OK)
        CHECK(slice_equal(form, again));
    return 0;
}
