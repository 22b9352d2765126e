/* instance.c -- handles on the product, for a client or from outside, and the site's own notes. See site.h. */
#include <stdlib.h>

#include "base/read_cache.h"
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

/* ---- Clients of a process ---------------------------------------------------------------------------------- */

static SimWorld *world_of(const SiteProcess *process)
{
    return sim_world(run_sim(process->first.run));
}

/* The view of whoever runs; when it is gone already, any. */
static SiteInstance *current(SiteProcess *process)
{
    SimClient *running = sim_world_running(world_of(process));
    for (size_t i = 0; i < SITE_VIEWS; i++)
        if (process->views[i] != NULL && process->views[i]->client == running)
            return process->views[i];
    return &process->first;
}

static Clock clock_of(const SiteProcess *process)
{
    SimClient *running = sim_world_running(world_of(process));
    return running != NULL ? sim_client_clock(running) : sim_world_clock(world_of(process));
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
    int64_t now_us = clock_now_us(clock_of(self));
    SiteInstance *instance = current(self);
    if (instance->marking)
        note_hour(instance, now_us);
    return now_us;
}

static int64_t noted_steady(void *self)
{
    return clock_steady_us(clock_of(self));
}

static void noted_sleep(void *self, int64_t us)
{
    clock_sleep_us(clock_of(self), us);
}

static void fill(void *self, void *to, size_t size)
{
    SimClient *running = sim_world_running(world_of(self));
    if (running != NULL)
        random_fill(sim_client_random(running), to, size);
    else
        fill_outside(((SiteProcess *)self)->first.run, to, size);
}

/* Which of the requests under way it is that sends an entry for this voter. */
static void note_sent(SiteInstance *instance, const VoteNews *news)
{
    for (size_t i = 0; i < instance->try_count; i++) {
        SiteTry *try = instance->try[i];
        if (try->sent || try->voter != news->voter)
            continue;
        try->sent = true;
        try->version = news->version;
        return;
    }
}

/* About to be sent: from now on it may be in the chain, and its mark is made in this hour. */
static void told(void *self, VoteStep step, const VoteNews *news)
{
    SiteInstance *instance = current(self);
    shown_told(instance, step, news);
    if (step != VOTE_SENT)
        return;
    note_hour(instance, clock_now_us(clock_of(self)));
    instance->site->marked_us = sim_world_now_us(world_of(self));
    for (size_t i = 0; i < news->count; i++)
        site_add_policy(instance->site, news->deltas[i].policy);
    if (site_instance_alive(instance))
        note_sent(instance, news);
}

static void projected(void *self, uint64_t voter, uint64_t seq)
{
    VoteListener listener = ranking_listener(((SiteProcess *)self)->first.ranking);
    listener.projected(listener.self, voter, seq);
}

static void open_store(SiteInstance *handles, Store *store)
{
    SiteProcess *process = handles->process;
    const Site *site = handles->site;
    if (site->solo != NULL)
        store = process->own = sim_solo_open(site->solo, handles->client);
    else if (handles->client != NULL)
        store = process->own = sim_open_process(run_sim(handles->run), handles->client);
    handles->store = site->scheduled ? quick_open(&process->quick, handles, store) : store;
}

static void open_handles(SiteInstance *handles)
{
    SiteProcess *process = handles->process;
    const Site *site = handles->site;
    bool shared = site->solo == NULL;
    int64_t copies_us = shared ? site->copies_us : READ_CACHE_EXACT;
    handles->world.clock = (Clock){noted_now, noted_steady, noted_sleep, process, NULL};
    handles->world.random = (Random){fill, process};
    AccountsOptions accounts = {.store = handles->store,
                                .world = handles->world,
                                .vault = run_vault(handles->run),
                                .hasher = {cheap_hash, cheap_check, NULL},
                                .id_block = 2,
                                .read_cache_us = copies_us};
    handles->accounts = accounts_new(&accounts);
    PoliciesOptions policies = {.store = handles->store,
                                .world = handles->world,
                                .id_block = 2,
                                .cache_s = site->cache_s,
                                .cache_max = 1000};
    handles->policies = policies_new(&policies);
    RankingOptions ranking = {.store = handles->store,
                              .world = handles->world,
                              .policies = handles->policies,
                              .window_days = (uint32_t)SETTINGS_AT_FIRST.window_days,
                              .shared = shared};
    handles->ranking = ranking_new(&ranking);
    VotesOptions votes = {.store = handles->store,
                          .world = handles->world,
                          .accounts = handles->accounts,
                          .policies = handles->policies,
                          .listener = {told, projected, process},
                          .shared = shared,
                          .read_cache_us = copies_us};
    handles->votes = votes_new(&votes);
    process->changes = changes_new(handles->policies, handles->ranking);
    if (site->scheduled)
        process->sync = instance_sync_new(&(InstanceSyncOptions){
            handles->store, handles->ranking, process->changes, handles->world.clock});
}

void site_instance_open(SiteInstance *instance, Run *run, SimClient *client, Store *store,
                        Arena *arena)
{
    SiteProcess *process = calloc(1, sizeof *process);
    CHECK(process != NULL);
    process->first =
        (SiteInstance){.run = run, .site = run_state(run), .client = client, .process = process};
    open_store(&process->first, store);
    open_handles(&process->first);
    site_instance_join(instance, process, client, arena);
}

void site_instance_join(SiteInstance *instance, SiteProcess *process, SimClient *client,
                        Arena *arena)
{
    size_t at = 0;
    while (process->views[at] != NULL)
        at++;
    CHECK(at < SITE_VIEWS);
    *instance = process->first;
    instance->client = client;
    instance->arena = arena;
    process->views[at] = instance;
    process->count++;
}

void site_instance_close(SiteInstance *instance)
{
    SiteProcess *process = instance->process;
    tasks_free(instance->tasks);
    for (size_t i = 0; i < SITE_VIEWS; i++)
        if (process->views[i] == instance)
            process->views[i] = NULL;
    if (--process->count > 0)
        return;
    SiteInstance *handles = &process->first;
    instance_sync_free(process->sync);
    votes_free(handles->votes);
    changes_free(process->changes);
    ranking_free(handles->ranking);
    policies_free(handles->policies);
    accounts_free(handles->accounts);
    if (process->own != NULL)
        store_close(process->own);
    free(process);
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

void site_note_head(SiteInstance *instance, SitePerson *person, uint64_t seq)
{
    const SiteHead *last = &person->heads[(person->head_count + SITE_HEADS - 1) % SITE_HEADS];
    if (person->head_count > 0 && seq <= last->seq)
        return;
    person->heads[person->head_count++ % SITE_HEADS] =
        (SiteHead){sim_world_now_us(sim_world(run_sim(instance->run))), seq};
}

uint64_t site_head_at(const SitePerson *person, int64_t at_us)
{
    size_t kept = person->head_count < SITE_HEADS ? person->head_count : SITE_HEADS;
    for (size_t i = 1; i <= kept; i++) {
        const SiteHead *head = &person->heads[(person->head_count - i) % SITE_HEADS];
        if (head->at_us <= at_us)
            return head->seq;
    }
    return 0;
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
        site->crowd
            ? site_any_person(instance)
            : &site->people[(meeting + site_instance_draw(instance, 2)) % site->person_count];
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
