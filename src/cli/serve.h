/* serve.h -- `ostraka serve`: the store, the site and the control socket, from start to a graceful stop. */
#pragma once

#include "cli/command.h"

int serve_run(Context *context);
