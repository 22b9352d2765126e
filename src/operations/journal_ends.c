/* journal_ends.c -- what a worker says of the entries that it has claimed, by their tokens: still at it, done, given back, failed, buried.
 *
 * A token is a secret of whoever claimed, so it is enough together with the right to claim. On a command line no journal is named: that is for
 * admins and the operator. */
#include "operations/journals.h"
#include "operations/schema_macros.h"

typedef struct JournalEnds {
    Slice journal;
    InputTexts tokens;
    Slice priority, process_at, error;
    int64_t delay_ms, delay_s, lease_ms;
} JournalEnds;

typedef struct JournalEnd {
    Slice token;
    const char *outcome;
} JournalEnd;

typedef struct JournalEnded {
    JournalEnd *ends;
    size_t count;
    Status status; /* of the only one */
} JournalEnded;

/* clang-format off */
static const ApiMember END_MEMBERS[] = {
    FIELD("token", JournalEnd, token, .help = "As it was sent."),
    FIELD("outcome", JournalEnd, outcome, .help = "ok, or lost: the token is of no use any more, and nothing was changed."),
};
SCHEMA(JOURNAL_END, "JournalEnd", JournalEnd, END_MEMBERS, .help = "What became of one token.");
static const ApiMember ENDED_MEMBERS[] = {
    LIST("outcomes", JournalEnded, ends, count, JOURNAL_END, .help = "In the order of the tokens."),
};
SCHEMA(JOURNAL_ENDED, "JournalEnded", JournalEnded, ENDED_MEMBERS, .tells_failure = true,
       .help = "What became of the tokens. 409 where there was one, and it is lost.");
/* clang-format on */

typedef Status EndCall(Journals *journals, JournalStep *steps, size_t count, Reason *reason);

static Status read_steps(Operations *ops, const JournalEnds *request, JournalStep *steps,
                         Reason *reason)
{
    JournalStep step = {.error = request->error, .has_priority = request->priority.size > 0};
    int64_t delay_ms = request->delay_ms + request->delay_s * 1000;
    if (step.has_priority)
        TRY(journal_priority_from(request->priority, "priority", &step.priority, reason));
    if (request->process_at.size > 0)
        TRY(journal_moment_from(request->process_at, "process_at", &step.ms, reason));
    else if (delay_ms > 0)
        step.ms = clock_now_us(ops->app->world.clock) / US_PER_MS + delay_ms;
    if (request->lease_ms > 0)
        step.ms = request->lease_ms;
    for (size_t i = 0; i < request->tokens.count; i++) {
        steps[i] = step;
        if (journal_token_from_text(request->tokens.texts[i], &steps[i].token) != STATUS_OK)
            return reason_set(reason, STATUS_INVALID, "tokens",
                              "each is %d hexadecimal digits, as a claim gave it",
                              JOURNAL_TOKEN_TEXT);
    }
    return STATUS_OK;
}

static Status admit(Operations *ops, const Actor *actor, const JournalEnds *request, Reason *reason)
{
    if (request->journal.size > 0)
        return journal_admit(ops, actor, request->journal, JOURNAL_RIGHT_CLAIM, reason);
    if (actor_has(actor, 1u << ROLE_ADMIN))
        return STATUS_OK;
    return reason_set(reason, STATUS_DENIED, "", "this is for admins");
}

/* Each token has its own outcome; what concerns all of them is a failure. */
static Status end_all(Operations *ops, const Actor *actor, const JournalEnds *request,
                      EndCall *call, Arena *arena, JournalEnded *ret_ended, Reason *reason)
{
    Journals *journals;
    size_t count = request->tokens.count;
    JournalStep *steps = ARENA_ARRAY(arena, count, JournalStep);
    Reason why = {0};
    TRY(admit(ops, actor, request, reason));
    TRY(operations_journals(ops, &journals, reason));
    if (count == 0)
        return reason_set(reason, STATUS_INVALID, "tokens", "say which");
    TRY(read_steps(ops, request, steps, reason));
    Status status = call(journals, steps, count, &why);
    JournalEnded ended = {.ends = ARENA_ARRAY(arena, count, JournalEnd), .count = count};
    for (size_t i = 0; i < count; i++) {
        bool is_lost = steps[i].status == STATUS_CONFLICT;
        if (steps[i].status != STATUS_OK && !is_lost)
            return reason_set(reason, steps[i].status, why.field, "%s", why.rule);
        ended.ends[i] = (JournalEnd){request->tokens.texts[i], is_lost ? "lost" : "ok"};
    }
    ended.status = count == 1 ? status : STATUS_OK;
    if (ended.status == STATUS_CONFLICT)
        (void)reason_set(reason, STATUS_OK, "tokens",
                         "lost: the lease is over, or the entry was ended");
    *ret_ended = ended;
    return STATUS_OK;
}

