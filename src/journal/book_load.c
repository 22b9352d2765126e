/* book_load.c -- a book from what its log has.
 *
 * Rules, journals and headers are read, never bodies; then the entries are put into the indexes: running and failed ones first, then
 * waiting, then held ones. A run that had an owner goes back, since owners end with their process. Placing goes by the rules of a put, so that what a crash between two generations may leave is put
 * right: two copies of an entry (the newer generation's counts), a W beside a P of its key (it becomes H), an H without a P (it becomes W). */
#include <stdlib.h>

#include "journal/book.h"

typedef struct Loading {
    Book *book;
    RuleSet **rules; /* by their numbers */
    size_t rules_room;
    size_t sorted; /* ids of older generations */
    int slot;
} Loading;

static Status damaged(Reason *reason, const char *what)
{
    return reason_set(reason, STATUS_CORRUPT, "journal", "%s is damaged", what);
}

static Status load_rules(void *context, uint8_t slot, Slice key, Slice value, Reason *reason)
{
    Loading *loading = context;
    Slice name;
    JournalRules rules;
    uint32_t number;
    (void)slot;
    if (stored_rules_of(key, &number) != STATUS_OK || number > UINT32_MAX / 2 ||
        stored_rules_read(value, &name, &rules) != STATUS_OK)
        return damaged(reason, "a set of rules");
    if (number >= loading->rules_room) {
        size_t room = (size_t)number * 2 + 64;
        loading->rules = realloc(loading->rules, room * sizeof *loading->rules);
        CHECK(loading->rules != NULL);
        memset(loading->rules + loading->rules_room, 0,
               (room - loading->rules_room) * sizeof *loading->rules);
        loading->rules_room = room;
    }
    Journal *journal = book_find_journal(loading->book, name);
    if (journal == NULL)
        journal = book_make_journal(loading->book, name, false);
    for (RuleSet *set = journal->rules; set != NULL; set = set->next)
        if (set->number == number) { /* loaded before, or by an older generation */
            loading->rules[number] = set;
            set->dirty = false;
            return STATUS_OK;
        }
    loading->rules[number] = book_add_rules(journal, &rules, number);
    if (number >= loading->book->next_rules)
        loading->book->next_rules = number + 1;
    return STATUS_OK;
}

static Status load_journal(void *context, uint8_t slot, Slice key, Slice value, Reason *reason)
{
    Loading *loading = context;
    Book *book = loading->book;
    StoredJournal stored;
    Slice name = slice_after(key, 1);
    (void)slot;
    if (!journal_is_name(name) || stored_journal_read(value, &stored) != STATUS_OK)
        return damaged(reason, "the state of a journal");
    Journal *journal = book_find_journal(book, name);
    if (journal == NULL)
        journal = book_make_journal(book, name, stored.on_use);
    journal->on_use = stored.on_use;
    journal->stored = true;
    memcpy(journal->counters, stored.counters, sizeof journal->counters);
    int64_t left_ms = stored.paused_until_ms - book->now.wall_ms;
    heap_remove(&book->pauses, &JOURNAL_PAUSE, journal);
    journal->paused_until_ms = left_ms > 0 ? book->now.boot_ms + left_ms : 0;
    if (left_ms > 0)
        heap_add(&book->pauses, &JOURNAL_PAUSE, journal);
    return STATUS_OK;
}

static void set_run(Entry *entry, const StoredHeader *header)
{
    static const JournalToken NONE;
    bool plain = memcmp(&header->token, &NONE, sizeof NONE) == 0 && header->retry_ms == 0 &&
                 header->kicks == 0 && header->error.size == 0 &&
                 header->state != JOURNAL_PROCESSING && header->state != JOURNAL_FAILED;
    if (plain)
        return;
    Run *run = book_run(entry);
    run->token = header->token;
    run->start_ms = header->start_ms;
    run->retry_ms = header->retry_ms;
    run->lease_ms = header->run_lease_ms;
    run->claimed_version = header->claimed_version;
    run->timeouts_ever = header->timeouts_ever;
    run->reserves = header->reserves;
    run->releases = header->releases;
    run->buries = header->buries;
    run->kicks = header->kicks;
    if (header->error.size == 0)
        return;
    run->error = malloc(header->error.size);
    CHECK(run->error != NULL);
    memcpy(run->error, header->error.data, header->error.size);
    run->error_size = (uint16_t)header->error.size;
}

/* As journal_owner_end does: uncounted, due at once, and its token is of no use any more. */
static void give_back(Entry *entry)
{
    entry->state = JOURNAL_WAITING;
    entry->run->retry_ms = 0;
    entry->run->claimed_version = 0;
}

