/* stored_test.c -- what is stored is read back, and what no encoder has written is refused. */
#include "journal/stored.h"
#include "test.h"

static StoredHeader example(void)
{
    return (StoredHeader){.state = JOURNAL_FAILED,
                          .timeouts = 3,
                          .given_up = true,
                          .rules = 7,
                          .hash = {1, UINT64_MAX},
                          .insertion_ms = 10,
                          .expiration_ms = 20,
                          .wanted_ms = 30,
                          .retry_ms = 40,
                          .update_ms = 50,
                          .start_ms = 60,
                          .token = {{1, 2, 3}},
                          .lease_ms = 1000,
                          .run_lease_ms = 2000,
                          .priority = UINT32_MAX,
                          .timeouts_ever = 4,
                          .version = 5,
                          .claimed_version = 5,
                          .key_size = JOURNAL_KEY_MAX,
                          .data_size = 9,
                          .reserves = 1,
                          .releases = 2,
                          .buries = 3,
                          .kicks = 4,
                          .error = SLICE("why")};
}

TEST(a_header_is_read_back)
{
    BUFFER_SCOPE Buffer stored = {0}, again = {0};
    StoredHeader header = example(), back;
    stored_header(&stored, &header);
    EXPECT_I64(stored.size, STORED_HEADER + 3);
    EXPECT_STATUS(stored_header_read(buffer_slice(&stored), &back), STATUS_OK);
    EXPECT(back.hash[1] == UINT64_MAX && back.kicks == 4 && back.given_up &&
           back.priority == UINT32_MAX);
    stored_header(&again, &back);
    EXPECT_SLICE(buffer_slice(&again), buffer_slice(&stored));
}

/* Format 1, as it was first written: it is read for ever. */
TEST(a_recorded_header_of_format_1_is_read)
{
    static const unsigned char RECORDED[STORED_HEADER] = {1, 'W', 2, 0, 0, 0, 0, 9, [98] = 1};
    unsigned char bytes[STORED_HEADER];
    StoredHeader header;
    memcpy(bytes, RECORDED, sizeof bytes);
    bytes[91] = 5; /* lease_ms */
    EXPECT_STATUS(stored_header_read(slice_of(bytes, sizeof bytes), &header), STATUS_OK);
    EXPECT(header.state == JOURNAL_WAITING && header.timeouts == 2 && header.rules == 9 &&
           header.lease_ms == 5 && header.priority == 256);
}

TEST(headers_that_nobody_wrote_are_refused)
{
    StoredHeader back;
    for (int wrong = 0; wrong < 8; wrong++) {
        BUFFER_SCOPE Buffer stored = {0};
        StoredHeader header = example();
        static char error[JOURNAL_ERROR_MAX + 1];
        header.state = wrong == 0 ? (JournalState)'X' : header.state;
        header.lease_ms = wrong == 1 ? 0 : header.lease_ms;
        header.key_size += wrong == 2;
        header.data_size = wrong == 3 ? JOURNAL_DATA_MAX + 1 : header.data_size;
        header.wanted_ms = wrong == 4 ? -1 : header.wanted_ms;
        if (wrong == 5)
            header.error = slice_of(error, sizeof error);
        stored_header(&stored, &header);
        if (wrong == 6)
            stored.data[0] = 2;
        if (wrong == 7)
            stored.size = STORED_HEADER - 1;
        EXPECT_STATUS(stored_header_read(buffer_slice(&stored), &back), STATUS_CORRUPT);
    }
}

TEST(bodies_journals_rules_and_keys_are_read_back)
{
    BUFFER_SCOPE Buffer body = {0}, meta = {0}, rules = {0};
    Slice key, data, name;
    StoredJournal journal = {.paused_until_ms = 5, .on_use = true, .counters = {1, 2, 3}},
                  journal_back;
    JournalRules set = {.merge = true,
                        .process = JOURNAL_KEEP,
                        .timeouts = 255,
                        .lease_ms = 1,
                        .dead_max = 4},
                 set_back;
    char id[9], number[5];
    uint64_t id_back;
    uint32_t number_back;
    stored_body(&body, SLICE("key"), SLICE("data"));
    EXPECT_STATUS(stored_body_read(buffer_slice(&body), &key, &data), STATUS_OK);
    EXPECT(slice_equal(key, SLICE("key")) && slice_equal(data, SLICE("data")));
    EXPECT_STATUS(stored_body_read(slice_of(body.data, 6), &key, &data), STATUS_CORRUPT);
    stored_journal(&meta, &journal);
    EXPECT_STATUS(stored_journal_read(buffer_slice(&meta), &journal_back), STATUS_OK);
    EXPECT(journal_back.on_use && journal_back.counters[2] == 3);
    EXPECT_STATUS(stored_journal_read(slice_of(meta.data, meta.size - 1), &journal_back),
                  STATUS_CORRUPT);
    meta.size -= (JOURNAL_COUNTERS - STORED_COUNTERS_FIRST) * sizeof(uint64_t);
    meta.data[10] = STORED_COUNTERS_FIRST; /* as the first version wrote it */
    EXPECT_STATUS(stored_journal_read(buffer_slice(&meta), &journal_back), STATUS_OK);
    EXPECT(journal_back.counters[2] == 3 && journal_back.counters[STORED_COUNTERS_FIRST] == 0);
    meta.data[10]--;
    meta.size -= sizeof(uint64_t);
    EXPECT_STATUS(stored_journal_read(buffer_slice(&meta), &journal_back), STATUS_CORRUPT);
    stored_rules(&rules, SLICE("name"), &set);
    EXPECT_STATUS(stored_rules_read(buffer_slice(&rules), &name, &set_back), STATUS_OK);
    EXPECT(slice_equal(name, SLICE("name")) && set_back.process == JOURNAL_KEEP &&
           set_back.dead_max == 4);
    EXPECT_STATUS(stored_rules_read(slice_of(rules.data, rules.size - 1), &name, &set_back),
                  STATUS_CORRUPT);
    EXPECT_STATUS(stored_id_of(stored_id_key(id, 'D', 77), &id_back), STATUS_OK);
    EXPECT_STATUS(stored_rules_of(stored_rules_key(number, 8), &number_back), STATUS_OK);
    EXPECT(id_back == 77 && number_back == 8);
    EXPECT_STATUS(stored_id_of(stored_id_key(id, 'D', 0), &id_back), STATUS_CORRUPT);
}
