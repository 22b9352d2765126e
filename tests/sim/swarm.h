/* swarm.h -- which faults a run has and how strong they are, drawn from its seed. */
#pragma once

#include "store/sim/world.h"

/* The next number of a sequence that `luck` begins and keeps. */
uint64_t swarm_draw(uint64_t *luck);
SimSwarm swarm_of(uint64_t *luck);