/* Into the table of ids alone; what the other indexes need is complete only when all are there. */
static Status load_entry(void *context, uint8_t slot, Slice key, Slice value, Reason *reason)
{
    Loading *loading = context;
    Book *book = loading->book;
    StoredHeader header;
    uint64_t id;
    if (stored_id_of(key, &id) != STATUS_OK || stored_header_read(value, &header) != STATUS_OK ||
        header.rules >= loading->rules_room || loading->rules[header.rules] == NULL)
        return damaged(reason, "the header of an entry");
    if (slot != loading->slot) {
        ids_sort(&book->ids);
        loading->sorted = book->ids.used;
        loading->slot = slot;
    }
    const Ids older = {.slots = book->ids.slots, .used = loading->sorted};
    Entry *entry = ids_find(&older, id);
    if (entry != NULL) {
        book_forget_copy(book, id, entry->slot);
        free(entry->run != NULL ? entry->run->error : NULL);
        free(entry->run);
    } else {
        entry = malloc(sizeof *entry);
        CHECK(entry != NULL);
        ids_add(&book->ids, id, entry);
    }
    *entry = (Entry){
        .id = id,
        .hash = {header.hash[0], header.hash[1]},
        .insertion_ms = header.insertion_ms,
        .expiration_ms = header.expiration_ms,
        .wanted_ms = header.wanted_ms,
        .update_ms = header.update_ms,
        .rules = loading->rules[header.rules],
        .priority = header.priority,
        .lease_ms = header.lease_ms,
        .key_size = header.key_size,
        .data_size = header.data_size,
        .version = header.version,
        .state = (uint8_t)header.state,
        .timeouts = header.timeouts,
        .slot = slot,
        .flags = ENTRY_STORED,
    };
    if (header.given_up)
        entry->flags |= ENTRY_GIVEN_UP;
    set_run(entry, &header);
    if (header.owned && !header.given_up && header.state == JOURNAL_PROCESSING)
        give_back(entry);
    return STATUS_OK;
}

/* ---- Into the indexes -------------------------------------------------------------------------------------- */

static void enter(Book *book, Entry *entry)
{
    Run *run = entry->run;
    if (run != NULL && run->reserves > 0)
        table_add(&book->tokens, run);
    if (entry_is(entry, JOURNAL_PROCESSING))
        run->deadline_ms = book->now.boot_ms + run->lease_ms; /* the whole lease again */
    book_enter(book, entry, (JournalState)entry->state);
}

/* Those of one state, as they are, or by the rules of a put when their key may be taken. */
static Status place_all(Book *book, const Pointers *entries, JournalState state, Reason *reason)
{
    for (size_t i = 0; i < entries->count; i++) {
        Entry *entry = entries->items[i], *other = NULL;
        if (!entry_is(entry, state))
            continue;
        bool asks = state == JOURNAL_HELD;
        if (state == JOURNAL_WAITING && entry_has_key(entry))
            for (size_t at = 0;
                 !asks && (other = table_next(&book->keys, entry->hash[0], &at)) != NULL;)
                asks = other->hash[1] == entry->hash[1] && journal_of(other) == journal_of(entry);
        if (!asks) {
            enter(book, entry);
            continue;
        }
        entry->state = JOURNAL_HELD; /* where it is in nobody's way until its place is found */
        enter(book, entry);
        TRY(book_place(book, entry, reason));
    }
    return STATUS_OK;
}

static Status index_all(Book *book, Reason *reason)
{
    static const JournalState ORDER[] = {JOURNAL_PROCESSING, JOURNAL_FAILED, JOURNAL_WAITING,
                                         JOURNAL_HELD};
    Pointers entries = {0};
    Status status = STATUS_OK;
    Entry *entry;
    for (size_t place = 0; (entry = ids_next(&book->ids, &place)) != NULL;)
        pointers_add(&entries, entry);
    for (size_t i = 0; i < 4 && status == STATUS_OK; i++)
        status = place_all(book, &entries, ORDER[i], reason);
    pointers_free(&entries);
    return status;
}

Status book_load(Book *book, Reason *reason)
{
    Loading loading = {.book = book, .slot = -1};
    book->now.wall_ms = clock_now_us(book->world.clock) / US_PER_MS;
    book->now.boot_ms = clock_boot_us(book->world.clock) / US_PER_MS;
    book->offset_ms = book->now.wall_ms - book->now.boot_ms;
    book->next_token = book->next_id = book->end_id = 0;
    TRY(book->log->start(book->log, &book->start, reason));
    Status status = book->log->load(book->log, 'R', load_rules, &loading, reason);
    if (status == STATUS_OK)
        status = book->log->load(book->log, 'M', load_journal, &loading, reason);
    if (status == STATUS_OK)
        status = book->log->load(book->log, 'D', load_entry, &loading, reason);
    ids_sort(&book->ids);
    if (status == STATUS_OK)
        status = index_all(book, reason);
    free(loading.rules);
    for (size_t i = 0; i < book->names.capacity; i++) {
        Journal *journal = book->names.slots[i];
        if (journal != NULL)
            book_meta_changed(book, journal);
    }
    return status;
}
