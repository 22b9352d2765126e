/* seen_test.c -- what a reader leaves for the writer counts exactly as long as nobody has changed it. */
#include "store/rocksdb/seen.h"

#include "test.h"

static Arena *arena;
static Overlay overlay;
static Seen seen;

static void begin(void)
{
    arena = arena_new();
    overlay_init(&overlay, arena);
    seen_init(&seen);
}

static void end(void)
{
    seen_free(&seen);
    overlay_free(&overlay);
    arena_free(arena);
}

static void read_as(uint64_t stamp, Slice key, Slice data)
{
    seen_keep(&seen, stamp, key, &(StoredCell){.stamped = true, .timestamp = 7, .data = data});
}

/* A group that changes the key; until it has ended, readers do not see it. */
static void change(Slice key)
{
    seen_begin(&seen);
    seen_changed(&seen, overlay_find(&overlay, key));
    overlay_clear(&overlay);
}

/* As a new group would find it. */
static bool load(Slice key, OverlayCell *ret_entry)
{
    OverlayCell *entry = overlay_find(&overlay, key);
    bool found = seen_load(&seen, entry, arena);
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
    read_as(seen_stamp(&seen), SLICE("a"), SLICE("value"));
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
    seen_keep(&seen, seen_stamp(&seen), SLICE("a"), NULL);
    EXPECT(load(SLICE("a"), &entry));
    EXPECT(entry.loaded && !entry.present);
    end();
}

TEST(a_change_after_the_read_makes_it_worthless)
{
    begin();
    uint64_t stamp = seen_stamp(&seen);
    read_as(stamp, SLICE("a"), SLICE("old"));
    change(SLICE("a"));
    EXPECT(!is_seen(SLICE("a")));
    seen_end(&seen);
    EXPECT(!is_seen(SLICE("a")));
    read_as(stamp, SLICE("a"), SLICE("old")); /* a reader that was slow */
    EXPECT(!is_seen(SLICE("a")));
    read_as(seen_stamp(&seen), SLICE("a"), SLICE("new"));
    EXPECT(is_seen(SLICE("a")));
    end();
}

/* The reader may have seen the change or not: its stamp is from before the group ended. */
TEST(a_read_while_the_change_is_on_its_way_does_not_count)
{
    begin();
    change(SLICE("a"));
    read_as(seen_stamp(&seen), SLICE("a"), SLICE("old or new"));
    EXPECT(!is_seen(SLICE("a")));
    seen_end(&seen);
    EXPECT(!is_seen(SLICE("a")));
    end();
}

TEST(opening_again_makes_everything_worthless)
{
    begin();
    change(SLICE("b")); /* and it failed */
    uint64_t stamp = seen_stamp(&seen);
    read_as(stamp, SLICE("a"), SLICE("1"));
    EXPECT(is_seen(SLICE("a")));
    seen_clear(&seen);
    EXPECT(!is_seen(SLICE("a")));
    read_as(stamp, SLICE("a"), SLICE("1"));
    EXPECT(!is_seen(SLICE("a")));
    read_as(seen_stamp(&seen), SLICE("a"), SLICE("2"));
    EXPECT(is_seen(SLICE("a")));
    change(SLICE("a"));
    seen_end(&seen);
    EXPECT(!is_seen(SLICE("a")));
    end();
}

TEST(large_cells_are_not_kept)
{
    char large[SEEN_BYTES];
    begin();
    memset(large, 'x', sizeof large);
    read_as(seen_stamp(&seen), SLICE("a"), slice_of(large, sizeof large));
    EXPECT(!is_seen(SLICE("a")));
    read_as(seen_stamp(&seen), SLICE("a"), slice_of(large, sizeof large - 1));
    EXPECT(is_seen(SLICE("a")));
    end();
}
