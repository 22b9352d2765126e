/* book_work.c -- ending, lapsing, failing, removing, kicking, pausing. */
#include <stdio.h>
#include <stdlib.h>

#include "journal/book.h"

/* Due entries that are looked at while those of the future are searched: then it is enough for one call. */
enum { KICK_WORK_MAX = 4 * ORDER_SURVEY_MAX };

/* ---- Ends -------------------------------------------------------------------------------------------------- */

/* The successor of a run that is over becomes an entry of its own, with its own counter. */
static void free_held(Book *book, Entry *entry)
{
    Entry *held = entry->run == NULL ? NULL : entry->run->held;
    if (held == NULL)
        return;
    entry->run->held = NULL;
    book_unindex(book, entry); /* out of the index by key, before the other one comes in */
    book_state(book, held, JOURNAL_WAITING);
    book_index(book, entry);
}

static void end_entry(Book *book, Entry *entry, JournalCounter counter)
{
    Entry *held = entry->run == NULL ? NULL : entry->run->held;
    if (held != NULL)
        entry->run->held = NULL;
    book_gone(book, entry, counter);
    if (held != NULL)
        book_state(book, held, JOURNAL_WAITING);
}

/* The way out of a W, H or F. */
static void take_out(Book *book, Entry *entry, JournalCounter counter)
{
    if (entry_is(entry, JOURNAL_HELD)) {
        Entry *main;
        for (size_t at = 0; (main = table_next(&book->keys, entry->hash[0], &at)) != NULL;)
            if (main->run != NULL && main->run->held == entry)
                main->run->held = NULL;
    }
    end_entry(book, entry, counter);
}

void book_expire(Book *book, Entry *entry)
{
    bool old = entry_is(entry, JOURNAL_FAILED) && !entry_expired(book, entry);
    take_out(book, entry, old ? JOURNAL_COUNT_DROPPED : JOURNAL_COUNT_EXPIRED);
}

/* `error` may be the one that is there. */
static void set_error(Run *run, Slice error)
{
    size_t size = error.size > JOURNAL_ERROR_MAX ? JOURNAL_ERROR_MAX : error.size;
    char *copy = size == 0 ? NULL : malloc(size);
    if (size > 0) {
        CHECK(copy != NULL);
        memcpy(copy, error.data, size);
    }
    free(run->error);
    run->error = copy;
    run->error_size = (uint16_t)size;
}

static void raise_alert(Book *book, const Entry *entry)
{
    Slice name = journal_name(journal_of(entry));
    size_t error_size = entry->run->error_size;
    JournalAlert *alert = malloc(sizeof *alert + name.size + error_size);
    CHECK(alert != NULL);
    char *text = (char *)(alert + 1);
    memcpy(text, name.data, name.size);
    if (error_size > 0)
        memcpy(text + name.size, entry->run->error, error_size);
    *alert = (JournalAlert){.journal = slice_of(text, name.size),
                            .id = entry->id,
                            .error = slice_of(text + name.size, error_size)};
    pointers_add(&book->alerts, alert);
}

/* To the dead list, or away when the journal keeps none; the oldest there make room. */
void book_give_up(Book *book, Entry *entry, Slice error, bool alert)
{
    Journal *journal = journal_of(entry);
    const JournalRules *rules = &entry->rules->rules;
    Run *run = book_run(entry);
    set_error(run, error);
    if (alert)
        raise_alert(book, entry);
    free_held(book, entry);
    book_disown(book, run);
    book_count(book, journal, JOURNAL_COUNT_DEAD);
    if (alert && rules->drop_dead) {
        book_gone(book, entry, JOURNAL_COUNT_DROPPED);
        return;
    }
    book_unindex(book, entry);
    run->retry_ms = book->now.wall_ms;
    run->claimed_version = 0;
    entry->flags &= (uint8_t) ~(ENTRY_HIDDEN | ENTRY_GIVEN_UP);
    entry->state = JOURNAL_FAILED;
    book_index(book, entry);
    book_dirty(book, entry);
    while (journal->dead.count > rules->dead_max)
        book_gone(book, heap_first(&journal->dead), JOURNAL_COUNT_DROPPED);
}

