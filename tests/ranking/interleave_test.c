/* interleave_test.c -- saves, told early or late, and projections between any two reads of a load or a refresh.
 *
 * What threads do by chance happens here on purpose, and again by the same seed. One handle tells the ranking of its saves as votes.h
 * says. The other is slow: it tells that it sends, and that it saved only some time later, when the entry may be projected, read and
 * forgotten by everybody else. */
#include "site.h"

enum { HELD_MAX = 64, DELTAS_MAX = 4, HAPPENINGS = 14 };

/* News that are on their way to the ranking. */
typedef struct Held {
    VoteNews news;
    VoteDelta deltas[DELTAS_MAX];
} Held;

static Held held[HELD_MAX];
static size_t held_count;
static int happenings;
static Votes *slow;
static Arena *scratch;

static void hold_back(void *self, VoteStep step, const VoteNews *news)
{
    VoteListener ranking = ranking_listener(self);
    if (step != VOTE_SAVED) {
        ranking.told(ranking.self, step, news);
        return;
    }
    CHECK(held_count < HELD_MAX && news->count <= DELTAS_MAX);
    held[held_count].news = *news;
    memcpy(held[held_count++].deltas, news->deltas, news->count * sizeof *news->deltas);
}

static void deliver(void)
{
    VoteListener ranking = ranking_listener(site.ranking);
    if (held_count == 0)
        return;
    size_t at = site_below(held_count);
    held[at].news.deltas = held[at].deltas;
    ranking.told(ranking.self, VOTE_SAVED, &held[at].news);
    held[at] = held[--held_count];
}

static void save_by(Votes *votes)
{
    VoterState state;
    SaveResult result;
    Reason reason = {.rule = ""};
    VoteRequest vote_requests[2] = {{.policy = site.ids[0], .held = (int64_t)site_below(40)},
                                    {.policy = site.ids[1], .held = (int64_t)site_below(40)}};
    SaveRequest request = {.voter = site.voters[1 + site_below(3)],
                           .vote_requests = vote_requests + site_below(2),
                           .vote_request_count = 1};
    request.vote_request_count += request.vote_requests == vote_requests && site_below(2) == 0;
    CHECK(votes_show(votes, request.voter, scratch, &state) == STATUS_OK);
    request.seen = state.version;
    CHECK(votes_save(votes, &request, scratch, &result, &reason) == STATUS_OK);
}

/* A form on an old version is refused before anything is sent; losing the race for a seq is told as dropped. */
static void drop(void)
{
    VoteListener ranking = ranking_listener(site.ranking);
    VoterState state;
    CHECK(votes_show(slow, site.voters[1], scratch, &state) == STATUS_OK);
    VoteDelta delta = {site.ids[0], 1000};
    VoteNews news = {.voter = site.voters[1],
                     .seq = state.seq + 1,
                     .version = id_new(site.world.clock, site.world.random),
                     .time_us = clock_now_us(site.world.clock),
                     .deltas = &delta,
                     .count = 1};
    ranking.told(ranking.self, VOTE_SENT, &news);
    save_by(slow);
    ranking.told(ranking.self, VOTE_DROPPED, &news);
}

static void project_some(void)
{
    size_t taken;
    CHECK(votes_project_waiting(site_below(2) == 0 ? slow : site.votes, 1 + site_below(30),
                                &taken) == STATUS_OK);
}

static void happen(void)
{
    if (happenings == 0 || site_below(4) != 0)
        return;
    happenings--;
    switch (site_below(8)) {
    case 0:
        save_by(site.votes);
        break;
    case 7: /* all of it: afterwards nobody remembers */
        save_by(site.votes);
        site_project();
        break;
    case 1:
    case 2:
        save_by(slow);
        break;
    case 3:
        deliver();
        break;
    case 4:
        drop();
        break;
    default:
        project_some();
        break;
    }
}

static void begin(uint64_t seed)
{
    site_begin(seed);
    held_count = 0;
    scratch = arena_new();
    VotesOptions options = {
        .store = site.store,
        .world = site.world,
        .accounts = site.accounts,
        .policies = site.policies,
        .listener = {hold_back, ranking_listener(site.ranking).projected, site.ranking}};
    slow = votes_new(&options);
    site.between.happen = happen;
    site_create(1, 0);
    site_create(2, 0);
    site_create(1, 1);
}

static void end(void)
{
    votes_free(slow);
    arena_free(scratch);
    site_end();
}

/* Everything is told in the end; nothing is read again. */
static void settle_and_check(void)
{
    const RankQuery all = {0}, window = {.days = SITE_WINDOW};
    while (held_count > 0)
        deliver();
    site_check_pages(site.ranking, &all);
    site_check_pages(site.ranking, &window);
    arena_reset(scratch);
    arena_reset(site.arena);
}

