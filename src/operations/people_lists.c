/* people_lists.c -- whole lists of people: inviting them, putting them on the roll or taking them off, clearing it.
 *
 * Each is in the audit log before it is done. A list that was cut off by a crash, UNKNOWN or UNAVAILABLE is sent again as a whole: what
 * went in before changes nothing, and nobody gets a second e-mail (electorate/roll.h, app/invite.h). A broken line is left out and
 * reported. */
#include "operations/electorate.h"
#include "operations/schema_macros.h"

/* clang-format off */
static const ApiMember LIST_FAULT[] = {
    FIELD("line", ListFault, line, .help = "Its number, from 1."),
    FIELD("rule", ListFault, rule, .help = "What is wrong."),
};
SCHEMA(ADMIN_LIST_FAULT, "AdminListFault", ListFault, LIST_FAULT, .help = "A line that was left out.");

static const ApiMember LIST_REPORT[] = {
    FIELD("lines", ListReport, lines, .help = "Lines that were looked at."),
    FIELD("good", ListReport, good, .help = "That went in."),
    FIELD("again", ListReport, again, .help = "Of these, that had been before, where that is known."),
    FIELD("bad", ListReport, faults, .help = "That were left out."),
    MANY("faults", API_SOME, ListReport, told, told_count, &SCHEMA_ADMIN_LIST_FAULT, .help = "The first hundred of them."),
};
SCHEMA(ADMIN_LIST, "AdminList", ListReport, LIST_REPORT, .help = "What came of a list of people.");
/* clang-format on */

typedef enum RollWord { WORD_ADD, WORD_REMOVE } RollWord;

typedef struct PeopleLines {
    InputStream lines;
    Slice file; /* of a form that has both */
    Slice reason;
    RollWord act;
    int64_t days;
} PeopleLines;

/* Where the lines come from: a file, which is read piece by piece, or text. */
typedef struct LineSource {
    PeopleText text;
    PeopleFile file;
    PeopleList list;
} LineSource;

static Status begin_lines(Operations *ops, const PeopleLines *request, Arena *piece,
                          LineSource *source, Reason *reason)
{
    Slice typed = request->lines.text, chosen = request->file;
    bool has_typed = slice_trim(typed).size > 0, has_chosen = slice_trim(chosen).size > 0;
    source->list = (PeopleList){.bytes = SLICE_EMPTY};
    if (request->lines.path != NULL) {
        source->file =
            (PeopleFile){.disk = ops->app->world.disk, .path = request->lines.path, .arena = piece};
        source->list.source = people_from_file(&source->file);
        return STATUS_OK;
    }
    if (!has_typed && !has_chosen)
        return reason_set(reason, STATUS_INVALID, "lines", "there is no line in it");
    if (has_typed && has_chosen)
        return reason_set(reason, STATUS_INVALID, "lines", "type lines or choose a file, not both");
    source->text.text = has_typed ? typed : chosen;
    source->list.source = people_from_text(&source->text);
    return STATUS_OK;
}

static void print_report(const ListReport *report, const char *done, Buffer *out)
{
    for (size_t i = 0; i < report->told_count; i++)
        buffer_print(out, "line %llu: %.*s\n", (unsigned long long)report->told[i].line,
                     SLICE_ARG(report->told[i].rule));
    buffer_print(out, "%llu %s, %llu lines left out\n", (unsigned long long)report->good, done,
                 (unsigned long long)report->faults);
}

/* ---- Inviting ----------------------------------------------------------------------------------------------------------------- */

/* A request that waits has a bound; a file has none. */
static Status invite_import(Operations *ops, const Actor *actor, const PeopleLines *request,
                            Arena *arena, ListReport *ret_report, Reason *reason)
{
    ARENA_SCOPE Arena *piece = arena_new();
    LineSource source;
    Id id;
    InviteHow how = how_to_invite(ops, actor, request->days);
    AuditAct act = {.kind = AUDIT_INVITE, .reason = request->reason, .details = SLICE("a list")};
    how.most = request->lines.path != NULL ? 0 : INVITES_AT_ONCE;
    TRY(begin_lines(ops, request, piece, &source, reason));
    Status status = operation_audit(ops, actor, &act, &id, reason);
    if (status == STATUS_OK)
        status = operation_audit_end(
            ops, id, app_invite_all(ops->app, &how, &source.list, arena, ret_report, reason));
    people_list_end(&source.list);
    return status;
}

static void print_invites(const void *answer, Arena *arena, Buffer *out)
{
    (void)arena;
    print_report(answer, "people are invited", out);
}

/* clang-format off */
#define LIST_INPUTS                                                                                                                         \
    INPUT("lines", PeopleLines, lines, STREAM, .operand = true, .form_optional = true, .least = 1, .most = ROLL_BODY,                       \
          .help = "Lines as a spreadsheet saves them: e-mail, name."),                                                                      \
    INPUT("file", PeopleLines, file, FILE, .optional = true, .most = ROLL_BODY, .no_api = true, .no_command = true,                         \
          .help = "A file of such lines instead, as multipart/form-data."),                                                                 \
    REASON_NOT_ON_PAGE(PeopleLines)