Status book_give_back(Book *book, Entry *entry, bool keep_counter, Reason *reason)
{
    Entry *held = entry->run->held;
    book_disown(book, entry->run);
    if (entry->flags & ENTRY_GIVEN_UP) {
        end_entry(book, entry, JOURNAL_COUNT_REMOVED);
        return STATUS_OK;
    }
    if (held != NULL && entry_expired(book, held)) {
        entry->run->held = NULL;
        book_gone(book, held, JOURNAL_COUNT_EXPIRED);
        held = NULL;
    }
    if (entry_expired(book, entry)) {
        end_entry(book, entry, JOURNAL_COUNT_EXPIRED);
        return STATUS_OK;
    }
    if (held != NULL) {
        TRY(book_absorb(book, entry, held, reason));
        entry->run->held = NULL;
        entry->timeouts = keep_counter ? entry->timeouts : 0;
    }
    book_state(book, entry, JOURNAL_WAITING);
    return STATUS_OK;
}

static void count_failure(Entry *entry)
{
    if (entry->timeouts < UINT8_MAX)
        entry->timeouts++;
    if (entry->run->timeouts_ever < UINT32_MAX)
        entry->run->timeouts_ever++;
}

void book_lapse(Book *book, Entry *entry)
{
    Reason reason;
    book_count(book, journal_of(entry), JOURNAL_COUNT_LAPSED);
    count_failure(entry);
    if (!(entry->flags & ENTRY_GIVEN_UP) &&
        journal_too_often(&entry->rules->rules, entry->timeouts)) {
        book_give_up(book, entry, SLICE("its lease ran out too often"), true);
        return;
    }
    Status status = book_give_back(book, entry, true, &reason);
    if (status != STATUS_OK)
        book_give_up(book, entry, slice_from(reason.rule), true);
}

static Status fail(Book *book, Entry *entry, const JournalStep *step, Reason *reason)
{
    const JournalRules *rules = &entry->rules->rules;
    book_count(book, journal_of(entry), JOURNAL_COUNT_FAILS);
    count_failure(entry);
    if (!(entry->flags & ENTRY_GIVEN_UP) && journal_too_often(rules, entry->timeouts)) {
        book_give_up(book, entry, step->error, true);
        return STATUS_OK;
    }
    set_error(entry->run, step->error);
    entry->run->claimed_version = 0;
    entry->run->retry_ms =
        journal_after(book->now.wall_ms, journal_backoff_ms(rules, entry->timeouts));
    return book_give_back(book, entry, true, reason);
}

static Status release(Book *book, Entry *entry, const JournalStep *step, Reason *reason)
{
    book_count(book, journal_of(entry), JOURNAL_COUNT_RELEASED);
    entry->run->releases++;
    entry->run->claimed_version = 0; /* its token is of no use any more */
    entry->wanted_ms = step->ms == 0 ? book->now.wall_ms : step->ms;
    entry->run->retry_ms = entry->wanted_ms;
    entry->run->released_ms = book->now.wall_ms;
    if (step->has_priority)
        entry->priority = step->priority;
    return book_give_back(book, entry, false, reason);
}

/* ---- Tokens ------------------------------------------------------------------------------------------------ */

static Entry *find_token(const Book *book, const JournalToken *token)
{
    Run *run;
    uint64_t hash = table_mix(bytes_get_u64((const char *)token->bytes + 2));
    for (size_t at = 0; (run = table_next(&book->tokens, hash, &at)) != NULL;)
        if (memcmp(run->token.bytes, token->bytes, sizeof token->bytes) == 0)
            return run->entry;
    return NULL;
}

static Status lost(Reason *reason)
{
    return reason_set(reason, STATUS_CONFLICT, "token",
                      "lost: the lease was over, and the entry has gone its way");
}

static void extend(Book *book, Entry *entry, int64_t ms)
{
    Run *run = entry->run;
    run->deadline_ms = book->now.boot_ms + (ms > 0 ? ms : run->lease_ms);
    heap_moved(&book->leases, &RUN_LEASE, run);
    if (run->owner != NULL)
        heap_moved(&run->owner->runs[book->index], &RUN_OWNER, run);
}

