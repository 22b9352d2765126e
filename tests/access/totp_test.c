/* totp_test.c -- codes that change every half minute, against the vectors of RFC 6238. */
#include "access/totp.h"

#include "base/world.h"
#include "test.h"

static const Slice SECRET = {"12345678901234567890", 20};

/* Appendix B gives eight digits; ours are the last six. */
TEST(the_vectors_of_the_standard)
{
    static const struct {
        int64_t time_s;
        const char *code;
    } VECTORS[] = {{59, "287082"},         {1111111109, "081804"}, {1111111111, "050471"},
                   {1234567890, "005924"}, {2000000000, "279037"}, {20000000000, "353130"}};
    for (size_t i = 0; i < sizeof VECTORS / sizeof VECTORS[0]; i++) {
        char code[TOTP_DIGITS + 1];
        totp_code(SECRET, totp_step(VECTORS[i].time_s * US_PER_S), code);
        EXPECT_SLICE(slice_from(code), slice_from(VECTORS[i].code));
    }
}

static bool fits(const char *code, int64_t time_s, int64_t last, int64_t *ret_step)
{
    return totp_match(SECRET, slice_from(code), time_s * US_PER_S, last, ret_step);
}

TEST(a_code_counts_for_its_step_and_the_ones_beside_it)
{
    int64_t step = -7;
    EXPECT(fits("081804", 1111111109, -1, &step));
    EXPECT_I64(step, 1111111109 / 30);
    EXPECT(fits("081804", 1111111109 + 30, -1, &step));
    EXPECT_I64(step, 1111111109 / 30);
    EXPECT(fits("081804", 1111111109 - 30, -1, &step));
    step = -7;
    EXPECT(!fits("081804", 1111111109 + 60, -1, &step));
    EXPECT(!fits("081804", 1111111109 - 60, -1, &step));
    EXPECT_I64(step, -7);
}

TEST(a_code_of_a_step_that_was_used_or_of_an_earlier_one_does_not_count)
{
    int64_t at = 1111111109 / 30, step;
    EXPECT(fits("081804", 1111111109, at - 1, &step));
    EXPECT(!fits("081804", 1111111109, at, &step));
    EXPECT(!fits("081804", 1111111109, at + 1, &step));
}

TEST(only_six_digits_are_a_code)
{
    static const char *const WRONG[] = {"",       "81804",  "0818040", "081804a",
                                        "08180x", "-81804", "０81804", "\t081804"};
    int64_t step;
    EXPECT(fits("081 804", 1111111109, -1, &step));
    EXPECT(fits(" 0 8 1 8 0 4 ", 1111111109, -1, &step));
    for (size_t i = 0; i < sizeof WRONG / sizeof WRONG[0]; i++)
        EXPECT(!fits(WRONG[i], 1111111109, -1, &step));
}

TEST(secrets_and_links_as_apps_read_them)
{
    ARENA_SCOPE Arena *arena = arena_new();
    EXPECT_SLICE(totp_secret_text(SECRET, arena), SLICE("GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"));
    EXPECT_SLICE(
        totp_link(SECRET, SLICE("Town & Co"), SLICE("zo\xC3\xAB"), arena),
        SLICE("otpauth://totp/Town%20%26%20Co:zo%C3%AB?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
              "&issuer=Town%20%26%20Co"));
}
