/* read_hints_test.c -- what a reader leaves for the writer counts exactly as long as nobody has changed it. */
#include "store/rocksdb/read_hints.h"

#include "test.h"

static Arena *arena;
static Overlay overlay;
static ReadHints read_hints;

static void begin(void)
{
    arena = arena_new();
    overlay_init(&overlay, arena);
    read_hints_init(&read_hints);
}

static void end(void)
{
    read_hints_free(&read_hints);
    overlay_free(&overlay);
    arena_free(arena);
}

static void read_as(uint64_t stamp, Slice key, Slice data)
{
    read_hints_keep(&read_hints, stamp, key,
                    &(StoredCell){.stamped = true, .timestamp = 7, .data = data});
}

/* A group that changes the key; until it has ended, readers do not see it. */
static void change(Slice key)
{
    read_hints_begin(&read_hints);
    read_hints_changed(&read_hints, overlay_find(&overlay, key));
    overlay_clear(&overlay);
}

/* As a new group would find it. */
static bool load(Slice key, OverlayCell *ret_entry)
{
    OverlayCell *entry = overlay_find(&overlay, key);
    bool found = read_hints_load(&read_hints, entry, arena);
    *ret_entry = *entry;
    overlay_clear(&overlay);
    return found;
}

static bool is_seen(Slice key)
{
    OverlayCell entry;
    bool found = load(key, &entry);
    EXPECT(entry.loaded == found);
    return found;
}

TEST(what_was_read_is_what_is_stored)
{
    OverlayCell entry;
    begin();
    EXPECT(!is_seen(SLICE("a")));
    read_as(read_hints_stamp(&read_hints), SLICE("a"), SLICE("value"));
    EXPECT(load(SLICE("a"), &entry));
    EXPECT(entry.present && entry.cell.stamped && !entry.changed);
    EXPECT_I64(entry.cell.timestamp, 7);
    EXPECT_SLICE(entry.cell.data, SLICE("value"));
    EXPECT(!is_seen(SLICE("b")));
    end();
}

TEST(that_nothing_is_stored_is_known_too)
{
    OverlayCell entry;
    begin();
    read_hints_keep(&read_hints, read_hints_stamp(&read_hints), SLICE("a"), NULL);
    EXPECT(load(SLICE("a"), &entry));
    EXPECT(entry.loaded && !entry.present);
    end();
}

TEST(a_change_after_the_read_makes_it_worthless)
{
    begin();
    uint64_t stamp = read_hints_stamp(&read_hints);
    read_as(stamp, SLICE("a"), SLICE("old"));
    change(SLICE("a"));
    EXPECT(!is_seen(SLICE("a")));
    read_hints_end(&read_hints);
    EXPECT(!is_seen(SLICE("a")));
    read_as(stamp, SLICE("a"), SLICE("old")); /* a reader that was slow */
    EXPECT(!is_seen(SLICE("a")));
    read_as(read_hints_stamp(&read_hints), SLICE("a"), SLICE("new"));
    EXPECT(is_seen(SLICE("a")));
    end();
}

/* The reader may have seen the change or not: its stamp is from before the group ended. */
TEST(a_read_while_the_change_is_on_its_way_does_not_count)
{
    begin();
    change(SLICE("a"));
    read_as(read_hints_stamp(&read_hints), SLICE("a"), SLICE("old or new"));
    EXPECT(!is_seen(SLICE("a")));
    read_hints_end(&read_hints);
    EXPECT(!is_seen(SLICE("a")));
    end();
}

TEST(opening_again_makes_everything_worthless)
{
    begin();
    change(SLICE("b")); /* and it failed */
    uint64_t stamp = read_hints_stamp(&read_hints);
    read_as(stamp, SLICE("a"), SLICE("1"));
    EXPECT(is_seen(SLICE("a")));
    read_hints_clear(&read_hints);
    EXPECT(!is_seen(SLICE("a")));
    read_as(stamp, SLICE("a"), SLICE("1"));
    EXPECT(!is_seen(SLICE("a")));
    read_as(read_hints_stamp(&read_hints), SLICE("a"), SLICE("2"));
    EXPECT(is_seen(SLICE("a")));
    change(SLICE("a"));
    read_hints_end(&read_hints);
    EXPECT(!is_seen(SLICE("a")));
    end();
}

TEST(large_cells_are_not_kept)
{
    char large[READ_HINTS_BYTES];
    begin();
    memset(large, 'x', sizeof large);
    read_as(read_hints_stamp(&read_hints), SLICE("a"), slice_of(large, sizeof large));
    EXPECT(!is_seen(SLICE("a")));
    read_as(read_hints_stamp(&read_hints), SLICE("a"), slice_of(large, sizeof large - 1));
    EXPECT(is_seen(SLICE("a")));
    end();
}
