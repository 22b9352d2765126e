/* journal_watch.h -- what those who run a site must hear of this instance's journals.
 *
 *   1. Alarms are: the journals take no writes; something is due in a journal for longer than journal_alert_seconds; a dead list is full, so
 *      that the oldest fall out of it; entries failed for good and were not requeued or removed. Paused journals are not late.
 *   2. While they last they are on the admins' front page, in /healthz and in /metrics.
 *   3. Of those that are new every admin hears by e-mail within a minute, and at most JOURNAL_LETTER_S after the e-mail before; what comes in between is in
 *      the next one. What failed while the process was not there is on the page and not in an e-mail. */
#pragma once

#include "app/app.h"
#include "base/json.h"
#include "base/words.h"

enum { JOURNAL_LETTER_S = 3600, JOURNAL_ALARMS_MAX = 50 };

/*    name, word in a key */
#define JOURNAL_ALARM_LIST(X) \
    X(READ_ONLY, "read-only") \
    X(LATE, "late")           \
    X(DEAD_FULL, "dead-full") \
    X(FAILED, "failed")
typedef enum JournalAlarmKind {
#define X(name, word) JOURNAL_ALARM_##name,
    JOURNAL_ALARM_LIST(X)
#undef X
        JOURNAL_ALARM_KINDS
} JournalAlarmKind;

/* Which alarms a journal's figures ask for, as bits. Pure. */
uint32_t journal_alarms_of(const JournalStats *stats, int64_t now_ms, int64_t late_ms);

typedef struct JournalAlarms {
    Slice sentences[JOURNAL_ALARMS_MAX]; /* for people */
    Slice keys[JOURNAL_ALARMS_MAX];      /* kind and journal */
    size_t count;
} JournalAlarms;

typedef struct JournalWatch JournalWatch;
/* `address` is this instance's, for people, and must outlive it. */
JournalWatch *journal_watch_new(App *app, const char *address);
void journal_watch_free(JournalWatch *watch);
/* For JournalsOptions: an entry was given up. Does not wait. */
void journal_watch_alert(void *watch, const JournalAlert *alert);
/* For the task: looks, and writes what is new. OK: there is nothing that an admin would still have to be written. */
MUST_USE Status journal_watch_look(void *watch, Reason *reason);
/* As it is now; empty without journals. */
void app_journal_alarms(App *app, Arena *arena, JournalAlarms *ret_alarms);
size_t app_journal_alarm_count(App *app);
/* The member "journal" of /healthz. */
void app_journal_health(App *app, JsonWriter *json);
