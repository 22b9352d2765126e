/* slow.h -- threads of their own for the few routes whose handlers take long (WebRoute.slow: those that compute a password).
 *
 * The connection is suspended while its request waits and runs here, so that it holds none of the threads that answer all others. Bounded:
 * `threads` run at once (the setting password_threads), `queue` wait (password_queue), and whoever comes then is told at once.
 * A request belongs to one thread at a time: the one that took its head, then one of these, then the first again, which sends the answer.
 * A client that goes away meanwhile is noticed only when its answer is there. */
#pragma once

#include "web/request_internal.h"

struct MHD_Connection;
typedef struct Slow Slow;

Slow *slow_start(unsigned threads, unsigned queue);
/* Takes no more, finishes what it has, and ends its threads; what it has is as much as the queue at most. */
void slow_stop(Slow *slow);
/* After slow_stop, when nobody calls slow_take any more. */
void slow_free(Slow *slow);
/* Called by the library's thread, in the handler. True: the connection is suspended, and resumed when answer_make is done and
 * request->is_made. False: there is no room. */
bool slow_take(Slow *slow, WebRequest *request, struct MHD_Connection *mhd);
