/* journal_moves.c -- what admins do to journals by hand: requeueing, kicking and removing entries, pausing, reading the declaration again.
 *
 * All of it is in the audit log. A journal is this instance's; so is what is done to it. */
#include "operations/journals.h"
#include "operations/schema_macros.h"

typedef struct JournalMove {
    Slice journal, all;
    uint64_t id;
    InputTexts ids;
} JournalMove;

typedef struct JournalMoved {
    uint64_t count, missing;
} JournalMoved;

/* clang-format off */
static const ApiMember MOVED_MEMBERS[] = {
    FIELD("moved", JournalMoved, count, .help = "How many entries it was done to."),
    FIELD("missing", JournalMoved, missing, .help = "How many were not there, or not in a state for it."),
};
SCHEMA(JOURNAL_MOVED, "JournalMoved", JournalMoved, MOVED_MEMBERS, .help = "What was done to entries.");
/* clang-format on */

typedef Status MoveCall(Journals *journals, JournalStep *steps, size_t count, Reason *reason);

/* ---- Entries ---------------------------------------------------------------------------------------------------------------- */

static Status begin_audit(Operations *ops, const Actor *actor, Slice details, Id *ret_id,
                          Reason *reason)
{
    return operation_audit(ops, actor, &(AuditAct){.kind = AUDIT_JOURNAL, .details = details},
                           ret_id, reason);
}

static Status read_ids(const JournalMove *request, Arena *arena, JournalStep **ret_steps,
                       size_t *ret_count, Reason *reason)
{
    size_t count = request->id != 0 ? 1 : request->ids.count;
    JournalStep *steps = ARENA_ARRAY(arena, count + 1, JournalStep);
    for (size_t i = 0; i < count; i++) {
        steps[i] = (JournalStep){.id = request->id, .error = SLICE_EMPTY};
        if (request->id == 0 && slice_to_u64(request->ids.texts[i], &steps[i].id) != STATUS_OK)
            return reason_set(reason, STATUS_INVALID, "ids", "are numbers of entries");
    }
    if (count == 0)
        return reason_set(reason, STATUS_INVALID, "ids", "say which");
    *ret_steps = steps;
    *ret_count = count;
    return STATUS_OK;
}

/* Each entry's journal is judged before anything is done to one of them. */
static Status admit_entries(Operations *ops, const Actor *actor, Slice journal, JournalStep *steps,
                            size_t count, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Journals *journals;
    TRY(operations_journals(ops, &journals, reason));
    if (journal.size > 0)
        TRY(journal_admit(ops, actor, journal, JOURNAL_RIGHT_ADMIN, reason));
    for (size_t i = 0; i < count; i++) {
        JournalView view;
        arena_reset(arena);
        Status status = journal_get(journals, steps[i].id, arena, &view, reason);
        if (status == STATUS_NOT_FOUND)
            continue;
        TRY(status);
        if (journal.size > 0 && !slice_equal(journal, view.journal))
            return reason_set(reason, STATUS_NOT_FOUND, "id", "this journal has no such entry");
        TRY(journal_admit(ops, actor, view.journal, JOURNAL_RIGHT_ADMIN, reason));
    }
    return STATUS_OK;
}

static Status move_steps(Operations *ops, MoveCall *call, JournalStep *steps, size_t count,
                         JournalMoved *moved, Reason *reason)
{
    Journals *journals;
    Reason why = {0};
    TRY(operations_journals(ops, &journals, reason));
    (void)!call(journals, steps, count, &why);
    for (size_t i = 0; i < count; i++) {
        if (steps[i].status != STATUS_OK && steps[i].status != STATUS_NOT_FOUND)
            return reason_set(reason, steps[i].status, why.field, "%s", why.rule);
        moved->count += steps[i].status == STATUS_OK;
        moved->missing += steps[i].status != STATUS_OK;
    }
    return STATUS_OK;
}

static Status move_entries(Operations *ops, const Actor *actor, const JournalMove *request,
                           const char *what, MoveCall *call, Arena *arena, JournalMoved *ret_moved,
                           Reason *reason)
{
    Id id;
    size_t count;
    JournalStep *steps;
    JournalMoved moved = {0};
    TRY(read_ids(request, arena, &steps, &count, reason));
    TRY(admit_entries(ops, actor, request->journal, steps, count, reason));
    Slice details = arena_print(arena, "%s %llu", what, (unsigned long long)steps[0].id);
    if (count > 1)
        details = arena_print(arena, "%.*s and %zu others", SLICE_ARG(details), count - 1);
    TRY(begin_audit(ops, actor, details, &id, reason));
    TRY(operation_audit_end(ops, id, move_steps(ops, call, steps, count, &moved, reason)));
    if (moved.count == 0 && count == 1)
        return reason_set(reason, STATUS_NOT_FOUND, "id",
                          "there is no such entry, or it is in no state for this");
    *ret_moved = moved;
    return STATUS_OK;
}

