/* slice_test.c -- slices: order, cutting, UTF-8, numbers, words. */
#include "base/slice.h"

#include "base/words.h"
#include "test.h"

TEST(order_is_by_bytes_and_the_beginning_comes_first)
{
    EXPECT(slice_compare(SLICE("a"), SLICE("b")) < 0);
    EXPECT(slice_compare(SLICE("a"), SLICE("ab")) < 0);
    EXPECT(slice_compare(SLICE("a"), SLICE("a\0")) < 0);
    EXPECT(slice_compare(SLICE("\x7f"), SLICE("\x80")) < 0);
    EXPECT(slice_compare(SLICE("b"), SLICE("ab")) > 0);
    EXPECT(slice_compare(SLICE("ab"), SLICE("ab")) == 0);
    EXPECT(slice_compare((Slice){NULL, 0}, SLICE_EMPTY) == 0);
}

TEST(equal_looks_at_all_bytes)
{
    EXPECT(slice_equal(SLICE("a\0b"), SLICE("a\0b")));
    EXPECT(!slice_equal(SLICE("a\0b"), SLICE("a\0c")));
    EXPECT(!slice_equal(SLICE("a"), SLICE("ab")));
    EXPECT(slice_equal((Slice){NULL, 0}, SLICE_EMPTY));
}

TEST(case_is_ignored_for_ascii_letters_only)
{
    EXPECT(slice_equal_ignoring_case(SLICE("Content-Length"), SLICE("content-lENGTH")));
    EXPECT(!slice_equal_ignoring_case(SLICE("["), SLICE("{")));
    EXPECT(!slice_equal_ignoring_case(SLICE("@"), SLICE("`")));
    EXPECT(!slice_equal_ignoring_case(SLICE("a"), SLICE("ab")));
}

TEST(after_the_end_is_empty)
{
    EXPECT_SLICE(slice_after(SLICE("abc"), 1), SLICE("bc"));
    EXPECT_SLICE(slice_after(SLICE("abc"), 3), SLICE(""));
    EXPECT_SLICE(slice_after(SLICE("abc"), SIZE_MAX), SLICE(""));
    EXPECT_SLICE(slice_after((Slice){NULL, 0}, 5), SLICE(""));
}

TEST(starts_with_the_prefix)
{
    EXPECT(slice_starts_with(SLICE("abc"), SLICE("ab")));
    EXPECT(slice_starts_with(SLICE("abc"), SLICE("")));
    EXPECT(!slice_starts_with(SLICE("ab"), SLICE("abc")));
    EXPECT(!slice_starts_with(SLICE("xab"), SLICE("ab")));
}

TEST(trim_takes_spaces_off_both_sides)
{
    EXPECT_SLICE(slice_trim(SLICE(" \t a b\r\n")), SLICE("a b"));
    EXPECT_SLICE(slice_trim(SLICE(" \n ")), SLICE(""));
    EXPECT_SLICE(slice_trim(SLICE("")), SLICE(""));
}

TEST(find_gives_the_first_place_or_the_size)
{
    EXPECT_I64(slice_find(SLICE("a=b=c"), '='), 1);
    EXPECT_I64(slice_find(SLICE("abc"), '='), 3);
    EXPECT_I64(slice_find((Slice){NULL, 0}, '='), 0);
}

TEST(split_gives_the_parts_in_order)
{
    Slice rest = SLICE("a,,bc,"), part;
    EXPECT(slice_split(&rest, ',', &part));
    EXPECT_SLICE(part, SLICE("a"));
    EXPECT(slice_split(&rest, ',', &part));
    EXPECT_SLICE(part, SLICE(""));
    EXPECT(slice_split(&rest, ',', &part));
    EXPECT_SLICE(part, SLICE("bc"));
    EXPECT(!slice_split(&rest, ',', &part));
    EXPECT_SLICE(part, SLICE("bc"));
}

TEST(utf8_of_every_length_is_accepted_at_its_edges)
{
    EXPECT(slice_is_utf8(SLICE("")));
    EXPECT(slice_is_utf8(SLICE("plain \x01\x7F")));
    EXPECT(slice_is_utf8(SLICE("\xC2\x80 \xDF\xBF")));
    EXPECT(slice_is_utf8(SLICE("\xE0\xA0\x80 \xED\x9F\xBF \xEE\x80\x80 \xEF\xBF\xBF")));
    EXPECT(slice_is_utf8(SLICE("\xF0\x90\x80\x80 \xF4\x8F\xBF\xBF")));
}

