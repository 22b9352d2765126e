/* groups_test.c -- categories and parties. */
#include "policies_fixture.h"

static Status set(GroupKind kind, uint64_t id, Slice name, bool active, uint64_t *ret_id)
{
    Reason reason;
    PolicyGroup group = {
        .id = id, .name = name, .description = SLICE("More of it."), .active = active};
    return policies_set_group(fixture.policies, kind, &group, ret_id, &reason);
}

static size_t groups_of(GroupKind kind, PolicyGroup **ret_groups)
{
    size_t count = 0;
    EXPECT_STATUS(policies_groups(fixture.policies, kind, fixture.arena, ret_groups, &count),
                  STATUS_OK);
    return count;
}

TEST(the_default_categories_are_there_once)
{
    PolicyGroup *groups;
    policies_fixture_begin();
    for (int i = 0; i < 3; i++) {
        EXPECT_I64(groups_of(GROUP_CATEGORY, &groups), POLICY_CATEGORY_COUNT);
        for (size_t k = 0; k < POLICY_CATEGORY_COUNT; k++) {
            EXPECT_I64(groups[k].id, k + 1);
            EXPECT_SLICE(groups[k].name, POLICY_CATEGORIES[k]);
            EXPECT(groups[k].active);
        }
        policies_fixture_restart();
        EXPECT_STATUS(policies_ensure_categories(fixture.policies, POLICY_CATEGORIES,
                                                 POLICY_CATEGORY_COUNT, NULL),
                      STATUS_OK);
    }
    EXPECT_I64(groups_of(GROUP_PARTY, &groups), 0);
    policies_fixture_end();
}

TEST(a_renamed_or_disabled_category_is_left_alone)
{
    PolicyGroup *groups;
    uint64_t id;
    Slice more[] = {SLICE("EDUCATION"), SLICE("Sports")};
    policies_fixture_begin();
    EXPECT_STATUS(set(GROUP_CATEGORY, 1, SLICE("Education"), false, &id), STATUS_OK);
    EXPECT_STATUS(policies_ensure_categories(fixture.policies, more, 2, NULL), STATUS_OK);
    EXPECT_I64(groups_of(GROUP_CATEGORY, &groups), POLICY_CATEGORY_COUNT + 1);
    EXPECT(!groups[0].active);
    EXPECT_SLICE(groups[POLICY_CATEGORY_COUNT].name, SLICE("Sports"));
    policies_fixture_end();
}

TEST(names_are_unique_within_a_kind)
{
    uint64_t first = 0, second = 0, id = 0;
    policies_fixture_begin();
    EXPECT_STATUS(set(GROUP_PARTY, 0, SLICE("Die Gr\xC3\xBCnen"), true, &first), STATUS_OK);
    EXPECT_STATUS(set(GROUP_PARTY, 0, SLICE("DIE GR\xC3\x9CNEN"), true, &id), STATUS_REFUSED);
    EXPECT_STATUS(set(GROUP_PARTY, 0, SLICE("die gru\xCC\x88nen"), true, &id), STATUS_REFUSED);
    EXPECT_STATUS(set(GROUP_PARTY, 0, SLICE("Education"), true, &second), STATUS_OK);
    EXPECT(first != second);
    EXPECT_STATUS(set(GROUP_PARTY, second, SLICE("die gr\xC3\xBCnen"), true, &id), STATUS_REFUSED);
    EXPECT_STATUS(set(GROUP_PARTY, first, SLICE("die gr\xC3\xBCnen"), true, &id), STATUS_OK);
    EXPECT_I64(id, first);
    EXPECT_STATUS(set(GROUP_PARTY, 99, SLICE("Nobody"), true, &id), STATUS_NOT_FOUND);
    policies_fixture_end();
}

TEST(what_is_set_can_be_read)
{
    Reason reason;
    PolicyGroup *groups;
    uint64_t id = 0;
    PolicyGroup group = {
        .name = SLICE("The Party"), .description = SLICE("Two\nlines"), .active = true};
    policies_fixture_begin();
    EXPECT_STATUS(policies_set_group(fixture.policies, GROUP_PARTY, &group, &id, &reason),
                  STATUS_OK);
    EXPECT_I64(groups_of(GROUP_PARTY, &groups), 1);
    EXPECT_SLICE(groups[0].name, group.name);
    EXPECT_SLICE(groups[0].description, group.description);
    group = (PolicyGroup){.id = id, .name = SLICE("Another"), .description = SLICE_EMPTY};
    EXPECT_STATUS(policies_set_group(fixture.policies, GROUP_PARTY, &group, &id, &reason),
                  STATUS_OK);
    EXPECT_I64(groups_of(GROUP_PARTY, &groups), 1);
    EXPECT_SLICE(groups[0].name, SLICE("Another"));
    EXPECT_I64(groups[0].description.size, 0);
    EXPECT(!groups[0].active);
    policies_fixture_end();
}

