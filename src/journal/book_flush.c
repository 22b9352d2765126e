/* book_flush.c -- what has changed in a book, as changes for its log. */
#include <stdlib.h>

#include "journal/book.h"

typedef struct Flush {
    Arena *arena;
    Buffer scratch;
    JournalChange *changes;
    size_t count, capacity;
} Flush;

static void add_change(Flush *flush, uint8_t slot, Slice key, const Slice *value)
{
    if (flush->count == flush->capacity) {
        size_t capacity = flush->capacity * 2 + 64;
        JournalChange *more = ARENA_ARRAY(flush->arena, capacity, JournalChange);
        if (flush->count > 0)
            memcpy(more, flush->changes, flush->count * sizeof *more);
        flush->changes = more;
        flush->capacity = capacity;
    }
    flush->changes[flush->count++] = (JournalChange){.key = arena_copy(flush->arena, key),
                                                     .value = value == NULL ? SLICE_EMPTY : *value,
                                                     .slot = slot,
                                                     .removed = value == NULL};
}

static Slice scratch_copy(Flush *flush)
{
    Slice copy = arena_copy(flush->arena, buffer_slice(&flush->scratch));
    buffer_clear(&flush->scratch);
    return copy;
}

/* ---- Entries ----------------------------------------------------------------------------------------------- */

static Slice encode_entry(Flush *flush, const Entry *entry)
{
    StoredHeader header = {
        .state = (JournalState)entry->state,
        .timeouts = entry->timeouts,
        .given_up = entry->flags & ENTRY_GIVEN_UP,
        .rules = entry->rules->number,
        .hash = {entry->hash[0], entry->hash[1]},
        .insertion_ms = entry->insertion_ms,
        .expiration_ms = entry->expiration_ms,
        .wanted_ms = entry->wanted_ms,
        .update_ms = entry->update_ms,
        .lease_ms = entry->lease_ms,
        .run_lease_ms = entry->lease_ms,
        .priority = entry->priority,
        .version = entry->version,
        .key_size = entry->key_size,
        .data_size = entry->data_size,
    };
    const Run *run = entry->run;
    if (run != NULL) {
        header.owned = run->owner != NULL;
        header.retry_ms = run->retry_ms;
        header.start_ms = run->start_ms;
        header.token = run->token;
        header.run_lease_ms = run->lease_ms;
        header.timeouts_ever = run->timeouts_ever;
        header.claimed_version = run->claimed_version;
        header.reserves = run->reserves;
        header.releases = run->releases;
        header.buries = run->buries;
        header.kicks = run->kicks;
        header.error = slice_of(run->error, run->error_size);
    }
    stored_header(&flush->scratch, &header);
    return scratch_copy(flush);
}

static void remove_entry(Flush *flush, uint8_t slot, uint64_t id)
{
    char key[9];
    add_change(flush, slot, stored_id_key(key, 'D', id), NULL);
    add_change(flush, slot, stored_id_key(key, 'B', id), NULL);
}

static void flush_entry(Flush *flush, Entry *entry, Pointers *bodies)
{
    char key[9];
    entry->flags &= (uint8_t)~ENTRY_DIRTY;
    if (entry->flags & ENTRY_GONE) {
        if (entry->flags & ENTRY_STORED)
            remove_entry(flush, entry->slot, entry->id);
        if (entry->run != NULL)
            free(entry->run->error);
        free(entry->run);
        free(entry);
        return;
    }
    Slice header = encode_entry(flush, entry);
    add_change(flush, entry->slot, stored_id_key(key, 'D', entry->id), &header);
    if (entry->flags & ENTRY_BODY_DIRTY) {
        Slice body = slice_of(entry->body->bytes, entry->body->size);
        entry->body->refs++;
        pointers_add(bodies, entry->body);
        add_change(flush, entry->slot, stored_id_key(key, 'B', entry->id), &body);
    }
    entry->flags |= ENTRY_STORED;
    entry->flags &= (uint8_t)~ENTRY_BODY_DIRTY;
}

/* ---- Journals ---------------------------------------------------------------------------------------------- */

static Slice meta_key(Flush *flush, const Journal *journal)
{
    return arena_print(flush->arena, "M%.*s", SLICE_ARG(journal_name(journal)));
}

static void add_meta(Flush *flush, const Book *book, uint8_t slot, const Journal *journal)
{
    StoredJournal stored = {.on_use = journal->on_use};
    memcpy(stored.counters, journal->counters, sizeof stored.counters);
    if (journal->paused_until_ms != 0)
        stored.paused_until_ms =
            journal_date(journal->paused_until_ms - book->now.boot_ms + book->now.wall_ms);
    stored_journal(&flush->scratch, &stored);
    Slice value = scratch_copy(flush);
    add_change(flush, slot, meta_key(flush, journal), &value);
}

