/* workloads.h -- all workloads of the simulator, for its table. */
#pragma once

#include "simulator.h"

extern const Workload WORKLOAD_CHAIN;
extern const Workload WORKLOAD_NAMES;
extern const Workload WORKLOAD_PLAIN;
extern const Workload WORKLOAD_VOTES;
