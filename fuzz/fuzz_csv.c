/* fuzz_csv.c -- any bytes as a table: every line comes with fields or a fault, numbers grow, and pieces of another size read the same. */
#include "base/arena.h"
#include "base/csv.h"
#include "fuzz.h"

static void read_all(Slice bytes, size_t step, Buffer *out)
{
    CSV_SCOPE CsvReader reader = {0};
    uint64_t last = 0;
    for (size_t at = 0; at == 0 || at < bytes.size; at += step) {
        Slice piece = slice_after(bytes, at);
        bool is_last = piece.size <= step;
        CsvLine line;
        if (!is_last)
            piece.size = step;
        while (csv_next(&reader, &piece, is_last, &line)) {
            CHECK(line.number > last && (line.fault == NULL) == (line.count > 0));
            CHECK(line.count <= CSV_FIELDS_MAX);
            last = line.number;
            buffer_u64(out, line.number);
            buffer_text(out, line.fault != NULL ? line.fault : "");
            for (size_t i = 0; i < line.count; i++) {
                CHECK(slice_is_utf8(line.fields[i]) && line.fields[i].size <= CSV_LINE_MAX);
                buffer_u64(out, line.fields[i].size);
                buffer_bytes(out, line.fields[i]);
            }
        }
        CHECK(piece.size == 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    BUFFER_SCOPE Buffer whole = {0};
    BUFFER_SCOPE Buffer pieces = {0};
    size_t step = size > 0 ? data[0] % 17u + 1 : 1;
    Slice bytes = slice_of(data, size);
    read_all(bytes, size + 1, &whole);
    read_all(bytes, step, &pieces);
    CHECK(slice_equal(buffer_slice(&whole), buffer_slice(&pieces)));
    return 0;
}
