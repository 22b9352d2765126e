/* featured_test.c -- featured policies: one order, each once, from when until when, and none is lost between two who change the list. */
#include "policies/featured.h"

#include "accounts_fixture.h"

static Policies *policies;

static Policies *open_on(Store *store)
{
    return policies_new(
        &(PoliciesOptions){.store = store, .world = fixture.world, .id_block = 16, .cache_s = 60});
}

static void begin(void)
{
    policies_free(policies);
    fixture_begin();
    policies = open_on(fixture.store);
    EXPECT_STATUS(policies_ensure_categories(policies, POLICY_CATEGORIES, POLICY_CATEGORY_COUNT,
                                             &(Reason){0}),
                  STATUS_OK);
}

static void end(void)
{
    policies_free(policies);
    policies = NULL;
    fixture_end();
}

static uint64_t new_policy(void)
{
    uint64_t id = 0;
    EXPECT_STATUS(policies_next_id(policies, &id), STATUS_OK);
    NewPolicy policy = {.id = id,
                        .text = {.name = SLICE("Clean rivers"),
                                 .description = SLICE("x"),
                                 .rationale = SLICE("y"),
                                 .category = 1},
                        .version = id_new(fixture.world.clock, fixture.world.random),
                        .time_us = contract_now_us()};
    EXPECT_STATUS(policies_create(policies, &policy, &(Reason){0}), STATUS_OK);
    return id;
}

static Status feature(FeatureRequest want)
{
    return policies_feature(policies, &want, NULL);
}

static size_t listed(Featured **ret_list)
{
    size_t count = 0;
    EXPECT_STATUS(policies_featured(policies, contract_arena(), ret_list, &count), STATUS_OK);
    return count;
}

static void expect_order(const uint64_t *ids, size_t count)
{
    Featured *list;
    EXPECT_I64(listed(&list), count);
    for (size_t i = 0; i < count; i++)
        EXPECT_I64(list[i].policy, ids[i]);
}

TEST(a_place_moves_the_others_on)
{
    begin();
    uint64_t a = new_policy(), b = new_policy(), c = new_policy();
    expect_order(NULL, 0);
    EXPECT_STATUS(feature((FeatureRequest){.policy = a}), STATUS_OK);
    EXPECT_STATUS(feature((FeatureRequest){.policy = b}), STATUS_OK);
    EXPECT_STATUS(feature((FeatureRequest){.policy = c, .place = 1}), STATUS_OK);
    expect_order((uint64_t[]){c, a, b}, 3);
    EXPECT_STATUS(feature((FeatureRequest){.policy = c, .place = 2}), STATUS_OK);
    expect_order((uint64_t[]){a, c, b}, 3);
    EXPECT_STATUS(feature((FeatureRequest){.policy = a}), STATUS_OK); /* stays where it is */
    expect_order((uint64_t[]){a, c, b}, 3);
    EXPECT_STATUS(feature((FeatureRequest){.policy = a, .place = FEATURED_MAX}), STATUS_OK);
    expect_order((uint64_t[]){c, b, a}, 3);
    EXPECT_STATUS(policies_unfeature(policies, b), STATUS_OK);
    EXPECT_STATUS(policies_unfeature(policies, b), STATUS_OK);
    expect_order((uint64_t[]){c, a}, 2);
    end();
}

TEST(times_decide_what_is_shown)
{
    Featured featured = {.from_us = 100, .until_us = 200};
    EXPECT(!featured_is_shown(&featured, 99) && featured_is_shown(&featured, 100));
    EXPECT(featured_is_shown(&featured, 199) && !featured_is_shown(&featured, 200));
    EXPECT(!featured_is_over(&featured, 199) && featured_is_over(&featured, 200));
    featured.until_us = 0;
    EXPECT(featured_is_shown(&featured, INT64_MAX) && !featured_is_over(&featured, INT64_MAX));
}

