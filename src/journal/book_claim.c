/* book_claim.c -- what is handed out, and under which token. */
#include "journal/book.h"

static void make_token(Book *book, JournalToken *token)
{
    char number[8];
    uint32_t epoch = __builtin_bswap32(book->start.epoch);
    memcpy(token->bytes, &epoch, sizeof epoch);
    bytes_put_u64(number, book->next_token++);
    memcpy(token->bytes + 4, number + 2, 6);
    random_fill(book->world.random, token->bytes + 10, 6);
}

static void start_run(Book *book, Entry *entry, int64_t lease_ms, JournalOwner *owner)
{
    Run *run = book_run(entry);
    Journal *journal = journal_of(entry);
    int64_t waited_ms = book->now.wall_ms - entry_process_ms(entry);
    if (entry_is(entry, JOURNAL_WAITING) && waited_ms >= 0)
        histogram_add(&journal->wait, &JOURNAL_SPANS, waited_ms);
    book_unindex(book, entry);
    if (run->reserves > 0)
        table_remove(&book->tokens, run);
    make_token(book, &run->token);
    run->reserves++;
    table_add(&book->tokens, run);
    run->lease_ms = lease_ms <= 0           ? entry->lease_ms
                    : lease_ms > UINT32_MAX ? UINT32_MAX
                                            : (uint32_t)lease_ms;
    run->start_ms = book->now.wall_ms;
    run->begun_ms = book->now.boot_ms;
    run->deadline_ms = book->now.boot_ms + run->lease_ms;
    run->claimed_version = entry->version;
    run->owner = owner;
    if (owner != NULL)
        heap_add(&owner->runs[book->index], &RUN_OWNER, run);
    entry->state = JOURNAL_PROCESSING;
    entry->flags &= (uint8_t)~ENTRY_HIDDEN;
    book_index(book, entry);
    book_count(book, journal, JOURNAL_COUNT_CLAIMS);
    book_dirty(book, entry);
}

static JournalClaimed claimed_of(const Entry *entry, Slice key, Slice data, Arena *arena)
{
    return (JournalClaimed){
        .id = entry->id,
        .token = entry->run->token,
        .journal = arena_copy(arena, journal_name(journal_of(entry))),
        .key = arena_copy(arena, key),
        .data = arena_copy(arena, data),
        .priority = entry->priority,
        .timeouts = entry->timeouts,
        .insertion_ms = entry->insertion_ms,
        .process_ms = entry_process_ms(entry),
        .lease_ms = entry->run->lease_ms,
    };
}

bool book_set_aside(Book *book, Entry *entry)
{
    if (book->hold_until_ms > book->now.boot_ms) {
        book_unindex(book, entry);
        entry->flags |= ENTRY_HIDDEN;
        book_index(book, entry);
        return true;
    }
    if (book->removed_this_turn++ < BOOK_TURN_MAX) {
        book_expire(book, entry);
        return true;
    }
    book->again = true;
    return false;
}

/* The first of a journal that may be handed out. Expired ones in front of it are set aside. */
static Entry *head_of(Book *book, Journal *journal, uint32_t most)
{
    Entry *entry;
    if (journal->paused_until_ms > book->now.boot_ms)
        return NULL;
    while ((entry = journal_order_due(&journal->order, book->now.wall_ms, most)) != NULL)
        if (!entry_expired(book, entry))
            return entry;
        else if (!book_set_aside(book, entry))
            return NULL;
    return NULL;
}

static JournalPlace place_of(const Entry *entry)
{
    return (JournalPlace){entry->priority, entry_process_ms(entry), entry->id};
}

static Entry *choose(Book *book, Journal *const *journals, size_t count, uint32_t most)
{
    Entry *best = NULL;
    for (size_t i = 0; i < count; i++) {
        Entry *entry = head_of(book, journals[i], most);
        if (entry != NULL && (best == NULL || journal_before(place_of(entry), place_of(best))))
            best = entry;
    }
    return best;
}

