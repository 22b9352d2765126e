/* calls.c -- the calls that wait for their answer: a request on the caller's stack, and a semaphore. */
#include <semaphore.h>
#include <stdlib.h>

#include "journal/engine.h"

static void wake(JournalRequest *request)
{
    sem_post(request->context);
}

static void await(sem_t *answered)
{
    while (sem_wait(answered) != 0) /* a signal came */
        ;
    sem_destroy(answered);
}

static Status wait_for(Journals *journals, JournalRequest *request, Reason *reason)
{
    sem_t answered;
    sem_init(&answered, 0, 0);
    request->finish = wake;
    request->context = &answered;
    journal_submit(journals, request);
    await(&answered);
    if (reason != NULL && request->status != STATUS_OK)
        *reason = request->reason;
    return request->status;
}

Status call_group(JournalGroup *group, int call, const void *data, Reason *reason)
{
    sem_t answered;
    ARENA_SCOPE Arena *arena = arena_new();
    union { /* the module's own calls know what it is */
        const void *in;
        void *out;
    } same = {.in = data};
    JournalRequest request = {.call = (JournalCall)call,
                              .private_data = same.out,
                              .arena = arena,
                              .finish = wake,
                              .context = &answered};
    sem_init(&answered, 0, 0);
    group_hand_in(group, &request);
    await(&answered);
    if (reason != NULL && request.status != STATUS_OK)
        *reason = request.reason;
    return request.status;
}

static Status call_all(Journals *journals, int call, void *data, Reason *reason)
{
    Status first = STATUS_OK;
    for (size_t i = 0; i < atomic_load(&journals->group_count); i++) {
        Status status = call_group(journals->groups[i], call, data, reason);
        first = first == STATUS_OK ? status : first;
    }
    return first;
}

/* ---- Puts and claims --------------------------------------------------------------------------------------- */

Status journal_put(Journals *journals, const JournalPut *put, JournalAnswer *ret_answer,
                   Reason *reason)
{
    JournalAnswer answer;
    JournalRequest request = {
        .call = JOURNAL_CALL_PUT, .puts = put, .answers = &answer, .count = 1};
    Status status = wait_for(journals, &request, reason);
    if (ret_answer != NULL)
        *ret_answer = answer;
    return status;
}

Status journal_put_many(Journals *journals, const JournalPut *puts, size_t count,
                        JournalAnswer *ret_answers, Reason *reason)
{
    JournalRequest request = {
        .call = JOURNAL_CALL_PUT, .puts = puts, .answers = ret_answers, .count = count};
    return wait_for(journals, &request, reason);
}

Status journal_claim(Journals *journals, const JournalClaim *claim, Arena *arena,
                     JournalClaims *ret_claims, Reason *reason)
{
    JournalRequest request = {.call = JOURNAL_CALL_CLAIM, .claim = *claim, .arena = arena};
    TRY(wait_for(journals, &request, reason));
    *ret_claims = request.claims;
    return STATUS_OK;
}

Status journal_claim_id(Journals *journals, uint64_t id, JournalOwner *owner, Arena *arena,
                        JournalClaimed *ret_claimed, Reason *reason)
{
    JournalRequest request = {
        .call = JOURNAL_CALL_CLAIM_ID, .id = id, .claim.owner = owner, .arena = arena};
    TRY(wait_for(journals, &request, reason));
    *ret_claimed = request.claimed;
    return STATUS_OK;
}

/* ---- Tokens and ids ---------------------------------------------------------------------------------------- */

static Status steps(Journals *journals, JournalCall call, JournalStep *list, size_t count,
                    Reason *reason)
{
    JournalRequest request = {.call = call, .steps = list, .count = count};
    return wait_for(journals, &request, reason);
}

Status journal_extend(Journals *journals, JournalStep *list, size_t count, Reason *reason)
{
    return steps(journals, JOURNAL_CALL_EXTEND, list, count, reason);
}

Status journal_done(Journals *journals, JournalStep *list, size_t count, Reason *reason)
{
    return steps(journals, JOURNAL_CALL_DONE, list, count, reason);
}

