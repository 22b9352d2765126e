/* instance.c -- handles on the product, for a client or from outside, and the site's own notes. See site.h. */
#include "site/site.h"

/* ---- Handles --------------------------------------------------------------------------------------------- */

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

static void fill_outside(void *self, void *to, size_t size)
{
    char *at = to;
    for (size_t i = 0; i < size; i++)
        at[i] = (char)run_draw(self, 256);
}

/* ---- Hours of marks -------------------------------------------------------------------------------------- */

static void note_hour(SiteInstance *instance, int64_t now_us)
{
    Site *site = instance->site;
    uint32_t hour = ledger_hour(now_us);
    for (size_t i = site->hour_count; i > 0; i--)
        if (site->hours[i - 1] == hour)
            return;
    CHECK(site->hour_count < SITE_HOURS_MAX);
    site->hours[site->hour_count++] = hour;
}

static int64_t noted_now(void *self)
{
    SiteInstance *instance = self;
    int64_t now_us = clock_now_us(instance->clock);
    if (instance->marking)
        note_hour(instance, now_us);
    return now_us;
}

static int64_t noted_steady(void *self)
{
    return clock_steady_us(((SiteInstance *)self)->clock);
}

static void noted_sleep(void *self, int64_t us)
{
    clock_sleep_us(((SiteInstance *)self)->clock, us);
}

/* About to be sent: from now on it may be in the chain, and its mark is made in this hour. */
static void told(void *self, VoteStep step, const VoteNews *news)
{
    SiteInstance *instance = self;
    shown_told(instance, step, news);
    if (step != VOTE_SENT)
        return;
    note_hour(instance, clock_now_us(instance->clock));
    instance->site->marked_us = sim_world_now_us(sim_world(run_sim(instance->run)));
    for (size_t i = 0; i < news->count; i++)
        site_add_policy(instance->site, news->deltas[i].policy);
    if (instance->try != NULL && site_instance_alive(instance)) {
        instance->try->sent = true;
        instance->try->version = news->version;
    }
}

static void projected(void *self, uint64_t voter, uint64_t seq)
{
    VoteListener listener = ranking_listener(((SiteInstance *)self)->ranking);
    listener.projected(listener.self, voter, seq);
}

void site_instance_open(SiteInstance *instance, Run *run, SimClient *client, Store *store,
                        Arena *arena)
{
    Site *site = run_state(run);
    SimWorld *world = sim_world(run_sim(run));
    *instance =
        (SiteInstance){.run = run, .site = site, .client = client, .store = store, .arena = arena};
    if (site->scheduled)
        instance->store = store = quick_open(&instance->quick, instance, store);
    instance->clock = client != NULL ? sim_client_clock(client) : sim_world_clock(world);
    instance->world.clock = (Clock){noted_now, noted_steady, noted_sleep, instance};
    instance->world.random =
        client != NULL ? sim_client_random(client) : (Random){fill_outside, run};
    AccountsOptions accounts = {.store = store,
                                .world = instance->world,
                                .vault = run_vault(run),
                                .hasher = {cheap_hash, cheap_check, NULL},
                                .id_block = 2};
    instance->accounts = accounts_new(&accounts);
    PoliciesOptions policies = {.store = store,
                                .world = instance->world,
                                .id_block = 2,
                                .cache_s = site->cache_s,
                                .cache_max = 1000};
    instance->policies = policies_new(&policies);
    RankingOptions ranking = {.store = store,
                              .world = instance->world,
                              .policies = instance->policies,
                              .window_days = (uint32_t)SETTINGS_AT_FIRST.window_days,
                              .shared = true};
    instance->ranking = ranking_new(&ranking);
    VotesOptions votes = {.store = store,
                          .world = instance->world,
                          .accounts = instance->accounts,
                          .policies = instance->policies,
                          .listener = {told, projected, instance}};
    instance->votes = votes_new(&votes);
}

void site_instance_close(SiteInstance *instance)
{
    tasks_free(instance->tasks);
    votes_free(instance->votes);
    ranking_free(instance->ranking);
    policies_free(instance->policies);
    accounts_free(instance->accounts);
}

