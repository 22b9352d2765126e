/* layout.h -- the frame that every page stands in: head, header with mark and name, main, footer. */
#pragma once

#include "web/html.h"

void layout_begin(Buffer *out, Slice title);
void layout_end(Buffer *out);
