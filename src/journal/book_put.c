/* book_put.c -- putting: a new entry, or a merge with the one that has the key. */
#include <stdlib.h>

#include "journal/book.h"

static const JournalRules *rules_of(const Entry *entry)
{
    return &entry->rules->rules;
}

static JournalFields fields_of(const Entry *entry, Slice data)
{
    return (JournalFields){
        .insertion_ms = entry->insertion_ms,
        .expiration_ms = entry->expiration_ms,
        .wanted_ms = entry->wanted_ms,
        .retry_ms =
            entry->run == NULL || entry_is(entry, JOURNAL_FAILED) ? 0 : entry->run->retry_ms,
        .update_ms = entry->update_ms,
        .lease_ms = entry->lease_ms,
        .priority = entry->priority,
        .data = data,
    };
}

static bool same_fields(const JournalFields *a, const JournalFields *b)
{
    return a->insertion_ms == b->insertion_ms && a->expiration_ms == b->expiration_ms &&
           a->wanted_ms == b->wanted_ms && a->retry_ms == b->retry_ms &&
           a->update_ms == b->update_ms && a->lease_ms == b->lease_ms && a->priority == b->priority;
}

static void set_fields(Book *book, Entry *entry, const JournalFields *fields)
{
    book_unindex(book, entry);
    entry->insertion_ms = fields->insertion_ms;
    entry->expiration_ms = fields->expiration_ms;
    entry->wanted_ms = fields->wanted_ms;
    entry->update_ms = fields->update_ms;
    entry->lease_ms = (uint32_t)fields->lease_ms;
    entry->priority = fields->priority;
    if (fields->retry_ms != 0)
        book_run(entry)->retry_ms = fields->retry_ms;
    if (!entry_expired(book, entry))
        entry->flags &= (uint8_t)~ENTRY_HIDDEN;
    book_index(book, entry);
    book_dirty(book, entry);
}

/* Both in one. Whoever has claimed it before can no longer end it late: what has come since has not been worked on. */
static void merge_into(Book *book, Entry *entry, const JournalFields *both, Slice key, bool data)
{
    if (data)
        book_set_body(book, entry, key, both->data);
    if (data || entry->run != NULL)
        entry->version++;
    set_fields(book, entry, both);
}

/* ---- Entries without a place ------------------------------------------------------------------------------- */

Status book_absorb(Book *book, Entry *into, Entry *from, Reason *reason)
{
    Slice key, data = SLICE_EMPTY, own;
    bool newer;
    ARENA_SCOPE Arena *arena = arena_new();
    TRY(book_body(book, into, &key, &own, reason));
    own = arena_copy(arena, own);
    TRY(book_body(book, from, &key, &data, reason));
    key = arena_copy(arena, key);
    data = arena_copy(arena, data);
    JournalFields both =
        journal_merge(rules_of(into), fields_of(into, own), fields_of(from, data), &newer);
    merge_into(book, into, &both, key, newer);
    book_gone(book, from, JOURNAL_COUNT_MERGED_AWAY);
    return STATUS_OK;
}

Status book_place(Book *book, Entry *entry, Reason *reason)
{
    Slice key, data;
    Entry *main = NULL;
    if (entry_has_key(entry)) {
        ARENA_SCOPE Arena *arena = arena_new();
        TRY(book_body(book, entry, &key, &data, reason));
        TRY(book_find_key(book, journal_of(entry), entry->hash, arena_copy(arena, key), &main,
                          reason));
    }
    CHECK(main != entry);
    if (main != NULL && entry_is(main, JOURNAL_WAITING))
        return book_absorb(book, main, entry, reason);
    if (main == NULL) {
        book_state(book, entry, JOURNAL_WAITING);
        return STATUS_OK;
    }
    if (main->run->held != NULL)
        return book_absorb(book, main->run->held, entry, reason);
    book_state(book, entry, JOURNAL_HELD);
    main->run->held = entry;
    return STATUS_OK;
}

/* ---- Putting ----------------------------------------------------------------------------------------------- */

typedef struct Putting {
    const JournalPut *put;
    Journal *journal;
    JournalFields fields;
    uint64_t hash[2];
    Reason *reason;
} Putting;

