/* charts.c -- see charts.h.
 *
 * The words of the scale stand left of the picture, in a padding of the root that the style sheet gives it by how wide they are. The
 * root has no viewBox: across, things stand at percents of the width; down, at pixels. Only the lines are in a picture of
 * their own that is stretched (preserveAspectRatio="none"), with strokes that are not (vector-effect, in the style sheet). */
#include "draw/charts.h"

#include "base/time_text.h"
#include "base/world.h"

enum {
    TOP = 28, /* above it: what the mark with the focus says */
    PLOT = 136,
    AXIS = CHART_HEIGHT - 12, /* base line of the words below */
    TIP = 16,
    ACROSS = 10000, /* units of the stretched picture */
    DOWN = 1000,
    MARGIN = 200, /* hundredths of a percent left and right, so that marks at the edge are whole */
    GRID_LINES = 3,
};

typedef struct Scale {
    int64_t low, high,
        step;     /* values at the bottom and at the top, and between two lines of the grid */
    bool is_rank; /* turned: the lowest at the top */
    int64_t from_s, to_s;
} Scale;

/* ---- Where things are ------------------------------------------------------------------------------------------------- */

static int64_t bounded(int64_t value)
{
    return value > CHART_VALUE_MAX    ? CHART_VALUE_MAX
           : value < -CHART_VALUE_MAX ? -CHART_VALUE_MAX
                                      : value;
}

/* 1, 2, 5, 10, 20, … so that GRID_LINES steps span the range. */
static int64_t nice_step(int64_t range)
{
    static const int64_t FIRST[] = {1, 2, 5};
    for (int64_t ten = 1;; ten *= 10)
        for (size_t i = 0; i < 3; i++)
            if (FIRST[i] * ten * GRID_LINES >= range)
                return FIRST[i] * ten;
}

/* A multiple of the step that is not nearer to zero. */
static int64_t round_away(int64_t value, int64_t step)
{
    int64_t steps = value / step;
    return value % step == 0 ? value : (value < 0 ? steps - 1 : steps + 1) * step;
}

static Scale scale_of(const Chart *chart, bool is_rank)
{
    Scale scale = {.low = is_rank ? 1 : 0, .high = 1, .is_rank = is_rank};
    for (size_t i = 0; i < chart->count; i++) {
        int64_t value = bounded(chart->points[i].value);
        if (chart->points[i].is_missing)
            continue;
        scale.high = value > scale.high ? value : scale.high;
        scale.low = value < scale.low ? value : scale.low;
    }
    scale.step = nice_step(scale.high - scale.low);
    scale.high = round_away(scale.high, scale.step);
    if (is_rank)
        scale.high = scale.high < 2 ? 2 : scale.high;
    else
        scale.low = round_away(scale.low, scale.step);
    if (chart->count > 0) {
        scale.from_s = chart->points[0].time_us / US_PER_S;
        scale.to_s = chart->points[chart->count - 1].time_us / US_PER_S;
    }
    return scale;
}

/* Of `units` that the picture is wide. One point alone stands in the middle. */
static int64_t across(const Scale *scale, int64_t time_us, int64_t units)
{
    int64_t range_s = scale->to_s - scale->from_s;
    return range_s == 0 ? units / 2 : (time_us / US_PER_S - scale->from_s) * units / range_s;
}

static int64_t down(const Scale *scale, int64_t value, int64_t units)
{
    int64_t from_low = (bounded(value) - scale->low) * units / (scale->high - scale->low);
    return scale->is_rank ? from_low : units - from_low;
}

/* ---- Words ------------------------------------------------------------------------------------------------------------ */

/* "3 March: 12 votes", "3 March: rank 5". */
static void put_point(Buffer *out, const Chart *chart, const Scale *scale, size_t index)
{
    const ChartPoint *point = &chart->points[index];
    Utc utc = utc_of(point->time_us);
    buffer_print(out, "%d %s", utc.day, month_name(utc.month));
    if (chart->has_hours)
        buffer_print(out, ", %02d:%02d", utc.hour, utc.minute);
    if (point->is_missing) {
        HTML(out, ": none");
        return;
    }
    HTML(out, ": ");
    if (scale->is_rank) {
        html_put_text(out, chart->one);
        buffer_u8(out, ' ');
    }
    html_number(out, point->value);
    if (!scale->is_rank) {
        buffer_u8(out, ' ');
        html_put_text(out, point->value == 1 ? chart->one : chart->many);
    }
}

