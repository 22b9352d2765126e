/* project.c -- from the entries in voters' rows to the counts of policies.
 *
 * Entries are taken in order, per voter; of each entry first the decreases, with all their cells acknowledged, then the
 * increases, so that no polly ever shows on two policies. Many voters go together (count_update.h). `projected` comes last: what it skips
 * is whole. */
#include "base/mutant.h"
#include "votes/count_update.h"

/* A voter on the way: entries that were read, and the one that is next. */
typedef struct Walker {
    uint64_t voter;
    uint64_t projected; /* seq of the last entry that is whole */
    Entry *entries;
    size_t count, at;
    Status status; /* not OK: it leaves the round; its mark brings it back */
} Walker;

typedef struct Projection {
    Votes *votes;
    uint32_t generation;
    Arena *arena;
    Walker *walkers;
    size_t count;
    CountUpdateItem *items; /* room for those of a phase */
} Projection;

/* ---- A phase: all decreases, or all increases, of each voter's next entry -------------------------------------- */

static void run_phase(Projection *projection, bool decreases)
{
    CountUpdate count_update = {.votes = projection->votes,
                                .generation = projection->generation,
                                .arena = projection->arena,
                                .items = projection->items};
    for (size_t i = 0; i < projection->count; i++) {
        Walker *walker = &projection->walkers[i];
        if (walker->status != STATUS_OK || walker->at == walker->count)
            continue;
        const Entry *entry = &walker->entries[walker->at];
        for (size_t k = 0; k < entry->change_count; k++)
            if ((entry->changes[k].held < entry->changes[k].before) == decreases)
                count_update.items[count_update.count++] =
                    (CountUpdateItem){entry->changes[k].policy, walker->voter, entry,
                                      &entry->changes[k], &walker->status};
    }
    votes_update_counts(&count_update);
}

/* ---- Voters -------------------------------------------------------------------------------------------------- */

/* The hours of this entry's day are acknowledged by now. */
static Status mark_late(Projection *projection)
{
    uint32_t days[ROUND_VOTERS];
    size_t count = 0;
    for (size_t i = 0; i < projection->count; i++) {
        const Walker *walker = &projection->walkers[i];
        if (walker->at < walker->count && walker->entries[walker->at].change_count > 0)
            days[count++] = count_day(walker->entries[walker->at].time_us);
    }
    return votes_mark_late(projection->votes, &(LateMarks){projection->generation, days, count},
                           projection->arena);
}

static Status write_projected(Projection *projection)
{
    Votes *votes = projection->votes;
    Arena *arena = projection->arena;
    RowChange *changes = ARENA_ARRAY(arena, projection->count, RowChange);
    size_t count = 0;
    TRY(mark_late(projection));
    for (size_t i = 0; i < projection->count; i++) {
        const Walker *walker = &projection->walkers[i];
        if (walker->status != STATUS_OK || walker->at == walker->count)
            continue;
        uint64_t seq = walker->entries[walker->at].seq;
        changes[count++] = (RowChange){
            &TABLE_PROJECTED,
            ledger_projected_row(arena, projection->generation, walker->voter),
            {.column = SLICE("seq"), .value = ledger_u64(arena, seq), .timestamp = (int64_t)seq}};
    }
    return store_write(votes->store, &(Batch){changes, count, true});
}

/* Everybody whose entry is whole goes on to the next. */
static void advance(Projection *projection)
{
    for (size_t i = 0; i < projection->count; i++) {
        Walker *walker = &projection->walkers[i];
        if (walker->status == STATUS_OK && walker->at < walker->count)
            walker->projected = walker->entries[walker->at++].seq;
    }
}

/* An entry that cannot be read ends what the walker carries: it is that voter's damage, and nobody else's. */
static bool take_entry(Projection *projection, Walker *walker, const Cell *cell)
{
    if (ledger_get_entry(cell->column, cell->value, projection->arena,
                         &walker->entries[walker->count]) == STATUS_OK) {
        walker->count++;
        return true;
    }
    votes_note_damage(projection->votes, walker->voter);
    return false;
}

/* All entries of one voter that are not projected yet, at most a page. */
static Status load_page(Projection *projection, Walker *walker)
{
    Page page;
    Arena *arena = projection->arena;
    Query query = {.table = &TABLE_VOTERS,
                   .row = ledger_u64(arena, walker->voter),
                   .from = ledger_column(arena, 'z', walker->projected + 1),
                   .to = SLICE("z0"),
                   .limit = ROUND_ENTRIES,
                   .mode = STORE_SERIAL};
    TRY(store_slice(projection->votes->store, &query, arena, &page));
    walker->entries = ARENA_ARRAY(arena, page.count, Entry);
    while (walker->count < page.count && take_entry(projection, walker, &page.cells[walker->count]))
        continue;
    return STATUS_OK;
}

