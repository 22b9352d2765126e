/* reopen_test.c -- what a store that opens again brings: writes whose outcome was not known, and marks that are gone. */
#include "app/instance_sync.h"

#include "app/app.h"
#include "faulty.h"
#include "store/rocksdb/rocksdb.h"
#include "test.h"
#include "world.h"

static struct {
    TestWorld own;
    World world;
    Config config;
    Store *store;
    Faulty faulty;
    App app;
    Ranking *ranking;
    Arena *arena;
    uint64_t ann, policy;
    uint64_t heard; /* the last policy of which a listener heard */
} site;

static void hear(void *self, ChangeKind kind, uint64_t id)
{
    (void)self;
    if (kind == CHANGE_POLICY)
        site.heard = id;
}

static void begin(void)
{
    Reason reason = {.rule = ""};
    SaveResult result = {.created = 0};
    site.arena = arena_new();
    site.heard = 0;
    site.world = test_world(&site.own, 1);
    config_defaults(&site.config);
    RocksdbOptions options = {.directory = test_directory(),
                              .create = true,
                              .cache_bytes = 8 * 1024 * 1024,
                              .write_buffer_bytes = 4 * 1024 * 1024,
                              .grace_s = 10 * 86400,
                              .reopen_s = 1,
                              .world = site.world,
                              .tables = TABLES};
    EXPECT_STATUS(store_rocksdb_open(&options, &site.store, &reason), STATUS_OK);
    faulty_init(&site.faulty, site.store, site.arena);
    AppParts parts = {&site.faulty.store, site.world, vault_for_tests(1), &site.config};
    EXPECT_STATUS(app_open(&parts, &site.app, &reason), STATUS_OK);
    changes_listen(site.app.changes, (ChangeListener){hear, NULL});
    Registration person = {.name = SLICE("ann"),
                           .email = SLICE("ann@example.org"),
                           .without_password = true,
                           .confirmed = true};
    EXPECT_STATUS(accounts_register(site.app.accounts, &person, &site.ann, &reason), STATUS_OK);
    PolicyText text = {.name = SLICE("Trams"),
                       .description = SLICE_EMPTY,
                       .rationale = SLICE_EMPTY,
                       .category = 1};
    SaveRequest request = {.voter = site.ann, .create = &text, .create_held = 100};
    EXPECT_STATUS(votes_save(site.app.votes, &request, site.arena, &result, &reason), STATUS_OK);
    site.policy = result.created;
    EXPECT_STATUS(app_ranking(&site.app, &site.ranking), STATUS_OK);
}

static void end(void)
{
    app_close(&site.app);
    store_close(site.store);
    arena_free(site.arena);
}

static size_t moves_known(void)
{
    PolicyNews news = {.listed = 0};
    EXPECT_STATUS(policies_news(site.app.policies, site.policy, site.arena, &news), STATUS_OK);
    return news.facts.move_count;
}

static bool is_ranked(void)
{
    RankPlace place;
    return ranking_place(site.ranking, &(RankQuery){0}, site.policy, &place) == STATUS_OK;
}

TEST(a_move_that_landed_after_all_is_heard_by_cache_ranking_and_listeners)
{
    begin();
    EXPECT_I64((int64_t)moves_known(), 2);
    EXPECT(is_ranked());
    PolicyMove move = {.state = POLICY_PENDING_DELETION, .reason = SLICE("It is abuse.")};
    bool landed = false;
    for (int n = 1; !landed; n++) { /* until it is the update itself that is late */
        faulty_plan(&site.faulty, n, FAULT_LATE, FAULT_OUTAGE);
        Status status =
            policies_move(site.app.policies, site.policy, POLICY_ACTIVE, &move, &(Reason){0});
        faulty_arrive(&site.faulty, 0);
        landed = status == STATUS_UNKNOWN && site.faulty.has_late;
    }
    instance_sync_look(site.app.sync);
    EXPECT_I64((int64_t)moves_known(), 2);
    EXPECT(site.heard == 0);
    test_world_pass(&site.own, 300 * US_PER_S); /* read-only, shorter than the cache is kept */
    faulty_deliver(&site.faulty);               /* it has opened again, and the move is there */
    EXPECT_I64((int64_t)moves_known(), 3);
    EXPECT(is_ranked());
    instance_sync_look(site.app.sync);
    EXPECT(!is_ranked());
    EXPECT_I64((int64_t)site.heard, (int64_t)site.policy);
    site.heard = 0;
    instance_sync_look(site.app.sync);
    EXPECT_I64((int64_t)site.heard, 0); /* once */
    end();
}

