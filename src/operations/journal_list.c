/* journal_list.c -- looking at journals: all of them, one, its entries, one entry. Nothing here changes anything. */
#include "operations/journals.h"
#include "operations/schema_macros.h"
#include "web/put.h"

/* clang-format off */
static const ApiMember JOURNAL_MEMBERS[] = {
    FIELD("name", JournalShown, name, .help = "What it is called."),
    FIELD("waiting", JournalShown, stats.waiting, .help = "Entries that wait (W)."),
    FIELD("due", JournalShown, stats.due, .help = "Of these, due now; counted up to a bound."),
    FIELD("processing", JournalShown, stats.processing, .help = "Entries that somebody works on (P)."),
    FIELD("held", JournalShown, stats.held, .help = "Successors of these (H)."),
    FIELD("dead", JournalShown, stats.failed, .help = "Entries that were given up (F)."),
    FIELD("waiters", JournalShown, stats.waiters, .help = "Claims that wait."),
    FIELD("bytes", JournalShown, stats.bytes, .help = "Keys and data of all entries."),
    FIELD("oldest_due", JournalShown, oldest_due, OR_NULL, .help = "Since when the oldest that is due has been."),
    FIELD("next", JournalShown, next, OR_NULL, .help = "When the next is due."),
    FIELD("paused_s", JournalShown, paused_s, .help = "What is left of a pause, in seconds; 0: it is not paused."),
#define X(name, label, text) FIELD("total_" #label, JournalShown, stats.counters[JOURNAL_COUNT_##name], .help = text),
    JOURNAL_COUNTER_LIST(X)
#undef X
};
SCHEMA(JOURNAL, "Journal", JournalShown, JOURNAL_MEMBERS, .help = "A journal: what is in it now, and since it was first used what happened (total_…).");

static const ApiMember JOURNALS_MEMBERS[] = {
    LIST("journals", JournalsShown, journals, count, JOURNAL, .help = "By name; none while they cannot be read."),
    FIELD("writable", JournalsShown, is_writable, .help = "False: they take nothing, after an error of the disk, and try to open again."),
    FIELD("trouble", JournalsShown, trouble, OR_NULL, .help = "Why."),
};
SCHEMA(JOURNALS, "Journals", JournalsShown, JOURNALS_MEMBERS, .help = "The journals of this instance.");

static const ApiMember ENTRY_MEMBERS[] = {
    FIELD("id", JournalEntry, view.id, .help = "Its number, never given twice."),
    FIELD("journal", JournalEntry, view.journal, .help = "The journal."),
    FIELD("state", JournalEntry, state_word, .help = "W waiting, P processing, H held back behind a run, F failed for good."),
    FIELD("priority", JournalEntry, view.priority, .help = "The smallest goes first."),
    FIELD("key", JournalEntry, key.text, WHEN(JournalEntry, key.is_text), .help = "Its key; null: it is no text, or a list, which has none."),
    FIELD("key64", JournalEntry, key.base64, OR_NULL, .help = "The key as base64, where it is no text."),
    FIELD("data", JournalEntry, data.text, WHEN(JournalEntry, data.is_text), .help = "Its data, as the key."),
    FIELD("data64", JournalEntry, data.base64, OR_NULL, .help = "The data as base64, where it is no text."),
    FIELD("data_bytes", JournalEntry, view.data_bytes, .help = "How large the data is."),
    FIELD("process_at", JournalEntry, process, OR_NULL, .help = "When it is due."),
    FIELD("inserted_at", JournalEntry, inserted, OR_NULL, .help = "When it was put, by the client's clock."),
    FIELD("expires_at", JournalEntry, expires, OR_NULL, .help = "When it is forgotten; null: never."),
    FIELD("updated_at", JournalEntry, updated, OR_NULL, .help = "Of the newest put."),
    FIELD("started_at", JournalEntry, started, OR_NULL, .help = "When the last run began."),
    FIELD("lease_ms", JournalEntry, view.lease_ms, .help = "How long a run may take."),
    FIELD("left_ms", JournalEntry, view.left_ms, .help = "What is left of the lease."),
    FIELD("timeouts", JournalEntry, view.timeouts, .help = "Runs that failed or lapsed since the last put."),
    FIELD("timeouts_ever", JournalEntry, view.timeouts_ever, .help = "The same ever."),
    FIELD("runs", JournalEntry, view.reserves, .help = "Runs that were begun."),
    FIELD("version", JournalEntry, view.version, .help = "Grows with each change of data."),
    FIELD("error", JournalEntry, error, OR_NULL, .help = "Of the last run that failed."),
};
SCHEMA(JOURNAL_ENTRY, "JournalEntry", JournalEntry, ENTRY_MEMBERS, .help = "An entry of a journal.");