Status journal_release(Journals *journals, JournalStep *list, size_t count, Reason *reason)
{
    return steps(journals, JOURNAL_CALL_RELEASE, list, count, reason);
}

Status journal_fail(Journals *journals, JournalStep *list, size_t count, Reason *reason)
{
    return steps(journals, JOURNAL_CALL_FAIL, list, count, reason);
}

Status journal_bury(Journals *journals, JournalStep *list, size_t count, Reason *reason)
{
    return steps(journals, JOURNAL_CALL_BURY, list, count, reason);
}

Status journal_requeue(Journals *journals, JournalStep *list, size_t count, Reason *reason)
{
    return steps(journals, JOURNAL_CALL_REQUEUE, list, count, reason);
}

Status journal_kick(Journals *journals, JournalStep *list, size_t count, Reason *reason)
{
    return steps(journals, JOURNAL_CALL_KICK, list, count, reason);
}

Status journal_remove(Journals *journals, JournalStep *list, size_t count, Reason *reason)
{
    return steps(journals, JOURNAL_CALL_REMOVE, list, count, reason);
}

void journal_token_text(JournalToken token, char to[JOURNAL_TOKEN_TEXT + 1])
{
    static const char DIGITS[] = "0123456789abcdef";
    for (size_t i = 0; i < sizeof token.bytes; i++) {
        to[2 * i] = DIGITS[token.bytes[i] >> 4];
        to[2 * i + 1] = DIGITS[token.bytes[i] & 15];
    }
    to[JOURNAL_TOKEN_TEXT] = '\0';
}

Status journal_token_from_text(Slice text, JournalToken *ret_token)
{
    JournalToken token = {0};
    if (text.size != JOURNAL_TOKEN_TEXT)
        return STATUS_INVALID;
    for (size_t i = 0; i < text.size; i++) {
        char c = text.data[i];
        int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
        if (digit < 0)
            return STATUS_INVALID;
        token.bytes[i / 2] = (unsigned char)(token.bytes[i / 2] * 16 + digit);
    }
    *ret_token = token;
    return STATUS_OK;
}

/* ---- Journals ---------------------------------------------------------------------------------------------- */

Status journal_kick_some(Journals *journals, Slice journal, uint64_t most, uint64_t *ret_kicked,
                         Reason *reason)
{
    JournalRequest request = {.call = JOURNAL_CALL_KICK_SOME, .journal = journal, .id = most};
    TRY(wait_for(journals, &request, reason));
    *ret_kicked = request.kicked;
    return STATUS_OK;
}

Status journal_pause(Journals *journals, Slice journal, int64_t ms, Reason *reason)
{
    JournalRequest request = {.call = JOURNAL_CALL_PAUSE, .journal = journal, .ms = ms};
    return wait_for(journals, &request, reason);
}

Status journal_resume(Journals *journals, Slice journal, Reason *reason)
{
    JournalRequest request = {.call = JOURNAL_CALL_RESUME, .journal = journal};
    return wait_for(journals, &request, reason);
}

Status journal_get(Journals *journals, uint64_t id, Arena *arena, JournalView *ret_view,
                   Reason *reason)
{
    JournalRequest request = {.call = JOURNAL_CALL_GET, .id = id, .arena = arena};
    TRY(wait_for(journals, &request, reason));
    *ret_view = request.view;
    return STATUS_OK;
}

Status journal_peek(Journals *journals, Slice journal, JournalPeek which, Arena *arena,
                    JournalView *ret_view, Reason *reason)
{
    JournalRequest request = {
        .call = JOURNAL_CALL_PEEK, .journal = journal, .which = which, .arena = arena};
    TRY(wait_for(journals, &request, reason));
    *ret_view = request.view;
    return STATUS_OK;
}

Status journal_list(Journals *journals, Slice journal, JournalState state, uint64_t after,
                    uint32_t limit, Arena *arena, JournalList *ret_list, Reason *reason)
{
    JournalRequest request = {.call = JOURNAL_CALL_LIST,
                              .journal = journal,
                              .state = state,
                              .id = after,
                              .limit = limit,
                              .arena = arena};
    TRY(wait_for(journals, &request, reason));
    *ret_list = request.list;
    return STATUS_OK;
}

