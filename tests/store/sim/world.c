/* world.c -- see world.h: the event heap, luck by key, clients.
 *
 * The heap has four children a node: fewer cache misses than two, as most events are pushed near the top of time. */
#include "store/sim/world.h"

#include <stdlib.h>

#include "store/sim/fiber.h"

enum { PIECE_CALLS = 1024 };
enum { GHOST_CALLS_MAX = 100000 }; /* production code gives up long before */

typedef struct Entry {
    int64_t at_us;
    uint64_t number;
    SimEvent *event;
} Entry;

typedef enum Purpose { PURPOSE_RANDOM = 50, PURPOSE_SPAN = 60 } Purpose;

struct SimClient {
    SimEvent wake; /* first: it is its own alarm clock */
    SimWorld *world;
    Fiber *fiber;
    SimClientRun *run;
    void *context;
    uint32_t number, calls, draws;
    SimClient *leader; /* of its process, perhaps itself; it alone has: */
    bool alive;
    int64_t skew_us, suspended_us, frozen_until_us;

    bool asleep;
    int64_t ghost_us;
    uint32_t ghost_calls;
};

struct SimWorld {
    SimWorldOptions options;
    int64_t now_us;
    uint64_t numbers, hash, events;
    Entry *heap;
    size_t heap_count, heap_capacity;
    SimClient **clients;
    size_t client_count;
    SimClient *to_wake; /* set by an event, resumed after it */
    SimClient *running;
    uint32_t outside_calls;
    bool calm;
    SimFired *fired;
    size_t fired_count, fired_capacity;
};

/* ---- Luck ------------------------------------------------------------------------------------------------ */

static const char *const FAULT_NAMES[] = {
#define X(id, name, text) name,
    SIM_FAULT_LIST(X)
#undef X
};

const char *sim_fault_name(SimFault fault)
{
    return FAULT_NAMES[fault];
}

