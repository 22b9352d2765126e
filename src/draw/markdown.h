/* markdown.h -- what people write, as HTML that cannot harm (cmark in its safe mode: no raw HTML, no script: links).
 *
 * Headings are lowered, so that a text's own "# Title" does not compete with the page's; pictures become links, so that no page
 * asks a stranger's server for anything; links get rel="nofollow ugc noopener". */
#pragma once

#include "base/arena.h"
#include "web/put.h"

Markup markdown_html(Slice text, Arena *arena);
/* The words alone, on one line, at most `most` bytes, cut between words with an ellipsis. */
Slice markdown_words(Slice text, size_t most, Arena *arena);
/* At most `most` bytes of a text, not cut inside a character, if possible between words, with an ellipsis. */
Slice text_cut(Slice text, size_t most, Arena *arena);
