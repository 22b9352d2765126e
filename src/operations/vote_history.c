/* vote_history.c -- a voter's saves and salaries, the newest first. See vote_history.h. */
#include "operations/vote_history.h"

#include "operations/schema_macros.h"

/* clang-format off */
static const ApiMember CHANGE[] = {
    FIELD("policy", MyChange, policy.id, .help = "The policy."),
    FIELD("name", MyChange, policy.name, .help = "What it is called."),
    FIELD("before", MyChange, before, .help = "What the line held."),
    FIELD("held", MyChange, held, .help = "What it held then."),
};
SCHEMA(CHANGE, "Change", MyChange, CHANGE, .help = "A line that a save changed.");

static const ApiMember EVENT[] = {
    TIME("time", MyEvent, time_us, .help = "When it was."),
    FIELD("is_salary", MyEvent, is_salary, .help = "Whether it is a salary; else a save."),
    FIELD("pollies", MyEvent, pollies, .help = "Of the salary."),
    FIELD("seq", MyEvent, seq, OR_NULL, .help = "The number of the save."),
    FIELD("version", MyEvent, version, OR_NULL, .help = "Of the save."),
    FIELD("setting_version", MyEvent, setting_version, OR_NULL, .help = "Of the settings that the save was judged by."),
    FIELD("closing", MyEvent, closing, .help = "Whether it is the last, when the account was closed."),
    FIELD("created", MyEvent, created, OR_NULL, .help = "The policy that it created."),
    LIST("changes", MyEvent, changes, change_count, CHANGE, .help = "The lines that it changed."),
};
SCHEMA(EVENT, "Event", MyEvent, EVENT, .help = "A save or a salary.");

static const ApiMember MY_HISTORY[] = {
    LIST("events", MyHistory, events, count, EVENT, .help = "The newest first."),
    NEXT(MyHistory),
};
SCHEMA(MY_HISTORY, "MyHistory", MyHistory, MY_HISTORY, .help = "What somebody saved and earned.");
/* clang-format on */

/* ---- The view --------------------------------------------------------------------------------------------------------- */

/* The times that a page covers: after `from_us`, up to and including `to_us`. */
typedef struct Span {
    int64_t from_us, to_us;
} Span;

static Status event_of(Operations *ops, uint64_t voter, const Entry *entry, Arena *arena,
                       MyEvent *event)
{
    *event = (MyEvent){.time_us = entry->time_us,
                       .seq = entry->seq,
                       .version = entry->version,
                       .setting_version = entry->setting_version,
                       .closing = entry->closing,
                       .created = entry->created,
                       .changes = ARENA_ARRAY(arena, entry->change_count, MyChange),
                       .change_count = entry->change_count};
    for (size_t i = 0; i < entry->change_count; i++) {
        event->changes[i].before = entry->changes[i].before;
        event->changes[i].held = entry->changes[i].held;
        TRY(my_policy(ops, entry->changes[i].policy, voter, arena, &event->changes[i].policy));
    }
    return STATUS_OK;
}

/* Both lists have the newest first; a salary of the same moment was there before the save. */
static size_t merge(const MyEvent *saves, size_t save_count, const SalaryEntry *salaries,
                    size_t salary_count, MyEvent *events)
{
    size_t count = 0, save = 0, salary = 0;
    while (save < save_count || salary < salary_count) {
        bool takes_save = salary == salary_count ||
                          (save < save_count && saves[save].time_us >= salaries[salary].time_us);
        if (takes_save) {
            events[count++] = saves[save++];
        } else {
            events[count++] = (MyEvent){.time_us = salaries[salary].time_us,
                                        .is_salary = true,
                                        .pollies = salaries[salary].pollies};
            salary++;
        }
    }
    return count;
}

