/* codec_test.c -- the layout of keys and values, and which of two cells stands: all pure. */
#include "store/rocksdb/codec.h"
#include "test.h"

static const Table PLAIN = {.number = 60000, .name = "plain", .kind = TABLE_PLAIN};

static Slice encode(const StoredCell *cell, char *to)
{
    size_t header = codec_header(to, cell);
    if (cell->data.size > 0)
        memcpy(to + header, cell->data.data, cell->data.size);
    return slice_of(to, header + cell->data.size);
}

static StoredCell put(int64_t timestamp, int64_t death_us, const char *data)
{
    return (StoredCell){
        .stamped = true, .timestamp = timestamp, .death_us = death_us, .data = slice_from(data)};
}

static StoredCell deleted(int64_t timestamp, int64_t death_us)
{
    return (StoredCell){
        .stamped = true, .deleted = true, .timestamp = timestamp, .death_us = death_us};
}

TEST(values_come_back_as_they_were_written)
{
    StoredCell cells[] = {put(5, 0, "x"),
                          put(INT64_MIN, 7, ""),
                          deleted(INT64_MAX, 1),
                          {.data = SLICE("no timestamp")},
                          {.death_us = 9, .data = SLICE("dies")}};
    for (size_t i = 0; i < sizeof cells / sizeof cells[0]; i++) {
        char bytes[64];
        StoredCell back;
        EXPECT_STATUS(codec_decode(encode(&cells[i], bytes), &back), STATUS_OK);
        EXPECT(back.stamped == cells[i].stamped && back.deleted == cells[i].deleted);
        EXPECT_I64(back.timestamp, cells[i].timestamp);
        EXPECT_I64(back.death_us, cells[i].death_us);
        EXPECT_SLICE(back.data, cells[i].data);
    }
}

TEST(a_cut_or_foreign_value_is_corrupt)
{
    char bytes[64];
    StoredCell cell = put(5, 7, ""), back;
    Slice whole = encode(&cell, bytes);
    for (size_t size = 0; size < whole.size; size++)
        EXPECT_STATUS(codec_decode(slice_of(bytes, size), &back), STATUS_CORRUPT);
    bytes[0] = 8;
    EXPECT_STATUS(codec_decode(whole, &back), STATUS_CORRUPT);
}

TEST(keys_of_one_row_share_a_prefix_that_no_other_row_has)
{
    char a[KEY_MAX], b[KEY_MAX];
    Slice one = slice_of(a, codec_key(a, &PLAIN, SLICE("r"), SLICE("column")));
    Slice two = slice_of(b, codec_key(b, &PLAIN, SLICE("rc"), SLICE("olumn")));
    EXPECT_I64(codec_row_prefix(one), 5);
    EXPECT_I64(codec_row_prefix(two), 6);
    EXPECT(!slice_equal(one, two));
    EXPECT_I64(codec_row_prefix(slice_of(a, 3)), 0);
    EXPECT_I64(codec_row_prefix(slice_of(b, 5)), 0);
}

/* Each cell stands against all before it, in either order of arrival; now is 100. */
TEST(the_order_of_cells_does_not_depend_on_arrival)
{
    StoredCell cells[] = {
        put(1, 0, "z"),   put(2, 0, ""),    put(2, 0, "a"), put(2, 0, "ab"), put(2, 200, "b"),
        put(2, 300, "a"), put(2, 300, "b"), deleted(2, 50), put(3, 0, ""),
    };
    size_t count = sizeof cells / sizeof cells[0];
    for (size_t high = 0; high < count; high++)
        for (size_t low = 0; low < high; low++) {
            EXPECT(codec_wins(&cells[high], &cells[low], 100));
            EXPECT(!codec_wins(&cells[low], &cells[high], 100));
        }
    for (size_t i = 0; i < count; i++)
        EXPECT(!codec_wins(&cells[i], &cells[i], 100));
}

TEST(an_expired_cell_is_a_delete_with_its_timestamp)
{
    StoredCell expired = put(2, 100, "x"), same = put(2, 500, "y"), later = put(3, 0, "");
    EXPECT(!codec_alive(&expired, 100));
    EXPECT(codec_alive(&expired, 99));
    EXPECT(!codec_wins(&same, &expired, 100));
    EXPECT(codec_wins(&same, &expired, 99));
    EXPECT(codec_wins(&later, &expired, 100));
}

TEST(the_dead_are_buried_and_forgotten_only_after_grace)
{
    StoredCell expiring = put(5 * US_PER_S, 10 * US_PER_S, "x");
    StoredCell ahead = deleted(50 * US_PER_S, 10 * US_PER_S);
    StoredCell for_ever = put(1, 0, "x"), receipt = {.death_us = 10, .data = SLICE("x")};
    EXPECT(codec_fate(&expiring, 10 * US_PER_S - 1, 20) == CODEC_KEEP);
    EXPECT(codec_fate(&expiring, 10 * US_PER_S, 20) == CODEC_BURY);
    EXPECT(codec_fate(&expiring, 30 * US_PER_S, 20) == CODEC_BURY);
    EXPECT(codec_fate(&expiring, 30 * US_PER_S + 1, 20) == CODEC_FORGET);
    EXPECT(codec_fate(&ahead, 70 * US_PER_S, 20) == CODEC_KEEP);
    EXPECT(codec_fate(&ahead, 70 * US_PER_S + 1, 20) == CODEC_FORGET);
    EXPECT(codec_fate(&for_ever, INT64_MAX, 20) == CODEC_KEEP);
    EXPECT(codec_fate(&receipt, 9, 20) == CODEC_KEEP);
    EXPECT(codec_fate(&receipt, 10, 20) == CODEC_FORGET);
}
