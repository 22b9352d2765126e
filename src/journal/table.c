/* table.c -- see table.h. Linear probing; a removal moves the items behind it up, so there are no marks to clean. */
#include "journal/table.h"

#include <stdlib.h>

#include "base/status.h"

void table_free(Table *table)
{
    free(table->slots);
    table->slots = NULL;
    table->count = table->capacity = 0;
}

static void insert(Table *table, void *item)
{
    size_t at = table->hash(item) & (table->capacity - 1);
    while (table->slots[at] != NULL)
        at = (at + 1) & (table->capacity - 1);
    table->slots[at] = item;
}

static void resize(Table *table, size_t capacity)
{
    Table old = *table;
    table->slots = calloc(capacity, sizeof *table->slots);
    CHECK(table->slots != NULL);
    table->capacity = capacity;
    for (size_t i = 0; i < old.capacity; i++)
        if (old.slots[i] != NULL)
            insert(table, old.slots[i]);
    free(old.slots);
}

void table_add(Table *table, void *item)
{
    if ((table->count + 1) * 5 > table->capacity * 4)
        resize(table, table->capacity == 0 ? 16 : table->capacity * 2);
    insert(table, item);
    table->count++;
}

void table_remove(Table *table, const void *item)
{
    size_t mask = table->capacity - 1, hole = table->hash(item) & mask;
    while (table->slots[hole] != item) {
        CHECK(table->slots[hole] != NULL);
        hole = (hole + 1) & mask;
    }
    for (size_t at = (hole + 1) & mask; table->slots[at] != NULL; at = (at + 1) & mask) {
        size_t home = table->hash(table->slots[at]) & mask;
        if (((at - home) & mask) < ((at - hole) & mask))
            continue; /* it may not stand before its home */
        table->slots[hole] = table->slots[at];
        hole = at;
    }
    table->slots[hole] = NULL;
    table->count--;
    if (table->capacity > 1024 && table->count * 5 < table->capacity)
        resize(table, table->capacity / 2);
}

void *table_next(const Table *table, uint64_t hash, size_t *at)
{
    if (table->count == 0)
        return NULL;
    size_t mask = table->capacity - 1;
    for (;;) {
        void *item = table->slots[(hash + (*at)++) & mask];
        if (item == NULL || table->hash(item) == hash)
            return item;
    }
}
