/* engine.c -- opening, closing, health, and how calls are sent. */
#include <stdio.h>
#include <stdlib.h>

#include "store/cassandra/cassandra_private.h"

/* ---- Calls --------------------------------------------------------------------------------------------------- */

int64_t cassandra_time_ms(int64_t request_ms)
{
    return request_ms - request_ms / 10;
}

int64_t cassandra_until_us(const Cassandra *cassandra)
{
    return clock_steady_us(cassandra->world.clock) + cassandra->request_ms * US_PER_MS;
}

static bool all_failed(const CqlAnswer *answers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (answers[i].status != STATUS_UNAVAILABLE && answers[i].status != STATUS_UNKNOWN)
            return false;
    return true;
}

void cassandra_run(Cassandra *cassandra, const CqlCall *calls, size_t count, Arena *arena,
                   CqlAnswer *ret_answers)
{
    size_t done = 0;
    while (done < count) {
        size_t portion = count - done < CASSANDRA_PORTION ? count - done : CASSANDRA_PORTION;
        cql_run(cassandra->client, calls + done, portion, arena, ret_answers + done);
        done += portion;
        if (all_failed(ret_answers + done - portion, portion))
            break;
    }
    for (; done < count; done++)
        ret_answers[done] = (CqlAnswer){.status = STATUS_UNAVAILABLE};
}

Status cassandra_read_status(Status status)
{
    bool known = status == STATUS_OK || status == STATUS_INVALID || status == STATUS_TOO_LARGE ||
                 status == STATUS_CORRUPT;
    return known ? status : STATUS_UNAVAILABLE;
}

/* ---- Running ------------------------------------------------------------------------------------------------- */

/* Every row has a quorum as long as no more nodes are gone than copies may be missing. */
static void health(Store *store, StoreHealth *ret_health)
{
    Cassandra *cassandra = cassandra_of(store);
    ARENA_SCOPE Arena *arena = arena_new();
    const CqlHost *hosts;
    size_t count = cql_hosts(cassandra->client, arena, &hosts), gone = 0;
    const char *first = "";
    for (size_t i = 0; i < count; i++)
        if (!hosts[i].up) {
            first = gone == 0 ? hosts[i].address : first;
            gone++;
        }
    bool writable = count > gone && (int)gone <= (cassandra->copies - 1) / 2;
    StoreHealth found = {.engine = store->engine->name, .writable = writable};
    if (!writable)
        snprintf(found.reason, sizeof found.reason,
                 "%zu of %zu nodes of the cluster cannot be reached (%s%s), so some rows have no "
                 "quorum of their %d copies",
                 gone, count, first, gone > 1 ? " and others" : "", cassandra->copies);
    pthread_mutex_lock(&cassandra->lock);
    if (cassandra->not_writable != !writable) {
        cassandra->not_writable = !writable;
        cassandra->since_us = clock_now_us(cassandra->world.clock);
    }
    found.since_us = cassandra->since_us;
    pthread_mutex_unlock(&cassandra->lock);
    *ret_health = found;
}

static void metrics(Store *store, StoreMetricVisit *visit, void *context)
{
    cql_metrics(cassandra_of(store)->client, visit, context);
}

static Status backup(Store *store, const char *directory, Reason *reason)
{
    (void)store;
    (void)directory;
    return reason_set(reason, STATUS_INVALID, "store",
                      "a cluster is backed up by its own means: nodetool snapshot on every node");
}

static Status reopen(Store *store, Reason *reason)
{
    StoreHealth found;
    health(store, &found);
    if (found.writable)
        return STATUS_OK;
    return reason_set(reason, STATUS_UNAVAILABLE, "store", "%s", found.reason);
}

static void close_store(Store *store)
{
    Cassandra *cassandra = cassandra_of(store);
    cql_close(cassandra->client);
    pthread_mutex_destroy(&cassandra->lock);
    for (size_t i = 0; i < GATE_COUNT; i++)
        pthread_mutex_destroy(&cassandra->gates[i]);
    free(cassandra->tables);
    free(cassandra);
}

