/* decide.c -- what becomes of each request: the book is asked, and the answer given now, with the batch, or when something is due. */
#include <stdlib.h>

#include "journal/engine.h"

static Status decide_puts(JournalGroup *group, JournalRequest *request)
{
    Status first = STATUS_OK;
    for (size_t i = 0; i < request->count; i++) {
        Reason reason = {0};
        book_put(&group->book, &request->puts[i], &request->answers[i], &reason);
        if (first == STATUS_OK && request->answers[i].status != STATUS_OK) {
            first = request->answers[i].status;
            request->reason = reason;
        }
    }
    return first;
}

/* Steps that another group has answered stay as they are. */
static Status decide_steps(JournalGroup *group, JournalRequest *request)
{
    Status first = STATUS_OK;
    for (size_t i = 0; i < request->count; i++) {
        Reason reason = {0};
        JournalStep *step = &request->steps[i];
        const Entry *entry =
            request->call == JOURNAL_CALL_DELETE ? book_find(&group->book, step->id) : NULL;
        if (entry != NULL)
            request->deleted_from = arena_copy(request->arena, journal_name(journal_of(entry)));
        if (group->index == 0 || step->status == STATUS_CONFLICT ||
            step->status == STATUS_NOT_FOUND)
            step->status =
                book_step(&group->book, request->call, step, request->claim.owner, &reason);
        if (first == STATUS_OK && step->status != STATUS_OK) {
            first = step->status;
            request->reason = reason;
        }
    }
    return first;
}

typedef enum Answering { WITH_BATCH, AT_ONCE, LATER } Answering;

static Status find_journals(JournalGroup *group, JournalRequest *request, Journal **journals)
{
    const JournalClaim *claim = &request->claim;
    for (size_t i = 0; i < claim->journal_count; i++) {
        TRY(book_journal(&group->book, claim->journals[i], claim->on_use, &journals[i],
                         &request->reason));
        for (size_t j = 0; j < i; j++)
            if (journals[i] == journals[j])
                return reason_set(&request->reason, STATUS_INVALID, "journals",
                                  "%.*s is named twice", SLICE_ARG(claim->journals[i]));
    }
    return STATUS_OK;
}

static Status check_line(JournalRequest *request, Journal *const *journals)
{
    for (size_t i = 0; i < request->claim.journal_count; i++)
        if (journals[i]->waits >= journals[i]->rules->rules.max_waiters)
            return reason_set(&request->reason, STATUS_THROTTLED, "journals",
                              "%zu claims wait for %.*s already", journals[i]->waits,
                              SLICE_ARG(journal_name(journals[i])));
    return STATUS_OK;
}

static Answering decide_claim(JournalGroup *group, JournalRequest *request)
{
    Journal *journals[JOURNAL_CLAIM_NAMES_MAX];
    const JournalClaim *claim = &request->claim;
    bool sync = false;
    waits_serve(group); /* those who wait were here before */
    request->status = find_journals(group, request, journals);
    if (request->status == STATUS_OK)
        request->status = book_claim(&group->book, journals, claim, request->arena,
                                     &request->claims, &sync, &request->reason);
    if (request->status != STATUS_OK)
        return AT_ONCE;
    if (request->claims.count > 0)
        return sync ? WITH_BATCH : AT_ONCE;
    if (claim->wait_ms == 0) {
        request->claims.soon = waits_soon(group, claim);
        if (claim->listener != NULL)
            listen_arm(group, claim->listener);
        return AT_ONCE;
    }
    request->status = check_line(request, journals);
    if (request->status != STATUS_OK)
        return AT_ONCE;
    waits_add(group, request, journals);
    return LATER;
}

static Status decide_journal(JournalGroup *group, JournalRequest *request)
{
    Book *book = &group->book;
    Journal *journal;
    bool there = book_find_journal(book, request->journal) != NULL;
    if (request->call == JOURNAL_CALL_STATS && request->journal.size == 0) {
        book_stats_add(book, &request->stats);
        return STATUS_OK;
    }
    TRY(book_journal(book, request->journal, there || request->on_use, &journal, &request->reason));
    switch ((int)request->call) {
    case JOURNAL_CALL_KICK_SOME:
        return book_kick_some(book, journal, request->id, &request->state, &request->kicked,
                              &request->reason);
    case JOURNAL_CALL_PAUSE:
    case JOURNAL_CALL_RESUME:
        book_pause(book, journal, request->call == JOURNAL_CALL_PAUSE ? request->ms : 0);
        return STATUS_OK;
    case JOURNAL_CALL_PEEK:
        return book_peek(book, journal, request->which, request->arena, &request->view,
                         &request->reason);
    case JOURNAL_CALL_LIST:
        return book_list(book, request, &request->list, &request->reason);
    default:
        book_stats(book, journal, &request->stats);
        return STATUS_OK;
    }
}

/* To those of the groups before this one. */
static void list_names(JournalGroup *group, JournalRequest *request)
{
    const Table *table = &group->book.names;
    Slice *names = ARENA_ARRAY(request->arena, request->name_count + table->count, Slice);
    if (request->name_count > 0)
        memcpy(names, request->names, request->name_count * sizeof *names);
    for (size_t i = 0; i < table->capacity; i++) {
        const Journal *journal = table->slots[i];
        if (journal != NULL && (journal->declared || journal->on_use))
            names[request->name_count++] = arena_copy(request->arena, journal_name(journal));
    }
    request->names = names;
}

