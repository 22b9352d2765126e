/* merge_test.c -- two policies with many voters become one while people vote: totals are exact at every moment, nothing is found wrong
 * afterwards, and each voter can take theirs back in full.
 *
 * OSTRAKA_MERGE_VOTERS says how many voters each policy has (500). Savers keep books of their own: what each save that was answered
 * changed. Every now and then a judge stops them between two saves and holds the ranking against the books, while the merge goes
 * on. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "ledger_fixture.h"
#include "ranking/ranking.h"
#include "verify/verify.h"

enum {
    SAVERS = 4,
    LOADERS = 8,
    LINES = 3,
    FIRST_HELD = 40,
    SALARY_DAYS = 70,
    HELD_ON_BOTH = 10,
    SOME_LOOKS = 5
};
enum { LINE_A, LINE_B, LINE_NEW };

typedef struct Crowd {
    size_t voters; /* of each policy */
    uint64_t *ids; /* of all: the first half began on the one, the second on the other */
    size_t count;
    uint64_t policies[LINES];
    Ranking *ranking;
    Votes *votes;
    /* A save and its entry in the books are one step for the judge. */
    pthread_rwlock_t step;
    atomic_llong books[LINES];
    atomic_bool ends;
    atomic_int saves, refused, failures, looks, wrong;
    atomic_int phase; /* 0: before the merge, 1: during, 2: after */
    atomic_int looks_in[3], saves_in[3];
    char words[400];
} Crowd;

static Crowd crowd;

static void fail(const char *what, Status status)
{
    if (atomic_fetch_add(&crowd.failures, 1) == 0)
        snprintf(crowd.words, sizeof crowd.words, "%s: %s", what, status_name(status));
}

/* ---- People ---------------------------------------------------------------------------------------------------------- */

static int64_t held_on(const VoterState *state, uint64_t policy)
{
    for (size_t i = 0; i < state->line_count; i++)
        if (state->lines[i].policy == policy)
            return state->lines[i].held;
    return 0;
}

/* One wish on top of what stands, and what it changed into the books. */
static Status save(uint64_t voter, VoteRequest want, SaveResult *ret_result, Arena *arena)
{
    VoterState before;
    Reason reason;
    TRY(votes_show(crowd.votes, voter, arena, &before));
    SaveRequest request = {
        .voter = voter, .seen = before.version, .vote_requests = &want, .vote_request_count = 1};
    CHECK(pthread_rwlock_rdlock(&crowd.step) == 0);
    Status status = votes_save(crowd.votes, &request, arena, ret_result, &reason);
    if (status == STATUS_OK && ret_result->outcome == SAVE_SAVED)
        for (int i = 0; i < LINES; i++)
            atomic_fetch_add(&crowd.books[i], held_on(&ret_result->state, crowd.policies[i]) -
                                                  held_on(&before, crowd.policies[i]));
    CHECK(pthread_rwlock_unlock(&crowd.step) == 0);
    return status;
}

static Status enter(size_t index, Arena *arena)
{
    Reason reason;
    Registration person = {.name = arena_print(arena, "voter%zu", index),
                           .email = arena_print(arena, "voter%zu@example.org", index),
                           .without_password = true,
                           .confirmed = true,
                           .registered_us = clock_now_us(fixture.world.clock) -
                                            SALARY_DAYS * S_PER_DAY * US_PER_S};
    SaveResult result;
    TRY(accounts_register(fixture.accounts, &person, &crowd.ids[index], &reason));
    bool second = index >= crowd.voters;
    TRY(save(crowd.ids[index], (VoteRequest){.policy = crowd.policies[second], .held = FIRST_HELD},
             &result, arena));
    if (result.outcome != SAVE_SAVED)
        return STATUS_REFUSED;
    if (index % HELD_ON_BOTH == 0)
        TRY(save(crowd.ids[index],
                 (VoteRequest){.policy = crowd.policies[!second], .held = FIRST_HELD}, &result,
                 arena));
    return result.outcome == SAVE_SAVED ? STATUS_OK : STATUS_REFUSED;
}

