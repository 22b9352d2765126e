/* settings_rules_test.c -- salary against a day-by-day computation, and settings that never change the past. */
#include "settings/settings_rules.h"

#include "test.h"
#include "world.h"

#define DAY (S_PER_DAY * US_PER_S)

enum { VERSIONS = 8, HISTORIES = 3000, ENTRIES = 4000 };

static VotingSettings versions[VERSIONS];
static SettingsHistory history;

static void begin(void)
{
    versions[0] = SETTINGS_AT_FIRST;
    history = (SettingsHistory){versions, 1};
}

static void add_version(int64_t from_us, int64_t salary, int64_t days)
{
    VotingSettings *next = &versions[history.count];
    CHECK(history.count < VERSIONS);
    *next = versions[history.count - 1];
    next->version = (uint32_t)history.count++;
    next->from_us = from_us;
    next->salary = salary;
    next->salary_days = days;
}

/* ---- The naive way: one period after the other ------------------------------------------------------------- */

static const VotingSettings *naive_at(int64_t time_us)
{
    const VotingSettings *found = &versions[0];
    for (size_t i = 0; i < history.count; i++)
        if (versions[i].from_us <= time_us)
            found = &versions[i];
    return found;
}

static size_t naive_entries(int64_t registered_us, int64_t now_us, SalaryEntry *ret_entries)
{
    size_t count = 0;
    for (int64_t start_us = registered_us; start_us <= now_us;) {
        const VotingSettings *settings = naive_at(start_us);
        CHECK(count < ENTRIES);
        ret_entries[count++] = (SalaryEntry){start_us, settings->salary, settings->version};
        start_us += settings->salary_days * DAY;
    }
    return count;
}

static void expect_as_naive(int64_t registered_us, int64_t now_us, size_t most)
{
    static SalaryEntry naive[ENTRIES], entries[ENTRIES];
    size_t count = naive_entries(registered_us, now_us, naive);
    int64_t due = 0, next_us = registered_us;
    for (size_t i = 0; i < count; i++) {
        due += naive[i].pollies;
        next_us = naive[i].time_us + naive_at(naive[i].time_us)->salary_days * DAY;
    }
    EXPECT_I64(salary_due(&history, registered_us, now_us), due);
    EXPECT_I64(salary_next_us(&history, registered_us, now_us), next_us);
    size_t expected = count < most ? count : most;
    EXPECT_I64(salary_entries(&history, registered_us, now_us, entries, most), expected);
    for (size_t i = 0; i < expected; i++) {
        EXPECT_I64(entries[i].time_us, naive[count - 1 - i].time_us);
        EXPECT_I64(entries[i].pollies, naive[count - 1 - i].pollies);
        EXPECT_I64(entries[i].setting_version, naive[count - 1 - i].setting_version);
    }
}

TEST(salary_is_what_a_count_day_by_day_gives)
{
    TestWorld own;
    const char *text = getenv("OSTRAKA_SEED");
    uint64_t seed = random_u64(world_real().random) >> 32;
    if (text != NULL)
        EXPECT_STATUS(slice_to_u64(slice_from(text), &seed), STATUS_OK);
    Random luck = test_world(&own, seed).random;
    printf("# seed %" PRIu64 "; OSTRAKA_SEED=%" PRIu64 " replays it\n", seed, seed);
    for (int run = 0; run < HISTORIES; run++) {
        int64_t from_us = (int64_t)(random_u64(luck) % 1000) * DAY;
        int64_t registered_us =
            (int64_t)(random_u64(luck) % 2000) * DAY + (int64_t)(random_u64(luck) % DAY);
        begin();
        for (int i = (int)(random_u64(luck) % VERSIONS); i > 1; i--) {
            /* Also two at one time, and such as count between two periods. */
            from_us +=
                (int64_t)(random_u64(luck) % 4) * (int64_t)(random_u64(luck) % 200) * DAY / 3;
            add_version(from_us, (int64_t)(random_u64(luck) % 300),
                        1 + (int64_t)(random_u64(luck) % 40));
        }
        int64_t now_us =
            (int64_t)(random_u64(luck) % 3500) * DAY + (int64_t)(random_u64(luck) % DAY);
        expect_as_naive(registered_us, now_us, 1 + (size_t)(random_u64(luck) % 200));
    }
}

TEST(the_first_salary_is_due_at_registration_and_the_next_a_week_later)
{
    begin();
    EXPECT_I64(salary_due(&history, 5 * DAY, 5 * DAY - 1), 0);
    EXPECT_I64(salary_due(&history, 5 * DAY, 5 * DAY), 100);
    EXPECT_I64(salary_due(&history, 5 * DAY, 12 * DAY - 1), 100);
    EXPECT_I64(salary_due(&history, 5 * DAY, 12 * DAY), 200);
    EXPECT_I64(salary_next_us(&history, 5 * DAY, 12 * DAY - 1), 12 * DAY);
    EXPECT_I64(salary_next_us(&history, 5 * DAY, 12 * DAY), 19 * DAY);
    EXPECT_I64(salary_next_us(&history, 5 * DAY, 1), 5 * DAY);
}