static void add_rules(Flush *flush, uint8_t slot, const RuleSet *rules)
{
    char key[5];
    stored_rules(&flush->scratch, journal_name(rules->journal), &rules->rules);
    Slice value = scratch_copy(flush);
    add_change(flush, slot, stored_rules_key(key, rules->number), &value);
}

/* Rules that no entry has any more go, but for those of the next entries. */
static void flush_rules(Flush *flush, uint8_t slot, Journal *journal)
{
    for (RuleSet **link = &journal->rules; *link != NULL;) {
        RuleSet *rules = *link;
        char key[5];
        bool unused = journal->forgotten || (rules != journal->rules && rules->entries == 0);
        if (unused && !rules->dirty)
            add_change(flush, slot, stored_rules_key(key, rules->number), NULL);
        else if (rules->dirty && !unused)
            add_rules(flush, slot, rules);
        rules->dirty = false;
        if (unused && !journal->forgotten) {
            *link = rules->next;
            free(rules);
        } else {
            link = &rules->next;
        }
    }
}

static void flush_journal(Flush *flush, const Book *book, Journal *journal)
{
    uint8_t slot = book->start.newest;
    journal->meta_dirty = false;
    flush_rules(flush, slot, journal);
    if (journal->forgotten) {
        if (journal->stored)
            add_change(flush, slot, meta_key(flush, journal), NULL);
        book_free_journal(journal);
        return;
    }
    add_meta(flush, book, slot, journal);
    journal->stored = true;
}

/* ---- All --------------------------------------------------------------------------------------------------- */

void book_flush(Book *book, Arena *arena, Pointers *bodies, JournalChange **ret_changes,
                size_t *ret_count)
{
    Flush flush = {.arena = arena};
    for (size_t i = 0; i < book->dirty.count; i++)
        flush_entry(&flush, book->dirty.items[i], bodies);
    for (size_t i = 0; i < book->changed.count; i++)
        flush_journal(&flush, book, book->changed.items[i]);
    for (size_t i = 0; i < book->leftover_count; i++)
        remove_entry(&flush, book->leftovers[i].slot, book->leftovers[i].id);
    book->dirty.count = book->changed.count = book->leftover_count = 0;
    book->must_sync = false;
    buffer_free(&flush.scratch);
    *ret_changes = flush.changes;
    *ret_count = flush.count;
}

void book_meta(const Book *book, Arena *arena, JournalChange **ret_changes, size_t *ret_count)
{
    Flush flush = {.arena = arena};
    for (size_t i = 0; i < book->names.capacity; i++) {
        const Journal *journal = book->names.slots[i];
        if (journal == NULL)
            continue;
        for (const RuleSet *rules = journal->rules; rules != NULL; rules = rules->next)
            add_rules(&flush, 0, rules);
        add_meta(&flush, book, 0, journal);
    }
    buffer_free(&flush.scratch);
    *ret_changes = flush.changes;
    *ret_count = flush.count;
}

static void add_leftover(Book *book, uint64_t id, uint8_t slot)
{
    if (book->leftover_count == book->leftover_capacity) {
        book->leftover_capacity = book->leftover_capacity * 2 + 16;
        book->leftovers =
            realloc(book->leftovers, book->leftover_capacity * sizeof *book->leftovers);
        CHECK(book->leftovers != NULL);
    }
    book->leftovers[book->leftover_count++] = (Leftover){id, slot};
}

static void move_to(Book *book, Entry *entry, uint8_t slot)
{
    uint64_t bytes = (uint64_t)entry->key_size + entry->data_size;
    if (entry->flags & ENTRY_STORED)
        add_leftover(book, entry->id, entry->slot);
    book->slot_entries[entry->slot]--;
    book->slot_bytes[entry->slot] -= bytes;
    entry->slot = slot;
    book->slot_entries[slot]++;
    book->slot_bytes[slot] += bytes;
    entry->flags &= (uint8_t)~ENTRY_STORED;
    entry->flags |= ENTRY_BODY_DIRTY;
    book_dirty(book, entry);
}

void book_forget_copy(Book *book, uint64_t id, uint8_t slot)
{
    add_leftover(book, id, slot);
}

Status book_move(Book *book, uint8_t slot, Reason *reason)
{
    size_t moved = 0;
    Entry *entry;
    for (size_t place = 0;
         book->slot_entries[slot] > 0 && (entry = ids_next(&book->ids, &place)) != NULL;) {
        Slice key, data;
        if (entry->slot != slot)
            continue;
        if (moved++ == BOOK_TURN_MAX)
            return STATUS_OK;
        TRY(book_body(book, entry, &key, &data, reason));
        move_to(book, entry, book->start.newest);
    }
    return STATUS_OK;
}
