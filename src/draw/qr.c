/* qr.c -- see qr.h. */
#include "draw/qr.h"

#include <qrencode.h>

enum { BORDER = 4, DARK = 1 /* of a module's bits */ };

bool qr_svg(Slice text, const char *label, Arena *arena, Markup *ret_picture)
{
    if (text.size == 0 || text.size > QR_BYTES_MAX)
        return false;
    BUFFER_SCOPE Buffer out = {0};
    QRcode *code =
        QRcode_encodeData((int)text.size, (const unsigned char *)text.data, 0, QR_ECLEVEL_M);
    CHECK(code != NULL); /* it fits, so only memory could be missing */
    int whole = code->width + 2 * BORDER;
    buffer_print(&out, "<svg class=\"qr\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"", whole,
                 whole);
    html_put_text(&out, label);
    buffer_print(&out, "\"><path fill=\"#fff\" d=\"M0 0h%dv%dH0z\"/><path fill=\"#000\" d=\"",
                 whole, whole);
    /* One path of all runs of dark modules. */
    for (int y = 0; y < code->width; y++)
        for (int x = 0; x < code->width; x++) {
            const unsigned char *row = code->data + (ptrdiff_t)y * code->width;
            int run = 0;
            while (x + run < code->width && (row[x + run] & DARK) != 0)
                run++;
            if (run > 0)
                buffer_print(&out, "M%d %dh%dv1h-%dz", x + BORDER, y + BORDER, run, run);
            x += run;
        }
    buffer_text(&out, "\"/></svg>");
    QRcode_free(code);
    *ret_picture = (Markup){arena_copy(arena, buffer_slice(&out))};
    return true;
}
