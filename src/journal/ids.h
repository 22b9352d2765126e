/* ids.h -- the entries by their ids, in order.
 *
 * Ids only grow, so a new one goes to the end of an array; one that leaves makes a hole, and when half of it are holes they are closed.
 * Ids are nearly dense, so the search begins close to the place. A page of a list costs what it shows, however many have gone before it. */
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef struct IdSlot {
    uint64_t id;
    void *item; /* NULL: a hole */
} IdSlot;

typedef struct Ids {
    IdSlot *slots;
    size_t used, capacity, count;
} Ids;

void ids_free(Ids *ids);
/* `id` is above all that are there, unless ids_sort follows before anything is looked up. */
void ids_add(Ids *ids, uint64_t id, void *item);
void ids_sort(Ids *ids);
void *ids_find(const Ids *ids, uint64_t id);
/* It must be there. */
void ids_remove(Ids *ids, uint64_t id);
/* The first above `after`, or NULL; the place is for asking on with ids_next. */
void *ids_first(const Ids *ids, uint64_t after, size_t *ret_place);
void *ids_next(const Ids *ids, size_t *place);
