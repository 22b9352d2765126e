/* index_test.c -- lists for browsing: their order, that they keep up, and that they are repaired. */
#include "policies_fixture.h"

enum { LIST_MAX = 64 };

/* All ids of a list, page by page. */
typedef struct Listed {
    uint64_t ids[LIST_MAX];
    size_t count;
} Listed;

static Listed browse(PolicyOrder order, uint64_t group, uint32_t limit)
{
    Listed listed = {.count = 0};
    PolicyQuery query = {.order = order, .group = group, .position = SLICE_EMPTY, .limit = limit};
    bool more = true;
    while (more) {
        PolicyPage page;
        EXPECT_STATUS(policies_browse(fixture.policies, &query, fixture.arena, &page), STATUS_OK);
        EXPECT(page.count <= limit);
        for (size_t i = 0; i < page.count; i++) {
            EXPECT(listed.count < LIST_MAX);
            listed.ids[listed.count++] = page.policies[i].id;
        }
        query.position = page.position;
        more = page.more;
    }
    return listed;
}

static void expect_list(PolicyOrder order, uint64_t group, const uint64_t *expected, size_t count)
{
    for (uint32_t limit = 1; limit <= POLICIES_BROWSE_MAX; limit += 33) {
        Listed listed = browse(order, group, limit);
        EXPECT_I64(listed.count, count);
        for (size_t i = 0; i < count; i++)
            EXPECT_I64(listed.ids[i], expected[i]);
    }
}

#define EXPECT_LIST(order, group, ...)                         \
    expect_list(order, group, (const uint64_t[]){__VA_ARGS__}, \
                sizeof(uint64_t[]){__VA_ARGS__} / sizeof(uint64_t))

/* How many cells the index has, of whatever policies. */
static size_t cells_of_index(void)
{
    ScanPage page;
    EXPECT_STATUS(
        store_scan(fixture.store, &TABLE_POLICY_INDEX, SLICE_EMPTY, 10000, fixture.arena, &page),
        STATUS_OK);
    EXPECT(!page.more);
    return page.count;
}

static void reindex(void)
{
    Slice position = SLICE_EMPTY;
    bool more = true;
    while (more)
        EXPECT_STATUS(
            policies_reindex_page(fixture.policies, position, fixture.arena, &position, &more),
            STATUS_OK);
}

static uint64_t active_in(const char *name, uint64_t category, uint64_t party)
{
    Reason reason;
    NewPolicy policy = policies_fixture_new(name);
    policy.text.category = category;
    policy.text.party = party;
    EXPECT_STATUS(policies_create(fixture.policies, &policy, &reason), STATUS_OK);
    EXPECT_STATUS(policies_fixture_move(policy.id, POLICY_ACTIVE), STATUS_OK);
    test_world_pass(&fixture.own, US_PER_S);
    return policy.id;
}

static void edit(uint64_t id, const char *name, uint64_t category, uint64_t party)
{
    Reason reason;
    PolicyText text = policies_fixture_text(name);
    text.category = category;
    text.party = party;
    EXPECT_STATUS(
        policies_edit(fixture.policies, id, policies_fixture_read(id).version, &text, 1, &reason),
        STATUS_OK);
}

static uint64_t party(const char *name)
{
    Reason reason;
    PolicyGroup group = {.name = slice_from(name), .description = SLICE_EMPTY, .active = true};
    uint64_t id = 0;
    EXPECT_STATUS(policies_set_group(fixture.policies, GROUP_PARTY, &group, &id, &reason),
                  STATUS_OK);
    return id;
}

