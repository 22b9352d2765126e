/* cached_rows.c -- voters' rows that are kept in memory: the head and the lines, as the store gave them; see base/read_cache.h. All that changes a
 * row is an appended entry, which drops the copy when the store has answered; then the row as it is after the entry takes its place, unless
 * somebody else has dropped it, too, since it was read. */
#include "votes/votes_private.h"

/* This, then the head's cell, then the lines. */
typedef struct RowCopy {
    LedgerHead head;
    bool has_head;
    size_t head_size, line_count;
} RowCopy;

static RowKey key_of(const Votes *votes, uint64_t voter)
{
    return (RowKey){store_generation(votes->store), voter};
}

static Slice key_slice(const RowKey *key)
{
    return slice_of(key, sizeof *key);
}

void votes_forget_copy(Votes *votes, uint64_t voter)
{
    RowKey key = key_of(votes, voter);
    read_cache_forget(votes->read_cache, key_slice(&key));
}

static Slice pack(const Voter *voter, Arena *arena)
{
    RowCopy row = {voter->head, voter->has_head, voter->head_value.size, voter->line_count};
    size_t lines_size = voter->line_count * sizeof(VoteLine);
    size_t size = sizeof row + row.head_size + lines_size;
    char *bytes = arena_bytes(arena, size), *at = bytes + sizeof row;
    memcpy(bytes, &row, sizeof row);
    if (row.head_size > 0)
        memcpy(at, voter->head_value.data, row.head_size);
    if (lines_size > 0)
        memcpy(at + row.head_size, voter->lines, lines_size);
    return slice_of(bytes, size);
}

static void unpack(Slice bytes, Arena *arena, Voter *voter)
{
    RowCopy row;
    memcpy(&row, bytes.data, sizeof row);
    const char *at = bytes.data + sizeof row;
    voter->head = row.head;
    voter->has_head = row.has_head;
    voter->head_value = slice_of(at, row.head_size);
    voter->line_count = row.line_count;
    voter->lines = ARENA_ARRAY(arena, row.line_count + 1, VoteLine);
    if (row.line_count > 0)
        memcpy(voter->lines, at + row.head_size, row.line_count * sizeof(VoteLine));
}

Status votes_cached_row(Votes *votes, Arena *arena, Voter *voter)
{
    voter->key = key_of(votes, voter->id);
    if (read_cache_find(votes->read_cache, key_slice(&voter->key), arena, &voter->copy)) {
        unpack(voter->copy.bytes, arena, voter);
        return STATUS_OK;
    }
    TRY(votes_read_row(votes, arena, voter));
    if (MUTANT(stamp_after_read))
        (void)read_cache_find(votes->read_cache, key_slice(&voter->key), arena, &voter->copy);
    voter->copy.bytes = pack(voter, arena);
    read_cache_put(votes->read_cache, key_slice(&voter->key), &voter->copy);
    return STATUS_OK;
}

void votes_keep_row(Votes *votes, const Voter *voter, Arena *arena)
{
    CachedBytes copy = voter->copy;
    copy.bytes = pack(voter, arena);
    copy.ticket++; /* its own write was one to forget for */
    read_cache_put(votes->read_cache, key_slice(&voter->key), &copy);
}

Status votes_cached(Votes *votes, const Account *account, Arena *arena, VoterState *ret_state)
{
    Voter voter = {.id = account->id, .account = *account};
    TRY(votes_cached_row(votes, arena, &voter));
    return votes_state_of(votes, &voter, arena, ret_state);
}
