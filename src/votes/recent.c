/* recent.c -- voters' rows that are kept in memory, for pages: the head and the lines, as the store gave them; see base/copies.h. All that
 * changes a row is an appended entry, which drops the copy when the store has answered. */
#include "votes/inside.h"

/* The head, then the lines. */
typedef struct RowCopy {
    Head head;
    bool has_head;
    size_t line_count;
} RowCopy;

typedef struct RowKey {
    uint64_t generation, voter;
} RowKey;

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
    copies_forget(votes->copies, key_slice(&key));
}

static Slice pack(const Voter *voter, Arena *arena)
{
    RowCopy row = {voter->head, voter->has_head, voter->line_count};
    size_t lines_size = voter->line_count * sizeof(VoteLine);
    char *bytes = arena_bytes(arena, sizeof row + lines_size);
    memcpy(bytes, &row, sizeof row);
    if (lines_size > 0)
        memcpy(bytes + sizeof row, voter->lines, lines_size);
    return slice_of(bytes, sizeof row + lines_size);
}

static void unpack(Slice bytes, Arena *arena, Voter *voter)
{
    RowCopy row;
    memcpy(&row, bytes.data, sizeof row);
    voter->head = row.head;
    voter->has_head = row.has_head;
    voter->line_count = row.line_count;
    voter->lines = ARENA_ARRAY(arena, row.line_count + 1, VoteLine);
    if (row.line_count > 0)
        memcpy(voter->lines, bytes.data + sizeof row, row.line_count * sizeof(VoteLine));
}

Status votes_recent(Votes *votes, const Account *account, Arena *arena, VoterState *ret_state)
{
    Copy copy;
    Voter voter = {.id = account->id, .account = *account};
    RowKey key = key_of(votes, voter.id);
    if (copies_find(votes->copies, key_slice(&key), arena, &copy)) {
        unpack(copy.bytes, arena, &voter);
    } else {
        TRY(votes_read_row(votes, arena, &voter));
        copy.bytes = pack(&voter, arena);
        copies_put(votes->copies, key_slice(&key), &copy);
    }
    return votes_state_of(votes, &voter, arena, ret_state);
}
