/* cassandra.c -- a real cluster on the fixture of contract.h: OSTRAKA_TEST_CASSANDRA names its hosts, 127.0.0.1,127.0.0.2,127.0.0.3 when it is not
 * set.
 *
 * Each program has keyspaces of its own, one for each set of tables, which stay for its next run: making tables takes longer than
 * emptying them. A store is fresh when the tables that were written since the last time are truncated; that needs all nodes, so with one
 * of them down they are dropped and made again. */
#include "store/cassandra/cassandra.h"

#include <unistd.h>

#include "contract.h"
#include "store/cql/client.h"
#include "store/engine.h"

enum { TABLES_MAX = 64, EMPTY_MS = 60000, TRUNCATIONS_MAX = 5 };

/* One for each set of tables. */
typedef struct Place {
    TableSet tables;
    bool made;
    bool written[TABLES_MAX]; /* since they were last emptied */
    char keyspace[CASSANDRA_KEYSPACE_MAX + 1];
} Place;

static Place places[2];
static Place *here; /* of the store that is open */
static CqlClient *client;
static StoreEngine noting; /* the engine, and it is noted what is written */
static const StoreEngine *real;

/* ---- What is written ------------------------------------------------------------------------------------------ */

static void note(const Table *table)
{
    for (size_t i = 0; i < here->tables.count; i++)
        if (here->tables.tables[i]->number == table->number)
            __atomic_store_n(&here->written[i], true, __ATOMIC_RELAXED);
}

static void note_batch(const Batch *batch)
{
    for (size_t i = 0; i < batch->count; i++)
        note(batch->changes[i].table);
}

static Status write_many(Store *store, const Batch *batches, size_t count, Status *ret_statuses)
{
    for (size_t i = 0; i < count; i++)
        note_batch(&batches[i]);
    return real->write_many(store, batches, count, ret_statuses);
}

static Status update_if(Store *store, const Update *update, Arena *arena, Found *ret_found)
{
    note(update->table);
    note_batch(&update->marks);
    return real->update_if(store, update, arena, ret_found);
}

static Status update_many(Store *store, const Update *updates, size_t count, Arena *arena,
                          Status *ret_statuses)
{
    for (size_t i = 0; i < count; i++) {
        note(updates[i].table);
        note_batch(&updates[i].marks);
    }
    return real->update_many(store, updates, count, arena, ret_statuses);
}

static void watch(Store *store)
{
    real = store->engine;
    noting = *real;
    noting.write_many = write_many;
    noting.update_if = update_if;
    noting.update_many = update_many;
    store->engine = &noting;
}

/* ---- Where ----------------------------------------------------------------------------------------------------- */

/* A name that another build of the same program does not have. */
static void name_keyspace(Place *place)
{
    char path[4096];
    uint32_t hash = 2166136261u;
    ssize_t size = readlink("/proc/self/exe", path, sizeof path);
    for (ssize_t i = 0; i < size; i++)
        hash = (hash ^ (unsigned char)path[i]) * 16777619u;
    snprintf(place->keyspace, sizeof place->keyspace, "contract_%08x_%zu", hash,
             place->tables.count);
}

static Place *place_of(TableSet tables)
{
    CHECK(tables.count <= TABLES_MAX);
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        if (places[i].tables.tables == NULL) {
            places[i].tables = tables;
            name_keyspace(&places[i]);
        }
        if (places[i].tables.tables == tables.tables)
            return &places[i];
    }
    CHECK(false); /* a third set of tables */
    return NULL;
}

static Status options_of(const ContractOptions *options, CassandraOptions *ret_options,
                         Reason *reason)
{
    char address[1000];
    const char *hosts = getenv("OSTRAKA_TEST_CASSANDRA");
    if (hosts == NULL || hosts[0] == '\0')
        hosts = "127.0.0.1,127.0.0.2,127.0.0.3";
    *ret_options = (CassandraOptions){.request_ms = 10000,
                                      .connections = 1,
                                      .grace_s = options->grace_s,
                                      .world = options->world,
                                      .tables = options->tables};
    snprintf(address, sizeof address, "cassandra://%s/%s", hosts, here->keyspace);
    return cassandra_address(slice_from(address), &ret_options->address, reason);
}

/* ---- Empty tables ------------------------------------------------------------------------------------------------ */

