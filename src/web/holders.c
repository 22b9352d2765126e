/* holders.c -- see holders.h. */
#include "web/holders.h"

#include <stdlib.h>

enum { BUCKETS = 4096 };

typedef struct Holder {
    Address group;
    int64_t count;
    struct Holder *next;
} Holder;

struct Holders {
    Holder *buckets[BUCKETS];
};

Holders *holders_new(void)
{
    Holders *holders = calloc(1, sizeof *holders);
    CHECK(holders != NULL);
    return holders;
}

void holders_free(Holders *holders)
{
    for (size_t i = 0; i < BUCKETS; i++)
        CHECK(holders->buckets[i] == NULL);
    free(holders);
}

static Holder **find(Holders *holders, Address group)
{
    uint64_t hash = 14695981039346656037u;
    for (size_t i = 0; i < sizeof group.bytes; i++)
        hash = (hash ^ group.bytes[i]) * 1099511628211u;
    Holder **holder = &holders->buckets[hash % BUCKETS];
    while (*holder != NULL && !address_equal((*holder)->group, group))
        holder = &(*holder)->next;
    return holder;
}

int64_t holders_add(Holders *holders, Address address)
{
    Address group = address_group(address);
    Holder **holder = find(holders, group);
    if (*holder == NULL) {
        *holder = calloc(1, sizeof **holder);
        CHECK(*holder != NULL);
        (*holder)->group = group;
    }
    return ++(*holder)->count;
}

void holders_remove(Holders *holders, Address address)
{
    Holder **holder = find(holders, address_group(address));
    CHECK(*holder != NULL);
    if (--(*holder)->count > 0)
        return;
    Holder *empty = *holder;
    *holder = empty->next;
    free(empty);
}
