/* vote_settings.h -- the rules of the vote and how long things are kept, as every door shows them. The operations are in vote_settings.c and
 * retention.c. */
#pragma once

#include "operations/admin.h"
#include "settings/retention.h"
#include "settings/settings.h"

extern const Operation OPERATION_setting_set;

/* One line of what a change does. */
typedef struct SettingEffect {
    const char *what;
    Slice before, after;
} SettingEffect;
enum { SETTING_EFFECTS_MAX = 16 };

typedef struct SettingLine {
    const char *name, *help;
    int64_t now, least, most;
} SettingLine;
enum { SETTING_LINES_MAX = 32 };

/* A version that was set, and what it changed. */
typedef struct SettingVersion {
    uint32_t version;
    int64_t from_us;
    bool is_ahead;
    Slice changes;
} SettingVersion;
enum { SETTING_VERSIONS_SHOWN = 20 };

typedef struct PeriodLine {
    const char *name, *about;
    int64_t days, least, most;
    bool deletes; /* the task deletes what is older */
} PeriodLine;

typedef struct RetentionView {
    PeriodLine *periods;
    size_t count;
    uint64_t version;
} RetentionView;
MUST_USE Status retention_view(Operations *ops, Arena *arena, RetentionView *ret_view);

typedef struct SettingsView {
    int64_t now_us;
    SettingLine lines[SETTING_LINES_MAX];
    size_t line_count;
    SettingVersion *versions;
    size_t version_count;
    RetentionView retention;
} SettingsView;
MUST_USE Status settings_view(Operations *ops, Arena *arena, SettingsView *ret_view);

/* A change that is looked at before it is made. */
typedef struct SettingPreview {
    int64_t from_us;
    SettingEffect effects[SETTING_EFFECTS_MAX];
    size_t effect_count;
} SettingPreview;
/* What would be refused is refused here, too. `from_us` 0: as early as allowed. */
MUST_USE Status setting_preview(Operations *ops, Slice name, Slice value, int64_t from_us,
                                Arena *arena, SettingPreview *ret_preview, Reason *reason);
/* What the change does, of the settings before and after it. Pure. */
size_t setting_effects(const VotingSettings *before, const VotingSettings *after, Arena *arena,
                       SettingEffect *ret_effects);
