/* fuzz_policies.c -- the cells of a policy's row: what a decoder takes, its encoder writes again byte for byte.
 *
 * The first byte says which decoder. Texts are also checked and folded as if a person had sent them: neither may fail on
 * any bytes, and folding twice is folding once. */
#include "policies/answers.h"
#include "policies/policies_internal.h"

#include "fuzz.h"

static bool again_head(Slice value, Buffer *copy)
{
    PolicyHead head;
    if (policy_decode_head(value, &head) != STATUS_OK)
        return false;
    policy_encode_head(copy, &head);
    return true;
}

static bool again_move(Slice value, Buffer *copy)
{
    PolicyMove move;
    if (policy_decode_move(value, &move) != STATUS_OK)
        return false;
    CHECK(move.state < POLICY_STATE_COUNT);
    policy_encode_move(copy, &move);
    return true;
}

static bool again_origin(Slice value, Buffer *copy)
{
    PolicyOrigin origin;
    if (policy_decode_origin(value, &origin) != STATUS_OK)
        return false;
    policy_encode_origin(copy, &origin);
    return true;
}

static bool again_owner(Slice value, Buffer *copy)
{
    PolicyOwner owner;
    if (policy_decode_owner(value, &owner) != STATUS_OK)
        return false;
    policy_encode_owner(copy, &owner);
    return true;
}

static bool again_edit(Slice value, Buffer *copy)
{
    PolicyEdit edit;
    if (policy_decode_edit(value, &edit) != STATUS_OK)
        return false;
    policy_encode_edit(copy, &edit);
    return true;
}

static bool again_revision(Slice value, Buffer *copy)
{
    PolicyRevision revision;
    if (policy_decode_revision(value, &revision) != STATUS_OK)
        return false;
    (void)!policy_check_text(&revision.text, NULL);
    policy_encode_revision(copy, &revision);
    return true;
}

static bool again_target(Slice value, Buffer *copy)
{
    uint64_t target;
    if (policy_decode_target(value, &target) != STATUS_OK)
        return false;
    policy_encode_target(copy, target);
    return true;
}

static bool again_answer(Slice value, Buffer *copy)
{
    Answer answer;
    if (answer_decode(value, &answer) != STATUS_OK)
        return false;
    CHECK(answer.outcome < OUTCOME_COUNT);
    answer_encode(copy, &answer);
    return true;
}

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
    if (policy_check_line("name", value, 1, POLICY_NAME_MOST, NULL) != STATUS_OK)
        return false;
    Slice folded = policy_fold(value, arena);
    CHECK(folded.size > 0 && slice_equal(policy_fold(folded, arena), folded));
    buffer_bytes(copy, value);
    return true;
}

static bool (*const AGAIN[])(Slice value, Buffer *copy) = {
    again_head,   again_move,   again_origin, again_owner,  again_edit,   again_revision,
    again_source, again_number, again_name,   again_target, again_answer,
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
