/* writer_cache_test.c -- what the writer remembers is what was stored last, and bounded. */
#include "store/rocksdb/writer_cache.h"

#include "test.h"

static Arena *arena;
static Overlay overlay;
static WriterCache writer_cache;

static void begin(size_t cells)
{
    arena = arena_new();
    overlay_init(&overlay, arena);
    writer_cache_init(&writer_cache, cells);
}

static void end(void)
{
    writer_cache_free(&writer_cache);
    overlay_free(&overlay);
    arena_free(arena);
}

static Slice key_number(int number)
{
    return arena_print(arena, "key %d", number);
}

static void keep(Slice key, Slice data, bool asked)
{
    OverlayCell *entry = overlay_find(&overlay, key);
    entry->cell = (StoredCell){.stamped = true, .timestamp = 7, .data = data};
    entry->asked = asked;
    entry->present = entry->changed = true;
    writer_cache_keep(&writer_cache, entry);
    overlay_clear(&overlay);
}

/* As a new group would find it. */
static bool load(Slice key, OverlayCell *ret_entry)
{
    OverlayCell *entry = overlay_find(&overlay, key);
    bool found = writer_cache_load(&writer_cache, entry);
    *ret_entry = *entry;
    overlay_clear(&overlay);
    return found;
}

#define EXPECT_KNOWN(key, value)                      \
    do {                                              \
        OverlayCell entry;                            \
        EXPECT(load(key, &entry));                    \
        EXPECT(entry.loaded &&entry.present);         \
        EXPECT(entry.cell.stamped && !entry.changed); \
        EXPECT_I64(entry.cell.timestamp, 7);          \
        EXPECT_SLICE(entry.cell.data, value);         \
    } while (0)

static bool is_known(Slice key)
{
    OverlayCell entry;
    return load(key, &entry);
}

TEST(what_was_stored_last_is_known)
{
    begin(64);
    EXPECT(!is_known(SLICE("a")));
    keep(SLICE("a"), SLICE("short"), true);
    EXPECT_KNOWN(SLICE("a"), SLICE("short"));
    keep(SLICE("a"), SLICE("a longer value than before"), true);
    EXPECT_KNOWN(SLICE("a"), SLICE("a longer value than before"));
    keep(SLICE("a"), SLICE(""), true);
    EXPECT_KNOWN(SLICE("a"), SLICE(""));
    EXPECT(!is_known(SLICE("b")));
    writer_cache_clear(&writer_cache);
    EXPECT(!is_known(SLICE("a")));
    end();
}

TEST(a_cell_that_nobody_looks_at_is_not_remembered_but_never_old)
{
    begin(64);
    keep(SLICE("a"), SLICE("1"), false);
    EXPECT(!is_known(SLICE("a")));
    keep(SLICE("a"), SLICE("2"), true);
    keep(SLICE("a"), SLICE("3"), false);
    EXPECT_KNOWN(SLICE("a"), SLICE("3"));
    end();
}

TEST(removed_and_large_cells_are_forgotten)
{
    begin(64);
    char large[WRITER_CACHE_BYTES];
    memset(large, 'x', sizeof large);
    keep(SLICE("a"), SLICE("1"), true);
    keep(SLICE("a"), slice_of(large, sizeof large), true);
    EXPECT(!is_known(SLICE("a")));
    keep(SLICE("a"), SLICE("1"), true);
    OverlayCell *entry = overlay_find(&overlay, SLICE("a"));
    entry->asked = entry->changed = true;
    writer_cache_keep(&writer_cache, entry);
    overlay_clear(&overlay);
    EXPECT(!is_known(SLICE("a")));
    end();
}

TEST(a_crowd_that_comes_once_does_not_drive_out_what_is_asked_for)
{
    enum { CELLS = 64, CROWD = 10000 };
    begin(CELLS);
    keep(SLICE("hot"), SLICE("1"), true);
    int left = 0;
    for (int i = 0; i < CROWD; i++) {
        EXPECT_KNOWN(SLICE("hot"), SLICE("1"));
        keep(key_number(i), SLICE("once"), true);
    }
    for (int i = 0; i < CROWD; i++)
        left += is_known(key_number(i));
    EXPECT(left > 0 && left < CELLS);
    end();
}