/* The next entry and the one behind it, which is mostly not there: two cells cost much less than a slice. */
static Status read_entries(Projection *projection, Walker **walkers, size_t count)
{
    Arena *arena = projection->arena;
    Read *reads = ARENA_ARRAY(arena, 2 * count, Read);
    ReadAnswer *answers = ARENA_ARRAY(arena, 2 * count, ReadAnswer);
    for (size_t i = 0; i < 2 * count; i++) {
        const Walker *walker = walkers[i / 2];
        reads[i] = (Read){&TABLE_VOTERS, ledger_u64(arena, walker->voter),
                          ledger_column(arena, 'z', walker->projected + 1 + i % 2), STORE_SERIAL};
    }
    TRY(store_read_many(projection->votes->store, reads, 2 * count, arena, answers));
    for (size_t i = 0; i < count; i++) {
        Walker *walker = walkers[i];
        const ReadAnswer *next = &answers[2 * i], *behind = next + 1;
        if (next->status == STATUS_NOT_FOUND)
            continue;
        if (behind->status == STATUS_OK) {
            walker->status = load_page(projection, walker);
            continue;
        }
        walker->entries = ARENA_NEW(arena, Entry);
        walker->status = next->status == STATUS_OK ? behind->status : next->status;
        if (walker->status == STATUS_NOT_FOUND) {
            walker->status = STATUS_OK;
            (void)take_entry(projection, walker, &next->cell);
        }
    }
    return STATUS_OK;
}

/* An entry that came with its voter and is the next one needs no reading: it never changes. One that was saved after it
 * waits, too, or has its mark. */
static Status load_entries(Projection *projection, const QueuedVoter *voters)
{
    Walker **unknown = ARENA_ARRAY(projection->arena, projection->count, Walker *);
    size_t count = 0;
    for (size_t i = 0; i < projection->count; i++) {
        Walker *walker = &projection->walkers[i];
        Entry *entry = voters[i].entry;
        if (walker->status != STATUS_OK)
            continue;
        if (entry != NULL && entry->seq == walker->projected + 1) {
            walker->entries = entry;
            walker->count = 1;
        } else {
            unknown[count++] = walker;
        }
    }
    return read_entries(projection, unknown, count);
}

static Status load_walkers(Projection *projection, const QueuedVoter *voters)
{
    Arena *arena = projection->arena;
    size_t count = projection->count;
    Read *reads = ARENA_ARRAY(arena, count, Read);
    ReadAnswer *answers = ARENA_ARRAY(arena, count, ReadAnswer);
    for (size_t i = 0; i < count; i++)
        reads[i] = (Read){&TABLE_PROJECTED,
                          ledger_projected_row(arena, projection->generation, voters[i].voter),
                          SLICE("seq"), STORE_NORMAL};
    TRY(store_read_many(projection->votes->store, reads, count, arena, answers));
    for (size_t i = 0; i < count; i++) {
        Walker *walker = &projection->walkers[i];
        Reader reader = reader_of(answers[i].cell.value);
        uint64_t projected = answers[i].status == STATUS_OK ? reader_u64(&reader) : 0;
        *walker =
            (Walker){.voter = voters[i].voter, .projected = projected, .status = answers[i].status};
        if (walker->status == STATUS_NOT_FOUND)
            walker->status = STATUS_OK;
    }
    return load_entries(projection, voters);
}

static bool work_left(const Projection *projection)
{
    for (size_t i = 0; i < projection->count; i++)
        if (projection->walkers[i].status == STATUS_OK &&
            projection->walkers[i].at < projection->walkers[i].count)
            return true;
    return false;
}

static size_t most_items(const Projection *projection)
{
    size_t most = 0;
    for (size_t i = 0; i < projection->count; i++) {
        size_t largest = 0;
        for (size_t k = 0; k < projection->walkers[i].count; k++)
            if (projection->walkers[i].entries[k].change_count > largest)
                largest = projection->walkers[i].entries[k].change_count;
        most += largest;
    }
    return most;
}

Status votes_project_round(Votes *votes, ProjectRound *round)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Projection projection = {.votes = votes,
                             .generation = round->generation,
                             .arena = arena,
                             .walkers = ARENA_ARRAY(arena, round->count, Walker),
                             .count = round->count};
    round->more = false;
    memset(round->projected, 0, sizeof round->projected);
    TRY(load_walkers(&projection, round->voters));
    projection.items = ARENA_ARRAY(arena, most_items(&projection), CountUpdateItem);
    while (work_left(&projection)) {
        if (MUTANT(projected_first))
            TRY(write_projected(&projection));
        run_phase(&projection, !MUTANT(additions_first));
        run_phase(&projection, MUTANT(additions_first));
        TRY(write_projected(&projection));
        advance(&projection);
    }
    Status worst = STATUS_OK;
    for (size_t i = 0; i < round->count; i++) {
        round->more |= projection.walkers[i].count == ROUND_ENTRIES;
        round->projected[i] = projection.walkers[i].projected;
        if (projection.walkers[i].status != STATUS_OK)
            worst = projection.walkers[i].status;
    }
    return worst;
}