TEST(bad_utf8_is_refused)
{
    static const Slice bad[] = {
        {"\0", 1},               /* NUL */
        {"a\0b", 3},             /* NUL inside */
        {"\x80", 1},             /* a continuation alone */
        {"\xC0\x80", 2},         /* overlong NUL */
        {"\xC1\xBF", 2},         /* overlong */
        {"\xE0\x9F\xBF", 3},     /* overlong */
        {"\xF0\x8F\xBF\xBF", 4}, /* overlong */
        {"\xED\xA0\x80", 3},     /* a surrogate */
        {"\xED\xBF\xBF", 3},     /* a surrogate */
        {"\xF4\x90\x80\x80", 4}, /* above U+10FFFF */
        {"\xF5\x80\x80\x80", 4}, /* no such lead */
        {"\xFF", 1},             /* no such lead */
        {"\xC3", 1},             /* cut off */
        {"\xE2\x82", 2},         /* cut off */
        {"\xF0\x9F\x98", 3},     /* cut off */
        {"\xC3(", 2},            /* no continuation */
        {"\xE2\x82(", 3},        /* no continuation */
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        EXPECT(!slice_is_utf8(bad[i]));
        EXPECT(i == 1 || slice_utf8_length(bad[i]) == 0);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        for (size_t before = 0; before < 20; before++) {
            char text[40];
            memset(text, 'x', sizeof text);
            memcpy(text + before, bad[i].data, bad[i].size);
            EXPECT(!slice_is_utf8(slice_of(text, before + bad[i].size)));
            EXPECT(!slice_is_utf8(slice_of(text, before + bad[i].size + 16)));
        }
    }
    EXPECT(!slice_is_utf8(slice_of("\xC3\xA4", 1)));
    EXPECT(!slice_is_utf8(slice_of("\xF0\x9F\x98\x80", 3)));
    EXPECT_I64(slice_utf8_length(SLICE("")), 0);
    EXPECT_I64(slice_utf8_length(SLICE("\xE2\x82\xACx")), 3);
}

TEST(numbers_are_read_up_to_their_bounds)
{
    uint64_t u = 7;
    int64_t i = 7;
    EXPECT_STATUS(slice_to_u64(SLICE("18446744073709551615"), &u), STATUS_OK);
    EXPECT(u == UINT64_MAX);
    EXPECT_STATUS(slice_to_i64(SLICE("9223372036854775807"), &i), STATUS_OK);
    EXPECT(i == INT64_MAX);
    EXPECT_STATUS(slice_to_i64(SLICE("-9223372036854775808"), &i), STATUS_OK);
    EXPECT(i == INT64_MIN);
    EXPECT_STATUS(slice_to_i64(SLICE("-0"), &i), STATUS_OK);
    EXPECT_I64(i, 0);
    EXPECT_STATUS(slice_to_u64(SLICE("007"), &u), STATUS_OK);
    EXPECT(u == 7);
}

TEST(what_is_not_a_number_is_refused_and_changes_nothing)
{
    static const Slice bad[] = {{"", 0},    {"-", 1},   {"+1", 2},  {" 1", 2},  {"1 ", 2},
                                {"1.0", 3}, {"1e3", 3}, {"0x1", 3}, {"--1", 3}, {"1\0", 2}};
    uint64_t u = 7;
    int64_t i = 7;
    for (size_t n = 0; n < sizeof bad / sizeof *bad; n++) {
        EXPECT_STATUS(slice_to_u64(bad[n], &u), STATUS_INVALID);
        EXPECT_STATUS(slice_to_i64(bad[n], &i), STATUS_INVALID);
    }
    EXPECT_STATUS(slice_to_u64(SLICE("-1"), &u), STATUS_INVALID);
    EXPECT_STATUS(slice_to_u64(SLICE("18446744073709551616"), &u), STATUS_INVALID);
    EXPECT_STATUS(slice_to_u64(SLICE("99999999999999999999"), &u), STATUS_INVALID);
    EXPECT_STATUS(slice_to_i64(SLICE("9223372036854775808"), &i), STATUS_INVALID);
    EXPECT_STATUS(slice_to_i64(SLICE("-9223372036854775809"), &i), STATUS_INVALID);
    EXPECT(u == 7 && i == 7);
}

TEST(words_are_found_and_the_others_named)
{
#define LIST(X) X(A, "a", 1) X(B, "b", 2) X(C, "c", 3)
    static const char *const LETTERS[] = WORDS(LIST, WORD_2);
    Reason reason = {.rule = ""};
    unsigned value = 7;
    EXPECT_STATUS(word_find(LETTERS, SLICE("x"), "letter", &value, &reason), STATUS_INVALID);
    EXPECT_SLICE(slice_from(reason.field), SLICE("letter"));
    EXPECT_SLICE(slice_from(reason.rule), SLICE("is one of a, b and c"));
    EXPECT_I64(value, 7);
    EXPECT_STATUS(word_find(LETTERS, SLICE("c"), "letter", &value, NULL), STATUS_OK);
    EXPECT_I64(value, 2);
    EXPECT(strcmp(word_of(LETTERS, 1), "b") == 0);
}
