/* waits.c -- claims that wait without a thread, and listeners that are told.
 *
 * Each journal has its waits in the order in which they came. Whenever something has happened to a journal it is "touched"; then its line
 * is served, and the moment at which its next entry will be due goes into a heap over all journals, which the timer follows. */
#include <stdlib.h>

#include "journal/engine.h"

enum { SOON_MS = 1000 };

static bool turn_before(const void *a, const void *b)
{
    return ((const JournalWait *)a)->wake_ms < ((const JournalWait *)b)->wake_ms;
}

static bool wakes_before(const void *a, const void *b)
{
    return ((const Journal *)a)->wake_ms < ((const Journal *)b)->wake_ms;
}

const HeapKind WAIT_TURN = {turn_before, offsetof(JournalWait, wait_at)};
const HeapKind JOURNAL_WAKE = {wakes_before, offsetof(Journal, wake_at)};

/* ---- Waits ------------------------------------------------------------------------------------------------- */

/* When a lease of the owner has a second left; JOURNAL_NEVER. */
static int64_t soon_of(const JournalGroup *group, const JournalClaim *claim)
{
    const Run *run = NULL;
    if (claim->soon && claim->owner != NULL)
        run = heap_first(&claim->owner->runs[group->index]);
    return run == NULL ? JOURNAL_NEVER : run->deadline_ms - SOON_MS;
}

bool waits_soon(const JournalGroup *group, const JournalClaim *claim)
{
    return soon_of(group, claim) <= group->book.now.boot_ms;
}

/* When the wait is over, or a lease of its owner is about to be. */
static int64_t wake_of(const JournalGroup *group, const JournalWait *wait)
{
    int64_t soon_ms = soon_of(group, &wait->request->claim);
    return soon_ms < wait->until_ms ? soon_ms : wait->until_ms;
}

void waits_add(JournalGroup *group, JournalRequest *request, Journal **journals)
{
    size_t count = request->claim.journal_count;
    JournalWait *wait = calloc(1, sizeof *wait + count * (sizeof(WaitLink) + sizeof(Journal *)));
    CHECK(wait != NULL);
    wait->links = (WaitLink *)(wait + 1);
    wait->journals = (Journal **)(wait->links + count);
    wait->request = request;
    wait->until_ms = group->book.now.boot_ms + request->claim.wait_ms;
    wait->wake_ms = wake_of(group, wait);
    request->wait = wait;
    for (size_t i = 0; i < count; i++) {
        Journal *journal = wait->journals[i] = journals[i];
        WaitLink *link = &wait->links[i];
        *link = (WaitLink){.before = journal->last_wait, .wait = wait, .journal = journal};
        *(journal->last_wait != NULL ? &journal->last_wait->after : &journal->first_wait) = link;
        journal->last_wait = link;
        journal->waits++;
        book_touch(&group->book, journal);
    }
    heap_add(&group->waits, &WAIT_TURN, wait);
}

static void remove_wait(JournalGroup *group, JournalWait *wait)
{
    for (size_t i = 0; i < wait->request->claim.journal_count; i++) {
        WaitLink *link = &wait->links[i];
        Journal *journal = link->journal;
        *(link->before != NULL ? &link->before->after : &journal->first_wait) = link->after;
        *(link->after != NULL ? &link->after->before : &journal->last_wait) = link->before;
        journal->waits--;
        book_touch(&group->book, journal);
    }
    heap_remove(&group->waits, &WAIT_TURN, wait);
    wait->request->wait = NULL;
    free(wait);
}

void waits_cancel(JournalGroup *group, JournalWait *wait, Status status)
{
    JournalRequest *request = wait->request;
    request->claims = (JournalClaims){.next_ms = book_next_ms(&group->book, wait->journals,
                                                              request->claim.journal_count,
                                                              request->claim.max_priority)};
    request->status = status;
    if (status == STATUS_OK && request->claim.listener != NULL)
        listen_arm(group, request->claim.listener);
    remove_wait(group, wait);
    group_answer(group, request);
}

void waits_end_late(JournalGroup *group)
{
    JournalWait *wait;
    int64_t now_ms = group->book.now.boot_ms;
    while ((wait = heap_first(&group->waits)) != NULL && wait->wake_ms <= now_ms) {
        int64_t wake_ms = wake_of(group, wait);
        if (wake_ms > now_ms) { /* a lease was extended */
            wait->wake_ms = wake_ms;
            heap_moved(&group->waits, &WAIT_TURN, wait);
            continue;
        }
        JournalRequest *request = wait->request;
        bool soon = wake_ms < wait->until_ms;
        JournalClaims claims = {.next_ms = JOURNAL_NEVER, .soon = soon};
        if (!soon) {
            waits_cancel(group, wait, STATUS_OK);
            continue;
        }
        remove_wait(group, wait);
        request->claims = claims;
        request->status = STATUS_OK;
        group_answer(group, request);
    }
}

void waits_end_all(JournalGroup *group)
{
    JournalWait *wait;
    while ((wait = heap_first(&group->waits)) != NULL) {
        (void)reason_set(&wait->request->reason, STATUS_UNAVAILABLE, NULL,
                         "the journal is closing");
        waits_cancel(group, wait, STATUS_UNAVAILABLE);
    }
}

/* Tries for this wait; true when it was answered. */
static bool serve(JournalGroup *group, JournalWait *wait)
{
    JournalRequest *request = wait->request;
    JournalClaims claims;
    bool sync = false;
    Status status = book_claim(&group->book, wait->journals, &request->claim, request->arena,
                               &claims, &sync, &request->reason);
    if (status == STATUS_OK && claims.count == 0)
        return false;
    request->status = status;
    if (status == STATUS_OK)
        request->claims = claims;
    remove_wait(group, wait);
    if (sync)
        request_list_add(&group->open->requests, request);
    else
        group_answer(group, request);
    return true;
}

