/* update.c -- conditional updates: a proposal is decided at one moment, or stays unfinished.
 *
 * A proposal holds copies of all it needs, because it may outlive its client by days. It is decided at most once: its
 * conditions are judged against what was decided before, and if they hold its cells become the newest decision and spread. An
 * unfinished one is kept by one machine, and finished by a serial call on the row that meets it there, or by itself later, or
 * never: luck says. What became of it is told to the client only if the client still waits. */
#include <stdlib.h>

#include "store/sim/cluster.h"

enum { CONTENTION_US = 20000 };

struct Proposal {
    uint32_t refs;
    Sim *sim;
    Row *row;
    SimKey key;
    int coordinator, keeper; /* keeper: the machine that has it while it is unfinished */
    bool settled;            /* decided or dropped: it is over */
    uint32_t looks;
    Cells expected; /* a deleted version: absent */
    Cells changes;
    Proposal *next; /* in the row's list of unfinished ones, which holds a reference */
};

/* ---- Proposals ------------------------------------------------------------------------------------------- */

static void add_change(Cells *cells, const Change *change, int64_t now_us)
{
    Version *version = version_new(change, false, now_us);
    cells_add(cells, version);
    version_release(version);
}

static Proposal *proposal_new(const Call *call, const Update *update)
{
    Proposal *proposal = calloc(1, sizeof *proposal);
    CHECK(proposal != NULL);
    *proposal =
        (Proposal){.refs = 1,
                   .sim = call->sim,
                   .row = rows_get(&call->sim->rows, update->table, update->row),
                   .key = key_of(call, PART_UPDATE),
                   .coordinator = call->coordinator,
                   .keeper = (int)(sim_draw(call->sim->world, DRAW_FATE, call->key) % SIM_NODES)};
    int64_t now_us = node_now_us(call->sim, call->coordinator);
    for (size_t i = 0; i < update->condition_count; i++) {
        const Condition *condition = &update->conditions[i];
        Change change = {
            .column = condition->column, .value = condition->value, .is_delete = condition->absent};
        add_change(&proposal->expected, &change, 0);
    }
    for (size_t i = 0; i < update->change_count; i++)
        add_change(&proposal->changes, &update->changes[i], now_us);
    return proposal;
}

static void proposal_release(Proposal *proposal)
{
    if (--proposal->refs > 0)
        return;
    cells_free(&proposal->expected);
    cells_free(&proposal->changes);
    free(proposal);
}

static bool holds(const Version *expected, const Version *stands)
{
    if (expected->deleted)
        return stands == NULL;
    return stands != NULL && slice_equal(expected->value, stands->value);
}

static Version *living(const Proposal *proposal, Slice column)
{
    Version *version = cells_find(&proposal->row->copies[SIM_DECIDED], column);
    int64_t now_us = node_now_us(proposal->sim, proposal->coordinator);
    return version != NULL && version_alive(version, now_us) ? version : NULL;
}

/* The one moment. NULL: a condition is false. Otherwise what has to spread. */
static Mutation *decide(Proposal *proposal)
{
    Row *row = proposal->row;
    int64_t now_us = node_now_us(proposal->sim, proposal->coordinator);
    CHECK(!proposal->settled);
    proposal->settled = true;
    for (size_t i = 0; i < proposal->expected.count; i++) {
        const Version *expected = proposal->expected.items[i];
        if (!holds(expected, living(proposal, expected->column)))
            return NULL;
    }
    Mutation *mutation = mutation_new(row);
    row->decisions++;
    for (size_t i = 0; i < proposal->changes.count; i++) {
        Version *version = proposal->changes.items[i];
        version->timestamp = row->decisions; /* nobody else has seen it yet */
        cells_apply(&row->copies[SIM_DECIDED], version, now_us);
        cells_add(&mutation->cells, version);
    }
    return mutation;
}

/* ---- Unfinished ones ------------------------------------------------------------------------------------- */

/* Found while something else happened: those who finish it also spread it, at once. */
static void finish_now(Proposal *proposal)
{
    Mutation *mutation = decide(proposal);
    if (mutation == NULL)
        return;
    for (int node = 0; node < SIM_NODES; node++)
        for (size_t i = 0; i < mutation->cells.count && node_up(proposal->sim, node); i++)
            cells_apply(&proposal->row->copies[node], mutation->cells.items[i],
                        node_now_us(proposal->sim, node));
    mutation_release(mutation);
}

static void forget_settled(Row *row)
{
    for (Proposal **at = &row->unfinished; *at != NULL;) {
        Proposal *proposal = *at;
        if (!proposal->settled) {
            at = &proposal->next;
            continue;
        }
        *at = proposal->next;
        proposal_release(proposal);
    }
}

