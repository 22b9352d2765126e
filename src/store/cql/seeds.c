/* seeds.c -- the contacts' names and the addresses behind them.
 *
 * When no node can be reached where it was, all of them may have moved: then the names are looked up again. That takes seconds when a name
 * server does not answer, and the I/O thread has none to spare; so a thread of its own does it, and the loop looks for the result when it
 * comes by. */
#include "store/cql/client_private.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/threads.h"

typedef struct Lookup {
    pthread_t thread;
    const CqlContact *contacts;
    size_t count;
    struct addrinfo **found; /* for each contact, or NULL */
    _Atomic bool done;
} Lookup;

static void add_seeds(CqlClient *client, const CqlContact *contact, const struct addrinfo *found)
{
    for (; found != NULL && client->seed_count < CQL_HOSTS_MAX; found = found->ai_next) {
        Seed *seed = &client->seeds[client->seed_count];
        if (endpoint_from_system(found->ai_addr, found->ai_addrlen, contact->port,
                                 &seed->endpoint) != STATUS_OK)
            continue;
        snprintf(seed->name, sizeof seed->name, "%s", contact->host);
        client->seed_count++;
    }
}

static void keep_contacts(CqlClient *client, const CqlOptions *options)
{
    CHECK(options->contact_count > 0);
    client->port = options->contacts[0].port;
    client->contact_count = options->contact_count;
    client->contacts = calloc(options->contact_count, sizeof *client->contacts);
    client->seeds = calloc(CQL_HOSTS_MAX, sizeof *client->seeds);
    CHECK(client->contacts != NULL && client->seeds != NULL);
    for (size_t i = 0; i < options->contact_count; i++) {
        char *host = strdup(options->contacts[i].host);
        CHECK(host != NULL);
        client->contacts[i] = (CqlContact){host, options->contacts[i].port};
    }
}

Status seeds_find(CqlClient *client, const CqlOptions *options, Reason *reason)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    keep_contacts(client, options);
    for (size_t i = 0; i < client->contact_count; i++) {
        struct addrinfo *found = NULL;
        int error = getaddrinfo(client->contacts[i].host, NULL, &hints, &found);
        if (error != 0) {
            reason_set(reason, STATUS_UNAVAILABLE, "", "%s: %s", client->contacts[i].host,
                       gai_strerror(error));
            continue;
        }
        add_seeds(client, &client->contacts[i], found);
        freeaddrinfo(found);
    }
    return client->seed_count > 0 ? STATUS_OK : STATUS_UNAVAILABLE;
}

/* ---- Again ------------------------------------------------------------------------------------------------- */

static void *look_up(void *context)
{
    Lookup *lookup = context;
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    for (size_t i = 0; i < lookup->count; i++)
        if (getaddrinfo(lookup->contacts[i].host, NULL, &hints, &lookup->found[i]) != 0)
            lookup->found[i] = NULL;
    atomic_store(&lookup->done, true);
    return NULL;
}

static void begin(CqlClient *client)
{
    Lookup *lookup = calloc(1, sizeof *lookup);
    CHECK(lookup != NULL);
    lookup->contacts = client->contacts;
    lookup->count = client->contact_count;
    lookup->found = calloc(lookup->count, sizeof *lookup->found);
    CHECK(lookup->found != NULL);
    lookup->thread = thread_start(THREAD_CQL_LOOKUP, look_up, lookup);
    client->lookup = lookup;
}

/* Waits for a look-up that is still under way. */
static void end(CqlClient *client)
{
    Lookup *lookup = client->lookup;
    CHECK(pthread_join(lookup->thread, NULL) == 0);
    for (size_t i = 0; i < lookup->count; i++)
        if (lookup->found[i] != NULL)
            freeaddrinfo(lookup->found[i]);
    free(lookup->found);
    free(lookup);
    client->lookup = NULL;
}

/* Names that were found replace all that was known; if none was, what was known stays. */
static void take_found(CqlClient *client)
{
    size_t before = client->seed_count;
    client->seed_count = 0;
    for (size_t i = 0; i < client->lookup->count; i++)
        add_seeds(client, &client->contacts[i], client->lookup->found[i]);
    if (client->seed_count == 0)
        client->seed_count = before;
}

/* An address in figures is what it is. */
static bool has_names(const CqlClient *client)
{
    unsigned char bytes[16];
    bool names = false;
    for (size_t i = 0; i < client->contact_count; i++)
        names |= inet_pton(AF_INET, client->contacts[i].host, bytes) != 1 &&
                 inet_pton(AF_INET6, client->contacts[i].host, bytes) != 1;
    return names;
}

void seeds_find_again(CqlClient *client)
{
    if (!has_names(client) || (client->lookup != NULL && !atomic_load(&client->lookup->done)))
        return;
    if (client->lookup != NULL) {
        take_found(client);
        end(client);
    }
    begin(client);
}

void seeds_free(CqlClient *client)
{
    if (client->lookup != NULL)
        end(client);
    for (size_t i = 0; i < client->contact_count; i++)
        free((char *)(uintptr_t)client->contacts[i].host);
    free(client->contacts);
    free(client->seeds);
}
