/* qr.h -- a short text as a picture that phones read: a QR code (ISO/IEC 18004), encoded by libqrencode and drawn as SVG.
 *
 * Byte mode, level M of error correction (15 % may be lost), the smallest version that holds the text. The bound keeps the picture at version
 * 20 or below, which a phone still reads from a screen; an otpauth: link of a site with a sane name needs far less. */
#pragma once

#include "base/arena.h"
#include "web/put.h"

enum { QR_BYTES_MAX = 666 };

/* With the border of four modules; screen readers say `label`. Dark on light in dark mode, too: phones expect it. False when the text is empty
 * or longer than QR_BYTES_MAX. */
bool qr_svg(Slice text, const char *label, Arena *arena, Markup *ret_picture);
