/* charts.h -- curves as inline SVG, drawn by the server: pure.
 *
 * A picture fills the width it gets and is CHART_HEIGHT high; its lines stretch, its words do not, so it can be read on a phone. It has no
 * colours of its own: classes (.chart, .area, .line, .grid, .mark …) take them from the style sheet, in dark and on paper, too.
 *   1. Axes are honest: votes are measured from zero, ranks from 1 at the top, and days lie as far apart as they are.
 *   2. The first and the last value are written; the others can be reached by keyboard, and are told to screen readers, at
 *      up to CHART_MARKS_MAX points spread over the picture (always the last). All figures belong into a table beside it.
 *   3. Bounded: at most CHART_POINTS_MAX points (CHECK), values are cut at ±CHART_VALUE_MAX. */
#pragma once

#include "base/arena.h"
#include "web/put.h"

enum { CHART_POINTS_MAX = 800, CHART_MARKS_MAX = 62, CHART_HEIGHT = 200 };
#define CHART_VALUE_MAX INT64_C(1000000000000000)

typedef struct ChartPoint {
    int64_t time_us; /* ascending */
    int64_t value;
    bool is_missing; /* there was none: the line has a gap */
} ChartPoint;

typedef struct Chart {
    const char *label; /* what it shows, for those who do not see it */
    const char *one,
        *many;      /* what is counted: "vote", "votes"; of a rank: "rank" before the number */
    bool has_hours; /* points are hours, not days */
    const ChartPoint *points;
    size_t count;
} Chart;

/* The area between zero and the values. */
Markup chart_area(const Chart *chart, Arena *arena);
/* A stepped line of ranks, 1 at the top; a value holds until the next point. */
Markup chart_ranks(const Chart *chart, Arena *arena);
