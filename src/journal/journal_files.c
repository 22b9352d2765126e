/* journal_files.c -- when a group's files shrink.
 *
 * Looked at once a second while there is work, and after it:
 *   truncate  when less than a tenth of the files lives and they are above `shrink_above`, or nothing lives and they are above 8 MiB: flushed and
 *             compacted down to what lives, in a thread of its own
 *   delete    when nothing lives: the next generation is opened and the old one removed as a whole; else as truncate
 *   reset     nothing: the space is used again
 * With a period, a new generation takes the puts of each hour, day or month; the old ones only drain, and go when they are empty. At
 * most four are kept: then what still lives in the oldest is moved.
 *
 * A crash while a generation is opened leaves a directory that the catalogue does not name; one while a generation is removed, too:
 * both are removed at the next start. What is moved is written and synced in the newest generation before the old copy goes. */
#include "base/time_text.h"
#include "journal/engine.h"

enum {
    LOOK_MS = 1000,
    COMPACT_MS = 10 * 1000, /* at most that often */
    GENERATIONS_MAX = 4,
    EMPTY_ABOVE = 8 << 20,
};

static const JournalFiles *rules_of(const JournalGroup *group)
{
    static const JournalFiles NONE = {.shrink = JOURNAL_TRUNCATE, .shrink_above = 64 << 20};
    const JournalDeclaration *declaration = group->book.declaration;
    for (size_t i = 0; i < declaration->group_count; i++)
        if (slice_equal(declaration->groups[i].name, group->book.group))
            return &declaration->groups[i].files;
    return &NONE;
}

static int64_t period_of(JournalPeriod period, int64_t ms)
{
    if (period == JOURNAL_PERIOD_HOUR)
        return ms / JOURNAL_HOUR_MS;
    if (period == JOURNAL_PERIOD_DAY)
        return ms / (S_PER_DAY * 1000);
    Utc utc = utc_of(ms * US_PER_MS);
    return utc.year * 12 + utc.month;
}

/* All that was decided is written, so that no change is on its way to a generation that goes. */
static bool advance(JournalGroup *group, const JournalFiles *files)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Book *book = &group->book;
    JournalChange *changes;
    size_t count;
    Reason reason;
    uint8_t slot;
    if (!group_settle(group))
        return false;
    book_meta(book, arena, &changes, &count);
    if (book->log->advance(book->log, files, changes, count, &slot, &reason) != STATUS_OK)
        return false; /* the old one stays in use, and the next look tries again */
    book->start.newest = slot;
    return true;
}

static void drop_empty(JournalGroup *group)
{
    Book *book = &group->book;
    uint8_t slots[JOURNAL_SLOTS];
    size_t count = book->log->slots(book->log, slots);
    Reason reason;
    for (size_t i = 0; i + 1 < count; i++)
        if (book->slot_entries[slots[i]] == 0 && group_settle(group))
            (void)!book->log->drop(book->log, slots[i], &reason);
}

static bool is_mostly_gone(const JournalGroup *group, const JournalFiles *files, uint8_t slot,
                           uint64_t bytes)
{
    uint64_t live =
        group->book.slot_bytes[slot] + group->book.slot_entries[slot] * (STORED_HEADER + 32);
    bool empty = group->book.slot_entries[slot] == 0;
    return (empty && bytes > EMPTY_ABOVE) || (bytes > files->shrink_above && live * 10 < bytes);
}

static void shrink(JournalGroup *group, const JournalFiles *files, uint8_t slot, bool now)
{
    Book *book = &group->book;
    int64_t made_ms;
    uint64_t bytes = book->log->bytes(book->log, slot, &made_ms);
    if (files->shrink == JOURNAL_RESET || !is_mostly_gone(group, files, slot, bytes))
        return;
    group->worked = true; /* look again, until it is small */
    if (files->shrink == JOURNAL_DELETE && book->slot_entries[slot] == 0) {
        if (slot == book->start.newest && advance(group, files))
            drop_empty(group);
        return;
    }
    if (!now && book->now.boot_ms - group->compacted_ms < COMPACT_MS)
        return;
    group->compacted_ms = book->now.boot_ms;
    if (group_settle(group))
        book->log->compact(book->log, slot);
}

void files_look(JournalGroup *group, bool now)
{
    Book *book = &group->book;
    const JournalFiles *files = rules_of(group);
    uint8_t slots[JOURNAL_SLOTS];
    int64_t made_ms;
    if (!now && (!group->worked || book->now.boot_ms - group->looked_ms < LOOK_MS))
        return;
    group->looked_ms = book->now.boot_ms;
    group->worked = false;
    size_t count = book->log->slots(book->log, slots);
    uint8_t newest = slots[count - 1];
    uint64_t bytes = book->log->bytes(book->log, newest, &made_ms);
    if (files->period != JOURNAL_PERIOD_NONE && count < JOURNAL_SLOTS &&
        (book->slot_entries[newest] > 0 || bytes > EMPTY_ABOVE) &&
        period_of(files->period, book->now.wall_ms) != period_of(files->period, made_ms))
        (void)!advance(group, files);
    drop_empty(group);
    count = book->log->slots(book->log, slots);
    if (count > GENERATIONS_MAX) {
        Reason reason;
        group->worked = true;
        if (book_move(book, slots[0], &reason) == STATUS_OK)
            book->again = true;
    }
    for (size_t i = 0; i < count; i++)
        shrink(group, files, slots[i], now);
}

int64_t files_next_look_ms(const JournalGroup *group)
{
    return group->worked ? group->looked_ms + LOOK_MS : JOURNAL_NEVER;
}
