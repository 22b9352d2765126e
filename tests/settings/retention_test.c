/* retention_test.c -- how long things are kept: the setting, new entries, and what the task deletes. */
#include "settings/retention.h"

#include "access/sessions.h"
#include "accounts_fixture.h"

static const SessionOrigin HOME = {.address = {"192.0.2.1", 9}, .agent = {"Browser", 7}};

static Retention periods(void)
{
    Retention retention = {.version = 0};
    EXPECT_STATUS(retention_read(accounts_settings(fixture.honest), contract_arena(), &retention),
                  STATUS_OK);
    return retention;
}

static Retention keep_logins(int64_t days)
{
    Retention before = periods(), after = before;
    EXPECT_STATUS(retention_change(&before, SLICE("logins"), days, &after, NULL), STATUS_OK);
    EXPECT_STATUS(retention_set(accounts_settings(fixture.accounts), &after, NULL), STATUS_OK);
    return periods();
}

static size_t logins_of(uint64_t id)
{
    Login *logins;
    size_t count = 0;
    EXPECT_STATUS(logins_list(fixture.honest, id, contract_arena(), &logins, &count), STATUS_OK);
    return count;
}

static uint64_t delete_old(int64_t days)
{
    LoginsPage page = {.position = SLICE_EMPTY, .more = true};
    uint64_t deleted = 0;
    while (page.more) {
        EXPECT_STATUS(
            logins_delete_old(fixture.accounts, days, page.position, contract_arena(), &page),
            STATUS_OK);
        deleted += page.deleted;
    }
    return deleted;
}

TEST(periods_have_defaults_and_bounds)
{
    fixture_begin();
    Retention before = periods(), after;
    Reason reason = {.rule = ""};
    EXPECT_I64(before.logins, LOGINS_DAYS);
    EXPECT_I64(before.signals, SIGNALS_DAYS);
    EXPECT_I64(before.version, 0);
    EXPECT_STATUS(retention_change(&before, SLICE("logins"), 0, &after, &reason), STATUS_INVALID);
    EXPECT_SLICE(slice_from(reason.field), SLICE("logins"));
    EXPECT_STATUS(retention_change(&before, SLICE("acts"), 29, &after, &reason), STATUS_INVALID);
    EXPECT_STATUS(retention_change(&before, SLICE("votes"), 30, &after, &reason), STATUS_INVALID);
    fixture_end();
}

TEST(of_two_who_change_a_period_one_is_told)
{
    fixture_begin();
    Retention seen = periods(), after = seen;
    EXPECT_I64(keep_logins(30).logins, 30);
    EXPECT_STATUS(retention_change(&seen, SLICE("signals"), 10, &after, NULL), STATUS_OK);
    EXPECT_STATUS(retention_set(accounts_settings(fixture.accounts), &after, NULL),
                  STATUS_CONFLICT);
    EXPECT_I64(periods().signals, SIGNALS_DAYS);
    fixture_restart();
    EXPECT_I64(periods().logins, 30);
    EXPECT_I64(periods().version, 1);
    fixture_end();
}

TEST(a_shorter_period_deletes_what_is_older_and_nothing_else)
{
    fixture_begin();
    uint64_t alice = fixture_confirmed("alice");
    EXPECT_STATUS(logins_note_failure(fixture.accounts, alice, &HOME), STATUS_OK);
    fixture_pass_days(5);
    EXPECT_STATUS(logins_note_failure(fixture.accounts, alice, &HOME), STATUS_OK);
    EXPECT_I64(delete_old(90), 0);
    EXPECT_I64(logins_of(alice), 2);
    EXPECT_I64(delete_old(keep_logins(4).logins), 1);
    EXPECT_I64(logins_of(alice), 1);
    EXPECT_I64(delete_old(4), 0);
    fixture_end();
}

TEST(new_entries_expire_after_the_period_that_the_handle_knows)
{
    fixture_begin();
    uint64_t alice = fixture_confirmed("alice");
    Retention retention = keep_logins(2);
    accounts_keep(fixture.accounts, &retention);
    EXPECT_STATUS(logins_note_failure(fixture.accounts, alice, &HOME), STATUS_OK);
    EXPECT_STATUS(logins_note_failure(fixture.honest, alice, &HOME), STATUS_OK);
    EXPECT_I64(logins_of(alice), 2);
    fixture_pass_days(3);
    EXPECT_I64(logins_of(alice), 1); /* of the handle that has not learned it yet */
    fixture_end();
}
