/* live_private.h -- what live.c and live_message.c share. */
#pragma once

#include "site/live.h"
#include "site/views.h"

typedef struct LiveMessage {
    Slice figures; /* the JSON object without the time and without its end */
    Slice as_of;
} LiveMessage;

/* NOT_FOUND: a category or party that is not there. */
MUST_USE Status live_message(Site *site, const LiveTopic *topic, Arena *arena,
                             LiveMessage *ret_message);
