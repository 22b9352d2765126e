/* order.h -- a set of (votes, id) in ranking order that knows the place of each: more votes first, then the lower id.
 *
 * Adding, removing, the place of one, and the one at a place cost O(log n); walking on from a place costs O(1) a step. Memory is
 * about 40 bytes an element. Not safe for several threads; nothing else lives here. */
#pragma once

#include "base/slice.h"

typedef struct Order Order;

typedef struct OrderKey {
    int64_t votes;
    uint64_t id;
} OrderKey;

Order *order_new(void);
void order_free(Order *order);
uint64_t order_count(const Order *order);
/* Adding what is there, or removing what is not, is a bug. */
void order_add(Order *order, OrderKey key);
void order_remove(Order *order, OrderKey key);
/* From all at once, in any order: O(n log n) for the sort, then linear. */
Order *order_build(OrderKey *keys, size_t count);
/* How many stand before it (0 … count); the key need not be there. */
uint64_t order_place(const Order *order, OrderKey key);
/* Copies up to `count` keys from place `first` on; returns how many there were. */
size_t order_slice(const Order *order, uint64_t first, size_t count, OrderKey *ret_keys);
