/* journal_metrics.c -- the journals' figures for /metrics: a line for each journal and figure. */
#include "site/journal_metrics.h"

#include <stdio.h>

#include "app/journal_watch.h"
#include "journal/journal.h"
#include "web/metrics.h"

typedef struct Figures {
    Slice name;
    JournalStats stats;
} Figures;

/* The names of journals have no quotes and no backslash. */
static void put_line(Buffer *out, const char *name, const Figures *figures, const char *state,
                     uint64_t value)
{
    buffer_print(out, "ostraka_journal_%s{journal=\"%.*s\"%s%s%s} %llu\n", name,
                 SLICE_ARG(figures->name), state != NULL ? ",state=\"" : "",
                 state != NULL ? state : "", state != NULL ? "\"" : "", (unsigned long long)value);
}

static void put_head(Buffer *out, const char *name, const char *help, const char *type)
{
    char full[96];
    snprintf(full, sizeof full, "ostraka_journal_%s", name);
    metrics_print_head(out, full, help, type);
}

static void put_counters(Buffer *out, const Figures *all, size_t count)
{
    put_head(out, "puts_total", "Puts that were taken.", "counter");
    for (size_t i = 0; i < count; i++)
        put_line(out, "puts_total", &all[i], NULL, journal_puts(&all[i].stats));
    for (size_t counter = 0; counter < JOURNAL_COUNTERS; counter++) {
        char name[64];
        snprintf(name, sizeof name, "%s_total", JOURNAL_COUNTER_NAMES[counter]);
        put_head(out, name, JOURNAL_COUNTER_HELP[counter], "counter");
        for (size_t i = 0; i < count; i++)
            put_line(out, name, &all[i], NULL, all[i].stats.counters[counter]);
    }
}

static void put_gauges(Buffer *out, const Figures *all, size_t count, int64_t now_ms)
{
    put_head(out, "entries", "Entries by state.", "gauge");
    for (size_t i = 0; i < count; i++) {
        const JournalStats *stats = &all[i].stats;
        put_line(out, "entries", &all[i], "waiting", stats->waiting);
        put_line(out, "entries", &all[i], "processing", stats->processing);
        put_line(out, "entries", &all[i], "held", stats->held);
        put_line(out, "entries", &all[i], "failed", stats->failed);
    }
    put_head(out, "due", "Entries that are due, counted up to a bound.", "gauge");
    for (size_t i = 0; i < count; i++)
        put_line(out, "due", &all[i], NULL, all[i].stats.due);
    put_head(out, "oldest_due_seconds", "How long the oldest entry has been due.", "gauge");
    for (size_t i = 0; i < count; i++) {
        int64_t since_ms = all[i].stats.oldest_due_ms;
        put_line(out, "oldest_due_seconds", &all[i], NULL,
                 all[i].stats.due > 0 && since_ms < now_ms ? (uint64_t)(now_ms - since_ms) / 1000
                                                           : 0);
    }
    put_head(out, "waiters", "Claims that wait.", "gauge");
    for (size_t i = 0; i < count; i++)
        put_line(out, "waiters", &all[i], NULL, all[i].stats.waiters);
    put_head(out, "paused_seconds", "What is left of a pause.", "gauge");
    for (size_t i = 0; i < count; i++)
        put_line(out, "paused_seconds", &all[i], NULL,
                 (uint64_t)(all[i].stats.pause_left_ms + 999) / 1000);
}

static void put_spans(Buffer *out, const Figures *all, size_t count, bool run)
{
    put_head(out, run ? "run_seconds" : "wait_seconds",
             run ? "From a claim until a worker ended it."
                 : "From when an entry was due until its claim.",
             "histogram");
    for (size_t i = 0; i < count; i++) {
        const JournalStats *stats = &all[i].stats;
        char labels[JOURNAL_NAME_MAX + 16];
        snprintf(labels, sizeof labels, "journal=\"%.*s\",", SLICE_ARG(all[i].name));
        metrics_print_histogram(
            out, run ? "ostraka_journal_run_seconds" : "ostraka_journal_wait_seconds",
            slice_from(labels), &JOURNAL_SPANS, run ? &stats->run : &stats->wait);
    }
}

static void put_groups(Buffer *out, const JournalsHealth *health)
{
    char labels[DECLARATION_GROUPS_MAX][JOURNAL_NAME_MAX + 16];
    put_head(out, "bytes", "Keys and data of what lives, and the size of the files.", "gauge");
    for (size_t i = 0; i < health->group_count; i++) {
        const JournalGroupFigures *group = &health->groups[i];
        snprintf(labels[i], sizeof labels[i], "group=\"%s\",", group->name);
        buffer_print(out, "ostraka_journal_bytes{%skind=\"live\"} %llu\n", labels[i],
                     (unsigned long long)group->live_bytes);
        buffer_print(out, "ostraka_journal_bytes{%skind=\"files\"} %llu\n", labels[i],
                     (unsigned long long)group->file_bytes);
    }
    put_head(out, "commit_seconds", "How long a batch took to be written.", "histogram");
    for (size_t i = 0; i < health->group_count; i++)
        metrics_print_histogram(out, "ostraka_journal_commit_seconds", slice_from(labels[i]),
                                &JOURNAL_COMMITS, &health->groups[i].commits);
    put_head(out, "group_size", "Requests that shared a batch.", "histogram");
    for (size_t i = 0; i < health->group_count; i++)
        metrics_print_histogram(out, "ostraka_journal_group_size", slice_from(labels[i]),
                                &JOURNAL_SIZES, &health->groups[i].sizes);
}

static void put_health(Buffer *out, Journals *journals, size_t alarms)
{
    JournalsHealth health;
    journals_health(journals, &health);
    const struct {
        const char *name, *help;
        bool counter;
        uint64_t value;
    } ROWS[] = {
        {"ostraka_journal_writable", "1: the journals take puts.", false, health.writable},
        {"ostraka_journal_alarms", "What admins should look at.", false, alarms},
        {"ostraka_journal_commits_total", "Batches written.", true, health.commits},
        {"ostraka_journal_syncs_total", "Batches that were synced.", true, health.syncs},
        {"ostraka_journal_writes_total", "Writes in these batches.", true, health.written},
        {"ostraka_journal_failures_total", "Writes and syncs that failed.", true, health.failures},
        {"ostraka_journal_reopens_total", "Times that journals opened again.", true,
         health.reopens},
        {"ostraka_journal_clock_steps_total", "Steps of the wall clock.", true, health.clock_steps},
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++)
        metrics_print_one(out, ROWS[i].name, ROWS[i].help, ROWS[i].counter, (double)ROWS[i].value);
    put_groups(out, &health);
}

void journal_metrics_print(App *app, Buffer *out)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Journals *journals;
    Slice *names;
    size_t name_count, count = 0;
    if (app_journals(app, &journals, NULL) != STATUS_OK ||
        journal_names(journals, arena, &names, &name_count, NULL) != STATUS_OK)
        return;
    Figures *all = ARENA_ARRAY(arena, name_count, Figures);
    for (size_t i = 0; i < name_count; i++) {
        all[count].name = names[i];
        count += journal_stats(journals, names[i], &all[count].stats, NULL) == STATUS_OK;
    }
    put_counters(out, all, count);
    put_gauges(out, all, count, clock_now_us(app->world.clock) / US_PER_MS);
    put_spans(out, all, count, false);
    put_spans(out, all, count, true);
    put_health(out, journals, app_journal_alarm_count(app));
}
