/* fuzz_policies.c -- the columns of a policy's row: what a decoder takes, its encoder writes again byte for byte.
 *
 * The first byte says which decoder. Texts are also checked and folded as if a person had sent them: neither may fail on
 * any bytes, and folding twice is folding once. Cells are records: fuzz_records.c. */
#include "policies/policies_private.h"

#include "fuzz.h"

static bool again_source(Slice value, Buffer *copy)
{
    ARENA_SCOPE Arena *arena = arena_new();
    PolicySource source;
    if (policy_decode_source_column(value, &source) != STATUS_OK)
        return false;
    buffer_bytes(copy, policy_source_column(&source, arena));
    return true;
}

static bool again_number(Slice value, Buffer *copy)
{
    ARENA_SCOPE Arena *arena = arena_new();
    uint32_t number;
    if (policy_decode_move_column(value, &number) != STATUS_OK)
        return false;
    buffer_bytes(copy, policy_move_column(number, arena));
    return true;
}

/* A name: what passes the check can be folded, and its folded form is its own. */
static bool again_name(Slice value, Buffer *copy)
{
    ARENA_SCOPE Arena *arena = arena_new();
    PolicyText text = {.name = value,
                       .description = value,
                       .rationale = value,
                       .links = {value},
                       .link_count = 1,
                       .category = 1};
    (void)!policy_check_text(&text, NULL);
    if (policy_check_line("name", value, 1, POLICY_NAME_MAX, NULL) != STATUS_OK)
        return false;
    Slice folded = policy_fold(value, arena);
    CHECK(folded.size > 0 && slice_equal(policy_fold(folded, arena), folded));
    buffer_bytes(copy, value);
    return true;
}

static bool (*const AGAIN[])(Slice value, Buffer *copy) = {
    again_source,
    again_number,
    again_name,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    BUFFER_SCOPE Buffer copy = {0};
    Slice value = slice_of(data + 1, size - 1);
    if (AGAIN[data[0] % (sizeof AGAIN / sizeof AGAIN[0])](value, &copy))
        CHECK(slice_equal(buffer_slice(&copy), value));
    return 0;
}