/* The whole dead list, page by page. */
static Status requeue_dead(Operations *ops, Slice journal, JournalMoved *moved, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Journals *journals;
    JournalList list = {.more = true};
    TRY(operations_journals(ops, &journals, reason));
    while (list.more) {
        uint64_t after = list.next;
        arena_reset(arena);
        TRY(journal_list(journals, journal, JOURNAL_FAILED, after, JOURNAL_MANY_MAX, arena, &list,
                         reason));
        JournalStep *steps = ARENA_ARRAY(arena, list.count + 1, JournalStep);
        for (size_t i = 0; i < list.count; i++)
            steps[i] = (JournalStep){.id = list.entries[i].id, .error = SLICE_EMPTY};
        if (list.count > 0)
            TRY(move_steps(ops, journal_requeue, steps, list.count, moved, reason));
    }
    return STATUS_OK;
}

static Status journal_requeue_all(Operations *ops, const Actor *actor, const JournalMove *request,
                                  Arena *arena, JournalMoved *ret_moved, Reason *reason)
{
    Id id;
    JournalMoved moved = {0};
    TRY(journal_admit(ops, actor, request->journal, JOURNAL_RIGHT_ADMIN, reason));
    TRY(begin_audit(ops, actor,
                    arena_print(arena, "requeue all of %.*s", SLICE_ARG(request->journal)), &id,
                    reason));
    TRY(operation_audit_end(ops, id, requeue_dead(ops, request->journal, &moved, reason)));
    *ret_moved = moved;
    return STATUS_OK;
}

static Status journal_requeue_some(Operations *ops, const Actor *actor, const JournalMove *request,
                                   Arena *arena, JournalMoved *ret_moved, Reason *reason)
{
    if (request->all.size == 0)
        return move_entries(ops, actor, request, "requeue", journal_requeue, arena, ret_moved,
                            reason);
    if (request->ids.count > 0)
        return reason_set(reason, STATUS_INVALID, "all", "either numbers, or --all NAME");
    JournalMove all = {.journal = request->all};
    return journal_requeue_all(ops, actor, &all, arena, ret_moved, reason);
}

static Status journal_kick_entry(Operations *ops, const Actor *actor, const JournalMove *request,
                                 Arena *arena, JournalMoved *ret_moved, Reason *reason)
{
    return move_entries(ops, actor, request, "kick", journal_kick, arena, ret_moved, reason);
}

static Status journal_remove_some(Operations *ops, const Actor *actor, const JournalMove *request,
                                  Arena *arena, JournalMoved *ret_moved, Reason *reason)
{
    return move_entries(ops, actor, request, "remove", journal_remove, arena, ret_moved, reason);
}

/* clang-format off */
#define MOVE JOURNAL_ADMIN, .audits = AUDITS(JOURNAL), .answers = &SCHEMA_JOURNAL_MOVED
#define ENTRY_INPUTS                                                                                                                    \
    INPUT("journal", JournalMove, journal, LINE, .least = 1, .most = JOURNAL_NAME_MAX, .no_command = true, .help = "The journal."),      \
    INPUT("id", JournalMove, id, ID, .no_command = true, .help = "The number of the entry.")
#define IDS(...) INPUT("ids", JournalMove, ids, TEXTS, .operand = true, .no_api = true, .no_page = true, .least = 1, .most = 20, .most_count = JOURNAL_MANY_MAX, .value = "ID…", .help = "Numbers of entries.", __VA_ARGS__)
OPERATION(journal_requeue_some, JournalMove, JournalMoved, .help = "Put entries of the dead list back to work.", MOVE,
    .api = {WEB_POST, "journals/{journal}/entries/{id}/requeue", .tag = "journals"}, .page = {"/admin/journals/{journal}/entries/{id}/requeue", "journal-requeued", "It waits again."},
    .command = {.words = "journal requeue"},
    .inputs = {ENTRY_INPUTS, IDS(.optional = true), INPUT("all", JournalMove, all, LINE, .fallback = "", .most = JOURNAL_NAME_MAX, .no_api = true, .no_page = true, .value = "NAME", .help = "All of this journal's.")});
OPERATION(journal_requeue_all, JournalMove, JournalMoved, .help = "Put the whole dead list of a journal back to work.", MOVE,
    .api = {WEB_POST, "journals/{journal}/requeue", .tag = "journals"}, .page = {"/admin/journals/{journal}/requeue", "journal-requeued-all", "All of them wait again."},
    .no_command = "journal requeue --all NAME does it",
    .inputs = {INPUT("journal", JournalMove, journal, LINE, .least = 1, .most = JOURNAL_NAME_MAX, .help = "The journal.")});
