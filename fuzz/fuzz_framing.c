/* fuzz_framing.c -- any bytes as the head of a request, and as a body in chunks.
 *
 * The first byte says into how small pieces the rest is cut. Whatever the cuts: a head ends at the same byte, what is read of it lies within
 * it, and a body in chunks comes to the same end with the same bytes, never more than its bound. */
#include "fuzz.h"
#include "web/framing.h"

enum { BODY_MAX = 64 };

static void feed_head(Slice text, size_t piece, Arena *arena)
{
    HttpHead head = {0};
    size_t size = framing_head_size(text, 0), found = 0;
    for (size_t here = 0, looked = 0; here < text.size && found == 0; looked = here) {
        here = here + piece < text.size ? here + piece : text.size;
        found = framing_head_size(slice_of(text.data, here), looked);
    }
    CHECK(found == size);
    if (size == 0)
        return;
    FramingLine line = framing_read_head(slice_of(text.data, size), &head, arena);
    CHECK(head.fault != NULL || (line.method.size > 0 && line.target.size > 0));
    if (line.target.size > 0)
        CHECK(line.method.data == text.data &&
              line.target.data + line.target.size <= text.data + size);
    if (head_judge(&head, NULL) == STATUS_OK)
        CHECK(head.fault == NULL);
}

/* Returns how it ended; *ret_used: with how many bytes. */
static FramingStep read_chunks(Slice text, size_t piece, Buffer *body, size_t *ret_used)
{
    FramingChunks chunks = {0};
    FramingStep step = FRAMING_MORE;
    *ret_used = 0;
    while (step == FRAMING_MORE && *ret_used < text.size) {
        size_t used;
        Slice rest = slice_after(text, *ret_used);
        rest.size = rest.size < piece ? rest.size : piece;
        step = framing_read_chunks(&chunks, rest, BODY_MAX, body, &used);
        CHECK(used <= rest.size && (step != FRAMING_MORE || used == rest.size));
        *ret_used += used;
    }
    CHECK(body->size <= BODY_MAX);
    return step;
}

static void feed_chunks(Slice text, size_t piece)
{
    BUFFER_SCOPE Buffer whole = {0}, pieces = {0};
    size_t used, used_by_pieces;
    FramingStep step = read_chunks(text, text.size + 1, &whole, &used);
    CHECK(read_chunks(text, piece, &pieces, &used_by_pieces) == step);
    CHECK(slice_equal(buffer_slice(&whole), buffer_slice(&pieces)));
    if (step == FRAMING_MORE || step == FRAMING_DONE)
        CHECK(used == used_by_pieces);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ARENA_SCOPE Arena *arena = arena_new();
    if (size < 1)
        return 0;
    Slice text = slice_of(data + 1, size - 1);
    size_t piece = (size_t)data[0] % 16 + 1;
    feed_head(text, piece, arena);
    feed_chunks(text, piece);
    return 0;
}
