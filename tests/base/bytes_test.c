/* bytes_test.c -- buffers and readers: layout, and reads past the end. */
#include "base/bytes.h"

#include "test.h"

TEST(what_is_written_is_read_back)
{
    BUFFER_SCOPE Buffer buffer = {0};
    buffer_u8(&buffer, 0xFE);
    buffer_u16(&buffer, 0xFEDC);
    buffer_u32(&buffer, 0xFEDCBA98);
    buffer_u64(&buffer, UINT64_C(0xFEDCBA9876543210));
    buffer_i64(&buffer, INT64_MIN);
    buffer_bytes(&buffer, SLICE("a\0b"));
    Reader reader = reader_of(buffer_slice(&buffer));
    EXPECT(reader_u8(&reader) == 0xFE);
    EXPECT(reader_u16(&reader) == 0xFEDC);
    EXPECT(reader_u32(&reader) == 0xFEDCBA98);
    EXPECT(reader_u64(&reader) == UINT64_C(0xFEDCBA9876543210));
    EXPECT(reader_i64(&reader) == INT64_MIN);
    EXPECT(!reader_done(&reader));
    EXPECT_SLICE(reader_rest(&reader), SLICE("a\0b"));
    EXPECT(reader_done(&reader));
}

TEST(unsigned_numbers_sort_as_bytes)
{
    static const uint64_t numbers[] = {0, 1, 255, 256, 65535, 65536, UINT64_C(1) << 63, UINT64_MAX};
    for (size_t i = 1; i < sizeof numbers / sizeof *numbers; i++) {
        char less[8], more[8];
        bytes_put_u64(less, numbers[i - 1]);
        bytes_put_u64(more, numbers[i]);
        EXPECT(slice_compare(slice_of(less, 8), slice_of(more, 8)) < 0);
        EXPECT(bytes_get_u64(more) == numbers[i]);
    }
}

TEST(own_memory_has_the_same_layout)
{
    BUFFER_SCOPE Buffer buffer = {0};
    char own[10];
    buffer_u16(&buffer, 0x0102);
    buffer_u64(&buffer, 0x030405060708090A);
    bytes_put_u16(own, 0x0102);
    bytes_put_u64(own + 2, 0x030405060708090A);
    EXPECT_SLICE(buffer_slice(&buffer), slice_of(own, sizeof own));
    EXPECT_SLICE(buffer_slice(&buffer), SLICE("\1\2\3\4\5\6\7\10\11\12"));
    EXPECT(bytes_get_u16(own) == 0x0102);
}

TEST(a_read_past_the_end_fails_and_stays_failed)
{
    Reader reader = reader_of(SLICE("\1\2\3"));
    EXPECT(reader_u32(&reader) == 0);
    EXPECT(reader.failed);
    EXPECT(reader_u8(&reader) == 0);
    EXPECT_SLICE(reader_bytes(&reader, 0), SLICE_EMPTY);
    EXPECT_SLICE(reader_rest(&reader), SLICE_EMPTY);
    EXPECT(!reader_done(&reader));
}

TEST(a_size_that_lies_is_refused)
{
    Reader reader = reader_of(SLICE("\xFF\xFF"
                                    "abc"));
    EXPECT_SLICE(reader_bytes(&reader, reader_u16(&reader)), SLICE_EMPTY);
    EXPECT(reader.failed);
    reader = reader_of(SLICE("abc"));
    EXPECT_SLICE(reader_bytes(&reader, SIZE_MAX), SLICE_EMPTY);
    EXPECT(reader.failed);
}

TEST(what_is_left_over_is_not_done)
{
    Reader reader = reader_of(SLICE("ab"));
    EXPECT_SLICE(reader_bytes(&reader, 1), SLICE("a"));
    EXPECT(!reader_done(&reader));
    EXPECT(!reader.failed);
}

TEST(nothing_is_read_from_nothing)
{
    Reader reader = reader_of((Slice){NULL, 0});
    EXPECT_SLICE(reader_bytes(&reader, 0), SLICE_EMPTY);
    EXPECT_SLICE(reader_rest(&reader), SLICE_EMPTY);
    EXPECT(reader_done(&reader));
}

TEST(decimals_are_what_printf_prints)
{
    static const int64_t numbers[] = {
        0, 9, 10, -1, -10, 99, INT64_MAX, INT64_MIN, INT64_MIN + 1, 1234567890123};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        BUFFER_SCOPE Buffer ours = {0}, theirs = {0};
        buffer_decimal(&ours, numbers[i]);
        buffer_print(&theirs, "%" PRId64, numbers[i]);
        EXPECT_SLICE(buffer_slice(&ours), buffer_slice(&theirs));
    }
}

TEST(only_unreserved_bytes_are_not_escaped_in_an_address)
{
    BUFFER_SCOPE Buffer buffer = {0};
    buffer_url_escaped(&buffer, SLICE("azAZ09-._~ /+%\0\xFF"));
    EXPECT_SLICE(buffer_slice(&buffer), SLICE("azAZ09-._~%20%2F%2B%25%00%FF"));
}

TEST(a_buffer_grows_and_is_emptied_without_giving_memory_back)
{
    BUFFER_SCOPE Buffer buffer = {0};
    EXPECT_SLICE(buffer_slice(&buffer), SLICE_EMPTY);
    EXPECT(buffer_reserve(&buffer, 0) != NULL);
    for (int i = 0; i < 100000; i++)
        buffer_u8(&buffer, (uint8_t)i);
    EXPECT_I64(buffer.size, 100000);
    for (size_t i = 0; i < buffer.size; i++)
        EXPECT((uint8_t)buffer.data[i] == (uint8_t)i);
    size_t capacity = buffer.capacity;
    buffer_clear(&buffer);
    EXPECT_I64(buffer.size, 0);
    EXPECT_I64(buffer.capacity, capacity);
    buffer_text(&buffer, "");
    buffer_print(&buffer, "%s", "x");
    EXPECT_SLICE(buffer_slice(&buffer), SLICE("x"));
}

static void reserve_all_memory(void)
{
    Buffer buffer = {0};
    buffer_u8(&buffer, 1);
    buffer_reserve(&buffer, SIZE_MAX);
}

TEST(a_size_that_overflows_is_a_bug)
{
    EXPECT(test_is_bug(reserve_all_memory));
}
