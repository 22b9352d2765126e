/* generations.c -- which set of derived rows counts, and building another beside it.
 *
 * The row `derived` of table `generations` names the generation that is read, and perhaps another that is written as well.
 * Handles keep what they read for GENERATIONS_CACHE_S. A rebuild goes through states of that row, each at least that
 * long after the one before, so that at any moment two handles differ by at most one step:
 *     {g}            everybody reads and writes g
 *     {g, also g+1}  everybody reads g and writes both; then a pass brings all voters into g+1
 *     {g+1, also g}  some still read g, so it is written on
 *     {g+1}
 * Between any two neighbours a reader finds its generation written. A projector that slept through a step leaves a voter
 * behind in one of them, and the sweep, which looks at both, finds that.
 * Numbers are never used twice: `last` remembers those of rebuilds, too, that came to nothing. */
#include "votes/votes_private.h"

enum { FORMAT = 1, UPDATE_TRIES = 5 };

static const Read STATE = {&TABLE_GENERATIONS, {"derived", 7}, {"state", 5}, STORE_SERIAL};

static Status decode(Slice value, Generations *ret_generations)
{
    Reader reader = reader_of(value);
    Generations read = {0};
    (void)reader_bytes(&reader, ID_BYTES);
    uint8_t format = reader_u8(&reader);
    read.step = reader_u64(&reader);
    read.current = reader_u32(&reader);
    read.has_also = reader_u8(&reader) != 0;
    read.also = reader_u32(&reader);
    read.last = reader_u32(&reader);
    if (!reader_done(&reader) || format != FORMAT || (read.has_also && read.also == read.current))
        return STATUS_CORRUPT;
    *ret_generations = read;
    return STATUS_OK;
}

/* Who asked earlier may be answered later: the higher step stays. */
static void keep(Votes *votes, Generations *generations, ClockReading asked)
{
    pthread_mutex_lock(&votes->lock);
    if (!votes->generations_known || generations->step >= votes->generations.step) {
        votes->generations = *generations;
        votes->generations_read = asked;
        votes->generations_known = true;
    } else {
        *generations = votes->generations;
    }
    pthread_mutex_unlock(&votes->lock);
}

static Status read_state(Votes *votes, Arena *arena, Slice *ret_value, Generations *ret_generations)
{
    Cell cell = {.value = SLICE_EMPTY};
    Generations generations = {0};
    ClockReading asked = clock_reading(votes->world.clock);
    Status status = store_read(votes->store, &STATE, arena, &cell);
    if (status == STATUS_OK)
        TRY(decode(cell.value, &generations));
    else if (status != STATUS_NOT_FOUND)
        return status;
    *ret_value = cell.value;
    *ret_generations = generations;
    keep(votes, ret_generations, asked);
    return STATUS_OK;
}

/* The lock is not held while the store is asked: several may ask at once, and that is fine. */
Status votes_generations(Votes *votes, Generations *ret_generations)
{
    pthread_mutex_lock(&votes->lock);
    bool fresh =
        votes->generations_known &&
        clock_age_us(votes->world.clock, votes->generations_read) < GENERATIONS_CACHE_S * US_PER_S;
    Generations cached = votes->generations;
    pthread_mutex_unlock(&votes->lock);
    if (!fresh) {
        ARENA_SCOPE Arena *arena = arena_new();
        Slice value;
        TRY(read_state(votes, arena, &value, &cached));
    }
    *ret_generations = cached;
    return STATUS_OK;
}

Status votes_current(Votes *votes, uint32_t *ret_generation)
{
    Generations generations;
    TRY(votes_generations(votes, &generations));
    *ret_generation = generations.current;
    return STATUS_OK;
}

uint32_t votes_generation(Votes *votes)
{
    Generations generations;
    if (votes_generations(votes, &generations) == STATUS_OK)
        return generations.current;
    pthread_mutex_lock(&votes->lock);
    uint32_t last_known = votes->generations.current;
    pthread_mutex_unlock(&votes->lock);
    return last_known;
}

/* ---- A rebuild ------------------------------------------------------------------------------------------------- */

static Slice encode(const Generations *generations, Id id, Arena *arena)
{
    BUFFER_SCOPE Buffer buffer = {0};
    buffer_bytes(&buffer, id_slice(&id));
    buffer_u8(&buffer, FORMAT);
    buffer_u64(&buffer, generations->step);
    buffer_u32(&buffer, generations->current);
    buffer_u8(&buffer, generations->has_also);
    buffer_u32(&buffer, generations->also);
    buffer_u32(&buffer, generations->last);
    return arena_copy(arena, buffer_slice(&buffer));
}

/* From `from`, as it was read, to `to`; CONFLICT when somebody else made a step. */
static Status step_to(Votes *votes, Slice from, Generations to, Arena *arena)
{
    Id id = id_new(votes->world.clock, votes->world.random);
    to.step++;
    ClockReading asked = clock_reading(votes->world.clock);
    Replacement step = {.table = STATE.table,
                        .row = STATE.row,
                        .column = STATE.column,
                        .before = from,
                        .value = encode(&to, id, arena),
                        .id = id};
    TRY(store_replace(votes->store, &step, UPDATE_TRIES, arena));
    keep(votes, &to, asked);
    return STATUS_OK;
}

typedef struct Rebuild {
    Votes *votes;
    const RebuildOptions *options;
    Arena *arena;
} Rebuild;

/* Long enough that every handle knows the last step. */
static void settle(const Rebuild *rebuild)
{
    clock_sleep_us(rebuild->votes->world.clock, rebuild->options->settle_s * US_PER_S);
}

/* Brings all voters into the generation. Whoever cannot be carried ends it: then the rebuild can be asked for again. */
static Status pass(const Rebuild *rebuild, uint32_t generation)
{
    BUFFER_SCOPE Buffer position = {0};
    uint64_t done = 0;
    for (bool more = true; more;) {
        ARENA_SCOPE Arena *arena = arena_new();
        Slice next;
        size_t count;
        TRY(votes_pass_page(rebuild->votes, generation, buffer_slice(&position), arena,
                            &(VotesPage){&next, &more, &count}));
        buffer_clear(&position);
        buffer_bytes(&position, next);
        done += count;
        if (rebuild->options->progress != NULL)
            rebuild->options->progress(rebuild->options->self, done);
    }
    return STATUS_OK;
}

/* One step from what stands; `*ret_done` when something was built and this was the last. A rebuild that somebody left behind after it
 * had moved is only ended: what is read now is what the caller wants to be built anew. */
static Status rebuild_step(const Rebuild *rebuild, bool *built, bool *ret_done)
{
    Votes *votes = rebuild->votes;
    Generations at;
    Slice value;
    TRY(read_state(votes, rebuild->arena, &value, &at));
    *ret_done = false;
    if (!at.has_also && *built) {
        *ret_done = true;
        return STATUS_OK;
    }
    if (!at.has_also) {
        at.last++;
        at.also = at.last;
        at.has_also = true;
    } else if (at.also > at.current) {
        TRY(pass(rebuild, at.also));
        settle(rebuild);
        uint32_t old = at.current;
        at.current = at.also;
        at.also = old;
        *built = true;
    } else {
        at.has_also = false;
        at.also = 0;
    }
    TRY(step_to(votes, value, at, rebuild->arena));
    settle(rebuild);
    return STATUS_OK;
}

Status votes_rebuild(Votes *votes, const RebuildOptions *options)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Rebuild rebuild = {votes, options, arena};
    for (bool built = false, done = false; !done;)
        TRY(rebuild_step(&rebuild, &built, &done));
    return STATUS_OK;
}
