/* ledger.h -- the bytes of the ledger: row keys, columns and values of its tables. Pure; the fuzzer runs the decoders.
 *
 * voters         row voter            head | s/<policy> | t/<token> | z/<seq>
 * policy_voters  row gen,policy,bucket  sum | v/<voter> | h/<hour>
 * Numbers are big-endian, so that columns sort as numbers. Every value begins with a format byte. */
#pragma once

#include "base/bytes.h"
#include "votes/votes.h"

typedef struct LedgerHead {
    uint64_t seq;
    Id version;
    int64_t time_us;
    int64_t held; /* over all lines */
    bool closed;
    uint32_t day;   /* of the last save */
    uint32_t saves; /* on that day */
} LedgerHead;

void ledger_put_head(Buffer *to, const LedgerHead *head);
MUST_USE Status ledger_get_head(Slice value, LedgerHead *ret_head);

void ledger_put_line(Buffer *to, const VoteLine *line, uint64_t seq);
MUST_USE Status ledger_get_line(Slice column, Slice value, VoteLine *ret_line);

void ledger_put_entry(Buffer *to, const Entry *entry);
MUST_USE Status ledger_get_entry(Slice column, Slice value, Arena *arena, Entry *ret_entry);

/* A voter's cell in a policy's row: what the projection last saw, and from which entry. */
typedef struct Taken {
    int64_t held;
    uint64_t seq;
} Taken;
void ledger_put_taken(Buffer *to, const Taken *taken);
MUST_USE Status ledger_get_taken(Slice value, Taken *ret_taken);

/* The sum of a bucket: `ver` numbers its changes. */
typedef struct Sum {
    uint64_t ver;
    Count count;
} Sum;
void ledger_put_sum(Buffer *to, const Sum *sum);
MUST_USE Status ledger_get_sum(Slice value, Sum *ret_sum);

void ledger_put_number(Buffer *to, int64_t number);
MUST_USE Status ledger_get_number(Slice value, int64_t *ret_number);

/* Keys, in the arena. */
Slice ledger_u64(Arena *arena, uint64_t number);
Slice ledger_column(Arena *arena, char kind, uint64_t number); /* "s/" + number */
Slice ledger_token(Arena *arena, Id token);                    /* "t/" + token */
Slice ledger_count_row(Arena *arena, uint32_t generation, uint64_t policy, uint8_t bucket);
Slice ledger_totals_row(Arena *arena, uint32_t generation, uint64_t policy);
Slice ledger_hour_row(Arena *arena, uint32_t generation, uint32_t hour, uint8_t shard);
Slice ledger_history_row(Arena *arena, uint32_t generation, uint64_t policy, uint32_t day);
Slice ledger_projected_row(Arena *arena, uint32_t generation, uint64_t voter);
Slice ledger_mark_row(Arena *arena, uint32_t number, uint8_t shard); /* hour or minute */

/* Which of 16 parts: a mix of the bits, so that neighbours spread. */
uint8_t ledger_shard(uint64_t id);
uint32_t ledger_hour(int64_t time_us);