/* ---- Parts of the picture --------------------------------------------------------------------------------------------- */

/* x="12.34%": hundredths of a percent, from where a point lies between the margins. */
static void put_percent(Buffer *out, const char *name, int64_t hundredths)
{
    buffer_print(out, " %s=\"%lld.%02lld%%\"", name, (long long)(hundredths / 100),
                 (long long)(hundredths % 100));
}

static int64_t percent_of(const Scale *scale, int64_t time_us)
{
    return MARGIN + across(scale, time_us, 10000 - 2 * MARGIN);
}

static void put_grid_line(Buffer *out, const Scale *scale, int64_t value)
{
    long long y = TOP + down(scale, value, PLOT);
    buffer_print(out, "<line class=\"grid%s\" x1=\"0\" x2=\"100%%\" y1=\"%lld\" y2=\"%lld\"/>",
                 value == 0 ? " zero" : "", y, y);
    buffer_print(out, "<text class=\"scale\" x=\"-8\" y=\"%lld\" text-anchor=\"end\">", y + 4);
    html_number(out, value);
    HTML(out, "</text>");
}

/* Ranks have lines at 1 and at multiples of the step. */
static void put_grid(Buffer *out, const Scale *scale)
{
    HTML(out, "<g aria-hidden=\"true\">");
    if (scale->is_rank)
        put_grid_line(out, scale, 1);
    for (int64_t value = scale->is_rank ? scale->step : scale->low; value <= scale->high;
         value += scale->step)
        if (!scale->is_rank || (value > 1 && 2 * (value - 1) > scale->step))
            put_grid_line(out, scale, value);
    HTML(out, "</g>");
}

static void put_ends(Buffer *out, const Chart *chart, const Scale *scale)
{
    buffer_print(out, "<g aria-hidden=\"true\"><text class=\"first\" x=\"0\" y=\"%d\">", AXIS);
    if (chart->count > 1) {
        put_point(out, chart, scale, 0);
        buffer_print(out, "</text><text class=\"last\" x=\"100%%\" y=\"%d\" text-anchor=\"end\">",
                     AXIS);
    }
    put_point(out, chart, scale, chart->count - 1);
    HTML(out, "</text></g>");
}

/* A mark stands for `stride` points: the place that reacts to a pointer reaches to the neighbours. */
static void put_mark(Buffer *out, const Chart *chart, const Scale *scale, size_t index,
                     int64_t width)
{
    static const char *const ANCHORS[] = {"start", "middle", "end"};
    const ChartPoint *point = &chart->points[index];
    int64_t at = percent_of(scale, point->time_us);
    int64_t from = at - width / 2 < 0 ? 0 : at - width / 2;
    HTML(out, "<g class=\"mark\" tabindex=\"0\" role=\"img\"><title>");
    put_point(out, chart, scale, index);
    buffer_print(out, "</title><rect y=\"%d\" height=\"%d\"", TOP, PLOT);
    put_percent(out, "x", from);
    put_percent(out, "width", from + width > 10000 ? 10000 - from : width);
    HTML(out, "/>");
    if (!point->is_missing) {
        HTML(out, "<circle r=\"4\"");
        put_percent(out, "cx", at);
        buffer_print(out, " cy=\"%lld\"/>", (long long)(TOP + down(scale, point->value, PLOT)));
    }
    buffer_print(out, "<text y=\"%d\" text-anchor=\"%s\"", TIP, ANCHORS[at * 3 / 10001]);
    put_percent(out, "x", at);
    HTML(out, ">");
    put_point(out, chart, scale, index);
    HTML(out, "</text></g>");
}

static void put_marks(Buffer *out, const Chart *chart, const Scale *scale)
{
    size_t stride = (chart->count + CHART_MARKS_MAX - 1) / CHART_MARKS_MAX;
    size_t marks = (chart->count + stride - 1) / stride;
    for (size_t i = (chart->count - 1) % stride; i < chart->count; i += stride)
        put_mark(out, chart, scale, i, 10000 / (int64_t)marks);
}

/* ---- Lines ------------------------------------------------------------------------------------------------------------ */

static void put_xy(Buffer *out, char letter, int64_t x, int64_t y)
{
    buffer_u8(out, (uint8_t)letter);
    buffer_decimal(out, x);
    buffer_u8(out, ' ');
    buffer_decimal(out, y);
}

/* A line of no length: with round ends it is a dot. */
static void put_dot(Buffer *out, size_t from, size_t to)
{
    if (to == from + 1)
        buffer_text(out, "h0");
}

