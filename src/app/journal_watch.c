/* journal_watch.c -- see journal_watch.h. */
#include "app/journal_watch.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "app/role_holders.h"
#include "mail/letters.h"

enum { ERROR_SHOWN = 200 };

static const char *const ALARM_WORDS[] = WORDS(JOURNAL_ALARM_LIST, WORD_2);

struct JournalWatch {
    App *app;
    const char *address;
    /* Of the task. */
    Arena *arena;        /* holds what follows */
    JournalAlarms known; /* at the last look */
    bool has_news, has_told;
    ClockReading told;
    uint64_t failed_told; /* of `failed` */

    pthread_mutex_t lock; /* guards what follows */
    uint64_t failed;      /* entries that were given up */
    char last_failed[JOURNAL_NAME_MAX + ERROR_SHOWN + 80];
};

JournalWatch *journal_watch_new(App *app, const char *address)
{
    JournalWatch *watch = calloc(1, sizeof *watch);
    CHECK(watch != NULL && pthread_mutex_init(&watch->lock, NULL) == 0);
    watch->app = app;
    watch->address = address;
    watch->arena = arena_new();
    return watch;
}

void journal_watch_free(JournalWatch *watch)
{
    if (watch == NULL)
        return;
    CHECK(pthread_mutex_destroy(&watch->lock) == 0);
    arena_free(watch->arena);
    free(watch);
}

/* ---- Alarms ------------------------------------------------------------------------------------------------ */

uint32_t journal_alarms_of(const JournalStats *stats, int64_t now_ms, int64_t late_ms)
{
    bool late = stats->oldest_due_ms < now_ms - late_ms && stats->pause_left_ms == 0;
    bool full = stats->dead_max > 0 && stats->failed >= stats->dead_max;
    bool failed = stats->failed > 0 &&
                  stats->counters[JOURNAL_COUNT_DEAD] > stats->counters[JOURNAL_COUNT_BURIED];
    return (late ? 1u << JOURNAL_ALARM_LATE : 0) | (full ? 1u << JOURNAL_ALARM_DEAD_FULL : 0) |
           (failed ? 1u << JOURNAL_ALARM_FAILED : 0);
}

static Slice sentence_of(JournalAlarmKind kind, Slice name, const JournalStats *stats,
                         int64_t now_ms, Arena *arena)
{
    if (kind == JOURNAL_ALARM_LATE)
        return arena_print(arena, "%.*s: work has been due for %lld minutes.", SLICE_ARG(name),
                           (long long)((now_ms - stats->oldest_due_ms) / 60000));
    if (kind == JOURNAL_ALARM_DEAD_FULL)
        return arena_print(arena, "%.*s: the dead list is full, the oldest fall out of it.",
                           SLICE_ARG(name));
    return arena_print(arena, "%.*s: %llu on the dead list.", SLICE_ARG(name),
                       (unsigned long long)stats->failed);
}

static void add(JournalAlarms *alarms, JournalAlarmKind kind, Slice journal, Slice sentence,
                Arena *arena)
{
    if (alarms->count == JOURNAL_ALARMS_MAX)
        return;
    alarms->sentences[alarms->count] = sentence;
    alarms->keys[alarms->count++] =
        arena_print(arena, "%s %.*s", ALARM_WORDS[kind], SLICE_ARG(journal));
}

void app_journal_alarms(App *app, Arena *arena, JournalAlarms *ret_alarms)
{
    JournalAlarms alarms = {.count = 0};
    JournalsHealth health;
    Slice *names;
    size_t count = 0;
    Reason reason;
    *ret_alarms = alarms;
    if (app->journals == NULL)
        return;
    journals_health(app->journals, &health);
    if (!health.writable)
        add(&alarms, JOURNAL_ALARM_READ_ONLY, SLICE_EMPTY,
            arena_print(arena, "The journals take no writes: %s", health.reason), arena);
    if (journal_names(app->journals, arena, &names, &count, &reason) != STATUS_OK)
        count = 0;
    int64_t now_ms = clock_now_us(app->world.clock) / US_PER_MS;
    for (size_t i = 0; i < count; i++) {
        JournalStats stats;
        if (journal_stats(app->journals, names[i], &stats, &reason) != STATUS_OK)
            continue;
        uint32_t asked =
            journal_alarms_of(&stats, now_ms, app->config->journal_alert_seconds * 1000);
        for (JournalAlarmKind kind = 0; kind < JOURNAL_ALARM_KINDS; kind++)
            if (asked & 1u << kind)
                add(&alarms, kind, names[i], sentence_of(kind, names[i], &stats, now_ms, arena),
                    arena);
    }
    *ret_alarms = alarms;
}

/* ---- E-mail ------------------------------------------------------------------------------------------------ */

void journal_watch_alert(void *self, const JournalAlert *alert)
{
    JournalWatch *watch = self;
    Slice error = slice_of(alert->error.data,
                           alert->error.size < ERROR_SHOWN ? alert->error.size : ERROR_SHOWN);
    CHECK(pthread_mutex_lock(&watch->lock) == 0);
    watch->failed++;
    snprintf(watch->last_failed, sizeof watch->last_failed,
             "%.*s: entry %llu failed for good: %.*s", SLICE_ARG(alert->journal),
             (unsigned long long)alert->id, SLICE_ARG(error));
    CHECK(pthread_mutex_unlock(&watch->lock) == 0);
}

