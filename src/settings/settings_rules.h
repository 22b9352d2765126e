/* settings_rules.h -- the live settings of the vote, and what they say about salary: pure.
 *
 * Settings are versions, appended and never changed; each says from when it counts. A save is judged by the version in force at
 * its own time, so changing a rule never changes the past. Nothing is written to pay a salary: what is due is a function
 * of the registration and of the versions, the same whoever computes it, and so it cannot be paid twice.
 *   1. settings_at is the last version whose `from_us` is not after the time; version 0 has been there for ever.
 *   2. Salary period k uses the version in force at its start, and the next period begins where it ends.
 *   3. No sum overflows: salary <= SETTING_POLLIES_MAX, periods are a day or longer, times are within SETTING_TIME_MAX. */
#pragma once

#include "base/slice.h"
#include "base/world.h"

#define SETTING_TIME_MAX (INT64_C(253402300800) * US_PER_S) /* the year 10000 */
enum { SETTING_POLLIES_MAX = 1000000, SETTING_THRESHOLD_MAX = 1000000000 };

/*    name, default, least, most, what it means */
#define SETTING_LIST(X)                                                               \
    X(salary, 100, 0, SETTING_POLLIES_MAX, "Pollies that a voter earns each period.") \
    X(salary_days, 7, 1, 366, "Length of a salary period in days.")                   \
    X(create_cost, 100, 0, SETTING_POLLIES_MAX,                                       \
      "What creating a policy costs; they are its first votes.")                      \
    X(withdrawal_percent, 50, 0, 100, "Part of a withdrawn vote that is lost.")       \
    X(window_days, 3, 1, 31, "Days of the ranking that the front page shows.")        \
    X(appeal_days, 14, 1, 366, "Days in which a deletion can be appealed.")           \
    X(answer_threshold, 0, 0, SETTING_THRESHOLD_MAX,                                  \
      "Votes at which an official answer is due; 0: at none.")

typedef struct VotingSettings {
    uint32_t version;
    int64_t from_us;
#define X(name, fallback, least, most, help) int64_t name;
    SETTING_LIST(X)
#undef X
} VotingSettings;

/* All versions, ascending in version and `from_us`; the first is version 0, from the beginning of time. */
typedef struct SettingsHistory {
    const VotingSettings *versions;
    size_t count;
} SettingsHistory;

extern const VotingSettings SETTINGS_AT_FIRST;

const VotingSettings *settings_at(const SettingsHistory *history, int64_t time_us);

/* A copy of `settings` with one value changed; INVALID names the setting and the rule. */
MUST_USE Status settings_change(const VotingSettings *settings, Slice name, Slice value,
                                VotingSettings *ret_settings, Reason *reason);

/* All that was due from the registration up to and including `now_us`. */
int64_t salary_due(const SettingsHistory *history, int64_t registered_us, int64_t now_us);

typedef struct SalaryEntry {
    int64_t time_us; /* when the period began */
    int64_t pollies;
    uint32_t setting_version;
} SalaryEntry;

/* The newest entries first, at most `most` of them; returns how many. For the profile. */
size_t salary_entries(const SettingsHistory *history, int64_t registered_us, int64_t now_us,
                      SalaryEntry *ret_entries, size_t most);
/* When the next entry is due. */
int64_t salary_next_us(const SettingsHistory *history, int64_t registered_us, int64_t now_us);
