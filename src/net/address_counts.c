/* address_counts.c -- see address_counts.h. */
#include "net/address_counts.h"

#include <stdlib.h>

enum { BUCKETS = 4096 };

typedef struct AddressCount {
    Address group;
    int64_t count;
    struct AddressCount *next;
} AddressCount;

struct AddressCounts {
    AddressCount *buckets[BUCKETS];
};

AddressCounts *address_counts_new(void)
{
    AddressCounts *address_counts = calloc(1, sizeof *address_counts);
    CHECK(address_counts != NULL);
    return address_counts;
}

void address_counts_free(AddressCounts *address_counts)
{
    for (size_t i = 0; i < BUCKETS; i++)
        CHECK(address_counts->buckets[i] == NULL);
    free(address_counts);
}

static AddressCount **find(AddressCounts *address_counts, Address group)
{
    uint64_t hash = 14695981039346656037u;
    for (size_t i = 0; i < sizeof group.bytes; i++)
        hash = (hash ^ group.bytes[i]) * 1099511628211u;
    AddressCount **address_count = &address_counts->buckets[hash % BUCKETS];
    while (*address_count != NULL && !address_equal((*address_count)->group, group))
        address_count = &(*address_count)->next;
    return address_count;
}

int64_t address_counts_add(AddressCounts *address_counts, Address address, int64_t amount)
{
    Address group = address_group(address);
    AddressCount **address_count = find(address_counts, group);
    if (*address_count == NULL) {
        *address_count = calloc(1, sizeof **address_count);
        CHECK(*address_count != NULL);
        (*address_count)->group = group;
    }
    return (*address_count)->count += amount;
}

void address_counts_remove(AddressCounts *address_counts, Address address, int64_t amount)
{
    AddressCount **address_count = find(address_counts, address_group(address));
    CHECK(*address_count != NULL && (*address_count)->count >= amount);
    (*address_count)->count -= amount;
    if ((*address_count)->count > 0)
        return;
    AddressCount *empty = *address_count;
    *address_count = empty->next;
    free(empty);
}