static void *load(void *argument)
{
    ARENA_SCOPE Arena *arena = arena_new();
    for (size_t i = (size_t)(intptr_t)argument; i < crowd.count; i += LOADERS) {
        Status status = enter(i, arena);
        if (status != STATUS_OK)
            fail("a voter could not enter", status);
        arena_reset(arena);
    }
    return NULL;
}

/* What the voter holds now, as they see it, a little more or a little less; the policy that is asked for may be merged meanwhile,
 * and then the save is refused and the next one finds where it leads. */
static Status vote(uint64_t voter, int turn, Arena *arena)
{
    VoterState state;
    MergedLine *lines;
    size_t count;
    SaveResult result;
    TRY(votes_show(crowd.votes, voter, arena, &state));
    TRY(votes_merged_lines(crowd.votes, &state, arena, &lines, &count));
    if (count == 0)
        return STATUS_OK;
    const MergedLine *line = &lines[(size_t)turn % count];
    VoteRequest want = {.policy = line->policy, .held = line->held + (turn % 3 == 0 ? -1 : 2)};
    TRY(save(voter, want, &result, arena));
    int phase = atomic_load(&crowd.phase);
    if (result.outcome == SAVE_SAVED) {
        atomic_fetch_add(&crowd.saves, 1);
        atomic_fetch_add(&crowd.saves_in[phase], 1);
        return STATUS_OK;
    }
    atomic_fetch_add(&crowd.refused, 1);
    return result.outcome == SAVE_REFUSED ? STATUS_OK : STATUS_CONFLICT;
}

/* Each saver has voters of its own; a stride that shares no factor with their number comes to all of them. */
static void *vote_on(void *argument)
{
    ARENA_SCOPE Arena *arena = arena_new();
    size_t self = (size_t)(intptr_t)argument, mine = crowd.count / SAVERS;
    for (int turn = 0; !atomic_load(&crowd.ends); turn++) {
        size_t index = self + SAVERS * ((size_t)turn * 7919 % mine);
        Status status = vote(crowd.ids[index], turn, arena);
        if (status != STATUS_OK)
            fail("a save", status);
        arena_reset(arena);
    }
    return NULL;
}

static void *project_on(void *argument)
{
    (void)argument;
    while (!atomic_load(&crowd.ends)) {
        size_t taken;
        Status status = votes_project_waiting(crowd.votes, SIZE_MAX, &taken);
        if (status != STATUS_OK)
            fail("projection", status);
    }
    return NULL;
}

/* ---- The judge ---------------------------------------------------------------------------------------------------------- */

/* Whoever is not in the ranking has gone where its votes count; what stands there shows its own and theirs, to the vote. */
static void judge_page(const RankPage *page, uint64_t root)
{
    int64_t own[LINES], shown[LINES] = {0}, due[LINES] = {0};
    bool is_there[LINES] = {false};
    size_t root_line = 0;
    for (size_t i = 0; i < LINES; i++) {
        own[i] = atomic_load(&crowd.books[i]);
        root_line = crowd.policies[i] == root ? i : root_line;
        for (size_t k = 0; k < page->count; k++)
            if (page->rows[k].policy == crowd.policies[i]) {
                is_there[i] = true;
                shown[i] = page->rows[k].total;
            }
    }
    for (size_t i = 0; i < LINES; i++)
        due[is_there[i] ? i : root_line] += own[i];
    atomic_fetch_add(&crowd.looks, 1);
    atomic_fetch_add(&crowd.looks_in[atomic_load(&crowd.phase)], 1);
    for (size_t i = 0; i < LINES; i++)
        if (due[i] != shown[i] && atomic_fetch_add(&crowd.wrong, 1) == 0)
            snprintf(crowd.words, sizeof crowd.words, "policy %zu shows %lld instead of %lld", i,
                     (long long)shown[i], (long long)due[i]);
}

