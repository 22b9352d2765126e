/* retention.h -- how long the site keeps what it need not keep for ever: live settings, and the task that carries them out.
 *
 * The periods stand in one row of table `site` and are replaced by a conditional update on the version that was seen. New entries are written with the
 * period that this instance knew (accounts_keep, at most a minute old); what is older is deleted by a task where the table says so below, and elsewhere
 * goes at the time that it was given when it was written.
 *   1. A shorter period never makes an entry stay longer, and nothing is deleted that is younger than the period.
 *   2. UNKNOWN is passed on: reading again tells what stands. */
#pragma once

#include "settings/settings.h"

/*    name, default, least and most in days, whether the task deletes what is older, what it is about */
#define RETENTION_LIST(X)                                                            \
    X(logins, 90, 1, 3650, true, "Log-ins: when, and from where")                    \
    X(signals, 366, 1, 3650, false,                                                  \
      "Signals of duplicate accounts: what registrations have in common, as hashes") \
    X(acts, 730, 30, 3650, false, "The log of acts, and the activity of instances")  \
    X(letters, 30, 1, 365, false, "Letters that could not be sent, with their text")

typedef struct Retention {
    uint64_t version; /* 0: the defaults */
    int64_t changed_us;
#define X(name, fallback, least, most, deletes, about) int64_t name;
    RETENTION_LIST(X)
#undef X
    Id write; /* private, as is the cell: */
    Slice value;
} Retention;

/* A row of the table above, for pages and programs. */
typedef struct RetentionRow {
    const char *name, *about;
    int64_t fallback, least, most;
    bool deletes;
    size_t offset; /* in Retention */
} RetentionRow;
extern const RetentionRow RETENTION_ROWS[];
extern const size_t RETENTION_ROW_COUNT;
extern const Retention RETENTION_AT_FIRST;

MUST_USE Status retention_read(Settings *settings, Arena *arena, Retention *ret_retention);
/* A copy with one period changed; INVALID names it and its bounds. Pure. */
MUST_USE Status retention_change(const Retention *retention, Slice name, int64_t days,
                                 Retention *ret_retention, Reason *reason);
/* On top of the version that stands in it. CONFLICT: another one stands now. */
MUST_USE Status retention_set(Settings *settings, const Retention *retention, Reason *reason);
