/* turns.c -- calls of many threads for one service are served together: the first that finds nobody at it serves all that wait. */
#include <stdlib.h>

#include "nodes/nodes_private.h"

enum {
    FRESH_US = 1000000, /* a service as it was read counts so long */
    CALL_TRIES = 20,    /* of a call that others get ahead of */
};

/* ---- Takes that are settled ------------------------------------------------------------------------------------- */

typedef struct SettledTake {
    uint64_t node;
    Id take;
    bool rides;
} SettledTake;

struct SettledTakes {
    SettledTake *takes;
    size_t count, room;
};

void settled_add(SettledTakes *settled, uint64_t node, Id take)
{
    if (settled->count == settled->room) {
        settled->room = settled->room == 0 ? NODE_SETTLED_MAX : 2 * settled->room;
        settled->takes = realloc(settled->takes, settled->room * sizeof *settled->takes);
        CHECK(settled->takes != NULL);
    }
    settled->takes[settled->count++] = (SettledTake){node, take, false};
}

void settled_ride(SettledTakes *settled, uint64_t node, Step *step)
{
    size_t rides = 0;
    for (size_t i = 0; i < settled->count; i++) {
        SettledTake *take = &settled->takes[i];
        take->rides = take->node == node && rides < NODE_SETTLED_MAX;
        if (!take->rides)
            continue;
        rides++;
        step_delete(step, node_column("g/", id_slice(&take->take), step->arena));
    }
}

void settled_done(SettledTakes *settled, uint64_t node)
{
    size_t left = 0;
    for (size_t i = 0; i < settled->count; i++)
        if (settled->takes[i].node != node || !settled->takes[i].rides)
            settled->takes[left++] = settled->takes[i];
    settled->count = left;
}

/* ---- A service and who waits ------------------------------------------------------------------------------------- */

typedef struct Waiting {
    NodeCall *call;
    Slice row;
    Arena *arena;
    bool done;
    struct Waiting *next;
} Waiting;

typedef struct ServiceTurns {
    char name[NODE_SERVICE_MAX];
    size_t name_size;
    pthread_mutex_t mutex;
    pthread_cond_t served;
    Waiting *first, **last; /* in the order of their arrival */
    bool busy;              /* a thread serves; what follows is its own */
    Arena *arena;
    ServiceSeen service;
    bool known;
    ClockReading read_at;
    SettledTakes settled;
    struct ServiceTurns *next;
} ServiceTurns;

struct Turns {
    pthread_mutex_t mutex;
    ServiceTurns *first;
};

Turns *turns_new(void)
{
    Turns *turns = calloc(1, sizeof *turns);
    CHECK(turns != NULL && pthread_mutex_init(&turns->mutex, NULL) == 0);
    return turns;
}

void turns_free(Turns *turns)
{
    while (turns->first != NULL) {
        ServiceTurns *service = turns->first;
        turns->first = service->next;
        pthread_mutex_destroy(&service->mutex);
        pthread_cond_destroy(&service->served);
        arena_free(service->arena);
        free(service->settled.takes);
        free(service);
    }
    pthread_mutex_destroy(&turns->mutex);
    free(turns);
}

static ServiceTurns *turns_of(Turns *turns, Slice name)
{
    pthread_mutex_lock(&turns->mutex);
    ServiceTurns *service = turns->first;
    while (service != NULL && !slice_equal(slice_of(service->name, service->name_size), name))
        service = service->next;
    if (service == NULL) {
        service = calloc(1, sizeof *service);
        CHECK(service != NULL && pthread_mutex_init(&service->mutex, NULL) == 0 &&
              pthread_cond_init(&service->served, NULL) == 0);
        memcpy(service->name, name.data, name.size);
        service->name_size = name.size;
        service->last = &service->first;
        service->arena = arena_new();
        service->next = turns->first;
        turns->first = service;
    }
    pthread_mutex_unlock(&turns->mutex);
    return service;
}