static const StoreEngine ENGINE = {
    .name = "cassandra",
    .shared = true,
    .read = cassandra_read,
    .read_many = cassandra_read_many,
    .slice = cassandra_slice,
    .slice_many = cassandra_slice_many,
    .scan = cassandra_scan,
    .write_many = cassandra_write_many,
    .update_if = cassandra_update_if,
    .update_many = cassandra_update_many,
    .health = health,
    .metrics = metrics,
    .backup = backup,
    .reopen = reopen,
    .close = close_store,
};

/* ---- Opening ------------------------------------------------------------------------------------------------- */

static Status check_cluster(const ClusterCheck *check, int *ret_copies)
{
    TRY(cassandra_check_versions(check));
    TRY(cassandra_wait_for_agreement(check));
    const CassandraOptions *options = check->options;
    TableState *states = ARENA_ARRAY(check->arena, options->tables.count, TableState);
    int64_t version;
    TRY(cassandra_check_keyspace(check, ret_copies));
    TRY(cassandra_check_version(check, &version));
    if (version < CASSANDRA_SCHEMA)
        return reason_set(check->reason, STATUS_INVALID, "store",
                          "keyspace %s has schema %lld, and this program needs %d: run `ostraka "
                          "cluster init` first",
                          options->address.keyspace, (long long)version, CASSANDRA_SCHEMA);
    TRY(cassandra_check_tables(check, states));
    for (size_t i = 0; i < options->tables.count; i++)
        if (states[i] != TABLE_FITS)
            return reason_set(check->reason, STATUS_REFUSED, "store",
                              "table %s.%s %s: run `ostraka cluster init`",
                              options->address.keyspace, options->tables.tables[i]->name,
                              states[i] == TABLE_MISSING
                                  ? "is missing"
                                  : "has gc_grace_seconds below grace_days, or no read_repair");
    if (*ret_copies == 1)
        cassandra_say(check,
                      "keyspace %s keeps one copy of each row: whatever that node loses is lost",
                      check->options->address.keyspace);
    return cassandra_check_nodes(check);
}

Status store_cassandra_open(const CassandraOptions *options, Store **ret_store, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    ClusterCheck check;
    int copies = 0;
    TRY(cassandra_connect(options, arena, &check, reason));
    Status status = check_cluster(&check, &copies);
    if (status != STATUS_OK) {
        cql_close(check.client);
        return status;
    }
    Cassandra *cassandra = calloc(1, sizeof *cassandra);
    CHECK(cassandra != NULL);
    *cassandra = (Cassandra){
        .store = {&ENGINE, options->tables, options->world.clock, options->grace_s},
        .world = options->world,
        .client = check.client,
        .copies = copies,
        .request_ms = cassandra_time_ms(options->request_ms),
        .tables = cassandra_statements(check.client, options->address.keyspace, options->tables)};
    pthread_mutex_init(&cassandra->lock, NULL);
    for (size_t i = 0; i < GATE_COUNT; i++)
        pthread_mutex_init(&cassandra->gates[i], NULL);
    *ret_store = &cassandra->store;
    return STATUS_OK;
}

size_t store_cassandra_nodes(Store *store, Arena *arena, const CassandraNode **ret_nodes)
{
    const CqlHost *hosts;
    CHECK(store->engine == &ENGINE);
    size_t count = cql_hosts(cassandra_of(store)->client, arena, &hosts);
    CassandraNode *nodes = ARENA_ARRAY(arena, count, CassandraNode);
    for (size_t i = 0; i < count; i++)
        nodes[i] =
            (CassandraNode){hosts[i].address, hosts[i].version, hosts[i].data_center, hosts[i].up};
    *ret_nodes = nodes;
    return count;
}

int store_cassandra_copies(Store *store)
{
    CHECK(store->engine == &ENGINE);
    return cassandra_of(store)->copies;
}