static Status check_room(const Book *book, const Journal *journal, uint64_t more_bytes, bool entry,
                         Reason *reason)
{
    const JournalRules *rules = &journal->rules->rules;
    uint64_t entries = 0;
    for (size_t i = 0; i < INDEX_COUNT; i++)
        entries += journal->counts[i];
    if (entry && entries >= rules->max_entries)
        return reason_set(reason, STATUS_THROTTLED, "journal", "%.*s is full: it has %llu entries",
                          SLICE_ARG(journal_name(journal)), (unsigned long long)entries);
    if (journal->bytes + more_bytes > rules->max_bytes)
        return reason_set(reason, STATUS_THROTTLED, "journal", "%.*s is full: it has %llu bytes",
                          SLICE_ARG(journal_name(journal)), (unsigned long long)journal->bytes);
    if (!book->log->has_room(book->log))
        return reason_set(reason, STATUS_THROTTLED, "journal", "the disk is almost full");
    return STATUS_OK;
}

static Status create(Book *book, const Putting *putting, JournalState state, Entry **ret_entry)
{
    const JournalPut *put = putting->put;
    TRY(check_room(book, putting->journal, put->key.size + put->data.size, true, putting->reason));
    if (book->next_id == book->end_id)
        TRY(book->log->ids(book->log, &book->next_id, &book->end_id, putting->reason));
    Entry *entry = calloc(1, sizeof *entry);
    CHECK(entry != NULL);
    *entry = (Entry){
        .id = book->next_id++,
        .hash = {putting->hash[0], putting->hash[1]},
        .insertion_ms = putting->fields.insertion_ms,
        .expiration_ms = putting->fields.expiration_ms,
        .wanted_ms = putting->fields.wanted_ms,
        .update_ms = putting->fields.update_ms,
        .lease_ms = (uint32_t)putting->fields.lease_ms,
        .priority = putting->fields.priority,
        .rules = putting->journal->rules,
        .slot = book->start.newest,
        .version = 1,
    };
    book_set_body(book, entry, put->key, put->data);
    ids_add(&book->ids, entry->id, entry);
    book_enter(book, entry, state);
    book_count(book, putting->journal, JOURNAL_COUNT_CREATED);
    *ret_entry = entry;
    return STATUS_OK;
}

static Status put_merge(Book *book, const Putting *putting, Entry *entry, JournalAnswer *answer)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Slice key, data;
    bool newer, held = entry_is(entry, JOURNAL_HELD);
    TRY(book_body(book, entry, &key, &data, putting->reason));
    JournalFields have = fields_of(entry, arena_copy(arena, data));
    JournalFields both = journal_merge(rules_of(entry), have, putting->fields, &newer);
    if (newer && putting->put->data.size > entry->data_size)
        TRY(check_room(book, putting->journal, putting->put->data.size - entry->data_size, false,
                       putting->reason));
    bool same_data = slice_equal(both.data, have.data);
    if (!same_data || !same_fields(&both, &have) || (entry->run != NULL && !held))
        merge_into(book, entry, &both, putting->put->key, newer && !same_data);
    if (entry->timeouts != 0) {
        entry->timeouts = 0;
        book_dirty(book, entry);
    }
    bool stale = putting->fields.update_ms < have.update_ms;
    answer->outcome = stale ? JOURNAL_STALE : held ? JOURNAL_HELD_MERGED : JOURNAL_MERGED;
    book_count(book, putting->journal,
               stale  ? JOURNAL_COUNT_STALE
               : held ? JOURNAL_COUNT_HELD
                      : JOURNAL_COUNT_MERGED);
    if (held && !stale)
        book_count(book, putting->journal, JOURNAL_COUNT_HELD_MERGED);
    answer->id = entry->id;
    answer->process_ms = entry_process_ms(entry);
    return STATUS_OK;
}