typedef struct Judge {
    uint64_t root;
} Judge;

static void *judge_on(void *argument)
{
    const Judge *judge = argument;
    ARENA_SCOPE Arena *arena = arena_new();
    while (!atomic_load(&crowd.ends)) {
        RankPage page;
        CHECK(pthread_rwlock_wrlock(&crowd.step) == 0);
        Status status = ranking_page(crowd.ranking, &(RankQuery){0}, 0, 10, arena, &page);
        if (status == STATUS_OK)
            judge_page(&page, judge->root);
        else
            fail("the ranking", status);
        CHECK(pthread_rwlock_unlock(&crowd.step) == 0);
        clock_sleep_us(world_real().clock, 500);
        arena_reset(arena);
    }
    return NULL;
}

/* ---- The whole ---------------------------------------------------------------------------------------------------------- */

static void begin(void)
{
    pthread_t loaders[LOADERS];
    pthread_rwlockattr_t fair;
    const char *wanted = getenv("OSTRAKA_MERGE_VOTERS");
    ledger_fixture_begin();
    crowd = (Crowd){.voters = wanted != NULL ? (size_t)atoi(wanted) : 500};
    crowd.count = 2 * crowd.voters;
    crowd.ids = calloc(crowd.count, sizeof *crowd.ids);
    CHECK(crowd.ids != NULL && crowd.voters >= SAVERS);
    CHECK(pthread_rwlockattr_init(&fair) == 0);
    CHECK(pthread_rwlockattr_setkind_np(&fair, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP) == 0);
    CHECK(pthread_rwlock_init(&crowd.step, &fair) == 0);
    crowd.ranking = ranking_new(&(RankingOptions){.store = fixture.store,
                                                  .world = fixture.world,
                                                  .policies = fixture.policies,
                                                  .window_days = 3});
    crowd.votes = votes_new(&(VotesOptions){.store = fixture.store,
                                            .world = fixture.world,
                                            .accounts = fixture.accounts,
                                            .policies = fixture.policies,
                                            .listener = ranking_listener(crowd.ranking)});
    EXPECT_STATUS(ranking_load(crowd.ranking, crowd.votes), STATUS_OK);
    uint64_t owner = ledger_fixture_voter("owner");
    ledger_fixture_pass_days(SALARY_DAYS);
    static const char *const NAMES[] = {"Clean rivers", "Rivers that are clean"};
    for (int i = 0; i < 2; i++) {
        crowd.policies[i] = ledger_fixture_policy(owner, NAMES[i]);
        ledger_fixture_project();
        EXPECT_STATUS(ranking_policy_changed(crowd.ranking, crowd.policies[i]), STATUS_OK);
        atomic_store(&crowd.books[i], SETTINGS_AT_FIRST.create_cost);
    }
    for (intptr_t i = 0; i < LOADERS; i++)
        CHECK(pthread_create(&loaders[i], NULL, load, (void *)i) == 0);
    for (int i = 0; i < LOADERS; i++)
        CHECK(pthread_join(loaders[i], NULL) == 0);
    if (crowd.failures > 0)
        test_fail(__FILE__, __LINE__, "%s", crowd.words);
}

static void end(void)
{
    votes_free(crowd.votes);
    ranking_free(crowd.ranking);
    pthread_rwlock_destroy(&crowd.step);
    free(crowd.ids);
    ledger_fixture_end();
}

static void wait_for(atomic_int *count, int least)
{
    while (atomic_load(count) < least && crowd.failures == 0)
        clock_sleep_us(world_real().clock, 1000);
}