/* What cannot be read any more goes to the dead list, so that the next can be handed out; a disk that does not answer is no
 * reason for that. */
static Status hand_out(Book *book, Entry *entry, const JournalClaim *claim, Arena *arena,
                       JournalClaimed *ret_claimed, Reason *reason)
{
    Slice key, data;
    Status status = book_body(book, entry, &key, &data, reason);
    if (status == STATUS_CORRUPT)
        book_give_up(book, entry, SLICE("its data is damaged"), true);
    TRY(status);
    start_run(book, entry, claim->lease_ms, claim->owner);
    *ret_claimed = claimed_of(entry, key, data, arena);
    return STATUS_OK;
}

Status book_claim(Book *book, Journal *const *journals, const JournalClaim *claim, Arena *arena,
                  JournalClaims *claims, bool *ret_sync, Reason *reason)
{
    size_t wanted = claim->count == 0 ? 1 : claim->count, bytes = 0;
    Entry *entry;
    *claims = (JournalClaims){.next_ms = JOURNAL_NEVER};
    while (claims->count < wanted &&
           (entry = choose(book, journals, claim->journal_count, claim->max_priority)) != NULL) {
        bool sync = journal_of(entry)->rules->rules.sync == JOURNAL_SYNC_ALL;
        bytes += (size_t)entry->key_size + entry->data_size;
        if (claims->count > 0 && claim->most_bytes > 0 && bytes > claim->most_bytes)
            break;
        if (claims->entries == NULL)
            claims->entries = ARENA_ARRAY(arena, wanted, JournalClaimed);
        Status status =
            hand_out(book, entry, claim, arena, &claims->entries[claims->count], reason);
        if (status == STATUS_CORRUPT)
            continue;
        if (status != STATUS_OK && claims->count > 0)
            break;
        TRY(status);
        claims->count++;
        *ret_sync |= sync;
        book->must_sync |= sync;
    }
    if (claims->count == 0)
        claims->next_ms = book_next_ms(book, journals, claim->journal_count, claim->max_priority);
    return STATUS_OK;
}

int64_t book_next_ms(const Book *book, Journal *const *journals, size_t count, uint32_t most)
{
    int64_t next_ms = JOURNAL_NEVER;
    for (size_t i = 0; i < count; i++) {
        if (journals[i]->paused_until_ms > book->now.boot_ms)
            continue;
        int64_t own_ms = journal_order_next(&journals[i]->order, most);
        next_ms = own_ms < next_ms ? own_ms : next_ms;
    }
    return next_ms;
}

Status book_claim_id(Book *book, uint64_t id, JournalOwner *owner, Arena *arena,
                     JournalClaimed *ret_claimed, bool *ret_sync, Reason *reason)
{
    Entry *entry = book_find(book, id), *main = NULL;
    Slice key, data;
    if (entry == NULL || entry_expired(book, entry) ||
        (!entry_is(entry, JOURNAL_WAITING) && !entry_is(entry, JOURNAL_FAILED)))
        return book_no_entry(reason);
    if (entry_is(entry, JOURNAL_FAILED) && entry_has_key(entry)) {
        ARENA_SCOPE Arena *scratch = arena_new();
        TRY(book_body(book, entry, &key, &data, reason));
        TRY(book_find_key(book, journal_of(entry), entry->hash, arena_copy(scratch, key), &main,
                          reason));
        if (main != NULL) /* the key lives without it, and would have two runs */
            return book_no_entry(reason);
    }
    TRY(book_body(book, entry, &key, &data, reason));
    start_run(book, entry, 0, owner);
    entry->run->retry_ms = 0; /* of a failed one it was the date of the failure */
    *ret_claimed = claimed_of(entry, key, data, arena);
    *ret_sync = journal_of(entry)->rules->rules.sync == JOURNAL_SYNC_ALL;
    book->must_sync |= *ret_sync;
    return STATUS_OK;
}
