/* cluster.h -- a store that is a cluster: from settings to its options, and the commands `cluster init` and `cluster check`. */
#pragma once

#include "cli/command.h"
#include "cli/open.h"

/* Opens the cluster that `config->store` names. */
MUST_USE Status cluster_open(const Config *config, World world, const OpenHow *how,
                             Store **ret_store, Reason *reason);

int run_cluster_init(Context *context);
int run_cluster_check(Context *context);
