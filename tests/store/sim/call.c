/* call.c -- calls under way and mutations on their way (cluster.h). */
#include <stdlib.h>

#include "store/sim/cluster.h"

#define HINTS_KEPT_US (3 * 3600 * US_PER_S)

/* ---- Calls ----------------------------------------------------------------------------------------------- */

Call *call_begin(Store *store)
{
    SimStore *own = (SimStore *)store;
    Sim *sim = own->sim;
    SimKey key;
    SimClient *client = own->of_process ? sim_world_running(sim->world) : own->client;
    if (client == NULL)
        pthread_mutex_lock(&sim->outside);
    if (!sim_call_begin(sim->world, client, &key))
        return NULL;
    Call *call = calloc(1, sizeof *call);
    CHECK(call != NULL);
    *call = (Call){.refs = 1,
                   .sim = sim,
                   .client = client,
                   .key = key,
                   .deadline_us = later_us(sim, DEADLINE_US),
                   .coordinator = (int)(sim_draw(sim->world, DRAW_NODE, key) % SIM_NODES),
                   .decision = STATUS_UNKNOWN};
    sim->calls++;
    return call;
}

void call_expect(Call *call, size_t part_count, uint8_t needs, uint8_t hopes)
{
    call->parts = calloc(part_count, sizeof *call->parts);
    CHECK(call->parts != NULL || part_count == 0);
    for (size_t i = 0; i < part_count; i++)
        call->parts[i] = (SimPart){needs, 0, hopes};
    call->part_count = call->remaining = part_count;
    call->done = part_count == 0;
}

void call_wait(Call *call)
{
    if (sim_fires(call->sim->world, SIM_SILENCE, call->key, NULL))
        sim_client_kill(call->client);
    sim_wait(call->sim->world, call->client, &call->done);
}

void call_end(Call *call)
{
    Sim *sim = call->sim;
    bool from_outside = call->client == NULL;
    call->done = true;
    call_release(call);
    if (from_outside)
        pthread_mutex_unlock(&sim->outside);
}

bool call_refused(const Call *call)
{
    return nodes_up(call->sim) < QUORUM &&
           sim_draw(call->sim->world, DRAW_DETECTED, call->key) % 2 == 0;
}

Call *call_keep(Call *call)
{
    call->refs++;
    return call;
}

void call_release(Call *call)
{
    if (call == NULL || --call->refs > 0)
        return;
    fetches_free(call);
    scan_free(call->scan);
    cells_free(&call->found);
    free(call->parts);
    free(call);
}

static void finish(Call *call)
{
    call->done = true;
    sim_note(call->sim->world, call->remaining);
    sim_wake(call->sim->world, call->client);
}

void call_ack(Call *call, size_t part)
{
    if (call == NULL || call->done)
        return;
    SimPart *own = &call->parts[part];
    if (own->hopes > 0)
        own->hopes--;
    if (++own->acks == own->needs && --call->remaining == 0)
        finish(call);
}

void call_lost(Call *call, size_t part)
{
    if (call == NULL || call->done)
        return;
    SimPart *own = &call->parts[part];
    if (own->hopes > 0)
        own->hopes--;
    if (own->acks + own->hopes < own->needs)
        call_doom(call);
}

typedef struct Deadline {
    SimEvent event;
    Call *call;
} Deadline;

static void deadline_drop(SimEvent *event)
{
    call_release(((Deadline *)event)->call);
    free(event);
}

static void deadline_run(SimEvent *event)
{
    Call *call = ((Deadline *)event)->call;
    if (!call->done)
        finish(call);
    deadline_drop(event);
}

void call_doom(Call *call)
{
    if (call->doomed || call->done)
        return;
    Deadline *deadline = malloc(sizeof *deadline);
    CHECK(deadline != NULL);
    *deadline = (Deadline){{deadline_run, deadline_drop, call->key}, call_keep(call)};
    call->doomed = true;
    sim_schedule(call->sim->world, call->deadline_us, &deadline->event);
}

int64_t after_delay(const Call *call, uint32_t part)
{
    return later_us(call->sim, sim_draw_between(call->sim->world, DRAW_DELAY, key_of(call, part),
                                                DELAY_LEAST_US, DELAY_MOST_US));
}

/* ---- Mutations ------------------------------------------------------------------------------------------- */

Mutation *mutation_new(Row *row)
{
    Mutation *mutation = malloc(sizeof *mutation);
    CHECK(mutation != NULL);
    *mutation = (Mutation){.refs = 1, .row = row};
    return mutation;
}

void mutation_release(Mutation *mutation)
{
    if (--mutation->refs > 0)
        return;
    cells_free(&mutation->cells);
    free(mutation);
}

/* A mutation on its way to a machine, and then its acknowledgement on the way back. */
typedef struct Delivery {
    SimEvent event;
    Sim *sim;
    Mutation *mutation;
    Call *call; /* NULL: nobody waits */
    size_t part;
    int node;
    bool farewell;
} Delivery;

