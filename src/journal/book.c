/* book.c -- journals, entries, indexes, bodies, and what has changed (book.h). */
#include "journal/book.h"

#include <sodium.h>
#include <stdlib.h>

void pointers_add(Pointers *pointers, void *item)
{
    if (pointers->count == pointers->capacity) {
        pointers->capacity = pointers->capacity * 2 + 16;
        pointers->items = realloc(pointers->items, pointers->capacity * sizeof *pointers->items);
        CHECK(pointers->items != NULL);
    }
    pointers->items[pointers->count++] = item;
}

void pointers_free(Pointers *pointers)
{
    free(pointers->items);
    *pointers = (Pointers){0};
}

/* ---- Orders and hashes ------------------------------------------------------------------------------------- */

int64_t entry_leaves_ms(const Entry *entry)
{
    int64_t leaves_ms = entry->expiration_ms == 0 ? JOURNAL_NEVER : entry->expiration_ms;
    if (!entry_is(entry, JOURNAL_FAILED))
        return leaves_ms;
    int64_t dead_ms = journal_after(entry->run->retry_ms, entry->rules->rules.dead_ms);
    return dead_ms < leaves_ms ? dead_ms : leaves_ms;
}

static bool date_before(int64_t a_ms, uint64_t a_id, int64_t b_ms, uint64_t b_id)
{
    return a_ms != b_ms ? a_ms < b_ms : a_id < b_id;
}

static bool sooner(const void *a, const void *b)
{
    const Entry *left = a, *right = b;
    return date_before(entry_process_ms(left), left->id, entry_process_ms(right), right->id);
}

static bool leaves_sooner(const void *a, const void *b)
{
    return entry_leaves_ms(a) < entry_leaves_ms(b);
}

static bool failed_sooner(const void *a, const void *b)
{
    const Entry *left = a, *right = b;
    return date_before(left->run->retry_ms, left->id, right->run->retry_ms, right->id);
}

static bool lapses_sooner(const void *a, const void *b)
{
    return ((const Run *)a)->deadline_ms < ((const Run *)b)->deadline_ms;
}

static bool resumes_sooner(const void *a, const void *b)
{
    return ((const Journal *)a)->paused_until_ms < ((const Journal *)b)->paused_until_ms;
}

static uint32_t priority_of(const void *item)
{
    return ((const Entry *)item)->priority;
}

static int64_t date_of(const void *item)
{
    return entry_process_ms(item);
}

const OrderKind ENTRY_ORDER = {{sooner, offsetof(Entry, place)}, priority_of, date_of};
const HeapKind ENTRY_EXPIRY = {leaves_sooner, offsetof(Entry, expiry_at)};
const HeapKind ENTRY_DEAD = {failed_sooner, offsetof(Entry, place)};
const HeapKind RUN_LEASE = {lapses_sooner, offsetof(Run, lease_at)};
const HeapKind RUN_OWNER = {lapses_sooner, offsetof(Run, owner_at)};
const HeapKind JOURNAL_PAUSE = {resumes_sooner, offsetof(Journal, pause_at)};
static const HeapKind ENTRY_HIDDEN_KIND = {leaves_sooner, offsetof(Entry, place)};

static uint64_t hash_of_key(const void *item)
{
    return ((const Entry *)item)->hash[0];
}

static uint64_t token_number(const JournalToken *token)
{
    return bytes_get_u64((const char *)token->bytes + 2); /* the number, and what is near it */
}

static uint64_t hash_of_token(const void *item)
{
    return table_mix(token_number(&((const Run *)item)->token));
}

void book_hash(const Book *book, const Journal *journal, Slice key, uint64_t ret_hash[2])
{
    unsigned char out[crypto_shorthash_siphashx24_BYTES];
    uint64_t name = book_hash_text(journal_name(journal));
    _Static_assert(crypto_shorthash_siphashx24_KEYBYTES == JOURNAL_HASH_KEY,
                   "the log keeps the key");
    crypto_shorthash_siphashx24(out, (const unsigned char *)key.data, key.size,
                                book->start.hash_key);
    memcpy(ret_hash, out, sizeof out);
    ret_hash[0] ^= name; /* the same key in two journals: two chains */
}

/* ---- Life of the book -------------------------------------------------------------------------------------- */

