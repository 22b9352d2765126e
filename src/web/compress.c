/* compress.c -- see compress.h. */
#include "web/compress.h"

#include <brotli/encode.h>
#include <zlib.h>

enum {
    GZIP_LEVEL = 6,
    GZIP_WINDOW = 15 + 16 /* with gzip's head */,
    GZIP_MEMORY = 8,
    BROTLI_LEVEL = 5
};

/* Both write into room for `plain.size` bytes and return the size, 0 when it does not fit. */

static size_t gzip_into(Slice plain, char *to)
{
    z_stream stream = {.next_in = (Bytef *)(uintptr_t)plain.data,
                       .avail_in = (uInt)plain.size,
                       .next_out = (Bytef *)to,
                       .avail_out = (uInt)plain.size};
    CHECK(deflateInit2(&stream, GZIP_LEVEL, Z_DEFLATED, GZIP_WINDOW, GZIP_MEMORY,
                       Z_DEFAULT_STRATEGY) == Z_OK);
    bool fits = deflate(&stream, Z_FINISH) == Z_STREAM_END;
    size_t size = fits ? stream.total_out : 0;
    deflateEnd(&stream);
    return size;
}

static size_t brotli_into(Slice plain, char *to)
{
    size_t size = plain.size;
    return BrotliEncoderCompress(BROTLI_LEVEL, BROTLI_DEFAULT_WINDOW, BROTLI_MODE_TEXT, plain.size,
                                 (const uint8_t *)plain.data, &size, (uint8_t *)to)
               ? size
               : 0;
}

bool compress_to(HttpEncoding encoding, Slice plain, Buffer *out)
{
    CHECK(encoding == HTTP_GZIP || encoding == HTTP_BROTLI);
    if (plain.size == 0 || plain.size > INT32_MAX)
        return false;
    char *to = buffer_reserve(out, plain.size);
    size_t size = encoding == HTTP_GZIP ? gzip_into(plain, to) : brotli_into(plain, to);
    if (size == 0 || size >= plain.size) {
        buffer_free(out);
        return false;
    }
    out->size += size;
    return true;
}
