/* statements.c -- the words of CQL for each table, made once and prepared by the client where they are first used. */
#include <stdlib.h>

#include "base/bytes.h"
#include "store/cassandra/cassandra_private.h"

static const char *const TEXTS[] = {
#define X(name, text) text,
    STATEMENT_LIST(X)
#undef X
};

/* Replaces %t and %v. */
static void write_text(Buffer *out, const char *pattern, const char *keyspace, const Table *table)
{
    for (; *pattern != '\0'; pattern++) {
        if (*pattern != '%') {
            buffer_u8(out, (uint8_t)*pattern);
            continue;
        }
        pattern++;
        if (*pattern == 't')
            buffer_print(out, "%s.%s", keyspace, table->name);
        else
            buffer_text(out, table->kind == TABLE_PLAIN ? "val, writetime(val)" : "val");
    }
    buffer_u8(out, '\0');
}

TableStatements *cassandra_statements(CqlClient *client, const char *keyspace, TableSet tables)
{
    TableStatements *made = calloc(tables.count, sizeof *made);
    CHECK(made != NULL);
    for (size_t i = 0; i < tables.count; i++) {
        made[i].number = tables.tables[i]->number;
        for (size_t k = 0; k < STATEMENT_COUNT; k++) {
            BUFFER_SCOPE Buffer text = {0};
            write_text(&text, TEXTS[k], keyspace, tables.tables[i]);
            made[i].statements[k] = cql_statement(client, text.data);
        }
    }
    return made;
}

const CqlStatement *cassandra_statement(const Cassandra *cassandra, const Table *table,
                                        StatementKind kind)
{
    const TableStatements *found = NULL;
    for (size_t i = 0; found == NULL && i < cassandra->store.tables.count; i++)
        if (cassandra->tables[i].number == table->number)
            found = &cassandra->tables[i];
    CHECK(found != NULL);
    return found->statements[kind];
}

CqlValue cassandra_bigint(int64_t number, Arena *arena)
{
    char *bytes = arena_bytes(arena, 8);
    bytes_put_u64(bytes, (uint64_t)number);
    return cql_bytes(slice_of(bytes, 8));
}

CqlValue cassandra_int(int64_t number, Arena *arena)
{
    CqlValue value = cassandra_bigint(number, arena);
    CHECK(number >= INT32_MIN && number <= INT32_MAX);
    return cql_bytes(slice_after(value.bytes, 4));
}
