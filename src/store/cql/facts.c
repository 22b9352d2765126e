/* facts.c -- what callers may ask besides running statements: statements by text, columns by name, hosts, counters. See client.h. */
#include "store/cql/client_private.h"

#include <stdlib.h>

const CqlStatement *cql_statement(CqlClient *client, const char *text)
{
    Slice wanted = slice_from(text);
    CqlStatement *found = NULL;
    pthread_mutex_lock(&client->statements_lock);
    for (size_t i = 0; i < client->statement_count && found == NULL; i++)
        if (slice_equal(client->statements[i]->text, wanted))
            found = client->statements[i];
    if (found == NULL) {
        CHECK(client->statement_count < STATEMENTS_MAX && wanted.size <= WIRE_REQUEST_MAX);
        found = malloc(sizeof *found + wanted.size);
        CHECK(found != NULL);
        memcpy((char *)(found + 1), text, wanted.size);
        *found = (CqlStatement){slice_of(found + 1, wanted.size), client->statement_count};
        client->statements[client->statement_count++] = found;
    }
    pthread_mutex_unlock(&client->statements_lock);
    return found;
}

int cql_column(const CqlRows *rows, const char *name)
{
    for (size_t i = 0; i < rows->columns; i++)
        if (strcmp(rows->names[i], name) == 0)
            return (int)i;
    return -1;
}

static const char *copy_word(Arena *arena, const char *word)
{
    return arena_text(arena, slice_from(word));
}

size_t cql_hosts(CqlClient *client, Arena *arena, const CqlHost **ret_hosts)
{
    CqlHost *hosts = ARENA_ARRAY(arena, CQL_HOSTS_MAX, CqlHost);
    size_t count = 0;
    pthread_mutex_lock(&client->hosts_lock);
    for (size_t i = 0; i < client->host_count; i++) {
        const Host *host = client->hosts[i];
        if (host == NULL || !host->listed)
            continue;
        hosts[count++] = (CqlHost){.address = copy_word(arena, host->address),
                                   .version = copy_word(arena, host->version),
                                   .data_center = copy_word(arena, host->data_center),
                                   .rack = copy_word(arena, host->rack),
                                   .up = host->up};
    }
    pthread_mutex_unlock(&client->hosts_lock);
    *ret_hosts = hosts;
    return count;
}

static void count_hosts(CqlClient *client, double *ret_listed, double *ret_up)
{
    double listed = 0, up = 0;
    pthread_mutex_lock(&client->hosts_lock);
    for (size_t i = 0; i < client->host_count; i++) {
        const Host *host = client->hosts[i];
        listed += host != NULL && host->listed;
        up += host != NULL && host->up;
    }
    pthread_mutex_unlock(&client->hosts_lock);
    *ret_listed = listed;
    *ret_up = up;
}

void cql_metrics(CqlClient *client, CqlMetricVisit *visit, void *context)
{
    double listed, up;
    count_hosts(client, &listed, &up);
    visit(context, "cassandra_hosts", "nodes that the ring lists", false, listed);
    visit(context, "cassandra_hosts_up", "nodes that we are connected to", false, up);
    visit(context, "cassandra_in_flight", "calls that are not answered yet", false,
          (double)atomic_load_explicit(&client->in_flight, memory_order_relaxed));
#define X(name, help)                              \
    visit(context, "cassandra_" #name, help, true, \
          (double)atomic_load_explicit(&client->counters.name, memory_order_relaxed));
    CQL_COUNTERS(X)
#undef X
}
