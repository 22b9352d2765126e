/* settings.h -- the live settings of the vote, as versions in the store: read by everybody, appended by admins.
 *
 * What a setting means and when a version counts is in settings_rules.h; how long things are kept, in retention.h.
 *   1. A version, once it counts, never changes, and none appears behind its own time, under any race, crash or late write.
 *   2. UNKNOWN is passed on; UNAVAILABLE, CONFLICT and REFUSED mean that it was not done and will not be.
 * All calls may come from any thread. No lock is held while the store is asked. */
#pragma once

#include "base/ids.h"
#include "settings/settings_rules.h"
#include "store/store.h"

typedef struct Settings Settings;

Settings *settings_new(Store *store, World world);
void settings_free(Settings *settings);

/* All versions, from a cache that is at most a minute old (a version counts at the earliest 15 minutes after it was made,
 * longer than any cache and skew). Valid until the arena goes. */
MUST_USE Status settings_read(Settings *settings, Arena *arena, SettingsHistory *ret_history);
enum { SETTING_AHEAD_LEAST_S = 15 * 60, SETTING_CACHE_S = 60, SETTING_VERSIONS_MAX = 1000 };
/* Appends a version with one value changed, from a time at least 15 minutes ahead and not before the last version's.
 * `from_us` 0: as early as allowed. REFUSED names the rule; CONFLICT: somebody else was first. */
MUST_USE Status settings_set(Settings *settings, Slice name, Slice value, int64_t from_us,
                             Reason *reason);
