/* diff_test.c -- what changed between two texts. */
#include <stdlib.h>
#include <time.h>

#include "base/bytes.h"
#include "draw/diff.h"
#include "test.h"

/* "a[-b-]{+c+}d", with ~N~ for N lines that were left out. */
static Slice drawn(const Diff *diff, Arena *arena)
{
    static const char *const AROUND[][2] = {
        [DIFF_SAME] = {"", ""}, [DIFF_REMOVED] = {"[-", "-]"}, [DIFF_ADDED] = {"{+", "+}"}};
    BUFFER_SCOPE Buffer out = {0};
    for (size_t i = 0; i < diff->count; i++) {
        const DiffPart *part = &diff->parts[i];
        if (part->kind == DIFF_SKIPPED) {
            buffer_print(&out, "~%zu~", part->lines);
            continue;
        }
        buffer_text(&out, AROUND[part->kind][0]);
        buffer_bytes(&out, part->text);
        buffer_text(&out, AROUND[part->kind][1]);
    }
    return arena_copy(arena, buffer_slice(&out));
}

/* Promise 1. */
static void expect_whole(const Diff *diff, Slice before, Slice after)
{
    BUFFER_SCOPE Buffer old = {0}, new = {0};
    for (size_t i = 0; i < diff->count; i++) {
        const DiffPart *part = &diff->parts[i];
        EXPECT(part->text.size > 0);
        if (part->kind != DIFF_ADDED)
            buffer_bytes(&old, part->text);
        if (part->kind != DIFF_REMOVED)
            buffer_bytes(&new, part->text);
    }
    EXPECT_SLICE(buffer_slice(&old), before);
    EXPECT_SLICE(buffer_slice(&new), after);
}

static void expect_diff(const char *before, const char *after, const char *expected)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Diff diff = diff_texts(slice_from(before), slice_from(after), arena);
    EXPECT_SLICE(drawn(&diff, arena), slice_from(expected));
    expect_whole(&diff, slice_from(before), slice_from(after));
    EXPECT(diff.is_same == (strcmp(before, after) == 0));
}

TEST(the_same_text_is_one_part)
{
    expect_diff("One.\nTwo.\n", "One.\nTwo.\n", "One.\nTwo.\n");
    expect_diff("", "", "");
}

TEST(a_changed_word_is_a_changed_word)
{
    expect_diff("Rivers are clean today.", "Rivers are dirty today.",
                "Rivers are [-clean-]{+dirty+} today.");
    expect_diff("Rivers are clean", "Rivers are clean.", "Rivers are clean{+.+}");
    expect_diff("It costs 100 pollies.", "It costs pollies.", "It costs [-100 -]pollies.");
}

TEST(lines_are_added_and_removed_whole)
{
    expect_diff("a\nb\nc\n", "a\nc\n", "a\n[-b\n-]c\n");
    expect_diff("a\nc\n", "a\nb\nc\n", "a\n{+b\n+}c\n");
    expect_diff("", "new text", "{+new text+}");
    expect_diff("old text", "", "[-old text-]");
}

TEST(changed_neighbours_are_one_change)
{
    expect_diff("We plant one old tree in each street of the town.",
                "We plant two young tree in each street of the town.",
                "We plant [-one old-]{+two young+} tree in each street of the town.");
}

TEST(another_sentence_replaces_the_whole_one)
{
    expect_diff("first\nThe quick fox runs.\nlast\n", "first\nThe end of all things.\nlast\n",
                "first\n[-The quick fox runs.\n-]{+The end of all things.\n+}last\n");
}

TEST(characters_of_several_bytes_are_not_cut)
{
    expect_diff("Für Bäume und Büsche sind wir", "Für Bäche und Büsche sind wir",
                "Für [-Bäume-]{+Bäche+} und Büsche sind wir");
    expect_diff("我们要干净的河流", "我们要干净的森林", "我们要干净的[-河流-]{+森林+}");
}

