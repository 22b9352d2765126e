/* journal_listener.h -- the journals for clients of beanstalkd: inside `serve`, and as a process of its own (`ostraka journal serve`). */
#pragma once

#include "beanstalk/beanstalk.h"
#include "cli/command.h"

/* What the settings journal_listen and its like say, beside what the caller fills: journals, world, sockets, lazy; with an App, x-auth takes the
 * personal tokens of its accounts. */
MUST_USE Status journal_listener_start(const Config *config, App *app, BeanstalkOptions options,
                                       BeanstalkServer **ret_server, Reason *reason);

/* `ostraka journal serve`. */
int run_journal_serve(Context *context);