/* The finalizer of splitmix64: every bit in changes every bit out. */
static uint64_t mix(uint64_t number)
{
    number = (number ^ number >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    number = (number ^ number >> 27) * UINT64_C(0x94D049BB133111EB);
    return number ^ number >> 31;
}

uint64_t sim_draw(const SimWorld *world, uint32_t purpose, SimKey key)
{
    uint64_t first = (uint64_t)key.who << 32 | key.call,
             second = (uint64_t)purpose << 32 | key.part;
    return mix(mix((world->options.seed + UINT64_C(0x9E3779B97F4A7C15)) ^ first) ^
               mix(second + UINT64_C(0xD1B54A32D192ED03)));
}

int64_t sim_draw_between(const SimWorld *world, uint32_t purpose, SimKey key, int64_t least,
                         int64_t most)
{
    CHECK(least <= most);
    uint64_t range = (uint64_t)(most - least) + 1;
    return least + (int64_t)(sim_draw(world, purpose, key) % range);
}

int64_t sim_span_us(const SimWorld *world, SimFault fault, SimKey key, int64_t least_us)
{
    int64_t most_us = world->options.swarm.most_us[fault];
    int doublings = 0;
    CHECK(least_us > 0);
    if (most_us <= least_us)
        return least_us;
    while (least_us << (doublings + 1) <= most_us)
        doublings++;
    uint64_t luck = sim_draw(world, PURPOSE_SPAN + (uint32_t)fault, key);
    int64_t from_us = least_us << (luck % (uint64_t)(doublings + 1));
    int64_t span_us = from_us + (int64_t)((luck >> 8) % (uint64_t)from_us);
    return span_us < most_us ? span_us : most_us;
}

static const SimFired *listed(const SimFired *list, size_t count, SimFault fault, SimKey key)
{
    for (size_t i = 0; i < count; i++)
        if (list[i].fault == fault && list[i].key.who == key.who && list[i].key.call == key.call &&
            list[i].key.part == key.part)
            return &list[i];
    return NULL;
}

static void record(SimWorld *world, SimFired fired)
{
    if (world->fired_count == world->fired_capacity) {
        world->fired_capacity = world->fired_capacity == 0 ? 64 : 2 * world->fired_capacity;
        world->fired = realloc(world->fired, world->fired_capacity * sizeof *world->fired);
        CHECK(world->fired != NULL);
    }
    world->fired[world->fired_count++] = fired;
    sim_note(world, (uint64_t)fired.fault);
}

bool sim_fires(SimWorld *world, SimFault fault, SimKey key, uint64_t *ret_value)
{
    const SimWorldOptions *options = &world->options;
    const SimFired *forced = listed(options->forced, options->forced_count, fault, key);
    if (forced == NULL) {
        uint32_t rate = options->swarm.rate[fault];
        if (world->calm || key.who == 0 || rate == 0 ||
            sim_draw(world, (uint32_t)fault, key) % 1000000 >= rate)
            return false;
        bool is_listed = listed(options->without, options->without_count, fault, key) != NULL;
        if (is_listed != options->only_listed)
            return false;
    }
    uint64_t value = forced != NULL ? forced->value : 0;
    record(world, (SimFired){fault, key, value, world->now_us});
    if (ret_value != NULL && forced != NULL)
        *ret_value = value;
    return true;
}

Slice sim_fired_text(const SimFired *fired, Arena *arena)
{
    return arena_print(arena, "%s/%u.%u.%u", FAULT_NAMES[fired->fault], fired->key.who,
                       fired->key.call, fired->key.part);
}

static Status take_number(Slice *rest, uint32_t *ret_number)
{
    Slice part;
    uint64_t number;
    if (!slice_split(rest, '.', &part))
        return STATUS_INVALID;
    TRY(slice_to_u64(part, &number));
    if (number > UINT32_MAX)
        return STATUS_INVALID;
    *ret_number = (uint32_t)number;
    return STATUS_OK;
}

Status sim_fired_from_text(Slice text, SimFired *ret_fired)
{
    SimFired fired = {.fault = SIM_FAULT_COUNT};
    Slice name, rest = text;
    if (!slice_split(&rest, '/', &name))
        return STATUS_INVALID;
    for (int i = 0; i < SIM_FAULT_COUNT; i++)
        if (slice_equal(name, slice_from(FAULT_NAMES[i])))
            fired.fault = (SimFault)i;
    TRY(take_number(&rest, &fired.key.who));
    TRY(take_number(&rest, &fired.key.call));
    TRY(take_number(&rest, &fired.key.part));
    if (fired.fault == SIM_FAULT_COUNT || rest.size > 0)
        return STATUS_INVALID;
    *ret_fired = fired;
    return STATUS_OK;
}

/* ---- Events ---------------------------------------------------------------------------------------------- */

void sim_note(SimWorld *world, uint64_t what)
{
    world->hash = mix(world->hash ^ what) + UINT64_C(0x9E3779B97F4A7C15);
}

static bool before(const Entry *a, const Entry *b)
{
    return a->at_us != b->at_us ? a->at_us < b->at_us : a->number < b->number;
}

void sim_schedule(SimWorld *world, int64_t at_us, SimEvent *event)
{
    if (world->heap_count == world->heap_capacity) {
        world->heap_capacity = world->heap_capacity == 0 ? 256 : 2 * world->heap_capacity;
        world->heap = realloc(world->heap, world->heap_capacity * sizeof *world->heap);
        CHECK(world->heap != NULL);
    }
    Entry entry = {at_us < world->now_us ? world->now_us : at_us, world->numbers++, event};
    size_t at = world->heap_count++;
    for (; at > 0 && before(&entry, &world->heap[(at - 1) / 4]); at = (at - 1) / 4)
        world->heap[at] = world->heap[(at - 1) / 4];
    world->heap[at] = entry;
}

/* The hole at the top sinks until the last entry fits in. */
static Entry take_first(SimWorld *world)
{
    Entry first = world->heap[0], last = world->heap[--world->heap_count];
    size_t at = 0;
    for (;;) {
        size_t child = 4 * at + 1, end = child + 4, least = child;
        if (child >= world->heap_count)
            break;
        if (end > world->heap_count)
            end = world->heap_count;
        while (++child < end)
            if (before(&world->heap[child], &world->heap[least]))
                least = child;
        if (!before(&world->heap[least], &last))
            break;
        world->heap[at] = world->heap[least];
        at = least;
    }
    world->heap[at] = last;
    return first;
}

static void resume(SimClient *client)
{
    client->world->running = client;
    fiber_resume(client->fiber);
    client->world->running = NULL;
}

static void step(SimWorld *world)
{
    CHECK(world->heap_count > 0);
    Entry entry = take_first(world);
    SimKey key = entry.event->key;
    world->now_us = entry.at_us;
    world->events++;
    sim_note(world, (uint64_t)entry.at_us);
    sim_note(world, (uint64_t)key.who << 40 ^ (uint64_t)key.call << 8 ^ key.part);
    entry.event->run(entry.event);
    SimClient *client = world->to_wake;
    world->to_wake = NULL;
    if (client != NULL && !fiber_ended(client->fiber))
        resume(client);
}

void sim_world_run_until(SimWorld *world, int64_t at_us)
{
    while (world->heap_count > 0 && world->heap[0].at_us <= at_us)
        step(world);
    if (at_us > world->now_us)
        world->now_us = at_us;
}

/* ---- The world ------------------------------------------------------------------------------------------- */

SimWorld *sim_world_new(const SimWorldOptions *options)
{
    SimWorld *world = calloc(1, sizeof *world);
    CHECK(world != NULL);
    world->options = *options;
    return world;
}

void sim_world_free(SimWorld *world)
{
    for (size_t i = 0; i < world->client_count; i++) {
        SimClient *client = world->clients[i];
        client->leader->alive = false;
        if (!fiber_ended(client->fiber) && client->asleep)
            resume(client);
    }
    for (size_t i = 0; i < world->heap_count; i++)
        world->heap[i].event->drop(world->heap[i].event);
    for (size_t i = 0; i < world->client_count; i++) {
        fiber_free(world->clients[i]->fiber);
        free(world->clients[i]);
    }
    free(world->clients);
    free(world->heap);
    free(world->fired);
    free(world);
}

int64_t sim_world_now_us(const SimWorld *world)
{
    return world->now_us;
}

int64_t sim_world_start_us(const SimWorld *world)
{
    return world->options.start_us;
}

void sim_world_calm(SimWorld *world)
{
    world->calm = true;
}

uint64_t sim_world_hash(const SimWorld *world)
{
    return world->hash;
}

uint64_t sim_world_events(const SimWorld *world)
{
    return world->events;
}

const SimFired *sim_world_faults(const SimWorld *world, size_t *ret_count)
{
    *ret_count = world->fired_count;
    return world->fired;
}

static int64_t world_now(void *self)
{
    const SimWorld *world = self;
    return world->options.start_us + world->now_us;
}

static int64_t world_steady(void *self)
{
    return sim_world_now_us(self);
}

static void world_sleep(void *self, int64_t us)
{
    SimWorld *world = self;
    sim_world_run_until(world, world->now_us + (us > 0 ? us : 0));
}

Clock sim_world_clock(SimWorld *world)
{
    return (Clock){world_now, world_steady, world_sleep, world, NULL};
}

/* ---- Clients --------------------------------------------------------------------------------------------- */

static void client_main(void *context)
{
    SimClient *client = context;
    client->run(client, client->context);
}

static void wake_up(SimEvent *event)
{
    SimClient *client = (SimClient *)event;
    sim_wake(client->world, client);
}

static void leave_alone(SimEvent *event)
{
    (void)event;
}

static SimClient *client_new(SimWorld *world, SimClientRun *run, void *context)
{
    size_t size = (world->client_count + 1) * sizeof(SimClient *);
    world->clients = realloc(world->clients, size);
    SimClient *client = calloc(1, sizeof *client);
    CHECK(client != NULL && world->clients != NULL);
    world->clients[world->client_count++] = client;
    uint32_t number = (uint32_t)world->client_count;
    *client = (SimClient){.wake = {wake_up, leave_alone, {number, 0, 0}},
                          .world = world,
                          .run = run,
                          .context = context,
                          .number = number,
                          .leader = client,
                          .alive = true};
    client->fiber = fiber_new(client_main, client, world->options.threads);
    return client;
}

/* The clock is off by something else from now on. */
static void draw_skew(SimClient *leader, SimFault fault, SimKey key)
{
    int64_t most_us = leader->world->options.swarm.most_us[fault];
    leader->skew_us =
        sim_draw_between(leader->world, PURPOSE_SPAN + (uint32_t)fault, key, -most_us, most_us);
}

SimClient *sim_client_start(SimWorld *world, int64_t at_us, SimClientRun *run, void *context)
{
    SimClient *client = client_new(world, run, context);
    SimKey key = {client->number, 0, 0};
    if (sim_fires(world, SIM_SKEW, key, NULL))
        draw_skew(client, SIM_SKEW, key);
    sim_schedule(world, at_us, &client->wake);
    return client;
}

SimClient *sim_client_join(SimClient *leader, SimClientRun *run, void *context)
{
    SimClient *client = client_new(leader->world, run, context);
    client->leader = leader;
    sim_schedule(client->world, client->world->now_us, &client->wake);
    return client;
}

SimClient *sim_world_running(const SimWorld *world)
{
    return world->running;
}

uint32_t sim_client_number(const SimClient *client)
{
    return client->number;
}

bool sim_client_alive(const SimClient *client)
{
    return client->leader->alive;
}

bool sim_client_ended(const SimClient *client)
{
    return fiber_ended(client->fiber);
}

uint32_t sim_client_calls(const SimClient *client)
{
    return client->calls;
}

void sim_client_next(SimClient *client)
{
    client->calls = (client->calls / PIECE_CALLS + 1) * PIECE_CALLS;
    client->draws = 0;
}

SimWorld *sim_client_world(const SimClient *client)
{
    return client->world;
}

void sim_client_kill(SimClient *client)
{
    if (client != NULL)
        client->leader->alive = false;
}

void sim_wake(SimWorld *world, SimClient *client)
{
    CHECK(world->to_wake == NULL);
    world->to_wake = client; /* NULL when the call came from outside */
}

static void client_yield(SimClient *client)
{
    client->asleep = true;
    fiber_yield(client->fiber);
    client->asleep = false;
}

/* While its machine is suspended nobody of the process goes on. */
static void thaw(SimClient *client)
{
    const SimClient *leader = client->leader;
    while (leader->alive && client->world->now_us < leader->frozen_until_us) {
        sim_schedule(client->world, leader->frozen_until_us, &client->wake);
        client_yield(client);
    }
}

void sim_wait(SimWorld *world, SimClient *client, const bool *done)
{
    while (client == NULL && !*done)
        step(world);
    while (client != NULL && client->leader->alive && !*done)
        client_yield(client);
    if (client != NULL)
        thaw(client);
}

static void client_sleep(void *self, int64_t us)
{
    SimClient *client = self;
    int64_t until_us = client->world->now_us + (us > 0 ? us : 0);
    if (client->leader->alive)
        sim_schedule(client->world, until_us, &client->wake);
    while (client->leader->alive && client->world->now_us < until_us)
        client_yield(client);
    thaw(client);
    if (!client->leader->alive)
        client->ghost_us += us > 0 ? us : 0;
}

static int64_t client_now(void *self)
{
    const SimClient *client = self;
    return world_now(client->world) + client->leader->skew_us + client->ghost_us;
}

static int64_t client_steady(void *self)
{
    const SimClient *client = self;
    return client->world->now_us + client->ghost_us - client->leader->suspended_us;
}

Clock sim_client_clock(SimClient *client)
{
    return (Clock){client_now, client_steady, client_sleep, client, NULL};
}

static void client_fill(void *self, void *to, size_t size)
{
    SimClient *client = self;
    for (char *at = to; size > 0;) {
        SimKey key = {client->number, client->calls, client->draws++};
        uint64_t number = sim_draw(client->world, PURPOSE_RANDOM, key);
        size_t part = size < sizeof number ? size : sizeof number;
        memcpy(at, &number, part);
        at += part;
        size -= part;
    }
}

Random sim_client_random(SimClient *client)
{
    return (Random){client_fill, client};
}

bool sim_call_begin(SimWorld *world, SimClient *client, SimKey *ret_key)
{
    if (client == NULL) {
        *ret_key = (SimKey){0, ++world->outside_calls, 0};
        return true;
    }
    SimKey key = {client->number, ++client->calls, 0};
    *ret_key = key;
    client->draws = 0;
    SimClient *leader = client->leader;
    if (leader->alive && sim_fires(world, SIM_STALL, key, NULL))
        client_sleep(client, sim_span_us(world, SIM_STALL, key, 100 * US_PER_MS));
    if (leader->alive && sim_fires(world, SIM_STEP, key, NULL))
        draw_skew(leader, SIM_STEP, key);
    if (leader->alive && sim_fires(world, SIM_SUSPEND, key, NULL)) {
        int64_t for_us = sim_span_us(world, SIM_SUSPEND, key, US_PER_S);
        leader->frozen_until_us = world->now_us + for_us;
        leader->suspended_us += for_us;
        thaw(client);
    }
    if (leader->alive && sim_fires(world, SIM_DEATH, key, NULL))
        leader->alive = false;
    if (!leader->alive)
        CHECK(++client->ghost_calls < GHOST_CALLS_MAX);
    return leader->alive;
}