void row_drop_unfinished(Row *row)
{
    for (Proposal *proposal = row->unfinished; proposal != NULL; proposal = proposal->next)
        proposal->settled = true;
    forget_settled(row);
}

typedef struct Finish {
    SimEvent event;
    Proposal *proposal;
} Finish;

static void finish_drop(SimEvent *event)
{
    proposal_release(((Finish *)event)->proposal);
    free(event);
}

static void finish_run(SimEvent *event)
{
    Proposal *proposal = ((Finish *)event)->proposal;
    if (!proposal->settled) {
        finish_now(proposal);
        forget_settled(proposal->row);
    }
    finish_drop(event);
}

static void leave_unfinished(Proposal *proposal)
{
    Sim *sim = proposal->sim;
    Finish *finish = malloc(sizeof *finish);
    CHECK(finish != NULL);
    *finish = (Finish){{finish_run, finish_drop, proposal->key}, proposal};
    proposal->refs += 2;
    proposal->next = proposal->row->unfinished;
    proposal->row->unfinished = proposal;
    int64_t after_us = sim_span_us(sim->world, SIM_LATE, proposal->key, 60 * US_PER_S);
    sim_schedule(sim->world, later_us(sim, after_us), &finish->event);
}

/* A serial call comes by. Of seven unfinished updates that it meets it finishes six and ends one. */
static void settle(Row *row)
{
    for (Proposal *proposal = row->unfinished; proposal != NULL; proposal = proposal->next) {
        SimWorld *world = proposal->sim->world;
        SimKey key = proposal->key;
        key.part += ++proposal->looks;
        if (!node_up(proposal->sim, proposal->keeper) || sim_fires(world, SIM_UNMET, key, NULL))
            continue;
        if (sim_draw(world, DRAW_SETTLE, key) % 7 == 0)
            proposal->settled = true;
        else
            finish_now(proposal);
    }
    forget_settled(row);
}

bool row_enter_serial(Call *call, Row *row, uint32_t part)
{
    Sim *sim = call->sim;
    int64_t now_us = sim_world_now_us(sim->world);
    bool contended =
        now_us - row->contended_us < CONTENTION_US && row->contended_by != call->key.who;
    row->contended_us = now_us;
    row->contended_by = call->key.who;
    if (nodes_up(sim) < QUORUM ||
        (contended && sim_fires(sim->world, SIM_BUSY, key_of(call, part), NULL)))
        return false;
    settle(row);
    return true;
}

/* ---- The message ----------------------------------------------------------------------------------------- */

typedef struct Propose {
    SimEvent event;
    Call *call;
    Proposal *proposal;
} Propose;

static void propose_drop(SimEvent *event)
{
    Propose *propose = (Propose *)event;
    call_release(propose->call);
    proposal_release(propose->proposal);
    free(propose);
}

static void propose_answered(SimEvent *event)
{
    Call *call = ((Propose *)event)->call;
    if (!call->done) {
        call->decision = call->found.count > 0 ? STATUS_CONFLICT : STATUS_OK;
        call_ack(call, 0);
    }
    propose_drop(event);
}

static void answer(Propose *propose)
{
    Call *call = propose->call;
    propose->event.key.part |= 1;
    if (sim_fires(call->sim->world, SIM_ANSWER, propose->event.key, NULL)) {
        call_doom(call);
        propose_drop(&propose->event);
        return;
    }
    propose->event.run = propose_answered;
    sim_schedule(call->sim->world, after_delay(call, propose->event.key.part), &propose->event);
}

static void note_found(Call *call, const Proposal *proposal)
{
    for (size_t i = 0; i < proposal->expected.count && !call->done; i++) {
        Slice column = proposal->expected.items[i]->column;
        Version *stands = living(proposal, column);
        if (stands != NULL)
            cells_add(&call->found, stands);
        else
            add_change(&call->found, &(Change){.column = column, .is_delete = true}, 0);
    }
}

/* Answered when two machines have it; or at once, and it spreads when it does. */
static void spread(Propose *propose, Mutation *mutation)
{
    Call *call = propose->call;
    bool late = sim_fires(call->sim->world, SIM_UNSPREAD, propose->event.key, NULL);
    SimPart *part = &call->parts[0];
    if (!call->done && !late)
        *part = (SimPart){QUORUM, 0, SIM_NODES};
    for (int node = 0; node < SIM_NODES; node++)
        mutation_send(call, 0, PART_UPDATE + 64, mutation, node, late ? SEND_LATE : SEND_USUAL);
    mutation_release(mutation);
    if (late) {
        answer(propose);
        return;
    }
    if (!call->done)
        call->decision = STATUS_OK;
    propose_drop(&propose->event);
}