TEST(lines_far_from_a_change_are_left_out)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Diff diff = diff_texts(SLICE("1\n2\n3\n4\n5\n6\n7\n8\n9\n"),
                           SLICE("1\n2\n3\n4\nfive\n6\n7\n8\n9\n"), arena);
    Diff shorter = diff_shorten(&diff, 1, arena);
    EXPECT_SLICE(drawn(&shorter, arena), SLICE("~3~4\n[-5\n-]{+five\n+}6\n~3~"));
    Diff same = diff_texts(SLICE("1\n2\n3\n"), SLICE("1\n2\n3\n"), arena);
    Diff nothing = diff_shorten(&same, 1, arena);
    EXPECT_SLICE(drawn(&nothing, arena), SLICE("~3~"));
}

TEST(a_change_within_a_line_keeps_that_line)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Diff diff = diff_texts(SLICE("1\n2\n3\nwe like old trees here\n5\n6\n7\n"),
                           SLICE("1\n2\n3\nwe like new trees here\n5\n6\n7\n"), arena);
    Diff shorter = diff_shorten(&diff, 1, arena);
    EXPECT_SLICE(drawn(&shorter, arena), SLICE("~2~3\nwe like [-old-]{+new+} trees here\n5\n~2~"));
}

static Slice random_text(unsigned *seed, size_t pieces, Arena *arena)
{
    static const char *const WORDS[] = {"a",  "b", "clean", "rivers", " ",
                                        "\n", ".", "ä",     "河",     "\xff"};
    BUFFER_SCOPE Buffer text = {0};
    for (size_t i = 0; i < pieces; i++) {
        *seed = *seed * 1103515245u + 12345u;
        buffer_text(&text, WORDS[(*seed >> 16) % 10]);
    }
    return arena_copy(arena, buffer_slice(&text));
}

TEST(the_parts_are_the_texts_whatever_they_are)
{
    ARENA_SCOPE Arena *arena = arena_new();
    unsigned seed = 7;
    for (int i = 0; i < 2000; i++) {
        arena_reset(arena);
        Slice before = random_text(&seed, seed >> 16 & 63, arena);
        Slice after = random_text(&seed, seed >> 16 & 63, arena);
        Diff diff = diff_texts(before, after, arena);
        expect_whole(&diff, before, after);
        Diff shorter = diff_shorten(&diff, (size_t)i % 3, arena);
        expect_whole(&shorter, before, after);
    }
}

/* Seconds of the processor. */
static double time_of_diff(Slice before, Slice after, bool *ret_coarse)
{
    ARENA_SCOPE Arena *arena = arena_new();
    clock_t begin = clock();
    Diff diff = diff_texts(before, after, arena);
    expect_whole(&diff, before, after);
    *ret_coarse = diff.is_coarse;
    return (double)(clock() - begin) / CLOCKS_PER_SEC;
}

enum { LONGEST = 20000 };

static Slice repeated(const char *even, const char *odd, size_t step, Arena *arena)
{
    BUFFER_SCOPE Buffer text = {0};
    for (size_t i = 0; text.size < LONGEST; i++)
        buffer_text(&text, i % step == 0 ? odd : even);
    return arena_copy(arena, slice_of(text.data, LONGEST));
}

/* The worst: words without end that nearly fit each other. A second is far more than it takes, also with sanitizers. */
TEST(the_longest_texts_take_bounded_time)
{
    ARENA_SCOPE Arena *arena = arena_new();
    static const struct {
        const char *even, *odd;
        size_t step;
    } KINDS[] = {{".", ",", 7}, {".", ";", 3}, {"\n", ".\n", 5}, {"ab ", "c ", 2}, {"x", " ", 50}};
    bool coarse, any_coarse = false;
    for (size_t i = 0; i < 5; i++) {
        Slice before = repeated(KINDS[i].even, KINDS[i].odd, KINDS[i].step, arena);
        for (size_t k = 0; k < 5; k++) {
            Slice after = repeated(KINDS[k].even, KINDS[k].odd, KINDS[k].step + 1, arena);
            EXPECT(time_of_diff(before, after, &coarse) < 3.0);
            any_coarse |= coarse;
        }
    }
    EXPECT(any_coarse);
}
