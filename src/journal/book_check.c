/* book_check.c -- every index against what the entries say. Used by tests after each of their steps. */
#include "journal/book.h"

static bool heap_is_sound(const Heap *heap, const HeapKind *kind)
{
    for (uint32_t i = 0; i < heap->count; i++) {
        const char *item = heap->items[i];
        if (*(const uint32_t *)(const void *)(item + kind->position) != i + 1)
            return false;
        if (i > 0 && kind->before(item, heap->items[(i - 1) / 2]))
            return false;
    }
    return true;
}

typedef struct Sums {
    uint64_t leases, expiring, hidden, keys, tokens, held;
    uint64_t slots[JOURNAL_SLOTS], bytes[JOURNAL_SLOTS];
} Sums;

static const char *check_entry(Book *book, Entry *entry, Sums *sums)
{
    const Run *run = entry->run;
    bool hidden = entry->flags & ENTRY_HIDDEN;
    sums->slots[entry->slot]++;
    sums->bytes[entry->slot] += (uint64_t)entry->key_size + entry->data_size;
    sums->leases += entry_is(entry, JOURNAL_PROCESSING);
    sums->hidden += hidden;
    sums->held += run != NULL && run->held != NULL;
    sums->tokens += run != NULL && run->reserves > 0;
    if (!entry_is(entry, JOURNAL_PROCESSING) && entry_leaves_ms(entry) != JOURNAL_NEVER)
        sums->expiring++;
    if (hidden && !entry_is(entry, JOURNAL_WAITING))
        return "only a waiting entry can be hidden";
    if (run != NULL && run->held != NULL &&
        (!entry_is(entry, JOURNAL_PROCESSING) || !entry_is(run->held, JOURNAL_HELD)))
        return "I1: a successor without a running entry";
    bool live = entry_is(entry, JOURNAL_WAITING) || entry_is(entry, JOURNAL_PROCESSING);
    if (!live || !entry_has_key(entry))
        return NULL;
    sums->keys++;
    const Entry *other;
    size_t same = 0;
    for (size_t at = 0; (other = table_next(&book->keys, entry->hash[0], &at)) != NULL;)
        same += other->hash[1] == entry->hash[1] && journal_of(other) == journal_of(entry);
    return same == 1 ? NULL : "I1: not exactly one live entry with a key";
}

static const char *check_journal(const Book *book, const Journal *journal)
{
    uint64_t counts[INDEX_COUNT] = {0}, bytes = 0, hidden = 0, live = 0;
    const Entry *entry;
    for (size_t place = 0; (entry = ids_next(&book->ids, &place)) != NULL;) {
        if (journal_of(entry) != journal)
            continue;
        counts[entry_is(entry, JOURNAL_WAITING)      ? INDEX_W
               : entry_is(entry, JOURNAL_PROCESSING) ? INDEX_P
               : entry_is(entry, JOURNAL_HELD)       ? INDEX_H
                                                     : INDEX_F]++;
        hidden += (entry->flags & ENTRY_HIDDEN) != 0;
        bytes += (uint64_t)entry->key_size + entry->data_size;
        live++;
    }
    if (memcmp(counts, journal->counts, sizeof counts) != 0 || bytes != journal->bytes)
        return "I2: a journal's counts";
    if (journal->order.count != counts[INDEX_W] - hidden || journal->dead.count != counts[INDEX_F])
        return "I2: the order or the dead list has another size";
    if (!heap_is_sound(&journal->dead, &ENTRY_DEAD))
        return "I2: the dead list";
    const uint64_t *count = journal->counters;
    if (count[JOURNAL_COUNT_CREATED] !=
        count[JOURNAL_COUNT_DONE] + count[JOURNAL_COUNT_EXPIRED] + count[JOURNAL_COUNT_REMOVED] +
            count[JOURNAL_COUNT_MERGED_AWAY] + count[JOURNAL_COUNT_DROPPED] + live)
        return "I9: created is not done + expired + removed + merged away + dropped + live";
    if (journal->dead.count > journal->rules->rules.dead_max && journal->rules->next == NULL)
        return "I11: the dead list is over its bound";
    return NULL;
}

const char *book_check(Book *book)
{
    Sums sums = {0};
    Entry *entry;
    const char *wrong = NULL;
    for (size_t place = 0; wrong == NULL && (entry = ids_next(&book->ids, &place)) != NULL;)
        wrong = check_entry(book, entry, &sums);
    for (size_t i = 0; wrong == NULL && i < book->names.capacity; i++)
        if (book->names.slots[i] != NULL)
            wrong = check_journal(book, book->names.slots[i]);
    if (wrong != NULL)
        return wrong;
    if (sums.leases != book->leases.count || !heap_is_sound(&book->leases, &RUN_LEASE))
        return "I2: the leases";
    if (sums.expiring != book->expiry.count || !heap_is_sound(&book->expiry, &ENTRY_EXPIRY))
        return "I2: the heap of expiry";
    if (sums.hidden != book->hidden.count)
        return "I2: the hidden ones";
    if (sums.keys != book->keys.count || sums.tokens != book->tokens.count)
        return "I2: the index by key or token";
    if (memcmp(sums.slots, book->slot_entries, sizeof sums.slots) != 0 ||
        memcmp(sums.bytes, book->slot_bytes, sizeof sums.bytes) != 0)
        return "I2: the weights of the generations";
    uint64_t held = 0;
    for (size_t i = 0; i < book->names.capacity; i++)
        if (book->names.slots[i] != NULL)
            held += ((const Journal *)book->names.slots[i])->counts[INDEX_H];
    return held == sums.held ? NULL : "I1: a successor that no running entry has";
}