static bool has_key(const JournalAlarms *alarms, Slice key)
{
    for (size_t i = 0; i < alarms->count; i++)
        if (slice_equal(alarms->keys[i], key))
            return true;
    return false;
}

/* Failed entries are told by their alerts: a dead list may be long, and each new one on it is news. */
static bool has_new(const JournalAlarms *now, const JournalAlarms *before)
{
    for (size_t i = 0; i < now->count; i++)
        if (!slice_starts_with(now->keys[i], slice_from(ALARM_WORDS[JOURNAL_ALARM_FAILED])) &&
            !has_key(before, now->keys[i]))
            return true;
    return false;
}

static void remember(JournalWatch *watch, const JournalAlarms *alarms)
{
    arena_reset(watch->arena);
    watch->known.count = alarms->count;
    for (size_t i = 0; i < alarms->count; i++)
        watch->known.keys[i] = arena_copy(watch->arena, alarms->keys[i]);
}

static Status write_to(JournalWatch *watch, const Account *admin, const LetterFacts *given,
                       Arena *arena, Reason *reason)
{
    App *app = watch->app;
    int64_t hour = clock_now_us(app->world.clock) / (JOURNAL_LETTER_S * US_PER_S);
    LetterFacts facts = *given;
    MailMessage message;
    facts.name = admin->name;
    TRY(letter_write(LETTER_JOURNALS, &facts, arena, &message, reason));
    message.to = admin->email;
    message.once = arena_print(arena, "journals/%s/%lld/%llu", watch->address, (long long)hour,
                               (unsigned long long)admin->id);
    Status status = mail_send(app->mail, &message, reason);
    return status == STATUS_REFUSED ? STATUS_OK : status;
}

static Status write_letters(JournalWatch *watch, const JournalAlarms *alarms, Slice failed,
                            Arena *arena, Reason *reason)
{
    App *app = watch->app;
    Slice home = slice_from(app->home);
    Slice items[JOURNAL_ALARMS_MAX + 1];
    size_t item_count = 0, count = 0;
    Account *admins;
    if (failed.size > 0)
        items[item_count++] = failed;
    for (size_t i = 0; i < alarms->count && item_count < LETTER_ITEMS_MAX; i++)
        items[item_count++] = alarms->sentences[i];
    LetterFacts facts = {.site = slice_from(app->config->site_name),
                         .home = home,
                         .about = slice_from(watch->address),
                         .items = items,
                         .item_count = item_count,
                         .link = arena_print(arena, "%.*s/admin", SLICE_ARG(home))};
    TRY(app_find_holders(app, ROLE_ADMIN, arena, &admins, &count));
    for (size_t i = 0; i < count; i++)
        TRY(write_to(watch, &admins[i], &facts, arena, reason));
    return STATUS_OK;
}

Status journal_watch_look(void *self, Reason *reason)
{
    JournalWatch *watch = self;
    App *app = watch->app;
    ARENA_SCOPE Arena *arena = arena_new();
    JournalAlarms alarms;
    app_journal_alarms(app, arena, &alarms);
    CHECK(pthread_mutex_lock(&watch->lock) == 0);
    uint64_t failed = watch->failed;
    Slice words = arena_copy(arena, slice_from(watch->last_failed));
    CHECK(pthread_mutex_unlock(&watch->lock) == 0);
    watch->has_news |= failed > watch->failed_told || has_new(&alarms, &watch->known);
    remember(watch, &alarms);
    bool too_early = watch->has_told &&
                     clock_age_us(app->world.clock, watch->told) < JOURNAL_LETTER_S * US_PER_S;
    if (!watch->has_news || too_early || !mail_can_send(app->mail))
        return STATUS_OK;
    if (failed == watch->failed_told)
        words = SLICE_EMPTY;
    TRY(write_letters(watch, &alarms, words, arena, reason));
    watch->has_news = false;
    watch->has_told = true;
    watch->told = clock_reading(app->world.clock);
    watch->failed_told = failed;
    return STATUS_OK;
}

/* ---- Health and figures ------------------------------------------------------------------------------------ */

void app_journal_health(App *app, JsonWriter *json)
{
    ARENA_SCOPE Arena *arena = arena_new();
    JournalsHealth health = {.writable = false};
    JournalAlarms alarms;
    if (app->journals != NULL)
        journals_health(app->journals, &health);
    app_journal_alarms(app, arena, &alarms);
    json_key(json, "journal");
    json_object_begin(json);
    json_member_bool(json, "writable", health.writable);
    json_member_i64(json, "alarms", (int64_t)alarms.count);
    json_object_end(json);
}

size_t app_journal_alarm_count(App *app)
{
    ARENA_SCOPE Arena *arena = arena_new();
    JournalAlarms alarms;
    app_journal_alarms(app, arena, &alarms);
    return alarms.count;
}
