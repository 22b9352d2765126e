/* news.h -- marks that something other than a vote is about to change.
 *
 * The module that changes a thing writes a mark with the update itself:
 *     update.marks = news_mark(clock, NEWS_POLICY, policy, arena);
 * Two readers follow the marks:
 *   - other instances, several times a second, read those of the last seconds and drop what they keep of the thing in memory
 *     (app/instance_sync.h);
 *   - every few minutes the task `letters` reads those of the last hours, and after a crash those of some days, and does what was left undone:
 *     an e-mail that was not queued (app/policy_letters.h).
 * Promises:
 *   1. A mark is durable no later than the update that it announces: a crash leaves a mark without a change, never a change without a
 *      mark.
 *   2. A mark names the thing and says nothing about what happened to it: readers read the thing. So a mark may be followed any number
 *      of times.
 *   3. A mark carries the second of its writer's clock, and may be visible before its change. Readers look again for some seconds.
 *   4. Marks expire after NEWS_DAYS.
 * Not promised: order, or one mark for each change: two changes of one thing within a second share theirs. */
#pragma once

#include "base/world.h"
#include "store/store.h"

enum { NEWS_DAYS = 40, NEWS_SHARDS = 16 };

/* Part of what is stored. */
typedef enum NewsKind {
    NEWS_POLICY = 'p', /* a policy was created, edited, moved or answered; id: the policy */
    NEWS_FRONT = 'f',  /* the featured policies; id: 0 */
    NEWS_GROUPS = 'g', /* categories or parties; id: the group */
    NEWS_TEXT = 'x',   /* the pages on privacy and terms; id: which */
} NewsKind;

/* For Update.marks or RecordWrite.marks. The bytes live in the arena. */
Batch news_mark(Clock clock, NewsKind kind, uint64_t id, Arena *arena);

typedef struct News {
    int64_t second; /* since 1970, by the writer's clock */
    NewsKind kind;
    uint64_t id;
} News;
typedef void NewsVisit(void *context, const News *news);

/* Visits the marks of the seconds first_s to last_s, both included, those of one hour before those of the next. All shards of an hour
 * are read at once. CORRUPT: a mark that cannot be read. After a failure some marks may have been visited. */
MUST_USE Status news_read(Store *store, int64_t first_s, int64_t last_s, NewsVisit *visit,
                          void *context);
