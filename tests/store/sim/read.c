/* read.c -- cells and slices. A normal read asks two machines and the third when one of them fails; what they lack of each
 * other is repaired before the answer. A serial read takes part in the agreement about the row. */
#include <stdlib.h>

#include "store/sim/cluster.h"

enum { THIRD_AFTER_US = 50000 };

/* One row's part of a call. */
struct Fetch {
    Row *row;
    Range range; /* its slices point into `bytes` */
    char *bytes;
    bool serial, merged;
    uint8_t order[SIM_NODES], asked, answered;
    uint32_t round;
    Answer answers[2];
    Cells result;
};

/* ---- Asking ---------------------------------------------------------------------------------------------- */

/* A question on its way, and then its answer. */
typedef struct ReadQuery {
    SimEvent event;
    Call *call;
    size_t part;
    uint32_t round;
    Answer answer;
} ReadQuery;

static void fetch_next(Call *call, size_t part, int64_t after_us);

static void ask_drop(SimEvent *event)
{
    ReadQuery *ask = (ReadQuery *)event;
    cells_free(&ask->answer.cells);
    call_release(ask->call);
    free(ask);
}

/* A serial question has nobody else to go to. */
static void ask_failed(ReadQuery *ask)
{
    Fetch *fetch = &ask->call->fetches[ask->part];
    if (ask->call->done || ask->round != fetch->round)
        return;
    if (fetch->serial || fetch->asked == SIM_NODES)
        call_doom(ask->call);
    else
        fetch_next(ask->call, ask->part, THIRD_AFTER_US);
}

static void send_repair(Call *call, size_t part, Cells *missing, int node)
{
    if (missing->count == 0)
        return;
    Mutation *mutation = mutation_new(call->fetches[part].row);
    mutation->cells = *missing;
    *missing = (Cells){0};
    mutation_send(call, part, PART_FETCH + 4 * SIM_NODES * 8 * (uint32_t)STORE_MANY_MAX, mutation,
                  node, SEND_USUAL);
    mutation_release(mutation);
}

/* Done, once the machines that lacked something have it. */
static void fetch_done(Call *call, size_t part, Merged *merged)
{
    Fetch *fetch = &call->fetches[part];
    uint8_t repairs = (uint8_t)((merged->missing[0].count > 0) + (merged->missing[1].count > 0));
    fetch->merged = true;
    fetch->result = merged->living;
    merged->living = (Cells){0};
    if (repairs == 0) {
        call_ack(call, part);
        return;
    }
    call->parts[part] = (SimPart){repairs, 0, repairs};
    for (int i = 0; i < 2; i++)
        send_repair(call, part, &merged->missing[i], fetch->answers[i].node);
}

static void fetch_start(Call *call, size_t part)
{
    Fetch *fetch = &call->fetches[part];
    cells_free(&fetch->answers[0].cells);
    cells_free(&fetch->answers[1].cells);
    fetch->asked = fetch->answered = 0;
    fetch_next(call, part, 0);
    if (!fetch->serial && fetch->asked < SIM_NODES)
        fetch_next(call, part, 0);
}

static void fetch_merge(Call *call, size_t part)
{
    Fetch *fetch = &call->fetches[part];
    Merged merged = {0};
    merge_answers(fetch->answers, &fetch->range, node_now_us(call->sim, call->coordinator),
                  call->sim->options.grace_s * US_PER_S, &merged);
    if (merged.cut) {
        fetch->range.want = 2 * fetch->range.want + 16;
        fetch->round++;
        fetch_start(call, part);
    } else {
        fetch_done(call, part, &merged);
    }
    merged_free(&merged);
}

static void serial_done(Call *call, size_t part, const Answer *answer)
{
    Merged merged = {0};
    int64_t now_us = node_now_us(call->sim, call->coordinator);
    for (size_t i = 0; i < answer->cells.count; i++)
        if (version_alive(answer->cells.items[i], now_us))
            cells_add(&merged.living, answer->cells.items[i]);
    fetch_done(call, part, &merged);
}