void book_init(Book *book, World world, JournalLog *log, Slice group, size_t index)
{
    static const JournalDeclaration NOTHING = {.group_count = 0};
    *book = (Book){.world = world, .log = log, .group = group, .index = index, .next_rules = 1};
    book->declaration = &NOTHING;
    book->keys.hash = hash_of_key;
    book->tokens.hash = hash_of_token;
    book->names.hash = book_hash_of_name;
    book->now.wall_ms = clock_now_us(world.clock) / US_PER_MS;
    book->now.boot_ms = clock_boot_us(world.clock) / US_PER_MS;
    book->offset_ms = book->now.wall_ms - book->now.boot_ms;
}

static void free_run(Run *run)
{
    free(run->error);
    free(run);
}

static void free_entry(Entry *entry)
{
    if (entry->run != NULL)
        free_run(entry->run);
    free(entry);
}

static void free_gone(Book *book)
{
    for (size_t i = 0; i < book->dirty.count; i++) {
        Entry *entry = book->dirty.items[i];
        entry->flags &= (uint8_t)~ENTRY_DIRTY;
        if (entry->flags & ENTRY_GONE)
            free_entry(entry);
    }
    book->dirty.count = 0;
}

static void clear_journal(Journal *journal)
{
    journal_order_free(&journal->order);
    heap_free(&journal->dead);
    memset(journal->counts, 0, sizeof journal->counts);
    memset(journal->counters, 0, sizeof journal->counters);
    journal->bytes = 0;
    journal->paused_until_ms = 0;
    journal->pause_at = 0;
    journal->stored = false;
    for (RuleSet *rules = journal->rules; rules != NULL; rules = rules->next) {
        rules->entries = 0;
        rules->dirty = true; /* until the log shows that it has them */
    }
}

void book_free_journal(Journal *journal)
{
    clear_journal(journal);
    for (RuleSet *rules = journal->rules, *next; rules != NULL; rules = next) {
        next = rules->next;
        free(rules);
    }
    free(journal->name);
    free(journal);
}

/* Those that were forgotten are in no table, only in the lists. */
static void forget_changes(Book *book)
{
    for (size_t i = 0; i < book->touched.count; i++)
        ((Journal *)book->touched.items[i])->touched = false;
    for (size_t i = 0; i < book->changed.count; i++) {
        Journal *journal = book->changed.items[i];
        journal->meta_dirty = false;
        if (journal->forgotten)
            book_free_journal(journal);
    }
    book->touched.count = book->changed.count = 0;
}

void book_clear(Book *book)
{
    free_gone(book);
    Entry *entry;
    for (size_t place = 0; (entry = ids_next(&book->ids, &place)) != NULL;) {
        book_forget_body(book, entry);
        if (entry->run != NULL)
            book_disown(book, entry->run);
        free_entry(entry);
    }
    for (size_t i = 0; i < book->names.capacity; i++)
        if (book->names.slots[i] != NULL)
            clear_journal(book->names.slots[i]);
    forget_changes(book);
    ids_free(&book->ids);
    table_free(&book->keys);
    table_free(&book->tokens);
    heap_free(&book->expiry);
    heap_free(&book->leases);
    heap_free(&book->pauses);
    heap_free(&book->hidden);
    for (size_t i = 0; i < book->alerts.count; i++)
        free(book->alerts.items[i]);
    book->alerts.count = book->leftover_count = 0;
    book->must_sync = book->again = false;
    memset(book->slot_entries, 0, sizeof book->slot_entries);
    memset(book->slot_bytes, 0, sizeof book->slot_bytes);
}

void book_free(Book *book)
{
    book_clear(book);
    for (size_t i = 0; i < book->names.capacity; i++)
        if (book->names.slots[i] != NULL)
            book_free_journal(book->names.slots[i]);
    table_free(&book->names);
    pointers_free(&book->dirty);
    pointers_free(&book->touched);
    pointers_free(&book->changed);
    pointers_free(&book->alerts);
    free(book->leftovers);
}

/* ---- Finding entries --------------------------------------------------------------------------------------- */

Entry *book_find(const Book *book, uint64_t id)
{
    return ids_find(&book->ids, id);
}

Status book_find_key(Book *book, const Journal *journal, const uint64_t hash[2], Slice key,
                     Entry **ret_entry, Reason *reason)
{
    Entry *entry;
    *ret_entry = NULL;
    for (size_t at = 0; (entry = table_next(&book->keys, hash[0], &at)) != NULL;) {
        Slice own, data;
        if (entry->hash[1] != hash[1] || journal_of(entry) != journal ||
            entry->key_size != key.size)
            continue;
        TRY(book_body(book, entry, &own, &data, reason));
        if (slice_equal(own, key)) {
            *ret_entry = entry;
            return STATUS_OK;
        }
    }
    return STATUS_OK;
}