static const ApiMember ENTRIES_MEMBERS[] = {
    LIST("entries", JournalEntries, entries, count, JOURNAL_ENTRY, .help = "By number, without keys and data."),
    NEXT(JournalEntries),
};
SCHEMA(JOURNAL_ENTRIES, "JournalEntries", JournalEntries, ENTRIES_MEMBERS, .help = "Entries of a journal.");
/* clang-format on */

/* ---- Journals ------------------------------------------------------------------------------------------------------------------- */

Status journal_shown(Operations *ops, Slice name, Arena *arena, JournalShown *ret_shown,
                     Reason *reason)
{
    Journals *journals;
    JournalShown shown = {.name = name};
    int64_t now_ms = clock_now_us(ops->app->world.clock) / US_PER_MS;
    TRY(operations_journals(ops, &journals, reason));
    TRY(journal_stats(journals, name, &shown.stats, reason));
    shown.oldest_due = journal_moment(shown.stats.oldest_due_ms, arena);
    shown.next = journal_moment(shown.stats.next_ms, arena);
    if (shown.oldest_due.size > 0 && shown.stats.oldest_due_ms < now_ms)
        shown.oldest_due_s = (now_ms - shown.stats.oldest_due_ms) / 1000;
    shown.paused_s = (shown.stats.pause_left_ms + 999) / 1000;
    shown.is_own = slice_starts_with(name, SLICE(APP_JOURNAL_PREFIX));
    *ret_shown = shown;
    return STATUS_OK;
}

static bool may_see(Operations *ops, const Actor *actor, Slice name)
{
    return journal_may(ops, actor, name, JOURNAL_RIGHT_ADMIN) ||
           journal_may(ops, actor, name, JOURNAL_RIGHT_PUT) ||
           journal_may(ops, actor, name, JOURNAL_RIGHT_CLAIM);
}

static Status show_all(Operations *ops, Journals *journals, const Actor *actor, Arena *arena,
                       JournalsShown *shown, Reason *reason)
{
    Slice *names;
    size_t count;
    TRY(journal_names(journals, arena, &names, &count, reason));
    shown->journals = ARENA_ARRAY(arena, count, JournalShown);
    for (size_t i = 0; i < count; i++) {
        if (!may_see(ops, actor, names[i]))
            continue;
        Status status = journal_shown(ops, names[i], arena, &shown->journals[shown->count], reason);
        if (status == STATUS_NOT_FOUND) /* one on use that has gone meanwhile */
            continue;
        TRY(status);
        shown->count++;
    }
    return STATUS_OK;
}

Status journals_shown(Operations *ops, const Actor *actor, Arena *arena, JournalsShown *ret_shown,
                      Reason *reason)
{
    Journals *journals;
    JournalsHealth health;
    JournalsShown shown = {.trouble = SLICE_EMPTY};
    TRY(operations_journals(ops, &journals, reason));
    journals_health(journals, &health);
    Status status = show_all(ops, journals, actor, arena, &shown, reason);
    if (status == STATUS_UNAVAILABLE && !health.writable) /* while it opens again */
        shown.count = 0;
    else
        TRY(status);
    shown.is_writable = health.writable;
    if (!health.writable) /* the reason names files */
        shown.trouble = actor_has(actor, 1u << ROLE_ADMIN)
                            ? arena_copy(arena, slice_from(health.reason))
                            : SLICE("their files cannot be written at this moment");
    *ret_shown = shown;
    return STATUS_OK;
}

static Status journal_list_all(Operations *ops, const Actor *actor, const Nothing *request,
                               Arena *arena, JournalsShown *ret_shown, Reason *reason)
{
    (void)request;
    return journals_shown(ops, actor, arena, ret_shown, reason);
}

