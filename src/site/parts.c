/* parts.c -- see parts.h. */
#include "site/parts.h"

enum { SPARK_WIDTH = 60, SPARK_HEIGHT = 16 };

/* Heights count from the largest day; a flat line lies on the ground, and days that lost votes do, too. */
Markup sparkline(const int64_t *days, size_t count, Arena *arena)
{
    BUFFER_SCOPE Buffer out = {0};
    int64_t top = 1;
    for (size_t i = 0; i < count; i++)
        top = days[i] > top ? days[i] : top;
    HTML(&out, "<svg class=\"sparkline\" width=\"60\" height=\"16\" viewBox=\"0 0 60 16\" "
               "aria-hidden=\"true\"><polyline points=\"");
    for (size_t i = 0; i < count; i++) {
        int64_t value = days[i] > 0 ? days[i] : 0;
        size_t x = count > 1 ? i * (SPARK_WIDTH - 2) / (count - 1) + 1 : 1;
        int64_t y = SPARK_HEIGHT - 1 - value * (SPARK_HEIGHT - 2) / top;
        buffer_decimal(&out, (int64_t)x);
        buffer_u8(&out, ',');
        buffer_decimal(&out, y);
        buffer_u8(&out, ' ');
    }
    HTML(&out, "\"/></svg>");
    return (Markup){arena_copy(arena, buffer_slice(&out))};
}
