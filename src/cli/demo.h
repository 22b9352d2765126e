/* demo.h -- filling a data directory with a made-up electorate, and what a first start does with it. */
#pragma once

#include "cli/command.h"
#include "cli/demo_crowd.h"

/* Three of a demo's people can log in: `demo` votes, `moderator` and `admin` are what they are called. The rest have no password. */
#define DEMO_VOTER    "demo"
#define DEMO_PASSWORD "ostraka-demo"

/* Into the data directory of the context's settings, which must be new or empty; progress goes to the context's output. */
MUST_USE Status demo_fill(Context *context, const DemoPlan *plan, DemoSummary *ret_summary,
                          Reason *reason);

/* The first start of `serve` on a data directory that is not there yet, on loopback and unless `empty` is set: fills one beside it and puts it in its place
 * when it is whole, so that a start that is cut off leaves nothing in the way of the next one. OK also when there was nothing to do. */
MUST_USE Status demo_first_start(Context *context, Reason *reason);