bool site_instance_alive(const SiteInstance *instance)
{
    return instance->client == NULL || sim_client_alive(instance->client);
}

uint64_t site_instance_draw(SiteInstance *instance, uint64_t below)
{
    return random_u64(instance->world.random) % below;
}

bool site_instance_heard(SiteInstance *instance, const char *what, Status status)
{
    if (site_instance_alive(instance) && (status == STATUS_CORRUPT || status == STATUS_INVALID ||
                                          status == STATUS_TOO_LARGE || status == STATUS_LOGIN))
        run_violated(instance->run, "%s answers %s", what, status_name(status));
    if (instance->client == NULL && (status == STATUS_UNAVAILABLE || status == STATUS_UNKNOWN))
        run_violated(instance->run, "%s answers %s though all is well", what, status_name(status));
    return status == STATUS_OK;
}

/* ---- Notes ----------------------------------------------------------------------------------------------- */

SitePerson *site_person(Site *site, uint64_t account)
{
    for (size_t i = 0; i < site->person_count; i++)
        if (site->people[i].account == account)
            return &site->people[i];
    return NULL;
}

SitePerson *site_add_person(Site *site, uint64_t account)
{
    if (site->person_count == SITE_PEOPLE_MAX)
        return NULL;
    SitePerson *person = &site->people[site->person_count++];
    *person = (SitePerson){.account = account};
    return person;
}

SitePerson *site_any_person(SiteInstance *instance)
{
    return &instance->site->people[site_instance_draw(instance, instance->site->person_count)];
}

SitePerson *site_any_voter(SiteInstance *instance)
{
    Site *site = instance->site;
    uint64_t meeting =
        (uint64_t)(sim_world_now_us(sim_world(run_sim(instance->run))) / site->meeting_us);
    SitePerson *person =
        &site->people[(meeting + site_instance_draw(instance, 2)) % site->person_count];
    for (int i = 0; i < 2 && (!person->confirmed || person->closed); i++)
        person = site_any_person(instance);
    return person;
}

/* Half of the time one of the last, which are more likely to be active. */
uint64_t site_any_policy(SiteInstance *instance)
{
    const Site *site = instance->site;
    size_t last = site->policy_count < 4 ? site->policy_count : 4;
    if (site_instance_draw(instance, 2) == 0)
        return site->policies[site->policy_count - 1 - site_instance_draw(instance, last)];
    return site->policies[site_instance_draw(instance, site->policy_count)];
}

void site_add_policy(Site *site, uint64_t policy)
{
    for (size_t i = 0; i < site->policy_count; i++)
        if (site->policies[i] == policy)
            return;
    if (site->policy_count < SITE_POLICIES_MAX)
        site->policies[site->policy_count++] = policy;
}

/* FNV-1a over the stored form. */
static uint64_t digest_of(const Entry *entry)
{
    BUFFER_SCOPE Buffer bytes = {0};
    uint64_t digest = UINT64_C(0xCBF29CE484222325);
    ledger_put_entry(&bytes, entry);
    for (size_t i = 0; i < bytes.size; i++)
        digest = (digest ^ (uint8_t)bytes.data[i]) * UINT64_C(0x100000001B3);
    return digest;
}

static SiteEntry *seen_entry(Run *run, SitePerson *person, uint64_t seq)
{
    if (seq > person->entry_room) {
        size_t room = 2 * seq + 16;
        SiteEntry *entries = ARENA_ARRAY(run_arena(run), room, SiteEntry);
        if (person->entry_room > 0)
            memcpy(entries, person->entries, person->entry_room * sizeof *entries);
        person->entries = entries;
        person->entry_room = room;
    }
    return &person->entries[seq - 1];
}

void site_saw_entry(Run *run, SitePerson *person, const Entry *entry)
{
    CHECK(entry->seq >= 1);
    SiteEntry *seen = seen_entry(run, person, entry->seq), now = {entry->version, digest_of(entry)};
    if (id_is_zero(seen->version))
        *seen = now;
    else if (!id_equal(seen->version, now.version) || seen->digest != now.digest)
        run_violated(run, "entry %llu of voter %llu is not what it was",
                     (unsigned long long)entry->seq, (unsigned long long)person->account);
}
