/* cluster_check.c -- is the cluster fit for us: questions to system tables, and sentences about the answers. */
#include <stdio.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "store/cassandra/cassandra_private.h"

enum {
    CONNECT_MS = 5000,
    SILENCE_MS = 1000,
    IN_FLIGHT = 1024,
    NODE_MS = 3000, /* for a question to one node */
    VERSION_MAJOR = 4,
    VERSION_MINOR = 1,
    SEGMENT_MIB = 16, /* half of a commit log's segment bounds a mutation */
    AGREE_S = 60,
    AGREE_PAUSE_MS = 100,
};

/* ---- Asking -------------------------------------------------------------------------------------------------- */

static const char *or_null(const char *text)
{
    return text != NULL && text[0] != '\0' ? text : NULL;
}

Status cassandra_connect(const CassandraOptions *options, Arena *arena, ClusterCheck *ret_look,
                         Reason *reason)
{
    const CassandraAddress *address = &options->address;
    CqlContact *contacts = ARENA_ARRAY(arena, address->host_count, CqlContact);
    for (size_t i = 0; i < address->host_count; i++)
        contacts[i] = (CqlContact){address->hosts[i].name, address->hosts[i].port};
    const char *user = address->user[0] != '\0' ? address->user : or_null(options->user);
    CqlOptions client = {.contacts = contacts,
                         .contact_count = address->host_count,
                         .user = user,
                         .password = user != NULL ? options->password : NULL,
                         .keyspace = address->keyspace,
                         .tls = {options->tls, or_null(options->ca_file),
                                 or_null(options->cert_file), or_null(options->key_file)},
                         .request_ms = cassandra_time_ms(options->request_ms),
                         .connect_ms = CONNECT_MS,
                         .silence_ms = SILENCE_MS,
                         .connections = options->connections,
                         .in_flight = IN_FLIGHT,
                         .world = options->world};
    ClusterCheck check = {.options = options, .arena = arena, .reason = reason};
    TRY(cql_open(&client, &check.client, reason));
    check.host_count = cql_hosts(check.client, arena, &check.hosts);
    *ret_look = check;
    return STATUS_OK;
}

static CqlAnswer answer_of(const ClusterCheck *check, const char *only, const char *text)
{
    CqlAnswer answer;
    CqlCall call = {.kind = CQL_READ,
                    .text = text,
                    .only = only,
                    .consistency = CQL_ONE,
                    .request_ms = only != NULL ? NODE_MS : 0};
    cql_run(check->client, &call, 1, check->arena, &answer);
    return answer;
}

Status cassandra_ask(const ClusterCheck *check, const char *only, const char *text,
                     CqlRows *ret_rows)
{
    CqlAnswer answer = answer_of(check, only, text);
    if (answer.status != STATUS_OK)
        return reason_set(check->reason, answer.status, "store",
                          "the cluster does not answer%s%s: %s", only != NULL ? " at " : "",
                          only != NULL ? only : "", answer.words);
    *ret_rows = answer.rows;
    return STATUS_OK;
}

CqlValue cassandra_value(const CqlRows *rows, size_t index, const char *name)
{
    int column = cql_column(rows, name);
    if (column < 0 || index >= rows->count)
        return (CqlValue){.kind = CQL_NULL};
    return rows->values[index * rows->columns + (size_t)column];
}

Slice cassandra_text(const CqlRows *rows, size_t index, const char *name)
{
    CqlValue value = cassandra_value(rows, index, name);
    return value.kind == CQL_BYTES ? value.bytes : SLICE_EMPTY;
}

int64_t cassandra_number(const CqlRows *rows, size_t index, const char *name)
{
    Slice bytes = cassandra_text(rows, index, name);
    Reader reader = reader_of(bytes);
    if (bytes.size == 4)
        return (int32_t)reader_u32(&reader);
    return bytes.size == 8 ? reader_i64(&reader) : 0;
}

void cassandra_say(const ClusterCheck *check, const char *format, ...)
{
    char sentence[400];
    va_list arguments;
    if (check->options->say.say == NULL)
        return;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    check->options->say.say(check->options->say.self, sentence);
}

/* ---- Versions ------------------------------------------------------------------------------------------------- */

/* "5.0.8" or "4.1-alpha1"; what cannot be read is taken for old. */
static bool is_old(const char *version)
{
    char *end;
    long major = strtol(version, &end, 10);
    long minor = *end == '.' ? strtol(end + 1, &end, 10) : 0;
    return major < VERSION_MAJOR || (major == VERSION_MAJOR && minor < VERSION_MINOR);
}