/* As a moderator's form does it: the merges by their id, and the ranking is told. */
static void merge(uint64_t target, const uint64_t *sources, size_t count, Id id)
{
    for (size_t i = 0; i < count; i++) {
        Reason reason = {.rule = ""};
        PolicyMerge one = {.id = id,
                           .source = sources[i],
                           .target = target,
                           .actor = 1,
                           .reason = SLICE("They say the same.")};
        for (int k = 0; k < 2; k++) { /* sent twice, it is one */
            Status status = policies_merge_named(fixture.policies, &one, &reason);
            if (status != STATUS_OK)
                fail(reason.rule, status);
        }
        if (ranking_policy_changed(crowd.ranking, sources[i]) != STATUS_OK ||
            ranking_policy_changed(crowd.ranking, target) != STATUS_OK)
            fail("the ranking was not told", STATUS_UNAVAILABLE);
    }
}

/* People vote before, during and after the merges, and the judge looks all the time. */
static void merge_while_people_vote(uint64_t target, const uint64_t *sources, size_t count, Id id)
{
    pthread_t savers[SAVERS], projector, looker;
    Judge judge = {target};
    int some = crowd.voters < 2000 ? 150 : 3000;
    for (intptr_t i = 0; i < SAVERS; i++)
        CHECK(pthread_create(&savers[i], NULL, vote_on, (void *)i) == 0);
    CHECK(pthread_create(&projector, NULL, project_on, NULL) == 0);
    CHECK(pthread_create(&looker, NULL, judge_on, &judge) == 0);
    wait_for(&crowd.saves_in[0], some);
    wait_for(&crowd.looks_in[0], SOME_LOOKS);
    atomic_store(&crowd.phase, 1);
    merge(target, sources, count, id);
    atomic_store(&crowd.phase, 2);
    wait_for(&crowd.saves_in[2], some);
    wait_for(&crowd.looks_in[2], SOME_LOOKS);
    atomic_store(&crowd.ends, true);
    for (int i = 0; i < SAVERS; i++)
        CHECK(pthread_join(savers[i], NULL) == 0);
    CHECK(pthread_join(projector, NULL) == 0);
    CHECK(pthread_join(looker, NULL) == 0);
    for (size_t taken = 1; taken > 0;)
        EXPECT_STATUS(votes_project_waiting(crowd.votes, SIZE_MAX, &taken), STATUS_OK);
    if (crowd.failures > 0 || crowd.wrong > 0)
        test_fail(__FILE__, __LINE__, "%d failures, %d wrong totals in %d looks: %s",
                  crowd.failures, crowd.wrong, crowd.looks, crowd.words);
    EXPECT(crowd.looks_in[0] >= SOME_LOOKS && crowd.looks_in[2] >= SOME_LOOKS);
    printf("# %zu voters each: %d saves (%d during the merge), %d refused while it was under way, "
           "%d looks (%d during it)\n",
           crowd.voters, crowd.saves, crowd.saves_in[1], crowd.refused, crowd.looks,
           crowd.looks_in[1]);
}

static char faults[4096];

static void hear(void *self, const VerifyFault *fault)
{
    (void)self;
    size_t used = strlen(faults);
    snprintf(faults + used, sizeof faults - used, "%s: %s\n", verify_kind_text(fault->kind),
             fault->words);
}

static void expect_clean(void)
{
    VerifyReport report = {0};
    VerifyOptions options = {.store = fixture.store,
                             .world = fixture.world,
                             .accounts = fixture.accounts,
                             .policies = fixture.policies,
                             .votes = crowd.votes,
                             .ranking = crowd.ranking,
                             .settle_s = 1,
                             .fault = hear};
    faults[0] = '\0';
    EXPECT_STATUS(verify_run(&options, &report), STATUS_OK);
    if (verify_faults(&report) > 0)
        test_fail(__FILE__, __LINE__, "%s", faults);
    EXPECT_I64(report.busy, 0);
    EXPECT_I64(report.voters, crowd.count + 1);
}