Run *book_run(Entry *entry)
{
    if (entry->run != NULL)
        return entry->run;
    entry->run = calloc(1, sizeof *entry->run);
    CHECK(entry->run != NULL);
    entry->run->entry = entry;
    return entry->run;
}

/* ---- Indexes ----------------------------------------------------------------------------------------------- */

static StateIndex index_of(const Entry *entry)
{
    switch ((JournalState)entry->state) {
    case JOURNAL_WAITING:
        return INDEX_W;
    case JOURNAL_PROCESSING:
        return INDEX_P;
    case JOURNAL_HELD:
        return INDEX_H;
    case JOURNAL_FAILED:
        return INDEX_F;
    }
    CHECK(false);
}

void book_index(Book *book, Entry *entry)
{
    Journal *journal = journal_of(entry);
    StateIndex index = index_of(entry);
    journal->counts[index]++;
    if (index == INDEX_W && (entry->flags & ENTRY_HIDDEN))
        heap_add(&book->hidden, &ENTRY_HIDDEN_KIND, entry);
    else if (index == INDEX_W)
        journal_order_add(&journal->order, &ENTRY_ORDER, entry);
    else if (index == INDEX_F)
        heap_add(&journal->dead, &ENTRY_DEAD, entry);
    else if (index == INDEX_P)
        heap_add(&book->leases, &RUN_LEASE, entry->run);
    if (index != INDEX_P && entry_leaves_ms(entry) != JOURNAL_NEVER)
        heap_add(&book->expiry, &ENTRY_EXPIRY, entry);
    if (index <= INDEX_P && entry_has_key(entry))
        table_add(&book->keys, entry);
    book_touch(book, journal);
}

void book_unindex(Book *book, Entry *entry)
{
    Journal *journal = journal_of(entry);
    StateIndex index = index_of(entry);
    journal->counts[index]--;
    if (index == INDEX_W && (entry->flags & ENTRY_HIDDEN))
        heap_remove(&book->hidden, &ENTRY_HIDDEN_KIND, entry);
    else if (index == INDEX_W)
        journal_order_remove(&journal->order, &ENTRY_ORDER, entry);
    else if (index == INDEX_F)
        heap_remove(&journal->dead, &ENTRY_DEAD, entry);
    else if (index == INDEX_P)
        heap_remove(&book->leases, &RUN_LEASE, entry->run);
    heap_remove(&book->expiry, &ENTRY_EXPIRY, entry);
    if (index <= INDEX_P && entry_has_key(entry))
        table_remove(&book->keys, entry);
    book_touch(book, journal);
}

void book_enter(Book *book, Entry *entry, JournalState state)
{
    entry->state = (uint8_t)state;
    entry->rules->entries++;
    book->slot_entries[entry->slot]++;
    book_weigh(book, entry, true);
    book_index(book, entry);
}

void book_state(Book *book, Entry *entry, JournalState state)
{
    book_unindex(book, entry);
    entry->flags &= (uint8_t)~ENTRY_HIDDEN;
    entry->state = (uint8_t)state;
    book_index(book, entry);
    book_dirty(book, entry);
}

void book_dirty(Book *book, Entry *entry)
{
    if (!(entry->flags & ENTRY_DIRTY))
        pointers_add(&book->dirty, entry);
    entry->flags |= ENTRY_DIRTY;
}

void book_disown(Book *book, Run *run)
{
    if (run->owner != NULL)
        heap_remove(&run->owner->runs[book->index], &RUN_OWNER, run);
    run->owner = NULL;
}

void book_gone(Book *book, Entry *entry, JournalCounter counter)
{
    Journal *journal = journal_of(entry);
    book_unindex(book, entry);
    if (entry->run != NULL) {
        CHECK(entry->run->held == NULL);
        book_disown(book, entry->run);
        if (entry->run->reserves > 0)
            table_remove(&book->tokens, entry->run);
    }
    book_weigh(book, entry, false);
    book->slot_entries[entry->slot]--;
    entry->rules->entries--;
    if (entry->rules->entries == 0 && entry->rules != journal->rules)
        book_meta_changed(book, journal);
    ids_remove(&book->ids, entry->id);
    book_forget_body(book, entry);
    entry->flags |= ENTRY_GONE;
    book_count(book, journal, counter);
    book_dirty(book, entry);
}
