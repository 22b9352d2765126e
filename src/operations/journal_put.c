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
};
SCHEMA(JOURNAL_PUT, "JournalPut", JournalPutAnswer, PUT_MEMBERS, .help = "What became of a put. A list of puts is answered with a list of these.");
/* clang-format on */

Status journal_put_all(Operations *ops, const Actor *actor, const JournalPut *puts, size_t count,
                       Arena *arena, JournalPutAnswer *ret_answers, Reason *reason)
{
    Journals *journals;
    JournalAnswer *answers = ARENA_ARRAY(arena, count, JournalAnswer);
    TRY(journal_admit(ops, actor, puts[0].journal, JOURNAL_RIGHT_PUT, reason));
    TRY(operations_journals(ops, &journals, reason));
    Status status = journal_put_many(journals, puts, count, answers, reason);
    bool is_any_done = false;
    for (size_t i = 0; i < count; i++) {
        bool is_done = answers[i].status == STATUS_OK;
        is_any_done |= is_done;
        ret_answers[i] = (JournalPutAnswer){
            .status = answers[i].status,
            .outcome = is_done ? JOURNAL_OUTCOME_WORDS[answers[i].outcome]
                               : status_name(answers[i].status),
            .id = is_done ? answers[i].id : 0,
            .process = is_done ? journal_moment(answers[i].process_ms, arena) : SLICE_EMPTY};
    }
    return is_any_done ? STATUS_OK : status;
}

/* ---- The command ---------------------------------------------------------------------------------------------------------------- */

typedef struct JournalPutRequest {
    Slice journal, data, key, priority;
    InputStream file;
    int64_t delay_s, expire_s;
} JournalPutRequest;

static Status journal_put_one(Operations *ops, const Actor *actor, const JournalPutRequest *request,
                              Arena *arena, JournalPutAnswer *ret_answer, Reason *reason)
{
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
    if (request->file.path != NULL)
        TRY(disk_read(ops->app->world.disk, request->file.path, JOURNAL_DATA_MAX, arena, &put.data,
                      reason));
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
        INPUT("data", JournalPutRequest, data, SECRET, .operand = true, .optional = true, .most = 1 << 20, .value = "DATA", .help = "What the worker gets."),
        INPUT("key", JournalPutRequest, key, LINE, .fallback = "", .most = JOURNAL_KEY_MAX, .help = "What merges: of a key at most one entry waits."),
        INPUT("priority", JournalPutRequest, priority, LINE, .fallback = "", .most = 20, .value = "P", .help = "A number, the smallest first, or a word such as NOW or SLOW."),
        INPUT("delay", JournalPutRequest, delay_s, NUMBER, .fallback = "0", .least = 0, .most = INT32_MAX, .value = "SECONDS", .help = "Not due before so many seconds."),
        INPUT("expire", JournalPutRequest, expire_s, NUMBER, .fallback = "0", .least = 0, .most = INT32_MAX, .value = "SECONDS", .help = "Forgotten after so many seconds; 0: what the journal says."),
        INPUT("file", JournalPutRequest, file, STREAM, .optional = true, .value = "FILE", .help = "Its content is the data."),
    });
/* clang-format on */