TEST(bounds_of_names_and_descriptions)
{
    Reason reason = {.field = ""};
    uint64_t id = 0;
    char text[4 * GROUP_DESCRIPTION_MAX + 4];
    policies_fixture_begin();
    for (size_t i = 0; i <= GROUP_DESCRIPTION_MAX; i++)
        memcpy(text + 4 * i, "\xF0\x9F\x97\xB3", 4);
    PolicyGroup group = {.name = slice_of(text, 4 * GROUP_NAME_MAX),
                         .description = slice_of(text, 4 * GROUP_DESCRIPTION_MAX),
                         .active = true};
    EXPECT_STATUS(policies_set_group(fixture.policies, GROUP_PARTY, &group, &id, &reason),
                  STATUS_OK);
    group.name.size += 4;
    EXPECT_STATUS(policies_set_group(fixture.policies, GROUP_PARTY, &group, &id, &reason),
                  STATUS_INVALID);
    EXPECT_SLICE(slice_from(reason.field), SLICE("name"));
    group.name.size = 0;
    EXPECT_STATUS(policies_set_group(fixture.policies, GROUP_PARTY, &group, &id, &reason),
                  STATUS_INVALID);
    group.name = SLICE("x");
    group.description.size += 4;
    EXPECT_STATUS(policies_set_group(fixture.policies, GROUP_PARTY, &group, &id, &reason),
                  STATUS_INVALID);
    EXPECT_SLICE(slice_from(reason.field), SLICE("description"));
    group.description = SLICE_EMPTY;
    EXPECT_STATUS(policies_set_group(fixture.policies, GROUP_PARTY, &group, &id, &reason),
                  STATUS_OK);
    policies_fixture_end();
}

static Slice name_of(GroupKind kind, uint64_t id)
{
    Slice name = SLICE("never");
    EXPECT_STATUS(policies_group_name(fixture.policies, kind, id, fixture.arena, &name), STATUS_OK);
    return name;
}

TEST(the_name_of_a_group_is_the_new_one_at_once)
{
    uint64_t id = 0;
    policies_fixture_begin();
    EXPECT_SLICE(name_of(GROUP_PARTY, 1), SLICE_EMPTY); /* kept as missing, */
    EXPECT_STATUS(set(GROUP_PARTY, 0, SLICE("Greens"), true, &id), STATUS_OK);
    EXPECT_SLICE(name_of(GROUP_PARTY, id), SLICE("Greens")); /* and no longer */
    EXPECT_SLICE(name_of(GROUP_PARTY, id), SLICE("Greens"));
    EXPECT_STATUS(set(GROUP_PARTY, id, SLICE("Blues"), false, &id), STATUS_OK);
    EXPECT_SLICE(name_of(GROUP_PARTY, id), SLICE("Blues"));
    EXPECT_SLICE(name_of(GROUP_CATEGORY, 1), POLICY_CATEGORIES[0]); /* kinds have their own */
    EXPECT_SLICE(name_of(GROUP_PARTY, 0), SLICE_EMPTY);
    EXPECT_SLICE(name_of(GROUP_PARTY, id + 1), SLICE_EMPTY);
    policies_fixture_end();
}

TEST(a_disabled_group_stays_on_its_policies_and_takes_no_new_ones)
{
    Reason reason = {.field = ""};
    uint64_t party = 0, id = 0;
    policies_fixture_begin();
    EXPECT_STATUS(set(GROUP_PARTY, 0, SLICE("The Party"), true, &party), STATUS_OK);
    NewPolicy policy = policies_fixture_new("Free buses");
    policy.text.party = party;
    EXPECT_STATUS(policies_create(fixture.policies, &policy, &reason), STATUS_OK);
    EXPECT_STATUS(policies_fixture_move(policy.id, POLICY_ACTIVE), STATUS_OK);
    EXPECT_STATUS(set(GROUP_PARTY, party, SLICE("The Party"), false, &id), STATUS_OK);
    EXPECT_STATUS(set(GROUP_CATEGORY, 1, SLICE("Education"), false, &id), STATUS_OK);
    EXPECT_STATUS(policies_create(fixture.policies, &policy, &reason), STATUS_OK); /* again */
    NewPolicy other = policies_fixture_new("Free trams");
    other.text.party = party;
    other.text.category = 2;
    EXPECT_STATUS(policies_create(fixture.policies, &other, &reason), STATUS_REFUSED);
    EXPECT_SLICE(slice_from(reason.field), SLICE("party"));
    policy.text.name = SLICE("Free buses for all");
    EXPECT_STATUS(policies_edit(fixture.policies, policy.id,
                                policies_fixture_read(policy.id).version, &policy.text, 1, &reason),
                  STATUS_OK);
    EXPECT_I64(policies_fixture_read(policy.id).text.party, party);
    policy.text.party = 0;
    EXPECT_STATUS(policies_edit(fixture.policies, policy.id,
                                policies_fixture_read(policy.id).version, &policy.text, 1, &reason),
                  STATUS_OK);
    policy.text.party = party;
    EXPECT_STATUS(policies_edit(fixture.policies, policy.id,
                                policies_fixture_read(policy.id).version, &policy.text, 1, &reason),
                  STATUS_REFUSED);
    policies_fixture_end();
}

TEST(there_are_at_most_a_thousand)
{
    PolicyGroup *groups;
    uint64_t id = 0;
    policies_fixture_begin();
    for (int i = 0; i < GROUPS_MAX; i++) {
        ARENA_SCOPE Arena *arena = arena_new();
        EXPECT_STATUS(set(GROUP_PARTY, 0, arena_print(arena, "Party %d", i), true, &id), STATUS_OK);
    }
    EXPECT_STATUS(set(GROUP_PARTY, 0, SLICE("One more"), true, &id), STATUS_REFUSED);
    EXPECT_STATUS(set(GROUP_PARTY, 7, SLICE("Another name"), true, &id), STATUS_OK);
    EXPECT_I64(groups_of(GROUP_PARTY, &groups), GROUPS_MAX);
    policies_fixture_end();
}