typedef struct OneJournal {
    Slice journal;
} OneJournal;

static Status admits_sight(Operations *ops, const Actor *actor, Slice first, Reason *reason)
{
    return may_see(ops, actor, first) /* else the reason is that of the least */
               ? STATUS_OK
               : journal_admit(ops, actor, first, JOURNAL_RIGHT_CLAIM, reason);
}

static Status journal_stats_of(Operations *ops, const Actor *actor, const OneJournal *request,
                               Arena *arena, JournalShown *ret_shown, Reason *reason)
{
    TRY(admits_sight(ops, actor, request->journal, reason));
    return journal_shown(ops, request->journal, arena, ret_shown, reason);
}

/* ---- Entries -------------------------------------------------------------------------------------------------------------------- */

static JournalEntry entry_of(const JournalView *view, bool has_content, Arena *arena)
{
    JournalEntry entry = {.view = *view,
                          .state = {(char)view->state, '\0'},
                          .has_content = has_content,
                          .inserted = journal_moment(view->insertion_ms, arena),
                          .process = journal_moment(view->process_ms, arena),
                          .expires = journal_moment(view->expiration_ms, arena),
                          .updated = journal_moment(view->update_ms, arena),
                          .started = journal_moment(view->start_ms, arena),
                          .error = journal_bytes(view->error, arena).text,
                          .key = {SLICE_EMPTY, SLICE_EMPTY, false},
                          .data = {SLICE_EMPTY, SLICE_EMPTY, false}};
    for (size_t i = 0; JOURNAL_STATE_WORDS[i] != NULL; i++)
        if (JOURNAL_STATE_WORDS[i][0] == entry.state[0])
            entry.state_word = JOURNAL_STATE_WORDS[i];
    if (has_content) {
        entry.key = journal_bytes(view->key, arena);
        entry.data = journal_bytes(view->data, arena);
    }
    return entry;
}

Status journal_entries_read(Operations *ops, const JournalEntryQuery *query, Arena *arena,
                            JournalEntries *ret_entries, Reason *reason)
{
    Journals *journals;
    JournalList list;
    JournalState state = query->has_state ? (JournalState)JOURNAL_STATE_WORDS[query->state][0] : 0;
    TRY(operations_journals(ops, &journals, reason));
    TRY(journal_list(journals, query->journal, state, query->after, query->limit, arena, &list,
                     reason));
    JournalEntries entries = {.journal = query->journal,
                              .entries = ARENA_ARRAY(arena, list.count, JournalEntry),
                              .count = list.count,
                              .after = list.more ? list.next : 0,
                              .next = SLICE_EMPTY};
    for (size_t i = 0; i < list.count; i++)
        entries.entries[i] = entry_of(&list.entries[i], false, arena);
    if (list.more) {
        BUFFER_SCOPE Buffer name = {0};
        url_part_put(&name, query->journal);
        entries.next = arena_print(arena, "/api/v1/journals/%.*s/entries?after=%llu&limit=%u%s%s",
                                   SLICE_ARG(buffer_slice(&name)), (unsigned long long)list.next,
                                   query->limit, query->has_state ? "&state=" : "",
                                   query->has_state ? JOURNAL_STATE_WORDS[query->state] : "");
    }
    *ret_entries = entries;
    return STATUS_OK;
}

static Status journal_entries(Operations *ops, const Actor *actor, const JournalEntryQuery *request,
                              Arena *arena, JournalEntries *ret_entries, Reason *reason)
{
    TRY(journal_admit(ops, actor, request->journal, JOURNAL_RIGHT_ADMIN, reason));
    return journal_entries_read(ops, request, arena, ret_entries, reason);
}

static Status journal_dead(Operations *ops, const Actor *actor, const JournalEntryQuery *request,
                           Arena *arena, JournalEntries *ret_entries, Reason *reason)
{
    JournalEntryQuery query = *request;
    query.has_state = true;
    while (JOURNAL_STATE_WORDS[query.state][0] != JOURNAL_FAILED)
        query.state++;
    return journal_entries(ops, actor, &query, arena, ret_entries, reason);
}

typedef struct OneEntry {
    Slice journal; /* empty on a command line */
    uint64_t id;
} OneEntry;