TEST(by_name_folded_by_date_the_newest_first_by_party_and_category)
{
    policies_fixture_begin();
    uint64_t left = party("Left"), right = party("Right");
    uint64_t c = active_in("cats", 1, left), b = active_in("Bats", 2, right);
    uint64_t a = active_in("ants", 1, right), o = active_in("\xC3\x96gel", 1, 0);
    uint64_t bb = active_in("bats and more", 2, 0);
    EXPECT_LIST(POLICIES_BY_NAME, 0, a, b, bb, c, o);
    EXPECT_LIST(POLICIES_BY_DATE, 0, bb, o, a, b, c);
    EXPECT_LIST(POLICIES_BY_PARTY, left, c);
    EXPECT_LIST(POLICIES_BY_PARTY, right, a, b);
    EXPECT_LIST(POLICIES_BY_CATEGORY, 1, a, c, o);
    EXPECT_LIST(POLICIES_BY_CATEGORY, 2, b, bb);
    EXPECT_I64(browse(POLICIES_BY_CATEGORY, 3, 10).count, 0);
    EXPECT_I64(browse(POLICIES_BY_PARTY, 0, 10).count, 0);
    policies_fixture_end();
}

TEST(equal_names_and_dates_all_stand)
{
    policies_fixture_begin();
    uint64_t a = policies_fixture_active("Same"), b = policies_fixture_active("same"),
             c = policies_fixture_active("SAME");
    EXPECT_LIST(POLICIES_BY_NAME, 0, a, b, c);
    EXPECT_LIST(POLICIES_BY_DATE, 0, c, b, a);
    policies_fixture_end();
}

TEST(an_edit_moves_a_policy_in_its_lists)
{
    policies_fixture_begin();
    uint64_t left = party("Left"), right = party("Right");
    uint64_t a = active_in("ants", 1, left), b = active_in("bats", 1, left);
    edit(a, "zebras", 2, right);
    EXPECT_LIST(POLICIES_BY_NAME, 0, b, a);
    EXPECT_LIST(POLICIES_BY_PARTY, left, b);
    EXPECT_LIST(POLICIES_BY_PARTY, right, a);
    EXPECT_LIST(POLICIES_BY_CATEGORY, 1, b);
    EXPECT_LIST(POLICIES_BY_CATEGORY, 2, a);
    EXPECT_I64(cells_of_index(), 10);
    edit(a, "zebras", 2, 0);
    EXPECT_I64(browse(POLICIES_BY_PARTY, right, 10).count, 0);
    EXPECT_I64(cells_of_index(), 9);
    edit(a, "ants", 1, left);
    edit(a, "zebras", 1, left);
    edit(a, "ants", 1, left);
    EXPECT_LIST(POLICIES_BY_NAME, 0, a, b);
    policies_fixture_end();
}

TEST(only_what_is_active_or_merging_is_in_lists)
{
    policies_fixture_begin();
    uint64_t a = policies_fixture_pending("ants");
    EXPECT_I64(cells_of_index(), 0);
    EXPECT_STATUS(policies_fixture_move(a, POLICY_ACTIVE), STATUS_OK);
    EXPECT_LIST(POLICIES_BY_NAME, 0, a);
    EXPECT_STATUS(policies_fixture_move(a, POLICY_PENDING_DELETION), STATUS_OK);
    EXPECT_I64(cells_of_index(), 1); /* the owner's own list */
    EXPECT_STATUS(policies_fixture_move(a, POLICY_ACTIVE), STATUS_OK);
    EXPECT_LIST(POLICIES_BY_NAME, 0, a);
    uint64_t b = policies_fixture_active("bats");
    policies_fixture_merge(b, a);
    EXPECT_LIST(POLICIES_BY_NAME, 0, a);
    EXPECT_STATUS(policies_fixture_move(a, POLICY_RETIRED), STATUS_OK);
    EXPECT_I64(cells_of_index(), 2);
    policies_fixture_end();
}

