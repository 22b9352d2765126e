/* journals.c -- /admin/journals: see journals.h. */
#include "site/admin/journals.h"

#include "site/pages.h"

/* ---- All of them ----------------------------------------------------------------------------------------------------------- */

static Status fill_journals(WebRequest *request, void *view, Frame *frame)
{
    JournalsPage *page = view;
    Site *site = site_of(request);
    page->arena = web_arena(request);
    *frame = (Frame){.title = SLICE("Journals"), .here = "/admin"};
    TRY(journals_shown(site->ops, site_actor(request), page->arena, &page->shown,
                       web_reason(request)));
    page->lines = ARENA_ARRAY(page->arena, page->shown.count, JournalLine);
    for (size_t i = 0; i < page->shown.count; i++) {
        JournalRateView rates =
            journal_rates_view(site->journal_rates, page->shown.journals[i].name, page->arena);
        page->lines[i] = (JournalLine){page->shown.journals[i], rates.puts.last, rates.ends.last};
    }
    return STATUS_OK;
}

static void draw_journals(Buffer *out, const void *view)
{
    admin_journals_page(out, view);
}

static Slice to_journals(WebRequest *request, const void *sent, const void *answer)
{
    (void)request, (void)sent, (void)answer;
    return SLICE("/admin/journals");
}

FORM(journal_reload, JournalsPage, .path = "/admin/journals", .fill = fill_journals,
     .draw = draw_journals, .leads = to_journals,
     .help = "The journals of this instance, with their counts and ages.");

/* ---- One of them ----------------------------------------------------------------------------------------------------------- */

enum { P_JOURNAL };

extern const Operation OPERATION_journal_pause_one;

static Slice path_of(WebRequest *request)
{
    BUFFER_SCOPE Buffer path = {0};
    buffer_text(&path, "/admin/journals/");
    url_part_put(&path, web_text(request, P_JOURNAL));
    return arena_copy(web_arena(request), buffer_slice(&path));
}

static Markup chart_of(const JournalRate *rate, const char *label, Arena *arena)
{
    Chart chart = {.label = label,
                   .one = "entry",
                   .many = "entries",
                   .has_hours = true,
                   .points = rate->points,
                   .count = rate->count};
    return chart_area(&chart, arena);
}

static Slice key_of(Operations *ops, uint64_t id, Arena *arena)
{
    Journals *journals;
    JournalView view;
    if (operations_journals(ops, &journals, NULL) != STATUS_OK ||
        journal_get(journals, id, arena, &view, NULL) != STATUS_OK)
        return SLICE_EMPTY; /* it has gone meanwhile */
    Slice key = journal_bytes(view.key, arena).text, rest = key;
    for (int i = 0; i < JOURNAL_KEY_SHOWN && rest.size > 0; i++)
        rest = slice_after(rest, slice_utf8_length(rest));
    return rest.size == 0 ? key
                          : arena_print(arena, "%.*s…", (int)(key.size - rest.size), key.data);
}

static Status fill_dead(WebRequest *request, JournalPage *page)
{
    Operations *ops = site_of(request)->ops;
    JournalEntries entries;
    JournalEntryQuery query = {
        .journal = page->shown.name, .has_state = true, .limit = JOURNAL_PAGE_DEAD};
    while (JOURNAL_STATE_WORDS[query.state][0] != JOURNAL_FAILED)
        query.state++;
    if (slice_to_u64(web_field(request, WEB_QUERY, "after"), &query.after) != STATUS_OK)
        query.after = 0;
    TRY(journal_entries_read(ops, &query, page->arena, &entries, web_reason(request)));
    page->dead = ARENA_ARRAY(page->arena, entries.count, JournalDead);
    page->dead_count = entries.count;
    for (size_t i = 0; i < entries.count; i++)
        page->dead[i] = (JournalDead){
            entries.entries[i],
            arena_print(page->arena, "%llu", (unsigned long long)entries.entries[i].view.id),
            key_of(ops, entries.entries[i].view.id, page->arena)};
    if (entries.after != 0)
        page->more = arena_print(page->arena, "%.*s?after=%llu", SLICE_ARG(page->path),
                                 (unsigned long long)entries.after);
    return STATUS_OK;
}

static Status fill_journal(WebRequest *request, void *view, Frame *frame)
{
    JournalPage *page = view;
    Site *site = site_of(request);
    Slice name = web_text(request, P_JOURNAL);
    page->arena = web_arena(request);
    page->path = path_of(request);
    page->now_us = site_now_us(request);
    TRY(journal_admit(site->ops, site_actor(request), name, JOURNAL_RIGHT_ADMIN,
                      web_reason(request)));
    TRY(journal_shown(site->ops, name, page->arena, &page->shown, web_reason(request)));
    *frame = (Frame){.title = arena_print(page->arena, "Journal %.*s", SLICE_ARG(name)),
                     .here = "/admin"};
    page->pause = form_beside(&page->form, &OPERATION_journal_pause_one);
    page->rates = journal_rates_view(site->journal_rates, name, page->arena);
    page->has_charts = page->rates.puts.count > 1;
    if (page->has_charts) {
        page->puts_chart = chart_of(&page->rates.puts, "Entries put in each minute", page->arena);
        page->ends_chart = chart_of(&page->rates.ends, "Entries done in each minute", page->arena);
    }
    return fill_dead(request, page);
}

static void draw_journal(Buffer *out, const void *view)
{
    admin_journal_page(out, view);
}

static Slice to_journal(WebRequest *request, const void *sent, const void *answer)
{
    (void)sent, (void)answer;
    return path_of(request);
}

#define ON_JOURNAL .fill = fill_journal, .draw = draw_journal, .leads = to_journal
FORM(journal_pause_one, JournalPage, .path = "/admin/journals/{journal}", ON_JOURNAL,
     .shows = "journal_entries",
     .help = "A journal: figures, pause, and the entries that were given up.");
FORM(journal_resume_one, JournalPage, ON_JOURNAL);
FORM(journal_requeue_all, JournalPage, ON_JOURNAL);
FORM(journal_requeue_some, JournalPage, ON_JOURNAL);
FORM(journal_remove_some, JournalPage, ON_JOURNAL);