/* Runs of points without a gap, one after the other; a run is [from, to). */
static bool next_run(const Chart *chart, size_t *from, size_t *to)
{
    *from = *to;
    while (*from < chart->count && chart->points[*from].is_missing)
        (*from)++;
    *to = *from;
    while (*to < chart->count && !chart->points[*to].is_missing)
        (*to)++;
    return *to > *from;
}

static void put_straight(Buffer *out, const Chart *chart, const Scale *scale, bool is_closed)
{
    int64_t zero = down(scale, 0, DOWN);
    for (size_t from = 0, to = 0; next_run(chart, &from, &to);) {
        for (size_t i = from; i < to; i++) {
            int64_t x = across(scale, chart->points[i].time_us, ACROSS);
            if (is_closed && i == from)
                put_xy(out, 'M', x, zero);
            put_xy(out, i == from && !is_closed ? 'M' : 'L', x,
                   down(scale, chart->points[i].value, DOWN));
            if (is_closed && i + 1 == to) {
                put_xy(out, 'L', x, zero);
                buffer_u8(out, 'Z');
            }
        }
        if (!is_closed)
            put_dot(out, from, to);
    }
}

static void put_stepped(Buffer *out, const Chart *chart, const Scale *scale)
{
    for (size_t from = 0, to = 0; next_run(chart, &from, &to);) {
        for (size_t i = from; i < to; i++) {
            int64_t x = across(scale, chart->points[i].time_us, ACROSS);
            int64_t y = down(scale, chart->points[i].value, DOWN);
            if (i == from)
                put_xy(out, 'M', x, y);
            else
                buffer_print(out, "H%lldV%lld", (long long)x, (long long)y);
        }
        put_dot(out, from, to);
    }
}

static void put_lines(Buffer *out, const Chart *chart, const Scale *scale)
{
    buffer_print(out, "<svg x=\"%d%%\" y=\"%d\" width=\"%d%%\" height=\"%d\" ", MARGIN / 100, TOP,
                 100 - 2 * MARGIN / 100, PLOT);
    buffer_print(out, "viewBox=\"0 0 %d %d\" preserveAspectRatio=\"none\" aria-hidden=\"true\">",
                 ACROSS, DOWN);
    if (!scale->is_rank) {
        HTML(out, "<path class=\"area\" d=\"");
        put_straight(out, chart, scale, true);
        HTML(out, "\"/>");
    }
    HTML(out, "<path class=\"line\" d=\"");
    if (scale->is_rank)
        put_stepped(out, chart, scale);
    else
        put_straight(out, chart, scale, false);
    HTML(out, "\"/></svg>");
}

/* How much room the words of the scale need: those of up to 999, of up to 99 999, and longer ones; a minus sign is one more. */
static const char *gutter_of(const Scale *scale)
{
    static const struct {
        int64_t least, most;
        const char *name;
    } GUTTERS[] = {{-99, 999, "small"}, {-9999, 99999, "middle"}};
    for (size_t i = 0; i < sizeof GUTTERS / sizeof GUTTERS[0]; i++)
        if (scale->low >= GUTTERS[i].least && scale->high <= GUTTERS[i].most)
            return GUTTERS[i].name;
    return "large";
}

static Markup draw(const Chart *chart, bool is_rank, Arena *arena)
{
    BUFFER_SCOPE Buffer out = {0};
    CHECK(chart->count <= CHART_POINTS_MAX);
    if (chart->count == 0)
        return (Markup){SLICE_EMPTY};
    Scale scale = scale_of(chart, is_rank);
    buffer_print(&out,
                 "<svg class=\"chart %s gutter-%s\" width=\"100%%\" height=\"%d\" role=\"group\" ",
                 is_rank ? "ranks" : "votes", gutter_of(&scale), CHART_HEIGHT);
    HTML(&out, "aria-label=\"");
    html_put_text(&out, chart->label);
    HTML(&out, "\">");
    put_grid(&out, &scale);
    put_lines(&out, chart, &scale);
    put_ends(&out, chart, &scale);
    put_marks(&out, chart, &scale);
    HTML(&out, "</svg>");
    return (Markup){arena_copy(arena, buffer_slice(&out))};
}

Markup chart_area(const Chart *chart, Arena *arena)
{
    return draw(chart, false, arena);
}

Markup chart_ranks(const Chart *chart, Arena *arena)
{
    return draw(chart, true, arena);
}