TEST(an_owner_finds_what_became_of_each_until_its_text_is_gone)
{
    policies_fixture_begin();
    uint64_t a = policies_fixture_active("ants"), b = policies_fixture_active("bats"),
             c = policies_fixture_active("cats");
    uint64_t d = policies_fixture_active("dogs"), e = policies_fixture_active("eels");
    EXPECT_I64(policies_fixture_pending("foxes") > e, true);
    EXPECT_STATUS(policies_fixture_move(b, POLICY_RETIRED), STATUS_OK);
    policies_fixture_merge(c, a);
    EXPECT_STATUS(policies_fixture_move(d, POLICY_PENDING_DELETION), STATUS_OK);
    EXPECT_LIST(POLICIES_BY_OWNER, POLICIES_FIXTURE_OWNER, e, d, c, b, a);
    EXPECT_I64(browse(POLICIES_BY_OWNER, POLICIES_FIXTURE_OWNER + 1, 10).count, 0);
    EXPECT_STATUS(policies_fixture_move(d, POLICY_DELETED), STATUS_OK);
    EXPECT_STATUS(policies_disown(fixture.policies, e, POLICIES_FIXTURE_OWNER), STATUS_OK);
    EXPECT_LIST(POLICIES_BY_OWNER, POLICIES_FIXTURE_OWNER, c, b, a);
    EXPECT_I64(cells_of_index(), 2 * 3 + 3);
    policies_fixture_end();
}

TEST(a_clock_that_steps_back_does_not_leave_old_places)
{
    policies_fixture_begin();
    uint64_t a = policies_fixture_active("ants");
    edit(a, "bats", 1, 0);
    test_world_step(&fixture.own, -500 * US_PER_S);
    edit(a, "cats", 1, 0);
    EXPECT_I64(cells_of_index(), 4);
    EXPECT_STATUS(policies_fixture_move(a, POLICY_RETIRED), STATUS_OK);
    EXPECT_I64(cells_of_index(), 1);
    policies_fixture_end();
}

/* A write of the index that is lost: its number among the calls of an edit or move does not matter here. */
static void lose_index_writes(void (*run)(uint64_t id), uint64_t id)
{
    fixture.faulty.loses_plain = true;
    run(id);
    fixture.faulty.loses_plain = false;
}

static void rename_it(uint64_t id)
{
    edit(id, "zebras", 2, 0);
}

static void retire_it(uint64_t id)
{
    EXPECT_STATUS(policies_fixture_move(id, POLICY_RETIRED), STATUS_OK);
}

static void restore_it(uint64_t id)
{
    EXPECT_STATUS(policies_fixture_move(id, POLICY_ACTIVE), STATUS_OK);
}

TEST(what_was_not_written_is_not_shown_wrongly_and_is_repaired)
{
    policies_fixture_begin();
    uint64_t a = policies_fixture_active("ants"), b = policies_fixture_active("bats"),
             c = policies_fixture_active("cats");
    EXPECT_STATUS(policies_fixture_move(c, POLICY_PENDING_DELETION), STATUS_OK);
    test_world_pass(&fixture.own, US_PER_S);
    lose_index_writes(rename_it, a);
    lose_index_writes(retire_it, b);
    lose_index_writes(restore_it, c);
    EXPECT_I64(browse(POLICIES_BY_NAME, 0, 10).count, 0);
    EXPECT_LIST(POLICIES_BY_DATE, 0, a);
    test_world_pass(&fixture.own, US_PER_S);
    reindex();
    EXPECT_LIST(POLICIES_BY_NAME, 0, c, a);
    EXPECT_LIST(POLICIES_BY_CATEGORY, 1, c);
    EXPECT_LIST(POLICIES_BY_CATEGORY, 2, a);
    EXPECT_LIST(POLICIES_BY_DATE, 0, c, a);
    EXPECT_I64(cells_of_index(), 2 * 4 + 1);
    policies_fixture_end();
}

TEST(repairing_what_is_right_changes_nothing)
{
    policies_fixture_begin();
    for (int i = 0; i < 30; i++)
        (void)policies_fixture_active("ants");
    size_t before = cells_of_index();
    test_world_pass(&fixture.own, 3600 * US_PER_S);
    reindex();
    EXPECT_I64(cells_of_index(), before);
    ScanPage page;
    EXPECT_STATUS(
        store_scan(fixture.store, &TABLE_POLICY_INDEX, SLICE_EMPTY, 1000, fixture.arena, &page),
        STATUS_OK);
    for (size_t i = 0; i < page.count; i++)
        EXPECT(page.cells[i].cell.timestamp < clock_now_us(fixture.world.clock) - 1800 * US_PER_S);
    policies_fixture_end();
}