static void ask_answered(SimEvent *event)
{
    ReadQuery *ask = (ReadQuery *)event;
    Fetch *fetch = &ask->call->fetches[ask->part];
    bool counts = !ask->call->done && ask->round == fetch->round && fetch->answered < 2;
    if (counts && fetch->serial) {
        fetch->answered = 2;
        serial_done(ask->call, ask->part, &ask->answer);
    } else if (counts) {
        fetch->answers[fetch->answered++] = ask->answer;
        ask->answer.cells = (Cells){0};
        if (fetch->answered == 2)
            fetch_merge(ask->call, ask->part);
    }
    ask_drop(event);
}

/* The machine, or the agreement, takes a look at its cells. False: no answer. */
static bool look(ReadQuery *ask)
{
    Call *call = ask->call;
    const Fetch *fetch = &call->fetches[ask->part];
    if (!fetch->serial && !node_up(call->sim, ask->answer.node))
        return false;
    if (fetch->serial && !row_enter_serial(call, fetch->row, ask->event.key.part))
        return false;
    int clock = fetch->serial ? call->coordinator : ask->answer.node;
    ask->answer.all = cells_collect(&fetch->row->copies[ask->answer.node], &fetch->range,
                                    node_now_us(call->sim, clock), &ask->answer.cells);
    return true;
}

static void ask_arrived(SimEvent *event)
{
    ReadQuery *ask = (ReadQuery *)event;
    SimWorld *world = ask->call->sim->world;
    bool answers = look(ask);
    ask->event.key.part |= 1;
    int64_t at_us = after_delay(ask->call, ask->event.key.part);
    if (!answers || at_us > ask->call->deadline_us ||
        sim_fires(world, SIM_ANSWER, ask->event.key, NULL)) {
        ask_failed(ask);
        ask_drop(event);
        return;
    }
    ask->event.run = ask_answered;
    sim_schedule(world, at_us, event);
}

/* Asks the next machine in order. */
static void fetch_next(Call *call, size_t part, int64_t after_us)
{
    Fetch *fetch = &call->fetches[part];
    SimWorld *world = call->sim->world;
    int node = fetch->serial ? SIM_DECIDED : fetch->order[fetch->asked];
    uint32_t number = (uint32_t)part * 4 + (uint32_t)node;
    SimKey key = key_of(call, PART_FETCH + number * 8 + (fetch->round % 64 << 20));
    ReadQuery *ask = calloc(1, sizeof *ask);
    CHECK(ask != NULL);
    *ask = (ReadQuery){.event = {ask_arrived, ask_drop, key},
                       .call = call_keep(call),
                       .part = part,
                       .round = fetch->round,
                       .answer = {.node = node}};
    fetch->asked++;
    int64_t at_us = after_delay(call, key.part) + after_us;
    if (sim_fires(world, SIM_SLOW, key, NULL))
        at_us += sim_span_us(world, SIM_SLOW, key, DELAY_MOST_US);
    if (at_us > call->deadline_us || sim_fires(world, SIM_DROP, key, NULL)) {
        ask_failed(ask);
        ask_drop(&ask->event);
        return;
    }
    sim_schedule(world, at_us, &ask->event);
}

/* ---- Fetches --------------------------------------------------------------------------------------------- */

/* In which order the machines are asked: by luck, those that are down last. */
static void choose_order(const Call *call, size_t part, uint8_t order[SIM_NODES])
{
    uint64_t luck =
        sim_draw(call->sim->world, DRAW_NODE, key_of(call, PART_FETCH + (uint32_t)part));
    int first = (int)(luck % SIM_NODES), way = luck >> 32 & 1 ? 1 : 2, count = 0;
    for (int wanted = 1; wanted >= 0; wanted--)
        for (int i = 0; i < SIM_NODES; i++) {
            int node = (first + i * way) % SIM_NODES;
            if (node_up(call->sim, node) == (bool)wanted)
                order[count++] = (uint8_t)node;
        }
}

static Slice own_bytes(char **at, Slice slice)
{
    char *to = *at;
    if (slice.size > 0)
        memcpy(to, slice.data, slice.size);
    *at += slice.size;
    return slice_of(to, slice.size);
}

static void fetch_set(Call *call, size_t part, const Query *query, bool exact)
{
    Fetch *fetch = &call->fetches[part];
    fetch->bytes = malloc(query->from.size + query->to.size + query->after.size + 1);
    CHECK(fetch->bytes != NULL);
    char *at = fetch->bytes;
    fetch->row = rows_get(&call->sim->rows, query->table, query->row);
    fetch->serial = query->mode == STORE_SERIAL;
    fetch->range = (Range){.from = own_bytes(&at, query->from),
                           .to = own_bytes(&at, query->to),
                           .after = own_bytes(&at, query->after),
                           .resume = query->resume,
                           .reverse = query->reverse,
                           .exact = exact,
                           .want = query->limit};
    choose_order(call, part, fetch->order);
}

