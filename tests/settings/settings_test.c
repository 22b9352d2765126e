/* settings_test.c -- the versions of the settings in the store: appended, seen by all within a minute, never in the past. */
#include "accounts_fixture.h"
#include "interleaving_store.h"

#define MINUTE_US (60 * US_PER_S)

static SettingsHistory history_of(Accounts *accounts)
{
    SettingsHistory history = {NULL, 0};
    EXPECT_STATUS(settings_read(accounts_settings(accounts), contract_arena(), &history),
                  STATUS_OK);
    return history;
}

static Status set(const char *name, const char *value, int64_t from_us)
{
    return settings_set(accounts_settings(fixture.accounts), slice_from(name), slice_from(value),
                        from_us, NULL);
}

TEST(at_first_there_is_version_zero)
{
    fixture_begin();
    SettingsHistory history = history_of(fixture.accounts);
    EXPECT_I64(history.count, 1);
    EXPECT_I64(history.versions[0].version, 0);
    EXPECT_I64(history.versions[0].salary, SETTINGS_AT_FIRST.salary);
    fixture_end();
}

TEST(versions_are_appended_each_with_one_value_changed)
{
    fixture_begin();
    int64_t now_us = contract_now_us();
    EXPECT_STATUS(set("salary", "200", 0), STATUS_OK);
    EXPECT_STATUS(set("salary_days", "1", now_us + DAY_US), STATUS_OK);
    EXPECT_STATUS(set("withdrawal_percent", "10", 0), STATUS_OK); /* not before the last one */
    fixture_restart();
    SettingsHistory history = history_of(fixture.accounts);
    EXPECT_I64(history.count, 4);
    EXPECT_I64(history.versions[1].from_us, now_us + 15 * MINUTE_US);
    EXPECT_I64(history.versions[1].salary, 200);
    EXPECT_I64(history.versions[2].salary, 200);
    EXPECT_I64(history.versions[2].salary_days, 1);
    EXPECT_I64(history.versions[2].from_us, now_us + DAY_US);
    EXPECT_I64(history.versions[3].from_us, now_us + DAY_US);
    EXPECT_I64(history.versions[3].withdrawal_percent, 10);
    EXPECT_I64(history.versions[3].version, 3);
    fixture_end();
}

TEST(a_setting_lies_at_least_a_quarter_of_an_hour_ahead)
{
    fixture_begin();
    int64_t now_us = contract_now_us();
    EXPECT_STATUS(set("salary", "1", now_us + 15 * MINUTE_US - 1), STATUS_REFUSED);
    EXPECT_STATUS(set("salary", "1", 1), STATUS_REFUSED);
    EXPECT_STATUS(set("salary", "1", -1), STATUS_REFUSED);
    EXPECT_STATUS(set("salary", "1", SETTING_TIME_MAX + 1), STATUS_INVALID);
    EXPECT_STATUS(set("salary", "1", INT64_MAX), STATUS_INVALID);
    EXPECT_STATUS(set("salary", "-1", 0), STATUS_INVALID);
    EXPECT_STATUS(set("bribe", "1", 0), STATUS_INVALID);
    EXPECT_I64(history_of(fixture.accounts).count, 1);
    EXPECT_STATUS(set("salary", "1", now_us + 15 * MINUTE_US), STATUS_OK);
    EXPECT_STATUS(set("salary", "2", now_us + DAY_US), STATUS_OK);
    EXPECT_STATUS(set("salary", "3", now_us + DAY_US - 1), STATUS_REFUSED);
    EXPECT_I64(history_of(fixture.accounts).count, 3);
    fixture_end();
}

TEST(another_instance_sees_it_within_a_minute)
{
    fixture_begin();
    EXPECT_I64(history_of(fixture.honest).count, 1);
    EXPECT_STATUS(set("salary", "200", 0), STATUS_OK);
    EXPECT_I64(history_of(fixture.accounts).count, 2); /* its own at once */
    contract_pass_s(SETTING_CACHE_S - 1);
    EXPECT_I64(history_of(fixture.honest).count, 1);
    contract_pass_s(1);
    EXPECT_I64(history_of(fixture.honest).count, 2);
    fixture_end();
}

TEST(the_number_of_versions_has_a_bound)
{
    fixture_begin();
    for (int i = 1; i <= SETTING_VERSIONS_MAX; i++)
        EXPECT_STATUS(set("salary", i % 2 == 0 ? "1" : "2", 0), STATUS_OK);
    EXPECT_STATUS(set("salary", "3", 0), STATUS_REFUSED);
    EXPECT_I64(history_of(fixture.honest).count, SETTING_VERSIONS_MAX + 1);
    fixture_end();
}

TEST(a_row_that_cannot_be_ours_is_corrupt)
{
    fixture_begin();
    SettingsHistory history = {NULL, 77};
    Change changes[] = {put(SLICE("head"), SLICE("nonsense"), 0)};
    EXPECT_STATUS(
        contract_update(&TABLE_SETTINGS, SLICE("voting"), when_absent(SLICE("head")), changes, 1),
        STATUS_OK);
    EXPECT_STATUS(settings_read(accounts_settings(fixture.accounts), contract_arena(), &history),
                  STATUS_CORRUPT);
    EXPECT_I64(history.count, 77);
    fixture_end();
}