/* The first names that begin like `prefix`, two at a time. */
static size_t begin_with(PolicyOrder order, uint64_t group, const char *prefix)
{
    PolicyQuery query = {.order = order,
                         .group = group,
                         .prefix = slice_from(prefix),
                         .position = SLICE_EMPTY,
                         .limit = 2};
    size_t count = 0;
    for (bool more = true; more;) {
        PolicyPage page;
        EXPECT_STATUS(policies_browse(fixture.policies, &query, fixture.arena, &page), STATUS_OK);
        count += page.count;
        query.position = page.position;
        more = page.more;
    }
    return count;
}

TEST(names_are_found_by_how_they_begin)
{
    static char long_prefix[600];
    static const char *const NAMES[] = {"Clean rivers", "clean air", "Cleaner buses",
                                        "Zebra \u00d6ko", "Cle"};
    policies_fixture_begin();
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++)
        (void)policies_fixture_active(NAMES[i]);
    EXPECT_I64(begin_with(POLICIES_BY_NAME, 0, ""), 5);
    EXPECT_I64(begin_with(POLICIES_BY_NAME, 0, "CLE"), 4);
    EXPECT_I64(begin_with(POLICIES_BY_NAME, 0, "clean"), 3);
    EXPECT_I64(begin_with(POLICIES_BY_NAME, 0, "clean "), 2);
    EXPECT_I64(begin_with(POLICIES_BY_NAME, 0, "Clean rivers"), 1);
    EXPECT_I64(begin_with(POLICIES_BY_NAME, 0, "Clean rivers 2"), 0);
    EXPECT_I64(begin_with(POLICIES_BY_NAME, 0, "zebra \u00f6"), 1);
    EXPECT_I64(begin_with(POLICIES_BY_CATEGORY, 1, "cle"), 4);
    EXPECT_I64(begin_with(POLICIES_BY_CATEGORY, 2, "cle"), 0);
    memset(long_prefix, 'c', sizeof long_prefix - 1);
    PolicyQuery query = {.prefix = slice_from(long_prefix), .position = SLICE_EMPTY, .limit = 2};
    PolicyPage page;
    EXPECT_STATUS(policies_browse(fixture.policies, &query, fixture.arena, &page), STATUS_INVALID);
    policies_fixture_end();
}

TEST(bad_pages_are_refused)
{
    static char position[5000];
    PolicyPage page;
    Slice next;
    bool more;
    policies_fixture_begin();
    PolicyQuery query = {.position = SLICE_EMPTY, .limit = 0};
    EXPECT_STATUS(policies_browse(fixture.policies, &query, fixture.arena, &page), STATUS_INVALID);
    query.limit = POLICIES_BROWSE_MAX + 1;
    EXPECT_STATUS(policies_browse(fixture.policies, &query, fixture.arena, &page), STATUS_INVALID);
    query.limit = POLICIES_BROWSE_MAX;
    query.position = slice_of(position, sizeof position);
    EXPECT_STATUS(policies_browse(fixture.policies, &query, fixture.arena, &page), STATUS_INVALID);
    query.position = SLICE("zzz"); /* nobody's, and behind all */
    EXPECT_STATUS(policies_browse(fixture.policies, &query, fixture.arena, &page), STATUS_OK);
    EXPECT(page.count == 0 && !page.more);
    EXPECT_STATUS(policies_reindex_page(fixture.policies, SLICE("x"), fixture.arena, &next, &more),
                  STATUS_INVALID);
    EXPECT_STATUS(policies_reindex_page(fixture.policies, SLICE("rx"), fixture.arena, &next, &more),
                  STATUS_INVALID);
    policies_fixture_end();
}