static Status journal_entry(Operations *ops, const Actor *actor, const OneEntry *request,
                            Arena *arena, JournalEntry *ret_entry, Reason *reason)
{
    Journals *journals;
    JournalView view;
    TRY(operations_journals(ops, &journals, reason));
    if (request->journal.size > 0)
        TRY(journal_admit(ops, actor, request->journal, JOURNAL_RIGHT_ADMIN, reason));
    TRY(journal_get(journals, request->id, arena, &view, reason));
    if (request->journal.size > 0 && !slice_equal(view.journal, request->journal))
        return reason_set(reason, STATUS_NOT_FOUND, "id", "this journal has no such entry");
    TRY(journal_admit(ops, actor, view.journal, JOURNAL_RIGHT_ADMIN, reason));
    *ret_entry = entry_of(&view, true, arena);
    return STATUS_OK;
}

/* ---- The rows -------------------------------------------------------------------------------------------------------------------- */

/* clang-format off */
#define NAME_INPUT(type) INPUT("journal", type, journal, LINE, .operand = true, .least = 1, .most = JOURNAL_NAME_MAX, .value = "NAME", .help = "The journal.")
#define PAGE_INPUTS                                                                                                                     \
    INPUT("after", JournalEntryQuery, after, ID, .optional = true, .help = "Entries behind this number."),                            \
    INPUT("limit", JournalEntryQuery, limit, SMALL, .least = 1, .most = JOURNAL_PAGE_MAX, .fallback = "100", .help = "How many at most.")
OPERATION(journal_list_all, Nothing, JournalsShown, .help = "List the journals in which you have some right, with their counts.",
    JOURNAL_ANYBODY, .asks = true, .answers = &SCHEMA_JOURNALS,
    .api = {WEB_GET, "journals", .tag = "journals"}, .no_page = "/admin/journals shows them", .command = {.words = "journal list"});
OPERATION(journal_stats_of, OneJournal, JournalShown, .help = "Show a journal: its counts and figures.",
    JOURNAL_ANYBODY, .admits = admits_sight, .asks = true, .answers = &SCHEMA_JOURNAL,
    .api = {WEB_GET, "journals/{journal}", .tag = "journals"}, .no_page = "/admin/journals/{journal} shows them", .command = {.words = "journal stats"},
    .inputs = {NAME_INPUT(OneJournal)});
OPERATION(journal_entries, JournalEntryQuery, JournalEntries, .help = "List entries of a journal by number.",
    JOURNAL_ADMIN, .asks = true, .answers = &SCHEMA_JOURNAL_ENTRIES,
    .api = {WEB_GET, "journals/{journal}/entries", .tag = "journals"}, .no_page = "/admin/journals/{journal} shows them", .command = {.words = "journal entries"},
    .inputs = {NAME_INPUT(JournalEntryQuery),
        INPUT("state", JournalEntryQuery, state, WORD, .optional = true, .words = JOURNAL_STATE_WORDS, GIVEN(JournalEntryQuery, has_state), .help = "Only those: W waiting, P processing, H held, F failed."),
        PAGE_INPUTS});
OPERATION(journal_dead, JournalEntryQuery, JournalEntries, .help = "List the entries of a journal that were given up.",
    JOURNAL_ADMIN, .asks = true, .answers = &SCHEMA_JOURNAL_ENTRIES,
    .no_api = "entries with state=F lists them", .no_page = "/admin/journals/{journal} shows them", .command = {.words = "journal dead"},
    .inputs = {NAME_INPUT(JournalEntryQuery), PAGE_INPUTS});
OPERATION(journal_entry, OneEntry, JournalEntry, .help = "Show an entry, with its key and data.",
    JOURNAL_ADMIN, .asks = true, .answers = &SCHEMA_JOURNAL_ENTRY,
    .api = {WEB_GET, "journals/{journal}/entries/{id}", .tag = "journals"}, .no_page = "pages do not show what programs put", .command = {.words = "journal show"},
    .inputs = {INPUT("journal", OneEntry, journal, LINE, .least = 1, .most = JOURNAL_NAME_MAX, .no_command = true, .help = "The journal."),
        INPUT("id", OneEntry, id, ID, .operand = true, .help = "Its number.")});
/* clang-format on */
