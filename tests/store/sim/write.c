/* write.c -- plain writes: each row of a batch is a mutation that goes to three machines and waits for two. */
#include <stdlib.h>

#include "store/sim/cluster.h"

/* The mutations of a call; those of batch i are from ends[i - 1] to ends[i]. */
typedef struct Plan {
    Mutation **mutations;
    size_t count, capacity;
    size_t *ends;
} Plan;

static Mutation *mutation_of(Plan *plan, size_t first, Row *row)
{
    for (size_t i = plan->count; i > first; i--)
        if (plan->mutations[i - 1]->row == row)
            return plan->mutations[i - 1];
    if (plan->count == plan->capacity) {
        plan->capacity = plan->capacity == 0 ? 8 : 2 * plan->capacity;
        plan->mutations = realloc(plan->mutations, plan->capacity * sizeof(Mutation *));
        CHECK(plan->mutations != NULL);
    }
    return plan->mutations[plan->count++] = mutation_new(row);
}

static void plan_batch(Call *call, Plan *plan, const Batch *batch)
{
    size_t first = plan->count;
    int64_t now_us = node_now_us(call->sim, call->coordinator);
    for (size_t i = 0; i < batch->count; i++) {
        const RowChange *change = &batch->changes[i];
        Row *row = rows_get(&call->sim->rows, change->table, change->row);
        Version *version = version_new(&change->change, true, now_us);
        cells_add(&mutation_of(plan, first, row)->cells, version);
        version_release(version);
    }
}

/* Which way each machine gets this call's mutations. */
static void plan_sending(Call *call, Sending ret_sending[SIM_NODES])
{
    SimWorld *world = call->sim->world;
    uint64_t reach = 7;
    for (int node = 0; node < SIM_NODES; node++)
        ret_sending[node] = SEND_USUAL;
    if (sim_fires(world, SIM_REACH, call->key, &reach)) {
        for (int node = 0; node < SIM_NODES; node++)
            if ((reach >> node & 1) == 0)
                ret_sending[node] = SEND_NOWHERE;
    } else if (sim_fires(world, SIM_TARGETED, call->key, NULL)) {
        int only = (int)(sim_draw(world, DRAW_FATE, call->key) % SIM_NODES);
        for (int node = 0; node < SIM_NODES; node++)
            ret_sending[node] = node == only ? SEND_FAREWELL : SEND_NOWHERE;
        sim_client_kill(call->client);
    }
}

static void send_plan(Call *call, const Plan *plan)
{
    Sending sending[SIM_NODES];
    plan_sending(call, sending);
    for (size_t i = 0; i < plan->count; i++)
        for (int node = 0; node < SIM_NODES; node++)
            mutation_send(call, i, PART_WRITE, plan->mutations[i], node, sending[node]);
}

static Status fate_of(const Call *call, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++)
        if (call->parts[i].acks < call->parts[i].needs)
            return STATUS_UNKNOWN;
    return STATUS_OK;
}

void write_batches(Call *call, const Batch *batches, size_t count, Status *ret_statuses)
{
    Plan plan = {.ends = calloc(count, sizeof(size_t))};
    CHECK(plan.ends != NULL);
    for (size_t i = 0; i < count; i++) {
        plan_batch(call, &plan, &batches[i]);
        plan.ends[i] = plan.count;
    }
    bool refused = plan.count > 0 && call_refused(call);
    if (!refused) {
        call_expect(call, plan.count, QUORUM, SIM_NODES);
        send_plan(call, &plan);
        call_wait(call);
    }
    for (size_t i = 0; i < count; i++)
        ret_statuses[i] = refused ? STATUS_UNAVAILABLE
                                  : fate_of(call, i > 0 ? plan.ends[i - 1] : 0, plan.ends[i]);
    for (size_t i = 0; i < plan.count; i++)
        mutation_release(plan.mutations[i]);
    free(plan.mutations);
    free(plan.ends);
}

Status sim_write_many(Store *store, const Batch *batches, size_t count, Status *ret_statuses)
{
    Call *call = call_begin(store);
    if (call == NULL) {
        for (size_t i = 0; i < count; i++)
            ret_statuses[i] = STATUS_UNKNOWN;
        return STATUS_OK;
    }
    write_batches(call, batches, count, ret_statuses);
    call_end(call);
    return STATUS_OK;
}