/* The key is running: the work is done again afterwards, so that no trigger that comes during a run is lost. */
static Status put_beside(Book *book, const Putting *putting, Entry *running, JournalAnswer *answer)
{
    Entry *held = running->run->held;
    JournalOnProcessing what = putting->journal->rules->rules.on_processing;
    if (what != JOURNAL_SUCCESSOR) {
        book_count(book, putting->journal, JOURNAL_COUNT_REJECTED);
        answer->outcome = JOURNAL_IGNORED;
        answer->id = running->id;
        answer->process_ms = entry_process_ms(running);
        if (what == JOURNAL_IGNORE)
            return STATUS_OK;
        return reason_set(putting->reason, STATUS_CONFLICT, "key",
                          "an entry with this key is being worked on");
    }
    if (held != NULL && entry_expired(book, held)) {
        running->run->held = NULL;
        book_gone(book, held, JOURNAL_COUNT_EXPIRED);
        held = NULL;
    }
    if (held != NULL)
        return put_merge(book, putting, held, answer);
    TRY(create(book, putting, JOURNAL_HELD, &held));
    running->run->held = held;
    book_count(book, putting->journal, JOURNAL_COUNT_HELD);
    *answer = (JournalAnswer){
        .outcome = JOURNAL_MADE_HELD, .id = held->id, .process_ms = entry_process_ms(held)};
    return STATUS_OK;
}

static Status check_put(const JournalPut *put, const JournalRules *rules, Reason *reason)
{
    if (put->key.size > JOURNAL_KEY_MAX)
        return reason_set(reason, STATUS_TOO_LARGE, "key", "at most %d bytes", JOURNAL_KEY_MAX);
    if (put->data.size > rules->max_data)
        return reason_set(reason, STATUS_TOO_LARGE, "data", "at most %llu bytes",
                          (unsigned long long)rules->max_data);
    const int64_t dates[] = {put->insertion_ms, put->wanted_ms, put->expiration_ms};
    for (size_t i = 0; i < sizeof dates / sizeof *dates; i++)
        if (journal_date(dates[i]) != dates[i])
            return reason_set(reason, STATUS_INVALID,
                              i == 0   ? "inserted_at"
                              : i == 1 ? "process_at"
                                       : "expires_at",
                              "milliseconds from 1970 to 9999");
    if (put->lease_ms < 0)
        return reason_set(reason, STATUS_INVALID, "lease_ms", "must not be negative");
    return STATUS_OK;
}

static Status put_one(Book *book, const JournalPut *put, JournalAnswer *answer, Reason *reason)
{
    Putting putting = {.put = put, .reason = reason};
    bool ahead;
    Entry *main = NULL;
    TRY(book_journal(book, put->journal, put->on_use, &putting.journal, reason));
    const JournalRules *rules = &putting.journal->rules->rules;
    TRY(check_put(put, rules, reason));
    const JournalFields said = {.insertion_ms = put->insertion_ms,
                                .wanted_ms = put->wanted_ms,
                                .expiration_ms = put->expiration_ms,
                                .lease_ms = put->lease_ms,
                                .priority = put->has_priority ? put->priority : rules->priority,
                                .data = put->data};
    putting.fields = journal_fields(rules, said, book->now.wall_ms, &ahead);
    if (ahead)
        book_count(book, putting.journal, JOURNAL_COUNT_AHEAD);
    book->must_sync |= !put->lazy;
    if (put->key.size > 0)
        book_hash(book, putting.journal, put->key, putting.hash);
    if (put->key.size > 0 && rules->merge)
        TRY(book_find_key(book, putting.journal, putting.hash, put->key, &main, reason));
    if (main != NULL && entry_is(main, JOURNAL_WAITING) && entry_expired(book, main)) {
        book_gone(book, main, JOURNAL_COUNT_EXPIRED);
        main = NULL;
    }
    if (main != NULL && entry_is(main, JOURNAL_WAITING))
        return put_merge(book, &putting, main, answer);
    if (main != NULL)
        return put_beside(book, &putting, main, answer);
    TRY(create(book, &putting, JOURNAL_WAITING, &main));
    *answer = (JournalAnswer){
        .outcome = JOURNAL_CREATED, .id = main->id, .process_ms = entry_process_ms(main)};
    return STATUS_OK;
}

void book_put(Book *book, const JournalPut *put, JournalAnswer *ret_answer, Reason *reason)
{
    *ret_answer = (JournalAnswer){0};
    ret_answer->status = put_one(book, put, ret_answer, reason);
}
