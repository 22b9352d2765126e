/* stored.c -- see stored.h. */
#include "journal/stored.h"

enum { GIVEN_UP = 1, OWNED = 2 };

void stored_header(Buffer *to, const StoredHeader *header)
{
    const uint32_t numbers[] = {
        header->lease_ms, header->run_lease_ms,    header->priority, header->timeouts_ever,
        header->version,  header->claimed_version, header->key_size, header->data_size,
        header->reserves, header->releases,        header->buries,   header->kicks};
    const int64_t dates[] = {header->insertion_ms, header->expiration_ms, header->wanted_ms,
                             header->retry_ms,     header->update_ms,     header->start_ms};
    buffer_u8(to, STORED_FORMAT);
    buffer_u8(to, (uint8_t)header->state);
    buffer_u8(to, header->timeouts);
    buffer_u8(to, (uint8_t)((header->given_up ? GIVEN_UP : 0) | (header->owned ? OWNED : 0)));
    buffer_u32(to, header->rules);
    buffer_u64(to, header->hash[0]);
    buffer_u64(to, header->hash[1]);
    for (size_t i = 0; i < sizeof dates / sizeof *dates; i++)
        buffer_i64(to, dates[i]);
    buffer_bytes(to, slice_of(header->token.bytes, sizeof header->token.bytes));
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        buffer_u32(to, numbers[i]);
    buffer_bytes(to, header->error);
}

static bool is_state(JournalState state)
{
    return state == JOURNAL_WAITING || state == JOURNAL_PROCESSING || state == JOURNAL_HELD ||
           state == JOURNAL_FAILED;
}

/* The last millisecond that journal_date gives. */
static bool are_dates(const StoredHeader *header)
{
    const int64_t dates[] = {header->insertion_ms, header->expiration_ms, header->wanted_ms,
                             header->retry_ms,     header->update_ms,     header->start_ms};
    for (size_t i = 0; i < sizeof dates / sizeof *dates; i++)
        if (journal_date(dates[i]) != dates[i])
            return false;
    return true;
}

Status stored_header_read(Slice value, StoredHeader *ret_header)
{
    Reader reader = reader_of(value);
    StoredHeader header = {0};
    int64_t *const dates[] = {&header.insertion_ms, &header.expiration_ms, &header.wanted_ms,
                              &header.retry_ms,     &header.update_ms,     &header.start_ms};
    uint32_t *const numbers[] = {
        &header.lease_ms, &header.run_lease_ms,    &header.priority, &header.timeouts_ever,
        &header.version,  &header.claimed_version, &header.key_size, &header.data_size,
        &header.reserves, &header.releases,        &header.buries,   &header.kicks};
    uint8_t format = reader_u8(&reader);
    header.state = (JournalState)reader_u8(&reader);
    header.timeouts = reader_u8(&reader);
    uint8_t flags = reader_u8(&reader);
    header.given_up = flags & GIVEN_UP;
    header.owned = flags & OWNED;
    header.rules = reader_u32(&reader);
    header.hash[0] = reader_u64(&reader);
    header.hash[1] = reader_u64(&reader);
    for (size_t i = 0; i < sizeof dates / sizeof *dates; i++)
        *dates[i] = reader_i64(&reader);
    Slice token = reader_bytes(&reader, sizeof header.token.bytes);
    if (token.size == sizeof header.token.bytes)
        memcpy(header.token.bytes, token.data, token.size);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        *numbers[i] = reader_u32(&reader);
    header.error = reader_rest(&reader);
    if (reader.failed || format != STORED_FORMAT || flags > (GIVEN_UP | OWNED) ||
        !is_state(header.state) || !are_dates(&header) || header.key_size > JOURNAL_KEY_MAX ||
        header.data_size > JOURNAL_DATA_MAX || header.lease_ms == 0 ||
        header.error.size > JOURNAL_ERROR_MAX)
        return STATUS_CORRUPT;
    *ret_header = header;
    return STATUS_OK;
}

void stored_body(Buffer *to, Slice key, Slice data)
{
    buffer_u32(to, (uint32_t)key.size);
    buffer_bytes(to, key);
    buffer_bytes(to, data);
}

Status stored_body_read(Slice value, Slice *ret_key, Slice *ret_data)
{
    Reader reader = reader_of(value);
    Slice key = reader_bytes(&reader, reader_u32(&reader)), data = reader_rest(&reader);
    if (reader.failed || key.size > JOURNAL_KEY_MAX || data.size > JOURNAL_DATA_MAX)
        return STATUS_CORRUPT;
    *ret_key = key;
    *ret_data = data;
    return STATUS_OK;
}

void stored_journal(Buffer *to, const StoredJournal *journal)
{
    buffer_u8(to, STORED_FORMAT);
    buffer_i64(to, journal->paused_until_ms);
    buffer_u8(to, journal->on_use);
    buffer_u8(to, JOURNAL_COUNTERS);
    for (size_t i = 0; i < JOURNAL_COUNTERS; i++)
        buffer_u64(to, journal->counters[i]);
}

