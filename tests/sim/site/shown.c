/* shown.c -- the rankings that instances hold in memory: own saves at once, those of others after a refresh. See site.h. */
#include "ranking/ranking_private.h"
#include "site/site.h"

/* Longer than any two clocks differ: what was marked so long ago has a minute that is over for everybody. */
enum { STILL_MINUTES = 16, STILL_MORE = 8 };

/* The policy's own count, without members; 0 when it is not known. */
static int64_t shown(const SiteInstance *instance, uint64_t policy)
{
    const Record *record = ranking_index_find(instance->ranking->live, policy);
    if (record == NULL)
        return 0;
    return record->own != NULL ? record->own->total : record->sum.total;
}

/* ---- Own saves ------------------------------------------------------------------------------------------- */

/* When nothing else of this instance happens between the two steps of its save, the ranking moves by just that. */
void shown_told(SiteInstance *instance, VoteStep step, const VoteNews *news)
{
    VoteListener listener = ranking_listener(instance->ranking);
    size_t count = news->count < SITE_POLICIES_MAX ? news->count : SITE_POLICIES_MAX;
    uint64_t now_step = ++instance->process->steps;
    bool loaded = instance->ranking->live != NULL;
    bool alone = now_step == instance->shown_step + 1 && instance->process->count == 1 &&
                 id_equal(instance->shown_version, news->version);
    for (size_t i = 0; i < count && loaded && step == VOTE_SENT; i++)
        instance->shown[i] = shown(instance, news->deltas[i].policy);
    if (step == VOTE_SENT) {
        instance->shown_step = now_step;
        instance->shown_version = news->version;
    }
    listener.told(listener.self, step, news);
    for (size_t i = 0; i < count && loaded && alone && step != VOTE_SENT; i++) {
        int64_t now = shown(instance, news->deltas[i].policy);
        int64_t right = instance->shown[i] + (step == VOTE_SAVED ? news->deltas[i].change : 0);
        if (now != right)
            run_violated(instance->run, "a save that is %s moves policy %llu from %lld to %lld",
                         step == VOTE_SAVED ? "saved" : "not",
                         (unsigned long long)news->deltas[i].policy, (long long)instance->shown[i],
                         (long long)now);
    }
}

/* ---- Saves of others ------------------------------------------------------------------------------------- */

/* All that the counts should say, at one moment: when two are the same, nothing happened in between. */
typedef struct Stand {
    uint64_t step; /* of generations */
    size_t people, policies;
    uint64_t heads[SITE_PEOPLE_MAX];
    int64_t totals[SITE_POLICIES_MAX];
} Stand;

/* False when something could not be read, or is not projected yet. */
static bool read_stand(SiteInstance *instance, Stand *ret_stand)
{
    Site *site = instance->site;
    Generations generations;
    Status status = votes_generations(instance->votes, &generations);
    memset(ret_stand, 0, sizeof *ret_stand);
    ret_stand->people = site->person_count;
    ret_stand->policies = site->policy_count;
    ret_stand->step = generations.step;
    for (size_t i = 0; i < ret_stand->people && status == STATUS_OK; i++) {
        uint64_t voter = site->people[i].account, projected = 0;
        ret_stand->heads[i] = marks_head(instance, &site->people[i], &status);
        if (status == STATUS_OK)
            projected = marks_projected(instance, generations.current, voter, &status);
        if (projected != ret_stand->heads[i])
            return false;
    }
    for (size_t i = 0; i < ret_stand->policies && status == STATUS_OK; i++) {
        Count count = {0};
        status = votes_count(instance->votes, site->policies[i], instance->arena, &count);
        ret_stand->totals[i] = count.total;
    }
    return status == STATUS_OK && site_instance_alive(instance);
}

bool shown_refresh(SiteInstance *instance)
{
    if (instance->ranking->live == NULL)
        return site_instance_heard(instance, "ranking_load",
                                   ranking_load(instance->ranking, instance->votes));
    return site_instance_heard(instance, "ranking_refresh", ranking_refresh(instance->ranking));
}

void watch_refresh(SiteInstance *instance)
{
    (void)shown_refresh(instance);
}

static void expect_shown(SiteInstance *instance, const Stand *stand)
{
    for (size_t i = 0; i < stand->policies; i++) {
        uint64_t policy = instance->site->policies[i];
        if (shown(instance, policy) != stand->totals[i])
            run_violated(instance->run, "policy %llu has %lld, and an instance shows %lld",
                         (unsigned long long)policy, (long long)stand->totals[i],
                         (long long)shown(instance, policy));
    }
}

/* When everything was projected a while ago, and stands still since, a refresh shows it all. */
void watch_ranking(SiteInstance *instance)
{
    Stand before, after;
    if (!read_stand(instance, &before))
        return;
    clock_sleep_us(instance->world.clock,
                   (STILL_MINUTES + (int64_t)site_instance_draw(instance, STILL_MORE)) * 60 *
                       US_PER_S);
    uint64_t steps = instance->process->steps; /* own saves are shown before they are in a stand */
    if (!site_instance_alive(instance) || !shown_refresh(instance) ||
        !read_stand(instance, &after) || memcmp(&before, &after, sizeof after) != 0 ||
        instance->process->steps != steps)
        return;
    expect_shown(instance, &after);
}

void shown_expect_counts(SiteInstance *instance)
{
    Stand stand;
    if (read_stand(instance, &stand))
        expect_shown(instance, &stand);
    else
        run_violated(instance->run, "all is well, and what was saved is not projected");
}

/* ---- Following ------------------------------------------------------------------------------------------- */

void shown_look(SiteInstance *instance)
{
    instance_sync_look(instance->process->sync);
}

/* As the thread that does nothing else, for some seconds. */
void watch_follow(SiteInstance *instance)
{
    enum { LOOKS_LEAST = 4, LOOKS_MORE = 16, PAUSE_MS = 250 };
    if (instance->ranking->live == NULL && !shown_refresh(instance))
        return;
    for (uint64_t left = LOOKS_LEAST + site_instance_draw(instance, LOOKS_MORE);
         left > 0 && site_instance_alive(instance); left--) {
        shown_look(instance);
        clock_sleep_us(instance->world.clock, PAUSE_MS * US_PER_MS);
    }
}