/* It got no answer from the others in time: perhaps one of them has it, perhaps none. */
static void abandon(Propose *propose)
{
    SimKey key = propose->event.key;
    call_doom(propose->call);
    if (sim_draw(propose->call->sim->world, DRAW_FATE, key) % 2 == 0)
        leave_unfinished(propose->proposal);
    propose_drop(&propose->event);
}

/* One machine has the proposal and goes down. */
static void leave_with_keeper(const Call *call, Proposal *proposal)
{
    Sim *sim = call->sim;
    leave_unfinished(proposal);
    node_fail(sim, proposal->keeper, sim_span_us(sim->world, SIM_TARGETED, call->key, US_PER_S));
}

static void propose_arrived(SimEvent *event)
{
    Propose *propose = (Propose *)event;
    Call *call = propose->call;
    Proposal *proposal = propose->proposal;
    if (!row_enter_serial(call, proposal->row, event->key.part)) {
        abandon(propose);
        return;
    }
    if (sim_fires(call->sim->world, SIM_LATE, event->key, NULL)) {
        if (sim_draw(call->sim->world, DRAW_PHASE, event->key) % 4 == 0)
            leave_with_keeper(call, proposal);
        else
            leave_unfinished(proposal);
        call_doom(call);
        propose_drop(event);
        return;
    }
    Mutation *mutation = decide(proposal);
    if (mutation != NULL) {
        spread(propose, mutation);
        return;
    }
    note_found(call, proposal);
    answer(propose);
}

static void send_proposal(Call *call, Proposal *proposal)
{
    Sim *sim = call->sim;
    SimKey key = proposal->key;
    uint64_t reach = 7;
    if (sim_fires(sim->world, SIM_TARGETED, call->key, NULL)) {
        leave_with_keeper(call, proposal);
        sim_client_kill(call->client);
        call_doom(call);
        return;
    }
    if (sim_fires(sim->world, SIM_REACH, call->key, &reach) && reach != 7) {
        if (reach != 0)
            leave_unfinished(proposal);
        call_doom(call);
        return;
    }
    if (sim_fires(sim->world, SIM_DROP, key, NULL)) {
        call_doom(call);
        return;
    }
    int64_t at_us = after_delay(call, key.part) + after_delay(call, key.part + 2) -
                    sim_world_now_us(sim->world);
    if (sim_fires(sim->world, SIM_SLOW, key, NULL))
        at_us += sim_span_us(sim->world, SIM_SLOW, key, DELAY_MOST_US);
    if (at_us > call->deadline_us)
        call_doom(call);
    Propose *propose = malloc(sizeof *propose);
    CHECK(propose != NULL);
    *propose = (Propose){{propose_arrived, propose_drop, key}, call_keep(call), proposal};
    proposal->refs++;
    sim_schedule(sim->world, at_us, &propose->event);
}

/* ---- The engine's call ----------------------------------------------------------------------------------- */

static void tell_found(const Call *call, Arena *arena, Found *ret_found)
{
    for (size_t i = 0; ret_found != NULL && i < call->found.count; i++) {
        const Version *version = call->found.items[i];
        ret_found[i] = (Found){!version->deleted, arena_copy(arena, version->value)};
    }
}

/* A call of its own, before the update's: a client may die between both. */
static Status write_marks(Store *store, const Batch *marks)
{
    Status status = STATUS_UNKNOWN;
    if (marks->count == 0)
        return STATUS_OK;
    Call *call = call_begin(store);
    if (call == NULL)
        return STATUS_UNAVAILABLE;
    write_batches(call, marks, 1, &status);
    call_end(call);
    return status == STATUS_OK ? STATUS_OK : STATUS_UNAVAILABLE;
}

Status sim_update_if(Store *store, const Update *update, Arena *arena, Found *ret_found)
{
    TRY(write_marks(store, &update->marks));
    Call *call = call_begin(store);
    if (call == NULL)
        return STATUS_UNKNOWN;
    Status status = STATUS_UNAVAILABLE;
    if (!call_refused(call)) {
        Proposal *proposal = proposal_new(call, update);
        call_expect(call, 1, 1, 1);
        send_proposal(call, proposal);
        proposal_release(proposal);
        call_wait(call);
        bool answered = call->parts[0].acks >= call->parts[0].needs;
        status = answered ? call->decision : STATUS_UNKNOWN;
        if (status == STATUS_CONFLICT)
            tell_found(call, arena, ret_found);
    }
    call_end(call);
    return status;
}
