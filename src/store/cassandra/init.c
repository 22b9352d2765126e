/* init.c -- making the keyspace: each step leaves what the next run finds and goes on from.
 *
 * Changes of the schema go to one node, one after the other: two at once can meet. The version is written last, so a keyspace
 * without it is one whose making was cut off, and no store opens on it. */
#include "base/bytes.h"
#include "store/cassandra/cassandra_private.h"

enum { STEP_MS = 30000 };

typedef struct Making {
    ClusterCheck check;
    const char *node; /* where changes of the schema go */
    const char *keyspace;
} Making;

/* ---- Steps ---------------------------------------------------------------------------------------------------- */

/* A statement that may be given again: when its outcome is unknown, once more. */
static Status step(const Making *making, Buffer *text)
{
    CqlAnswer answer = {.status = STATUS_UNKNOWN};
    CqlCall call = {
        .kind = CQL_WRITE, .only = making->node, .consistency = CQL_QUORUM, .request_ms = STEP_MS};
    buffer_u8(text, '\0');
    call.text = text->data;
    for (int i = 0; i < 2 && answer.status == STATUS_UNKNOWN; i++)
        cql_run(making->check.client, &call, 1, making->check.arena, &answer);
    if (answer.status != STATUS_OK)
        return reason_set(making->check.reason, answer.status, "store", "node %s: %s", making->node,
                          answer.words);
    return STATUS_OK;
}

/* ---- What is made ---------------------------------------------------------------------------------------------- */

/* Each data centre once. */
static size_t data_centers(const ClusterCheck *check, const char **ret_names, size_t *ret_least)
{
    size_t count = 0;
    for (size_t i = 0; i < check->host_count; i++) {
        size_t k = 0;
        while (k < count && strcmp(ret_names[k], check->hosts[i].data_center) != 0)
            k++;
        if (k == count)
            ret_names[count++] = check->hosts[i].data_center;
    }
    *ret_least = check->host_count;
    for (size_t k = 0; k < count; k++) {
        size_t nodes = 0;
        for (size_t i = 0; i < check->host_count; i++)
            nodes += strcmp(ret_names[k], check->hosts[i].data_center) == 0;
        if (nodes < *ret_least)
            *ret_least = nodes;
    }
    return count;
}

static Status make_keyspace(const Making *making, int copies)
{
    BUFFER_SCOPE Buffer text = {0};
    const char **names = arena_alloc(making->check.arena, making->check.host_count * sizeof *names);
    size_t least, count = data_centers(&making->check, names, &least);
    if ((size_t)copies > least)
        return reason_set(making->check.reason, STATUS_INVALID, "replication",
                          "%d copies need %d nodes in each data centre, and one has %zu; for a "
                          "trial, fewer copies will do",
                          copies, copies, least);
    buffer_print(&text,
                 "CREATE KEYSPACE IF NOT EXISTS %s WITH durable_writes = true AND replication = "
                 "{'class': 'NetworkTopologyStrategy'",
                 making->keyspace);
    for (size_t i = 0; i < count; i++)
        buffer_print(&text, ", '%s': %d", names[i], copies);
    buffer_u8(&text, '}');
    return step(making, &text);
}

static void put_quoted(Buffer *text, const char *words)
{
    for (; *words != '\0'; words++) {
        if (*words == '\'')
            buffer_u8(text, '\'');
        buffer_u8(text, (uint8_t)*words);
    }
}

static Status make_table(const Making *making, const Table *table, TableState state)
{
    BUFFER_SCOPE Buffer text = {0};
    if (state == TABLE_FITS)
        return STATUS_OK;
    if (state == TABLE_MISSING)
        buffer_print(&text,
                     "CREATE TABLE IF NOT EXISTS %s.%s (row blob, col blob, val blob, PRIMARY KEY "
                     "(row, col))",
                     making->keyspace, table->name);
    else
        buffer_print(&text, "ALTER TABLE %s.%s", making->keyspace, table->name);
    /* Blocking read repair is what lets a second read not go back behind a first. A replica that is silent is not waited for longer than it
     * takes to notice. */
    buffer_print(&text,
                 " WITH gc_grace_seconds = %lld AND read_repair = 'BLOCKING' AND "
                 "speculative_retry = '50ms' AND compaction = {'class': "
                 "'LeveledCompactionStrategy'} AND compression = {'class': 'LZ4Compressor'}",
                 (long long)making->check.options->grace_s);
    buffer_text(&text, " AND comment = '");
    put_quoted(&text, table->row);
    buffer_text(&text, " | ");
    put_quoted(&text, table->columns);
    buffer_u8(&text, '\'');
    return step(making, &text);
}

static Status make_tables(const Making *making)
{
    const CassandraOptions *options = making->check.options;
    TableState *states = ARENA_ARRAY(making->check.arena, options->tables.count, TableState);
    TRY(cassandra_check_tables(&making->check, states));
    for (size_t i = 0; i < options->tables.count; i++)
        TRY(make_table(making, options->tables.tables[i], states[i]));
    BUFFER_SCOPE Buffer text = {0};
    buffer_print(&text,
                 "CREATE TABLE IF NOT EXISTS %s.schema_version (part text PRIMARY KEY, version "
                 "int)",
                 making->keyspace);
    return step(making, &text);
}

/* Unless there is a newer one. */
static Status write_version(const Making *making)
{
    BUFFER_SCOPE Buffer text = {0};
    buffer_print(&text, "INSERT INTO %s.schema_version (part, version) VALUES ('store', %d)",
                 making->keyspace, CASSANDRA_SCHEMA);
    return step(making, &text);
}

static Status make(Making *making, int copies)
{
    const ClusterCheck *check = &making->check;
    int64_t version;
    int there;
    TRY(cassandra_check_versions(check));
    TRY(cassandra_wait_for_agreement(check)); /* somebody may just have changed or dropped tables */
    Status status = cassandra_check_keyspace(check, &there);
    if (status == STATUS_NOT_FOUND)
        TRY(make_keyspace(making, copies));
    else
        TRY(status);
    status = cassandra_check_version(check, &version);
    if (status != STATUS_OK && status != STATUS_NOT_FOUND)
        return status;
    TRY(make_tables(making));
    TRY(cassandra_wait_for_agreement(check));
    return write_version(making);
}

Status store_cassandra_init(const CassandraOptions *options, int copies, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Making making = {.keyspace = options->address.keyspace};
    CHECK(copies >= 1 && copies <= CASSANDRA_COPIES_MAX);
    TRY(cassandra_connect(options, arena, &making.check, reason));
    Status status = reason_set(reason, STATUS_UNAVAILABLE, "store", "no node of the cluster is up");
    for (size_t i = 0; making.node == NULL && i < making.check.host_count; i++)
        if (making.check.hosts[i].up)
            making.node = making.check.hosts[i].address;
    if (making.node != NULL)
        status = make(&making, copies);
    cql_close(making.check.client);
    return status;
}
