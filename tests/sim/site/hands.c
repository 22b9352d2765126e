/* hands.c -- handles on the product, for a client or from outside, and the site's own notes. See site.h. */
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

static void note_hour(Hands *hands, int64_t now_us)
{
    Site *site = hands->site;
    uint32_t hour = ledger_hour(now_us);
    for (size_t i = site->hour_count; i > 0; i--)
        if (site->hours[i - 1] == hour)
            return;
    CHECK(site->hour_count < SITE_HOURS_MOST);
    site->hours[site->hour_count++] = hour;
}

static int64_t noted_now(void *self)
{
    Hands *hands = self;
    int64_t now_us = clock_now_us(hands->clock);
    if (hands->marking)
        note_hour(hands, now_us);
    return now_us;
}

static int64_t noted_steady(void *self)
{
    return clock_steady_us(((Hands *)self)->clock);
}

static void noted_sleep(void *self, int64_t us)
{
    clock_sleep_us(((Hands *)self)->clock, us);
}

/* About to be sent: from now on it may be in the chain, and its mark is made in this hour. */
static void told(void *self, VoteStep step, const VoteNews *news)
{
    Hands *hands = self;
    shown_told(hands, step, news);
    if (step != VOTE_SENT)
        return;
    note_hour(hands, clock_now_us(hands->clock));
    hands->site->marked_us = sim_world_now_us(sim_world(run_sim(hands->run)));
    for (size_t i = 0; i < news->count; i++)
        site_add_policy(hands->site, news->deltas[i].policy);
    if (hands->try != NULL && hands_alive(hands)) {
        hands->try->sent = true;
        hands->try->version = news->version;
    }
}

static void projected(void *self, uint64_t voter, uint64_t seq)
{
    VoteListener listener = ranking_listener(((Hands *)self)->ranking);
    listener.projected(listener.self, voter, seq);
}

void hands_open(Hands *hands, Run *run, SimClient *client, Store *store, Arena *arena)
{
    Site *site = run_state(run);
    SimWorld *world = sim_world(run_sim(run));
    *hands = (Hands){.run = run, .site = site, .client = client, .store = store, .arena = arena};
    if (site->scheduled)
        hands->store = store = quick_open(&hands->quick, hands, store);
    hands->clock = client != NULL ? sim_client_clock(client) : sim_world_clock(world);
    hands->world.clock = (Clock){noted_now, noted_steady, noted_sleep, hands};
    hands->world.random = client != NULL ? sim_client_random(client) : (Random){fill_outside, run};
    AccountsOptions accounts = {.store = store,
                                .world = hands->world,
                                .vault = run_vault(run),
                                .hasher = {cheap_hash, cheap_check, NULL},
                                .id_block = 2};
    hands->accounts = accounts_new(&accounts);
    PoliciesOptions policies = {.store = store,
                                .world = hands->world,
                                .id_block = 2,
                                .cache_s = site->cache_s,
                                .cache_most = 1000};
    hands->policies = policies_new(&policies);
    RankingOptions ranking = {.store = store,
                              .world = hands->world,
                              .policies = hands->policies,
                              .window_days = (uint32_t)SETTINGS_AT_FIRST.window_days,
                              .shared = true};
    hands->ranking = ranking_new(&ranking);
    VotesOptions votes = {.store = store,
                          .world = hands->world,
                          .accounts = hands->accounts,
                          .policies = hands->policies,
                          .listener = {told, projected, hands}};
    hands->votes = votes_new(&votes);
}

void hands_close(Hands *hands)
{
    tasks_free(hands->tasks);
    votes_free(hands->votes);
    ranking_free(hands->ranking);
    policies_free(hands->policies);
    accounts_free(hands->accounts);
}

bool hands_alive(const Hands *hands)
{
    return hands->client == NULL || sim_client_alive(hands->client);
}

uint64_t hands_draw(Hands *hands, uint64_t below)
{
    return random_u64(hands->world.random) % below;
}

bool hands_heard(Hands *hands, const char *what, Status status)
{
    if (hands_alive(hands) && (status == STATUS_CORRUPT || status == STATUS_INVALID ||
                               status == STATUS_TOO_LARGE || status == STATUS_LOGIN))
        run_violated(hands->run, "%s answers %s", what, status_name(status));
    if (hands->client == NULL && (status == STATUS_UNAVAILABLE || status == STATUS_UNKNOWN))
        run_violated(hands->run, "%s answers %s though all is well", what, status_name(status));
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
    if (site->person_count == SITE_PEOPLE_MOST)
        return NULL;
    SitePerson *person = &site->people[site->person_count++];
    *person = (SitePerson){.account = account};
    return person;
}

SitePerson *site_any_person(Hands *hands)
{
    return &hands->site->people[hands_draw(hands, hands->site->person_count)];
}

SitePerson *site_any_voter(Hands *hands)
{
    Site *site = hands->site;
    uint64_t meeting =
        (uint64_t)(sim_world_now_us(sim_world(run_sim(hands->run))) / site->meeting_us);
    SitePerson *person = &site->people[(meeting + hands_draw(hands, 2)) % site->person_count];
    for (int i = 0; i < 2 && (!person->confirmed || person->closed); i++)
        person = site_any_person(hands);
    return person;
}

/* Half of the time one of the last, which are more likely to be active. */
uint64_t site_any_policy(Hands *hands)
{
    const Site *site = hands->site;
    size_t last = site->policy_count < 4 ? site->policy_count : 4;
    if (hands_draw(hands, 2) == 0)
        return site->policies[site->policy_count - 1 - hands_draw(hands, last)];
    return site->policies[hands_draw(hands, site->policy_count)];
}

void site_add_policy(Site *site, uint64_t policy)
{
    for (size_t i = 0; i < site->policy_count; i++)
        if (site->policies[i] == policy)
            return;
    if (site->policy_count < SITE_POLICIES_MOST)
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