/* A run, or for `done` one that lapsed a moment ago. */
static Status end_run(Book *book, JournalCall call, Entry *entry, const JournalStep *step,
                      Reason *reason)
{
    Journal *journal = journal_of(entry);
    if (call == JOURNAL_CALL_EXTEND) {
        extend(book, entry, step->ms);
        return STATUS_OK;
    }
    if (entry_is(entry, JOURNAL_PROCESSING) && entry->run->begun_ms > 0)
        histogram_add(&journal->run, &JOURNAL_SPANS, book->now.boot_ms - entry->run->begun_ms);
    book->must_sync |= journal->rules->rules.sync != JOURNAL_SYNC_PUTS;
    if (call == JOURNAL_CALL_RELEASE)
        return release(book, entry, step, reason);
    if (call == JOURNAL_CALL_FAIL)
        return fail(book, entry, step, reason);
    if (call == JOURNAL_CALL_DONE) {
        if (!entry_is(entry, JOURNAL_PROCESSING))
            book_count(book, journal, JOURNAL_COUNT_LATE_DONE);
        end_entry(book, entry, JOURNAL_COUNT_DONE);
        return STATUS_OK;
    }
    if (step->has_priority)
        entry->priority = step->priority;
    entry->run->buries++;
    book_count(book, journal, JOURNAL_COUNT_BURIED);
    book_give_up(book, entry, slice_of(entry->run->error, entry->run->error_size), false);
    return STATUS_OK;
}

static Status end_with_token(Book *book, JournalCall call, const JournalStep *step, Reason *reason)
{
    Entry *entry = find_token(book, &step->token);
    if (entry == NULL)
        return lost(reason);
    if (entry_is(entry, JOURNAL_PROCESSING) && entry->run->deadline_ms <= book->now.boot_ms) {
        book_lapse(book, entry);
        entry = find_token(book, &step->token);
        if (entry == NULL)
            return lost(reason);
    }
    bool late = call == JOURNAL_CALL_DONE && entry_is(entry, JOURNAL_WAITING) &&
                entry->version == entry->run->claimed_version && !entry_expired(book, entry);
    if (!entry_is(entry, JOURNAL_PROCESSING) && !late)
        return lost(reason);
    return end_run(book, call, entry, step, reason);
}

/* ---- Ids --------------------------------------------------------------------------------------------------- */

Status book_no_entry(Reason *reason)
{
    return reason_set(reason, STATUS_NOT_FOUND, "id",
                      "there is no such entry, or not in a state for this");
}

/* What the owner has claimed by its id; for `delete` also what nobody works on. */
static Status end_of_owner(Book *book, JournalCall call, const JournalStep *step,
                           const JournalOwner *owner, Reason *reason)
{
    Entry *entry = book_find(book, step->id);
    if (entry != NULL && entry_is(entry, JOURNAL_PROCESSING) &&
        entry->run->deadline_ms <= book->now.boot_ms) {
        book_lapse(book, entry);
        entry = book_find(book, step->id);
    }
    if (entry == NULL)
        return book_no_entry(reason);
    bool runs = entry_is(entry, JOURNAL_PROCESSING);
    if (runs && owner != NULL && entry->run->owner == owner)
        return end_run(book, call == JOURNAL_CALL_DELETE ? JOURNAL_CALL_DONE : call, entry, step,
                       reason);
    if (call != JOURNAL_CALL_DELETE || runs || entry_expired(book, entry))
        return book_no_entry(reason);
    book->must_sync |= journal_of(entry)->rules->rules.sync != JOURNAL_SYNC_PUTS;
    take_out(book, entry, JOURNAL_COUNT_REMOVED);
    return STATUS_OK;
}

/* F becomes W, or merges with what lives. */
static Status requeue(Book *book, Entry *entry, Reason *reason)
{
    entry->run->kicks++;
    book_unindex(book, entry);
    entry->run->retry_ms = 0;
    entry->timeouts = 0;
    book_index(book, entry);
    book_count(book, journal_of(entry), JOURNAL_COUNT_KICKED);
    return book_place(book, entry, reason);
}

static void make_due(Book *book, Entry *entry)
{
    book_unindex(book, entry);
    Run *run = book_run(entry);
    run->kicks++;
    run->retry_ms = 0;
    entry->wanted_ms = book->now.wall_ms;
    if (entry->insertion_ms > book->now.wall_ms)
        entry->insertion_ms = book->now.wall_ms;
    book_index(book, entry);
    book_count(book, journal_of(entry), JOURNAL_COUNT_KICKED);
    book_dirty(book, entry);
}

