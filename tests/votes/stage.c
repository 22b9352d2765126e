/* stage.c -- see stage.h. */
#include "stage.h"

#include "store/rocksdb/rocksdb.h"

Stage stage;

static Status cheap_hash(void *self, Slice password, Arena *arena, Slice *ret_hash)
{
    (void)self;
    *ret_hash = arena_copy(arena, password);
    return STATUS_OK;
}

static bool cheap_check(void *self, Slice password, Slice hash)
{
    (void)self;
    return slice_equal(password, hash);
}

Votes *stage_instance(void)
{
    return votes_new(&(VotesOptions){.store = stage.store,
                                     .world = stage.world,
                                     .accounts = stage.accounts,
                                     .policies = stage.policies});
}

static void open_handles(void)
{
    Reason reason = {.rule = ""};
    RocksdbOptions options = {.directory = stage.directory,
                              .create = true,
                              .cache_bytes = 8 * 1024 * 1024,
                              .write_buffer_bytes = 4 * 1024 * 1024,
                              .grace_s = STAGE_GRACE_S,
                              .reopen_s = 1,
                              .world = stage.world,
                              .tables = TABLES};
    EXPECT_STATUS(store_rocksdb_open(&options, &stage.store, &reason), STATUS_OK);
    stage.accounts = accounts_new(&(AccountsOptions){.store = stage.store,
                                                     .world = stage.world,
                                                     .vault = test_vault(),
                                                     .hasher = {cheap_hash, cheap_check, NULL},
                                                     .id_block = 16});
    stage.policies = policies_new(&(PoliciesOptions){
        .store = stage.store, .world = stage.world, .id_block = 16, .cache_s = 60});
    stage.votes = stage_instance();
}

static void close_handles(void)
{
    votes_free(stage.votes);
    policies_free(stage.policies);
    accounts_free(stage.accounts);
    store_close(stage.store);
}

void stage_begin(void)
{
    Reason reason = {.rule = ""};
    stage = (Stage){.arena = arena_new(), .directory = test_directory()};
    stage.world = test_world(&stage.own, 1);
    open_handles();
    EXPECT_STATUS(policies_ensure_categories(stage.policies, POLICY_CATEGORIES,
                                             POLICY_CATEGORY_COUNT, &reason),
                  STATUS_OK);
}

void stage_end(void)
{
    close_handles();
    arena_free(stage.arena);
}

void stage_restart(void)
{
    close_handles();
    open_handles();
}

void stage_pass_days(int days)
{
    test_world_pass(&stage.own, days * S_PER_DAY * US_PER_S);
}

uint64_t stage_voter(const char *name)
{
    Reason reason = {.rule = ""};
    uint64_t id = 0;
    Registration person = {.name = slice_from(name),
                           .email = arena_print(stage.arena, "%s@example.org", name),
                           .without_password = true,
                           .confirmed = true};
    EXPECT_STATUS(accounts_register(stage.accounts, &person, &id, &reason), STATUS_OK);
    return id;
}

uint64_t stage_policy(uint64_t voter, const char *name)
{
    Reason reason = {.rule = ""};
    SaveResult result = {.created = 0};
    PolicyText text = {.name = slice_from(name), .category = STAGE_CATEGORY};
    SaveRequest request = {.voter = voter,
                           .seen = stage_show(voter).version,
                           .create = &text,
                           .create_held = SETTINGS_AT_FIRST.create_cost};
    EXPECT_STATUS(votes_save(stage.votes, &request, stage.arena, &result, &reason), STATUS_OK);
    EXPECT_I64(result.outcome, SAVE_SAVED);
    return result.created;
}

Status stage_try_save(uint64_t voter, uint64_t policy, int64_t held, SaveOutcome *ret_outcome)
{
    ARENA_SCOPE Arena *arena = arena_new();
    VoterState state;
    SaveResult result;
    Reason reason;
    VoteWish wish = {policy, held};
    TRY(votes_show(stage.votes, voter, arena, &state));
    SaveRequest request = {.voter = voter, .seen = state.version, .wishes = &wish, .wish_count = 1};
    TRY(votes_save(stage.votes, &request, arena, &result, &reason));
    *ret_outcome = result.outcome;
    return STATUS_OK;
}

void stage_save(uint64_t voter, uint64_t policy, int64_t held)
{
    SaveOutcome outcome = SAVE_UNKNOWN;
    EXPECT_STATUS(stage_try_save(voter, policy, held, &outcome), STATUS_OK);
    EXPECT_I64(outcome, SAVE_SAVED);
}

void stage_project(void)
{
    for (size_t taken = 1; taken > 0;)
        EXPECT_STATUS(votes_project_waiting(stage.votes, SIZE_MAX, &taken), STATUS_OK);
}

int64_t stage_total(uint64_t policy)
{
    Count count = {.total = -1};
    EXPECT_STATUS(votes_count(stage.votes, policy, stage.arena, &count), STATUS_OK);
    return count.total;
}

VoterState stage_show(uint64_t voter)
{
    VoterState state = {.seq = 0};
    EXPECT_STATUS(votes_show(stage.votes, voter, stage.arena, &state), STATUS_OK);
    return state;
}

PolicyState stage_state(uint64_t policy)
{
    Policy read = {.id = 0};
    EXPECT_STATUS(policies_fresh(stage.policies, policy, stage.arena, &read), STATUS_OK);
    return read.facts.moves[read.facts.move_count - 1].state;
}

void stage_move(uint64_t policy, PolicyState to)
{
    Reason reason = {.rule = ""};
    PolicyMove move = {.state = to, .reason = SLICE("because")};
    EXPECT_STATUS(policies_move(stage.policies, policy, stage_state(policy), &move, &reason),
                  STATUS_OK);
}