Status cassandra_check_versions(const ClusterCheck *check)
{
    for (size_t i = 0; i < check->host_count; i++)
        if (is_old(check->hosts[i].version))
            return reason_set(check->reason, STATUS_REFUSED, "store",
                              "Cassandra %s at %s; 4.1 or later is needed", check->hosts[i].version,
                              check->hosts[i].address);
    return STATUS_OK;
}

/* ---- Agreement ------------------------------------------------------------------------------------------------- */

/* Of the nodes that can be asked: one that is down learns the schema when it comes back. */
static bool agrees(const ClusterCheck *check)
{
    Slice first = {NULL, 0};
    for (size_t i = 0; i < check->host_count; i++) {
        CqlAnswer answer =
            answer_of(check, check->hosts[i].address, "SELECT schema_version FROM system.local");
        if (answer.status != STATUS_OK)
            continue;
        Slice version = cassandra_text(&answer.rows, 0, "schema_version");
        if (first.data != NULL && !slice_equal(first, version))
            return false;
        first = version;
    }
    return first.data != NULL;
}

Status cassandra_wait_for_agreement(const ClusterCheck *check)
{
    Clock clock = check->options->world.clock;
    int64_t until_us = clock_steady_us(clock) + AGREE_S * US_PER_S;
    while (!agrees(check)) {
        if (clock_steady_us(clock) > until_us)
            return reason_set(check->reason, STATUS_UNAVAILABLE, "store",
                              "the nodes do not agree on the schema after %d s: look at `nodetool "
                              "describecluster`, then try again",
                              AGREE_S);
        clock_sleep_us(clock, AGREE_PAUSE_MS * US_PER_MS);
    }
    return STATUS_OK;
}

/* ---- The keyspace ---------------------------------------------------------------------------------------------- */

/* The sum over data centres of a map like {'class': '…', 'dc1': '3'}; SimpleStrategy has 'replication_factor'. */
static int copies_of(Slice map)
{
    Reader reader = reader_of(map);
    uint32_t pairs = reader_u32(&reader);
    int copies = 0;
    for (uint32_t i = 0; i < pairs && !reader.failed; i++) {
        Slice name = reader_bytes(&reader, reader_u32(&reader));
        Slice value = reader_bytes(&reader, reader_u32(&reader));
        uint64_t number = 0;
        if (slice_to_u64(slice_of(value.data, slice_find(value, '/')), &number) == STATUS_OK &&
            !slice_equal(name, SLICE("class")) && number < 1000)
            copies += (int)number;
    }
    return copies;
}

Status cassandra_check_keyspace(const ClusterCheck *check, int *ret_copies)
{
    const char *keyspace = check->options->address.keyspace;
    CqlRows rows;
    Slice text =
        arena_print(check->arena,
                    "SELECT replication FROM system_schema.keyspaces WHERE keyspace_name = '%s'%c",
                    keyspace, 0);
    TRY(cassandra_ask(check, NULL, text.data, &rows));
    if (rows.count == 0)
        return reason_set(check->reason, STATUS_NOT_FOUND, "store",
                          "there is no keyspace %s; `ostraka cluster init` makes it", keyspace);
    *ret_copies = copies_of(cassandra_text(&rows, 0, "replication"));
    return STATUS_OK;
}

Status cassandra_check_version(const ClusterCheck *check, int64_t *ret_version)
{
    const char *keyspace = check->options->address.keyspace;
    Slice text = arena_print(
        check->arena, "SELECT version FROM %s.schema_version WHERE part = 'store'%c", keyspace, 0);
    CqlCall call = {.kind = CQL_READ, .text = text.data, .consistency = CQL_QUORUM};
    CqlAnswer answer;
    cql_run(check->client, &call, 1, check->arena, &answer);
    bool no_table = answer.status == STATUS_INVALID;
    if (answer.status != STATUS_OK && !no_table)
        return reason_set(check->reason, answer.status, "store",
                          "the schema of keyspace %s cannot be read: %s", keyspace, answer.words);
    if (no_table || answer.rows.count == 0)
        return reason_set(
            check->reason, STATUS_NOT_FOUND, "store",
            "keyspace %s is not ready: run `ostraka cluster init`, which also finishes "
            "what was cut off",
            keyspace);
    int64_t version = cassandra_number(&answer.rows, 0, "version");
    if (version > CASSANDRA_SCHEMA)
        return reason_set(check->reason, STATUS_INVALID, "store",
                          "keyspace %s has schema %lld, of a newer version of this program, which "
                          "knows schema %d: use that one",
                          keyspace, (long long)version, CASSANDRA_SCHEMA);
    *ret_version = version;
    return STATUS_OK;
}