TEST(a_period_keeps_the_setting_of_its_start)
{
    begin();
    add_version(3 * DAY, 1000, 1);
    EXPECT_I64(salary_due(&history, 0, 7 * DAY - 1), 100); /* until the week is over */
    EXPECT_I64(salary_due(&history, 0, 7 * DAY), 1100);
    EXPECT_I64(salary_due(&history, 0, 8 * DAY), 2100);
}

/* However the future is changed, what was due at a time stays. */
TEST(a_change_of_a_setting_does_not_change_the_past)
{
    TestWorld own;
    Random luck = test_world(&own, 7).random;
    for (int run = 0; run < HISTORIES; run++) {
        static SalaryEntry before[64], after[64];
        int64_t now_us =
            (int64_t)(random_u64(luck) % 2000) * DAY + (int64_t)(random_u64(luck) % DAY);
        int64_t registered_us = (int64_t)(random_u64(luck) % 2000) * DAY;
        begin();
        add_version((int64_t)(random_u64(luck) % (uint64_t)(now_us + 1)),
                    (int64_t)(random_u64(luck) % 300), 1 + (int64_t)(random_u64(luck) % 40));
        int64_t due = salary_due(&history, registered_us, now_us);
        size_t count = salary_entries(&history, registered_us, now_us, before, 64);
        for (int i = 0; i < 3; i++)
            add_version(now_us + 1 + i * (int64_t)(random_u64(luck) % 10) * DAY,
                        (int64_t)(random_u64(luck) % 300), 1 + (int64_t)(random_u64(luck) % 40));
        EXPECT_I64(salary_due(&history, registered_us, now_us), due);
        EXPECT_I64(salary_entries(&history, registered_us, now_us, after, 64), count);
        for (size_t i = 0; i < count; i++)
            EXPECT(before[i].time_us == after[i].time_us && before[i].pollies == after[i].pollies &&
                   before[i].setting_version == after[i].setting_version);
        EXPECT(settings_at(&history, now_us)->version <= 1);
    }
}

TEST(eight_thousand_years_of_daily_salary_overflow_nothing)
{
    begin();
    add_version(0, SETTING_POLLIES_MAX, 1);
    int64_t days = SETTING_TIME_MAX / DAY;
    SalaryEntry newest[2];
    EXPECT_I64(salary_due(&history, 0, SETTING_TIME_MAX), (days + 1) * SETTING_POLLIES_MAX);
    EXPECT_I64(salary_entries(&history, 0, SETTING_TIME_MAX, newest, 2), 2);
    EXPECT_I64(newest[0].time_us, days * DAY);
    EXPECT_I64(newest[1].time_us, (days - 1) * DAY);
    EXPECT_I64(salary_entries(&history, 0, SETTING_TIME_MAX, newest, 0), 0);
}

TEST(the_last_version_that_counts_is_in_force)
{
    begin();
    add_version(10, 1, 1);
    add_version(20, 2, 1);
    add_version(20, 3, 1); /* made later for the same time */
    EXPECT_I64(settings_at(&history, INT64_MIN)->version, 0);
    EXPECT_I64(settings_at(&history, 9)->version, 0);
    EXPECT_I64(settings_at(&history, 10)->version, 1);
    EXPECT_I64(settings_at(&history, 19)->version, 1);
    EXPECT_I64(settings_at(&history, 20)->version, 3);
}

TEST(every_setting_has_bounds_and_they_are_exact)
{
    static const struct {
        const char *name;
        int64_t least, most;
    } ROWS[] = {
#define X(name, fallback, least, most, help) {#name, least, most},
        SETTING_LIST(X)
#undef X
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        const int64_t tries[] = {ROWS[i].least - 1, ROWS[i].least, ROWS[i].most, ROWS[i].most + 1};
        for (int k = 0; k < 4; k++) {
            char value[32];
            Reason reason = {.rule = ""};
            VotingSettings changed = {.version = 99};
            snprintf(value, sizeof value, "%" PRId64, tries[k]);
            Status status = settings_change(&SETTINGS_AT_FIRST, slice_from(ROWS[i].name),
                                            slice_from(value), &changed, &reason);
            bool fits = k == 1 || k == 2;
            EXPECT_STATUS(status, fits ? STATUS_OK : STATUS_INVALID);
            EXPECT_I64(changed.version, fits ? 0 : 99);
            if (!fits)
                EXPECT_SLICE(slice_from(reason.field), slice_from(ROWS[i].name));
        }
    }
    VotingSettings changed;
    EXPECT_STATUS(settings_change(&SETTINGS_AT_FIRST, SLICE("bribe"), SLICE("1"), &changed, NULL),
                  STATUS_INVALID);
    EXPECT_STATUS(
        settings_change(&SETTINGS_AT_FIRST, SLICE("salary"), SLICE("ten"), &changed, NULL),
        STATUS_INVALID);
    EXPECT_STATUS(settings_change(&SETTINGS_AT_FIRST, SLICE("salary"), SLICE(""), &changed, NULL),
                  STATUS_INVALID);
}
