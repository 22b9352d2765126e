/* heap.c -- see heap.h. */
#include "journal/heap.h"

#include <stdlib.h>

#include "base/status.h"

static uint32_t *position_of(const HeapKind *kind, void *item)
{
    return (uint32_t *)((char *)item + kind->position);
}

static void place(Heap *heap, const HeapKind *kind, uint32_t at, void *item)
{
    heap->items[at] = item;
    *position_of(kind, item) = at + 1;
}

static void rise(Heap *heap, const HeapKind *kind, uint32_t at, void *item)
{
    while (at > 0 && kind->before(item, heap->items[(at - 1) / 2])) {
        place(heap, kind, at, heap->items[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    place(heap, kind, at, item);
}

static void sink(Heap *heap, const HeapKind *kind, uint32_t at, void *item)
{
    for (uint32_t child; (child = 2 * at + 1) < heap->count; at = child) {
        if (child + 1 < heap->count && kind->before(heap->items[child + 1], heap->items[child]))
            child++;
        if (!kind->before(heap->items[child], item))
            break;
        place(heap, kind, at, heap->items[child]);
    }
    place(heap, kind, at, item);
}

static void settle(Heap *heap, const HeapKind *kind, uint32_t at, void *item)
{
    if (at > 0 && kind->before(item, heap->items[(at - 1) / 2]))
        rise(heap, kind, at, item);
    else
        sink(heap, kind, at, item);
}

/* Grows by a half and shrinks again, so that a burst does not keep its memory. */
static void resize(Heap *heap, uint32_t capacity)
{
    void **items = realloc(heap->items, capacity * sizeof *items);
    CHECK(items != NULL);
    heap->items = items;
    heap->capacity = capacity;
}

void heap_free(Heap *heap)
{
    free(heap->items);
    *heap = (Heap){0};
}

void heap_add(Heap *heap, const HeapKind *kind, void *item)
{
    CHECK(*position_of(kind, item) == 0 && heap->count < UINT32_MAX / 2);
    if (heap->count == heap->capacity)
        resize(heap, heap->capacity + heap->capacity / 2 + 4);
    rise(heap, kind, heap->count++, item);
}

void heap_remove(Heap *heap, const HeapKind *kind, void *item)
{
    uint32_t at = *position_of(kind, item);
    if (at-- == 0)
        return;
    CHECK(at < heap->count && heap->items[at] == item);
    void *last = heap->items[--heap->count];
    if (last != item)
        settle(heap, kind, at, last);
    *position_of(kind, item) = 0;
    if (heap->capacity > 64 && heap->count < heap->capacity / 4)
        resize(heap, heap->capacity / 2);
}

void heap_moved(Heap *heap, const HeapKind *kind, void *item)
{
    uint32_t at = *position_of(kind, item);
    CHECK(at > 0);
    settle(heap, kind, at - 1, item);
}