Status stored_journal_read(Slice value, StoredJournal *ret_journal)
{
    Reader reader = reader_of(value);
    StoredJournal journal = {0};
    uint8_t format = reader_u8(&reader);
    journal.paused_until_ms = reader_i64(&reader);
    uint8_t on_use = reader_u8(&reader), count = reader_u8(&reader);
    journal.on_use = on_use == 1;
    for (size_t i = 0; i < count && i < JOURNAL_COUNTERS; i++)
        journal.counters[i] = reader_u64(&reader);
    if (!reader_done(&reader) || format != STORED_FORMAT || on_use > 1 ||
        count < STORED_COUNTERS_FIRST || count > JOURNAL_COUNTERS ||
        journal_date(journal.paused_until_ms) != journal.paused_until_ms)
        return STATUS_CORRUPT;
    *ret_journal = journal;
    return STATUS_OK;
}

void stored_rules(Buffer *to, Slice name, const JournalRules *rules)
{
    const uint64_t numbers[] = {(uint64_t)rules->max_defer_ms,
                                (uint64_t)rules->lease_ms,
                                (uint64_t)rules->backoff_ms,
                                (uint64_t)rules->backoff_max_ms,
                                (uint64_t)rules->expire_ms,
                                (uint64_t)rules->dead_ms,
                                rules->max_entries,
                                rules->max_bytes,
                                rules->max_data,
                                rules->max_waiters,
                                rules->dead_max};
    buffer_u8(to, STORED_FORMAT);
    buffer_u8(to, (uint8_t)name.size);
    buffer_bytes(to, name);
    buffer_u8(to, rules->merge);
    buffer_u8(to, rules->drop_dead);
    buffer_u8(to, (uint8_t)rules->process);
    buffer_u8(to, (uint8_t)rules->on_processing);
    buffer_u8(to, (uint8_t)rules->sync);
    buffer_u32(to, rules->priority);
    buffer_u32(to, rules->timeouts);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        buffer_u64(to, numbers[i]);
}

static bool read_switch(Reader *reader, uint8_t most, uint8_t *ret_value)
{
    *ret_value = reader_u8(reader);
    return *ret_value <= most;
}

Status stored_rules_read(Slice value, Slice *ret_name, JournalRules *ret_rules)
{
    Reader reader = reader_of(value);
    JournalRules rules = {0};
    int64_t *const spans[] = {&rules.max_defer_ms,   &rules.lease_ms,  &rules.backoff_ms,
                              &rules.backoff_max_ms, &rules.expire_ms, &rules.dead_ms};
    uint64_t *const bounds[] = {&rules.max_entries, &rules.max_bytes, &rules.max_data,
                                &rules.max_waiters, &rules.dead_max};
    uint8_t merge, drop, process, on_processing, sync, format = reader_u8(&reader);
    Slice name = reader_bytes(&reader, reader_u8(&reader));
    bool good = read_switch(&reader, 1, &merge) && read_switch(&reader, 1, &drop) &&
                read_switch(&reader, JOURNAL_KEEP, &process) &&
                read_switch(&reader, JOURNAL_IGNORE, &on_processing) &&
                read_switch(&reader, JOURNAL_SYNC_ALL, &sync);
    if (!good)
        return STATUS_CORRUPT;
    rules.merge = merge;
    rules.drop_dead = drop;
    rules.process = process;
    rules.on_processing = on_processing;
    rules.sync = sync;
    rules.priority = reader_u32(&reader);
    rules.timeouts = reader_u32(&reader);
    for (size_t i = 0; i < sizeof spans / sizeof *spans; i++) {
        *spans[i] = reader_i64(&reader);
        good &= journal_date(*spans[i]) == *spans[i];
    }
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++)
        *bounds[i] = reader_u64(&reader);
    if (!reader_done(&reader) || !good || format != STORED_FORMAT || !journal_is_name(name) ||
        rules.timeouts > JOURNAL_TIMEOUTS_NONE || rules.lease_ms == 0)
        return STATUS_CORRUPT;
    *ret_name = name;
    *ret_rules = rules;
    return STATUS_OK;
}

Slice stored_id_key(char to[9], char kind, uint64_t id)
{
    to[0] = kind;
    bytes_put_u64(to + 1, id);
    return slice_of(to, 9);
}

Slice stored_rules_key(char to[5], uint32_t number)
{
    uint32_t big = __builtin_bswap32(number);
    to[0] = 'R';
    memcpy(to + 1, &big, sizeof big);
    return slice_of(to, 5);
}

Status stored_id_of(Slice key, uint64_t *ret_id)
{
    Reader reader = reader_of(slice_after(key, 1));
    uint64_t id = reader_u64(&reader);
    if (!reader_done(&reader) || id == 0)
        return STATUS_CORRUPT;
    *ret_id = id;
    return STATUS_OK;
}

Status stored_rules_of(Slice key, uint32_t *ret_number)
{
    Reader reader = reader_of(slice_after(key, 1));
    uint32_t number = reader_u32(&reader);
    if (!reader_done(&reader) || number == 0)
        return STATUS_CORRUPT;
    *ret_number = number;
    return STATUS_OK;
}