OPERATION(journal_kick_entry, JournalMove, JournalMoved, .help = "Requeue an entry, or make one of the future due now.", MOVE,
    .api = {WEB_POST, "journals/{journal}/entries/{id}/kick", .tag = "journals"}, .no_page = "the page has requeue", .command = {.words = "journal kick"},
    .inputs = {ENTRY_INPUTS, IDS()});
OPERATION(journal_remove_some, JournalMove, JournalMoved, .help = "Remove entries; one that is being worked on is not tried again.", MOVE,
    .api = {WEB_DELETE, "journals/{journal}/entries/{id}", .tag = "journals"}, .page = {"/admin/journals/{journal}/entries/{id}/remove", "journal-removed", "It is removed."},
    .command = {.words = "journal remove"}, .inputs = {ENTRY_INPUTS, IDS()});
/* clang-format on */

/* ---- Journals --------------------------------------------------------------------------------------------------------------- */

typedef struct JournalPause {
    Slice journal;
    int64_t seconds;
} JournalPause;

/* What is done to a whole journal: seconds 0 ends a pause. */
static Status pause_for(Operations *ops, const Actor *actor, const JournalPause *request,
                        Arena *arena, JournalShown *ret_shown, Reason *reason)
{
    Id id;
    Journals *journals;
    int64_t seconds = request->seconds;
    TRY(journal_admit(ops, actor, request->journal, JOURNAL_RIGHT_ADMIN, reason));
    TRY(operations_journals(ops, &journals, reason));
    TRY(begin_audit(ops, actor,
                    arena_print(arena, "%s %.*s", seconds > 0 ? "pause" : "resume",
                                SLICE_ARG(request->journal)),
                    &id, reason));
    Status status = seconds > 0 ? journal_pause(journals, request->journal, seconds * 1000, reason)
                                : journal_resume(journals, request->journal, reason);
    TRY(operation_audit_end(ops, id, status));
    operation_done();
    return journal_shown(ops, request->journal, arena, ret_shown, reason);
}

static Status journal_pause_one(Operations *ops, const Actor *actor, const JournalPause *request,
                                Arena *arena, JournalShown *ret_shown, Reason *reason)
{
    return pause_for(ops, actor, request, arena, ret_shown, reason);
}

static Status journal_resume_one(Operations *ops, const Actor *actor, const JournalPause *request,
                                 Arena *arena, JournalShown *ret_shown, Reason *reason)
{
    JournalPause end = {.journal = request->journal};
    return pause_for(ops, actor, &end, arena, ret_shown, reason);
}

static Status journal_reload(Operations *ops, const Actor *actor, const Nothing *request,
                             Arena *arena, JournalsShown *ret_shown, Reason *reason)
{
    Id id;
    (void)request;
    TRY(begin_audit(ops, actor, SLICE("reload"), &id, reason));
    TRY(operation_audit_end(ops, id, app_journals_reload(ops->app, reason)));
    operation_done();
    return journals_shown(ops, actor, arena, ret_shown, reason);
}

/* clang-format off */
#define PAUSE JOURNAL_ADMIN, .audits = AUDITS(JOURNAL), .answers = &SCHEMA_JOURNAL
#define PAUSED INPUT("journal", JournalPause, journal, LINE, .operand = true, .least = 1, .most = JOURNAL_NAME_MAX, .value = "NAME", .help = "The journal.")
OPERATION(journal_pause_one, JournalPause, JournalShown, .help = "Hand out nothing of a journal for a while; it still takes puts.", PAUSE,
    .api = {WEB_POST, "journals/{journal}/pause", .tag = "journals"}, .page = {"/admin/journals/{journal}/pause", "journal-paused", "The journal is paused."},
    .command = {.words = "journal pause"},
    .inputs = {PAUSED, INPUT("seconds", JournalPause, seconds, NUMBER, .operand = true, .least = 1, .most = JOURNAL_PAUSE_MAX_S, .value = "SECONDS", .help = "How long.")});
OPERATION(journal_resume_one, JournalPause, JournalShown, .help = "End a journal's pause.", PAUSE,
    .api = {WEB_POST, "journals/{journal}/resume", .tag = "journals"}, .page = {"/admin/journals/{journal}/resume", "journal-resumed", "The journal hands out entries again."},
    .command = {.words = "journal resume"}, .inputs = {PAUSED});
OPERATION(journal_reload, Nothing, JournalsShown, .help = "Read the file that declares journals again (journal_file).",
    .access = WEB_ROLE, .roles = 1u << ROLE_ADMIN, .threads = WEB_SAVE, .audits = AUDITS(JOURNAL), .answers = &SCHEMA_JOURNALS,
    .api = {WEB_POST, "journals/reload", .tag = "journals"}, .page = {"/admin/journals/reload", "journal-reloaded", "The declaration was read again."},
    .command = {.words = "journal reload"});
/* clang-format on */
