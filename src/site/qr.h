/* qr.h -- a short text as a picture that phones read: QR code (ISO/IEC 18004), pure.
 *
 * Byte mode, level M of error correction (15 % may be lost), versions 1 to 20: up to QR_BYTES_MOST bytes, more than an otpauth: link of a site
 * with a sane name needs. The smallest version that holds the text is taken, and of the eight masks the one that readers like best. */
#pragma once

#include "base/arena.h"
#include "web/put.h"

enum { QR_VERSION_MOST = 20, QR_SIDE_MOST = 17 + 4 * QR_VERSION_MOST, QR_BYTES_MOST = 666 };

typedef struct Qr {
    size_t side; /* modules, without the quiet border */
    bool dark[QR_SIDE_MOST][QR_SIDE_MOST];
} Qr;

/* False when the text is too long. */
bool qr_encode(Slice text, Qr *ret_qr);
/* With the border of four modules; `label` is read to who cannot see it. Dark on light in dark mode, too: readers ask for that. */
Markup qr_svg(const Qr *qr, const char *label, Arena *arena);
