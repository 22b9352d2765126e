/* journal_claim.c -- claiming entries, which may wait until one is due.
 *
 * The claim is handed to the journal, which calls back; no thread waits but that of a command (operation_wait). Whoever goes away while
 * waiting is taken out of the line; what was handed out at that moment is given back at once. */
#include <stdlib.h>

#include "operations/journals.h"
#include "operations/schema_macros.h"

typedef struct JournalClaimRequest {
    Slice journal;
    InputTexts journals;
    int64_t n, lease_ms, wait_ms, wait_s;
    Slice max_priority, worker;
} JournalClaimRequest;

typedef struct JournalClaimedEntry {
    JournalClaimed claimed;
    Slice token, inserted, process, deadline;
    JournalBytes key, data;
} JournalClaimedEntry;

typedef struct JournalClaimAnswer {
    JournalClaimedEntry *entries;
    size_t count;
    Slice next;
} JournalClaimAnswer;

/* clang-format off */
static const ApiMember CLAIMED_MEMBERS[] = {
    FIELD("id", JournalClaimedEntry, claimed.id, .help = "Its number."),
    FIELD("token", JournalClaimedEntry, token, .help = "Names this run: for extend, done, release, fail and bury."),
    FIELD("journal", JournalClaimedEntry, claimed.journal, .help = "The journal."),
    FIELD("key", JournalClaimedEntry, key.text, WHEN(JournalClaimedEntry, key.is_text), .help = "Its key; null: it is no text."),
    FIELD("key64", JournalClaimedEntry, key.base64, OR_NULL, .help = "The key as base64, where it is no text."),
    FIELD("data", JournalClaimedEntry, data.text, WHEN(JournalClaimedEntry, data.is_text), .help = "Its data, as the key."),
    FIELD("data64", JournalClaimedEntry, data.base64, OR_NULL, .help = "The data as base64, where it is no text."),
    FIELD("priority", JournalClaimedEntry, claimed.priority, .help = "The smallest goes first."),
    FIELD("timeouts", JournalClaimedEntry, claimed.timeouts, .help = "Runs that failed or lapsed before."),
    FIELD("inserted_at", JournalClaimedEntry, inserted, .help = "When it was put."),
    FIELD("process_at", JournalClaimedEntry, process, .help = "When it was due."),
    FIELD("deadline", JournalClaimedEntry, deadline, .help = "When the lease is over, by this machine's clock as it is now."),
    FIELD("lease_ms", JournalClaimedEntry, claimed.lease_ms, .help = "How long that is."),
};
SCHEMA(JOURNAL_CLAIMED, "JournalClaimed", JournalClaimedEntry, CLAIMED_MEMBERS, .help = "An entry that was handed out.");
static const ApiMember CLAIM_MEMBERS[] = {
    LIST("entries", JournalClaimAnswer, entries, count, JOURNAL_CLAIMED, .help = "In the order in which they are due."),
    FIELD("next_at", JournalClaimAnswer, next, OR_NULL, .help = "Where there are none: when the next is due, as far as is known."),
};
SCHEMA(JOURNAL_CLAIM, "JournalClaim", JournalClaimAnswer, CLAIM_MEMBERS,
       .help = "What was handed out. Where there is nothing the answer is 204, with the header X-Next-At in place of next_at.");
/* clang-format on */

typedef struct Work {
    OperationLater later;
    Journals *journals;
    Clock clock;
    Arena *arena;
    JournalRequest request;
} Work;

/* ---- The work ------------------------------------------------------------------------------------------------------------------- */

static void finish(JournalRequest *request)
{
    Work *work = request->context;
    work->later.ready(work->later.self);
}

static void start(void *self)
{
    Work *work = self;
    journal_submit(work->journals, &work->request);
}

static void cancel(void *self)
{
    Work *work = self;
    journal_cancel(work->journals, &work->request);
}

static void free_release(JournalRequest *request)
{
    free(request->steps);
    free(request);
}