TEST(what_cannot_be_featured_is_named)
{
    begin();
    uint64_t policy = new_policy();
    int64_t now_us = contract_now_us();
    const struct {
        FeatureRequest want;
        Status expected;
        const char *field;
    } CASES[] = {
        {{.policy = policy, .place = FEATURED_MAX + 1}, STATUS_INVALID, "place"},
        {{.policy = policy, .from_us = -1}, STATUS_INVALID, "from"},
        {{.policy = policy, .until_us = now_us}, STATUS_INVALID, "until"},
        {{.policy = policy, .from_us = now_us + 10, .until_us = now_us + 10},
         STATUS_INVALID,
         "until"},
        {{.policy = policy + 1000}, STATUS_NOT_FOUND, "policy"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        Reason reason = {0};
        EXPECT_STATUS(policies_feature(policies, &CASES[i].want, &reason), CASES[i].expected);
        EXPECT_SLICE(slice_from(reason.field), slice_from(CASES[i].field));
    }
    PolicyMove move = {.state = POLICY_RETIRED};
    EXPECT_STATUS(policies_move(policies, policy, POLICY_ACTIVE, &move, NULL), STATUS_OK);
    EXPECT_STATUS(feature((FeatureRequest){.policy = policy}), STATUS_REFUSED);
    expect_order(NULL, 0);
    end();
}

TEST(a_full_list_drops_what_is_over_the_longest)
{
    begin();
    uint64_t first = 0;
    for (int i = 0; i < FEATURED_MAX; i++) {
        uint64_t id = new_policy();
        first = first == 0 ? id : first;
        int64_t until_us = contract_now_us() + (100 - i) * US_PER_S;
        EXPECT_STATUS(feature((FeatureRequest){.policy = id, .until_us = until_us}), STATUS_OK);
    }
    uint64_t more = new_policy();
    EXPECT_STATUS(feature((FeatureRequest){.policy = more}), STATUS_REFUSED);
    contract_pass_s(1000);
    EXPECT_STATUS(feature((FeatureRequest){.policy = more}), STATUS_OK);
    Featured *list;
    EXPECT_I64(listed(&list), FEATURED_MAX);
    EXPECT_I64(list[0].policy,
               first); /* its end was the last; that of the last was the first, and gone */
    EXPECT_I64(list[FEATURED_MAX - 1].policy, more);
    end();
}

enum { THREADS = 8 };
typedef struct Race {
    uint64_t ids[THREADS];
    Status told[THREADS];
} Race;

static void feature_one(int index, void *context)
{
    Race *race = context;
    FeatureRequest want = {.policy = race->ids[index], .place = 1};
    race->told[index] = policies_feature(policies, &want, NULL);
}

TEST(none_is_lost_between_many)
{
    begin();
    Race race;
    for (int i = 0; i < THREADS; i++)
        race.ids[i] = new_policy();
    contract_threads(THREADS, feature_one, &race);
    Featured *list;
    EXPECT_I64(listed(&list), THREADS);
    for (int i = 0; i < THREADS; i++)
        EXPECT_STATUS(race.told[i], STATUS_OK);
    end();
}

/* Told OK: it stands. Told anything but UNKNOWN: it does not. */
static bool feature_with_fault(uint64_t policy, int n, FaultFate fate)
{
    Policies *faulty = open_on(&fixture.faulty.store);
    FeatureRequest want = {.policy = policy};
    fixture.faulty.calls = 0;
    faulty_plan(&fixture.faulty, n, fate, FAULT_FOREVER);
    Status told = policies_feature(faulty, &want, NULL);
    bool struck = faulty_struck(&fixture.faulty);
    fixture.faulty.at = 0;
    faulty_deliver(&fixture.faulty);
    policies_free(faulty);
    Featured *list;
    size_t count = listed(&list);
    EXPECT(count <= 1);
    if (told == STATUS_OK)
        EXPECT_I64(count, 1);
    else if (told != STATUS_UNKNOWN)
        EXPECT_I64(count, 0);
    EXPECT_STATUS(policies_unfeature(policies, policy), STATUS_OK);
    return struck;
}

TEST(a_fault_at_every_call)
{
    begin();
    uint64_t policy = new_policy();
    for (int fate = 0; fate < FAULT_FATES; fate++)
        for (int n = 1; feature_with_fault(policy, n, (FaultFate)fate); n++)
            EXPECT(n < 100);
    end();
}
