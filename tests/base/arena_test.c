/* arena_test.c -- memory of one request: alignment, lifetime, bounds. */
#include "base/arena.h"

#include "test.h"

TEST(every_type_fits_where_alloc_points)
{
    ARENA_SCOPE Arena *arena = arena_new();
    for (size_t size = 0; size < 200; size++) {
        arena_bytes(arena, size % 7);
        EXPECT((uintptr_t)arena_alloc(arena, size) % alignof(max_align_t) == 0);
    }
}

TEST(what_was_handed_out_stays_as_it_was)
{
    enum { COUNT = 2000 };
    ARENA_SCOPE Arena *arena = arena_new();
    char *parts[COUNT];
    for (size_t i = 0; i < COUNT; i++)
        parts[i] = memset(arena_bytes(arena, i + 1), (int)(i % 251), i + 1);
    for (size_t i = 0; i < COUNT; i++)
        for (size_t j = 0; j <= i; j++)
            EXPECT((unsigned char)parts[i][j] == i % 251);
}

TEST(nothing_is_a_valid_pointer_too)
{
    ARENA_SCOPE Arena *arena = arena_new();
    EXPECT(arena_alloc(arena, 0) != NULL);
    EXPECT(arena_bytes(arena, 0) != NULL);
    EXPECT_SLICE(arena_copy(arena, (Slice){NULL, 0}), SLICE_EMPTY);
    EXPECT_SLICE(slice_from(arena_text(arena, (Slice){NULL, 0})), SLICE_EMPTY);
}

TEST(used_counts_since_the_last_reset)
{
    ARENA_SCOPE Arena *arena = arena_new();
    EXPECT_I64(arena_used(arena), 0);
    arena_bytes(arena, 10);
    arena_bytes(arena, 1000000);
    EXPECT(arena_used(arena) >= 1000010);
    arena_reset(arena);
    EXPECT_I64(arena_used(arena), 0);
    arena_bytes(arena, 5);
    EXPECT_I64(arena_used(arena), 5);
}

TEST(new_values_are_cleared_even_in_memory_that_was_used)
{
    ARENA_SCOPE Arena *arena = arena_new();
    memset(arena_bytes(arena, 4096), 0xAA, 4096);
    arena_reset(arena);
    uint64_t *numbers = ARENA_ARRAY(arena, 100, uint64_t);
    for (size_t i = 0; i < 100; i++)
        EXPECT(numbers[i] == 0);
    EXPECT(*ARENA_NEW(arena, uint64_t) == 0);
}

TEST(copies_are_their_own_bytes)
{
    ARENA_SCOPE Arena *arena = arena_new();
    char source[] = "a\0b";
    Slice copy = arena_copy(arena, slice_of(source, 3));
    const char *text = arena_text(arena, slice_of(source, 1));
    source[0] = 'z';
    EXPECT_SLICE(copy, SLICE("a\0b"));
    EXPECT_I64(strlen(text), 1);
    EXPECT(text[0] == 'a');
}

TEST(print_takes_texts_of_any_length)
{
    ARENA_SCOPE Arena *arena = arena_new();
    EXPECT_SLICE(arena_print(arena, "%s-%d", "a", 7), SLICE("a-7"));
    EXPECT_SLICE(arena_print(arena, "%s", ""), SLICE(""));
    EXPECT_I64(arena_print(arena, "%100000d", 1).size, 100000);
}

static void array_over_memory(void)
{
    Arena *arena = arena_new();
    arena_zeroed(arena, SIZE_MAX / 4, 8);
}

TEST(an_array_whose_size_overflows_is_a_bug)
{
    EXPECT(test_is_bug(array_over_memory));
}
