/* settings_rules.c -- see settings_rules.h. Periods under one version are counted by division, so ten years of daily
 * salary cost as much as one. */
#include "settings/settings_rules.h"

const VotingSettings SETTINGS_AT_FIRST = {.version = 0,
                                          .from_us = INT64_MIN,
#define X(name, fallback, least, most, help) .name = fallback,
                                          SETTING_LIST(X)
#undef X
};

typedef struct SettingRow {
    const char *name;
    int64_t least, most;
    size_t offset;
} SettingRow;

static const SettingRow ROWS[] = {
#define X(name, fallback, least, most, help) {#name, least, most, offsetof(VotingSettings, name)},
    SETTING_LIST(X)
#undef X
};

static size_t index_at(const SettingsHistory *history, int64_t time_us)
{
    CHECK(history->count > 0);
    size_t at = history->count - 1;
    while (at > 0 && history->versions[at].from_us > time_us)
        at--;
    return at;
}

const VotingSettings *settings_at(const SettingsHistory *history, int64_t time_us)
{
    return &history->versions[index_at(history, time_us)];
}

Status settings_change(const VotingSettings *settings, Slice name, Slice value,
                       VotingSettings *ret_settings, Reason *reason)
{
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        int64_t number;
        if (!slice_equal(name, slice_from(ROWS[i].name)))
            continue;
        if (slice_to_i64(value, &number) != STATUS_OK || number < ROWS[i].least ||
            number > ROWS[i].most)
            return reason_set(reason, STATUS_INVALID, ROWS[i].name,
                              "%s is a whole number from %lld to %lld", ROWS[i].name,
                              (long long)ROWS[i].least, (long long)ROWS[i].most);
        VotingSettings changed = *settings;
        memcpy((char *)&changed + ROWS[i].offset, &number, sizeof number);
        *ret_settings = changed;
        return STATUS_OK;
    }
    return reason_set(reason, STATUS_INVALID, "name", "there is no setting \"%.*s\"",
                      SLICE_ARG(name));
}

/* A run of periods under one version: they start at `start_us`, `step_us` apart, `count` of them. */
typedef struct Run {
    int64_t start_us, step_us, count;
    const VotingSettings *settings;
} Run;

/* The run that begins at `start_us`: as many periods as start no later than `now_us` and before the next version counts. */
static Run run_from(const SettingsHistory *history, int64_t start_us, int64_t now_us)
{
    size_t at = index_at(history, start_us);
    const VotingSettings *settings = &history->versions[at];
    int64_t step_us = settings->salary_days * S_PER_DAY * US_PER_S, last_us = now_us;
    if (at + 1 < history->count && history->versions[at + 1].from_us - 1 < last_us)
        last_us = history->versions[at + 1].from_us - 1;
    return (Run){start_us, step_us, (last_us - start_us) / step_us + 1, settings};
}

int64_t salary_due(const SettingsHistory *history, int64_t registered_us, int64_t now_us)
{
    int64_t due = 0;
    CHECK(now_us <= SETTING_TIME_MAX && registered_us >= 0);
    for (int64_t start_us = registered_us; start_us <= now_us;) {
        Run run = run_from(history, start_us, now_us);
        due += run.count * run.settings->salary;
        start_us += run.count * run.step_us;
    }
    return due;
}

int64_t salary_next_us(const SettingsHistory *history, int64_t registered_us, int64_t now_us)
{
    int64_t start_us = registered_us;
    while (start_us <= now_us) {
        Run run = run_from(history, start_us, now_us);
        start_us += run.count * run.step_us;
    }
    return start_us;
}

/* The runs can only be walked forwards, so the number of entries comes first and says where each of them goes. */
static int64_t count_entries(const SettingsHistory *history, int64_t registered_us, int64_t now_us)
{
    int64_t count = 0;
    for (int64_t start_us = registered_us; start_us <= now_us;) {
        Run run = run_from(history, start_us, now_us);
        count += run.count;
        start_us += run.count * run.step_us;
    }
    return count;
}

size_t salary_entries(const SettingsHistory *history, int64_t registered_us, int64_t now_us,
                      SalaryEntry *ret_entries, size_t most)
{
    int64_t left = count_entries(history, registered_us, now_us); /* from this run on */
    size_t count = left < (int64_t)most ? (size_t)left : most;
    for (int64_t start_us = registered_us; left > 0;) {
        Run run = run_from(history, start_us, now_us);
        for (int64_t k = left > (int64_t)count ? left - (int64_t)count : 0; k < run.count; k++)
            ret_entries[left - 1 - k] = (SalaryEntry){run.start_us + k * run.step_us,
                                                      run.settings->salary, run.settings->version};
        left -= run.count;
        start_us += run.count * run.step_us;
    }
    return count;
}
