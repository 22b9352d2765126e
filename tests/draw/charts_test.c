/* charts_test.c -- curves: honest axes, all of it inside, bounded. */
#include "draw/charts.h"
#include "test.h"

enum { DAY_0 = 20000 };
static const int64_t DAY_US = INT64_C(86400000000);

static bool contains(Slice text, const char *part)
{
    return memmem(text.data, text.size, part, strlen(part)) != NULL;
}

static size_t count_of(Slice text, const char *part)
{
    size_t count = 0;
    for (const char *at = text.data;
         (at = memmem(at, text.size - (size_t)(at - text.data), part, strlen(part))) != NULL; at++)
        count++;
    return count;
}

/* A drawing of values on consecutive days from 4 October 2024; -99 is a gap. */
static Slice drawing(const int64_t *values, size_t count, bool ranks, Arena *arena)
{
    ChartPoint *points = ARENA_ARRAY(arena, count, ChartPoint);
    for (size_t i = 0; i < count; i++)
        points[i] = (ChartPoint){(DAY_0 + (int64_t)i) * DAY_US, values[i], values[i] == -99};
    Chart chart = {.label = ranks ? "Rank by day" : "Votes by day",
                   .one = ranks ? "rank" : "vote",
                   .many = "votes",
                   .points = points,
                   .count = count};
    return (ranks ? chart_ranks(&chart, arena) : chart_area(&chart, arena)).html;
}

TEST(votes_are_measured_from_zero)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Slice svg = drawing((int64_t[]){100, 110, 120}, 3, false, arena);
    /* the grid goes to 150: 100 is at two thirds, 120 at four fifths */
    EXPECT(contains(svg, "M0 334L5000 267L10000 200"));
    EXPECT(contains(svg, "M0 1000L0 334L5000 267L10000 200L10000 1000Z"));
    EXPECT(contains(svg, "grid zero"));
}

TEST(losses_lie_below_zero)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Slice svg = drawing((int64_t[]){-5, 5}, 2, false, arena);
    EXPECT(contains(svg, "M0 500L0 1000L10000 0L10000 500Z"));
    EXPECT(contains(svg, "4 October: \u22125 votes"));
}

TEST(rank_1_is_at_the_top_and_holds_until_the_next)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Slice svg = drawing((int64_t[]){5, 1, 3}, 3, true, arena);
    EXPECT(contains(svg, "M0 800H5000V0H10000V400"));
    EXPECT(!contains(svg, "class=\"area\""));
}

TEST(a_gap_breaks_the_line)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Slice svg = drawing((int64_t[]){-99, 2, 1, -99, 2}, 5, true, arena);
    EXPECT(contains(svg, "d=\"M2500 1000H5000V0M10000 1000h0\""));
    EXPECT(contains(svg, "4 October: none"));
    EXPECT_I64(count_of(svg, "<circle"), 3);
}

TEST(first_and_last_value_are_written)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Slice svg = drawing((int64_t[]){1, 7, 12345}, 3, false, arena);
    EXPECT(contains(svg, "class=\"first\" x=\"0\" y=\"188\">4 October: 1 vote</text>"));
    EXPECT(contains(svg, "text-anchor=\"end\">6 October: 12\u202f345 votes</text>"));
    svg = drawing((int64_t[]){4, 2}, 2, true, arena);
    EXPECT(contains(svg, ">5 October: rank 2</text>"));
}

TEST(marks_can_be_reached_and_say_what_they_are)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Slice svg = drawing((int64_t[]){3, 4, 5}, 3, false, arena);
    EXPECT_I64(count_of(svg, "tabindex=\"0\" role=\"img\"><title>"), 3);
    EXPECT(contains(svg, "<title>5 October: 4 votes</title>"));
    EXPECT(contains(svg, "cx=\"50.00%\""));
    EXPECT(contains(svg, "cx=\"2.00%\""));
    EXPECT(contains(svg, "cx=\"98.00%\""));
}

TEST(nothing_and_one_point)
{
    ARENA_SCOPE Arena *arena = arena_new();
    EXPECT_I64(drawing(NULL, 0, false, arena).size, 0);
    Slice svg = drawing((int64_t[]){3}, 1, false, arena);
    EXPECT_I64(count_of(svg, ">4 October: 3 votes</text>"), 2);
    EXPECT(contains(svg, "cx=\"50.00%\""));
    EXPECT(contains(drawing((int64_t[]){1}, 1, true, arena), "M5000 0h0"));
}

TEST(many_points_have_few_marks_and_the_last_is_one)
{
    ARENA_SCOPE Arena *arena = arena_new();
    int64_t *values = ARENA_ARRAY(arena, CHART_POINTS_MAX, int64_t);
    for (int64_t i = 0; i < CHART_POINTS_MAX; i++)
        values[i] = i * i;
    Slice svg = drawing(values, CHART_POINTS_MAX, false, arena);
    EXPECT(count_of(svg, "class=\"mark\"") <= CHART_MARKS_MAX);
    EXPECT(count_of(svg, "class=\"mark\"") > CHART_MARKS_MAX / 2);
    EXPECT(contains(svg, "638\u202f401 votes</title>"));
    EXPECT(svg.size < 60000);
}

TEST(values_beyond_all_bounds_stay_inside)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Slice svg = drawing((int64_t[]){INT64_MAX, INT64_MIN, 0}, 3, false, arena);
    EXPECT(contains(svg, "M0 "));
    for (const char *at = svg.data;
         (at = memmem(at, svg.size - (size_t)(at - svg.data), " y1=\"", 5)); at++) {
        long y = strtol(at + 5, NULL, 10);
        EXPECT(y >= 28 && y <= 164);
    }
}

TEST(a_label_cannot_become_markup)
{
    ARENA_SCOPE Arena *arena = arena_new();
    ChartPoint point = {0};
    Chart chart = {
        .label = "\"><script>", .one = "<b>", .many = "<b>", .points = &point, .count = 1};
    Slice svg = chart_area(&chart, arena).html;
    EXPECT(!contains(svg, "<script") && !contains(svg, "<b>"));
}

static void draw_too_many(void)
{
    static ChartPoint points[CHART_POINTS_MAX + 1];
    Chart chart = {
        .label = "", .one = "", .many = "", .points = points, .count = CHART_POINTS_MAX + 1};
    chart_area(&chart, arena_new());
}

TEST(more_points_than_allowed_are_a_bug)
{
    EXPECT(test_is_bug(draw_too_many));
}
