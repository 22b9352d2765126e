/* cluster.c -- see sim.h: the machines, what happens to them by themselves, and the way in. */
#include "store/sim/cluster.h"

#include <stdio.h>
#include <stdlib.h>

#define HOUR_US (3600 * US_PER_S)
enum { CHORE_HOURS = 6, OUTAGE_LEAST_S = 30 };

int nodes_up(const Sim *sim)
{
    int up = 0;
    for (int node = 0; node < SIM_NODES; node++)
        up += node_up(sim, node);
    return up;
}

void node_fail(Sim *sim, int node, int64_t for_us)
{
    int64_t until_us = later_us(sim, for_us);
    if (until_us > sim->nodes[node].up_at_us)
        sim->nodes[node].up_at_us = until_us;
}

int64_t node_now_us(const Sim *sim, int node)
{
    if (sim->options.clock.now_us != NULL)
        return clock_now_us(sim->options.clock);
    return sim_world_start_us(sim->world) + sim_world_now_us(sim->world) + sim->nodes[node].skew_us;
}

/* ---- Repair and compaction ------------------------------------------------------------------------------- */

/* The same versions: nothing of the one would change the other. Of most rows all copies are so. */
static bool are_same(const Cells *a, const Cells *b)
{
    return a->count == b->count &&
           (a->count == 0 || memcmp(a->items, b->items, a->count * sizeof(Version *)) == 0);
}

static void repair_row(Sim *sim, Row *row)
{
    for (int from = 0; from < SIM_COPIES; from++) {
        for (int to = 0; to < SIM_NODES; to++) {
            int64_t now_us = node_now_us(sim, to);
            if (are_same(&row->copies[from], &row->copies[to]))
                continue;
            for (size_t i = 0; i < row->copies[from].count; i++) {
                Version *version = row->copies[from].items[i];
                if (!version_forgotten(version, now_us, sim->options.grace_s * US_PER_S))
                    cells_apply(&row->copies[to], version, now_us);
            }
        }
    }
}

void sim_repair(Sim *sim)
{
    for (size_t i = 0; i < sim->rows.count; i++)
        repair_row(sim, sim->rows.all[i]);
    sim->repaired_us = sim_world_now_us(sim->world);
}

static void compact_node(Sim *sim, int node)
{
    int64_t now_us = node_now_us(sim, node), grace_us = sim->options.grace_s * US_PER_S;
    for (size_t i = 0; i < sim->rows.count; i++) {
        cells_compact(&sim->rows.all[i]->copies[node], now_us, grace_us);
        if (node == 0)
            cells_compact(&sim->rows.all[i]->copies[SIM_DECIDED], now_us, grace_us);
    }
}

void sim_compact(Sim *sim)
{
    for (int node = 0; node < SIM_NODES; node++)
        compact_node(sim, node);
}

/* ---- What happens by itself ------------------------------------------------------------------------------ */

/* Comes again and again: every six hours for each machine, and one for the full repair. */
typedef struct Chore {
    SimEvent event;
    Sim *sim;
    int node;
} Chore;

static void chore_drop(SimEvent *event)
{
    free(event);
}

/* What is old enough to be forgotten was there at the last full repair, so everybody knows it. */
static bool may_forget(const Sim *sim)
{
    return sim_world_now_us(sim->world) - sim->repaired_us < sim->options.grace_s * US_PER_S;
}

static void node_chore(SimEvent *event)
{
    Chore *chore = (Chore *)event;
    Sim *sim = chore->sim;
    SimKey *key = &chore->event.key;
    if (sim_fires(sim->world, SIM_OUTAGE, *key, NULL))
        node_fail(sim, chore->node,
                  sim_span_us(sim->world, SIM_OUTAGE, *key, OUTAGE_LEAST_S * US_PER_S));
    if (key->call % 4 == 0 && may_forget(sim))
        compact_node(sim, chore->node);
    key->call++;
    sim_schedule(sim->world, later_us(sim, CHORE_HOURS * HOUR_US), event);
}

/* An operator repairs when all machines are there, and tries again soon when not. */
static void repair_chore(SimEvent *event)
{
    Chore *chore = (Chore *)event;
    Sim *sim = chore->sim;
    bool possible = nodes_up(sim) == SIM_NODES;
    if (possible)
        sim_repair(sim);
    chore->event.key.call++;
    sim_schedule(sim->world,
                 later_us(sim, possible ? sim->options.repair_every_s * US_PER_S : HOUR_US), event);
}

