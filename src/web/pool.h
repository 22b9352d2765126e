/* pool.h -- threads of their own for handlers that wait or compute for long (WebRoute.threads): saves wait for the disk, passwords
 * take a quarter of a second of a core.
 *
 * Nothing is read from the connection while its request waits and runs here, and it holds none of the few threads that answer all others;
 * and as many saves as a pool has threads share one sync of the disk. Bounded: threads and `queue` together are the most that are here, and whoever comes
 * then is told at once. Requests that share a WebRoute.batch are taken several at a time by one thread: with many savers, waking
 * up a thread for each costs more than saving. One network address has a bounded number of places, where the pool says so.
 * Where addresses have such a bound, networks take turns (the widest that one customer may have: address_networks): the next request is of the network that was served
 * longest ago; when all places are taken, whoever comes gets that of somebody who waits and whose network holds more of them, or as many and was served
 * since; and one of several threads is kept
 * free for networks that were not served within ten seconds. So whoever asks all the time, from a few networks, keeps nobody else waiting.
 * A request belongs to one thread at a time: the one that took its head, then one of these, then the first again, which sends the answer.
 * A client that goes away meanwhile is noticed only when its answer is there. */
#pragma once

#include "base/threads.h"
#include "web/request_private.h"
#include "web/shares.h"

typedef struct Pool Pool;

typedef struct PoolOptions {
    ThreadKind kind;
    unsigned threads, queue;
    unsigned per_address; /* places of one network address (shares.h); 0: as many as there are */
    const AddressRanges *exempt;
    bool yields;    /* its threads have the processor after all others of the process */
    unsigned batch; /* how many requests with the same WebRoute.batch one thread takes at most */
} PoolOptions;

Pool *pool_start(const PoolOptions *options);
/* Takes no more, finishes what it has, and ends its threads; what it has is as much as threads and queue at most. */
void pool_stop(Pool *pool);
/* After pool_stop, when nobody calls pool_take any more. */
void pool_free(Pool *pool);
/* Called by the thread of the request's channel, which gets the channel back by its loop's inbox (loop_give) when the answer is made. Anything but
 * SHARES_TAKEN: there is no room, or none for this address. *ret_displaced: who has lost their place to it, or NULL; the caller refuses them. */
SharesAnswer pool_take(Pool *pool, WebRequest *request, WebRequest **ret_displaced);
