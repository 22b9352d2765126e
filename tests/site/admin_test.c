/* admin_test.c -- the rules of the rooms of admins that need no store: who may set whose rights, and what a change of a rule does. */
#include "site/admin/admin.h"

#include "test.h"

static const uint32_t ADMIN = 1u << ROLE_ADMIN, EDITS = 1u << ROLE_EDIT_USERS;

static Account person(uint64_t id, uint32_t roles)
{
    return (Account){.id = id, .state = ACCOUNT_CONFIRMED, .roles = roles};
}

static Status judge(Account who, Account of, uint32_t roles, uint32_t denied)
{
    Reason reason = {.rule = ""};
    AccountRights rights = {.roles = roles, .denied = denied};
    Actor actor = {.account = &who, .roles = who.roles};
    Status status = person_rights_rule(&actor, &of, &rights, &reason);
    EXPECT(status == STATUS_OK || reason.rule[0] != '\0');
    return status;
}

TEST(only_admins_give_roles_and_touch_admins)
{
    Account admin = person(1, ADMIN), editor = person(2, EDITS), voter = person(3, 0);
    EXPECT_STATUS(judge(admin, voter, EDITS, 0), STATUS_OK);
    EXPECT_STATUS(judge(editor, voter, 0, 1u << RIGHT_VOTE), STATUS_OK);
    EXPECT_STATUS(judge(editor, voter, EDITS, 0), STATUS_DENIED);
    EXPECT_STATUS(judge(editor, editor, EDITS | ADMIN, 0), STATUS_DENIED);
    EXPECT_STATUS(judge(editor, admin, ADMIN, 1u << RIGHT_VOTE), STATUS_DENIED);
    EXPECT_STATUS(judge(editor, admin, 0, 0), STATUS_DENIED);
}

TEST(nobody_locks_themselves_out)
{
    Account admin = person(1, ADMIN), other = person(4, ADMIN), editor = person(2, EDITS);
    EXPECT_STATUS(judge(admin, admin, 0, 0), STATUS_REFUSED);
    EXPECT_STATUS(judge(admin, other, 0, 0), STATUS_OK);
    EXPECT_STATUS(judge(admin, admin, ADMIN, 1u << RIGHT_LOG_IN), STATUS_REFUSED);
    EXPECT_STATUS(judge(editor, editor, EDITS, 1u << RIGHT_LOG_IN), STATUS_REFUSED);
    EXPECT_STATUS(judge(admin, admin, ADMIN | EDITS, 0), STATUS_OK);
}

TEST(a_preview_says_what_changes_and_nothing_else)
{
    ARENA_SCOPE Arena *arena = arena_new();
    VotingSettings before = SETTINGS_AT_FIRST, after = SETTINGS_AT_FIRST;
    SettingEffect effects[SETTING_EFFECTS_MAX];
    EXPECT_I64(setting_effects(&before, &after, arena, effects), 0);
    after.withdrawal_percent = 30;
    EXPECT_I64(setting_effects(&before, &after, arena, effects), 1);
    EXPECT_SLICE(effects[0].before, SLICE("50 pollies"));
    EXPECT_SLICE(effects[0].after, SLICE("70 pollies"));
    after = before;
    after.salary_days = 2;
    EXPECT_I64(setting_effects(&before, &after, arena, effects), 2);
    EXPECT_SLICE(effects[1].before, SLICE("100 pollies"));
    EXPECT_SLICE(effects[1].after, SLICE("350 pollies"));
    after.salary_days = 30;
    EXPECT_I64(setting_effects(&before, &after, arena, effects), 2);
    EXPECT_SLICE(effects[1].after, SLICE("23.3 pollies"));
}

TEST(a_newcomer_without_a_salary_never_saves_up)
{
    ARENA_SCOPE Arena *arena = arena_new();
    VotingSettings before = SETTINGS_AT_FIRST, after = SETTINGS_AT_FIRST;
    SettingEffect effects[SETTING_EFFECTS_MAX];
    after.salary = 0;
    size_t count = setting_effects(&before, &after, arena, effects);
    EXPECT_I64(count, 3);
    EXPECT_SLICE(effects[2].before, SLICE("0 days"));
    EXPECT_SLICE(effects[2].after, SLICE("never"));
    after.salary = 30; /* 100 is reached with the fourth */
    count = setting_effects(&before, &after, arena, effects);
    EXPECT_SLICE(effects[count - 1].after, SLICE("21 days"));
}