void turns_forget(Turns *turns, Slice name)
{
    ServiceTurns *service = turns_of(turns, name);
    pthread_mutex_lock(&service->mutex);
    while (service->busy)
        pthread_cond_wait(&service->served, &service->mutex);
    service->known = false;
    pthread_mutex_unlock(&service->mutex);
}

/* ---- Serving ----------------------------------------------------------------------------------------------------- */

/* The service, not older than FRESH_US, with the counters of every node that is not just being added. */
static Status refresh(Nodes *nodes, ServiceTurns *service, Reason *reason)
{
    Clock clock = nodes->world.clock;
    bool fresh = service->known && clock_age_us(clock, service->read_at) < FRESH_US;
    for (size_t i = 0; fresh && i < service->service.count; i++)
        fresh = service->service.nodes[i].value.size > 0;
    if (fresh)
        return STATUS_OK;
    arena_reset(service->arena);
    service->known = false;
    service->read_at = clock_reading(clock);
    TRY(service_read(nodes, slice_of(service->name, service->name_size), service->arena,
                     &service->service, reason));
    service->known = true;
    return STATUS_OK;
}

/* Takes up to NODE_TURN_MAX of those who wait, no user twice. */
static size_t gather(ServiceTurns *service, Waiting **ret_turn)
{
    size_t count = 0;
    Waiting **link = &service->first;
    while (*link != NULL && count < NODE_TURN_MAX) {
        Waiting *waiting = *link;
        bool twice = false;
        for (size_t i = 0; i < count && !twice; i++)
            twice = slice_equal(ret_turn[i]->row, waiting->row);
        if (twice) {
            link = &waiting->next;
            continue;
        }
        *link = waiting->next;
        ret_turn[count++] = waiting;
    }
    service->last = &service->first;
    while (*service->last != NULL)
        service->last = &(*service->last)->next;
    return count;
}

static void serve(Nodes *nodes, ServiceTurns *service, Waiting **turn, size_t count)
{
    NodeCall *calls[NODE_TURN_MAX];
    Slice rows[NODE_TURN_MAX];
    Arena *arenas[NODE_TURN_MAX];
    Reason reason = {.rule = ""};
    Assignment assignment = {nodes, slice_of(service->name, service->name_size), &service->service,
                             service->arena, &service->settled};
    Status status = refresh(nodes, service, &reason);
    for (size_t i = 0; i < count; i++) {
        calls[i] = turn[i]->call;
        rows[i] = turn[i]->row;
        arenas[i] = turn[i]->arena;
        calls[i]->status = status;
        calls[i]->reason = reason;
    }
    if (status == STATUS_OK)
        assign_once(&assignment, calls, rows, arenas, count);
}

/* Until all of `own` are done: serves whoever waits when nobody else does. */
static void take_part(Nodes *nodes, ServiceTurns *service, Waiting *own, size_t count)
{
    Waiting *turn[NODE_TURN_MAX];
    pthread_mutex_lock(&service->mutex);
    for (size_t i = 0; i < count; i++) {
        own[i].next = NULL;
        *service->last = &own[i];
        service->last = &own[i].next;
    }
    for (size_t at = 0; at < count;) {
        if (own[at].done) {
            at++;
        } else if (service->busy) {
            pthread_cond_wait(&service->served, &service->mutex);
        } else {
            service->busy = true;
            size_t served = gather(service, turn);
            pthread_mutex_unlock(&service->mutex);
            serve(nodes, service, turn, served);
            pthread_mutex_lock(&service->mutex);
            for (size_t i = 0; i < served; i++)
                turn[i]->done = true;
            service->busy = false;
            pthread_cond_broadcast(&service->served);
        }
    }
    pthread_mutex_unlock(&service->mutex);
}

