/* framing.h -- a request as bytes: where its head ends, what its lines say, and the chunks of its body. Pure.
 *
 * There is one way to write a request here, and whatever is written in another way is refused: what a proxy in front of us could
 * read differently can be used to hide a second request in the first (head.h). Promises:
 *   1. Any bytes may come in; nothing is read past their end.
 *   2. A line ends with CR LF and with nothing else. A bare CR or LF, a NUL, a folded line, a space before a colon, a line without a colon:
 *      each is a fault of the head, which head_judge tells.
 *   3. However a body in chunks is cut into pieces on its way, the same bytes come out, and never more than were asked for. */
#pragma once

#include "base/bytes.h"
#include "web/head.h"

/* How many bytes the head at the beginning of `bytes` has, with the empty line behind it; 0: its end is not there yet. The first `looked`
 * of them were searched before. */
size_t framing_head_size(Slice bytes, size_t looked);

/* The first line of a request. */
typedef struct FramingLine {
    Slice method, target; /* as they came; empty when the line cannot be read */
} FramingLine;

/* `bytes` is a whole head, and must live as long as what is returned. The headers go to `head`, and so does the first fault. */
FramingLine framing_read_head(Slice bytes, HttpHead *head, Arena *arena);

/* Where the reader of chunks is; all zeros at the beginning. */
typedef struct FramingChunks {
    int state;
    unsigned digits; /* of the size that is being read */
    unsigned
        beside; /* bytes that are no content: extensions and trailers are thrown away, but not without end */
    uint64_t left; /* of this chunk */
} FramingChunks;

typedef enum FramingStep {
    FRAMING_MORE,      /* all was used, and more is to come */
    FRAMING_DONE,      /* the body is complete; what was not used belongs to the next request */
    FRAMING_BROKEN,    /* these are no chunks */
    FRAMING_TOO_LARGE, /* the body is, or will be, larger than `most` */
} FramingStep;

/* Adds the content of the next bytes to the body. *ret_used: how many of them belong to it. */
FramingStep framing_read_chunks(FramingChunks *chunks, Slice bytes, uint64_t most, Buffer *body,
                                size_t *ret_used);
