/* live.h -- figures that follow the votes: what a page that is open hears.
 *
 * A page names a topic and gets the newest state as JSON at once, then again when it has changed, at most each two seconds
 * (web/events.h). Topics:
 *     front                       {"as_of", "rows": […], "ever": […]}        the two lists of the front page
 *     ranking/DAYS                {"as_of", "rows": [{"id", "rank", "votes", "total"}…]}   the first places; 0 is all time
 *     ranking/DAYS/category/ID    the same within a category
 *     ranking/DAYS/party/ID       or a party
 *     policy/ID                   {"as_of", "id", "total", "recent": PLACE, "ever": PLACE}
 *   PLACE is {"rank", "policies", "votes", "to_beat", "above": NEIGHBOUR, "below": NEIGHBOUR}, without those that are not there;
 *   NEIGHBOUR is {"id", "name", "address", "rank", "votes"}. A policy that is in no ranking has neither "recent" nor "ever".
 * A vote on one policy can change the rank of any other. So every save marks all topics, and a topic whose figures are the same
 * as before sends nothing. */
#pragma once

#include "site/site.h"

typedef struct Live Live;

/* The settings were checked by the server (web_server_check). Must outlive the app's threads. */
Live *live_new(Site *site);
void live_free(Live *live);
/* Closes all streams; after the server has stopped. */
void live_stop(Live *live);
/* Something changed that a topic may tell. Any thread; cheap. */
void live_changed(Live *live);
/* Passes marks on to the events; by the site's own thread, several times a second. */
void live_tick(Live *live);
void live_metrics(Live *live, Buffer *out);

/* ---- Pure, for tests --------------------------------------------------------------------------------------------------- */

typedef enum LiveKind { LIVE_FRONT, LIVE_RANKING, LIVE_POLICY } LiveKind;
typedef struct LiveTopic {
    LiveKind kind;
    RankQuery query; /* of a ranking */
    uint64_t policy;
} LiveTopic;
/* False for a name that is no topic. */
bool live_parse(Slice text, LiveTopic *ret_topic);
