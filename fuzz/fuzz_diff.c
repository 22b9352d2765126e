/* fuzz_diff.c -- any two texts: the parts of their difference are the texts again, also when lines are left out.
 *
 * The first byte says where the one ends and the other begins. */
#include "draw/diff.h"
#include "fuzz.h"

static void check_whole(const Diff *diff, Slice before, Slice after)
{
    for (size_t i = 0; i < diff->count; i++) {
        const DiffPart *part = &diff->parts[i];
        CHECK(part->text.size > 0);
        if (part->kind != DIFF_ADDED) {
            CHECK(slice_starts_with(before, part->text));
            before = slice_after(before, part->text.size);
        }
        if (part->kind != DIFF_REMOVED) {
            CHECK(slice_starts_with(after, part->text));
            after = slice_after(after, part->text.size);
        }
    }
    CHECK(before.size == 0 && after.size == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ARENA_SCOPE Arena *arena = arena_new();
    if (size == 0)
        return 0;
    size_t cut = (size - 1) * data[0] / 255;
    Slice before = slice_of(data + 1, cut), after = slice_of(data + 1 + cut, size - 1 - cut);
    Diff diff = diff_texts(before, after, arena);
    check_whole(&diff, before, after);
    Diff shorter = diff_shorten(&diff, data[0] % 4, arena);
    check_whole(&shorter, before, after);
    return 0;
}