static Status move_by_id(Book *book, JournalCall call, uint64_t id, Reason *reason)
{
    Entry *entry = book_find(book, id);
    if (entry == NULL || (entry_expired(book, entry) && !entry_is(entry, JOURNAL_PROCESSING)))
        return book_no_entry(reason);
    book->must_sync |= journal_of(entry)->rules->rules.sync != JOURNAL_SYNC_PUTS;
    bool failed = entry_is(entry, JOURNAL_FAILED);
    if (call == JOURNAL_CALL_REMOVE) {
        if (!entry_is(entry, JOURNAL_PROCESSING)) {
            take_out(book, entry, JOURNAL_COUNT_REMOVED);
            return STATUS_OK;
        }
        Entry *held = entry->run->held;
        entry->run->held = NULL;
        if (held != NULL)
            book_gone(book, held, JOURNAL_COUNT_REMOVED);
        entry->flags |= ENTRY_GIVEN_UP;
        book_dirty(book, entry);
        return STATUS_OK;
    }
    if (failed)
        return requeue(book, entry, reason);
    if (call == JOURNAL_CALL_REQUEUE || !entry_is(entry, JOURNAL_WAITING) ||
        entry_process_ms(entry) <= book->now.wall_ms)
        return book_no_entry(reason);
    make_due(book, entry);
    return STATUS_OK;
}

Status book_step(Book *book, JournalCall call, const JournalStep *step, const JournalOwner *owner,
                 Reason *reason)
{
    bool by_id =
        call == JOURNAL_CALL_REQUEUE || call == JOURNAL_CALL_KICK || call == JOURNAL_CALL_REMOVE;
    if (journal_date(step->ms) != step->ms)
        return reason_set(reason, STATUS_INVALID, "ms", "milliseconds from 1970 to 9999");
    if (by_id)
        return move_by_id(book, call, step->id, reason);
    return owner != NULL || call == JOURNAL_CALL_DELETE
               ? end_of_owner(book, call, step, owner, reason)
               : end_with_token(book, call, step, reason);
}

Status book_kick_some(Book *book, Journal *journal, uint64_t most, JournalState *kind,
                      uint64_t *ret_kicked, Reason *reason)
{
    uint64_t kicked = 0;
    book->must_sync |= journal->rules->rules.sync != JOURNAL_SYNC_PUTS;
    most = most < JOURNAL_MANY_MAX ? most : JOURNAL_MANY_MAX;
    if (*kind == 0)
        *kind = journal->dead.count > 0 ? JOURNAL_FAILED : JOURNAL_WAITING;
    bool failed = *kind == JOURNAL_FAILED;
    for (; failed && kicked < most && journal->dead.count > 0; kicked++)
        TRY(requeue(book, heap_first(&journal->dead), reason));
    for (size_t work = 0; kicked < most && !failed && work < KICK_WORK_MAX;) {
        OrderSurvey survey =
            journal_order_survey(&journal->order, &ENTRY_ORDER, book->now.wall_ms, 0);
        Entry *entry = survey.first_future;
        work += survey.looked + 1;
        if (entry == NULL)
            break;
        if (!entry_expired(book, entry)) {
            make_due(book, entry);
            kicked++;
        } else if (!book_set_aside(book, entry)) {
            break;
        }
    }
    *ret_kicked = kicked;
    return STATUS_OK;
}

void book_pause(Book *book, Journal *journal, int64_t ms)
{
    heap_remove(&book->pauses, &JOURNAL_PAUSE, journal);
    journal->paused_until_ms = ms > 0 ? book->now.boot_ms + ms : 0;
    if (ms > 0)
        heap_add(&book->pauses, &JOURNAL_PAUSE, journal);
    book->must_sync |= journal->rules->rules.sync != JOURNAL_SYNC_PUTS;
    book_touch(book, journal);
    book_meta_changed(book, journal);
}

void book_owner_ends(Book *book, JournalOwner *owner)
{
    Run *run;
    while ((run = heap_first(&owner->runs[book->index])) != NULL) {
        Reason reason;
        Entry *entry = run->entry;
        run->retry_ms = 0;
        run->claimed_version = 0;
        if (book_give_back(book, entry, true, &reason) != STATUS_OK)
            book_give_up(book, entry, slice_from(reason.rule), true);
    }
    heap_free(&owner->runs[book->index]);
}
