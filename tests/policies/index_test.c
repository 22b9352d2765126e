/* index_test.c -- lists for browsing: their order, that they keep up, and that they are repaired. */
#include "stage.h"

enum { LIST_MOST = 64 };

/* All ids of a list, page by page. */
typedef struct Listed {
    uint64_t ids[LIST_MOST];
    size_t count;
} Listed;

static Listed browse(PolicyOrder order, uint64_t group, uint32_t limit)
{
    Listed listed = {.count = 0};
    PolicyQuery query = {.order = order, .group = group, .position = SLICE_EMPTY, .limit = limit};
    bool more = true;
    while (more) {
        PolicyPage page;
        EXPECT_STATUS(policies_browse(stage.policies, &query, stage.arena, &page), STATUS_OK);
        EXPECT(page.count <= limit);
        for (size_t i = 0; i < page.count; i++) {
            EXPECT(listed.count < LIST_MOST);
            listed.ids[listed.count++] = page.policies[i].id;
        }
        query.position = page.position;
        more = page.more;
    }
    return listed;
}

static void expect_list(PolicyOrder order, uint64_t group, const uint64_t *expected, size_t count)
{
    for (uint32_t limit = 1; limit <= POLICIES_BROWSE_MOST; limit += 33) {
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
        store_scan(stage.store, &TABLE_POLICY_INDEX, SLICE_EMPTY, 10000, stage.arena, &page),
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
            policies_reindex_page(stage.policies, position, stage.arena, &position, &more),
            STATUS_OK);
}

static uint64_t active_in(const char *name, uint64_t category, uint64_t party)
{
    Reason reason;
    NewPolicy policy = stage_new(name);
    policy.text.category = category;
    policy.text.party = party;
    EXPECT_STATUS(policies_create(stage.policies, &policy, &reason), STATUS_OK);
    EXPECT_STATUS(stage_move(policy.id, POLICY_ACTIVE), STATUS_OK);
    test_world_pass(&stage.own, US_PER_S);
    return policy.id;
}

static void edit(uint64_t id, const char *name, uint64_t category, uint64_t party)
{
    Reason reason;
    PolicyText text = stage_text(name);
    text.category = category;
    text.party = party;
    EXPECT_STATUS(policies_edit(stage.policies, id, stage_read(id).version, &text, 1, &reason),
                  STATUS_OK);
}

static uint64_t party(const char *name)
{
    Reason reason;
    Group group = {.name = slice_from(name), .description = SLICE_EMPTY, .active = true};
    uint64_t id = 0;
    EXPECT_STATUS(policies_set_group(stage.policies, GROUP_PARTY, &group, &id, &reason), STATUS_OK);
    return id;
}

TEST(by_name_folded_by_date_the_newest_first_by_party_and_category)
{
    stage_begin();
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
    stage_end();
}

TEST(equal_names_and_dates_all_stand)
{
    stage_begin();
    uint64_t a = stage_active("Same"), b = stage_active("same"), c = stage_active("SAME");
    EXPECT_LIST(POLICIES_BY_NAME, 0, a, b, c);
    EXPECT_LIST(POLICIES_BY_DATE, 0, c, b, a);
    stage_end();
}

TEST(an_edit_moves_a_policy_in_its_lists)
{
    stage_begin();
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
    stage_end();
}

TEST(only_what_is_active_or_merging_is_in_lists)
{
    stage_begin();
    uint64_t a = stage_pending("ants");
    EXPECT_I64(cells_of_index(), 0);
    EXPECT_STATUS(stage_move(a, POLICY_ACTIVE), STATUS_OK);
    EXPECT_LIST(POLICIES_BY_NAME, 0, a);
    EXPECT_STATUS(stage_move(a, POLICY_PENDING_DELETION), STATUS_OK);
    EXPECT_I64(cells_of_index(), 1); /* the owner's own list */
    EXPECT_STATUS(stage_move(a, POLICY_ACTIVE), STATUS_OK);
    EXPECT_LIST(POLICIES_BY_NAME, 0, a);
    uint64_t b = stage_active("bats");
    stage_merge(b, a);
    EXPECT_LIST(POLICIES_BY_NAME, 0, a);
    EXPECT_STATUS(stage_move(a, POLICY_RETIRED), STATUS_OK);
    EXPECT_I64(cells_of_index(), 2);
    stage_end();
}

TEST(an_owner_finds_what_became_of_each_until_its_text_is_gone)
{
    stage_begin();
    uint64_t a = stage_active("ants"), b = stage_active("bats"), c = stage_active("cats");
    uint64_t d = stage_active("dogs"), e = stage_active("eels");
    EXPECT_I64(stage_pending("foxes") > e, true);
    EXPECT_STATUS(stage_move(b, POLICY_RETIRED), STATUS_OK);
    stage_merge(c, a);
    EXPECT_STATUS(stage_move(d, POLICY_PENDING_DELETION), STATUS_OK);
    EXPECT_LIST(POLICIES_BY_OWNER, STAGE_OWNER, e, d, c, b, a);
    EXPECT_I64(browse(POLICIES_BY_OWNER, STAGE_OWNER + 1, 10).count, 0);
    EXPECT_STATUS(stage_move(d, POLICY_DELETED), STATUS_OK);
    EXPECT_STATUS(policies_disown(stage.policies, e, STAGE_OWNER), STATUS_OK);
    EXPECT_LIST(POLICIES_BY_OWNER, STAGE_OWNER, c, b, a);
    EXPECT_I64(cells_of_index(), 2 * 3 + 3);
    stage_end();
}

