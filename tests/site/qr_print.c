/* qr_print.c -- the bytes on stdin as the picture that pages show (SVG) on stdout; for test_qr.py. Exit 1: too long, or empty. */
#include <stdio.h>

#include "draw/qr.h"

int main(void)
{
    ARENA_SCOPE Arena *arena = arena_new();
    static char text[4096];
    Markup picture;
    if (!qr_svg(slice_of(text, fread(text, 1, sizeof text, stdin)), "a \"code\"", arena, &picture))
        return 1;
    fwrite(picture.html.data, 1, picture.html.size, stdout);
    return 0;
}
