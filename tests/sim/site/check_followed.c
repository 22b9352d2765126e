/* check_followed.c -- who follows the marks shows what others did some seconds ago: counts, and policies that were moved; and a refresh
 * shows the counts of another generation. See site.h.
 *
 * All is well when this runs, so that what ranking_follow promises holds whatever the run was like. One instance saves and moves, and
 * between each mark and what it announces another one looks: it sees the mark, and what was there before. */
#include "site/site.h"

enum { SAVES = 16, LOOKS = 12, PAUSE_MS = 500, MARKS_OVER_S = 13 * 60 };

/* Hides a policy that the follower shows; 0: there is none. */
static uint64_t hide_one(SiteInstance *mover, SiteInstance *follower)
{
    RankPage page;
    Reason reason = {.rule = ""};
    PolicyMove move = {.state = POLICY_PENDING_DELETION,
                       .id = id_new(mover->world.clock, mover->world.random),
                       .actor = 1,
                       .reason = SLICE("because")};
    if (!site_instance_heard(
            follower, "ranking_page",
            ranking_page(follower->ranking, &(RankQuery){0}, 0, 1, follower->arena, &page)) ||
        page.count == 0)
        return 0;
    uint64_t policy = page.rows[0].policy;
    Status status = policies_move(mover->policies, policy, POLICY_ACTIVE, &move, &reason);
    return site_instance_heard(mover, "hiding a policy", status) ? policy : 0;
}

/* The marks of a rebuild's pass are over when it moves: nothing but the generation says that the counts are others. */
static void look_meanwhile(void *self, uint64_t voters)
{
    SiteInstance *follower = self;
    (void)voters;
    for (int i = 0; i < 2; i++) {
        clock_sleep_us(follower->world.clock, MARKS_OVER_S * US_PER_S);
        (void)shown_refresh(follower);
    }
}

/* What is not projected before a rebuild is in the new counts alone. */
static void check_rebuilt(SiteInstance *follower, SiteInstance *other)
{
    RebuildOptions options = {
        .settle_s = GENERATIONS_CACHE_S + 5, .progress = look_meanwhile, .self = follower};
    for (int i = 0; i < SAVES; i++) {
        people_look(other);
        people_save(other);
    }
    if (site_instance_heard(other, "votes_rebuild", votes_rebuild(other->votes, &options)) &&
        shown_refresh(follower))
        shown_expect_counts(follower);
}

static void check(Run *run, Store *store, Arena *arena)
{
    Site *site = run_state(run);
    RankPlace place;
    if (!site->scheduled || site->solo != NULL)
        return;
    SITE_INSTANCE_SCOPE SiteInstance follower;
    SITE_INSTANCE_SCOPE SiteInstance other;
    site_instance_open(&follower, run, NULL, store, arena);
    site_instance_open(&other, run, NULL, store, arena);
    site->lone = false;
    if (!shown_refresh(&follower))
        return;
    other.process->quick.follower = &follower;
    uint64_t hidden = hide_one(&other, &follower);
    for (int i = 0; i < SAVES; i++) {
        people_look(&other);
        people_save(&other);
        sweeps_waiting(&other);
    }
    other.process->quick.follower = NULL;
    for (int i = 0; i < LOOKS; i++) {
        clock_sleep_us(follower.world.clock, PAUSE_MS * US_PER_MS);
        shown_look(&follower);
    }
    shown_expect_counts(&follower);
    if (hidden != 0 &&
        ranking_place(follower.ranking, &(RankQuery){0}, hidden, &place) != STATUS_NOT_FOUND)
        run_violated(run, "policy %llu was hidden some seconds ago, and an instance shows it",
                     (unsigned long long)hidden);
    check_rebuilt(&follower, &other);
}

const Checker CHECK_FOLLOWED = {"who follows shows what others did", check};
