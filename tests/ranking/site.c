/* site.c -- see site.h. */
#include "site.h"

#include "store/rocksdb/rocksdb.h"

Site site;

/* ---- Beginning and end ------------------------------------------------------------------------------------------- */

bool site_is_shared;

static void open_modules(void)
{
    RankingOptions ranking = {.store = site.store,
                              .world = site.world,
                              .policies = site.policies,
                              .window_days = SITE_WINDOW,
                              .shared = site_is_shared};
    site.ranking = ranking_new(&ranking);
    VotesOptions votes = {.store = site.store,
                          .world = site.world,
                          .accounts = site.accounts,
                          .policies = site.policies,
                          .listener = ranking_listener(site.ranking),
                          .shared = site_is_shared};
    site.votes = votes_new(&votes);
}

static void make_people(void)
{
    Reason reason = {.rule = ""};
    for (size_t i = 0; i < SITE_VOTERS; i++) {
        Registration person = {.name = arena_print(site.arena, "voter%zu", i),
                               .email = arena_print(site.arena, "voter%zu@example.org", i),
                               .without_password = true,
                               .confirmed = true,
                               .registered_us = TEST_WORLD_START_US - 2000 * DAY_US};
        EXPECT_STATUS(accounts_register(site.accounts, &person, &site.voters[i], &reason),
                      STATUS_OK);
    }
}

static void make_groups(void)
{
    Reason reason = {.rule = ""};
    for (int i = 0; i < SITE_CATEGORIES + SITE_PARTIES; i++) {
        uint64_t id;
        PolicyGroup group = {.name = arena_print(site.arena, "group %d", i),
                             .description = SLICE("About it."),
                             .active = true};
        EXPECT_STATUS(policies_set_group(site.policies,
                                         i < SITE_CATEGORIES ? GROUP_CATEGORY : GROUP_PARTY, &group,
                                         &id, &reason),
                      STATUS_OK);
    }
}

void site_begin(uint64_t seed)
{
    Reason reason = {.rule = ""};
    site = (Site){.arena = arena_new()};
    site.world = test_world(&site.own, seed);
    RocksdbOptions store = {.directory = test_directory(),
                            .create = true,
                            .cache_bytes = 8 * 1024 * 1024,
                            .write_buffer_bytes = 4 * 1024 * 1024,
                            .grace_s = 10 * 86400,
                            .reopen_s = 1,
                            .world = site.world,
                            .tables = TABLES};
    EXPECT_STATUS(store_rocksdb_open(&store, &site.real, &reason), STATUS_OK);
    between_init(&site.between, site.real);
    site.store = &site.between.store;
    AccountsOptions accounts = {.store = site.store,
                                .world = site.world,
                                .vault = test_vault(),
                                .hasher = password_bcrypt(4),
                                .id_block = 16};
    site.accounts = accounts_new(&accounts);
    PoliciesOptions policies = {
        .store = site.store, .world = site.world, .id_block = 4, .cache_s = 60};
    site.policies = policies_new(&policies);
    make_people();
    make_groups();
    open_modules();
    EXPECT_STATUS(ranking_load(site.ranking, site.votes), STATUS_OK);
}

static void close_modules(void)
{
    votes_free(site.votes);
    ranking_free(site.ranking);
}

void site_end(void)
{
    close_modules();
    policies_free(site.policies);
    accounts_free(site.accounts);
    store_close(site.real);
    arena_free(site.arena);
}

void site_restart(void)
{
    size_t behind;
    Slice position = SLICE_EMPTY;
    close_modules();
    open_modules();
    for (bool more = true; more;)
        EXPECT_STATUS(votes_sweep_page(site.votes, position, site.arena, &position, &more, &behind),
                      STATUS_OK);
    EXPECT_STATUS(ranking_load(site.ranking, site.votes), STATUS_OK);
}

Other site_other(void)
{
    Site mine = site;
    open_modules();
    Other other = {site.ranking, site.votes};
    site.ranking = mine.ranking;
    site.votes = mine.votes;
    return other;
}

void site_part(Other *other)
{
    votes_free(other->votes);
    ranking_free(other->ranking);
}

uint64_t site_below(uint64_t bound)
{
    return random_u64(site.world.random) % bound;
}

/* ---- Doing something ----------------------------------------------------------------------------------------------- */

static SaveResult save(size_t voter, SaveRequest request)
{
    Reason reason = {.rule = ""};
    SaveResult result;
    VoterState state;
    request.voter = site.voters[voter];
    EXPECT_STATUS(votes_show(site.votes, request.voter, site.arena, &state), STATUS_OK);
    request.seen = state.version;
    EXPECT_STATUS(votes_save(site.votes, &request, site.arena, &result, &reason), STATUS_OK);
    return result;
}

