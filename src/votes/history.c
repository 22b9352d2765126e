/* history.c -- a voter's past: the log of entries, and what stood at an earlier version. */
#include <stdlib.h>

#include "votes/votes_private.h"

Status votes_read_entry(Votes *votes, uint64_t voter, uint64_t seq, Arena *arena, Entry *ret_entry)
{
    Cell cell;
    Read read = {&TABLE_VOTERS, ledger_u64(arena, voter), ledger_column(arena, 'z', seq),
                 STORE_SERIAL};
    TRY(store_read(votes->store, &read, arena, &cell));
    return ledger_get_entry(cell.column, cell.value, arena, ret_entry);
}

Status votes_history(Votes *votes, uint64_t voter, uint64_t before, uint32_t limit, Arena *arena,
                     Entry **ret_entries, size_t *ret_count)
{
    Page page;
    Query query = {.table = &TABLE_VOTERS,
                   .row = ledger_u64(arena, voter),
                   .from = SLICE("z/"),
                   .to = before == 0 ? SLICE("z0") : ledger_column(arena, 'z', before),
                   .reverse = true,
                   .limit = limit,
                   .mode = STORE_SERIAL};
    TRY(store_slice(votes->store, &query, arena, &page));
    Entry *entries = ARENA_ARRAY(arena, page.count, Entry);
    for (size_t i = 0; i < page.count; i++)
        TRY(ledger_get_entry(page.cells[i].column, page.cells[i].value, arena, &entries[i]));
    *ret_entries = entries;
    *ret_count = page.count;
    return STATUS_OK;
}

/* ---- Going back ------------------------------------------------------------------------------------------------ */

static int by_policy(const void *a, const void *b)
{
    const VoteLine *x = a, *y = b;
    return x->policy < y->policy ? -1 : x->policy > y->policy;
}

/* Lines never go away, so whatever an entry changed is among those of today. */
static Status undo(const Entry *entry, VoterState *state)
{
    for (size_t i = 0; i < entry->change_count; i++) {
        VoteLine wanted = {.policy = entry->changes[i].policy};
        VoteLine *line =
            bsearch(&wanted, state->lines, state->line_count, sizeof wanted, by_policy);
        if (line == NULL)
            return STATUS_CORRUPT;
        line->held = entry->changes[i].before;
    }
    state->seq = entry->seq - 1;
    state->version = entry->prev;
    return STATUS_OK;
}

Status votes_back(Votes *votes, uint64_t voter, const VoterState *now, Id version, Arena *arena,
                  VoterState *ret_then)
{
    enum { PAGE = 50 };
    VoterState then = *now;
    then.lines = ARENA_ARRAY(arena, now->line_count, VoteLine);
    if (now->line_count > 0)
        memcpy(then.lines, now->lines, now->line_count * sizeof *now->lines);
    for (size_t read = 0; !id_equal(then.version, version);) {
        Entry *entries;
        size_t count;
        if (then.seq == 0 || read >= VOTES_BACK_MAX)
            return STATUS_NOT_FOUND;
        TRY(votes_history(votes, voter, then.seq + 1, PAGE, arena, &entries, &count));
        if (count == 0)
            return STATUS_CORRUPT;
        for (size_t i = 0; i < count && !id_equal(then.version, version); i++, read++)
            TRY(undo(&entries[i], &then));
    }
    then.balance = then.time_us = 0;
    then.closed = false;
    *ret_then = then;
    return STATUS_OK;
}
