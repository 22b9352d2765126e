/* allocator.c -- how the allocator that programs are linked with (jemalloc) gets its memory. Not part of the library: each program names it.
 *
 * A store's cache is a gigabyte that is read at random, and a page table of 4 KiB pages does not fit the processor: large pages make a row
 * a seventh cheaper to read (docs/store.md). */

/* jemalloc asks for it by this name before main begins. */
extern const char *malloc_conf;
const char *malloc_conf = "thp:always,metadata_thp:always";
