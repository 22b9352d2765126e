/* journal_put.c -- putting entries into a journal. Programs do so by a route that takes lists, too (site/api/journal_put.c); what is judged and
 * done stands here for both. */
#include "operations/journals.h"
#include "operations/schema_macros.h"

const char *const JOURNAL_OUTCOME_WORDS[] = {
    [JOURNAL_CREATED] = "created", [JOURNAL_MERGED] = "merged",
    [JOURNAL_MADE_HELD] = "held",  [JOURNAL_HELD_MERGED] = "held_merged",
    [JOURNAL_STALE] = "stale",     [JOURNAL_IGNORED] = "ignored"};

/* clang-format off */
static const ApiMember PUT_MEMBERS[] = {
    FIELD("outcome", JournalPutAnswer, outcome, .help = "created, merged, held, held_merged, stale or ignored; in a list also the error of one that was not put."),
    FIELD("id", JournalPutAnswer, id, .help = "The entry that lives; 0: none."),
    FIELD("process_at", JournalPutAnswer, process, OR_NULL, .help = "When it is due."),
    FIELD("field", JournalPutAnswer, field, OR_NULL, .help = "Of one in a list that was not put: the field that is wrong."),
    FIELD("error", JournalPutAnswer, error, OR_NULL, .help = "And the rule that it breaks."),
};
SCHEMA(JOURNAL_PUT, "JournalPut", JournalPutAnswer, PUT_MEMBERS, .help = "What became of a put. A list of puts is answered with a list of these.");
/* clang-format on */

JournalPutAnswer journal_put_refused(Status status, const Reason *reason, Arena *arena)
{
    bool is_said = reason->rule[0] != '\0';
    const char *rule = is_said ? reason->rule : status_text(status);
    return (JournalPutAnswer){.status = status,
                              .outcome = status_name(status),
                              .process = SLICE_EMPTY,
                              .field = arena_copy(arena, slice_from(is_said ? reason->field : "")),
                              .error = arena_copy(arena, slice_from(rule))};
}

static JournalPutAnswer put_done(const JournalAnswer *done, Arena *arena)
{
    return (JournalPutAnswer){.outcome = JOURNAL_OUTCOME_WORDS[done->outcome],
                              .id = done->id,
                              .process = journal_moment(done->process_ms, arena),
                              .field = SLICE_EMPTY,
                              .error = SLICE_EMPTY};
}

/* One whose data is wrong would refuse all of them, so each is asked about before. Returns how many are left, with their places. */
static size_t check_puts(Journals *journals, JournalPut *puts, size_t count, Arena *arena,
                         JournalPutAnswer *answers, size_t *ret_places)
{
    size_t left = 0;
    for (size_t i = 0; i < count; i++) {
        Reason why = {0};
        if (answers[i].status != STATUS_OK)
            continue;
        Status status = journal_check_put(journals, &puts[i], &why);
        puts[i].is_checked = status == STATUS_OK;
        if (status != STATUS_OK)
            answers[i] = journal_put_refused(status, &why, arena);
        else
            ret_places[left++] = i;
    }
    return left;
}