static void add_health(JournalGroup *group, JournalsHealth *health)
{
    uint8_t slots[JOURNAL_SLOTS];
    Book *book = &group->book;
    size_t count = book->log->slots(book->log, slots);
    JournalGroupFigures *own = &health->groups[health->group_count++];
    own->name = group->name;
    pthread_mutex_lock(&group->lock);
    own->commits = group->commit_spans;
    own->sizes = group->commit_sizes;
    pthread_mutex_unlock(&group->lock);
    if (group->read_only) {
        health->writable = false;
        pthread_mutex_lock(&group->lock);
        memcpy(health->reason, group->reason.rule, sizeof health->reason);
        pthread_mutex_unlock(&group->lock);
    }
    health->entries += book->ids.count;
    for (size_t i = 0; i < count; i++) {
        int64_t made_ms;
        own->live_bytes += book->slot_bytes[slots[i]];
        own->file_bytes += book->log->bytes(book->log, slots[i], &made_ms);
    }
    health->live_bytes += own->live_bytes;
    health->file_bytes += own->file_bytes;
    health->commits += atomic_load(&group->commits);
    health->syncs += atomic_load(&group->syncs);
    health->written += atomic_load(&group->written);
    health->failures += atomic_load(&group->failures);
    health->reopens += atomic_load(&group->reopens);
    health->clock_steps += book->clock_steps;
}

/* The module's own calls, and those that are answered also when nothing can be written. */
static Answering decide_private(JournalGroup *group, JournalRequest *request)
{
    Book *book = &group->book;
    switch ((int)request->call) {
    case JOURNAL_CALL_DECLARE:
        request->status = book_declare(book, request->private_data, &request->reason);
        break;
    case JOURNAL_CALL_OWNER_END:
        book_owner_ends(book, request->claim.owner);
        break;
    case JOURNAL_CALL_LISTEN:
        listen_begin(group, request);
        break;
    case JOURNAL_CALL_LISTEN_END:
        listen_end(group, request->private_data);
        break;
    case JOURNAL_CALL_CANCEL:
        if (request->cancelled->wait != NULL)
            waits_cancel(group, request->cancelled->wait, STATUS_OK);
        break;
    case JOURNAL_CALL_NAMES:
        list_names(group, request);
        break;
    case JOURNAL_CALL_HEALTH:
        add_health(group, request->private_data);
        break;
    case JOURNAL_CALL_REOPEN:
        if (group->read_only)
            request->status = group_reload(group, &request->reason);
        break;
    case JOURNAL_CALL_SHRINK:
        if (group_settle(group))
            files_look(group, true);
        break;
    case JOURNAL_CALL_CHECK:
        *(const char **)request->private_data = group->read_only ? NULL : book_check(book);
        break;
    default:
        break; /* a tick: that it came is all */
    }
    return AT_ONCE;
}

static Answering decide(JournalGroup *group, JournalRequest *request)
{
    Book *book = &group->book;
    bool sync = false;
    request->status = STATUS_OK;
    if (request->call >= JOURNAL_CALL_NAMES)
        return decide_private(group, request);
    if (group->read_only) {
        request->next = NULL;
        RequestList alone = {.first = request};
        group_answer_all(group, &alone, STATUS_UNAVAILABLE);
        return LATER;
    }
    switch (request->call) {
    case JOURNAL_CALL_PUT:
        request->status = decide_puts(group, request);
        return WITH_BATCH;
    case JOURNAL_CALL_CLAIM:
        return decide_claim(group, request);
    case JOURNAL_CALL_CLAIM_ID:
        request->status = book_claim_id(book, request->id, request->claim.owner, request->arena,
                                        &request->claimed, &sync, &request->reason);
        return sync ? WITH_BATCH : AT_ONCE;
    case JOURNAL_CALL_EXTEND:
    case JOURNAL_CALL_DONE:
    case JOURNAL_CALL_RELEASE:
    case JOURNAL_CALL_FAIL:
    case JOURNAL_CALL_BURY:
    case JOURNAL_CALL_REQUEUE:
    case JOURNAL_CALL_KICK:
    case JOURNAL_CALL_DELETE:
    case JOURNAL_CALL_REMOVE:
        request->status = decide_steps(group, request);
        return request->call == JOURNAL_CALL_EXTEND ? AT_ONCE : WITH_BATCH;
    case JOURNAL_CALL_GET:
        request->status =
            book_get(book, request->id, request->arena, &request->view, &request->reason);
        return WITH_BATCH;
    case JOURNAL_CALL_KICK_SOME:
    case JOURNAL_CALL_PAUSE:
    case JOURNAL_CALL_RESUME:
    case JOURNAL_CALL_PEEK:
    case JOURNAL_CALL_LIST:
    case JOURNAL_CALL_STATS:
    case JOURNAL_CALL_NAMES: /* and below: decided above */
    case JOURNAL_CALL_CANCEL:
    case JOURNAL_CALL_OWNER_END:
    case JOURNAL_CALL_PRIVATE:
        request->status = decide_journal(group, request);
        return WITH_BATCH;
    }
    return AT_ONCE;
}

void journal_group_decide(JournalGroup *group, JournalRequest *request)
{
    switch (decide(group, request)) {
    case WITH_BATCH:
        request_list_add(&group->open->requests, request);
        break;
    case AT_ONCE:
        group_answer(group, request);
        break;
    case LATER:
        break;
    }
}