void fetches_free(Call *call)
{
    for (size_t i = 0; call->fetches != NULL && i < call->part_count; i++) {
        Fetch *fetch = &call->fetches[i];
        cells_free(&fetch->answers[0].cells);
        cells_free(&fetch->answers[1].cells);
        cells_free(&fetch->result);
        free(fetch->bytes);
    }
    free(call->fetches);
}

static void prepare(Call *call, size_t count)
{
    call_expect(call, count, 1, 1);
    call->fetches = calloc(count, sizeof(Fetch));
    CHECK(call->fetches != NULL || count == 0);
}

static void run(Call *call)
{
    for (size_t i = 0; i < call->part_count; i++)
        fetch_start(call, i);
    call_wait(call);
}

static bool succeeded(const Call *call, size_t part)
{
    bool alive = call->client == NULL || sim_client_alive(call->client);
    return alive && call->fetches[part].merged && call->parts[part].acks >= call->parts[part].needs;
}

/* ---- The engine's calls ---------------------------------------------------------------------------------- */

static Cell cell_of(const Version *version, Arena *arena)
{
    return (Cell){arena_copy(arena, version->column), arena_copy(arena, version->value),
                  version->stamped ? version->timestamp : 0};
}

static void answer_read(const Call *call, size_t part, Arena *arena, ReadAnswer *answer)
{
    const Cells *result = &call->fetches[part].result;
    if (!succeeded(call, part)) {
        answer->status = STATUS_UNAVAILABLE;
        return;
    }
    answer->status = result->count > 0 ? STATUS_OK : STATUS_NOT_FOUND;
    if (result->count > 0)
        answer->cell = cell_of(result->items[0], arena);
}

Status sim_read_many(Store *store, const Read *reads, size_t count, Arena *arena,
                     ReadAnswer *ret_answers)
{
    Call *call = call_begin(store);
    bool refused = call == NULL || call_refused(call);
    if (!refused) {
        prepare(call, count);
        for (size_t i = 0; i < count; i++) {
            Query query = {.table = reads[i].table,
                           .row = reads[i].row,
                           .from = reads[i].column,
                           .limit = 1,
                           .mode = reads[i].mode};
            fetch_set(call, i, &query, true);
        }
        run(call);
    }
    for (size_t i = 0; i < count; i++) {
        if (refused)
            ret_answers[i].status = STATUS_UNAVAILABLE;
        else
            answer_read(call, i, arena, &ret_answers[i]);
    }
    if (call != NULL)
        call_end(call);
    return STATUS_OK;
}

Status sim_read(Store *store, const Read *read, Arena *arena, Cell *ret_cell)
{
    ReadAnswer answer;
    TRY(sim_read_many(store, read, 1, arena, &answer));
    if (answer.status == STATUS_OK)
        *ret_cell = answer.cell;
    return answer.status;
}

static Page page_of(const Cells *result, uint32_t limit, Arena *arena)
{
    Page page = {.cells = ARENA_ARRAY(arena, result->count, Cell)};
    size_t bytes = 0;
    for (size_t i = 0; i < result->count && !page.more; i++) {
        const Version *version = result->items[i];
        bytes += version->column.size + version->value.size;
        if (page.count == limit || (page.count > 0 && bytes > STORE_PAGE_BYTES))
            page.more = true;
        else
            page.cells[page.count++] = cell_of(version, arena);
    }
    return page;
}

Status sim_slice(Store *store, const Query *query, Arena *arena, Page *ret_page)
{
    Call *call = call_begin(store);
    if (call == NULL)
        return STATUS_UNAVAILABLE;
    Status status = STATUS_UNAVAILABLE;
    if (!call_refused(call)) {
        prepare(call, 1);
        fetch_set(call, 0, query, false);
        run(call);
        if (succeeded(call, 0)) {
            *ret_page = page_of(&call->fetches[0].result, query->limit, arena);
            status = STATUS_OK;
        }
    }
    call_end(call);
    return status;
}
