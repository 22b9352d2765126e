/* parts.c -- see parts.h. */
#include "site/parts.h"

enum { SPARK_WIDTH = 60, SPARK_HEIGHT = 16 };

static size_t spark_x(size_t index, size_t count)
{
    return count > 1 ? 1 + index * (SPARK_WIDTH - 4) / (count - 1) : 1;
}

/* Heights count from the largest day; a flat line lies on the ground, and days that lost votes do, too. */
static int64_t spark_y(int64_t value, int64_t top)
{
    double part = value > 0 ? (double)value / (double)top : 0;
    return SPARK_HEIGHT - 2 - (int64_t)(part * (SPARK_HEIGHT - 4));
}

Markup sparkline(const int64_t *days, size_t count, Arena *arena)
{
    BUFFER_SCOPE Buffer out = {0};
    int64_t top = 1;
    for (size_t i = 0; i < count; i++)
        top = days[i] > top ? days[i] : top;
    HTML(&out, "<svg class=\"sparkline\" width=\"60\" height=\"16\" viewBox=\"0 0 60 16\" "
               "aria-hidden=\"true\"><polyline points=\"");
    for (size_t i = 0; i < count; i++)
        buffer_print(&out, "%zu,%lld ", spark_x(i, count), (long long)spark_y(days[i], top));
    HTML(&out, "\"/>");
    if (count > 0)
        buffer_print(&out, "<circle cx=\"%zu\" cy=\"%lld\" r=\"2\"/>", spark_x(count - 1, count),
                     (long long)spark_y(days[count - 1], top));
    HTML(&out, "</svg>");
    return (Markup){arena_copy(arena, buffer_slice(&out))};
}