Status journal_stats(Journals *journals, Slice journal, JournalStats *ret_stats, Reason *reason)
{
    JournalRequest request = {.call = JOURNAL_CALL_STATS, .journal = journal};
    TRY(wait_for(journals, &request, reason));
    *ret_stats = request.stats;
    return STATUS_OK;
}

/* ---- All groups -------------------------------------------------------------------------------------------- */

static int by_bytes(const void *a, const void *b)
{
    return slice_compare(*(const Slice *)a, *(const Slice *)b);
}

Status journal_names(Journals *journals, Arena *arena, Slice **ret_names, size_t *ret_count,
                     Reason *reason)
{
    JournalRequest request = {.call = JOURNAL_CALL_NAMES, .arena = arena};
    TRY(wait_for(journals, &request, reason));
    qsort(request.names, request.name_count, sizeof *request.names, by_bytes);
    *ret_names = request.names;
    *ret_count = request.name_count;
    return STATUS_OK;
}

void journals_health(Journals *journals, JournalsHealth *ret_health)
{
    *ret_health = (JournalsHealth){.writable = true};
    (void)!call_all(journals, JOURNAL_CALL_HEALTH, ret_health, NULL);
}

Status journals_reopen(Journals *journals, Reason *reason)
{
    return call_all(journals, JOURNAL_CALL_REOPEN, NULL, reason);
}

void journals_shrink(Journals *journals)
{
    (void)!call_all(journals, JOURNAL_CALL_SHRINK, NULL, NULL);
}

void journals_tick(Journals *journals)
{
    (void)!call_all(journals, JOURNAL_CALL_TICK, NULL, NULL);
}

const char *journals_check(Journals *journals)
{
    const char *found = NULL;
    for (size_t i = 0; i < atomic_load(&journals->group_count) && found == NULL; i++)
        (void)!call_group(journals->groups[i], JOURNAL_CALL_CHECK, &found, NULL);
    return found;
}

/* ---- Owners and listeners ---------------------------------------------------------------------------------- */

void journal_cancel(Journals *journals, JournalRequest *request)
{
    JournalRequest cancel = {.call = JOURNAL_CALL_CANCEL, .cancelled = request};
    if (request->group != NULL)
        (void)!wait_for(journals, &cancel, NULL);
}

JournalOwner *journal_owner_new(Journals *journals)
{
    JournalOwner *owner = calloc(1, sizeof *owner);
    CHECK(owner != NULL);
    owner->journals = journals;
    return owner;
}

void journal_owner_end(JournalOwner *owner)
{
    JournalRequest request = {.call = JOURNAL_CALL_OWNER_END, .claim.owner = owner};
    (void)!wait_for(owner->journals, &request, NULL);
}

Status journal_listen(Journals *journals, const Slice *names, size_t count,
                      void (*ring)(void *context, Slice journal), void *context,
                      JournalListener **ret_listener, Reason *reason)
{
    JournalGroup *group;
    if (count == 0 || count > JOURNAL_CLAIM_NAMES_MAX)
        return reason_set(reason, STATUS_INVALID, "journals", "1 to %d names",
                          JOURNAL_CLAIM_NAMES_MAX);
    TRY(journals_group_of(journals, names, count, &group, reason));
    JournalListener *listener = calloc(1, sizeof *listener);
    CHECK(listener != NULL);
    *listener = (JournalListener){.journals = journals,
                                  .group = group,
                                  .ring = ring,
                                  .context = context,
                                  .names = names,
                                  .count = count};
    Status status = call_group(group, JOURNAL_CALL_LISTEN, listener, reason);
    if (status != STATUS_OK) {
        free(listener);
        return status;
    }
    *ret_listener = listener;
    return STATUS_OK;
}

void journal_listen_edges(JournalListener *listener)
{
    atomic_store(&listener->edges, true);
}

void journal_listen_end(JournalListener *listener)
{
    (void)!call_group(listener->group, JOURNAL_CALL_LISTEN_END, listener, NULL);
    free(listener);
}