/* Nobody got them. Nor does anybody wait for this; what fails lapses. */
static void give_back(const Work *work, const JournalClaims *claims)
{
    JournalRequest *release = calloc(1, sizeof *release);
    CHECK(release != NULL);
    *release = (JournalRequest){.call = JOURNAL_CALL_RELEASE,
                                .steps = calloc(claims->count, sizeof(JournalStep)),
                                .count = claims->count,
                                .finish = free_release};
    CHECK(release->steps != NULL);
    for (size_t i = 0; i < claims->count; i++)
        release->steps[i] = (JournalStep){.token = claims->entries[i].token, .error = SLICE_EMPTY};
    journal_submit(work->journals, release);
}

static JournalClaimedEntry entry_of(const JournalClaimed *claimed, int64_t now_ms, Arena *arena)
{
    char token[JOURNAL_TOKEN_TEXT + 1];
    journal_token_text(claimed->token, token);
    return (JournalClaimedEntry){.claimed = *claimed,
                                 .token = arena_copy(arena, slice_from(token)),
                                 .inserted = journal_moment(claimed->insertion_ms, arena),
                                 .process = journal_moment(claimed->process_ms, arena),
                                 .deadline = journal_moment(now_ms + claimed->lease_ms, arena),
                                 .key = journal_bytes(claimed->key, arena),
                                 .data = journal_bytes(claimed->data, arena)};
}

static Status end(void *self, bool is_gone, void *ret_answer, Reason *reason)
{
    Work *work = self;
    const JournalClaims *claims = &work->request.claims;
    JournalClaimAnswer *answer = ret_answer;
    int64_t now_ms = clock_now_us(work->clock) / US_PER_MS;
    if (work->request.status != STATUS_OK)
        return reason_set(reason, work->request.status, work->request.reason.field, "%s",
                          work->request.reason.rule);
    if (is_gone && claims->count > 0) {
        give_back(work, claims);
        return reason_set(reason, STATUS_UNAVAILABLE, "", "nobody waits for it any more");
    }
    answer->entries = ARENA_ARRAY(work->arena, claims->count, JournalClaimedEntry);
    answer->count = claims->count;
    for (size_t i = 0; i < claims->count; i++)
        answer->entries[i] = entry_of(&claims->entries[i], now_ms, work->arena);
    answer->next = claims->count == 0 ? journal_moment(claims->next_ms, work->arena) : SLICE_EMPTY;
    return STATUS_OK;
}

/* ---- The operation -------------------------------------------------------------------------------------------------------------- */

static Status begin(Operations *ops, const Actor *actor, const void *of, Arena *arena,
                    OperationLater **ret_later, Reason *reason)
{
    const JournalClaimRequest *request = of;
    Work *work = ARENA_NEW(arena, Work);
    bool is_one = request->journal.size > 0;
    const Slice *given = is_one ? &request->journal : request->journals.texts;
    size_t count = is_one ? 1 : request->journals.count;
    Slice *names = ARENA_ARRAY(arena, count, Slice);
    JournalClaim claim = {.journals = names,
                          .journal_count = count,
                          .count = (uint32_t)request->n,
                          .max_priority = UINT32_MAX,
                          .lease_ms = request->lease_ms,
                          .wait_ms = request->wait_ms + request->wait_s * 1000};
    for (size_t i = 0; i < count; i++) {
        TRY(journal_admit(ops, actor, given[i], JOURNAL_RIGHT_CLAIM, reason));
        names[i] = arena_copy(arena, given[i]);
    }
    if (request->max_priority.size > 0)
        TRY(journal_priority_from(request->max_priority, "max_priority", &claim.max_priority,
                                  reason));
    *work = (Work){.later = {.start = start, .cancel = cancel, .end = end, .work = work},
                   .clock = ops->app->world.clock,
                   .arena = arena,
                   .request = {.call = JOURNAL_CALL_CLAIM,
                               .claim = claim,
                               .arena = arena,
                               .finish = finish,
                               .context = work}};
    TRY(operations_journals(ops, &work->journals, reason));
    *ret_later = &work->later;
    return STATUS_OK;
}