uint64_t site_create(uint64_t category, uint64_t party)
{
    CHECK(site.count < SITE_POLICIES_MAX);
    PolicyText text = {.name = arena_print(site.arena, "Policy %zu", site.count),
                       .description = SLICE("What."),
                       .rationale = SLICE("Why."),
                       .category = category,
                       .party = party};
    SaveRequest request = {.create = &text, .create_held = 100};
    SaveResult result = save(0, request);
    EXPECT_I64(result.outcome, SAVE_SAVED);
    site.ids[site.count++] = result.created;
    EXPECT_STATUS(ranking_policy_changed(site.ranking, result.created), STATUS_OK);
    return result.created;
}

void site_hold_at(size_t voter, uint64_t policy, int64_t held, int64_t time_us)
{
    VoteRequest want = {.policy = policy, .held = held};
    SaveRequest request = {.vote_requests = &want, .vote_request_count = 1, .time_us = time_us};
    EXPECT_I64(save(voter, request).outcome, SAVE_SAVED);
}

void site_hold(size_t voter, uint64_t policy, int64_t held)
{
    site_hold_at(voter, policy, held, 0);
}

static Policy read_policy(uint64_t policy)
{
    Policy row;
    EXPECT_STATUS(policies_fresh(site.policies, policy, site.arena, &row), STATUS_OK);
    return row;
}

PolicyState site_state(uint64_t policy)
{
    Policy row = read_policy(policy);
    return row.facts.moves[row.facts.move_count - 1].state;
}

void site_move(uint64_t policy, PolicyState to)
{
    Reason reason = {.rule = ""};
    PolicyMove move = {.state = to, .actor = 1, .reason = SLICE("so")};
    EXPECT_STATUS(policies_move(site.policies, policy, site_state(policy), &move, &reason),
                  STATUS_OK);
    EXPECT_STATUS(ranking_policy_changed(site.ranking, policy), STATUS_OK);
}

void site_merge(uint64_t source, uint64_t target)
{
    Reason reason = {.rule = ""};
    EXPECT_STATUS(policies_merge(site.policies, source, target, 1, SLICE("same"), &reason),
                  STATUS_OK);
    EXPECT_STATUS(ranking_policy_changed(site.ranking, source), STATUS_OK);
    EXPECT_STATUS(ranking_policy_changed(site.ranking, target), STATUS_OK);
}

void site_edit(uint64_t policy, uint64_t category, uint64_t party)
{
    Reason reason = {.rule = ""};
    Policy row = read_policy(policy);
    row.text.category = category;
    row.text.party = party;
    EXPECT_STATUS(policies_edit(site.policies, policy, row.version, &row.text, 1, &reason),
                  STATUS_OK);
    EXPECT_STATUS(ranking_policy_changed(site.ranking, policy), STATUS_OK);
}

void site_project(void)
{
    size_t taken = 1;
    while (taken > 0)
        EXPECT_STATUS(votes_project_waiting(site.votes, 100, &taken), STATUS_OK);
}

/* ---- Anything ------------------------------------------------------------------------------------------------------- */

static uint64_t any_active(void)
{
    for (int i = 0; i < 50; i++) {
        uint64_t policy = site.ids[site_below(site.count)];
        if (site_state(policy) == POLICY_ACTIVE)
            return policy;
    }
    return site_create(1, 0);
}

static void step_save(void)
{
    VoteRequest vote_requests[3];
    size_t count = 0;
    for (int i = 0; i < 3; i++) {
        VoteRequest want = {.policy = any_active(), .held = (int64_t)site_below(30)};
        bool again = false;
        for (size_t k = 0; k < count; k++)
            again = again || vote_requests[k].policy == want.policy;
        if (!again)
            vote_requests[count++] = want;
    }
    SaveRequest request = {.vote_requests = vote_requests,
                           .vote_request_count = 1 + site_below(count)};
    (void)save(site_below(SITE_VOTERS), request); /* or refused: without pollies */
}

static void step_move(void)
{
    uint64_t policy = site.ids[site_below(site.count)], target = any_active();
    PolicyState state = site_state(policy);
    if (state == POLICY_PENDING_DELETION)
        site_move(policy, site_below(2) == 0 ? POLICY_ACTIVE : POLICY_DELETED);
    else if (state == POLICY_ACTIVE && policy != target && site_below(2) == 0)
        site_merge(policy, target);
    else if (state == POLICY_ACTIVE)
        site_move(policy, site_below(3) == 0 ? POLICY_RETIRED : POLICY_PENDING_DELETION);
}

void site_step(void)
{
    uint64_t luck = site_below(100);
    if (site.count < 4 || (luck < 6 && site.count < SITE_POLICIES_MAX))
        site_create(1 + site_below(SITE_CATEGORIES), site_below(SITE_PARTIES + 1));
    else if (luck < 10)
        step_move();
    else if (luck < 13)
        site_edit(any_active(), 1 + site_below(SITE_CATEGORIES), site_below(SITE_PARTIES + 1));
    else if (luck < 20)
        test_world_pass(&site.own, (int64_t)site_below(20) * HOUR_US);
    else if (luck < 30)
        site_project();
    else
        step_save();
    arena_reset(site.arena);
}
