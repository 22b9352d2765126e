/* stored.h -- what D, B, M and R of a log hold, byte for byte.
 *
 * Each begins with a format number; numbers are big-endian. What cannot have been written by an encoder is CORRUPT. What was decoded is encoded
 * to the same bytes again, but for an M of an older version, which has fewer counters. Decoded slices are views of the value. Pure; the fuzzer runs the decoders. */
#pragma once

#include "base/bytes.h"
#include "journal/journal.h"

enum {
    STORED_FORMAT = 1,
    STORED_HEADER = 136,
    STORED_KEY_MAX = 1 + JOURNAL_NAME_MAX,
    STORED_COUNTERS_FIRST = 19, /* in the M of the first version; newer ones have more at the end */
};

/* D: all of an entry but its key and data. An error follows the numbers. */
typedef struct StoredHeader {
    JournalState state;
    uint8_t timeouts; /* the counter that a merge resets */
    bool given_up;    /* removed while it runs: it is not tried again */
    bool owned;       /* P: claimed by an owner, which has ended when this is read */
    uint32_t rules;   /* the number of its R */
    uint64_t hash[2]; /* of the key */
    int64_t insertion_ms, expiration_ms, wanted_ms, retry_ms, update_ms, start_ms;
    JournalToken token; /* of the last run; zeros: never claimed */
    uint32_t lease_ms, run_lease_ms, priority, timeouts_ever, version;
    uint32_t claimed_version; /* that the last run got */
    uint32_t key_size, data_size;
    uint32_t reserves, releases, buries, kicks;
    Slice error;
} StoredHeader;

void stored_header(Buffer *to, const StoredHeader *header);
MUST_USE Status stored_header_read(Slice value, StoredHeader *ret_header);

/* B: the size of the key, the key, the data. */
void stored_body(Buffer *to, Slice key, Slice data);
MUST_USE Status stored_body_read(Slice value, Slice *ret_key, Slice *ret_data);

/* M */
typedef struct StoredJournal {
    int64_t paused_until_ms; /* of the wall clock; 0: not */
    bool on_use;
    uint64_t counters[JOURNAL_COUNTERS];
} StoredJournal;
void stored_journal(Buffer *to, const StoredJournal *journal);
MUST_USE Status stored_journal_read(Slice value, StoredJournal *ret_journal);

/* R */
void stored_rules(Buffer *to, Slice name, const JournalRules *rules);
MUST_USE Status stored_rules_read(Slice value, Slice *ret_name, JournalRules *ret_rules);

/* Keys: a letter and a number. CORRUPT when it is none of ours. */
Slice stored_id_key(char to[9], char kind, uint64_t id);
Slice stored_rules_key(char to[5], uint32_t number);
MUST_USE Status stored_id_of(Slice key, uint64_t *ret_id);
MUST_USE Status stored_rules_of(Slice key, uint32_t *ret_number);