static Status load(void)
{
    return ranking_load(site.ranking, site.votes);
}

static Status refresh(void)
{
    return ranking_refresh(site.ranking);
}

static void run(uint64_t seed, Status (*first)(void), Status (*second)(void))
{
    begin(seed);
    for (int i = 0; i < 60; i++) {
        happenings = 1 + (int)site_below(i % 4 == 0 ? HAPPENINGS : 3);
        site.between.armed = true;
        Status status = i % 2 == 0 ? first() : second();
        site.between.armed = false;
        EXPECT_STATUS(status, STATUS_OK);
        if (i % 3 == 0)
            settle_and_check();
    }
    settle_and_check();
    end();
}

TEST(loads_between_saves)
{
    for (uint64_t seed = 1; seed <= 5; seed++)
        run(seed, load, load);
}

TEST(refreshes_between_saves)
{
    for (uint64_t seed = 1; seed <= 5; seed++)
        run(seed, refresh, refresh);
}

TEST(both_between_saves)
{
    for (uint64_t seed = 1; seed <= 5; seed++)
        run(seed, refresh, load);
}

/* ---- One happening, at every call in turn ---------------------------------------------------------------------------- */

static void project_all(void)
{
    size_t taken = 1;
    site_project();
    while (taken > 0)
        CHECK(votes_project_waiting(slow, 100, &taken) == STATUS_OK);
}

static void save_and_project(void)
{
    save_by(site.votes);
    project_all();
}

static void save_slowly_and_project(void)
{
    save_by(slow);
    project_all();
}

static void save_only(void)
{
    save_by(site.votes);
}

static int calls_left;
static void (*one_happening)(void);

static void happen_once(void)
{
    if (--calls_left == 0)
        one_happening();
}

/* Returns whether the n-th call came. */
static bool strike(int n, void (*what)(void), Status (*reads)(void))
{
    project_all();
    save_by(site.votes); /* told, and not projected yet */
    save_by(slow);       /* not even told */
    calls_left = n;
    one_happening = what;
    site.between.happen = happen_once;
    site.between.armed = true;
    Status status = reads();
    site.between.armed = false;
    EXPECT_STATUS(status, STATUS_OK);
    settle_and_check();
    return calls_left <= 0;
}

TEST(one_happening_before_each_read)
{
    void (*const happenings_all[])(void) = {project_all, save_and_project, save_slowly_and_project,
                                            save_only};
    for (size_t i = 0; i < sizeof happenings_all / sizeof happenings_all[0]; i++) {
        begin(i);
        for (int n = 1; strike(n, happenings_all[i], load); n++)
            EXPECT(n < 500);
        /* A refresh reads marks first: of thirteen minutes, in sixteen parts. */
        for (int n = 13 * 16 - 2; strike(n, happenings_all[i], refresh); n++)
            EXPECT(n < 1000);
        end();
    }
}

/* ---- Failures ------------------------------------------------------------------------------------------------------- */

/* A read that fails leaves the ranking as it was, and older. */
TEST(a_failed_read_changes_nothing_but_the_age)
{
    begin(1);
    RankPage page;
    RankQuery all = {0};
    int64_t before_us = clock_now_us(site.world.clock);
    site.between.refuses = true;
    EXPECT_STATUS(load(), STATUS_UNAVAILABLE);
    EXPECT_STATUS(refresh(), STATUS_UNAVAILABLE);
    EXPECT_STATUS(ranking_policy_changed(site.ranking, site.ids[0]), STATUS_UNAVAILABLE);
    site.between.refuses = false;
    test_world_pass(&site.own, 5 * US_PER_S);
    EXPECT_STATUS(ranking_page(site.ranking, &all, 0, 9, site.arena, &page), STATUS_OK);
    EXPECT_I64(page.count, 3);
    EXPECT_I64(page.rows[0].total, 100);
    EXPECT_I64(page.as_of_us, before_us);
    EXPECT_STATUS(refresh(), STATUS_OK);
    EXPECT_STATUS(ranking_page(site.ranking, &all, 0, 9, site.arena, &page), STATUS_OK);
    EXPECT_I64(page.as_of_us, before_us + 5 * US_PER_S);
    end();
}

/* A move that could not be read is read by the next refresh. */
TEST(a_failed_move_is_made_up_for)
{
    begin(1);
    Reason reason = {.rule = ""};
    PolicyMove move = {.state = POLICY_RETIRED, .actor = 1};
    EXPECT_STATUS(policies_move(site.policies, site.ids[0], POLICY_ACTIVE, &move, &reason),
                  STATUS_OK);
    site.between.refuses = true;
    EXPECT_STATUS(ranking_policy_changed(site.ranking, site.ids[0]), STATUS_UNAVAILABLE);
    site.between.refuses = false;
    EXPECT_STATUS(refresh(), STATUS_OK);
    settle_and_check();
    end();
}
