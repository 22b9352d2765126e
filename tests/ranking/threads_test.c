/* threads_test.c -- loads and refreshes while many save: nothing is lost, nothing is counted twice.
 *
 * Threads save on few policies, so that each of them always has something under way; two of them share a voter, so that saves
 * are refused as stale, too; the first voter makes policies. Projectors run beside them. In the end, without reading anything again, the ranking that was loaded in the
 * middle of it must be what the logs say. */
#include <pthread.h>

#include "site.h"

enum { SAVERS = SITE_VOTERS, PROJECTORS = 2, HOT = 5 };

static atomic_bool stopping;
static _Atomic int failures;
static _Atomic int stale, saved;

static void note_failure(bool failed)
{
    if (failed)
        failures++;
}

static void save_once(size_t voter, uint64_t *luck, Arena *arena)
{
    Reason reason;
    VoterState state;
    SaveResult result;
    VoteRequest vote_requests[2];
    *luck = *luck * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    size_t at = *luck >> 33 & 0xffff;
    vote_requests[0] = (VoteRequest){.policy = site.ids[at % HOT], .held = (int64_t)(at % 29)};
    vote_requests[1] =
        (VoteRequest){.policy = site.ids[(at + 1) % HOT], .held = (int64_t)(at % 31)};
    if (votes_show(site.votes, site.voters[voter], arena, &state) != STATUS_OK) {
        failures++;
        return;
    }
    SaveRequest request = {.voter = site.voters[voter],
                           .seen = state.version,
                           .vote_requests = vote_requests,
                           .vote_request_count = 1 + at % 2};
    Status status = votes_save(site.votes, &request, arena, &result, &reason);
    note_failure(status != STATUS_OK);
    if (status == STATUS_OK) {
        stale += result.outcome == SAVE_STALE;
        saved += result.outcome == SAVE_SAVED;
        note_failure(result.outcome == SAVE_UNKNOWN);
    }
}

static void *run_saver(void *context)
{
    size_t number = *(const size_t *)context;
    uint64_t luck = number + 1;
    Arena *arena = arena_new();
    for (int i = 0; i < 40 && !stopping; i++) {
        save_once(1 + number % (SITE_VOTERS - 1), &luck, arena);
        arena_reset(arena);
    }
    arena_free(arena);
    return NULL;
}

static void *run_projector(void *context)
{
    (void)context;
    while (!stopping) {
        size_t taken = 0;
        note_failure(votes_project_waiting(site.votes, 3, &taken) != STATUS_OK);
        if (taken == 0)
            sched_yield();
    }
    return NULL;
}

typedef struct Crew {
    pthread_t savers[SAVERS], projectors[PROJECTORS];
    size_t numbers[SAVERS];
} Crew;

static void crew_start(Crew *crew)
{
    stopping = false;
    for (size_t i = 0; i < SAVERS; i++) {
        crew->numbers[i] = i;
        CHECK(pthread_create(&crew->savers[i], NULL, run_saver, &crew->numbers[i]) == 0);
    }
    for (size_t i = 0; i < PROJECTORS; i++)
        CHECK(pthread_create(&crew->projectors[i], NULL, run_projector, NULL) == 0);
}

static void crew_stop(Crew *crew)
{
    for (size_t i = 0; i < SAVERS; i++)
        pthread_join(crew->savers[i], NULL);
    stopping = true;
    for (size_t i = 0; i < PROJECTORS; i++)
        pthread_join(crew->projectors[i], NULL);
}

static void begin(uint64_t seed)
{
    site_begin(seed);
    failures = stale = saved = 0;
    for (int i = 0; i < HOT; i++)
        site_create(1 + (uint64_t)i % SITE_CATEGORIES, 0);
}

TEST(a_load_while_many_save_is_exact)
{
    Crew crew;
    begin(1);
    for (int round = 0; round < 4; round++) {
        crew_start(&crew);
        for (int i = 0; i < 6; i++)
            EXPECT_STATUS(ranking_load(site.ranking, site.votes), STATUS_OK);
        crew_stop(&crew);
        EXPECT_I64(failures, 0);
        site_check(site.ranking);
    }
    EXPECT(saved > 0 && stale > 0);
    site_end();
}

TEST(a_refresh_while_many_save_is_exact)
{
    Crew crew;
    begin(2);
    for (int round = 0; round < 4; round++) {
        crew_start(&crew);
        for (int i = 0; i < 6; i++)
            EXPECT_STATUS(ranking_refresh(site.ranking), STATUS_OK);
        crew_stop(&crew);
        EXPECT_I64(failures, 0);
        site_check(site.ranking);
    }
    site_end();
}

static void *run_loads(void *context)
{
    (void)context;
    for (int i = 0; i < 8; i++) {
        Status status = ranking_load(site.ranking, site.votes);
        note_failure(status != STATUS_OK && status != STATUS_CONFLICT);
        note_failure(ranking_refresh(site.ranking) != STATUS_OK);
    }
    return NULL;
}

static void *run_reader(void *context)
{
    (void)context;
    Arena *arena = arena_new();
    for (int i = 0; !stopping; i++) {
        RankQuery query = {.days = (uint32_t)i % 32};
        RankPage page;
        RankPlace place;
        note_failure(ranking_page(site.ranking, &query, 0, 3, arena, &page) != STATUS_OK);
        Status status = ranking_place(site.ranking, &query, site.ids[i % HOT], &place);
        note_failure(status != STATUS_OK && status != STATUS_NOT_FOUND);
        arena_reset(arena);
        sched_yield();
    }
    arena_free(arena);
    return NULL;
}

/* Moves and merges beside everything else: the ranking is told of each, as its callers do. */
static void move_around(void)
{
    uint64_t member = site_create(2, 0), gone = site_create(3, 1);
    site_merge(member, site.ids[0]);
    site_move(gone, POLICY_PENDING_DELETION);
    site_edit(site.ids[1], 1 + site_below(SITE_CATEGORIES), 1);
    site_move(gone, POLICY_ACTIVE);
    arena_reset(site.arena);
}

TEST(loads_refreshes_moves_and_questions_together)
{
    Crew crew;
    pthread_t loaders[2], readers[2];
    begin(3);
    for (int round = 0; round < 3; round++) {
        crew_start(&crew);
        for (int i = 0; i < 2; i++) {
            CHECK(pthread_create(&loaders[i], NULL, run_loads, NULL) == 0);
            CHECK(pthread_create(&readers[i], NULL, run_reader, NULL) == 0);
        }
        for (int i = 0; i < 4; i++)
            move_around();
        for (int i = 0; i < 2; i++)
            pthread_join(loaders[i], NULL);
        crew_stop(&crew);
        for (int i = 0; i < 2; i++)
            pthread_join(readers[i], NULL);
        EXPECT_I64(failures, 0);
        site_check(site.ranking);
    }
    site_end();
}