TEST(a_clock_that_steps_back_does_not_leave_old_places)
{
    stage_begin();
    uint64_t a = stage_active("ants");
    edit(a, "bats", 1, 0);
    test_world_step(&stage.own, -600 * US_PER_S);
    edit(a, "cats", 1, 0);
    EXPECT_I64(cells_of_index(), 4);
    EXPECT_STATUS(stage_move(a, POLICY_RETIRED), STATUS_OK);
    EXPECT_I64(cells_of_index(), 1);
    stage_end();
}

/* A write of the index that is lost: its number among the calls of an edit or move does not matter here. */
static void lose_index_writes(void (*run)(uint64_t id), uint64_t id)
{
    stage.faulty.loses_plain = true;
    run(id);
    stage.faulty.loses_plain = false;
}

static void rename_it(uint64_t id)
{
    edit(id, "zebras", 2, 0);
}

static void retire_it(uint64_t id)
{
    EXPECT_STATUS(stage_move(id, POLICY_RETIRED), STATUS_OK);
}

static void restore_it(uint64_t id)
{
    EXPECT_STATUS(stage_move(id, POLICY_ACTIVE), STATUS_OK);
}

TEST(what_was_not_written_is_not_shown_wrongly_and_is_repaired)
{
    stage_begin();
    uint64_t a = stage_active("ants"), b = stage_active("bats"), c = stage_active("cats");
    EXPECT_STATUS(stage_move(c, POLICY_PENDING_DELETION), STATUS_OK);
    test_world_pass(&stage.own, US_PER_S);
    lose_index_writes(rename_it, a);
    lose_index_writes(retire_it, b);
    lose_index_writes(restore_it, c);
    EXPECT_I64(browse(POLICIES_BY_NAME, 0, 10).count, 0);
    EXPECT_LIST(POLICIES_BY_DATE, 0, a);
    test_world_pass(&stage.own, US_PER_S);
    reindex();
    EXPECT_LIST(POLICIES_BY_NAME, 0, c, a);
    EXPECT_LIST(POLICIES_BY_CATEGORY, 1, c);
    EXPECT_LIST(POLICIES_BY_CATEGORY, 2, a);
    EXPECT_LIST(POLICIES_BY_DATE, 0, c, a);
    EXPECT_I64(cells_of_index(), 2 * 4 + 1);
    stage_end();
}

TEST(repairing_what_is_right_changes_nothing)
{
    stage_begin();
    for (int i = 0; i < 30; i++)
        (void)stage_active("ants");
    size_t before = cells_of_index();
    test_world_pass(&stage.own, 3600 * US_PER_S);
    reindex();
    EXPECT_I64(cells_of_index(), before);
    ScanPage page;
    EXPECT_STATUS(
        store_scan(stage.store, &TABLE_POLICY_INDEX, SLICE_EMPTY, 1000, stage.arena, &page),
        STATUS_OK);
    for (size_t i = 0; i < page.count; i++)
        EXPECT(page.cells[i].cell.timestamp < clock_now_us(stage.world.clock) - 1800 * US_PER_S);
    stage_end();
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
        EXPECT_STATUS(policies_browse(stage.policies, &query, stage.arena, &page), STATUS_OK);
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
    stage_begin();
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++)
        (void)stage_active(NAMES[i]);
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
    EXPECT_STATUS(policies_browse(stage.policies, &query, stage.arena, &page), STATUS_INVALID);
    stage_end();
}

TEST(bad_pages_are_refused)
{
    static char position[5000];
    PolicyPage page;
    Slice next;
    bool more;
    stage_begin();
    PolicyQuery query = {.position = SLICE_EMPTY, .limit = 0};
    EXPECT_STATUS(policies_browse(stage.policies, &query, stage.arena, &page), STATUS_INVALID);
    query.limit = POLICIES_BROWSE_MOST + 1;
    EXPECT_STATUS(policies_browse(stage.policies, &query, stage.arena, &page), STATUS_INVALID);
    query.limit = POLICIES_BROWSE_MOST;
    query.position = slice_of(position, sizeof position);
    EXPECT_STATUS(policies_browse(stage.policies, &query, stage.arena, &page), STATUS_INVALID);
    query.position = SLICE("zzz"); /* nobody's, and behind all */
    EXPECT_STATUS(policies_browse(stage.policies, &query, stage.arena, &page), STATUS_OK);
    EXPECT(page.count == 0 && !page.more);
    EXPECT_STATUS(policies_reindex_page(stage.policies, SLICE("x"), stage.arena, &next, &more),
                  STATUS_INVALID);
    EXPECT_STATUS(policies_reindex_page(stage.policies, SLICE("rx"), stage.arena, &next, &more),
                  STATUS_INVALID);
    stage_end();
}