/* ---- Tables ----------------------------------------------------------------------------------------------------- */

static size_t find_table(const CqlRows *rows, const char *name)
{
    size_t i = 0;
    while (i < rows->count && !slice_equal(cassandra_text(rows, i, "table_name"), slice_from(name)))
        i++;
    return i;
}

/* Of its columns: as many as ours, and each as ours. */
static bool has_our_columns(const CqlRows *columns, const char *table)
{
    static const char *const OURS[][2] = {
        {"row", "partition_key"}, {"col", "clustering"}, {"val", "regular"}};
    size_t ours = 0, others = 0;
    for (size_t i = 0; i < columns->count; i++) {
        bool is_ours = false;
        if (!slice_equal(cassandra_text(columns, i, "table_name"), slice_from(table)))
            continue;
        for (size_t k = 0; k < 3; k++)
            is_ours |=
                slice_equal(cassandra_text(columns, i, "column_name"), slice_from(OURS[k][0])) &&
                slice_equal(cassandra_text(columns, i, "kind"), slice_from(OURS[k][1])) &&
                slice_equal(cassandra_text(columns, i, "type"), SLICE("blob"));
        ours += is_ours;
        others += !is_ours;
    }
    return ours == 3 && others == 0;
}

static bool has_our_settings(const ClusterCheck *check, const CqlRows *tables, size_t index)
{
    return cassandra_number(tables, index, "gc_grace_seconds") >= check->options->grace_s &&
           slice_equal(cassandra_text(tables, index, "read_repair"), SLICE("BLOCKING"));
}

/* One that was up when we connected, or NULL: any. */
static const char *one_node(const ClusterCheck *check)
{
    for (size_t i = 0; i < check->host_count; i++)
        if (check->hosts[i].up)
            return check->hosts[i].address;
    return NULL;
}

/* Both questions go to one node: two may know the schema of different moments. */
Status cassandra_check_tables(const ClusterCheck *check, TableState *ret_states)
{
    const CassandraOptions *options = check->options;
    const char *keyspace = options->address.keyspace;
    CqlRows tables, columns;
    Slice text = arena_print(check->arena,
                             "SELECT table_name, gc_grace_seconds, read_repair FROM "
                             "system_schema.tables WHERE keyspace_name = '%s'%c",
                             keyspace, 0);
    TRY(cassandra_ask(check, one_node(check), text.data, &tables));
    text = arena_print(check->arena,
                       "SELECT table_name, column_name, kind, type FROM system_schema.columns "
                       "WHERE keyspace_name = '%s'%c",
                       keyspace, 0);
    TRY(cassandra_ask(check, one_node(check), text.data, &columns));
    for (size_t i = 0; i < options->tables.count; i++) {
        const char *name = options->tables.tables[i]->name;
        size_t at = find_table(&tables, name);
        if (at < tables.count && !has_our_columns(&columns, name))
            return reason_set(check->reason, STATUS_INVALID, "store",
                              "table %s.%s was not made by this program: its columns are not row, "
                              "col and val; use another keyspace",
                              keyspace, name);
        if (at == tables.count)
            ret_states[i] = TABLE_MISSING;
        else
            ret_states[i] = has_our_settings(check, &tables, at) ? TABLE_FITS : TABLE_UNSET;
    }
    return STATUS_OK;
}

/* ---- Nodes ------------------------------------------------------------------------------------------------------ */

/* A setting of one node; empty when it has none of that name. */
static Slice setting(const CqlRows *rows, const char *name)
{
    for (size_t i = 0; i < rows->count; i++)
        if (slice_equal(cassandra_text(rows, i, "name"), slice_from(name)))
            return cassandra_text(rows, i, "value");
    return SLICE_EMPTY;
}

static bool is_small_segment(Slice size)
{
    uint64_t number;
    bool is_mib = size.size > 3 && slice_equal(slice_after(size, size.size - 3), SLICE("MiB"));
    return is_mib && slice_to_u64(slice_of(size.data, size.size - 3), &number) == STATUS_OK &&
           number < SEGMENT_MIB;
}

