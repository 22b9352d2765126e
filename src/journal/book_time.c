/* book_time.c -- what the clocks bring about: leases that run out, entries that expire, pauses that end, clocks that are set. */
#include "journal/book.h"

/* A wall clock that was set moves against the other one. What was hidden because of a step is looked at again. */
static void look_at_clocks(Book *book)
{
    book->now.wall_ms = clock_now_us(book->world.clock) / US_PER_MS;
    book->now.boot_ms = clock_boot_us(book->world.clock) / US_PER_MS;
    int64_t offset_ms = book->now.wall_ms - book->now.boot_ms,
            step_ms = offset_ms - book->offset_ms;
    book->offset_ms = offset_ms;
    if (step_ms < BOOK_STEP_MS && step_ms > -BOOK_STEP_MS)
        return;
    book->clock_steps++;
    bool holds = book->hold_until_ms > book->now.boot_ms;
    if (step_ms > JOURNAL_HOUR_MS || (holds && step_ms > 0))
        book->hold_until_ms = book->now.boot_ms + BOOK_HOLD_MS;
    for (size_t i = 0; i < book->names.capacity; i++)
        if (book->names.slots[i] != NULL)
            book_touch(book, book->names.slots[i]); /* what is due when has moved */
}

/* Set back: those that are not expired after all. The heap has the one that leaves first in front, so those are its last; taking each out
 * of the middle is fine for what happens when somebody sets a clock twice. */
static void show_hidden(Book *book)
{
    for (uint32_t i = book->hidden.count; i-- > 0;) {
        Entry *entry = i < book->hidden.count ? book->hidden.items[i] : NULL;
        if (entry == NULL || entry_expired(book, entry))
            continue;
        book_unindex(book, entry);
        entry->flags &= (uint8_t)~ENTRY_HIDDEN;
        book_index(book, entry);
        i = book->hidden.count; /* the heap has another order now */
    }
}

static void end_leases(Book *book)
{
    Run *run;
    for (size_t i = 0;
         (run = heap_first(&book->leases)) != NULL && run->deadline_ms <= book->now.boot_ms; i++) {
        if (i == BOOK_LAPSES_MAX) {
            book->again = true;
            return;
        }
        book_lapse(book, run->entry);
    }
}

static void delete_expired(Book *book)
{
    Entry *entry;
    while ((entry = heap_first(&book->expiry)) != NULL &&
           entry_leaves_ms(entry) <= book->now.wall_ms) {
        if (book->removed_this_turn++ == BOOK_TURN_MAX) {
            book->again = true;
            return;
        }
        book_expire(book, entry);
    }
}

void book_tick(Book *book)
{
    Journal *journal;
    book->again = false;
    book->removed_this_turn = 0;
    look_at_clocks(book);
    if (book->hidden.count > 0)
        show_hidden(book);
    end_leases(book);
    if (book->hold_until_ms <= book->now.boot_ms)
        delete_expired(book);
    while ((journal = heap_first(&book->pauses)) != NULL &&
           journal->paused_until_ms <= book->now.boot_ms)
        book_pause(book, journal, 0);
}

Now book_next_tick(const Book *book)
{
    Now next = {JOURNAL_NEVER, JOURNAL_NEVER};
    const Run *run = heap_first(&book->leases);
    const Journal *journal = heap_first(&book->pauses);
    const Entry *entry = heap_first(&book->expiry);
    if (run != NULL)
        next.boot_ms = run->deadline_ms;
    if (journal != NULL && journal->paused_until_ms < next.boot_ms)
        next.boot_ms = journal->paused_until_ms;
    if (entry == NULL)
        return next;
    if (book->hold_until_ms <= book->now.boot_ms)
        next.wall_ms = entry_leaves_ms(entry);
    else if (entry_leaves_ms(entry) <= book->now.wall_ms && book->hold_until_ms < next.boot_ms)
        next.boot_ms = book->hold_until_ms;
    else if (entry_leaves_ms(entry) > book->now.wall_ms)
        next.wall_ms = entry_leaves_ms(entry);
    return next;
}
