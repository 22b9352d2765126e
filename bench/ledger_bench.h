/* ledger_bench.h -- the ledger's benchmark: accounts, policies and votes on the embedded engine, driven as the site drives them.
 *
 * ledger_main.c   the commands
 * ledger_site.c   opening, loading, the projector
 * ledger_bulk.c   millions of voters as rows
 * A save counts when it is durable and its changes are in the counts of policies: a run ends when the projector has caught up. The
 * projector is one thread, as in `serve`. Clients wait while very many voters wait for it, so that nothing is left to the
 * sweep. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "accounts/accounts.h"
#include "electorate.h"
#include "policies/policies.h"
#include "votes/votes.h"

typedef struct LedgerBench {
    const char *directory;
    size_t cache_bytes;
    uint64_t voter_count, policy_count;
    int clients;
    uint64_t runs; /* how many loads there were: seeds differ by it */

    Store *store;
    Vault *vault;
    Accounts *accounts;
    Policies *policies;
    Votes *votes;
    Electorate *electorate;
    uint64_t *ids;         /* accounts of the voters */
    _Atomic int64_t *sums; /* while bulk loading: by policy and bucket */
    atomic_uint_fast64_t next;

    pthread_t projector;
    atomic_bool projector_ends;
} LedgerBench;

#define LEDGER_REGISTERED_AGO_US \
    (INT64_C(10) * 365 * S_PER_DAY * US_PER_S) /* salary for many saves */

/* `bulk`: without syncs, for loading. */
void ledger_open(LedgerBench *bench, bool bulk);
void ledger_close(LedgerBench *bench);

void ledger_projector_start(LedgerBench *bench);
/* Ends it when nobody waits any more. */
void ledger_projector_finish(LedgerBench *bench);

/* What a client of any load has. */
typedef struct LedgerClient {
    LedgerBench *bench;
    int number;
    Arena *arena;
    BenchRandom random;
} LedgerClient;

void *ledger_client_begin(void *context, int client);
void ledger_client_end(void *state);

/* Steps: a new policy; a new voter with the first save; a save of a voter of this client. */
uint64_t ledger_add_policy(void *state);
uint64_t ledger_add_voter(void *state);
uint64_t ledger_save(void *state);

/* A step writes a chunk of voters; after all of them, the sums of the policies. */
uint64_t ledger_bulk_step(void *state);
uint64_t ledger_bulk_steps(const LedgerBench *bench);
void ledger_bulk_sums(LedgerBench *bench);
