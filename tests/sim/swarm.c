/* swarm.c -- which faults a run has and how strong they are (swarm.h). */
#include "swarm.h"

/* From the first to the last, each doubling as likely; most in seconds. */
typedef struct Strength {
    SimFault fault;
    uint32_t rate_min, rate_max;
    int64_t most_least_ms, most_most_ms;
} Strength;

enum { MINUTE_MS = 60 * 1000, HOUR_MS = 60 * MINUTE_MS, DAY_MS = 24 * HOUR_MS };

static const Strength STRENGTHS[] = {
    {SIM_DROP, 1000, 200000, 1, 1},
    {SIM_ANSWER, 1000, 200000, 1, 1},
    {SIM_SLOW, 1000, 100000, 100, 6 * HOUR_MS},
    {SIM_TWICE, 1000, 100000, 1000, 12 * HOUR_MS},
    {SIM_HINT, 10000, 1000000, 1, 1},
    {SIM_OUTAGE, 10000, 500000, MINUTE_MS, 3 * DAY_MS},
    {SIM_NODE_SKEW, 1000000, 1000000, 10, 5 * MINUTE_MS},
    {SIM_SKEW, 1000000, 1000000, 10, 5 * MINUTE_MS},
    {SIM_DEATH, 100, 10000, 1, 1},
    {SIM_SILENCE, 100, 10000, 1, 1},
    {SIM_STALL, 100, 20000, 1000, 6 * HOUR_MS},
    {SIM_TARGETED, 100, 10000, 10 * MINUTE_MS, 2 * DAY_MS},
    {SIM_LATE, 1000, 100000, 5 * MINUTE_MS, 9 * DAY_MS},
    {SIM_BUSY, 10000, 500000, 1, 1},
    {SIM_UNMET, 250000, 990000, 1, 1},
    {SIM_UNSPREAD, 10000, 500000, 1000, HOUR_MS},
    {SIM_STEP, 100, 20000, 10, 5 * MINUTE_MS},
    {SIM_SUSPEND, 100, 10000, 1000, 12 * HOUR_MS},
    {SIM_DISK, 100, 20000, 1000, HOUR_MS},
    {SIM_POWER, 100, 10000, 1, 1},
};

uint64_t swarm_draw(uint64_t *luck)
{
    uint64_t number = *luck += UINT64_C(0x9E3779B97F4A7C15);
    number = (number ^ number >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    number = (number ^ number >> 27) * UINT64_C(0x94D049BB133111EB);
    return number ^ number >> 31;
}

static int64_t log_uniform(uint64_t *luck, int64_t least, int64_t most)
{
    int doublings = 0;
    while (least << (doublings + 1) <= most)
        doublings++;
    int64_t from = least << (swarm_draw(luck) % (uint64_t)(doublings + 1));
    int64_t number = from + (int64_t)(swarm_draw(luck) % (uint64_t)from);
    return number < most ? number : most;
}

/* Half of the faults are on: a run with all of them hides what two of them alone would show. */
SimSwarm swarm_of(uint64_t *luck)
{
    SimSwarm swarm = {0};
    for (size_t i = 0; i < sizeof STRENGTHS / sizeof STRENGTHS[0]; i++) {
        const Strength *strength = &STRENGTHS[i];
        uint32_t rate = (uint32_t)log_uniform(luck, strength->rate_min, strength->rate_max);
        int64_t most_ms = log_uniform(luck, strength->most_least_ms, strength->most_most_ms);
        if (swarm_draw(luck) % 2 == 0)
            swarm.rate[strength->fault] = rate;
        swarm.most_us[strength->fault] = most_ms * US_PER_MS;
    }
    return swarm;
}