static Status outcome(const void *answer)
{
    return ((const JournalEnded *)answer)->status;
}

#define END(name)                                                                      \
    static Status journal_end_##name(Operations *ops, const Actor *actor,              \
                                     const JournalEnds *request, Arena *arena,         \
                                     JournalEnded *ret_ended, Reason *reason)          \
    {                                                                                  \
        return end_all(ops, actor, request, journal_##name, arena, ret_ended, reason); \
    }
END(extend)
END(done)
END(release)
END(fail)
END(bury)

/* clang-format off */
#define END_ROW(name) JOURNAL_ANYBODY, .admits = journal_admits_claim, JOURNAL_WORK, .answers = &SCHEMA_JOURNAL_ENDED, .outcome = outcome,                                \
    .api = {WEB_POST, "journals/{journal}/" #name, .tag = "journals"}, .no_page = "it is the work of programs", .command = {.words = "journal " #name}
#define END_INPUTS                                                                                                                      \
    INPUT("journal", JournalEnds, journal, LINE, .least = 1, .most = JOURNAL_NAME_MAX, .no_command = true, .help = "The journal."),      \
    INPUT("tokens", JournalEnds, tokens, TEXTS, .operand = true, .least = JOURNAL_TOKEN_TEXT, .most = JOURNAL_TOKEN_TEXT, .most_count = JOURNAL_MANY_MAX, .value = "TOKEN…", .help = "Of the entries, as claims gave them.")
#define PRIORITY INPUT("priority", JournalEnds, priority, LINE, .fallback = "", .most = 20, .or_number = true, .value = "P", .help = "From now on; a number or a word. Left out: as it was.")
OPERATION(journal_end_extend, JournalEnds, JournalEnded, .help = "Say that you are still at it: the lease runs anew.", END_ROW(extend),
    .inputs = {
        END_INPUTS,
        INPUT("lease_ms", JournalEnds, lease_ms, NUMBER, .fallback = "0", .least = 0, .most = S_PER_DAY * 1000, .help = "How long from now; 0: as it was claimed.")});
OPERATION(journal_end_done, JournalEnds, JournalEnded, .help = "Say that entries are done.", END_ROW(done), .inputs = {END_INPUTS});
OPERATION(journal_end_release, JournalEnds, JournalEnded, .help = "Give entries back, to be worked on again; no failure is counted.", END_ROW(release),
    .inputs = {
        END_INPUTS, PRIORITY,
        INPUT("process_at", JournalEnds, process_at, LINE, .fallback = "", .most = 40, .no_command = true, .help = "When they are due."),
        INPUT("delay_ms", JournalEnds, delay_ms, NUMBER, .fallback = "0", .least = 0, .most = INT64_C(31622400000), .no_command = true, .help = "The same, from now."),
        INPUT("delay", JournalEnds, delay_s, NUMBER, .fallback = "0", .least = 0, .most = 31622400, .no_api = true, .value = "SECONDS", .help = "They are due in so many seconds.")});
OPERATION(journal_end_fail, JournalEnds, JournalEnded, .help = "Say that a run failed: the entry is tried again later, or given up after its limit.", END_ROW(fail),
    .inputs = {END_INPUTS, INPUT("error", JournalEnds, error, TEXT, .fallback = "", .most = JOURNAL_ERROR_MAX, .help = "Why.")});
OPERATION(journal_end_bury, JournalEnds, JournalEnded, .help = "Put entries on the dead list at once, without an alert.", END_ROW(bury), .inputs = {END_INPUTS, PRIORITY});
/* clang-format on */