/* The highest priority number that somebody in line would take. */
static uint32_t wanted(const Journal *journal)
{
    uint32_t most = 0;
    for (const WaitLink *link = journal->first_wait; link != NULL && most < UINT32_MAX;
         link = link->after)
        if (link->wait->request->claim.max_priority > most)
            most = link->wait->request->claim.max_priority;
    return most;
}

static void serve_line(JournalGroup *group, Journal *journal)
{
    Book *book = &group->book;
    if (journal->paused_until_ms > book->now.boot_ms)
        return;
    for (WaitLink *link = journal->first_wait, *after; link != NULL; link = after) {
        after = link->after;
        if (journal_order_due(&journal->order, book->now.wall_ms, wanted(journal)) == NULL)
            return;
        serve(group,
              link->wait); /* frees this link and the others of its wait, none of the next one's */
    }
}

/* ---- Listeners --------------------------------------------------------------------------------------------- */

void listen_begin(JournalGroup *group, JournalRequest *request)
{
    JournalListener *listener = request->private_data;
    Journal **journals = ARENA_ARRAY(request->arena, listener->count, Journal *);
    for (size_t i = 0; i < listener->count; i++) {
        request->status =
            book_journal(&group->book, listener->names[i], true, &journals[i], &request->reason);
        if (request->status != STATUS_OK)
            return;
    }
    listener->listenings = calloc(listener->count, sizeof *listener->listenings);
    CHECK(listener->listenings != NULL);
    for (size_t i = 0; i < listener->count; i++) {
        Listening *listening = &listener->listenings[i];
        *listening = (Listening){journals[i]->listenings, listener, journals[i]};
        journals[i]->listenings = listening;
    }
    listen_arm(group, listener);
}

void listen_end(JournalGroup *group, JournalListener *listener)
{
    for (size_t i = 0; i < listener->count; i++) {
        Listening *listening = &listener->listenings[i];
        Listening **link = &listening->journal->listenings;
        while (*link != listening)
            link = &(*link)->next;
        *link = listening->next;
        book_touch(&group->book, listening->journal);
    }
    free(listener->listenings);
}

void listen_arm(JournalGroup *group, JournalListener *listener)
{
    if (listener->group != group)
        return;
    listener->armed = true;
    for (size_t i = 0; i < listener->count; i++)
        book_touch(&group->book, listener->listenings[i].journal);
}

static bool ring(const Journal *journal)
{
    bool rang = false;
    for (Listening *listening = journal->listenings; listening != NULL;
         listening = listening->next) {
        JournalListener *listener = listening->listener;
        if (!listener->armed)
            continue;
        listener->armed = false;
        listener->ring(listener->context, journal_name(journal));
        rang = true;
    }
    return rang;
}

/* Nothing is due. */
static void arm_edges(const Journal *journal)
{
    for (Listening *one = journal->listenings; one != NULL; one = one->next)
        one->listener->armed |= atomic_load(&one->listener->edges);
}

static bool has_armed(const Journal *journal)
{
    for (const Listening *one = journal->listenings; one != NULL; one = one->next)
        if (one->listener->armed)
            return true;
    return false;
}

/* ---- Journals that something has happened to --------------------------------------------------------------- */

static void set_wake(JournalGroup *group, Journal *journal, int64_t wake_ms)
{
    if (wake_ms == journal->wake_ms)
        return;
    heap_remove(&group->wakes, &JOURNAL_WAKE, journal);
    journal->wake_ms = wake_ms;
    if (wake_ms != JOURNAL_NEVER)
        heap_add(&group->wakes, &JOURNAL_WAKE, journal);
}

static void look_after(JournalGroup *group, Journal *journal)
{
    Book *book = &group->book;
    bool paused = journal->paused_until_ms > book->now.boot_ms;
    int64_t wake_ms = JOURNAL_NEVER;
    serve_line(group, journal);
    if (!paused && journal->first_wait != NULL)
        wake_ms = journal_order_next(&journal->order, wanted(journal));
    if (journal->listenings != NULL &&
        journal_order_next(&journal->order, UINT32_MAX) > book->now.wall_ms)
        arm_edges(journal);
    if (!paused && has_armed(journal)) {
        int64_t next_ms = journal_order_next(&journal->order, UINT32_MAX);
        if (next_ms <= book->now.wall_ms)
            ring(journal);
        else if (next_ms < wake_ms)
            wake_ms = next_ms;
    }
    set_wake(group, journal, wake_ms);
    bool empty = journal->counts[INDEX_W] + journal->counts[INDEX_P] + journal->counts[INDEX_H] +
                     journal->counts[INDEX_F] ==
                 0;
    if (empty && journal->on_use && !journal->declared && journal->waits == 0 &&
        journal->listenings == NULL && !paused)
        book_forget_journal(book, journal);
}

void waits_serve(JournalGroup *group)
{
    Book *book = &group->book;
    Journal *journal;
    while ((journal = heap_first(&group->wakes)) != NULL && journal->wake_ms <= book->now.wall_ms) {
        set_wake(group, journal, JOURNAL_NEVER);
        book_touch(book, journal);
    }
    for (size_t i = 0; i < book->touched.count; i++) { /* serving one may touch others */
        journal = book->touched.items[i];
        journal->touched = false;
        if (!journal->forgotten)
            look_after(group, journal);
    }
    book->touched.count = 0;
}
