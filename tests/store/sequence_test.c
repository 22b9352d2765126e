/* sequence_test.c -- an id is handed out once, ever: by many threads, several instances, and after restarts. */
#include "store/sequence.h"

#include "contract.h"

enum { THREADS = 16, INSTANCES = 4, IDS = 10000, EACH = IDS / THREADS };

static Sequence *instances[INSTANCES];
static uint64_t taken[THREADS][EACH];
static Status worst[THREADS];

static void open_instances(uint32_t block)
{
    for (int i = 0; i < INSTANCES; i++)
        instances[i] = sequence_new(contract_store(), contract_world(), "things", block);
}

static void close_instances(void)
{
    for (int i = 0; i < INSTANCES; i++)
        sequence_free(instances[i]);
}

static void take_ids(int index, void *context)
{
    (void)context;
    worst[index] = STATUS_OK;
    for (int i = 0; i < EACH; i++) {
        Status status = sequence_next(instances[index % INSTANCES], &taken[index][i]);
        if (status != STATUS_OK)
            worst[index] = status;
    }
}

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void expect_unique(void)
{
    uint64_t *all = &taken[0][0];
    for (int i = 0; i < THREADS; i++)
        EXPECT_STATUS(worst[i], STATUS_OK);
    qsort(all, THREADS * EACH, sizeof *all, by_number);
    EXPECT(all[0] >= 1);
    for (int i = 1; i < THREADS * EACH; i++)
        EXPECT(all[i - 1] < all[i]);
}

TEST(ten_thousand_ids_of_many_threads_and_instances_are_unique)
{
    static const uint32_t BLOCKS[] = {1000, 7};
    for (size_t i = 0; i < sizeof BLOCKS / sizeof BLOCKS[0]; i++) {
        contract_fresh_site();
        open_instances(BLOCKS[i]);
        contract_threads(THREADS, take_ids, NULL);
        close_instances();
        expect_unique();
        contract_end();
    }
}

static uint64_t next_of(Sequence *sequence)
{
    uint64_t id = 0;
    EXPECT_STATUS(sequence_next(sequence, &id), STATUS_OK);
    return id;
}

TEST(ids_start_at_one_and_follow_each_other)
{
    contract_fresh_site();
    Sequence *sequence = sequence_new(contract_store(), contract_world(), "things", 3);
    for (uint64_t i = 1; i <= 10; i++)
        EXPECT_I64(next_of(sequence), i);
    sequence_free(sequence);
    contract_end();
}

TEST(a_block_dies_with_its_process)
{
    contract_fresh_site();
    for (uint64_t i = 0; i < 5; i++) {
        Sequence *sequence = sequence_new(contract_store(), contract_world(), "things", 10);
        EXPECT_I64(next_of(sequence), 10 * i + 1);
        EXPECT_I64(next_of(sequence), 10 * i + 2);
        sequence_free(sequence);
        contract_restart();
    }
    contract_end();
}

TEST(each_name_has_its_own_numbers)
{
    contract_fresh_site();
    Sequence *one = sequence_new(contract_store(), contract_world(), "one", 1);
    Sequence *two = sequence_new(contract_store(), contract_world(), "two", 1);
    EXPECT_I64(next_of(one), 1);
    EXPECT_I64(next_of(one), 2);
    EXPECT_I64(next_of(two), 1);
    sequence_free(one);
    sequence_free(two);
    contract_end();
}

TEST(a_counter_that_is_none_is_corrupt)
{
    contract_fresh_site();
    Change changes[] = {put(SLICE("next"), SLICE("seven"), 0)};
    EXPECT_STATUS(
        contract_update(&TABLE_COUNTERS, SLICE("things"), when_absent(SLICE("next")), changes, 1),
        STATUS_OK);
    Sequence *sequence = sequence_new(contract_store(), contract_world(), "things", 1);
    uint64_t id = 77;
    EXPECT_STATUS(sequence_next(sequence, &id), STATUS_CORRUPT);
    EXPECT_I64(id, 77);
    sequence_free(sequence);
    contract_end();
}

static void block_of_none(void)
{
    sequence_free(sequence_new(NULL, world_real(), "things", 0));
}

static void block_too_large(void)
{
    sequence_free(sequence_new(NULL, world_real(), "things", 4097));
}

TEST(a_block_out_of_bounds_is_a_bug)
{
    EXPECT(test_is_bug(block_of_none));
    EXPECT(test_is_bug(block_too_large));
}