static void delivery_drop(SimEvent *event)
{
    Delivery *delivery = (Delivery *)event;
    mutation_release(delivery->mutation);
    call_release(delivery->call);
    free(delivery);
}

static void delivery_run(SimEvent *event);

static Delivery *delivery_new(Sim *sim, Mutation *mutation, int node, SimKey key)
{
    Delivery *delivery = malloc(sizeof *delivery);
    CHECK(delivery != NULL);
    mutation->refs++;
    *delivery = (Delivery){.event = {delivery_run, delivery_drop, key},
                           .sim = sim,
                           .mutation = mutation,
                           .node = node};
    return delivery;
}

/* What a machine has missed is kept for it, unless that fails or it is gone for too long. */
static void keep_hint(Sim *sim, Mutation *mutation, int node, SimKey key)
{
    int64_t now_us = sim_world_now_us(sim->world), up_us = sim->nodes[node].up_at_us;
    if (up_us - now_us > HINTS_KEPT_US || sim_fires(sim->world, SIM_HINT, key, NULL))
        return;
    key.part |= 4;
    int64_t from_us = up_us > now_us ? up_us : now_us;
    int64_t wait_us = sim_draw_between(sim->world, DRAW_DELAY, key, 10 * US_PER_S, 600 * US_PER_S);
    sim_schedule(sim->world, from_us + wait_us, &delivery_new(sim, mutation, node, key)->event);
}

static void acknowledged(SimEvent *event)
{
    Delivery *delivery = (Delivery *)event;
    call_ack(delivery->call, delivery->part);
    delivery_drop(event);
}

/* The way back; the delivery is used again. */
static void acknowledge(Delivery *delivery)
{
    SimKey key = delivery->event.key;
    key.part |= 1;
    int64_t at_us = after_delay(delivery->call, key.part);
    if (sim_fires(delivery->sim->world, SIM_ANSWER, key, NULL) ||
        at_us > delivery->call->deadline_us) {
        call_lost(delivery->call, delivery->part);
        delivery_drop(&delivery->event);
        return;
    }
    delivery->event.key = key;
    delivery->event.run = acknowledged;
    sim_schedule(delivery->sim->world, at_us, &delivery->event);
}

static void apply(const Delivery *delivery)
{
    const Cells *cells = &delivery->mutation->cells;
    int64_t now_us = node_now_us(delivery->sim, delivery->node);
    for (size_t i = 0; i < cells->count; i++)
        cells_apply(&delivery->mutation->row->copies[delivery->node], cells->items[i], now_us);
}

static void again_later(const Delivery *delivery)
{
    Sim *sim = delivery->sim;
    SimKey key = delivery->event.key;
    if ((key.part & 4) != 0 || !sim_fires(sim->world, SIM_TWICE, key, NULL))
        return;
    int64_t at_us = later_us(sim, sim_span_us(sim->world, SIM_TWICE, key, DELAY_MOST_US));
    key.part |= 4;
    sim_schedule(sim->world, at_us,
                 &delivery_new(sim, delivery->mutation, delivery->node, key)->event);
}

static void delivery_run(SimEvent *event)
{
    Delivery *delivery = (Delivery *)event;
    Sim *sim = delivery->sim;
    if (!node_up(sim, delivery->node)) {
        if ((event->key.part & 4) == 0)
            keep_hint(sim, delivery->mutation, delivery->node, event->key);
        call_lost(delivery->call, delivery->part);
        delivery_drop(event);
        return;
    }
    apply(delivery);
    again_later(delivery);
    if (delivery->farewell)
        node_fail(sim, delivery->node, sim_span_us(sim->world, SIM_TARGETED, event->key, US_PER_S));
    if (delivery->call != NULL)
        acknowledge(delivery);
    else
        delivery_drop(event);
}

void mutation_send(Call *call, size_t part, uint32_t first_key, Mutation *mutation, int node,
                   Sending sending)
{
    Sim *sim = call->sim;
    SimKey key = key_of(call, first_key + ((uint32_t)part * SIM_NODES + (uint32_t)node) * 8);
    if (sending == SEND_NOWHERE) {
        call_lost(call, part);
        return;
    }
    if (sending == SEND_USUAL && sim_fires(sim->world, SIM_DROP, key, NULL)) {
        keep_hint(sim, mutation, node, key);
        call_lost(call, part);
        return;
    }
    int64_t at_us = after_delay(call, key.part);
    if (sending == SEND_LATE)
        at_us = later_us(sim, sim_span_us(sim->world, SIM_UNSPREAD, key, DELAY_MOST_US));
    else if (sim_fires(sim->world, SIM_SLOW, key, NULL))
        at_us = later_us(sim, sim_span_us(sim->world, SIM_SLOW, key, DELAY_MOST_US));
    Delivery *delivery = delivery_new(sim, mutation, node, key);
    delivery->farewell = sending == SEND_FAREWELL;
    if (sending == SEND_LATE || at_us > call->deadline_us) {
        call_lost(call, part);
    } else {
        delivery->call = call_keep(call);
        delivery->part = part;
    }
    sim_schedule(sim->world, at_us, &delivery->event);
}
