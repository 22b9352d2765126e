/* table.h -- a hash table of pointers with open addressing; several items may have the same hash.
 *
 *     for (size_t at = 0; (item = table_next(&table, hash, &at)) != NULL;)
 *         if (... it is the one ...)
 * Numbers that anybody may choose are hashed with a key before they come here, so a chain is short. */
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef struct Table {
    void **slots;
    size_t count, capacity; /* a power of two, at most four fifths full */
    uint64_t (*hash)(const void *item);
} Table;

void table_free(Table *table);
void table_add(Table *table, void *item);
/* It must be there. */
void table_remove(Table *table, const void *item);
/* The items with this hash, one after the other; `*at` is 0 before the first. The table must not change meanwhile. */
void *table_next(const Table *table, uint64_t hash, size_t *at);

static inline uint64_t table_mix(uint64_t number)
{
    number = (number ^ number >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    number = (number ^ number >> 27) * UINT64_C(0x94D049BB133111EB);
    return number ^ number >> 31;
}