static void start_chore(Sim *sim, void (*run)(SimEvent *event), int node, int64_t within_us)
{
    Chore *chore = calloc(1, sizeof *chore);
    CHECK(chore != NULL);
    *chore = (Chore){{run, chore_drop, {node_who(node), 1, 0}}, sim, node};
    int64_t phase_us = sim_draw_between(sim->world, DRAW_PHASE, chore->event.key, 1, within_us);
    sim_schedule(sim->world, phase_us, &chore->event);
}

static void start_node(Sim *sim, int node)
{
    SimKey key = {node_who(node), 0, 0};
    if (sim_fires(sim->world, SIM_NODE_SKEW, key, NULL)) {
        int64_t skew_us = sim_span_us(sim->world, SIM_NODE_SKEW, key, US_PER_MS);
        sim->nodes[node].skew_us = sim_draw(sim->world, DRAW_NODE, key) % 2 ? skew_us : -skew_us;
    }
    start_chore(sim, node_chore, node, CHORE_HOURS * HOUR_US);
}

/* ---- The cluster ----------------------------------------------------------------------------------------- */

Sim *sim_new(SimWorld *world, const SimOptions *options)
{
    Sim *sim = calloc(1, sizeof *sim);
    CHECK(sim != NULL);
    sim->world = world;
    sim->options = *options;
    CHECK(pthread_mutex_init(&sim->outside, NULL) == 0);
    for (int node = 0; node < SIM_NODES; node++)
        start_node(sim, node);
    if (options->repair_every_s > 0)
        start_chore(sim, repair_chore, SIM_NODES, options->repair_every_s * US_PER_S);
    return sim;
}

void sim_free(Sim *sim)
{
    for (size_t i = 0; i < sim->rows.count; i++)
        row_drop_unfinished(sim->rows.all[i]);
    sim_world_free(sim->world);
    rows_free(&sim->rows);
    pthread_mutex_destroy(&sim->outside);
    free(sim);
}

SimWorld *sim_world(const Sim *sim)
{
    return sim->world;
}

void sim_heal(Sim *sim)
{
    sim_world_calm(sim->world);
    for (int node = 0; node < SIM_NODES; node++)
        if (!node_up(sim, node))
            sim->nodes[node].up_at_us = sim_world_now_us(sim->world);
}

/* ---- The engine ------------------------------------------------------------------------------------------ */

static void health(Store *store, StoreHealth *ret_health)
{
    *ret_health = (StoreHealth){.engine = store->engine->name, .writable = true};
}

static void metrics(Store *store, StoreMetricVisit *visit, void *context)
{
    Sim *sim = ((SimStore *)store)->sim;
    pthread_mutex_lock(&sim->outside);
    double calls = (double)sim->calls, events = (double)sim_world_events(sim->world);
    pthread_mutex_unlock(&sim->outside);
    visit(context, "store_sim_calls_total", "store calls", true, calls);
    visit(context, "store_sim_events_total", "events of the simulated world", true, events);
}

static Status backup(Store *store, const char *directory, Reason *reason)
{
    (void)store;
    (void)directory;
    return reason_set(reason, STATUS_INVALID, "",
                      "the simulated cluster lives in memory and has no backup");
}

static Status reopen(Store *store, Reason *reason)
{
    (void)store;
    (void)reason;
    return STATUS_OK;
}

static void close_store(Store *store)
{
    free(store);
}

static const StoreEngine ENGINE = {
    .name = "sim",
    .shared = true,
    .read = sim_read,
    .read_many = sim_read_many,
    .slice = sim_slice,
    .scan = sim_scan,
    .write_many = sim_write_many,
    .update_if = sim_update_if,
    .health = health,
    .metrics = metrics,
    .backup = backup,
    .reopen = reopen,
    .close = close_store,
};

Store *sim_open(Sim *sim, SimClient *client)
{
    SimStore *own = calloc(1, sizeof *own);
    CHECK(own != NULL);
    Clock outside =
        sim->options.clock.now_us != NULL ? sim->options.clock : sim_world_clock(sim->world);
    own->store = (Store){.engine = &ENGINE,
                         .tables = sim->options.tables,
                         .clock = client != NULL ? sim_client_clock(client) : outside,
                         .grace_s = sim->options.grace_s};
    own->sim = sim;
    own->client = client;
    return &own->store;
}

Store *sim_open_process(Sim *sim, SimClient *client)
{
    Store *store = sim_open(sim, client);
    ((SimStore *)store)->of_process = true;
    return store;
}