static Status look_at_settings(const ClusterCheck *check, const CqlHost *host)
{
    CqlAnswer answer =
        answer_of(check, host->address,
                  "SELECT name, value FROM system_views.settings WHERE name IN ('paxos_variant', "
                  "'commitlog_segment_size', 'commitlog_sync', 'storage_compatibility_mode')");
    if (answer.status != STATUS_OK) {
        cassandra_say(check, "the settings of node %s could not be looked at: %s", host->address,
                      answer.words);
        return STATUS_OK;
    }
    Slice paxos = setting(&answer.rows, "paxos_variant");
    Slice segment = setting(&answer.rows, "commitlog_segment_size");
    Slice mode = setting(&answer.rows, "storage_compatibility_mode");
    if (!slice_equal_ignoring_case(paxos, SLICE("v2")))
        return reason_set(check->reason, STATUS_REFUSED, "store",
                          "node %s has paxos_variant %.*s: put `paxos_variant: v2` into the "
                          "cassandra.yaml of every node",
                          host->address, SLICE_ARG(paxos));
    if (is_small_segment(segment))
        return reason_set(check->reason, STATUS_REFUSED, "store",
                          "node %s has commitlog_segment_size %.*s: a batch needs %d MiB or more",
                          host->address, SLICE_ARG(segment), SEGMENT_MIB);
    bool is_periodic = slice_equal(setting(&answer.rows, "commitlog_sync"), SLICE("periodic"));
    if (is_periodic && !check->options->periodic)
        return reason_set(check->reason, STATUS_REFUSED, "store",
                          "node %s acknowledges writes before they are on its disk, so that a "
                          "power cut of two nodes loses votes: put `commitlog_sync: group` into "
                          "its cassandra.yaml, or set cassandra_periodic = on",
                          host->address);
    if (is_periodic)
        cassandra_say(check,
                      "node %s acknowledges writes before they are on its disk, as "
                      "cassandra_periodic allows",
                      host->address);
    if (!slice_equal(
            mode, SLICE("NONE"))) /* the default of version 5 is not shown; version 4.1 has none */
        cassandra_say(check,
                      "node %s refuses what would expire after 2038; `storage_compatibility_mode: "
                      "NONE` lifts that, once all nodes are of version 5",
                      host->address);
    return STATUS_OK;
}

/* How far the node's clock is from ours, at least: the answer was given at some moment between asking and hearing. */
static Status look_at_clock(const ClusterCheck *check, const CqlHost *host)
{
    Clock clock = check->options->world.clock;
    int64_t asked_us = clock_now_us(clock);
    CqlAnswer answer =
        answer_of(check, host->address, "SELECT toTimestamp(now()) AS now FROM system.local");
    int64_t heard_us = clock_now_us(clock);
    if (answer.status != STATUS_OK) {
        cassandra_say(check, "the clock of node %s could not be looked at: %s", host->address,
                      answer.words);
        return STATUS_OK;
    }
    int64_t theirs_us = cassandra_number(&answer.rows, 0, "now") * US_PER_MS, apart_us = 0;
    if (theirs_us < asked_us)
        apart_us = asked_us - theirs_us;
    else if (theirs_us > heard_us)
        apart_us = theirs_us - heard_us;
    if (apart_us > CASSANDRA_CLOCK_MOST_S * US_PER_S)
        return reason_set(check->reason, STATUS_REFUSED, "store",
                          "the clock of node %s is %lld s %s ours: set both by the same source",
                          host->address, (long long)(apart_us / US_PER_S),
                          theirs_us < asked_us ? "behind" : "ahead of");
    if (apart_us > CASSANDRA_CLOCK_SAID_S * US_PER_S)
        cassandra_say(check, "the clock of node %s is %.1f s %s ours", host->address,
                      (double)apart_us / (double)US_PER_S,
                      theirs_us < asked_us ? "behind" : "ahead of");
    return STATUS_OK;
}

Status cassandra_check_nodes(const ClusterCheck *check)
{
    for (size_t i = 0; i < check->host_count; i++) {
        const CqlHost *host = &check->hosts[i];
        CqlAnswer answer = answer_of(check, host->address, "SELECT key FROM system.local");
        if (answer.status != STATUS_OK) {
            cassandra_say(check, "node %s could not be asked: %s", host->address, answer.words);
            continue;
        }
        TRY(look_at_settings(check, host));
        TRY(look_at_clock(check, host));
    }
    return STATUS_OK;
}
