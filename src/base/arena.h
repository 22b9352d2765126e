/* arena.h -- memory with the lifetime of one request or one job.
 *
 * Allocating is a pointer move; nothing is freed one by one; the worker that owns the arena empties it at the
 * end of the request. Domain code only allocates. Inputs are bounded before they get here, so an allocation
 * never returns NULL: out of memory ends the process.
 * An arena belongs to one thread at a time. */
#pragma once

#include <stdalign.h>
#include <stdarg.h>

#include "base/slice.h"

typedef struct Arena Arena;

Arena *arena_new(void);
void arena_free(Arena *arena);
/* Frees everything that was allocated, and keeps one block for the next request. */
void arena_reset(Arena *arena);
/* Bytes handed out since the last reset: what a request cost. */
size_t arena_used(const Arena *arena);

/* Not cleared; aligned for any type. Size 0 gives a valid pointer. */
void *arena_alloc(Arena *arena, size_t size);
/* Same without alignment, for bytes. */
char *arena_bytes(Arena *arena, size_t size);
Slice arena_copy(Arena *arena, Slice slice);
/* A copy ended by NUL, for libraries that want one. */
const char *arena_text(Arena *arena, Slice slice);
Slice arena_print(Arena *arena, const char *format, ...) PRINTF_LIKE(2, 3);

/* A cleared value or array of a type. */
#define ARENA_NEW(arena, type)          ((type *)arena_zeroed((arena), 1, sizeof(type)))
#define ARENA_ARRAY(arena, count, type) ((type *)arena_zeroed((arena), (count), sizeof(type)))
void *arena_zeroed(Arena *arena, size_t count, size_t size);

/* For locals: ARENA_SCOPE Arena *arena = arena_new(); */
#define ARENA_SCOPE __attribute__((cleanup(arena_cleanup)))
void arena_cleanup(Arena **arena);