Status journal_put_all(Operations *ops, const Actor *actor, JournalPut *puts, size_t count,
                       Arena *arena, JournalPutAnswer *answers, Reason *reason)
{
    Journals *journals;
    Reason why = {0};
    size_t *places = ARENA_ARRAY(arena, count, size_t);
    JournalPut *left = ARENA_ARRAY(arena, count, JournalPut);
    JournalAnswer *done = ARENA_ARRAY(arena, count, JournalAnswer);
    TRY(journal_admit(ops, actor, puts[0].journal, JOURNAL_RIGHT_PUT, reason));
    TRY(operations_journals(ops, &journals, reason));
    if (atomic_load(&ops->refuses_puts))
        return reason_set(reason, STATUS_UNAVAILABLE, "draining",
                          "this instance takes no puts any more; it will be stopped");
    size_t left_count = check_puts(journals, puts, count, arena, answers, places);
    for (size_t i = 0; i < left_count; i++)
        left[i] = puts[places[i]];
    if (left_count > 0)
        (void)!journal_put_many(journals, left, left_count, done, &why);
    for (size_t i = 0; i < left_count; i++) {
        answers[places[i]] = done[i].status == STATUS_OK
                                 ? put_done(&done[i], arena)
                                 : journal_put_refused(done[i].status, &why, arena);
        if (done[i].status != STATUS_OK) /* it is of the first */
            why = (Reason){0};
    }
    for (size_t i = 0; i < count; i++) /* what differs is told one by one */
        if (answers[i].status == STATUS_OK || answers[i].status != answers[0].status)
            return STATUS_OK;
    return reason_set(reason, answers[0].status, arena_text(arena, answers[0].field), "%.*s",
                      SLICE_ARG(answers[0].error));
}

/* ---- The command ---------------------------------------------------------------------------------------------------------------- */

typedef struct JournalPutRequest {
    Slice journal, data, key, priority;
    int64_t delay_s, expire_s;
} JournalPutRequest;

static Status journal_put_one(Operations *ops, const Actor *actor, const JournalPutRequest *request,
                              Arena *arena, JournalPutAnswer *ret_answer, Reason *reason)
{
    *ret_answer = (JournalPutAnswer){.process = SLICE_EMPTY};
    int64_t now_ms = clock_now_us(ops->app->world.clock) / US_PER_MS;
    JournalPut put = {.journal = request->journal,
                      .key = request->key,
                      .data = request->data,
                      .wanted_ms = request->delay_s > 0 ? now_ms + request->delay_s * 1000 : 0,
                      .expiration_ms =
                          request->expire_s > 0 ? now_ms + request->expire_s * 1000 : 0,
                      .has_priority = request->priority.size > 0};
    if (put.has_priority)
        TRY(journal_priority_from(request->priority, "priority", &put.priority, reason));
    return journal_put_all(ops, actor, &put, 1, arena, ret_answer, reason);
}

static void print_put(const void *answer, Arena *arena, Buffer *out)
{
    const JournalPutAnswer *put = answer;
    (void)arena;
    buffer_print(out, "%s %llu\n", put->outcome, (unsigned long long)put->id);
}

/* clang-format off */
OPERATION(journal_put_one, JournalPutRequest, JournalPutAnswer, .help = "Put an entry into a journal.",
    JOURNAL_ANYBODY, JOURNAL_WORK, .answers = &SCHEMA_JOURNAL_PUT,
    .no_api = "POST journals/{journal}/entries takes one entry or a list (site/api/journal_put.c)", .no_page = "entries are for programs", .command = {.words = "journal put", .print = print_put},
    .inputs = {
        INPUT("journal", JournalPutRequest, journal, LINE, .operand = true, .least = 1, .most = JOURNAL_NAME_MAX, .value = "NAME", .help = "The journal."),
        INPUT("data", JournalPutRequest, data, BYTES, .operand = true, .fallback = "", .most = JOURNAL_DATA_MAX, .value = "DATA", .help = "What the worker gets."),
        INPUT("key", JournalPutRequest, key, LINE, .fallback = "", .most = JOURNAL_KEY_MAX, .help = "What merges: of a key at most one entry waits."),
        INPUT("priority", JournalPutRequest, priority, LINE, .fallback = "", .most = 20, .value = "P", .help = "A number, the smallest first, or a word such as NOW or SLOW."),
        INPUT("delay", JournalPutRequest, delay_s, NUMBER, .fallback = "0", .least = 0, .most = INT32_MAX, .value = "SECONDS", .help = "Not due before so many seconds."),
        INPUT("expire", JournalPutRequest, expire_s, NUMBER, .fallback = "0", .least = 0, .most = INT32_MAX, .value = "SECONDS", .help = "Forgotten after so many seconds; 0: what the journal says."),
    });
/* clang-format on */
