/* fuzz_bytes.c -- Reader against a plain model, and Buffer as its way back.
 *
 * The first bytes of the input say what to read, the rest is what is read. A read succeeds exactly when enough is left and
 * none failed before; what was read, written by a Buffer, gives the same bytes. */
#include "base/bytes.h"

#include "fuzz.h"

enum { STEPS = 16 };

/* How many bytes the step reads. */
static size_t step_size(uint8_t step)
{
    static const size_t sizes[] = {1, 2, 4, 8, 8};
    return step % 8 < 5 ? sizes[step % 8] : step / 8;
}

/* Reads what the step says and writes it again. */
static void copy_step(uint8_t step, Reader *reader, Buffer *copy)
{
    switch (step % 8) {
    case 0:
        buffer_u8(copy, reader_u8(reader));
        break;
    case 1:
        buffer_u16(copy, reader_u16(reader));
        break;
    case 2:
        buffer_u32(copy, reader_u32(reader));
        break;
    case 3:
        buffer_u64(copy, reader_u64(reader));
        break;
    case 4:
        buffer_i64(copy, reader_i64(reader));
        break;
    default:
        buffer_bytes(copy, reader_bytes(reader, step / 8));
    }
}

static void check_decimal(int64_t number)
{
    BUFFER_SCOPE Buffer text = {0};
    int64_t back;
    buffer_decimal(&text, number);
    CHECK(slice_to_i64(buffer_slice(&text), &back) == STATUS_OK && back == number);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < STEPS)
        return 0;
    BUFFER_SCOPE Buffer copy = {0};
    Slice input = slice_of(data + STEPS, size - STEPS);
    Reader reader = reader_of(input);
    size_t read = 0;
    for (int i = 0; i < STEPS; i++) {
        bool fits = !reader.failed && step_size(data[i]) <= input.size - read;
        size_t before = copy.size;
        copy_step(data[i], &reader, &copy);
        CHECK(reader.failed == !fits);
        for (size_t at = before; !fits && at < copy.size; at++)
            CHECK(copy.data[at] == 0);
        if (!fits)
            break;
        read += step_size(data[i]);
        CHECK(slice_equal(buffer_slice(&copy), slice_of(input.data, read)));
    }
    CHECK(reader_done(&reader) == (!reader.failed && read == input.size));
    if (input.size >= 8)
        check_decimal((int64_t)bytes_get_u64(input.data));
    return 0;
}