/* ---- Calls that go wrong ------------------------------------------------------------------------------------- */

/* The n-th call of a change goes wrong, for all n. What was told must hold, now and when all that was late has come. */
static bool try_fault(int n, FaultFate fate, int lasts)
{
    size_t before = history_of(fixture.honest).count;
    faulty_plan(&fixture.faulty, n, fate, lasts);
    Status status = set("salary", "7", 0);
    bool struck = faulty_struck(&fixture.faulty);
    fixture.faulty.at = 0;
    contract_pass_s(SETTING_CACHE_S);
    size_t count = history_of(fixture.honest).count;
    if (status == STATUS_OK)
        EXPECT_I64(count, before + 1);
    else if (status != STATUS_UNKNOWN)
        EXPECT_I64(count, before);
    /* The time of the version comes; all saves are judged by what is read then, for ever. */
    fixture_pass_days(1);
    count = history_of(fixture.honest).count;
    faulty_deliver(&fixture.faulty);
    contract_pass_s(SETTING_CACHE_S);
    EXPECT_I64(history_of(fixture.honest).count, count);
    EXPECT_STATUS(set("salary", "8", 0), STATUS_OK);
    fixture_pass_days(1);
    return struck;
}

static const int LASTS[] = {FAULT_ONCE, FAULT_OUTAGE, FAULT_FOREVER};

TEST(a_write_that_comes_late_does_not_change_the_past)
{
    fixture_begin();
    for (int fate = 0; fate < FAULT_FATES; fate++)
        for (int i = 0; i < 3; i++)
            for (int n = 1; try_fault(n, (FaultFate)fate, LASTS[i]); n++)
                EXPECT(n < 40);
    fixture_end();
}

/* Somebody reads, and judges by it as long as a cache lasts, for times as far ahead as a save's may be; the write comes late in
 * between. As long as the plan is not near, it may come true, and is in time. */
TEST(whoever_has_read_is_right_for_as_long_as_a_cache_lasts)
{
    static const int READ_S[] = {900, 800, 700, 661, 600, 300, 60, 30, 1, 0, -1};
    for (size_t i = 0; i < sizeof READ_S / sizeof READ_S[0]; i++) {
        fixture_begin();
        int64_t from_us = contract_now_us() + DAY_US;
        faulty_plan(&fixture.faulty, 3, FAULT_LATE, FAULT_FOREVER); /* read, plan, append */
        EXPECT_STATUS(set("salary", "7", from_us), STATUS_UNKNOWN);
        contract_set_now_us(from_us - READ_S[i] * US_PER_S);
        int64_t judged_us = contract_now_us() + (SETTING_CACHE_S + 600) * US_PER_S;
        SettingsHistory history = history_of(fixture.honest);
        uint32_t version = settings_at(&history, judged_us)->version;
        faulty_deliver(&fixture.faulty);
        contract_pass_s(SETTING_CACHE_S);
        history = history_of(fixture.honest);
        EXPECT_I64(settings_at(&history, judged_us)->version, version);
        EXPECT_I64(history.count, READ_S[i] > 780 ? 2 : 1);
    }
    fixture_end();
}

static int64_t met_us;
static uint32_t met_version;

/* The one who changes a setting sleeps for twenty minutes, and somebody judges in the meantime. */
static void sleep_and_judge(void)
{
    contract_pass_s(20 * 60);
    SettingsHistory history = history_of(fixture.honest);
    met_us = contract_now_us();
    met_version = settings_at(&history, met_us)->version;
}

TEST(who_stalls_while_changing_a_setting_does_not_change_the_past)
{
    bool more = true;
    for (int n = 1; more; n++) {
        InterleavingStore interleaved;
        fixture_begin();
        interleaving_store_init(&interleaved, fixture.store);
        AccountsOptions options = fixture_options(&interleaved.store);
        Accounts *hooked = accounts_new(&options);
        interleaving_store_plan(&interleaved, n, sleep_and_judge);
        Status status =
            settings_set(accounts_settings(hooked), SLICE("salary"), SLICE("7"), 0, NULL);
        more = interleaving_store_struck(&interleaved);
        contract_pass_s(SETTING_CACHE_S);
        SettingsHistory history = history_of(fixture.honest);
        if (more)
            EXPECT_I64(settings_at(&history, met_us)->version, met_version);
        EXPECT_STATUS(status, !more ? STATUS_OK : n == 3 ? STATUS_CONFLICT : STATUS_UNAVAILABLE);
        accounts_free(hooked);
    }
    fixture_end();
}

TEST(a_plan_that_was_forgotten_hinders_nobody)
{
    fixture_begin();
    faulty_plan(&fixture.faulty, 3, FAULT_REFUSED,
                FAULT_FOREVER); /* read, plan, and then nothing */
    EXPECT_STATUS(set("salary", "7", 0), STATUS_UNAVAILABLE);
    fixture_restart();
    EXPECT_I64(history_of(fixture.honest).count, 1);
    EXPECT_STATUS(set("salary", "8", 0), STATUS_OK);
    SettingsHistory history = history_of(fixture.honest);
    contract_pass_s(SETTING_CACHE_S);
    history = history_of(fixture.honest);
    EXPECT_I64(history.count, 2);
    EXPECT_I64(history.versions[1].salary, 8);
    fixture_end();
}