/* ---- Marks of counts ----------------------------------------------------------------------------------------------------- */

/* Answers lazy plain writes and loses them, as a sync does that fails. */
typedef struct Losing {
    Store store;
    Store *real;
    StoreEngine engine;
    bool loses;
    uint64_t generation;
} Losing;

static Status write_some(Store *store, const Batch *batches, size_t count, Status *ret_statuses)
{
    Losing *losing = (Losing *)store;
    for (size_t i = 0; i < count; i++) {
        ret_statuses[i] = STATUS_OK;
        if (!losing->loses || !batches[i].lazy)
            TRY(losing->real->engine->write_many(losing->real, &batches[i], 1, &ret_statuses[i]));
    }
    return STATUS_OK;
}

static uint64_t generation_of(Store *store)
{
    return ((Losing *)store)->generation;
}

/* The rest is the real store's: its functions find it by the address that they are given. */
static Status read_real(Store *store, const Read *read, Arena *arena, Cell *ret_cell)
{
    Store *real = ((Losing *)store)->real;
    return real->engine->read(real, read, arena, ret_cell);
}

static Status read_many_real(Store *store, const Read *reads, size_t count, Arena *arena,
                             ReadAnswer *ret_answers)
{
    Store *real = ((Losing *)store)->real;
    return real->engine->read_many(real, reads, count, arena, ret_answers);
}

static Status slice_real(Store *store, const Query *query, Arena *arena, Page *ret_page)
{
    Store *real = ((Losing *)store)->real;
    return real->engine->slice(real, query, arena, ret_page);
}

static Status scan_real(Store *store, const Table *table, Slice position, uint32_t limit,
                        Arena *arena, ScanPage *ret_page)
{
    Store *real = ((Losing *)store)->real;
    return real->engine->scan(real, table, position, limit, arena, ret_page);
}

static Status update_real(Store *store, const Update *update, Arena *arena, Found *ret_found)
{
    Store *real = ((Losing *)store)->real;
    return real->engine->update_if(real, update, arena, ret_found);
}

static void count_mark(void *context, VotesMark mark)
{
    *(size_t *)context += mark.policy == site.policy;
}

static size_t marks_of_policy(uint32_t minute)
{
    size_t count = 0;
    EXPECT_STATUS(votes_changed(site.app.votes, minute, 0, count_mark, &count), STATUS_OK);
    return count;
}

TEST(a_mark_that_a_reopen_lost_is_made_again)
{
    begin();
    SaveResult result;
    Losing losing = {.store = site.faulty.store,
                     .real = site.store,
                     .engine = {.name = "losing",
                                .generation = generation_of,
                                .read = read_real,
                                .read_many = read_many_real,
                                .slice = slice_real,
                                .scan = scan_real,
                                .write_many = write_some,
                                .update_if = update_real},
                     .loses = true};
    losing.store.engine = &losing.engine;
    Votes *votes = votes_new(&(VotesOptions){.store = &losing.store,
                                             .world = site.world,
                                             .accounts = site.app.accounts,
                                             .policies = site.app.policies});
    test_world_pass(&site.own, 7 * S_PER_DAY * US_PER_S);
    uint32_t minute = (uint32_t)(clock_now_us(site.world.clock) / (60 * US_PER_S));
    VoterState state;
    EXPECT_STATUS(votes_show(votes, site.ann, site.arena, &state), STATUS_OK);
    VoteRequest want = {.policy = site.policy, .held = 110};
    SaveRequest request = {
        .voter = site.ann, .seen = state.version, .vote_requests = &want, .vote_request_count = 1};
    EXPECT_STATUS(votes_save(votes, &request, site.arena, &result, &(Reason){0}), STATUS_OK);
    EXPECT_STATUS(votes_project(votes, &site.ann, 1), STATUS_OK);
    EXPECT_I64((int64_t)marks_of_policy(minute), 0);
    losing.loses = false;
    losing.generation++;
    EXPECT_STATUS(votes_project(votes, &site.ann, 1), STATUS_OK);
    EXPECT_I64((int64_t)marks_of_policy(minute), 1);
    votes_free(votes);
    end();
}