static Status salaries_in(Operations *ops, const Account *account, Span span, Arena *arena,
                          SalaryEntry **ret_entries, size_t *ret_count)
{
    SettingsHistory settings;
    SalaryEntry *entries = ARENA_ARRAY(arena, MY_SALARIES_MAX, SalaryEntry);
    TRY(settings_read(accounts_settings(ops->app->accounts), arena, &settings));
    size_t count =
        salary_entries(&settings, account->registered_us, span.to_us, entries, MY_SALARIES_MAX);
    while (count > 0 && entries[count - 1].time_us <= span.from_us)
        count--;
    *ret_entries = entries;
    *ret_count = count;
    return STATUS_OK;
}

/* One entry more at each end says where the page's time begins and ends. */
Status my_history(Operations *ops, const Account *account, const VoteHistory *request, Arena *arena,
                  MyHistory *ret_history)
{
    uint64_t before = request->before;
    MyHistory history = {.now_us = clock_now_us(ops->app->world.clock), .next = SLICE_EMPTY};
    Span span = {INT64_MIN, history.now_us};
    Entry *entries;
    SalaryEntry *salaries;
    size_t count, salary_count;
    uint32_t limit = request->limit + 1 + (before > 0);
    TRY(votes_history(ops->app->votes, account->id, before > 0 ? before + 1 : 0, limit, arena,
                      &entries, &count));
    if (before > 0 && count > 0 && entries[0].seq == before) {
        span.to_us = entries[0].time_us;
        entries++;
        count--;
    }
    if (count > request->limit) {
        count = request->limit;
        span.from_us = entries[count - 1].time_us;
        history.before = entries[count - 1].seq;
        history.next = arena_print(arena, "/api/v1/me/history?before=%llu&limit=%u",
                                   (unsigned long long)history.before, request->limit);
    }
    TRY(salaries_in(ops, account, span, arena, &salaries, &salary_count));
    MyEvent *saves = ARENA_ARRAY(arena, count, MyEvent);
    for (size_t i = 0; i < count; i++)
        TRY(event_of(ops, account->id, &entries[i], arena, &saves[i]));
    history.events = ARENA_ARRAY(arena, count + salary_count, MyEvent);
    history.count = merge(saves, count, salaries, salary_count, history.events);
    *ret_history = history;
    return STATUS_OK;
}

/* ---- The operation ------------------------------------------------------------------------------------------------------ */

static Status vote_history(Operations *ops, const Actor *actor, const VoteHistory *request,
                           Arena *arena, MyHistory *ret_history, Reason *reason)
{
    (void)reason;
    return my_history(ops, actor->account, request, arena, ret_history);
}

static void print_history(const void *answer, Arena *arena, Buffer *out)
{
    const MyHistory *history = answer;
    for (size_t i = 0; i < history->count; i++) {
        const MyEvent *event = &history->events[i];
        Slice time = stamp_text(event->time_us, arena);
        if (event->is_salary)
            buffer_print(out, "%.*s  salary: %lld\n", SLICE_ARG(time), (long long)event->pollies);
        else
            buffer_print(out, "%.*s  save %llu%s\n", SLICE_ARG(time),
                         (unsigned long long)event->seq, event->closing ? ": account closed" : "");
        for (size_t j = 0; j < event->change_count; j++)
            buffer_print(out, "    policy %llu: %lld -> %lld\n",
                         (unsigned long long)event->changes[j].policy.id,
                         (long long)event->changes[j].before, (long long)event->changes[j].held);
    }
}

/* clang-format off */
OPERATION(vote_history, VoteHistory, MyHistory, .help = "List somebody's saves and salaries, the newest first.",
    .access = WEB_LOGIN, .asks = true, .shows = SHOWS(VOTES), .answers = &SCHEMA_MY_HISTORY,
    .api = {WEB_GET, "me/history", .tag = "me"}, .no_page = "/my/history shows it", .command = {"vote history", .print = print_history},
    .inputs = {
        INPUT("before", VoteHistory, before, ID, .optional = true, .value = "N", .help = "Saves before this number."),
        INPUT("limit", VoteHistory, limit, SMALL, .fallback = "20", .least = 1, .most = MY_HISTORY_MAX, .help = "At most this many saves."),
    });
/* clang-format on */
