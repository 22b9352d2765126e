/* chain.h -- the workload `chain`: registers that clients append to and take in turns, on conditional rows.
 *
 * A row has a `head` {seq, id} and a log `z/<seq>` {id, id before}: appending is one update on the head whose proof is the log
 * entry, as the ledger of votes does it. It also has a `slot`, which is free or held: taking and freeing it are updates whose
 * proof is a receipt `c/<id>`, as claims of names do it. All go through store_update, the rule for unknown outcomes. */
#pragma once

#include "base/bytes.h"
#include "base/ids.h"
#include "simulator.h"

extern const Table CHAIN_TABLE;

typedef enum ChainKind { CHAIN_APPEND, CHAIN_SLOT } ChainKind;

/* One thing that a client tried, and what it was told. */
typedef struct ChainTry {
    Id id;
    ChainKind kind;
    Slice row;
    Slice proof;   /* the column */
    bool answered; /* it lived to hear the answer */
    Status told;
    struct ChainTry *next;
} ChainTry;

typedef struct Chain {
    Slice *rows;
    size_t row_count;
    uint64_t *seen; /* by row: the highest seq that anybody read serially */
    ChainTry *tries;
} Chain;

enum { CHAIN_HEAD = 8 + ID_BYTES, CHAIN_ENTRY = 2 * ID_BYTES };

/* The column of a log entry. */
static inline Slice chain_entry_column(uint64_t seq, Arena *arena)
{
    return arena_print(arena, "z/%016llx", (unsigned long long)seq);
}

extern const Checker CHECK_CHAIN_TOLD;
extern const Checker CHECK_CHAIN_GAPS;
