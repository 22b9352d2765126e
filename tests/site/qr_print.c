/* qr_print.c -- a QR code of the bytes on stdin as a picture (PBM, 4 pixels a module) on stdout; for a reader. Exit 1: too long. */
#include <stdio.h>

#include "site/qr.h"

enum { SCALE = 4, BORDER = 4 };

int main(void)
{
    static Qr qr;
    static char text[4096];
    size_t size = fread(text, 1, sizeof text, stdin);
    if (!qr_encode(slice_of(text, size), &qr))
        return 1;
    size_t whole = (qr.side + 2 * (size_t)BORDER) * SCALE;
    printf("P1\n%zu %zu\n", whole, whole);
    for (size_t y = 0; y < whole; y++) {
        for (size_t x = 0; x < whole; x++) {
            size_t row = y / SCALE - BORDER, column = x / SCALE - BORDER; /* wraps in the border */
            bool dark = row < qr.side && column < qr.side && qr.dark[row][column];
            putchar(dark ? '1' : '0');
        }
        putchar('\n');
    }
    return 0;
}
