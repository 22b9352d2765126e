/* arena.c -- a list of blocks that grow by doubling, so that a small request takes one block and a large one
 * few. A reset keeps the largest block that is not unreasonably large, so that a steady worker does not
 * allocate at all. */
#include "base/arena.h"

#include <stdio.h>
#include <stdlib.h>

enum { FIRST_BLOCK = 16 * 1024, LARGEST_KEPT = 4 * 1024 * 1024 };

typedef struct Block {
    struct Block *older;
    size_t size;
    alignas(max_align_t) char data[];
} Block;

struct Arena {
    Block *block; /* the newest; allocation happens here */
    size_t used;  /* in the newest block */
    size_t total; /* in older blocks */
};

static Block *block_new(size_t size, Block *older)
{
    CHECK(size <= SIZE_MAX - sizeof(Block));
    Block *block = malloc(sizeof(Block) + size);
    CHECK(block != NULL);
    block->older = older;
    block->size = size;
    return block;
}

Arena *arena_new(void)
{
    Arena *arena = malloc(sizeof *arena);
    CHECK(arena != NULL);
    *arena = (Arena){.block = block_new(FIRST_BLOCK, NULL)};
    return arena;
}

static void free_older(Block *block)
{
    while (block->older != NULL) {
        Block *older = block->older;
        block->older = older->older;
        free(older);
    }
}

void arena_free(Arena *arena)
{
    if (arena == NULL)
        return;
    free_older(arena->block);
    free(arena->block);
    free(arena);
}

void arena_reset(Arena *arena)
{
    free_older(arena->block);
    if (arena->block->size > LARGEST_KEPT) {
        free(arena->block);
        arena->block = block_new(FIRST_BLOCK, NULL);
    }
    arena->used = 0;
    arena->total = 0;
}

size_t arena_used(const Arena *arena)
{
    return arena->total + arena->used;
}

static void *allocate_in_new_block(Arena *arena, size_t size)
{
    size_t block_size = arena->block->size * 2;
    if (block_size < size)
        block_size = size;
    arena->total += arena->used;
    arena->block = block_new(block_size, arena->block);
    arena->used = size;
    return arena->block->data;
}

static void *allocate(Arena *arena, size_t size, size_t alignment)
{
    size_t start = (arena->used + alignment - 1) & ~(alignment - 1);
    if (start > arena->block->size || size > arena->block->size - start)
        return allocate_in_new_block(arena, size);
    arena->used = start + size;
    return arena->block->data + start;
}

void *arena_alloc(Arena *arena, size_t size)
{
    return allocate(arena, size, alignof(max_align_t));
}

char *arena_bytes(Arena *arena, size_t size)
{
    return allocate(arena, size, 1);
}

void *arena_zeroed(Arena *arena, size_t count, size_t size)
{
    size_t total;
    CHECK(!__builtin_mul_overflow(count, size, &total));
    return memset(arena_alloc(arena, total), 0, total);
}

Slice arena_copy(Arena *arena, Slice slice)
{
    char *copy = arena_bytes(arena, slice.size);
    if (slice.size > 0)
        memcpy(copy, slice.data, slice.size);
    return slice_of(copy, slice.size);
}

const char *arena_text(Arena *arena, Slice slice)
{
    char *copy = arena_bytes(arena, slice.size + 1);
    if (slice.size > 0)
        memcpy(copy, slice.data, slice.size);
    copy[slice.size] = '\0';
    return copy;
}

Slice arena_print(Arena *arena, const char *format, ...)
{
    va_list measured, written;
    va_start(measured, format);
    va_copy(written, measured);
    int size = vsnprintf(NULL, 0, format, measured);
    va_end(measured);
    CHECK(size >= 0);
    char *text = arena_bytes(arena, (size_t)size + 1);
    vsnprintf(text, (size_t)size + 1, format, written);
    va_end(written);
    return slice_of(text, (size_t)size);
}

void arena_cleanup(Arena **arena)
{
    arena_free(*arena);
}
