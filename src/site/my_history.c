/* my_history.c -- /my/history: what somebody saved and earned, the newest first. */
#include "site/my_pages.h"
#include "site/pages.h"

/* ---- The view --------------------------------------------------------------------------------------------------------- */

/* The times that a page covers: after `from_us`, up to and including `to_us`. */
typedef struct Span {
    int64_t from_us, to_us;
} Span;

static Status event_of(Site *site, uint64_t voter, const Entry *entry, Arena *arena, MyEvent *event)
{
    *event = (MyEvent){.time_us = entry->time_us,
                       .seq = entry->seq,
                       .version = entry->version,
                       .closing = entry->closing,
                       .created = entry->created,
                       .changes = ARENA_ARRAY(arena, entry->change_count, MyChange),
                       .change_count = entry->change_count};
    for (size_t i = 0; i < entry->change_count; i++) {
        event->changes[i].before = entry->changes[i].before;
        event->changes[i].held = entry->changes[i].held;
        TRY(my_policy(site, entry->changes[i].policy, voter, arena, &event->changes[i].policy));
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

static Status salaries_in(Site *site, const Account *account, Span span, Arena *arena,
                          SalaryEntry **ret_entries, size_t *ret_count)
{
    SettingsHistory settings;
    SalaryEntry *entries = ARENA_ARRAY(arena, MY_SALARIES_MOST, SalaryEntry);
    TRY(accounts_settings(site->app->accounts, arena, &settings));
    size_t count =
        salary_entries(&settings, account->registered_us, span.to_us, entries, MY_SALARIES_MOST);
    while (count > 0 && entries[count - 1].time_us <= span.from_us)
        count--;
    *ret_entries = entries;
    *ret_count = count;
    return STATUS_OK;
}

/* One entry more at each end says where the page's time begins and ends. */
Status my_history(Site *site, const Account *account, uint64_t before, Arena *arena,
                  MyHistory *ret_history)
{
    MyHistory history = {.now_us = clock_now_us(site->app->world.clock)};
    Span span = {INT64_MIN, history.now_us};
    Entry *entries;
    SalaryEntry *salaries;
    size_t count, salary_count;
    uint32_t limit = MY_HISTORY_PAGE + 1 + (before > 0);
    TRY(votes_history(site->app->votes, account->id, before > 0 ? before + 1 : 0, limit, arena,
                      &entries, &count));
    if (before > 0 && count > 0 && entries[0].seq == before) {
        span.to_us = entries[0].time_us;
        entries++;
        count--;
    }
    if (count > MY_HISTORY_PAGE) {
        count = MY_HISTORY_PAGE;
        span.from_us = entries[count - 1].time_us;
        history.before = entries[count - 1].seq;
    }
    TRY(salaries_in(site, account, span, arena, &salaries, &salary_count));
    MyEvent *saves = ARENA_ARRAY(arena, count, MyEvent);
    for (size_t i = 0; i < count; i++)
        TRY(event_of(site, account->id, &entries[i], arena, &saves[i]));
    history.events = ARENA_ARRAY(arena, count + salary_count, MyEvent);
    history.count = merge(saves, count, salaries, salary_count, history.events);
    *ret_history = history;
    return STATUS_OK;
}

/* ---- The page --------------------------------------------------------------------------------------------------------- */

enum { HISTORY_BEFORE };

static Status show_history(WebRequest *request)
{
    MyHistory history;
    Arena *arena = web_arena(request);
    uint64_t before = web_has(request, HISTORY_BEFORE) ? web_id(request, HISTORY_BEFORE) : 0;
    Frame frame = {.title = SLICE("My history"), .here = "/my/history"};
    TRY(my_history(site_of(request), &site_viewer(request)->account, before, arena, &history));
    HistoryPage page = {.history = &history};
    if (before > 0)
        page.pager.before = SLICE("/my/history");
    if (history.before > 0)
        page.pager.after =
            arena_print(arena, "/my/history?before=%llu", (unsigned long long)history.before);
    Buffer *out = page_begin(request, &frame);
    my_history_page(out, &page);
    page_end(request, out);
    return STATUS_OK;
}

static const WebRoute ROUTES[] = {
    {WEB_GET, "/my/history", show_history, .access = WEB_LOGIN,
     .help = "All saves and salaries of whoever is logged in, the newest first.",
     .params = {{"before", WEB_QUERY, WEB_ID, .optional = true,
                 .help = "Saves before this number."}}},
};
const Room ROOM_MY_HISTORY = ROOM(ROUTES);