static Status journal_claim_some(Operations *ops, const Actor *actor,
                                 const JournalClaimRequest *request, Arena *arena,
                                 JournalClaimAnswer *ret_answer, Reason *reason)
{
    OperationLater *later;
    TRY(begin(ops, actor, request, arena, &later, reason));
    return operation_wait(ops, later, ret_answer, reason);
}

static Status journal_claim_one(Operations *ops, const Actor *actor,
                                const JournalClaimRequest *request, Arena *arena,
                                JournalClaimAnswer *ret_answer, Reason *reason)
{
    return journal_claim_some(ops, actor, request, arena, ret_answer, reason);
}

static bool nothing(const void *answer, Arena *arena, Slice *ret_next_at)
{
    const JournalClaimAnswer *claim = answer;
    (void)arena;
    *ret_next_at = claim->next;
    return claim->count == 0;
}

/* clang-format off */
#define CLAIM .access = WEB_PUBLIC, .by_program = true, .admits = journal_admits_claim, .threads = WEB_ANSWER, .begin = begin, JOURNAL_WORK, .answers = &SCHEMA_JOURNAL_CLAIM, \
    .seconds = 2 * JOURNAL_DOOR_WAIT_MAX_MS / 1000, .no_page = "it is the work of programs"
#define CLAIM_INPUTS                                                                                                                    \
    INPUT("n", JournalClaimRequest, n, NUMBER, .fallback = "1", .least = 1, .most = JOURNAL_MANY_MAX, .help = "How many at most."),       \
    INPUT("lease_ms", JournalClaimRequest, lease_ms, NUMBER, .fallback = "0", .least = 0, .most = S_PER_DAY * 1000, .help = "How long a run may take; 0: what the entry or the journal says."), \
    INPUT("max_priority", JournalClaimRequest, max_priority, LINE, .fallback = "", .most = 20, .or_number = true, .value = "P", .help = "Only priorities up to this; a number or a word."), \
    INPUT("wait_ms", JournalClaimRequest, wait_ms, NUMBER, .fallback = "0", .least = 0, .most = JOURNAL_DOOR_WAIT_MAX_MS, .no_command = true, .help = "How long to wait for the first."), \
    INPUT("wait", JournalClaimRequest, wait_s, NUMBER, .fallback = "0", .least = 0, .most = JOURNAL_DOOR_WAIT_MAX_MS / 1000, .no_api = true, .value = "SECONDS", .help = "How long to wait for the first."), \
    INPUT("worker", JournalClaimRequest, worker, LINE, .fallback = "", .most = 100, .help = "What the worker is called; it is not kept.")
OPERATION(journal_claim_some, JournalClaimRequest, JournalClaimAnswer, .help = "Claim what is due first over some journals, or wait for it.", CLAIM,
    .api = {WEB_POST, "journals/claim", .tag = "journals", .nothing = nothing}, .command = {.words = "journal claim"},
    .inputs = {
        INPUT("journals", JournalClaimRequest, journals, TEXTS, .operand = true, .least = 1, .most = JOURNAL_NAME_MAX, .most_count = 1000, .value = "NAME…", .help = "The journals, all of one group."),
        CLAIM_INPUTS});
OPERATION(journal_claim_one, JournalClaimRequest, JournalClaimAnswer, .help = "Claim what is due first in a journal, or wait for it.", CLAIM,
    .api = {WEB_POST, "journals/{journal}/claim", .tag = "journals", .nothing = nothing}, .no_command = "journal claim takes one journal or several",
    .inputs = {
        INPUT("journal", JournalClaimRequest, journal, LINE, .least = 1, .most = JOURNAL_NAME_MAX, .help = "The journal."),
        CLAIM_INPUTS});
/* clang-format on */