/* What came by a merge comes back whole: as many pollies as were taken away. */
static void *take_back(void *argument)
{
    ARENA_SCOPE Arena *arena = arena_new();
    for (size_t i = (size_t)(intptr_t)argument; i < crowd.count; i += LOADERS) {
        VoterState state;
        MergedLine *lines;
        size_t count;
        SaveResult result;
        arena_reset(arena);
        if (votes_show(crowd.votes, crowd.ids[i], arena, &state) != STATUS_OK ||
            votes_merged_lines(crowd.votes, &state, arena, &lines, &count) != STATUS_OK ||
            count != 1) {
            fail("a voter has not just one line", STATUS_CORRUPT);
            continue;
        }
        VoteRequest want = {.policy = lines[0].policy, .held = lines[0].held - lines[0].free};
        if (lines[0].free == 0)
            continue;
        Status status = save(crowd.ids[i], want, &result, arena);
        if (status != STATUS_OK || result.outcome != SAVE_SAVED)
            fail("taking back", status);
        else if (result.price.penalty != 0 || result.price.given_back != lines[0].free ||
                 result.state.balance != state.balance + lines[0].free)
            fail("it did not come back in full", STATUS_CORRUPT);
        else
            atomic_fetch_add(&crowd.saves, 1);
    }
    return NULL;
}

static int all_take_back(void)
{
    pthread_t threads[LOADERS];
    atomic_store(&crowd.saves, 0);
    for (intptr_t i = 0; i < LOADERS; i++)
        CHECK(pthread_create(&threads[i], NULL, take_back, (void *)i) == 0);
    for (int i = 0; i < LOADERS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    for (size_t taken = 1; taken > 0;)
        EXPECT_STATUS(votes_project_waiting(crowd.votes, SIZE_MAX, &taken), STATUS_OK);
    if (crowd.failures > 0)
        test_fail(__FILE__, __LINE__, "%d failures: %s", crowd.failures, crowd.words);
    return crowd.saves;
}

static int64_t shown_total(uint64_t policy)
{
    RankPlace place = {.self.total = -1};
    EXPECT_STATUS(ranking_place(crowd.ranking, &(RankQuery){0}, policy, &place), STATUS_OK);
    return place.self.total;
}

TEST(two_become_a_new_one_while_people_vote)
{
    Reason reason = {.rule = ""};
    PolicyText text = {.name = SLICE("Clean rivers, together"),
                       .category = LEDGER_FIXTURE_CATEGORY};
    begin();
    PolicyMerge merge_id = {.id = id_new(fixture.world.clock, fixture.world.random),
                            .source = crowd.policies[LINE_A]};
    EXPECT_STATUS(policies_merge_target(fixture.policies, &merge_id, &text,
                                        &crowd.policies[LINE_NEW], &reason),
                  STATUS_OK);
    EXPECT_STATUS(ranking_policy_changed(crowd.ranking, crowd.policies[LINE_NEW]), STATUS_OK);
    merge_while_people_vote(crowd.policies[LINE_NEW], crowd.policies, 2, merge_id.id);
    expect_clean();
    /* Nobody chose the new one, so everything that was there before is free; what people added to it since is their own choice. */
    EXPECT_I64(all_take_back(), crowd.count);
    EXPECT_I64(shown_total(crowd.policies[LINE_NEW]),
               crowd.books[LINE_NEW] + 2 * SETTINGS_AT_FIRST.create_cost);
    expect_clean();
    end();
}

TEST(one_becomes_part_of_the_other_while_people_vote)
{
    begin();
    uint64_t target = crowd.policies[LINE_B];
    Id id = id_new(fixture.world.clock, fixture.world.random);
    merge_while_people_vote(target, &crowd.policies[LINE_A], 1, id);
    expect_clean();
    /* The voters of the one get theirs back in full; those of the other chose it. */
    int with_free = all_take_back();
    EXPECT(with_free >= (int)crowd.voters);
    EXPECT_I64(crowd.books[LINE_A], SETTINGS_AT_FIRST.create_cost);
    EXPECT_I64(shown_total(target), crowd.books[LINE_A] + crowd.books[LINE_B]);
    expect_clean();
    end();
}
