/* book_read.c -- what is shown to people: entries, pages of them, figures. */
#include "journal/book.h"

enum { LIST_SEEN_MAX = 10000 };

Status book_view(Book *book, Entry *entry, bool body, Arena *arena, JournalView *ret_view,
                 Reason *reason)
{
    const Run *run = entry->run;
    JournalView view = {
        .id = entry->id,
        .state = (JournalState)entry->state,
        .journal = arena_copy(arena, journal_name(journal_of(entry))),
        .priority = entry->priority,
        .version = entry->version,
        .timeouts = entry->timeouts,
        .insertion_ms = entry->insertion_ms,
        .expiration_ms = entry->expiration_ms,
        .wanted_ms = entry->wanted_ms,
        .process_ms = entry_process_ms(entry),
        .update_ms = entry->update_ms,
        .lease_ms = entry->lease_ms,
        .data_bytes = entry->data_size,
    };
    if (run != NULL) {
        view.error = arena_copy(arena, slice_of(run->error, run->error_size));
        view.timeouts_ever = run->timeouts_ever;
        view.reserves = run->reserves;
        view.releases = run->releases;
        view.buries = run->buries;
        view.kicks = run->kicks;
        view.start_ms = run->start_ms;
        view.released_ms = run->released_ms;
        if (entry_is(entry, JOURNAL_PROCESSING)) {
            view.lease_ms = run->lease_ms;
            view.left_ms = run->deadline_ms - book->now.boot_ms;
        }
    }
    if (body) {
        Slice key, data;
        TRY(book_body(book, entry, &key, &data, reason));
        view.key = arena_copy(arena, key);
        view.data = arena_copy(arena, data);
    }
    *ret_view = view;
    return STATUS_OK;
}

static bool is_there(const Book *book, const Entry *entry)
{
    return entry != NULL && (entry_is(entry, JOURNAL_PROCESSING) || !entry_expired(book, entry));
}

Status book_get(Book *book, uint64_t id, Arena *arena, JournalView *ret_view, Reason *reason)
{
    Entry *entry = book_find(book, id);
    if (!is_there(book, entry))
        return reason_set(reason, STATUS_NOT_FOUND, "id", "there is no such entry");
    return book_view(book, entry, true, arena, ret_view, reason);
}

Status book_peek(Book *book, Journal *journal, JournalPeek which, Arena *arena,
                 JournalView *ret_view, Reason *reason)
{
    Entry *entry = NULL;
    switch (which) {
    case JOURNAL_PEEK_READY:
        entry = journal_order_due(&journal->order, book->now.wall_ms, UINT32_MAX);
        break;
    case JOURNAL_PEEK_DELAYED:
        entry =
            journal_order_survey(&journal->order, &ENTRY_ORDER, book->now.wall_ms, 0).first_future;
        break;
    case JOURNAL_PEEK_FAILED:
        entry = heap_first(&journal->dead);
        break;
    }
    if (!is_there(book, entry))
        return reason_set(reason, STATUS_NOT_FOUND, "journal", "there is no such entry now");
    return book_view(book, entry, true, arena, ret_view, reason);
}

/* A page looks at a bounded number of entries, of whichever journal. */
Status book_list(Book *book, const JournalRequest *request, JournalList *ret_list, Reason *reason)
{
    JournalList list = {.next = request->id};
    const Journal *journal = book_find_journal(book, request->journal);
    size_t limit = request->limit < JOURNAL_LIST_MAX ? request->limit : JOURNAL_LIST_MAX, place;
    list.entries = ARENA_ARRAY(request->arena, limit, JournalView);
    Entry *entry = ids_first(&book->ids, request->id, &place);
    for (size_t seen = 0; entry != NULL && seen < LIST_SEEN_MAX && list.count < limit; seen++) {
        list.next = entry->id;
        if (is_there(book, entry) && journal_of(entry) == journal &&
            (request->state == 0 || entry_is(entry, request->state)))
            TRY(book_view(book, entry, false, request->arena, &list.entries[list.count++], reason));
        entry = ids_next(&book->ids, &place);
    }
    list.more = entry != NULL;
    *ret_list = list;
    return STATUS_OK;
}

void book_stats(const Book *book, const Journal *journal, JournalStats *ret_stats)
{
    enum { URGENT_BELOW = 1024 };
    const Entry *first = journal_order_due(&journal->order, book->now.wall_ms, UINT32_MAX);
    OrderSurvey survey =
        journal_order_survey(&journal->order, &ENTRY_ORDER, book->now.wall_ms, URGENT_BELOW);
    int64_t next_ms = journal_order_next(&journal->order, UINT32_MAX);
    bool due = next_ms <= book->now.wall_ms, paused = journal->paused_until_ms > book->now.boot_ms;
    *ret_stats = (JournalStats){
        .waiting = journal->counts[INDEX_W],
        .processing = journal->counts[INDEX_P],
        .held = journal->counts[INDEX_H],
        .failed = journal->counts[INDEX_F],
        .due = survey.due,
        .urgent = survey.due_below,
        .first_priority = first == NULL ? 0 : first->priority,
        .bytes = journal->bytes,
        .waiters = journal->waits,
        .oldest_due_ms = due ? next_ms : JOURNAL_NEVER,
        .next_ms = next_ms,
        .pause_left_ms = paused ? journal->paused_until_ms - book->now.boot_ms : 0,
        .dead_max = journal->rules->rules.dead_max,
        .on_use = journal->on_use,
        .wait = journal->wait,
        .run = journal->run,
    };
    memcpy(ret_stats->counters, journal->counters, sizeof journal->counters);
}

void book_stats_add(const Book *book, JournalStats *stats)
{
    for (size_t i = 0; i < book->names.capacity; i++) {
        const Journal *journal = book->names.slots[i];
        JournalStats one;
        if (journal == NULL)
            continue;
        book_stats(book, journal, &one);
        stats->waiting += one.waiting;
        stats->processing += one.processing;
        stats->held += one.held;
        stats->failed += one.failed;
        stats->due += one.due;
        stats->urgent += one.urgent;
        stats->bytes += one.bytes;
        stats->waiters += one.waiters;
    }
    for (size_t i = 0; i < JOURNAL_COUNTERS; i++)
        stats->counters[i] += book->counters[i];
}