static Status connect_once(const CassandraOptions *options, Reason *reason)
{
    static CqlContact contacts[CASSANDRA_HOSTS_MAX];
    if (client != NULL)
        return STATUS_OK;
    for (size_t i = 0; i < options->address.host_count; i++)
        contacts[i] = (CqlContact){options->address.hosts[i].name, options->address.hosts[i].port};
    CqlOptions cql = {.contacts = contacts,
                      .contact_count = options->address.host_count,
                      .keyspace = here->keyspace,
                      .request_ms = EMPTY_MS,
                      .connect_ms = 5000,
                      .silence_ms = 5000,
                      .connections = 1,
                      .in_flight = 100,
                      .world = options->world};
    return cql_open(&cql, &client, reason);
}

/* A statement about every table that was written, all at once or one after the other; `rows`: how many came. */
typedef struct Each {
    const char *before, *after;
    CqlKind kind;
    CqlConsistency consistency;
    bool together;
} Each;

static const Each TRUNCATE = {"TRUNCATE", "", CQL_WRITE, CQL_QUORUM, true};
static const Each DROP = {"DROP TABLE IF EXISTS", "", CQL_WRITE, CQL_QUORUM, false};
static const Each LOOK = {"SELECT row FROM", " LIMIT 1", CQL_READ, CQL_ALL, true};

static Status each_written(const Each *each, size_t *ret_rows, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    CqlCall *calls = ARENA_ARRAY(arena, here->tables.count, CqlCall);
    CqlAnswer *answers = ARENA_ARRAY(arena, here->tables.count, CqlAnswer);
    size_t count = 0, rows = 0;
    for (size_t i = 0; i < here->tables.count; i++)
        if (here->written[i])
            calls[count++] =
                (CqlCall){.kind = each->kind,
                          .consistency = each->consistency,
                          .text = arena_print(arena, "%s %s.%s%s%c", each->before, here->keyspace,
                                              here->tables.tables[i]->name, each->after, 0)
                                      .data};
    if (each->together)
        cql_run(client, calls, count, arena, answers);
    for (size_t i = 0; i < count; i++) {
        if (!each->together)
            cql_run(client, &calls[i], 1, arena, &answers[i]);
        if (answers[i].status != STATUS_OK)
            return reason_set(reason, answers[i].status, "", "%s: %s", calls[i].text,
                              answers[i].words);
        rows += answers[i].rows.count;
    }
    *ret_rows = rows;
    return STATUS_OK;
}

/* A write of the last test that two replicas had acknowledged may reach the third while that one empties the table: then there is a row
 * after all, which a second TRUNCATE takes away. */
static Status truncate_written(Reason *reason)
{
    size_t rows = 1;
    for (int i = 0; i < TRUNCATIONS_MAX && rows > 0; i++) {
        TRY(each_written(&TRUNCATE, &rows, reason));
        TRY(each_written(&LOOK, &rows, reason));
    }
    return rows == 0 ? STATUS_OK
                     : reason_set(reason, STATUS_UNKNOWN, "", "a table does not become empty");
}

/* TRUNCATE needs them all. */
static bool all_are_up(void)
{
    ARENA_SCOPE Arena *arena = arena_new();
    const CqlHost *hosts;
    size_t count = cql_hosts(client, arena, &hosts), up = 0;
    for (size_t i = 0; i < count; i++)
        up += hosts[i].up;
    return up == count;
}

static Status empty(const CassandraOptions *options, Reason *reason)
{
    size_t rows;
    TRY(connect_once(options, reason));
    if (!all_are_up() || truncate_written(reason) != STATUS_OK) {
        TRY(each_written(&DROP, &rows, reason));
        TRY(store_cassandra_init(options, 3, reason));
    }
    memset(here->written, 0, sizeof here->written);
    return STATUS_OK;
}

static Status open_cassandra(const ContractOptions *options, Store **ret_store, Reason *reason)
{
    CassandraOptions cassandra;
    here = place_of(options->tables);
    TRY(options_of(options, &cassandra, reason));
    if (!here->made) {
        TRY(store_cassandra_init(&cassandra, 3, reason));
        memset(here->written, true, sizeof here->written);
        here->made = true;
    }
    if (options->fresh)
        TRY(empty(&cassandra, reason));
    TRY(store_cassandra_open(&cassandra, ret_store, reason));
    watch(*ret_store);
    return STATUS_OK;
}

const ContractEngine CONTRACT_CASSANDRA = {
    .name = "cassandra", .takes_clock = false, .open = open_cassandra};