/* Those of the calls that are to be made (again). */
static size_t begin(Nodes *nodes, Slice name, NodeCall *calls, size_t count, bool again,
                    Arena *arena, Waiting *waiting)
{
    size_t open = 0;
    for (size_t i = 0; i < count; i++) {
        Slice folded;
        if (again && calls[i].status != STATUS_CONFLICT)
            continue;
        calls[i].reason = (Reason){.rule = ""};
        calls[i].status = node_fold_email(calls[i].email, arena, &folded, &calls[i].reason);
        if (calls[i].status == STATUS_OK && calls[i].want.client_state.size > NODE_CLIENT_STATE_MAX)
            calls[i].status = reason_set(&calls[i].reason, STATUS_INVALID, "client_state",
                                         "has at most %d characters", NODE_CLIENT_STATE_MAX);
        if (calls[i].status == STATUS_OK)
            waiting[open++] =
                (Waiting){&calls[i], user_row(nodes, name, folded, arena), arena, false, NULL};
    }
    return open;
}

void nodes_call_many(Nodes *nodes, Slice service, NodeCall *calls, size_t count, Arena *arena)
{
    Waiting *waiting = ARENA_ARRAY(arena, count, Waiting);
    if (service.size == 0 || service.size > NODE_SERVICE_MAX) {
        for (size_t i = 0; i < count; i++)
            calls[i].status = reason_set(&calls[i].reason, STATUS_NOT_FOUND, "service",
                                         "there is no such service");
        return;
    }
    ServiceTurns *turns = turns_of(nodes->turns, service);
    for (int try = 0; try < CALL_TRIES; try++) {
        size_t open = begin(nodes, service, calls, count, try > 0, arena, waiting);
        if (open == 0)
            return;
        take_part(nodes, turns, waiting, open);
    }
    for (size_t i = 0; i < count; i++)
        if (calls[i].status == STATUS_CONFLICT)
            calls[i].status = reason_set(&calls[i].reason, STATUS_UNAVAILABLE, "busy",
                                         "others change this user all the time");
}

void nodes_call(Nodes *nodes, Slice service, NodeCall *call, Arena *arena)
{
    nodes_call_many(nodes, service, call, 1, arena);
}

/* ---- Tidying ----------------------------------------------------------------------------------------------------- */

static Status tidy(Nodes *nodes, ServiceTurns *service)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Status status = STATUS_OK;
    while (status == STATUS_OK && service->settled.count > 0) {
        Step step;
        NodeSeen seen = {.node = service->settled.takes[0].node};
        arena_reset(arena);
        status = node_read(nodes, &seen, arena);
        if (status == STATUS_OK) {
            step_begin(&step, &TABLE_NODES, node_row(seen.node, arena), NODE_SETTLED_MAX + 2,
                       arena);
            settled_ride(&service->settled, seen.node, &step);
            step_counters(&step, nodes, &seen, &seen.counters, NULL);
            status = step_run(nodes, &step);
            service->known = false;
        }
        if (status == STATUS_OK)
            settled_done(&service->settled, seen.node);
        else if (status == STATUS_NOT_FOUND) {
            for (size_t i = 0; i < service->settled.count; i++)
                service->settled.takes[i].rides = true;
            settled_done(&service->settled, seen.node);
            status = STATUS_OK;
        } else if (status == STATUS_CONFLICT)
            status = STATUS_OK;
    }
    return status;
}

Status nodes_tidy(Nodes *nodes)
{
    Status status = STATUS_OK;
    pthread_mutex_lock(&nodes->turns->mutex);
    ServiceTurns *service = nodes->turns->first;
    pthread_mutex_unlock(&nodes->turns->mutex);
    for (; service != NULL; service = service->next) { /* services are never forgotten */
        pthread_mutex_lock(&service->mutex);
        while (service->busy)
            pthread_cond_wait(&service->served, &service->mutex);
        service->busy = true;
        pthread_mutex_unlock(&service->mutex);
        Status one = tidy(nodes, service);
        pthread_mutex_lock(&service->mutex);
        service->busy = false;
        pthread_cond_broadcast(&service->served);
        pthread_mutex_unlock(&service->mutex);
        status = status == STATUS_OK ? one : status;
    }
    return status;
}