#define LISTS FOR_ADMINS, .answers = &SCHEMA_ADMIN_LIST, .body_bytes = ROLL_BODY, .seconds = LIST_SECONDS, .files = true

OPERATION(invite_import, PeopleLines, ListReport, .help = "Invite everybody on a list; lines that are broken are named and left out.", LISTS,
    .audits = AUDITS(INVITE), .api = {WEB_POST, "admin/invitations/list", .tag = "admin"}, .page = {.path = "/admin/electorate/invites"},
    .command = {"invite import", .print = print_invites},
    .inputs = {
        LIST_INPUTS,
        INPUT("days", PeopleLines, days, NUMBER, .fallback = "30", .no_page = true, .least = 1, .most = INVITATION_DAYS_MAX, .help = "How many days the invitations work."),
    });
/* clang-format on */

/* ---- The roll ----------------------------------------------------------------------------------------------------------------- */

static Status change_roll(Operations *ops, const Actor *actor, RollEdit edit,
                          const PeopleLines *request, Arena *arena, ListReport *ret_report,
                          Reason *reason)
{
    ARENA_SCOPE Arena *piece = arena_new();
    LineSource source;
    Id id;
    AuditAct act = {.kind = AUDIT_ROLL_CHANGE,
                    .reason = request->reason,
                    .details = edit == ROLL_ADD ? SLICE("people were added")
                                                : SLICE("people were removed")};
    TRY(begin_lines(ops, request, piece, &source, reason));
    Status status = operation_audit(ops, actor, &act, &id, reason);
    if (status == STATUS_OK)
        status = operation_audit_end(
            ops, id,
            roll_change(ops->app->accounts, edit, &source.list, arena, ret_report, reason));
    people_list_end(&source.list);
    return status;
}

static Status roll_import(Operations *ops, const Actor *actor, const PeopleLines *request,
                          Arena *arena, ListReport *ret_report, Reason *reason)
{
    return change_roll(ops, actor, request->act == WORD_REMOVE ? ROLL_REMOVE : ROLL_ADD, request,
                       arena, ret_report, reason);
}

static Status roll_remove(Operations *ops, const Actor *actor, const PeopleLines *request,
                          Arena *arena, ListReport *ret_report, Reason *reason)
{
    return change_roll(ops, actor, ROLL_REMOVE, request, arena, ret_report, reason);
}

static void print_on(const void *answer, Arena *arena, Buffer *out)
{
    (void)arena;
    print_report(answer, "people are on the roll", out);
}

static void print_off(const void *answer, Arena *arena, Buffer *out)
{
    (void)arena;
    print_report(answer, "people are off the roll", out);
}

/* clang-format off */
static const char *const ROLL_WORDS[] = {[WORD_ADD] = "add", [WORD_REMOVE] = "remove", NULL};

OPERATION(roll_import, PeopleLines, ListReport, .help = "Put everybody of a list on the roll, as keyed hashes; again is fine.", LISTS,
    .audits = AUDITS(ROLL_CHANGE), .api = {WEB_POST, "admin/roll", .tag = "admin"}, .page = {.path = "/admin/electorate/roll"},
    .command = {"roll import", .print = print_on},
    .inputs = {
        LIST_INPUTS,
        INPUT("act", PeopleLines, act, WORD, .fallback = "add", .words = ROLL_WORDS, .no_command = true, .help = "remove takes them off."),
    });

OPERATION(roll_remove, PeopleLines, ListReport, .help = "Take everybody of a list off the roll.", LISTS, .audits = AUDITS(ROLL_CHANGE),
    .no_api = "admin/roll does it, with act", .no_page = "the form that puts people on the roll has a button for it",
    .command = {"roll remove", .print = print_off}, .inputs = {LIST_INPUTS});
/* clang-format on */

typedef struct RollClear {
    Slice reason;
} RollClear;

typedef struct RollCleared {
    uint64_t removed;
} RollCleared;

static Status roll_clear_all(Operations *ops, const Actor *actor, const RollClear *request,
                             Arena *arena, RollCleared *ret_cleared, Reason *reason)
{
    Id id;
    AuditAct act = {
        .kind = AUDIT_ROLL_CHANGE, .reason = request->reason, .details = SLICE("cleared")};
    (void)arena;
    TRY(operation_audit(ops, actor, &act, &id, reason));
    return operation_audit_end(ops, id, roll_clear(ops->app->accounts, &ret_cleared->removed));
}

/* clang-format off */
static const ApiMember CLEARED[] = {FIELD("removed", RollCleared, removed, .help = "People who were on it.")};
SCHEMA(ADMIN_ROLL_CLEARED, "AdminRollCleared", RollCleared, CLEARED, .help = "What came of clearing the roll.");

#define MACHINE "left to who has the machine, since nobody can read the roll to put it back"
OPERATION(roll_clear_all, RollClear, RollCleared, .help = "Take everybody off the roll.", FOR_ADMINS, .audits = AUDITS(ROLL_CHANGE),
    .answers = &SCHEMA_ADMIN_ROLL_CLEARED, .no_api = MACHINE, .no_page = MACHINE, .command = {.words = "roll clear"}, .inputs = {REASON_INPUT(RollClear)});
/* clang-format on */
