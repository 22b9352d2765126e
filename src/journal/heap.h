/* heap.h -- a binary heap of pointers that knows where each item is, so that any of them can be moved or taken out. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct HeapKind {
    bool (*before)(const void *a, const void *b);
    size_t position; /* offset of a uint32_t in the item: 0 is "not in here", else its place + 1 */
} HeapKind;

typedef struct Heap {
    void **items; /* items[0] is the first */
    uint32_t count, capacity;
} Heap;

void heap_free(Heap *heap);
void heap_add(Heap *heap, const HeapKind *kind, void *item);
/* An item that is not in here is left alone. */
void heap_remove(Heap *heap, const HeapKind *kind, void *item);
/* The item's order has changed. */
void heap_moved(Heap *heap, const HeapKind *kind, void *item);

static inline void *heap_first(const Heap *heap)
{
    return heap->count > 0 ? heap->items[0] : NULL;
}
